"""`diskwright sweep`."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import _compared, _engine
from diskwright.cli import completion, options, output, outputs, reading
from diskwright.sweep import Store, Swept, _swept

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

StoreOption = Annotated[
    str, typer.Option(metavar="DIR", help="Keep finished points there; those there are not run again.")
]
STORE = "results/points"
ThreadsOption = Annotated[
    int | None, typer.Option(metavar="N", help="Runs at a time; one per core by default.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on a Dask cluster, tcp://HOST:8786; `local` is this machine."),
]

# Points that are printed; the others are in the table and in the JSON object.
_MOST_ROWS = 200


def sweep(
    spec: options.SpecArgument,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=A,B,…",
            help="A key and its values, added to those of the spec's [sweep].",
            autocompletion=completion.variations,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", help="Runs of each point, with consecutive seeds from the spec's."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE.parquet", help="Write one row per run to a Parquet file, or a .csv."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Show this number of the results, such as by_op.read.response_ms.p99; may be repeated.",
        ),
    ] = None,
    json: output.JsonOption = None,
    report: options.ReportOption = None,
    store: StoreOption = STORE,
    seed: options.SeedOption = None,
    quiet: options.QuietOption = False,
    settings: options.SetOption = None,
    drive: options.DriveOption = None,
    trace: options.TraceOption = None,
    format: reading.FormatOption = None,
    columns: reading.SpecColumnsOption = None,
    event: reading.EventOption = None,
    sector_bytes: reading.SectorBytesOption = None,
    device: reading.DeviceOption = None,
    check: options.CheckOption = False,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Run all combinations of what a spec's [sweep] varies; go on where an earlier try was stopped.

    More keys may be varied: --vary device.hdd.queue.depth=1,8,32
    """
    from diskwright.sweep._grid import of_job
    from diskwright.sweep._job import CustomPolicies, Job

    settings = options.with_seed(settings, seed)
    settings = reading.settings(settings, format, columns, event, sector_bytes, device)
    source = options.source(spec, trace)
    job = Job(
        *source,
        set=settings,
        drive=drive,
        trace=trace,
        check=check,
        vary=vary or [],
    )
    outputs.check(
        outputs.json(json),
        outputs.Output("--out", out, _swept.ENDINGS),
        outputs.page(report),
        reads=lambda: [*outputs.of_spec(spec, settings, drive, trace, vary), store],
    )
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_table = stack.enter_context(_swept.opened(out))
        write_report = stack.enter_context(output.page_to(report))
        progress = stack.enter_context(output.progress_of_points(quiet))
        found = of_job(job, seeds, metrics or [], Store(store), CustomPolicies(), threads, cluster, progress)
        write_json(found)
        if out is not None:
            write_table(found.frame())
        write_report(options.title(spec), found)
    if quiet:
        return
    output.remarks(_swept.messages(found, "warnings"), _swept.messages(found, "notes"))
    if json != "-":
        output.show(*_report(spec, found, store))


def _report(spec: str, found: Swept, store: str) -> Iterator["RenderableType"]:
    data = found.to_dict()
    runs, seeds = len(data["points"]), data["seeds"]
    yield output.heading(f"{options.title(spec)}: {', '.join(data['varied']) or 'one point'}")
    repeated = _swept.repeated(seeds)
    points = runs // len(seeds)
    yield f"{points:,} points with {repeated}: {found.ran:,} run now, {found.reused:,} from {store}"
    yield ""
    shown = data["points"][: _MOST_ROWS * len(seeds) : len(seeds)]
    values = [[_compared.brief(item) for item in point["values"].values()] for point in shown]
    tables = _swept.tables(data)
    names = output.called(
        [", ".join(of_point) or "as it is" for of_point in values], *(_table(data, made) for made in tables)
    )
    label = "point"
    if names is None:
        yield output.legend(data["varied"], values)
        yield ""
        label, names = output.NUMBERS, [str(number) for number in range(1, len(values) + 1)]
    for made in tables:
        yield _table(data, made, names, label)
        yield ""
    if runs > _MOST_ROWS * len(seeds):
        yield f"and {points - _MOST_ROWS:,} more points, which --out and --json have"
    if len(seeds) > 1:
        yield "the mean over the seeds; ±: 95 % confidence, by Student's t"


def _table(
    data: Mapping[str, Any], shown: Mapping[str, str], names: list[str] | None = None, label: str = ""
) -> "Table":
    """The figures of quantities, behind the points' names."""
    runs, seeds = len(data["points"]), len(data["seeds"])
    headers = [part for name in shown.values() for part in ((name, "±") if seeds > 1 else (name,))]
    table = output.table(*([label] if names else []), *headers, names=1 if names else 0)
    for place, start in enumerate(range(0, min(runs, _MOST_ROWS * seeds), seeds)):
        of_point = data["points"][start : start + seeds]
        found = [_swept.of_point(point, list(shown)) for point in of_point]
        cells: list[str] = []
        for name in shown:
            known = [value for values in found if (value := values.get(name)) is not None]
            cells.append(output.number(fmean(known) if known else None))
            if seeds > 1:
                cells.append(_compared.margin(_engine.ci95(known)))
        table.add_row(*([names[place]] if names else []), *cells)
    return table
