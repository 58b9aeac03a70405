"""The options of every verb that reads a trace."""

from typing import Annotated, Any

import typer

from diskwright import InputError, _toml
from diskwright.cli import completion

# Standard input, as a file that is read once.
STANDARD_INPUT = "/dev/stdin"


def named(trace: str | None) -> str | None:
    """A trace's file; `-` is standard input."""
    return STANDARD_INPUT if trace == "-" else trace


TraceArgument = Annotated[
    str,
    typer.Argument(
        help="A trace file; `-` is standard input.",
        show_default=False,
        callback=named,
        autocompletion=completion.traces,
    ),
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="The trace's format, if its content is ambiguous.",
        autocompletion=completion.formats,
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        "--csv",
        metavar="KEY=VALUE",
        help="Name a column or a unit of a CSV trace; may be repeated.",
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


# `run` writes a table with --csv.
SpecColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="KEY=VALUE",
        help="Name a column or a unit of a CSV trace; may be repeated.",
    ),
]


def options(
    format: str | None,
    columns: list[str] | None,
    event: str | None,
    sector_bytes: int | None,
    seed: int | None,
) -> dict[str, Any]:
    """The options given, as arguments of `diskwright.inspect` and its relatives."""
    hints = _hints(columns) if columns else None
    return {"format": format, "csv": hints, "event": event, "sector_bytes": sector_bytes, "seed": seed}


def settings(
    given: list[str] | None,
    format: str | None,
    columns: list[str] | None,
    event: str | None,
    sector_bytes: int | None,
    device: int | None,
) -> list[str]:
    """What `--set` says, behind the options of a trace as settings of a spec's workload."""
    hints = _hints(columns) if columns else {}
    said = {"workload.format": format, "workload.sector_bytes": sector_bytes, "workload.device": device}
    said |= {f"workload.csv.{key}": value for key, value in hints.items()}
    said |= {"workload.blktrace.event": event}
    known = [f"{key}={_toml.value(value)}" for key, value in said.items() if value is not None]
    return [*known, *(given or [])]


def _hints(settings: list[str]) -> dict[str, Any]:
    """The hints about a CSV file, as `workload.csv` of a spec has them."""
    hints: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise InputError(
                f"error: --columns {setting}: expected KEY=VALUE, such as --columns time_unit=us"
            )
        if key == "columns":
            hints[key] = value.split(",")
        else:
            hints[key] = int(value) if key == "block_bytes" and value.isdecimal() else value
    return hints
