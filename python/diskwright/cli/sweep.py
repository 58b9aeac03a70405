"""`diskwright sweep`."""

from collections.abc import Iterator
from contextlib import ExitStack
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

import typer

from diskwright import _compared, _engine
from diskwright.cli import options, output, outputs
from diskwright.sweep import Store, Swept

if TYPE_CHECKING:
    from rich.console import RenderableType

StoreOption = Annotated[
    str, typer.Option(metavar="DIR", help="Keep each finished point there; what is there is not run again.")
]
STORE = "results/points"
ThreadsOption = Annotated[
    int | None, typer.Option(metavar="N", help="Runs at a time; one for each core unless said.")
]
ClusterOption = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Run on a cluster of Dask's, tcp://HOST:8786; `local` is here."),
]

# What the table shows, by key of the result.
_SHOWN = {"response mean, ms": ("response_ms", "mean"), "p99": ("response_ms", "p99"), "IOPS": ("iops",)}
# Points that are printed; the others are in the table and in the JSON object.
_MOST_ROWS = 200


def sweep(
    spec: options.SpecArgument,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=A,B,…", help="A key and its values, beside those of the spec's [sweep]."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", help="Runs of each point, with seeds from the spec's on.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE.parquet", help="Write one row per run to a Parquet file, or a .csv."),
    ] = None,
    json: output.JsonOption = None,
    store: StoreOption = STORE,
    seed: options.SeedOption = None,
    quiet: options.QuietOption = False,
    settings: options.SetOption = None,
    drive: options.DriveOption = None,
    trace: options.TraceOption = None,
    check: options.CheckOption = False,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Run all combinations of what a spec's [sweep] varies; go on where an earlier try was stopped.

    More keys may be varied: --vary device.hdd.queue.depth=1,8,32
    """
    from diskwright.sweep import _swept
    from diskwright.sweep._grid import of_job
    from diskwright.sweep._job import Brought, Job

    settings = options.with_seed(settings, seed)
    job = Job(
        spec,
        None,
        set=settings,
        drive=drive,
        trace=trace,
        check=check,
        vary=vary or [],
    )
    outputs.check(
        outputs.json(json),
        outputs.Output("--out", out, _swept.ENDINGS),
        reads=lambda: [*outputs.of_spec(spec, settings, drive, trace, vary), store],
    )
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_table = stack.enter_context(_swept.opened(out))
        progress = stack.enter_context(output.progress_of_points(quiet))
        found = of_job(job, seeds, Store(store), Brought(), threads, cluster, progress)
        write_json(found)
        if out is not None:
            write_table(found.frame())
    if json != "-" and not quiet:
        output.show(*_report(spec, found, store))


def _report(spec: str, found: Swept, store: str) -> Iterator["RenderableType"]:
    data = found.to_dict()
    runs, seeds = len(data["points"]), data["seeds"]
    texts = [
        item["text"] if item["runs"] == runs else f"{item['runs']} of {runs} runs: {item['text']}"
        for item in data["warnings"]
    ]
    yield from output.warnings(texts)
    yield output.heading(f"{spec}: {', '.join(data['varied']) or 'one point'}")
    repeated = f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"
    points = runs // len(seeds)
    yield f"{points:,} points with {repeated}: {found.ran:,} run now, {found.reused:,} from {store}"
    yield ""
    headers = [part for name in _SHOWN for part in ((name, "±") if len(seeds) > 1 else (name,))]
    table = output.table("point", *headers)
    for start in range(0, min(runs, _MOST_ROWS * len(seeds)), len(seeds)):
        of_point = data["points"][start : start + len(seeds)]
        cells: list[str] = []
        for path in _SHOWN.values():
            values = [_at(point["result"], path) for point in of_point]
            known = [value for value in values if value is not None]
            cells.append(output.number(fmean(known) if known else None))
            if len(seeds) > 1:
                interval = _engine.ci95(known)
                cells.append(_compared.margin(interval))
        name = ", ".join(_compared.value(item) for item in of_point[0]["values"].values())
        table.add_row(name or "as it is", *cells)
    yield table
    if runs > _MOST_ROWS * len(seeds):
        yield f"and {points - _MOST_ROWS:,} more points, which --out and --json have"
    if len(seeds) > 1:
        yield ""
        yield "the mean over the seeds; ±: 95 % confidence, by Student's t"


def _at(result: object, path: tuple[str, ...]) -> float | None:
    for key in path:
        result = result[key]  # type: ignore[index]
    return result  # type: ignore[return-value]
