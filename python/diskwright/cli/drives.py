"""`diskwright drives`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diskwright import InputError, Record, _api
from diskwright.cli import completion, output, outputs

if TYPE_CHECKING:
    from rich.console import RenderableType


def _kinds(incomplete: str) -> list[str]:
    return [kind for kind in _HEADINGS if kind.startswith(incomplete)]


def drives(
    name: Annotated[
        str | None,
        typer.Argument(
            help="The drive to show; a name or a file.", autocompletion=completion.drives, show_default=False
        ),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS",
            help="List the drives that have all the words in their name, maker, model, class or year: "
            "--search 'nearline 20 TB'",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="List the drives of this kind only: hdd or ssd.",
            autocompletion=_kinds,
            show_default=False,
        ),
    ] = None,
    json: output.JsonOption = None,
) -> None:
    """List the drives that come with diskwright, or show one.

    To make a drive of your own, save what `diskwright drives NAME` shows under its table as a file,
    change it, and give the file's path where a spec names a drive.
    """
    if name is not None and search is not None:
        raise InputError("error: a drive to show, and --search\n  = help: give one of them")
    if name is not None and kind is not None:
        raise InputError("error: a drive to show, and --kind\n  = help: give one of them")
    outputs.check(outputs.json(json), reads=lambda: outputs.of_drive(name or ""))
    with output.json_to(json) as write_json:
        notes: list[str] | None = None
        if name is None:
            if search is None:
                known = [_api.drive(known) for known in _api.drives(kind=kind)]
            else:
                known, notes = _api.search_drives(search, kind)
            listed = {"schema": 1, "drives": [drive.to_dict() for drive in known]}
            write_json(Record(listed if notes is None else {**listed, "notes": notes}))
        else:
            drive = _api.drive(name)
            text = _api.drive_toml(name) if name in _api.drives() else Path(name).read_text(encoding="utf-8")
            write_json(drive)
    output.remarks((), notes or ())
    if json != "-":
        if name is None:
            output.show(*_list(known))
        else:
            output.show(output.heading(name), *output.sections(_figures(drive)))
            print(f"\n{text}", end="")


_HEADINGS = {"hdd": "Hard disks", "ssd": "SSDs"}


def _list(known: list[Record]) -> Iterator["RenderableType"]:
    """A table for each kind, under its heading where there are several."""
    kinds = list(dict.fromkeys(drive.kind for drive in known))
    for kind in kinds:
        if len(kinds) > 1:
            yield output.heading(f"{_HEADINGS[kind]} ({kind})")
        of_kind = [drive for drive in known if drive.kind == kind]
        yield _disks(of_kind) if kind == "hdd" else _ssds(of_kind)


def _disks(known: list[Record]) -> "RenderableType":
    table = output.table("drive", "", "GB", "rpm", "seek ms", "MB/s", names=2)
    for drive in known:
        table.add_row(
            drive.id,
            drive.name,
            _gb(drive),
            f"{drive.rpm:,.0f}",
            f"{drive.average_seek_ms:.1f}",
            f"{drive.sustained_mb_per_s[0]:.1f}",
        )
    return table


def _ssds(known: list[Record]) -> "RenderableType":
    table = output.table("drive", "", "GB", "channels", "dies", "page KiB", names=2)
    for drive in known:
        table.add_row(
            drive.id,
            drive.name,
            _gb(drive),
            f"{drive.channels}",
            f"{drive.dies}",
            f"{drive.page_bytes / 1024:,.10g}",
        )
    return table


def _gb(drive: Record) -> str:
    return f"{drive.capacity_blocks * 512 / 1e9:,.1f}"


def _figures(drive: Record) -> Record:
    """What follows from the description."""
    return Record({key: drive[key] for key in drive if key not in ("id", "description")})
