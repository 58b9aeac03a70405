"""What is asked: a device that reads and writes sectors, and tells nothing but when it is done."""

import os
import time
from pathlib import Path
from typing import Protocol

from diskwright import _engine, _toml


class Target(Protocol):
    """A device with one request at a time.

    blocks: its size in blocks of 512 bytes.
    may_write: whether it may be written to.
    exact: whether times are those of a simulation, without noise.
    requests: that were issued.
    """

    blocks: int
    may_write: bool
    exact: bool
    requests: int

    @property
    def now_ns(self) -> int:
        """When the last request was complete, ns."""

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        """Issues a request `pause_ns` after the one before was complete; gives when it was issued and when it
        was complete, ns. A write `through` is complete when it is on the medium.
        """


class SimulatedTarget:
    """A drive of the simulator; its time is simulated."""

    may_write = True
    exact = True

    def __init__(self, drive: str | os.PathLike[str]) -> None:
        kind = _kind(drive)
        spec = _toml.document({"device": {kind: {"drive": os.fsdecode(drive)}}})
        self._session = _engine.Session(None, spec, os.fspath(Path.cwd()))
        self.blocks = self._session.blocks
        self.requests = 0

    @property
    def now_ns(self) -> int:
        return self._session.now_ns

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        issue = self._session.now_ns + pause_ns
        self.requests += 1
        return issue, self._session.ask(pause_ns, lbn, blocks, write, write and through)


def _kind(drive: str | os.PathLike[str]) -> str:
    """The kind of device that a drive's file describes."""
    import json

    return str(json.loads(_engine.drive(os.fsdecode(drive)))["kind"])


def waited(until_ns: int) -> int:
    """Waits until an instant of the clock; gives the present one, ns. The last stretch is not slept."""
    now = time.perf_counter_ns()
    if until_ns - now > 200_000:
        time.sleep((until_ns - now - 150_000) / 1e9)
        now = time.perf_counter_ns()
    while now < until_ns:
        now = time.perf_counter_ns()
    return now
