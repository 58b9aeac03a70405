"""Files that are whole or not there."""

import io
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

# Names of files that are open, which are written to whatever they are.
_OPEN = re.compile(r"/dev/(?P<name>stdin|stdout|stderr)|/(dev|proc/self)/fd/(?P<number>\d+)")
_NUMBERS = {"stdin": 0, "stdout": 1, "stderr": 2}

# Temporary files that are being written.
_UNFINISHED: set[str] = set()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Opens a text that takes the place of `path` when the block ends well, and leaves no trace when not.

    Opening comes first, so that a folder that cannot be written is known before a long run. A failed write is
    an OSError with the name `path`.
    """
    if (number := open_number(path)) is not None:
        with _named(os.dup(number), path) as stream:
            yield stream
        return
    target = Path(path).resolve()
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", os.fspath(path))
    if Path(path).exists() and not Path(path).is_file():
        # A device or a pipe is written to, never replaced.
        with _named(os.open(path, os.O_WRONLY), path) as stream:
            yield stream
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    _UNFINISHED.add(temporary)
    try:
        with _named(descriptor, path) as stream:
            yield stream
            stream.flush()
            os.fchmod(descriptor, mode)
            with _naming(path):
                os.fsync(descriptor)
        with _naming(path):
            Path(temporary).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise
    finally:
        _UNFINISHED.discard(temporary)


def open_number(path: str | os.PathLike[str]) -> int | None:
    """The number of the open file that a name such as /dev/stdout stands for."""
    found = _OPEN.fullmatch(os.fspath(path))
    if found is None:
        return None
    return int(found["number"]) if found["number"] else _NUMBERS[found["name"]]


def discard_unfinished() -> None:
    """Removes the files that are being written, before the process ends at once."""
    for temporary in list(_UNFINISHED):
        with suppress(OSError):
            Path(temporary).unlink()


class _Raw(io.FileIO):
    """A file whose failed writes name it as the user did."""

    def __init__(self, descriptor: int, path: str | os.PathLike[str]) -> None:
        super().__init__(descriptor, "w")
        self._path = path

    def write(self, written: Any, /) -> int:
        with _naming(self._path):
            return super().write(written)


def _named(descriptor: int, path: str | os.PathLike[str]) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(_Raw(descriptor, path)), encoding="utf-8")


@contextmanager
def _naming(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = os.fspath(path), None
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
