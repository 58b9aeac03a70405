"""Writes the descriptions of drives from data sheets, `drives/NAME.toml`, from `drive_figures.toml`.

python tools/drives.py            writes them
python tools/drives.py --check    fails where they are not what would be written
"""

import math
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drive_layout import Shape, Zone, lay_out
from drive_seek import Curve, Seeks, fit

FIGURES = Path(__file__).resolve().parent / "drive_figures.toml"
FOLDER = FIGURES.parent.parent / "drives"

ABOUT = {"name", "about", "year", "family", "kept", "sources", "estimates"}
"""What a drive's table holds besides figures."""

STATES = ("idle_a", "idle_b", "idle_c", "standby_y", "standby_z")
"""Low power states, as a description names them."""

POWER = {
    **{f"{what}_w": f"power.{what}" for what in ("idle", "seek", "read", "write")},
    **{f"{state}_w": f"power.{state}" for state in STATES},
    **{
        f"{state}_{way}_{unit}": f"power.{state}.{way}{of}"
        for state in STATES
        for way in ("enter", "leave")
        for unit, of in (("s", ""), ("w", ""), ("peak_w", ".peak"))
    },
}
"""What a drive draws, in watts, and how long the ways into its states and back take, in seconds."""

DESCRIBED = {
    "blocks": "capacity in blocks",
    "sector": "sector size",
    "rpm": "rotation",
    "surfaces": "surfaces",
    "actuators": "actuators",
    "outside_mb_s": "sustained rate outside",
    "inside_mb_s": "sustained rate inside",
    "zones": "zones",
    "spare": "spare cylinders",
    "seek_track_ms": "seek to the next track",
    "seek_average_ms": "average seek",
    "seek_full_ms": "full stroke",
    "seek_track_write_ms": "seek to the next track before a write",
    "seek_average_write_ms": "average seek before a write",
    "seek_full_write_ms": "full stroke before a write",
    "switch_ms": "heads.switch",
    "write_settle_ms": "heads.write_settle",
    "overhead_ms": "overhead",
    "skew_margin_ms": "margin of the skews",
    "interface_mb_s": "interface",
    "queue_depth": "ships.queue_depth",
    "scheduler": "ships.scheduler",
    "write_cache": "ships.write_cache",
    "buffer_mb": "pool.size",
    "hit_overhead_ms": "pool.hit_overhead",
    "persistent_kib": "pool.persistent.memory",
    "regions": "pool.persistent.region",
    "destaged_at_once": "pool.write_cache",
    "write_overhead_ms": "overhead of writes",
    **POWER,
}
"""The figures that a description is computed from, as its sources and estimates name them."""

HELD_TO = {
    "read_iops": "random reads",
    "write_iops": "random writes",
    "measured_read_ms": "measured reads",
    "measured_read_iops_32": "measured reads in a queue of 32",
    "measured_write_ms": "measured writes",
    "measured_flushed_write_ms": "measured flushed writes",
}
"""Figures that a drive is held to, which its sources name too."""

DEFAULTS = {"actuators": 1, "zones": 30, "spare": 0.0004}
"""Figures of most drives: how many zones, and which share of the cylinders is spare."""

Table = dict[str, Any]


def drives() -> dict[str, Table]:
    """Every drive by the name of its file, with the figures of its family.

    Raises ValueError where a figure has no source and no estimate, or more than one.
    """
    tables = tomllib.loads(FIGURES.read_text("utf-8"))
    return {name: _joined(name, own, tables["family"]) for name, own in tables["drive"].items()}


def _joined(name: str, own: Table, families: Table) -> Table:
    family = families[own["family"]] if "family" in own else {}
    named = [*_named(own)]
    for figure in named:
        if named.count(figure) > 1:
            raise ValueError(f"{name}: {figure} has more than one source or estimate")
    for figure in own.keys() - ABOUT - set(named):
        raise ValueError(f"{name}: {figure} has neither a source nor an estimate")
    joined = DEFAULTS | {key: value for key, value in family.items() if key not in ABOUT} | own
    for kind in ("sources", "estimates"):
        inherited = {
            why: left
            for why, figures in family.get(kind, {}).items()
            if (left := [figure for figure in figures if figure not in named])
        }
        joined[kind] = inherited | {
            why: [*inherited.get(why, []), *figures] for why, figures in own.get(kind, {}).items()
        }
    for figure in [*_named(joined)]:
        if figure not in joined:
            raise ValueError(f"{name}: {figure} is named and not given")
    return joined


def _named(table: Table) -> Iterator[str]:
    for kind in ("sources", "estimates"):
        for figures in table.get(kind, {}).values():
            yield from figures


def shape(drive: Table) -> Shape:
    """What the layout of this drive is computed from."""
    figures = drive | drive.get("kept", {})
    margin = figures["skew_margin_ms"]
    switched = figures["switch_ms"] + figures["write_settle_ms"]
    writes = write_seeks(drive)
    stepped = figures["seek_track_ms"] + figures["write_settle_ms"] if writes is None else writes.track
    return Shape(
        blocks=figures["blocks"],
        sector=figures["sector"],
        revolution=60_000 / figures["rpm"],
        surfaces=figures["surfaces"],
        ranges=figures["actuators"],
        zones=figures["zones"],
        outside=figures["outside_mb_s"],
        inside=figures["inside_mb_s"],
        track_change=switched + margin,
        cylinder_change=max(switched, stepped) + margin,
        spare=figures["spare"],
    )


def seeks(drive: Table) -> Seeks:
    """What the seek curve of this drive goes through."""
    figures = drive | drive.get("kept", {})
    return Seeks(figures["seek_track_ms"], figures["seek_average_ms"], figures["seek_full_ms"])


def write_seeks(drive: Table) -> Seeks | None:
    """What its seek curve of writes goes through; None where not all three figures are known.

    Each write then settles alike.
    """
    figures = [f"seek_{way}_write_ms" for way in ("track", "average", "full")]
    return Seeks(*(drive[figure] for figure in figures)) if drive.keys() >= set(figures) else None


def curves(drive: Table, cylinders: int) -> dict[str, Curve | Seeks]:
    """Its seek curves by their keys; of a curve of Lee and Katz what it goes through."""
    wanted = {"seek": seeks(drive)}
    if writes := write_seeks(drive):
        wanted["write_seek"] = writes
    return {key: fit(through, cylinders) or through for key, through in wanted.items()}


def description(drive: Table) -> str:
    """The text of the drive's file."""
    zones = lay_out(shape(drive))
    found = curves(drive, zones[-1].last + 1)
    parts = (
        _head(drive, found),
        _mechanics(drive, found),
        _memory(drive, zones),
        _power(drive),
        _layout(drive, zones),
    )
    lines = [line for part in parts for line in part]
    return "\n".join(lines) + "\n"


def _head(drive: Table, curves: dict[str, Curve | Seeks]) -> Iterator[str]:
    kept = " Some are kept as an older description had them." if "kept" in drive else ""
    about = (
        f"{drive['name']}. Computed by tools/drives.py from the figures below, which are in "
        f"tools/drive_figures.toml: change those, not this file.{kept}"
    )
    yield from textwrap.wrap(about, 110, initial_indent="# ", subsequent_indent="# ")
    yield ""
    yield 'kind = "hdd"'
    yield f'name = "{drive["name"]}"'
    yield f'about = "{drive["about"]}"'
    yield f"year = {drive['year']}"
    yield from _list("source", _reasons(drive, "sources", DESCRIBED | HELD_TO))
    made = [
        *_reasons(drive, "estimates", DESCRIBED),
        f"layout: {drive['zones']} equal zones, sectors for the sustained rates, "
        "cylinders and spares for the capacity",
        *(
            f"{key}: through its three figures, "
            + (
                "a square root that passes smoothly into a line"
                if isinstance(curve, Curve)
                else "the curve of Lee and Katz"
            )
            for key, curve in curves.items()
        ),
    ]
    made.append(
        "pool.read_ahead.least: a track at the edge, at most 2 MiB and a 32nd of the memory, so that several "
        "sequential readers keep a good part of one's rate, as with the better drives of 2010 (X-bit labs)"
    )
    rules = "pool.read_ahead" if "destaged_at_once" in drive else "pool.read_ahead, pool.write_cache"
    made.append(f"{rules}: the program's usual rules, since no maker tells its own")
    yield from _list("estimated", made)


def _reasons(drive: Table, kind: str, labels: dict[str, str]) -> list[str]:
    """Each source or estimate with the figures that it is for, where the description has any of them."""
    return [
        f"{', '.join(told)}: {why}" if kind == "estimates" else f"{why}: {', '.join(told)}"
        for why, figures in drive[kind].items()
        if (told := [_told(drive, figure, labels[figure]) for figure in figures if figure in labels])
    ]


def _told(drive: Table, figure: str, label: str) -> str:
    """A figure that is not in the description in its own unit, with its value."""
    if figure in ("read_iops", "write_iops"):
        return f"{drive[figure]} {label} a second ({drive['outstanding']} outstanding, 4 KiB)"
    if figure.endswith("_ms") and figure not in ("overhead_ms", "skew_margin_ms"):
        return f"{label} {drive[figure]:g} ms"
    if figure.endswith("_mb_s"):
        return f"{label} {drive[figure]:g} MB/s"
    if figure in POWER:
        unit = "W" if figure.endswith("_w") else "s"
        return f"{label} {drive[figure]:g} {unit}"
    return f"{label}, {drive[figure]}" if figure in HELD_TO else label


def _list(key: str, lines: list[str]) -> Iterator[str]:
    yield f"{key} = ["
    yield from (f'    "{line}",' for line in lines)
    yield "]"


def _mechanics(drive: Table, curves: dict[str, Curve | Seeks]) -> Iterator[str]:
    sector = drive["sector"]
    yield f'sector_size = "{f"{sector // 1024} KiB" if sector >= 1024 else f"{sector} B"}"'
    yield f'rotation = "{drive["rpm"]} rpm"'
    yield ""
    yield "[heads]"
    yield f'switch = "{drive["switch_ms"]:g} ms"'
    yield f'write_settle = "{drive["write_settle_ms"]:g} ms"'
    yield ""
    for key, curve in curves.items():
        if isinstance(curve, Curve):
            yield f"[{key}.hp]"
            yield f"boundary = {curve.boundary}"
            yield f"short_ms = [{curve.short[0]:.9f}, {curve.short[1]:.9f}]"
            yield f"long_ms = [{curve.long[0]:.9f}, {curve.long[1]:.9f}]"
        else:
            yield f"[{key}.lee]"
            yield f'single = "{curve.track:g} ms"'
            yield f'average = "{curve.average:g} ms"'
            yield f'full = "{curve.full:g} ms"'
        yield ""
    yield "[overhead]"
    for kind in ("read_after_read", "read_after_write", "write_after_read", "write_after_write"):
        own = drive.get("write_overhead_ms", drive["overhead_ms"])
        time = own if kind.startswith("write") else drive["overhead_ms"]
        yield f'{kind} = "{time:g} ms"'
    yield ""
    yield "[interface]"
    yield f'rate = "{drive["interface_mb_s"]:g} MB/s"'
    yield ""
    yield "[ships]"
    yield f"queue_depth = {drive['queue_depth']}"
    yield f"scheduler = {_policy(drive['scheduler'])}"
    yield f"write_cache = {str(drive['write_cache']).lower()}"
    yield ""


def _memory(drive: Table, zones: list[Zone]) -> Iterator[str]:
    """Its memory, and the arms that share it."""
    yield from _pool(drive, zones)
    arms = drive["actuators"]
    if arms > 1:
        yield "[arms]"
        yield 'motion = "independent"'
        yield ""
        each = drive["surfaces"] // arms
        for arm in range(arms):
            yield "[[arms.arm]]"
            yield f"surfaces = [{arm * each}, {(arm + 1) * each - 1}]"
            yield ""


def _least_kib(drive: Table, zones: list[Zone]) -> int:
    """What an arm reads of a stream whatever waits: a track at the edge, not more than a stream's share."""
    track: int = math.ceil(zones[0].sectors * drive["sector"] / 65_536) * 64
    share: int = drive["buffer_mb"] * 1024 // 32
    return min(track, 2048, share)


def _pool(drive: Table, zones: list[Zone]) -> Iterator[str]:
    """The drive's memory, and what keeps writes with the write cache disabled."""
    yield "[pool]"
    yield f'size = "{drive["buffer_mb"]} MiB"'
    yield f'hit_overhead = "{drive["hit_overhead_ms"]:g} ms"'
    yield ""
    yield "[pool.read_ahead]"
    yield f'least = "{_least_kib(drive, zones)} KiB"'
    yield ""
    yield "[pool.write_cache]"
    kept = drive.get("persistent_kib")
    if batch := drive.get("destaged_at_once"):
        yield "high = 1.0"
        yield f"low = {1 - batch * 4 / kept:g}"
        yield 'age = "1000 s"'
    yield ""
    if kept is None:
        return
    yield "[pool.persistent]"
    yield f'memory = "{kept} KiB"'
    if region := drive.get("regions"):
        yield f'region = {{ count = {region["count"]}, size = "{region["mib"]} MiB" }}'
    yield ""


def _power(drive: Table) -> Iterator[str]:
    """What the drive draws, where that is known."""
    if "idle_w" not in drive:
        return
    yield "[power]"
    for what in ("idle", "seek", "read", "write"):
        if watts := drive.get(f"{what}_w"):
            yield f'{what} = "{watts:g} W"'
    yield ""
    for state in STATES:
        if f"{state}_w" not in drive:
            continue
        yield f"[power.{state}]"
        watts = drive[f"{state}_w"]
        yield f'power = "{watts:g} W"'
        for way in ("enter", "leave"):
            if time := drive.get(f"{state}_{way}_s"):
                powers = {"power": drive.get(f"{state}_{way}_w"), "peak": drive.get(f"{state}_{way}_peak_w")}
                written = [f'{key} = "{watts:g} W"' for key, watts in powers.items() if watts]
                inner = ", ".join([f'time = "{time:g} s"', *written])
                yield f"{way} = {{ {inner} }}"
        yield ""


def _policy(choice: Table) -> str:
    """A policy with its parameters, which are numbers."""
    [(name, parameters)] = choice.items()
    written = ", ".join(f"{key} = {value:g}" for key, value in parameters.items())
    return f"{{ {name} = {{ {written} }} }}"


def _layout(drive: Table, zones: list[Zone]) -> Iterator[str]:
    yield "[layout]"
    yield f"surfaces = {drive['surfaces']}"
    yield f"cylinders = {zones[-1].last + 1}"
    if drive["actuators"] > 1:
        yield f"access_ranges = {drive['actuators']}"
    for zone in zones:
        yield ""
        yield "[[layout.zone]]"
        yield f"cylinders = [{zone.first}, {zone.last}]"
        yield f"sectors_per_track = {zone.sectors}"
        yield f"track_skew = {zone.track_skew}"
        yield f"cylinder_skew = {zone.cylinder_skew}"
        yield f'spares = {{ per = "zone", sectors = {zone.spares} }}'


def main() -> None:
    """Writes or checks all files."""
    check = "--check" in sys.argv[1:]
    stale = []
    for name, drive in drives().items():
        file, text = FOLDER / f"{name}.toml", description(drive)
        if check:
            if not file.exists() or file.read_text("utf-8") != text:
                stale.append(file.name)
        else:
            file.write_text(text, "utf-8")
    if stale:
        sys.exit(f"not what tools/drives.py writes: {', '.join(stale)}")


if __name__ == "__main__":
    main()
