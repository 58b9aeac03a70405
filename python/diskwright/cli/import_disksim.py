"""`diskwright import-disksim`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from json import loads
from typing import Annotated

import typer

from diskwright import Record, _engine
from diskwright._files import replacing
from diskwright.cli import output, outputs


def import_disksim(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE.parv", help="A DiskSim set-up with one drive.", show_default=False),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="COMPONENT:PARAMETER=VALUE",
            help="Override a value of the files; may be repeated.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--output", metavar="FILE.toml", help="Write the drive to this file."),
    ] = None,
    # What is written replaces what was there, as with every verb; the option is still accepted.
    _force: Annotated[bool, typer.Option("--force", hidden=True)] = False,
    json: output.JsonOption = None,
) -> None:
    """Make a drive from DiskSim's parameter files, and tell what is done otherwise.

    `diskwright run FILE.parv` simulates a set-up as it is.
    """
    outputs.check(
        outputs.json(json),
        outputs.Output("--output", target, (".toml",)),
        reads=lambda: outputs.of_drive(file),
    )
    text, answer = _engine.import_disksim(file, settings or [])
    record = Record({"schema": 1} | loads(answer))
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_text = stack.enter_context(_text_to(target, quiet=json == "-"))
        write_json(record)
        write_text(text)
    for warning in record.warnings:
        print(f"warning: {warning}", file=sys.stderr)


@contextmanager
def _text_to(target: str | None, quiet: bool) -> Iterator[Callable[[str], object]]:
    """A function that writes the drive to its file, or to standard output unless that has something else."""
    if target is None:
        yield lambda text: None if quiet else print(text, end="")
        return
    with replacing(target) as stream:
        yield stream.write
