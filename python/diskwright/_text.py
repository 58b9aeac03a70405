"""How results are written for people: one rounding for the terminal and for pages."""

from collections.abc import Mapping
from typing import Any

_UNITS = {
    "_mb_per_s": "MB/s",
    "_ms": "ms",
    "_s": "s",
    "_mib": "MiB",
    "_j": "J",
    "_gb": "GB",
    "_mb": "MB",
    "_cylinders": "cylinders",
}


_POSITIONING = frozenset({"seek", "head_switch", "settle", "rotation", "positioning"})


def times(result: Mapping[str, Any]) -> list[str]:
    """The times of requests that a run has: the access time only where a device positions something."""
    names = ["response", "service"]
    return names if _POSITIONING.isdisjoint(result["parts_ms"]) else [*names, "access"]


def flat(record: Mapping[str, Any], prefix: str = "", inherited: str = "") -> dict[str, str]:
    """The entries of a record and of the records in it, with their units."""
    entries: dict[str, str] = {}
    for name, item in record.items():
        label, of = unit(name)
        if isinstance(item, Mapping):
            entries |= flat(item, f"{prefix}{label} ", of)
        elif item is not None:
            entries[prefix + label] = f"{plain(item)} {of or inherited}".rstrip()
    return entries


def plain(value: Any) -> str:
    """A value of whatever kind."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else number(value)
    if isinstance(value, list):
        return ", ".join(map(plain, value))
    return str(value)


def settings(device: Mapping[str, Any]) -> dict[str, str]:
    """What a device is set to, each with where that is from; nothing of devices that have no settings."""
    return {
        name.replace("_", " "): f"{_setting(setting['value'])} ({setting['from']})"
        for name, setting in device.get("settings", {}).items()
    }


def _setting(value: Any) -> str:
    """A switch, a number, a name, or a policy with its parameters."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        return "; ".join(
            " ".join([name, *(f"{key.replace('_', ' ')} {item}" for key, item in parameters.items())])
            if isinstance(parameters, Mapping)
            else f"{name} {parameters}"
            for name, parameters in value.items()
        )
    return str(value)


def number(value: float | None) -> str:
    """A measured number: three decimals, less for large ones."""
    if value is None:
        return "-"
    size = abs(value)
    return f"{value:,.{3 if size < 1e4 else 1 if size < 1e6 else 0}f}"


def byte_size(size: float) -> str:
    """A size in the largest binary unit of which it has one."""
    for power, of in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 1 << power:
            return f"{size / (1 << power):,.4g} {of}"
    return f"{size:,.4g} B"


def unit(name: str) -> tuple[str, str]:
    """What a key of the results names, and its unit; a path of keys stays as it is."""
    if "." in name:
        return name, ""
    if name == "mb_per_s":
        return "data rate", "MB/s"
    for suffix, of in _UNITS.items():
        if name.endswith(suffix):
            return name.removesuffix(suffix).replace("_", " "), of
    return name.replace("_", " "), ""


def subject(spec: Mapping[str, Any]) -> str:
    """What was run, in a few words."""
    workload = spec.get("workload", {})
    made = {"synthetic": "synthetic load", "processes": "processes"}
    load = workload.get("trace") or next((made[kind] for kind in made if kind in workload), "")
    return " on ".join(filter(None, [str(load), _hardware(spec.get("device", {}))]))


def _hardware(device: Any) -> str:
    for kind, settings in device.items():
        drive = settings.get("drive") if hasattr(settings, "get") else None
        return drive if isinstance(drive, str) else str(kind)
    return ""
