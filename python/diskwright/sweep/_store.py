"""Finished points, one file each."""

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskwright import _engine
from diskwright._engine import InputError
from diskwright._files import replacing

_KEY = re.compile(r"[0-9a-f]{32}")
_FORM = 1
# Files under temporary names that are older were left by a process that was killed.
_ABANDONED_S = 86_400


class Store:
    """A folder with a file for each finished point, named by its key. Processes may share it.

    A file is two lines of JSON: what it is, with a hash of the second line; and the result. One that is
    not so, or not of its name, is not believed: `get` does not find it, and `damaged` names it.

    folder: made where it is not there; None keeps the points in memory.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self.folder = None if folder is None else Path(folder)
        self.damaged: list[str] = []
        self._memory: dict[str, dict[str, Any]] = {}
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"error: cannot keep points in {self.folder}: {error.strerror}"
            raise InputError(f"{message}\n  = help: --store DIR names another folder") from error
        for left in self.folder.glob(".*.json.*"):
            try:
                if time.time() - left.stat().st_mtime > _ABANDONED_S:
                    left.unlink()
            except FileNotFoundError:
                # Another process was faster.
                continue

    def get(self, key: str, kind: str = "run") -> dict[str, Any] | None:
        """The result of a point, where it is there and sound."""
        if self.folder is None:
            return self._memory.get(key)
        path = self._path(key)
        try:
            written = path.read_bytes()
        except FileNotFoundError:
            return None
        found = _read(written, key, kind)
        if found is None:
            self.damaged.append(path.name)
        return found

    def put(self, key: str, result: Mapping[str, Any], kind: str = "run") -> None:
        """Keeps the result of a point."""
        if self.folder is None:
            self._memory[key] = dict(result)
            return
        body = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
        version, commit, _ = _engine.version()
        head = {
            "diskwright": "point",
            "form": _FORM,
            "key": key,
            "kind": kind,
            "engine": {"version": version, "commit": commit, "sources": _engine.sources()},
            "blake2b": _hash(body.encode()),
        }
        with replacing(self._path(key)) as stream:
            stream.write(f"{json.dumps(head)}\n{body}\n")

    def _path(self, key: str) -> Path:
        assert self.folder is not None and _KEY.fullmatch(key), key
        return self.folder / f"{key}.json"


def _read(written: bytes, key: str, kind: str) -> dict[str, Any] | None:
    head, _, rest = written.partition(b"\n")
    body, end, more = rest.partition(b"\n")
    try:
        said = json.loads(head)
        expected = {"diskwright": "point", "form": _FORM, "key": key, "kind": kind, "blake2b": _hash(body)}
        if not end or more or any(said.get(name) != value for name, value in expected.items()):
            return None
        found = json.loads(body)
    except (ValueError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _hash(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()
