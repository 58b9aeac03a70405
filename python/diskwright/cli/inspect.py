"""`diskwright inspect`."""

from typing import Annotated

import typer

from diskwright import _api
from diskwright.cli import output


def inspect(
    trace: Annotated[str, typer.Argument(help="A trace file.", show_default=False)],
    json: output.JsonOption = None,
    format: Annotated[
        str | None, typer.Option(metavar="NAME", help="The trace's format, where its content does not tell.")
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
        inspection = _api.inspect(trace, format=format, device=device, threshold=threshold)
        write_json(inspection)
    if json != "-":
        output.show(output.heading(trace), *output.sections(inspection))
