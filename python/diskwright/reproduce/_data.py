"""Traces, found by what they hold."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from diskwright._engine import InputError
from diskwright.reproduce._inputs import Trace


def folder(given: str | os.PathLike[str] | None) -> Path | None:
    """The folder that is searched: the one given, or the one that DISKWRIGHT_DATA names."""
    named = os.fspath(given) if given is not None else os.environ.get("DISKWRIGHT_DATA")
    if not named:
        return None
    if not Path(named).is_dir():
        option = "--data" if given is not None else "DISKWRIGHT_DATA"
        raise InputError(f"error: {option} {named}: expected a folder")
    return Path(named)


def found(traces: Sequence[Trace], data: Path | None) -> dict[str, Path]:
    """The file of each trace that comes along or is in a folder, under whatever name; the first by path."""
    files = {trace.name: trace.file for trace in traces if trace.file is not None}
    wanted = [trace for trace in traces if trace.file is None]
    if data is None or not wanted:
        return files
    for file in _files(data, {trace.bytes for trace in wanted}):
        try:
            size = file.stat().st_size
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            # One that cannot be read is not there.
            continue
        for trace in wanted:
            if (size, digest) == (trace.bytes, trace.sha256.lower()):
                files.setdefault(trace.name, file)
        if len(files) == len(traces):
            break
    return files


def candidates(traces: Sequence[Trace], data: Path | None) -> list[Path]:
    """The files that come along, and those of a folder that are as long as one of the traces."""
    files = [trace.file for trace in traces if trace.file is not None]
    return files + ([] if data is None else _files(data, {trace.bytes for trace in traces}))


def _files(data: Path, sizes: set[int]) -> list[Path]:
    """The files of these sizes, sorted."""
    files = []
    for parent, _, names in os.walk(data):
        for name in names:
            file = Path(parent, name)
            try:
                if file.is_file() and file.stat().st_size in sizes:
                    files.append(file.absolute())
            except OSError:
                continue
    return sorted(files)


def missing(traces: Sequence[Trace], files: dict[str, Path], data: Path | None) -> str:
    """Why work cannot be done; empty where all is there."""
    absent = [trace for trace in traces if trace.name not in files]
    where = f"not in {data}" if data is not None else "not looked for: --data DIR says where traces are"
    return "; ".join(
        f"the trace {trace.name} ({trace.bytes:,} bytes, sha256 {trace.sha256[:12]}…) is {where}"
        for trace in absent
    )
