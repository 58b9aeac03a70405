"""Kinds of work: what has a key and a result that is kept."""

import hashlib
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from diskwright import _api, _engine, _toml
from diskwright._typed import Table, plain
from diskwright.sweep._job import Job


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded trace, known by what it holds: its size and SHA-256.

    source: where one gets it.
    """

    name: str
    bytes: int
    sha256: str
    source: str


# What a quick try has fewer of, whether they are recorded or made.
_REQUESTS = "measure.requests"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all work of a reproduction shares.

    traces: the file of each trace that was found, by name.
    quick: the most requests of a run, for a quick try.
    """

    traces: Mapping[str, Path]
    quick: int | None = None


class Work(ABC):
    """Something that is computed once, and kept under its key."""

    kind: ClassVar[str]
    """What it is called where it is kept."""
    is_seeded: ClassVar[bool]
    """Whether it is done again with each seed."""

    @abstractmethod
    def inputs(self) -> Any:
        """All that it is made of, in which traces may stand."""

    def traces(self) -> list[Trace]:
        """The traces that it needs."""
        return list(dict.fromkeys(_traces(self.inputs())))

    @abstractmethod
    def key(self, setting: Setting, seed: int | None) -> str:
        """Stands for all that the result depends on: 32 hexadecimal digits."""

    @abstractmethod
    def result(self, setting: Setting, seed: int | None) -> Mapping[str, Any]:
        """Does it; plain data that JSON has."""

    def described(self) -> str:
        """What it is, for the page."""
        return f"{self.kind}: {_toml.value(_named(self.inputs()))}"


@dataclass(frozen=True)
class Run(Work):
    """The run of a spec, in dicts, with a `Trace` where a file's name would stand.

    set: values to override, by dotted key.
    quick: the most requests in a quick try, in place of the system's.
    """

    kind: ClassVar[str] = "run"
    is_seeded: ClassVar[bool] = True

    spec: Mapping[str, Any] | Table
    set: Mapping[str, Any] = field(default_factory=dict)
    check: bool = False
    quick: int | None = None

    def inputs(self) -> Any:
        return [_dict(self.spec), dict(self.set)]

    def job(self, setting: Setting) -> Job:
        """As the engine runs it, which does many at a time."""
        spec = _placed(_dict(self.spec), setting)
        changes = _placed(dict(self.set), setting)
        if setting.quick is not None:
            said = changes.get(_REQUESTS, spec.get("measure", {}).get("requests"))
            most = setting.quick if self.quick is None else self.quick
            changes[_REQUESTS] = most if said is None else min(said, most)
        settings = tuple(f"{name}={_toml.value(value, name)}" for name, value in changes.items())
        return Job(None, _toml.document(spec), set=settings, check=self.check)

    def key(self, setting: Setting, seed: int | None) -> str:
        from diskwright.sweep._job import points

        return points(self.job(setting), [] if seed is None else [seed])[0].key

    def result(self, setting: Setting, seed: int | None) -> Mapping[str, Any]:
        raise NotImplementedError("runs go through the runner of sweeps, many at a time")


@dataclass(frozen=True)
class Inspect(Work):
    """What a trace is: `diskwright.inspect` with these arguments."""

    kind: ClassVar[str] = "inspect"
    is_seeded: ClassVar[bool] = False

    trace: Trace
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def inputs(self) -> Any:
        return [self.trace, dict(self.arguments)]

    def key(self, setting: Setting, seed: int | None) -> str:
        return _hash([self.kind, _build(), _held(self.inputs())])

    def result(self, setting: Setting, seed: int | None) -> Mapping[str, Any]:
        return _api.inspect(setting.traces[self.trace.name], **self.arguments).to_dict()


@dataclass(frozen=True)
class Call(Work):
    """What a function of the system's file returns, as plain data, from arguments that JSON has, or traces.

    A function with an argument `seed` is called with each seed. Its key has the text of its file and the
    build of the engine: it must depend on nothing else.
    """

    kind: ClassVar[str] = "call"

    function: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_seeded(self) -> bool:  # type: ignore[override]
        return "seed" in inspect.signature(self.function).parameters

    def inputs(self) -> Any:
        return dict(self.arguments)

    def key(self, setting: Setting, seed: int | None) -> str:
        source = Path(inspect.getfile(self.function)).read_text(encoding="utf-8")
        name = self.function.__qualname__
        return _hash([self.kind, _build(), name, source, _held(self.inputs()), seed])

    def result(self, setting: Setting, seed: int | None) -> Mapping[str, Any]:
        arguments = _placed(self.inputs(), setting)
        return self.function(**arguments, **({"seed": seed} if self.is_seeded else {}))

    def described(self) -> str:
        return f"{self.function.__name__}: {_toml.value(_named(self.inputs()))}"


def _dict(spec: Mapping[str, Any] | Table) -> dict[str, Any]:
    return dict(plain(spec)) if isinstance(spec, Table) else dict(spec)


def _traces(item: Any) -> Iterator[Trace]:
    if isinstance(item, Trace):
        yield item
    elif isinstance(item, Table):
        yield from _traces(item.to_dict())
    elif isinstance(item, Mapping):
        for inner in item.values():
            yield from _traces(inner)
    elif isinstance(item, Sequence) and not isinstance(item, str):
        for inner in item:
            yield from _traces(inner)


def _replaced(item: Any, put: Callable[[Trace], Any]) -> Any:
    """Plain data with something in the place of each trace."""
    if isinstance(item, Trace):
        return put(item)
    if isinstance(item, Table):
        return _replaced(item.to_dict(), put)
    if isinstance(item, Mapping):
        return {key: _replaced(inner, put) for key, inner in item.items()}
    if isinstance(item, Sequence) and not isinstance(item, str):
        return [_replaced(inner, put) for inner in item]
    return item


def _placed(item: Any, setting: Setting) -> Any:
    return _replaced(item, lambda trace: str(setting.traces[trace.name]))


def _held(item: Any) -> Any:
    return _replaced(item, lambda trace: [trace.bytes, trace.sha256])


def _named(item: Any) -> Any:
    return _replaced(item, lambda trace: trace.name)


def _build() -> list[str]:
    version, commit, _ = _engine.version()
    return [version, commit, _engine.sources()]


def _hash(told: Any) -> str:
    return hashlib.blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=16).hexdigest()
