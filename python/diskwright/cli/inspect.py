"""`diskwright inspect`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from diskwright import Record, _api
from diskwright.cli import options, output, outputs, reading

if TYPE_CHECKING:
    from rich.console import RenderableType


def inspect(
    trace: reading.TraceArgument,
    json: output.JsonOption = None,
    report: options.ReportOption = None,
    format: reading.FormatOption = None,
    columns: reading.ColumnsOption = None,
    event: reading.EventOption = None,
    sector_bytes: reading.SectorBytesOption = None,
    seed: reading.SeedOption = None,
    device: reading.DeviceOption = None,
    threshold: Annotated[
        int,
        typer.Option(
            metavar="BLOCKS",
            min=0,
            help="Most blocks between a request and the previous one's end for it to count as sequential.",
        ),
    ] = 0,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.toml", help="Write the trace's profile, for a synthetic clone, to a TOML file."
        ),
    ] = None,
) -> None:
    """Tell what a trace is: counts, sizes, mix, sequentiality, working set, arrivals."""
    outputs.check(
        outputs.json(json),
        outputs.Output("--profile", profile, (".toml",)),
        outputs.page(report),
        reads=lambda: outputs.of_trace(trace),
    )
    with (
        output.json_to(json) as write_json,
        output.page_to(report) as write_report,
        output.progress("records") as progress,
    ):
        inspection = _api.inspect(
            trace,
            **reading.options(format, columns, event, sector_bytes, seed),
            device=device,
            threshold=threshold,
            profile=profile,
            picture=report is not None,
            progress=progress,
        )
        write_json(inspection)
        write_report(trace, inspection)
    output.remarks(inspection.warnings, inspection.notes)
    if json != "-":
        output.show(*_report(trace, inspection))


def _report(trace: str, inspection: Record) -> Iterator["RenderableType"]:
    yield output.heading(trace)
    listed = ("warnings", "notes", "devices", "sizes", "schema")
    yield from output.sections(Record({key: item for key, item in inspection.items() if key not in listed}))
    yield ""
    sizes = inspection.sizes
    requests = inspection.reads + inspection.writes
    table = output.table("size in blocks", "requests", "share %")
    for size in sizes.common:
        table.add_row(
            output.plain(size.blocks), output.plain(size.requests), f"{100 * size.requests / requests:.1f}"
        )
    yield table
    yield ""
    yield output.pairs("sizes", output.flat({key: sizes[key] for key in sizes if key != "common"}))
    if len(inspection.devices) > 1:
        yield ""
        columns = {"device": "device", "requests": "requests", "reads": "reads", "writes": "writes"}
        columns |= {"blocks": "blocks", "working_set_blocks": "working set", "end_lbn": "end"}
        table = output.table(*columns.values())
        for device in inspection.devices:
            table.add_row(*(output.plain(device[key]) for key in columns))
        yield table
