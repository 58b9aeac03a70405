"""`diskwright formats`."""

from typing import TYPE_CHECKING

from diskwright import Record, _api
from diskwright.cli import output, outputs

if TYPE_CHECKING:
    from rich.console import RenderableType


def formats(json: output.JsonOption = None) -> None:
    """List the formats in which traces are read and written."""
    outputs.check(outputs.json(json), reads=lambda: ())
    known = _api.formats()
    with output.json_to(json) as write_json:
        write_json(Record({"schema": 1, "formats": [format.to_dict() for format in known]}))
    if json != "-":
        output.show(_list(known))


def _list(known: list[Record]) -> "RenderableType":
    table = output.table("format", "read", "written", "summary", names=4)
    for format in known:
        table.add_row(
            format.name, output.plain(format.readable), output.plain(format.writable), format.summary
        )
    return table
