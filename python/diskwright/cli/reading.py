"""The options of every verb that reads a trace."""

from typing import Annotated, Any

import typer

from diskwright import InputError

TraceArgument = Annotated[str, typer.Argument(help="A trace file.", show_default=False)]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="The trace's format, if its content is ambiguous."),
]
CsvOption = Annotated[
    list[str] | None,
    typer.Option(
        "--csv", metavar="KEY=VALUE", help="Name a column or a unit of a CSV trace; may be repeated."
    ),
]
EventOption = Annotated[
    str | None,
    typer.Option(
        "--event",
        metavar="NAME",
        help="What arrives in a trace of blktrace or blkparse: queue (the default) or issue.",
    ),
]
SectorBytesOption = Annotated[
    int | None, typer.Option("--sector-bytes", metavar="N", min=1, help="Bytes in a sector of an HP trace.")
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", min=0, help="The seed of a synthetic clone."),
]
DeviceOption = Annotated[
    int | None, typer.Option("--device", metavar="N", min=0, help="Only the requests of this device.")
]


def options(
    format: str | None,
    csv: list[str] | None,
    event: str | None,
    sector_bytes: int | None,
    seed: int | None,
) -> dict[str, Any]:
    """The options given, as arguments of `diskwright.inspect` and its relatives."""
    hints = _hints(csv) if csv else None
    return {"format": format, "csv": hints, "event": event, "sector_bytes": sector_bytes, "seed": seed}


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
