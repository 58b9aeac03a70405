"""What the engine is told of a run, and what a point is."""

import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from diskwright import _engine
from diskwright._engine import InputError


@dataclass(frozen=True, slots=True)
class Job:
    """A run, or those of one point with several seeds. The engine reads these attributes.

    path, text: the spec, one of them; base: where relative paths in a text start.
    set, drive, trace, check: as the command line has them.
    vary, choice: the keys that a sweep varies beside those of the spec, and which value of each this is.
    notes: what its result warns of, of a load that was made elsewhere.
    """

    path: str | None
    text: str | None
    base: str | PathLike[str] = field(default_factory=Path.cwd)
    set: Sequence[str] = ()
    drive: str | None = None
    trace: str | PathLike[str] | None = None
    check: bool = False
    vary: Sequence[str] = ()
    choice: Sequence[int] = ()
    seed: int | None = None
    notes: Sequence[str] = ()

    def with_seed(self, seed: int) -> "Job":
        """The run with a seed."""
        return replace(self, seed=seed)


@dataclass(frozen=True, slots=True)
class Point:
    """A run before it runs: its key, which stands for all that its result depends on.

    spec: the effective one. warnings: those that are known before the run.
    notes: those of a job file of fio's, whose load stands in the spec.
    traces: path, size and digest of each file that it replays.
    whole: what another machine needs to run it, where that was asked for.
    """

    key: str
    spec: Mapping[str, Any]
    warnings: Sequence[str]
    notes: Sequence[str]
    traces: Sequence[Mapping[str, Any]]
    whole: Mapping[str, Any] | None = None


class Schedulers:
    """Schedulers that the program brings along, and the hashes of their sources."""

    def __init__(self, schedulers: Mapping[str, Any]) -> None:
        self.objects = list(schedulers.items())
        self.sources = {name: _source_hash(scheduler, name) for name, scheduler in schedulers.items()}


def points(
    job: Job, seeds: Sequence[int] = (), schedulers: Schedulers | None = None, *, whole: bool = False
) -> list[Point]:
    """The points of a job with each of the seeds; with its own where there are none."""
    brought = schedulers or Schedulers({})
    found = _engine.points(job, list(seeds), brought.objects, brought.sources, whole)
    return [Point(**point) for point in json.loads(found)]


def _source_hash(scheduler: Any, name: str) -> str:
    """A hash of the file that the scheduler's class stands in, of the class, and of what the object holds.

    The whole file, because a class calls what stands beside it. What it imports is not in it.
    """
    kind = type(scheduler)
    try:
        try:
            source = Path(inspect.getfile(kind)).read_text(encoding="utf-8")
        except (TypeError, OSError):
            # In a notebook there is no file.
            source = inspect.getsource(kind)
        held = json.dumps(_held(scheduler), sort_keys=True)
    except (OSError, TypeError, ValueError) as error:
        message = f"error: schedulers: {name}: what it does cannot be told from its source: {error}"
        raise InputError(
            f"{message}\n  = help: define its class in a file, with plain numbers and texts as its state"
        ) from error
    told = json.dumps([kind.__qualname__, source, held])
    return hashlib.blake2b(told.encode(), digest_size=16).hexdigest()


def _held(scheduler: Any) -> dict[str, Any]:
    slots = [name for kind in type(scheduler).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(scheduler, name) for name in slots if hasattr(scheduler, name)}
    return held | getattr(scheduler, "__dict__", {})
