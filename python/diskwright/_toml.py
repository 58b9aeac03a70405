"""Python values as TOML. Python reads TOML but does not write it."""

import json
import numbers
import operator
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def document(table: Mapping[str, Any]) -> str:
    """A whole document: one table header per nested mapping, so that errors point at readable lines."""
    return "".join(_lines(table, ""))


def value(item: Any, where: str = "value") -> str:
    """One value on one line."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return _string(item)
    if isinstance(item, os.PathLike):
        return _string(os.fsdecode(item))
    if isinstance(item, numbers.Integral):
        return str(operator.index(item))
    if isinstance(item, numbers.Real):
        # TOML writes nan and inf as Python does.
        return repr(float(item))
    if isinstance(item, Mapping):
        pairs = (f"{key(name)} = {value(inner, f'{where}.{name}')}" for name, inner in item.items())
        return "{ " + ", ".join(pairs) + " }" if item else "{}"
    if isinstance(item, Sequence) and not isinstance(item, bytes | bytearray | memoryview):
        return "[" + ", ".join(value(inner, f"{where}[{index}]") for index, inner in enumerate(item)) + "]"
    raise TypeError(f"{where}: a spec cannot hold {item!r} ({type(item).__name__})")


def key(name: object) -> str:
    """One part of a key, quoted where it must be."""
    if not isinstance(name, str):
        raise TypeError(f"a spec's keys are strings, not {name!r}")
    return name if _BARE.fullmatch(name) else _string(name)


def _lines(table: Mapping[str, Any], prefix: str) -> list[str]:
    tables = {name: inner for name, inner in table.items() if isinstance(inner, Mapping)}
    lines = [
        f"{key(name)} = {value(inner, prefix + str(name))}\n"
        for name, inner in table.items()
        if name not in tables
    ]
    for name, inner in tables.items():
        path = prefix + key(name)
        lines += [f"[{path}]\n", *_lines(inner, path + ".")]
    return lines


def _string(text: str) -> str:
    # JSON's strings are TOML's basic strings, except that TOML has no surrogates and wants DEL escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
