"""`diskwright compare`."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from diskwright import InputError, _api, _compared
from diskwright.cli import completion, options, output, outputs, reading

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from diskwright import Comparison


def compare(
    spec: options.SpecArgument,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=A,B,…",
            help="A key and its values; may be repeated: all combinations.",
            autocompletion=completion.variations,
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", help="Runs of each variant, with consecutive seeds from the spec's.")
    ] = 5,
    baseline: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="Compare with this value, not the first; KEY=VALUE of several."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME",
            help="Compare this number of the results, such as by_op.read.response_ms.p99; may be repeated.",
        ),
    ] = None,
    json: output.JsonOption = None,
    fio_json: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help="Write the runs in the form of fio's JSON output, a job each, for tools that read it; `-` "
            "is standard output.",
        ),
    ] = None,
    report: options.ReportOption = None,
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
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Runs at a time; one per core by default.")
    ] = None,
) -> None:
    """Run the same workload with varied keys; print what they change, with confidence intervals.

    The first value is what the others are compared with: --vary device.hdd.queue.scheduler=fcfs,satf
    """
    for option, number in (("--seeds", seeds), ("--threads", threads)):
        if number is not None and not 1 <= number < 2**32:
            raise InputError(f"error: {option} {number}: expected 1 or more")
    if json == fio_json == "-":
        raise InputError("error: --json and --fio-json: one of them only can be the standard output")
    settings = options.with_seed(settings, seed)
    settings = reading.settings(settings, format, columns, event, sector_bytes, device)
    source = options.source(spec, trace)
    outputs.check(
        outputs.json(json),
        outputs.fio_json(fio_json),
        outputs.page(report),
        reads=lambda: outputs.of_spec(spec, settings, drive, trace, vary),
    )
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_fio_json = stack.enter_context(output.fio_json_to(fio_json))
        write_report = stack.enter_context(output.page_to(report))
        progress = stack.enter_context(output.progress("requests", quiet))
        found, of_fio = _api.compare_with_settings(
            source,
            vary or [],
            baseline or [],
            seeds,
            metrics or [],
            settings,
            drive,
            trace,
            check,
            threads,
            report is not None,
            fio_json is not None,
            progress,
        )
        write_json(found)
        write_fio_json(of_fio)
        write_report(options.title(spec), found)
    if quiet:
        return
    shown = [metric for metric in found.variants[0].metrics if metrics or metric in _compared.SHOWN]
    names = output.called(_compared.names(found), *(_table(found, metric) for metric in shown))
    output.remarks(_compared.warnings(found, names), _compared.notes(found, names))
    if "-" not in (json, fio_json):
        output.show(*_report(spec, found, shown, names))


def _report(
    spec: str, found: "Comparison", shown: list[str], names: list[str] | None
) -> Iterator["RenderableType"]:
    yield output.heading(f"{options.title(spec)}: {', '.join(found.varied)}")
    yield from output.wrap(_compared.seeds(found), output.text_width())
    variants = found.to_dict()["variants"]
    is_numbered = names is None
    if names is None:
        yield ""
        values = ([_compared.brief(item) for item in variant["values"].values()] for variant in variants)
        yield output.legend(found.varied, values)
        names = [str(number) for number in range(1, len(variants) + 1)]
    for metric in shown:
        yield ""
        # Beside this many columns there is no room for the path of a number, nor for words above numbers.
        if is_numbered or "." in metric:
            yield output.heading(_compared.label(metric))
            label = output.NUMBERS if is_numbered else "variant"
        else:
            label = _compared.label(metric)
        yield _table(found, metric, names, label)
    if len(found.seeds) > 1:
        yield ""
        yield _compared.INTERVALS
    if any(_compared.is_marked(found, metric) for metric in shown):
        yield _compared.MARKED


def _table(found: "Comparison", metric: str, names: list[str] | None = None, label: str = "") -> "Table":
    """The figures of a quantity, behind the variants' names, which have a label."""
    table = output.table(*([label] if names else []), *_compared.columns(found), names=1 if names else 0)
    for place, cells in enumerate(_compared.rows(found, metric)):
        table.add_row(*([names[place]] if names else []), *(cell.text + cell.mark for cell in cells))
    return table
