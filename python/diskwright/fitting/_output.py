"""The fitted drive as a file."""

from collections.abc import Mapping
from typing import Any

from diskwright import _toml


def text(description: Mapping[str, Any], source: str, *estimated: str) -> str:
    """A drive's file, with where its new values come from."""
    drive = _present(description)
    drive["source"] = [*drive.get("source", []), source]
    drive["estimated"] = [*drive.get("estimated", []), *estimated]
    layout = dict(drive.pop("layout"))
    zones = layout.pop("zone")
    lines = [_toml.document({**drive, "layout": layout})]
    for zone in zones:
        lines.append("\n[[layout.zone]]\n")
        lines += [f"{_toml.key(name)} = {_toml.value(inner, name)}\n" for name, inner in zone.items()]
    return "".join(lines)


def _present(table: Mapping[str, Any]) -> dict[str, Any]:
    """A table without what is not there: TOML has no null."""
    return {
        name: _present(inner) if isinstance(inner, Mapping) else inner
        for name, inner in table.items()
        if inner is not None
    }
