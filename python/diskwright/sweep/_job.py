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
            {name: _hash("schedulers", name, _object_behaviour, item) for name, item in schedulers.items()},
            {name: _hash("replacements", name, _behaviour, item) for name, item in replacements.items()},
        )


def points(
    job: Job, seeds: Sequence[int] = (), custom: CustomPolicies | None = None, *, whole: bool = False
) -> list[Point]:
    """The points of a job with each of the seeds; with its own where there are none."""
    found = _engine.points(job, list(seeds), custom or CustomPolicies(), whole)
    return [Point(**point) for point in json.loads(found)]


def _hash(argument: str, name: str, behaviour: Callable[[Any], Any], item: Any) -> str:
    """A hash of what something does."""
    try:
        text = json.dumps(behaviour(item), sort_keys=True)
    except (OSError, RecursionError, TypeError, ValueError) as error:
        message = f"error: {argument}: {name}: what it does cannot be determined from its source: {error}"
        raise InputError(
            f"{message}\n  = help: define its class in a file, with plain numbers and texts as its state"
        ) from error
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _object_behaviour(item: Any) -> list[Any]:
    """What determines what an object does: its class and its state."""
    return [*_definition(type(item)), json.dumps(_state(item), sort_keys=True)]


def _behaviour(item: Any) -> Any:
    """The definition of a class or a function, with all that is bound to it; or the value itself."""
    if isinstance(item, type):
        return _definition(item)
    if isinstance(item, partial):
        return [
            _behaviour(item.func),
            *map(_behaviour, item.args),
            {key: _behaviour(of) for key, of in item.keywords.items()},
        ]
    if inspect.ismethod(item):
        return [_behaviour(item.__func__), _behaviour(item.__self__)]
    if inspect.isfunction(item):
        bound = [cell.cell_contents for cell in item.__closure__ or ()]
        bound += [*(item.__defaults__ or ()), *(item.__kwdefaults__ or {}).values()]
        return [*_definition(item), *map(_behaviour, bound)]
    return _object_behaviour(item) if callable(item) else item


def _definition(kind: Any) -> list[str]:
    """The name of a class or a function, and the text of the file that defines it.

    The whole file, because the definition may call others in it. What the file imports is not included.
    """
    try:
        source = Path(inspect.getfile(kind)).read_text(encoding="utf-8")
    except (TypeError, OSError):
        # A notebook has no file.
        source = inspect.getsource(kind)
    return [kind.__qualname__, source]


def _state(item: Any) -> dict[str, Any]:
    slots = [name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ())]
    slotted = {name: getattr(item, name) for name in slots if hasattr(item, name)}
    return slotted | getattr(item, "__dict__", {})
