"""Kinds of work: each has a key, and a result that is stored under it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from diskwright import _api, _toml
from diskwright._typed import Table, plain
from diskwright.reproduce import _inputs
from diskwright.reproduce._inputs import GeneratedFile, Setting, Trace
from diskwright.sweep._job import Job

# What a quick try has fewer of, be they recorded or generated.
_REQUESTS = "measure.requests"


class Work(ABC):
    """Something that is computed once and stored under its key."""

    kind: ClassVar[str]
    """Its name in the store."""

    @abstractmethod
    def inputs(self) -> Any:
        """All of its inputs, among them traces and generated files."""

    @property
    def is_seeded(self) -> bool:
        """Whether it is done once for each seed."""
        return self.has_seeded_files

    @property
    def has_seeded_files(self) -> bool:
        """Whether any of its files depends on the seed."""
        return any(file.is_seeded for file in _inputs.generated(self.inputs()))

    def traces(self) -> list[Trace]:
        """The traces that it needs."""
        return _inputs.traces(self.inputs())

    @abstractmethod
    def key(self, setting: Setting, seed: int | None) -> str:
        """A hash of all that the result depends on: 32 hexadecimal digits."""

    @abstractmethod
    def result(self, setting: Setting, seed: int | None) -> Mapping[str, Any]:
        """Does it, and returns plain data that JSON can hold."""

    def described(self) -> str:
        """A description for the page."""
        return f"{self.kind}: {_toml.value(_inputs.with_names(self.inputs()))}"


@dataclass(frozen=True)
class Run(Work):
    """The run of a spec, in dicts, with a `Trace` or a `GeneratedFile` file in place of a file's name.

    set: values to override, by dotted key.
    quick: the most requests in a quick try, in place of the system's.
    quick_set: values to override in a quick try, by dotted key, where fewer requests alone save little.
    """

    kind: ClassVar[str] = "run"

    spec: Mapping[str, Any] | Table
    set: Mapping[str, Any] = field(default_factory=dict)
    check: bool = False
    quick: int | None = None
    quick_set: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_seeded(self) -> bool:
        """It always is: where nothing else is random, the platters start anywhere."""
        return True

    def inputs(self) -> Any:
        return [_dict(self.spec), dict(self.set)]

    def jobs(self, setting: Setting, seeds: Sequence[int]) -> list[tuple[Job, Sequence[int]]]:
        """As jobs of the engine, which runs many at a time, each with its seeds."""
        if not self.has_seeded_files:
            return [(self._job(setting, None), seeds)]
        return [(self._job(setting, seed), [seed]) for seed in seeds]

    def _job(self, setting: Setting, seed: int | None) -> Job:
        spec = setting.with_paths(_dict(self.spec), seed)
        changes = setting.with_paths(dict(self.set), seed)
        if setting.quick is not None:
            changes |= setting.with_paths(dict(self.quick_set), seed)
            given = changes.get(_REQUESTS, spec.get("measure", {}).get("requests"))
            most = setting.quick if self.quick is None else self.quick
            changes[_REQUESTS] = most if given is None else min(given, most)
        settings = tuple(f"{name}={_toml.value(value, name)}" for name, value in changes.items())
        return Job(None, _toml.document(spec), set=settings, check=self.check)

    def key(self, setting: Setting, seed: int | None) -> str:
        from diskwright.sweep._job import points

        return points(self._job(setting, seed), [] if seed is None else [seed])[0].key

    def result(self, setting: Setting, seed: int | None) -> Mapping[str, Any]:
        raise NotImplementedError("runs go through the runner of sweeps, many at a time")


@dataclass(frozen=True)
class Inspect(Work):
    """What a trace is: `diskwright.inspect` with these arguments."""

    kind: ClassVar[str] = "inspect"

    trace: Trace | GeneratedFile
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def inputs(self) -> Any:
        return [self.trace, dict(self.arguments)]

    def key(self, setting: Setting, seed: int | None) -> str:
        return _inputs.hashed([self.kind, _inputs.build(), _inputs.content(self.inputs(), seed)])

    def result(self, setting: Setting, seed: int | None) -> Mapping[str, Any]:
        return _api.inspect(setting.with_paths(self.trace, seed), **self.arguments).to_dict()


@dataclass(frozen=True)
class Call(Work):
    """What a function in the system's file returns: plain data, from arguments that JSON can hold, or files.

    It is called once for each seed if it has an argument `seed`, or if one of its files depends on the seed.
    Its key covers the text of its file and the build of the engine: it must depend on nothing else.
    """

    kind: ClassVar[str] = "call"

    function: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_seeded(self) -> bool:
        """Whether its function or any of its files takes a seed."""
        return _inputs.takes_seed(self.function) or self.has_seeded_files

    def inputs(self) -> Any:
        return dict(self.arguments)

    def key(self, setting: Setting, seed: int | None) -> str:
        return _inputs.hashed(
            [self.kind, *_inputs.definition(self.function), _inputs.content(self.inputs(), seed), seed]
        )

    def result(self, setting: Setting, seed: int | None) -> Mapping[str, Any]:
        arguments = setting.with_paths(self.inputs(), seed)
        seeded = {"seed": seed} if _inputs.takes_seed(self.function) else {}
        return self.function(**arguments, **seeded)

    def described(self) -> str:
        return f"{self.function.__name__}: {_toml.value(_inputs.with_names(self.inputs()))}"


def _dict(spec: Mapping[str, Any] | Table) -> dict[str, Any]:
    return dict(plain(spec)) if isinstance(spec, Table) else dict(spec)
