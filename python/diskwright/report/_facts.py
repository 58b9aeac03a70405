"""What pages say of specs and devices in words."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from diskwright import _engine, _text, _toml
from diskwright._record import Record


def spec(effective: Mapping[str, Any]) -> str:
    """A spec as TOML, with an empty line before each table that follows values."""
    lines = _toml.document(effective).splitlines()
    pairs = zip(["[", *lines], lines, strict=False)
    return "".join(f"\n{line}\n" if line[0] == "[" != above[0] else f"{line}\n" for above, line in pairs)


@dataclass(frozen=True)
class Table:
    """Records of the same kind, such as the members of an array: a row for each."""

    title: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Counted:
    """What a device counted.

    single: names and values. rows: those of its records, such as the time by parts, each with the record's
    name. tables: its records of records. zeros: the names of single values that are zero.
    """

    single: list[tuple[str, str]]
    rows: list[tuple[str, str, str]]
    tables: list[Table]
    zeros: list[str]


def device(device: Mapping[str, Any]) -> Counted:
    """What a device counted; zeros are named only."""
    items = {name: item for name, item in device.items() if name not in ("settings", "power_states")}
    tables = {name: records for name, item in items.items() if (records := _records(item))}
    single, rows, zeros = [], [], []
    for labels, unit, item in _counts({name: items[name] for name in items if name not in tables}):
        text = f"{_text.plain(item)} {unit}".rstrip()
        if len(labels) > 1:
            rows += [(labels[0], ", ".join(labels[1:]), text)] if item else []
        elif is_zero(_text.plain(item)):
            zeros.append(labels[0])
        elif item is not None:
            single.append((labels[0], text))
    return Counted(single, rows, [_table(name, records) for name, records in tables.items()], zeros)


def counted(record: Mapping[str, Any]) -> dict[str, str]:
    """Names with their units, and values without; those of inner records after the record's name."""
    return {
        ", ".join((*labels, unit) if unit else labels): _text.plain(item)
        for labels, unit, item in _counts(record)
    }


def _counts(
    record: Mapping[str, Any], above: tuple[str, ...] = (), inherited: str = ""
) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """The values of a record and of the records in it: the names that lead to each, its unit, and itself."""
    for name, item in record.items():
        label, own = _text.unit(name)
        unit = own or inherited
        if records := _records(item):
            for key, inner in records.items():
                yield from _counts(inner, (*above, f"{label} {key}"), unit)
        elif isinstance(item, Mapping):
            yield from _counts(item, (*above, label), unit)
        else:
            yield (*above, label), unit, item


def is_zero(text: str) -> bool:
    """Whether a value as `_text.plain` writes it is zero, and not only rounded to it."""
    return text == "0"


def _records(item: Any) -> dict[str, Mapping[str, Any]]:
    """The records in a value, by name or by number; none where it is anything else."""
    named = item if isinstance(item, Mapping) else dict(enumerate(item)) if isinstance(item, list) else {}
    if not all(isinstance(inner, Mapping) for inner in named.values()):
        return {}
    return {str(name): inner for name, inner in named.items()}


def _table(name: str, records: Mapping[str, Mapping[str, Any]]) -> Table:
    cells = {row: counted(record) for row, record in records.items()}
    labels = dict.fromkeys(label for row in cells.values() for label in row)
    shown = [label for label in labels if not all(is_zero(row.get(label, "0")) for row in cells.values())]
    rows = [(row, [texts.get(label, "-") for label in shown]) for row, texts in cells.items()]
    return Table(name.replace("_", " "), shown, rows)


def power_states(device: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """The states of a device's power: share of the time, s, J, mean W, entries; none without figures."""
    states = device.get("power_states", {})
    whole = sum(state["s"] for state in states.values())
    return [
        (
            name.replace("_", " "),
            [
                _text.number(100 * state["s"] / whole if whole else None),
                _text.number(state["s"]),
                _text.number(state["j"]),
                _text.number(state["j"] / state["s"] if state["s"] else None),
                f"{state['entries']:,}",
            ],
        )
        for name, state in states.items()
        if state["s"] or state["entries"]
    ]


def facts(spec: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a spec runs, for people; texts may be empty."""
    workload, host = spec.get("workload", {}), spec.get("host", {})
    rows = [("Workload", _workload(workload))]
    rows += [(f"Device {path}", text) for path, text in _devices(spec.get("device", {}))]
    return [
        *rows,
        ("Host", _settings(host)),
        ("Measured", _settings(spec.get("measure", {})) or "everything"),
        ("Faults", "; ".join(_settings(fault) for fault in spec.get("fault", ()))),
        ("Seed", str(spec.get("seed", ""))),
    ]


def served(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a device was served, how late its answers were, and what a power cut took; nothing of a run."""
    if (serving := result.get("served")) is None:
        return []
    connections, speed = serving["connections"], serving["pace"].get("speed")
    clients = f"{connections:,} connection{'s' if connections != 1 else ''}"
    if speed is None:
        depth = serving["pace"]["as_fast_as_possible"]["depth"]
        pace = f"as fast as possible, depth {depth:,}"
    else:
        pace = "by the clock" if speed == 1 else f"at {_text.plain(speed)} times the speed of the clock"
    rows = [("Served", f"{clients}, {pace}")]
    if late := serving.get("lateness_ms"):
        mean, p99, most = (_text.number(late[key]) for key in ("mean", "p99", "max"))
        rows.append(
            ("Answers late by", f"{mean} ms on average, 99 % by at most {p99} ms, all by at most {most} ms")
        )
    if cut := serving.get("power_cut"):
        lost = f", {cut['lost_writes']:,} answered writes lost" if "lost_writes" in cut else ""
        rows.append(("Power cut", f"at {_text.number(cut['at_s'])} s{lost}"))
    return rows


def settings(devices: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What devices are set to, and whether the spec says so, the drive, or neither."""
    return [
        (f"Settings of {path}", ", ".join(f"{name} {text}" for name, text in told.items()))
        for path, device in devices.items()
        if (told := _text.settings(device))
    ]


def _workload(workload: Mapping[str, Any]) -> str:
    kind = next((key for key in ("trace", "synthetic", "processes") if key in workload), None)
    if kind == "trace":
        rest = {key: workload[key] for key in ("pace", "device", "from", "to", "limit") if key in workload}
        return "; ".join(filter(None, [f"trace {workload['trace']}", _settings(rest)]))
    return f"{kind}: {_settings(workload[kind])}" if kind else _settings(workload)


def _devices(tree: Any, path: str = "") -> list[tuple[str, str]]:
    """Every device of the tree that is not made of others, by its path as results have it."""
    found = []
    for key, inner in tree.items() if isinstance(tree, Mapping) else ():
        here = f"{path}.{key}" if path else key
        if isinstance(inner, list):
            for index, item in enumerate(inner):
                found += _devices(item, f"{here}[{index}]")
        elif isinstance(inner, Mapping):
            if isinstance(inner.get("drive"), str):
                rest = {name: item for name, item in inner.items() if name != "drive"}
                found.append((here, "; ".join(filter(None, [_drive(inner["drive"]), _settings(rest)]))))
            elif key in _kinds() and not any(isinstance(item, Mapping | list) for item in inner.values()):
                found.append((here, _settings(inner)))
            else:
                found += _devices(inner, here)
    return found


@cache
def _kinds() -> frozenset[str]:
    """The names of all kinds of devices, which are their keys."""
    choices = json.loads(_engine.schema("spec"))["definitions"]["DeviceSpec"]["oneOf"]
    return frozenset(name for choice in choices for name in choice["properties"])


def _drive(name: str) -> str:
    if name not in _engine.drives():
        return name
    drive = Record.parse(_engine.drive(name))
    speed = f", {drive.rpm:,.10g} rpm" if drive.kind == "hdd" else ""
    return f"{name} ({drive.name}, {drive.capacity_blocks * 512 / 1e9:,.1f} GB{speed})"


def _settings(table: Mapping[str, Any]) -> str:
    """Settings as a spec has them, on one line."""
    written: list[str] = []
    for name, item in table.items():
        if isinstance(item, Mapping) and name == "queue":
            written += filter(None, [_settings(item)])
        else:
            written.append(f"{name.replace('_', ' ')} {item if isinstance(item, str) else _toml.value(item)}")
    return ", ".join(written)
