"""What `diskwright.extract` answers, from what was measured."""

from collections.abc import Mapping
from os import PathLike, fsdecode
from typing import Any

from diskwright import __version__, _toml
from diskwright._extraction import Extraction
from diskwright.extracting._course import Extracted, Progress, course
from diskwright.extracting._motion import Arm, Time
from diskwright.extracting._platter import Platter, off
from diskwright.extracting._target import Target
from diskwright.extracting._zones import Layout, Zone

_SCHEMA = 1
# Distances of the seek curve for each octave.
_PER_OCTAVE = 4


def extract(
    target: Target,
    name: str | PathLike[str],
    minutes: float | None,
    progress: Progress | None,
) -> Extraction:
    """Measures a target."""
    found = course(target, None if minutes is None else 60 * minutes, _PER_OCTAVE, progress)
    data: dict[str, Any] = {
        "schema": _SCHEMA,
        "target": fsdecode(name),
        "capacity_blocks": target.blocks,
        "rotates": found.why_not is None,
        "seconds": found.seconds,
        "requests": target.requests,
        "notes": list(found.notes),
    }
    if found.why_not is not None:
        data["why_not"] = found.why_not
    if found.platter is None or found.layout is None or found.arm is None:
        return Extraction(data)
    platter, layout, arm = found.platter, found.layout, found.arm
    data["notes"] += [*layout.notes, *arm.notes]
    data["sector_bytes"] = platter.per_sector * 512
    data["rotation"] = {
        "turn_ms": platter.turn / 1e6,
        "half_width_ms": platter.turn_half_width / 1e6,
        "rpm": 60e9 / platter.turn,
    }
    data["noise_ms"] = platter.noise / 1e6
    data["surfaces"] = layout.tracks
    if arm.base is not None:
        data["overhead_read"] = _ms(arm.base)
    if arm.switch is not None:
        data["head_switch"] = _ms(arm.switch)
    data["seek"] = [
        {"distance_cylinders": distance, **_ms(time)} for distance, time in sorted(arm.seeks.items())
    ]
    data["zones"] = [_zone(zone, arm, index) for index, zone in enumerate(layout.zones)]
    data["irregular"] = [
        {"first_sector": zone.start + at, "sectors_skipped": count - before}
        for zone in layout.zones
        for (at, count), before in zip(zone.skips, [0, *(count for _, count in zone.skips)], strict=False)
    ]
    return Extraction(data, _file(found, platter, layout, arm, fsdecode(name)))


def _ms(time: Time) -> dict[str, float]:
    return {"ms": time.ns / 1e6, "half_width_ms": time.half_width / 1e6}


def _zone(zone: Zone, arm: Arm, index: int) -> dict[str, Any]:
    return {
        "zone": index,
        "first_cylinder": zone.first_cylinder,
        "last_cylinder": zone.first_cylinder + arm.cylinders_of(zone) - 1,
        "first_sector": zone.start,
        "last_sector": zone.end - 1,
        "sectors_per_track": zone.per_track,
        "track_skew": zone.track_skew,
        "cylinder_skew": zone.cylinder_skew,
        "sectors_skipped": zone.skips[-1][1] if zone.skips else 0,
        "cylinders_without_data": zone.hidden,
    }


def _file(found: Extracted, platter: Platter, layout: Layout, arm: Arm, name: str) -> str:
    """The drive's file."""
    base = arm.base.ns if arm.base is not None else 0.0
    block = found.memory.block_time if found.memory is not None else None
    overhead = max(base - (block or 0.0) * platter.per_sector, 0.0)
    drive: dict[str, Any] = {
        "kind": "hdd",
        "name": f"as measured: {name}",
        "source": [f"diskwright {__version__}, extract of {name}: {target_words(found)}"],
        "sector_size": f"{platter.per_sector * 512} B",
        "rotation": f"{platter.turn / 1e6:.9f} ms",
        "heads": {"switch": f"{max(arm.switch.ns, 0.0) / 1e6 if arm.switch else 0.0:.6f} ms"},
        "seek": {"table": {"points_ms": _points(arm)}},
        "overhead": {
            kind: f"{overhead / 1e6:.6f} ms"
            for kind in ("read_after_read", "read_after_write", "write_after_read", "write_after_write")
        },
    }
    if block is not None:
        drive["interface"] = {"block_time": f"{block / 1e6:.6f} ms"}
    zones = _zones(layout, arm)
    lines = [
        _toml.document(
            {**drive, "layout": {"surfaces": layout.tracks or 1, "cylinders": zones[-1]["cylinders"][1] + 1}}
        )
    ]
    for zone in zones:
        lines.append("\n[[layout.zone]]\n")
        lines += [f"{_toml.key(key)} = {_toml.value(value, key)}\n" for key, value in zone.items()]
    return "".join(lines)


def target_words(found: Extracted) -> str:
    return f"{found.seconds:.0f} s"


def _points(arm: Arm) -> list[list[Any]]:
    """The seek curve's points, which rise in their distances and are longer than nothing."""
    points = [[distance, round(max(time.ns, 1.0) / 1e6, 6)] for distance, time in sorted(arm.seeks.items())]
    return points or [[1, 1.0]]


def _zones(layout: Layout, arm: Arm) -> list[dict[str, Any]]:
    """The zones as a file has them."""
    reference = _reference(layout)
    zones = []
    for zone in layout.zones:
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
        described["cylinder_skew"] = zone.cylinder_skew if zone.cylinder_skew is not None else described["track_skew"]
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
        return sum(abs(off((_start(zone) - reference) * zone.per_track)) for zone in layout.zones)

    return min((_start(first) - step / first.per_track for step in range(first.per_track)), key=misfit)


def _slipped(zone: Zone, front: int) -> list[int]:
    """Sectors that addresses skip, counted from the zone's first one on."""
    found: list[int] = []
    before = 0
    for at, count in zone.skips:
        found += [front + at + skipped for skipped in range(before, count)]
        before = count
    return found


__all__ = ["Mapping", "extract"]
