"""`diskwright inspect`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import InputError, Record, _api
from diskwright.cli import output

if TYPE_CHECKING:
    from rich.console import RenderableType


def inspect(
    trace: Annotated[str, typer.Argument(help="A trace file.", show_default=False)],
    json: output.JsonOption = None,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="The trace's format, where its content does not tell.")
    ] = None,
    csv: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Tell a column or a unit of a CSV trace; may be repeated."),
    ] = None,
    sector_bytes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Bytes in a sector of an HP trace.")
    ] = None,
    device: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Only the requests of this device.")
    ] = None,
    threshold: Annotated[
        int,
        typer.Option(
            metavar="BLOCKS",
            min=0,
            help="How many blocks past the end of the request before one may begin and count as sequential.",
        ),
    ] = 0,
) -> None:
    """Tell what a trace is: counts, sizes, mix, sequentiality, working set, arrivals."""
    with output.json_to(json) as write_json:
        inspection = _api.inspect(
            trace,
            format=format,
            csv=_hints(csv or []),
            sector_bytes=sector_bytes,
            device=device,
            threshold=threshold,
        )
        write_json(inspection)
    if json != "-":
        output.show(*_report(trace, inspection))


def _hints(settings: list[str]) -> dict[str, Any]:
    """The hints about a CSV file, as `workload.csv` of a spec has them."""
    hints: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"error: --csv {setting}: expected KEY=VALUE, such as --csv time_unit=us")
        if key == "columns":
            hints[key] = value.split(",")
        else:
            hints[key] = int(value) if key == "block_bytes" and value.isdecimal() else value
    return hints


def _report(trace: str, inspection: Record) -> Iterator["RenderableType"]:
    for warning in inspection.warnings:
        yield output.hanging("warning:", warning, style="yellow")
    if inspection.warnings:
        yield ""
    yield output.heading(trace)
    listed = ("warnings", "devices", "sizes", "schema")
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
