"""What work is done with: recorded traces, and files that are made of them or of nothing."""

import hashlib
import inspect
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from diskwright import _engine
from diskwright._typed import Table


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded trace, known by what it holds: its size and SHA-256.

    source: where one gets it.
    file: its path where it comes with the system; then it is not searched for.
    """

    name: str
    bytes: int
    sha256: str
    source: str
    file: Path | None = None


def bundled(name: str, file: Path, source: str) -> Trace:
    """A trace, or the profile of one, that comes with the system's own file."""
    content = file.read_bytes()
    return Trace(name, len(content), hashlib.sha256(content).hexdigest(), source, file)


@dataclass(frozen=True, slots=True)
class Made:
    """A file that a function writes, for use like a `Trace`. See `synthetic_clone` and `converted`.

    function: is called with the path of the file, which ends in `suffix`, and the arguments as those of a
        `Call`: plain data, traces, other such files. With an argument `seed` each seed has a file of its own.
    """

    function: Callable[..., object]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    suffix: str = ".parquet"

    @property
    def is_seeded(self) -> bool:
        """Whether there is one for each seed."""
        return takes_seed(self.function) or any(inner.is_seeded for inner in made(self.arguments))

    def key(self, seed: int | None) -> str:
        """Stands for all that the file depends on: 32 hexadecimal digits."""
        return hashed(["made", *told(self.function), held(self.arguments, seed), self.suffix, seed])


class Workshop:
    """A folder of made files, each made once, when the first work needs it.

    folder: keeps them there; without one they are gone with this object.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._lock = Lock()
        self._locks: dict[str, Lock] = {}

    def path(self, name: str, write: Callable[[Path], object]) -> Path:
        """The file of a name, which is written where it is not there."""
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
            folder = self._opened()
        # Other files may be made meanwhile.
        with lock:
            target = folder / name
            if not target.exists():
                with tempfile.TemporaryDirectory(prefix=".", dir=folder) as beside:
                    partial = Path(beside, name)
                    write(partial)
                    partial.replace(target)
            return target

    def _opened(self) -> Path:
        if self._folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="diskwright-")
            self._folder = Path(self._temporary.name)
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder


@dataclass(frozen=True, slots=True)
class Setting:
    """What all work of a reproduction shares.

    traces: the file of each trace that was found, by name.
    quick: the most requests of a run, for a quick try.
    workshop: where files are made.
    """

    traces: Mapping[str, Path]
    quick: int | None = None
    workshop: Workshop = field(default_factory=Workshop)

    def placed(self, item: Any, seed: int | None) -> Any:
        """Plain data with the path of its file in the place of each trace and of each made file."""
        return replaced(item, lambda found: str(self._path(found, seed)))

    def _path(self, found: Trace | Made, seed: int | None) -> Path:
        if isinstance(found, Trace):
            return self.traces[found.name]
        own = seed if found.is_seeded else None

        def write(target: Path) -> object:
            seeded = {"seed": own} if takes_seed(found.function) else {}
            return found.function(target, **self.placed(dict(found.arguments), own), **seeded)

        return self.workshop.path(f"{found.key(own)}{found.suffix}", write)


def synthetic_clone(profile: Trace, parameters: Mapping[str, Any] | None = None) -> Made:
    """The requests of a synthetic clone, others with each seed, as a Parquet file.

    parameters: over those of a table of counts. A `Run` needs no such file: `workload.synthetic-clone` of its
    spec takes the profile.
    """
    return Made(_synthetic_clone, {"profile": profile, "parameters": dict(parameters or {})})


def converted(trace: Trace, **arguments: Any) -> Made:
    """A trace as a Parquet file, which polars and others read: `diskwright.convert` with these arguments."""
    return Made(_converted, {"trace": trace, "arguments": arguments})


def _synthetic_clone(target: Path, profile: str, parameters: Mapping[str, Any], seed: int) -> None:
    told = {"format": "synthetic-clone", "synthetic-clone": {"seed": seed, "parameters": parameters}}
    _engine.convert(profile, target, json.dumps(told), None, None, None)


def _converted(target: Path, trace: str, arguments: Mapping[str, Any]) -> None:
    from diskwright import _api

    _api.convert(trace, target, **arguments)


def within(item: Any) -> Iterator[Trace | Made]:
    """The traces and the made files in plain data."""
    if isinstance(item, Trace | Made):
        yield item
    elif isinstance(item, Table):
        yield from within(item.to_dict())
    elif isinstance(item, Mapping):
        for inner in item.values():
            yield from within(inner)
    elif isinstance(item, Sequence) and not isinstance(item, str):
        for inner in item:
            yield from within(inner)


def traces(item: Any) -> list[Trace]:
    """The traces in plain data, and those that files in it are made of."""
    found: dict[Trace, None] = {}
    for inner in within(item):
        found |= dict.fromkeys([inner] if isinstance(inner, Trace) else traces(inner.arguments))
    return list(found)


def made(item: Any) -> list[Made]:
    """The made files in plain data."""
    return [inner for inner in within(item) if isinstance(inner, Made)]


def replaced(item: Any, put: Callable[[Trace | Made], Any]) -> Any:
    """Plain data with something in the place of each trace and of each made file."""
    if isinstance(item, Trace | Made):
        return put(item)
    if isinstance(item, Table):
        return replaced(item.to_dict(), put)
    if isinstance(item, Mapping):
        return {key: replaced(inner, put) for key, inner in item.items()}
    if isinstance(item, Sequence) and not isinstance(item, str):
        return [replaced(inner, put) for inner in item]
    return item


def held(item: Any, seed: int | None) -> Any:
    """Plain data that says what is in its files."""
    return replaced(
        item,
        lambda found: (
            [found.bytes, found.sha256]
            if isinstance(found, Trace)
            else found.key(seed if found.is_seeded else None)
        ),
    )


def named(item: Any) -> Any:
    """Plain data that says what its files are called, or are made of."""
    return replaced(
        item,
        lambda found: (
            found.name
            if isinstance(found, Trace)
            else {found.function.__name__.lstrip("_"): named(found.arguments)}
        ),
    )


def takes_seed(function: Callable[..., Any]) -> bool:
    """Whether a function has an argument `seed`."""
    return "seed" in inspect.signature(function).parameters


def told(function: Callable[..., Any]) -> list[Any]:
    """What a function does: the build of the engine, its name, and the text of its file."""
    source = Path(inspect.getfile(function)).read_text(encoding="utf-8")
    return [build(), function.__qualname__, source]


def build() -> list[str]:
    """The build of the engine."""
    version, commit, _ = _engine.version()
    return [version, commit, _engine.sources()]


def hashed(item: Any) -> str:
    """The key of plain data."""
    return hashlib.blake2b(json.dumps(item, sort_keys=True).encode(), digest_size=16).hexdigest()
