"""What `diskwright.extract` answers, from what was measured."""

import itertools
import math
from collections.abc import Mapping
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

from diskwright import __version__, _toml
from diskwright._extraction import Extraction
from diskwright.extracting._course import Extracted, Progress, course
from diskwright.extracting._journal import Journal
from diskwright.extracting._memory import Memory
from diskwright.extracting._motion import Arm, Time
from diskwright.extracting._platter import Platter, off
from diskwright.extracting._target import Target
from diskwright.extracting._zones import Layout, Zone

_SCHEMA = 1
# Distances of the seek curve for each octave.
_PER_OCTAVE = 4
# A write's seek that is longer by less than this share of itself than a read's and its settling follows from
# both.
_AS_LONG = 0.005
# What is not known of a zone before cylinders are counted.
_OF_CYLINDERS = (
    "first_cylinder",
    "last_cylinder",
    "cylinders_half_width",
    "cylinders_without_data",
    "cylinders_without_data_half_width",
)
# Completions are reported at once where it takes less than this, ns.
_AT_ONCE = 5_000
# The share of a read from which on the interface waits for it.
_WAITS = 0.02
# What a file does not owe to measurements.
_ESTIMATED = (
    "the order of heads in a cylinder, which no time tells; cylinders behind the last sector, which have no "
    "address; what is controller and what is interface, of requests that memory does not serve"
)


def extract(
    target: Target,
    name: str | PathLike[str],
    minutes: float | None,
    progress: Progress | None,
    resume: str | PathLike[str] | None = None,
) -> Extraction:
    """Measures a target."""
    if resume is not None:
        journal = Journal(target, Path(resume))
        is_complete = False
        try:
            answer = _extract(journal, name, minutes, progress)
            is_complete = bool(answer["complete"])
        finally:
            journal.close(is_complete)
        return answer
    return _extract(target, name, minutes, progress)


def _extract(
    target: Target,
    name: str | PathLike[str],
    minutes: float | None,
    progress: Progress | None,
) -> Extraction:
    found = course(target, None if minutes is None else 60 * minutes, _PER_OCTAVE, progress)
    data: dict[str, Any] = {
        "schema": _SCHEMA,
        "target": fsdecode(name),
        "capacity_blocks": target.blocks,
        "rotates": found.why_not is None,
        "seconds": found.seconds,
        "requests": target.requests,
        "complete": found.is_complete,
        "notes": list(found.notes),
    }
    if found.why_not is not None:
        data["why_not"] = found.why_not
    if found.platter is None:
        return Extraction(data)
    platter = found.platter
    data["sector_bytes"] = platter.per_sector * 512
    data["rotation"] = {
        "turn_ms": platter.turn / 1e6,
        "half_width_ms": platter.turn_half_width / 1e6,
        "rpm": 60e9 / platter.turn,
    }
    data["noise_ms"] = platter.noise / 1e6
    if found.layout is None or found.arm is None:
        return Extraction(data)
    layout, arm = found.layout, found.arm
    data["notes"] += [*layout.notes, *arm.notes]
    data["surfaces"] = layout.tracks
    if arm.base is not None:
        data["overhead_read"] = _ms(arm.base)
    if arm.switch is not None:
        data["head_switch"] = _ms(arm.switch)
    data["seek"] = [
        {"distance_cylinders": distance, **_ms(time)} for distance, time in sorted(arm.seeks.items())
    ]
    data["zones"] = _zones_facts(layout, arm)
    if found.memory is not None:
        data["memory"] = _memory_facts(found.memory)
        data["overheads"] = {kind: _ms(time) for kind, time in found.memory.overheads.items()}
        if found.memory.write_switch is not None:
            data["write_head_switch"] = _ms(found.memory.write_switch)
        data["write_seek"] = [
            {"distance_cylinders": distance, **_ms(time)}
            for distance, time in sorted(found.memory.write_seeks.items())
        ]
    if layout.ranges > 1:
        data["access_ranges"] = layout.ranges
        data["arms"] = layout.ranges if arm.have_own_arms else 1
    data["irregular"] = [
        {"first_sector": zone.start + at, "sectors_skipped": count - before}
        for zone in layout.zones
        for (at, count), before in zip(zone.skips, [0, *(count for _, count in zone.skips)], strict=False)
    ]
    # Without its cylinders a zone is nowhere.
    toml = _file(found, platter, layout, arm, fsdecode(name)) if arm.is_numbered else ""
    return Extraction(data, toml)


def _memory_facts(memory: Memory) -> dict[str, Any]:
    facts = {
        "kind": "none" if memory.hit is None else "shared" if memory.is_shared else "segments",
        "hit_overhead_ms": None if memory.hit is None else memory.hit / 1e6,
        "block_time_ms": None if memory.block_time is None else memory.block_time / 1e6,
        "hit_overhead_half_width_ms": None if memory.hit is None else memory.hit_half_width / 1e6,
        "block_time_half_width_ms": None if memory.block_time is None else memory.block_half_width / 1e6,
        "segments": memory.segments,
        "segment_blocks": None if memory.is_shared else memory.size,
        "size_blocks": memory.size if memory.is_shared else None,
        "reads_ahead_blocks": memory.reads_ahead,
        "waits_for_share": memory.waits_for,
        "absorbs_writes": memory.absorbs_writes,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _ms(time: Time) -> dict[str, float]:
    return {"ms": time.ns / 1e6, "half_width_ms": time.half_width / 1e6}


def _zones_facts(layout: Layout, arm: Arm) -> list[dict[str, Any]]:
    """The zones, each with how far its first cylinder may be off, by the cylinders counted before it."""
    found: list[dict[str, Any]] = []
    for part in range(layout.ranges):
        off_by = 0.0
        for zone in layout.zones_of(part):
            found.append(_zone(zone, arm, len(found)) | {"cylinders_half_width": math.ceil(off_by)})
            off_by = math.hypot(off_by, zone.hidden_error)
    if not arm.is_numbered:
        for one in found:
            one |= dict.fromkeys(_OF_CYLINDERS)
    for before, after in itertools.pairwise([None, *layout.zones]):
        if after is not None:
            index = layout.zones.index(after)
            found[index]["first_sector_half_width"] = before.end_error if before is not None else 0
    return found


def _seen(counts: tuple[int, int]) -> dict[str, int]:
    """How often a skew was seen, among how many looks."""
    return {"seen": counts[0], "of": counts[1]}


def _zone(zone: Zone, arm: Arm, index: int) -> dict[str, Any]:
    return {
        "zone": index,
        "first_cylinder": zone.first_cylinder,
        "last_cylinder": zone.first_cylinder + arm.cylinders_of(zone) - 1,
        "first_sector": zone.start,
        "last_sector": zone.end - 1,
        "sectors_per_track": zone.per_track,
        "sectors_per_track_half_width": zone.per_track_error,
        "track_skew": zone.track_skew,
        "track_skew_looks": _seen(zone.track_seen),
        "cylinder_skew": zone.cylinder_skew,
        "cylinder_skew_looks": _seen(zone.cylinder_seen),
        "sectors_skipped": zone.skips[-1][1] if zone.skips else 0,
        "cylinders_without_data": zone.hidden,
        "cylinders_without_data_half_width": math.ceil(zone.hidden_error),
    }


def _file(found: Extracted, platter: Platter, layout: Layout, arm: Arm, name: str) -> str:
    """The drive's file."""
    memory = found.memory or Memory()
    name = Path(name).name if name.endswith((".toml", ".parv")) else name
    drive: dict[str, Any] = {
        "kind": "hdd",
        "name": f"as measured: {name}",
        "source": [
            f"diskwright {__version__}, extract of {name}: "
            f"{platter.target.requests:,} requests in {found.seconds:,.0f} s"
        ],
        "estimated": [_ESTIMATED, *found.notes, *layout.notes, *arm.notes],
        "sector_size": f"{platter.per_sector * 512} B",
        "rotation": f"{platter.turn / 1e6:.9f} ms",
        "heads": _heads(arm, memory, platter),
        "seek": {"table": {"points_ms": _points(arm.seeks)}},
    }
    if _has_write_seek(arm, memory):
        crossing = _crossing(memory, platter)
        seeks = {
            distance: Time(time.ns + crossing, time.half_width)
            for distance, time in memory.write_seeks.items()
        }
        drive["write_seek"] = {"table": {"points_ms": _points(seeks)}}
    drive["overhead"] = _overheads(arm, memory, platter)
    if memory.block_time is not None:
        drive["interface"] = {"block_time": _text(memory.block_time)}
    drive |= _memory(memory, arm, platter)
    surfaces = (layout.tracks or 1) * layout.ranges
    described: dict[str, Any] = {"surfaces": surfaces, "cylinders": 0}
    if layout.ranges > 1:
        described["access_ranges"] = layout.ranges
        if arm.have_own_arms:
            heads = layout.tracks or 1
            arms = [{"surfaces": [part * heads, (part + 1) * heads - 1]} for part in range(layout.ranges)]
            drive["arms"] = {"motion": "independent", "arm": arms}
    zones = _zones(layout, arm)
    facts = _zones_facts(layout, arm)
    described["cylinders"] = zones[-1]["cylinders"][1] + 1
    lines = [*_confidences(platter, arm, memory), _toml.document({**drive, "layout": described})]
    for zone, known in zip(zones, facts, strict=False):
        lines.append(f"\n# {_confidence(known)}\n[[layout.zone]]\n")
        lines += [f"{_toml.key(key)} = {_toml.value(value, key)}\n" for key, value in zone.items()]
    return "".join(lines)


def _confidences(platter: Platter, arm: Arm, memory: Memory) -> list[str]:
    """How sure the times are, as comments of the file."""
    told = {"a turn": platter.turn_half_width}
    if arm.switch is not None:
        told["heads.switch"] = arm.switch.half_width
    if memory.write_switch is not None:
        told["a head switch before a write"] = memory.write_switch.half_width
    told |= {f"overhead.{kind}": time.half_width for kind, time in memory.overheads.items()}
    for name, times in (("seek", arm.seeks), ("write_seek", memory.write_seeks)):
        told |= {f"{name} over {distance}": time.half_width for distance, time in sorted(times.items())}
    if memory.hit is not None:
        told["a hit"] = memory.hit_half_width
    if memory.block_time is not None:
        told["interface.block_time"] = memory.block_half_width
    lines = ["# Half the widths of the 95 % intervals, ms:\n"]
    lines += [f"# {name}: {width / 1e6:.6f}\n" for name, width in told.items()]
    return lines


def _confidence(zone: Mapping[str, Any]) -> str:
    """How sure a zone is, as a comment of the file."""
    parts = [
        f"sectors per track ± {zone['sectors_per_track_half_width']:.3f}",
        f"first sector ± {zone['first_sector_half_width']}",
        f"first cylinder ± {zone['cylinders_half_width']}",
    ]
    for kind in ("track", "cylinder"):
        looks = zone[f"{kind}_skew_looks"]
        parts.append(f"{kind} skew at {looks['seen']} of {looks['of']}")
    return ", ".join(parts)


def _text(ns: float) -> str:
    """A time as files have it; none is negative."""
    return f"{max(ns, 0.0) / 1e6:.6f} ms"


def _points(times: Mapping[int, Time]) -> list[list[Any]]:
    """A curve's points: all are longer than nothing."""
    points = [[distance, round(max(time.ns, 1.0) / 1e6, 6)] for distance, time in sorted(times.items())]
    return points or [[1, 1.0]]


def _crossing(memory: Memory, platter: Platter) -> float:
    """How long a written sector crosses the interface, ns.

    In a memory of segments it does so while the arm moves: motions before writes seem shorter by it.
    """
    if memory.hit is None or memory.is_shared:
        return 0.0
    return (memory.block_time or 0.0) * platter.per_sector


def _settle(arm: Arm, memory: Memory) -> float | None:
    """How much longer a head switch is before a write, ns, less what crosses the interface meanwhile."""
    if memory.write_switch is not None and arm.switch is not None:
        return memory.write_switch.ns - arm.switch.ns
    longer = [
        time.ns - arm.seeks[distance].ns
        for distance, time in memory.write_seeks.items()
        if distance in arm.seeks
    ]
    return sorted(longer)[len(longer) // 2] if longer else None


def _heads(arm: Arm, memory: Memory, platter: Platter) -> dict[str, str]:
    found = {"switch": _text(arm.switch.ns if arm.switch is not None else 0.0)}
    settle = _settle(arm, memory)
    if settle is not None:
        found["write_settle"] = f"{(settle + _crossing(memory, platter)) / 1e6:.6f} ms"
    return found


def _has_write_seek(arm: Arm, memory: Memory) -> bool:
    """Whether seeks before writes are longer by other times than a head switch is."""
    settle = _settle(arm, memory)
    if settle is None:
        return False
    off_by = [
        abs(time.ns - arm.seeks[distance].ns - settle) / time.ns
        for distance, time in memory.write_seeks.items()
        if distance in arm.seeks
    ]
    return bool(off_by) and sorted(off_by)[len(off_by) // 2] > _AS_LONG


def _completions(arm: Arm, memory: Memory, platter: Platter) -> tuple[float, float]:
    """How much longer a controller takes to report that a read is complete than for a write, ns; and the
    other way round. One of them is 0.

    At the same angle a read is later than a write by that and by a sector's time on the interface.
    """
    if memory.hit is None or not platter.target.may_write:
        return 0.0, 0.0
    late = arm.motion.write_late + (memory.block_time or 0.0) * platter.per_sector
    if abs(late) < max(_AT_ONCE, 4 * platter.noise):
        return 0.0, 0.0
    return max(-late, 0.0), max(late, 0.0)


def _overheads(arm: Arm, memory: Memory, platter: Platter) -> dict[str, str]:
    """The controller's times by kind, without the interface's; those that were not measured are as others."""
    of_read, of_write = _completions(arm, memory, platter)
    interface = (memory.block_time or 0.0) * platter.per_sector
    measured = {kind: time.ns for kind, time in memory.overheads.items()}
    base = arm.base.ns if arm.base is not None else 0.0
    reads = measured.get("read_after_read", measured.get("read_after_write", base))
    writes = measured.get("write_after_write", measured.get("write_after_read", reads))
    other = {
        "read_after_read": reads,
        "read_after_write": reads,
        "write_after_read": writes,
        "write_after_write": writes,
    }
    found = {
        kind: _text(measured.get(kind, time) - interface - (of_read if kind.startswith("read") else of_write))
        for kind, time in other.items()
    }
    if of_read:
        found["completion_read"] = _text(of_read)
    if of_write:
        found["completion_write"] = _text(of_write)
    return found


def _memory(memory: Memory, arm: Arm, platter: Platter) -> dict[str, Any]:
    """The tables of the drive's memory."""
    if memory.hit is None:
        return {}
    of_read, _ = _completions(arm, memory, platter)
    interface = (memory.block_time or 0.0) * platter.per_sector
    if memory.is_shared:
        pool: dict[str, Any] = {
            "size": f"{memory.size or 32768} blocks",
            "extent": f"{max(8, platter.per_sector)} blocks",
            "hit_overhead": _text(memory.hit - of_read),
        }
        if memory.reads_ahead:
            pool["read_ahead"] = {"most": f"{memory.reads_ahead} blocks"}
        if memory.absorbs_writes:
            pool["write_cache"] = {"share": 0.5}
            return {"pool": pool, "ships": {"write_cache": True}}
        return {"pool": pool}
    size = max(memory.size or 0, memory.reads_ahead or 0, platter.per_sector)
    buffer: dict[str, Any] = {
        "segments": max(memory.segments or 1, 1),
        "segment_size": f"{size} blocks",
        "read": {"hit_after_read": _text(memory.hit - of_read)},
    }
    if arm.motion.hit_after_write:
        buffer["read"]["hit_after_write"] = _text(arm.motion.hit_after_write - interface - of_read)
    if memory.reads_ahead:
        buffer["read_ahead"] = {"until": "segment", "most": f"{memory.reads_ahead} blocks"}
    if memory.waits_for is not None and memory.waits_for > _WAITS:
        share = round(memory.waits_for, 2)
        buffer["bus"] = {"high_water": share, "low_water": share}
    if memory.absorbs_writes:
        absorbed = memory.absorbed or 0.0
        after_read = absorbed if memory.absorbed_after_read is None else memory.absorbed_after_read
        buffer["write"] = {
            "complete": "buffered",
            "buffered_after_read": _text(after_read - interface),
            "buffered_after_write": _text(absorbed - interface),
        }
    return {"buffer": buffer}


def _zones(layout: Layout, arm: Arm) -> list[dict[str, Any]]:
    """The zones as a file has them."""
    reference = _reference(layout)
    zones = []
    for zone in layout.zones_of(0):
        tracks = zone.tracks or 1
        last = zone.first_cylinder + arm.cylinders_of(zone) + zone.hidden - 1
        front = zone.lead * zone.per_track
        physical = (last - zone.first_cylinder + 1) * tracks * zone.per_track - front
        described: dict[str, Any] = {
            "cylinders": [zone.first_cylinder, last],
            "sectors_per_track": zone.per_track,
        }
        offset = round((_start(zone) - reference) * zone.per_track) % zone.per_track
        if zone.lead:
            described["front"] = front
            offset = (offset - zone.lead * (zone.track_skew or 0)) % zone.per_track
        if offset:
            described["offset"] = offset
        described["track_skew"] = zone.track_skew or 0
        described["cylinder_skew"] = (
            zone.cylinder_skew if zone.cylinder_skew is not None else described["track_skew"]
        )
        spare = physical - (zone.end - zone.start)
        if spare > 0:
            described["spares"] = {"per": "zone", "sectors": spare}
        slipped = _slipped(zone, front)
        if slipped:
            described["slipped"] = slipped
        zones.append(described)
    return zones


def _start(zone: Zone) -> float:
    """The angle at which the zone's first sector begins, turns."""
    return zone.phase - 1 / zone.per_track


def _reference(layout: Layout) -> float:
    """The angle from which on the first sectors of all zones are whole sectors off."""
    first = layout.zones[0]

    def misfit(reference: float) -> float:
        return sum(abs(off((_start(zone) - reference) * zone.per_track)) for zone in layout.zones_of(0))

    return min((_start(first) - step / first.per_track for step in range(first.per_track)), key=misfit)


def _slipped(zone: Zone, front: int) -> list[int]:
    """Sectors that addresses skip, counted from the zone's first one on."""
    found: list[int] = []
    before = 0
    for at, count in zone.skips:
        found += [front + at + skipped for skipped in range(before, count)]
        before = count
    return found
