"""The inputs of work: recorded traces, and files that functions generate from them or from nothing."""

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

    source: where to get it.
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
class GeneratedFile:
    """A file that a function writes, for use like a `Trace`. See `synthetic_clone` and `converted`.

    function: is called with the path of the file, which ends in `suffix`, and the arguments as those of a
        `Call`: plain data, traces, other such files. With an argument `seed` each seed has a file of its own.
    """

    function: Callable[..., object]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    suffix: str = ".parquet"

    @property
    def is_seeded(self) -> bool:
        """Whether each seed has a file of its own."""
        return takes_seed(self.function) or any(inner.is_seeded for inner in generated(self.arguments))

    def key(self, seed: int | None) -> str:
        """A hash of all that the file depends on: 32 hexadecimal digits."""
        return hashed(["made", *definition(self.function), content(self.arguments, seed), self.suffix, seed])


class FileCache:
    """A folder of generated files, each written once, when it is first needed.

    folder: where they are kept; without one, a temporary folder that goes with this object.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._lock = Lock()
        self._locks: dict[str, Lock] = {}

    def path(self, name: str, write: Callable[[Path], object]) -> Path:
        """The file of a name, written first if it does not exist."""
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
            folder = self._opened()
        # Other files may be written meanwhile.
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
    """What all work of a reproduction has in common.

    traces: the file of each trace that was found, by name.
    quick: the most requests of a run, for a quick try.
    files: where generated files are kept.
    """

    traces: Mapping[str, Path]
    quick: int | None = None
    files: FileCache = field(default_factory=FileCache)

    def with_paths(self, item: Any, seed: int | None) -> Any:
        """Plain data, with each trace and generated file replaced by the path of its file."""
        return with_files(item, lambda found: str(self._path(found, seed)))

    def _path(self, found: Trace | GeneratedFile, seed: int | None) -> Path:
        if isinstance(found, Trace):
            return self.traces[found.name]
        own = seed if found.is_seeded else None

        def write(target: Path) -> object:
            seeded = {"seed": own} if takes_seed(found.function) else {}
            return found.function(target, **self.with_paths(dict(found.arguments), own), **seeded)

        return self.files.path(f"{found.key(own)}{found.suffix}", write)


def synthetic_clone(profile: Trace, parameters: Mapping[str, Any] | None = None) -> GeneratedFile:
    """The requests of a synthetic clone, drawn anew with each seed, as a Parquet file.

    parameters: over those of a table of counts. A `Run` needs no such file: `workload.synthetic-clone` of its
    spec takes the profile.
    """
    return GeneratedFile(_synthetic_clone, {"profile": profile, "parameters": dict(parameters or {})})


def converted(trace: Trace, **arguments: Any) -> GeneratedFile:
    """A trace as a Parquet file, which polars and others read: `diskwright.convert` with these arguments."""
    return GeneratedFile(_converted, {"trace": trace, "arguments": arguments})


def _synthetic_clone(target: Path, profile: str, parameters: Mapping[str, Any], seed: int) -> None:
    options = {"format": "synthetic-clone", "synthetic-clone": {"seed": seed, "parameters": parameters}}
    _engine.convert(profile, target, json.dumps(options), None, None, None)


def _converted(target: Path, trace: str, arguments: Mapping[str, Any]) -> None:
    from diskwright import _api

    _api.convert(trace, target, **arguments)


def files_in(item: Any) -> Iterator[Trace | GeneratedFile]:
    """The traces and generated files in plain data."""
    if isinstance(item, Trace | GeneratedFile):
        yield item
    elif isinstance(item, Table):
        yield from files_in(item.to_dict())
    elif isinstance(item, Mapping):
        for inner in item.values():
            yield from files_in(inner)
    elif isinstance(item, Sequence) and not isinstance(item, str):
        for inner in item:
            yield from files_in(inner)


def traces(item: Any) -> list[Trace]:
    """The traces in plain data, and those that its generated files are made from."""
    found: dict[Trace, None] = {}
    for inner in files_in(item):
        found |= dict.fromkeys([inner] if isinstance(inner, Trace) else traces(inner.arguments))
    return list(found)


def generated(item: Any) -> list[GeneratedFile]:
    """The generated files in plain data."""
    return [inner for inner in files_in(item) if isinstance(inner, GeneratedFile)]


def with_files(item: Any, put: Callable[[Trace | GeneratedFile], Any]) -> Any:
    """Plain data, with each trace and generated file replaced by what `put` returns for it."""
    if isinstance(item, Trace | GeneratedFile):
        return put(item)
    if isinstance(item, Table):
        return with_files(item.to_dict(), put)
    if isinstance(item, Mapping):
        return {key: with_files(inner, put) for key, inner in item.items()}
    if isinstance(item, Sequence) and not isinstance(item, str):
        return [with_files(inner, put) for inner in item]
    return item


def content(item: Any, seed: int | None) -> Any:
    """Plain data, with each file replaced by a hash of its content."""
    return with_files(
        item,
        lambda found: (
            [found.bytes, found.sha256]
            if isinstance(found, Trace)
            else found.key(seed if found.is_seeded else None)
        ),
    )


def with_names(item: Any) -> Any:
    """Plain data, with each file replaced by its name, or by how it is generated."""
    return with_files(
        item,
        lambda found: (
            found.name
            if isinstance(found, Trace)
            else {found.function.__name__.lstrip("_"): with_names(found.arguments)}
        ),
    )


def takes_seed(function: Callable[..., Any]) -> bool:
    """Whether a function has an argument `seed`."""
    return "seed" in inspect.signature(function).parameters


def definition(function: Callable[..., Any]) -> list[Any]:
    """What a function's result depends on: the build of the engine, its name, and the text of its file."""
    source = Path(inspect.getfile(function)).read_text(encoding="utf-8")
    return [build(), function.__qualname__, source]


def build() -> list[str]:
    """The build of the engine."""
    version, commit, _ = _engine.version()
    return [version, commit, _engine.sources()]


def hashed(item: Any) -> str:
    """The key of plain data."""
    return hashlib.blake2b(json.dumps(item, sort_keys=True).encode(), digest_size=16).hexdigest()
