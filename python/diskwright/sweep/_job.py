"""What the engine is told of a run, and what a point is."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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


@dataclass(frozen=True, slots=True)
class CustomPolicies:
    """The program's own policies, by name. The engine reads these attributes.

    schedulers: objects that are asked. replacements: classes or functions that make one for each cache.
    scheduler_sources, replacement_sources: the hashes of what they do.
    """

    schedulers: Sequence[tuple[str, Any]] = ()
    replacements: Sequence[tuple[str, Any]] = ()
    scheduler_sources: Mapping[str, str] = field(default_factory=dict)
    replacement_sources: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, schedulers: Mapping[str, Any], replacements: Mapping[str, Any]) -> "CustomPolicies":
        """These, with the hashes of their sources."""
        return cls(
            list(schedulers.items()),
            list(replacements.items()),
            {name: _hash("schedulers", name, _object, item) for name, item in schedulers.items()},
            {name: _hash("replacements", name, _told, item) for name, item in replacements.items()},
        )


def points(
    job: Job, seeds: Sequence[int] = (), custom: CustomPolicies | None = None, *, whole: bool = False
) -> list[Point]:
    """The points of a job with each of the seeds; with its own where there are none."""
    found = _engine.points(job, list(seeds), custom or CustomPolicies(), whole)
    return [Point(**point) for point in json.loads(found)]


def _hash(argument: str, name: str, told: Callable[[Any], Any], item: Any) -> str:
    """A hash of what tells what something does."""
    try:
        text = json.dumps(told(item), sort_keys=True)
    except (OSError, RecursionError, TypeError, ValueError) as error:
        message = f"error: {argument}: {name}: what it does cannot be told from its source: {error}"
        raise InputError(
            f"{message}\n  = help: define its class in a file, with plain numbers and texts as its state"
        ) from error
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _object(item: Any) -> list[Any]:
    """What tells what an object does: its class, and what it holds."""
    return [*_definition(type(item)), json.dumps(_held(item), sort_keys=True)]


def _told(item: Any) -> Any:
    """What tells what a class or a function does, with what is bound to it; a value itself."""
    if isinstance(item, type):
        return _definition(item)
    if isinstance(item, partial):
        return [
            _told(item.func),
            *map(_told, item.args),
            {key: _told(of) for key, of in item.keywords.items()},
        ]
    if inspect.ismethod(item):
        return [_told(item.__func__), _told(item.__self__)]
    if inspect.isfunction(item):
        bound = [cell.cell_contents for cell in item.__closure__ or ()]
        bound += [*(item.__defaults__ or ()), *(item.__kwdefaults__ or {}).values()]
        return [*_definition(item), *map(_told, bound)]
    return _object(item) if callable(item) else item


def _definition(kind: Any) -> list[str]:
    """The name of a class or a function, and the file that it stands in.

    The whole file, because it calls what stands beside it. What that imports is not in it.
    """
    try:
        source = Path(inspect.getfile(kind)).read_text(encoding="utf-8")
    except (TypeError, OSError):
        # In a notebook there is no file.
        source = inspect.getsource(kind)
    return [kind.__qualname__, source]


def _held(item: Any) -> dict[str, Any]:
    slots = [name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ())]
    held = {name: getattr(item, name) for name in slots if hasattr(item, name)}
    return held | getattr(item, "__dict__", {})
