"""What the classes of `diskwright.spec` share: to and from the tables of a spec."""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, TypeAlias, get_args, get_origin, get_type_hints

from diskwright import _toml
from diskwright._engine import InputError

FilePath: TypeAlias = Annotated[str | os.PathLike[str], "path"]
"""The path of a file."""
DrivePath: TypeAlias = Annotated[str | os.PathLike[str], "drive"]
"""The name of a drive, or the path of its file, which ends in .toml."""


class Table:
    """A table of a spec, of which None means that it is left out: the engine has a default for it."""

    __slots__ = ()

    _names: ClassVar[tuple[str, ...]] = ()
    """The names of a choice, `{ name = { … } }`; none for a plain table."""
    _is_value: ClassVar[bool] = False
    """Whether a choice has one value in place of a table, `{ name = value }`."""

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name.startswith("__") or not name.startswith("_")]

    def to_dict(self) -> Any:
        """In plain dicts, lists and strings, as `tomllib` would read it."""
        given = {
            _key(name): _plain(value)
            for name in type(self)._fields()
            if (value := getattr(self, name)) is not None
        }
        if not self._names:
            return given
        if self._is_value:
            return {self._names[0]: given["value"]}
        return {self._names[0]: given} if given else self._names[0]

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], /) -> Self:
        """The table that plain dicts describe: the opposite of `to_dict`."""
        if cls._names:
            (table,) = table.values() if isinstance(table, Mapping) else ({},)
        return cls._read(table, "", None)

    @classmethod
    def _fields(cls) -> Sequence[str]:
        # Those of a dataclass with slots.
        fields: Sequence[str] = cls.__dict__["__slots__"]
        return fields

    @classmethod
    def _read(cls, table: Any, where: str, base: Path | None) -> Self:
        if cls._is_value:
            return cls(_value(table, _hints(cls)["value"], where, base))  # type: ignore[call-arg]
        if not isinstance(table, Mapping):
            raise InputError(f"error: {where or 'the spec'}: expected a table, found {table!r}")
        hints = {_key(name): (name, hint) for name, hint in _hints(cls).items()}
        given = {}
        for key, value in table.items():
            path = f"{where}.{key}" if where else str(key)
            if _FORMER.get(key) in hints:
                key = _FORMER[key]
            if key not in hints:
                raise InputError(f"error: {path}: {_unknown(str(key), hints)}")
            name, hint = hints[key]
            given[name] = _value(value, hint, path, base)
        fields = cls.__dict__["__dataclass_fields__"]
        for key, (name, _) in hints.items():
            if name not in given and fields[name].default is not None:
                raise InputError(f"error: {where or 'the spec'}: the key {key!r} is missing")
        return cls(**given)


class Document(Table):
    """A whole spec."""

    __slots__ = ()

    @classmethod
    def load(cls, path: str | os.PathLike[str], /) -> Self:
        """Reads a TOML file. Relative paths in it start at its folder, and become absolute."""
        import tomllib

        source = Path(path)
        try:
            table = tomllib.loads(source.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"error: cannot read {source}: {error}") from error
        return cls._read(table, "", source.absolute().parent)

    def toml(self) -> str:
        """The spec as TOML: what `load` reads."""
        return _toml.document(self.to_dict())

    def replace(self, set: Mapping[str, Any] | None = None, /, **changes: Any) -> Self:
        """The same spec with other values, by dotted key or with two underscores for each dot.

        >>> spec.replace({"device.hdd.queue.depth": 4}, seed=7)  # doctest: +SKIP
        >>> spec.replace(device__hdd__queue__scheduler=Ncq(timeout="1 s"))  # doctest: +SKIP
        """
        table = self.to_dict()
        by_name = ((name.replace("__", "."), value) for name, value in changes.items())
        for path, value in [*(set or {}).items(), *by_name]:
            _put(table, path, _plain(value))
        return type(self)._read(table, "", None)


def plain(spec: Table | Mapping[str, Any]) -> Mapping[str, Any]:
    """A spec as a dict."""
    table: Mapping[str, Any] = _plain(spec)
    return table


_FORMER = {"look-alike": "synthetic-clone", "reading": "variant", "soonest-idle": "least-outstanding"}
"""Keys and names of choices that had another name once, which specs may still have."""

_KEYS = {"synthetic_clone": "synthetic-clone"}
"""Keys that are no names in Python, nor such names with an underscore behind them."""


def _key(name: str) -> str:
    """The key of a field: `from_` is `from`, a keyword of Python; `synthetic_clone` is `synthetic-clone`."""
    return _KEYS.get(name) or name.rstrip("_")


def _plain(value: Any) -> Any:
    if isinstance(value, Table):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview):
        return [_plain(item) for item in value]
    return value


_known_hints: dict[type[Table], dict[str, Any]] = {}


def _hints(cls: type[Table]) -> dict[str, Any]:
    if cls not in _known_hints:
        hints = get_type_hints(cls, include_extras=True)
        _known_hints[cls] = {name: hints[name] for name in cls._fields()}
    return _known_hints[cls]


def _options(hint: Any) -> Iterator[Any]:
    """The members of a union, and of the unions in it."""
    if get_origin(hint) in (Annotated, Mapping, Sequence) or not get_args(hint):
        yield hint
        return
    for option in get_args(hint):
        yield from _options(option)


def _value(value: Any, hint: Any, where: str, base: Path | None) -> Any:
    """A value of a key; what is no table is for the engine to judge."""
    if isinstance(value, Table):
        return value
    options = list(_options(hint))
    if isinstance(value, Mapping):
        if any(get_origin(option) is Mapping for option in options):
            return value
        return _table(value, [option for option in options if _is_table(option)], where, base)
    if isinstance(value, list | tuple):
        for option in options:
            if get_origin(option) is Sequence:
                (item,) = get_args(option)
                return [_value(inner, item, f"{where}[{index}]", base) for index, inner in enumerate(value)]
    if isinstance(value, str) and base is not None:
        kinds = {kind for option in options if get_origin(option) is Annotated for kind in get_args(option)}
        if "path" in kinds or ("drive" in kinds and value.endswith(".toml")):
            return os.fspath(base / value)
    return value


def _is_table(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, Table)


def _table(value: Mapping[str, Any], options: list[type[Table]], where: str, base: Path | None) -> Any:
    if len(value) == 1:
        ((name, inner),) = value.items()
        name = _FORMER.get(name, name)
        for option in options:
            if name in option._names:
                return option._read(inner, f"{where}.{name}", base)
    plain = [option for option in options if not option._names]
    if plain:
        fits = (option for option in plain if {_key(name) for name in option._fields()} >= set(value))
        return next(fits, plain[0])._read(value, where, base)
    names = [name for option in options for name in option._names]
    if not names:
        raise InputError(f"error: {where}: expected no table, found {_toml.value(value)}")
    if len(value) != 1:
        raise InputError(f"error: {where}: expected one key, of {', '.join(names)}; found {len(value)}")
    raise InputError(f"error: {where}: {_unknown(next(iter(value)), names)}")


def _unknown(name: str, known: Any) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown key {name!r}: {hint}accepted: {', '.join(known)}"


def _put(table: dict[str, Any], path: str, value: Any) -> None:
    """Sets the value at a dotted path, `a.b[0].c`."""
    steps: list[str | int] = []
    for part in path.split("."):
        name, *indices = part.split("[")
        steps.append(_FORMER.get(name, name))
        for index in indices:
            if not (index.endswith("]") and index[:-1].isdecimal()):
                raise InputError(f"error: {path!r} is not a key: expected a path such as a.b[0].c")
            steps.append(int(index[:-1]))
    here: Any = table
    for step, following in pairwise(steps):
        inner = _at(here, step, path, {})
        if inner == following and isinstance(inner, str):
            # The bare name of a choice, whose parameters follow.
            inner = {inner: {}}
            here[step] = inner
        if not isinstance(inner, dict | list):
            raise InputError(f"error: {path}: {inner!r} stands above {following!r}")
        here = inner
    _at(here, steps[-1], path, None)
    here[steps[-1]] = value


def _at(here: Any, step: str | int, path: str, default: Any) -> Any:
    if isinstance(here, list) and isinstance(step, int) and step < len(here):
        return here[step]
    if isinstance(here, dict) and isinstance(step, str):
        return here.setdefault(step, default)
    raise InputError(f"error: {path}: there is no {step!r}")
