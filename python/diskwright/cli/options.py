"""Options that several verbs have."""

import sys
from typing import Annotated

import typer

from diskwright import InputError
from diskwright.cli import completion, reading

SpecArgument = Annotated[
    str,
    typer.Argument(
        help="A spec: a TOML file, or a DiskSim .parv file; `-` is TOML from standard input.",
        show_default=False,
        autocompletion=completion.specs,
    ),
]

ReportOption = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE.html", help="Write a page with charts, which opens offline."),
]

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a value of the spec; may be repeated.",
        autocompletion=completion.settings,
    ),
]

DriveOption = Annotated[
    str | None,
    typer.Option(
        "--drive",
        metavar="NAME",
        help="Simulate this drive instead of the spec's.",
        autocompletion=completion.drives,
    ),
]

TraceOption = Annotated[
    str | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Replay this trace instead of the spec's workload; `-` is standard input.",
        callback=reading.named,
        autocompletion=completion.traces,
    ),
]

SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", min=0, max=2**63 - 1, help="The seed, instead of the spec's: as --set seed=N."
    ),
]

QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing unless something is wrong; files are written."),
]

CheckOption = Annotated[
    bool,
    typer.Option("--check", help="Follow every block's versions; fail if a promise is broken."),
]


def with_seed(settings: list[str] | None, seed: int | None) -> list[str]:
    """The settings, and over them what `--seed` says."""
    return [*(settings or []), *([] if seed is None else [f"seed={seed}"])]


def source(spec: str, trace: str | None) -> tuple[str | None, str | None]:
    """The path of a spec, or the text that standard input has of it."""
    if spec != "-":
        return spec, None
    if trace == reading.STANDARD_INPUT:
        raise InputError("error: the spec and --trace are both `-`: standard input can be read only once")
    if sys.stdin is None:
        raise InputError("error: the spec is `-`, and there is no standard input")
    try:
        return None, sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"error: the spec on standard input is no text: {error}") from None


def title(spec: str) -> str:
    """What a spec is called in what is printed."""
    return "standard input" if spec == "-" else spec
