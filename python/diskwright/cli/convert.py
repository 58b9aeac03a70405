"""`diskwright convert`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from diskwright import Record, _api
from diskwright.cli import output, outputs, reading

if TYPE_CHECKING:
    from rich.console import RenderableType


def convert(
    trace: reading.TraceArgument,
    file: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="The file to write; compressed if it ends in .gz or .zst.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="NAME", help="The format to write, if the name of OUT does not imply it."
        ),
    ] = None,
    json: output.JsonOption = None,
    format: reading.FormatOption = None,
    columns: reading.ColumnsOption = None,
    event: reading.EventOption = None,
    sector_bytes: reading.SectorBytesOption = None,
    seed: reading.SeedOption = None,
    device: reading.DeviceOption = None,
) -> None:
    """Write a trace in another format, and tell what that format could not hold.

    `diskwright formats` lists the formats.
    """
    outputs.check(outputs.json(json), outputs.Output("OUT", file), reads=lambda: outputs.of_trace(trace))
    with output.json_to(json) as write_json, output.progress("records") as progress:
        conversion = _api.convert(
            trace,
            file,
            to=to,
            **reading.options(format, columns, event, sector_bytes, seed),
            device=device,
            progress=progress,
        )
        write_json(conversion)
    output.remarks(conversion.warnings, conversion.notes)
    if json != "-":
        output.show(*_report(trace, file, conversion))


def _report(trace: str, file: str, conversion: Record) -> Iterator["RenderableType"]:
    yield output.heading(f"{trace} ({conversion['from']}) to {file} ({conversion.to})")
    yield output.pairs(
        "requests", {name: output.plain(conversion[name]) for name in ("read", "written", "skipped")}
    )
