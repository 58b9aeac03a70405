"""The folder of a reproduction: its page, its figures and its values."""

from os import PathLike
from pathlib import Path
from typing import TextIO, cast

from diskwright._engine import InputError
from diskwright._files import replacing
from diskwright.reproduce import _draw
from diskwright.reproduce._page import page
from diskwright.reproduce._reproduced import Reproduced
from diskwright.reproduce._system import System
from diskwright.sweep._swept import opened

_PAGE, _RESULT = "index.html", "result.json"
_TABLES = ("points.csv", "points.parquet")


def files(system: System, target: str | PathLike[str]) -> list[Path]:
    """The files that a reproduction can write into its folder."""
    drawn = [figure.id for figure in system.figures if figure.drawn is not None]
    pictures = [f"{id}.{form}" for id in drawn for form in _draw.FORMATS]
    return [Path(target) / name for name in (_PAGE, *pictures, *_TABLES, _RESULT)]


def folder(path: str | PathLike[str]) -> Path:
    """The folder, made where it is not there."""
    target = Path(path)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"error: cannot write into {target}: {error.strerror}"
        raise InputError(f"{message}\n  = help: --out DIR names another folder") from error
    return target


def write(found: Reproduced, target: str | PathLike[str], command: str = "") -> list[Path]:
    """Writes the files of a reproduction, each whole or as it was before; their paths, the page first.

    command: what repeats it; the plain command unless given.
    """
    into = folder(target)
    text = page(found, command or f"diskwright reproduce {found.source.name}")
    written = [_put(into / _PAGE, text.encode())]
    for figure, item in found.drawn():
        if figure.drawn is not None:
            pictures = _draw.files(figure, item["points"])
            written += [_put(into / f"{figure.id}.{form}", picture) for form, picture in pictures.items()]
    frame = found.frame()
    for name in _TABLES:
        with opened(into / name) as put:
            put(frame)
        written.append(into / name)
    written.append(_put(into / _RESULT, f"{found.json()}\n".encode()))
    return written


def _put(path: Path, content: bytes) -> Path:
    with replacing(path) as stream:
        # Nothing is written as text.
        cast(TextIO, stream).buffer.write(content)
    return path
