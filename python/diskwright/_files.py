"""Files that are whole or not there."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Opens a text that takes the place of `path` when the block ends well, and leaves no trace when not.

    Opening comes first, so that a folder that cannot be written is known before a long run.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise IsADirectoryError(21, "Is a directory", os.fspath(path))
    if target.exists() and not target.is_file():
        # A device or a pipe is written to, never replaced.
        with target.open("w", encoding="utf-8") as stream:
            yield stream
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        error.filename = os.fspath(path)
        raise
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            yield stream
            stream.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        Path(temporary).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(temporary).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
