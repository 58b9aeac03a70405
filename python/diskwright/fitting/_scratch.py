"""A drive from its recording alone: what the times tell without a drive's file, as a description to fit.

What the recording tells is estimated; what it does not tell is assumed, and said so.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskwright.fitting import _clusters, _phase, _reach, _tracks
from diskwright.fitting._clusters import Kinds
from diskwright.fitting._model import Recording
from diskwright.fitting._phase import Ends, Turn
from diskwright.fitting._reach import Reach
from diskwright.fitting._steps import Estimate
from diskwright.fitting._tracks import Zone

Floats = NDArray[np.float64]

# Speeds that drives have been sold with, turns a minute, and how near to one the width of a distribution must
# be for the drive to have it.
USUAL_RPM, _USUAL_WITHIN = (3600, 4500, 5400, 5900, 6300, 7200, 10_000, 12_000, 15_000), 0.03
# What is assumed where nothing is told: surfaces, sectors of a track by capacity (100 for a drive of 1 GB, as
# the drives of 1993 had; by a power of the capacity to those of 2010), the skew of a track in turns, zones.
_SURFACES, _SECTORS_AT_GB, _SECTORS_POWER, _SKEW = 8, 100.0, 0.4, 0.2
_ASSUMED_ZONES = 8
# Ratios of sectors inside to outside that are tried.
_RATIOS = np.array([0.45, 0.55, 0.65, 0.75, 0.85, 1.0])
# Requests of the medium below which nothing can be said.
_FEWEST = 150
# How far apart requests are that tell of zones, and of cylinders, in tracks.
_TRACKS_FOR_ZONES, _TRACKS_FOR_CYLINDERS = 0.8, 40
# The share of pairs that must be in zones whose sectors are told, for a layout.
_TOLD_SHARE = 0.7
_LEFT_5 = 3.841
# Points of the seek curve's table.
_POINTS = 24


class CannotTellError(ValueError):
    """The recording tells too little for a drive."""


@dataclass
class Scratch:
    """A description, with what it was estimated and assumed from.

    estimates: by path. assumed: what the recording does not tell, by path, with what is taken.
    """

    description: dict[str, Any]
    estimates: dict[str, Estimate] = field(default_factory=dict)
    assumed: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def scratches(recording: Recording, end: int, capacity: int | None) -> list[Scratch]:
    """First drives from the first `end` requests of a recording: one with an assumed layout, and one with the
    layout that the phases tell, if they do.

    capacity: in blocks, where it is known.
    """
    seen = int((recording.lbn + recording.blocks.astype(np.int64)).max(initial=0))
    blocks = capacity if capacity is not None else seen
    if blocks < seen:
        raise CannotTellError(
            f"a capacity of {blocks:,} blocks is too little: a request ends at block {seen:,}"
        )
    first = Recording(
        recording.write[:end],
        recording.lbn[:end],
        recording.blocks[:end],
        recording.service[:end],
        recording.wait[:end],
    )
    kinds = _clusters.kinds(first.write, first.service, first.blocks)
    if kinds.medium.sum() < _FEWEST:
        raise CannotTellError(
            f"{int(kinds.medium.sum())} requests of the first half that the medium served tell too little of "
            f"a drive: at least {_FEWEST} are needed"
        )
    bus = kinds.block
    phase = _turn(first, kinds, bus[0] if bus is not None else 0.0)
    found = []
    zones = _zones(phase, blocks) if phase is not None else []
    if phase is not None and zones:
        one = Scratch({})
        layout, radius = _layout_of(one, zones, phase, blocks)
        reach = _arrivals(first, kinds, radius, layout, phase[0].ms)
        found.append((one, layout, reach))
    one = Scratch({})
    layout, reach = _assumed(one, first, kinds, blocks, phase[0].ms if phase else None)
    found.append((one, layout, reach))
    for one, layout, reach in found:
        if capacity is None:
            one.assumed["capacity"] = f"{blocks:,} blocks, the end of the last request"
        turn = _rotation(one, phase, reach)
        _describe(one, kinds, layout, reach, turn, first)
    return [one for one, _, _ in found]


def _turn(recording: Recording, kinds: Kinds, bus: float) -> tuple[Turn, Ends] | None:
    """The turn by its phase, with the requests that tell it: of those ways in which a completion may follow
    the medium the one that tells most.
    """
    time = np.cumsum(recording.wait + recording.service)
    rows = np.flatnonzero(kinds.medium)
    start = recording.lbn[rows].astype(np.float64)
    crossed = bus * recording.blocks[rows]
    ways = [(start + recording.blocks[rows], time[rows], False)]
    if bus > 0:
        ways += [
            (start, time[rows] - crossed, True),
            (start + recording.blocks[rows], time[rows] - crossed, False),
        ]
    best: tuple[Turn, Ends] | None = None
    for lbn, ended, from_start in ways:
        ends = Ends(rows, ended, lbn, recording.write[rows], from_start)
        for write in (False, True):
            of = ends.of(write)
            if len(of.rows) < 50:
                continue
            turn = _phase.turn(of)
            if turn is not None and (best is None or turn.half < best[0].half):
                best = turn, of
    return best


def _zones(phase: tuple[Turn, Ends], blocks: int) -> list[Zone]:
    """The zones, where the phases tell them."""
    turn, ends = phase
    farthest = _TRACKS_FOR_ZONES / max(turn.per_block, 1e-3)
    pairs = _phase.near_pairs(ends, farthest, turn.span, with_following=True)
    if len(pairs) < 100:
        return []
    zones = _tracks.zones(pairs, turn, 0, blocks)
    told = sum(zone.pairs for zone in zones if zone.is_told)
    return zones if told > _TOLD_SHARE * len(pairs) else []


@dataclass(frozen=True)
class Layout:
    """Zones as a drive's file has them, and how many cylinders there are."""

    surfaces: int
    cylinders: int
    zones: list[dict[str, Any]]


class Radius:
    """The cylinder of an LBN, as a share of all."""

    def __init__(self, lbns: Floats, cylinders: Floats) -> None:
        self._lbns, self._shares = lbns, cylinders / cylinders[-1]

    def __call__(self, lbn: Floats) -> Floats:
        found: Floats = np.interp(lbn, self._lbns, self._shares)
        return found


def _laid_out(zones: list[tuple[int, int, int, float, float]], surfaces: int) -> tuple[Layout, Radius]:
    """A layout of zones: first LBN and end, sectors per track, skews of tracks and cylinders in turns."""
    described = []
    cylinder = 0
    lbns, cylinders = [0.0], [0.0]
    for first, end, sectors, skew, of_cylinder in zones:
        count = max(int(np.ceil((end - first) / (sectors * surfaces))), 1)
        one = {
            "cylinders": [cylinder, cylinder + count - 1],
            "sectors_per_track": sectors,
            "track_skew": round(skew * sectors) % sectors,
            "cylinder_skew": round(of_cylinder * sectors) % sectors,
        }
        spare = count * sectors * surfaces - (end - first)
        if spare > 0:
            one["spares"] = {"per": "zone", "sectors": spare}
        described.append(one)
        cylinder += count
        lbns.append(float(end))
        cylinders.append(float(cylinder))
    return Layout(surfaces, cylinder, described), Radius(np.array(lbns), np.array(cylinders))


def _layout_of(
    found: Scratch, zones: list[Zone], phase: tuple[Turn, Ends], blocks: int
) -> tuple[Layout, Radius]:
    """The layout of zones that the phases tell."""
    turn, ends = phase
    farthest = _TRACKS_FOR_CYLINDERS * max(zone.sectors for zone in zones)
    pairs = _phase.near_pairs(ends, farthest, turn.span, with_following=True)
    several = _tracks.cylinders(pairs, turn, zones)
    if several is None:
        surfaces, more = _SURFACES, 0.0
        found.assumed["layout.surfaces"] = f"{surfaces}"
        found.assumed["layout.zone[].cylinder_skew"] = "that of a track"
    else:
        surfaces, more, _ = several
        if surfaces == 2 and more > 0.5:
            # Tracks and cylinders end in turn: which skew is which is not told. The longer is a cylinder's.
            zones = [replace(zone, skew=(zone.skew + more) % 1.0) for zone in zones]
            more = 1.0 - more
        found.estimates["layout.surfaces"] = Estimate(surfaces, None)
    for index, zone in enumerate(zones):
        path = f"layout.zone[{index}]"
        low, high = zone.sectors_ci95
        found.estimates[f"{path}.sectors_per_track"] = Estimate(zone.sectors, None, (low, high))
        skew = zone.skew * zone.sectors
        half = zone.skew_half * zone.sectors
        found.estimates[f"{path}.track_skew"] = Estimate(round(skew), None, (skew - half, skew + half))
    last = [*zones[:-1], replace(zones[-1], end=blocks)]
    return _laid_out([(one.first, one.end, one.sectors, one.skew, one.skew + more) for one in last], surfaces)


def _graded(blocks: int, ratio: float) -> tuple[Layout, Radius]:
    """A layout that is assumed, whose sectors fall evenly to `ratio` of those outside."""
    outside = _SECTORS_AT_GB * (blocks * 512 / 1e9) ** _SECTORS_POWER * 2 / (1 + ratio)
    count = _ASSUMED_ZONES if ratio < 1 else 1
    sectors = np.maximum(np.round(outside * (1 - (1 - ratio) * (np.arange(count) + 0.5) / count)), 8)
    edges = np.round(np.concatenate(([0.0], np.cumsum(sectors) / sectors.sum())) * blocks).astype(np.int64)
    return _laid_out(
        [
            (int(edges[index]), int(edges[index + 1]), int(sectors[index]), _SKEW, _SKEW)
            for index in range(count)
            if edges[index + 1] > edges[index]
        ],
        _SURFACES,
    )


def _assumed(
    found: Scratch, recording: Recording, kinds: Kinds, blocks: int, turn: float | None
) -> tuple[Layout, Reach]:
    """A layout where no phase tells one: only how much denser LBNs are outside shows in the seeks."""
    tried = []
    for ratio in _RATIOS:
        layout, radius = _graded(blocks, float(ratio))
        tried.append((layout, _arrivals(recording, kinds, radius, layout, turn)))
    costs = np.array([reach.cost for _, reach in tried])
    best = int(costs.argmin())
    as_good = _RATIOS[2 * (costs - costs[best]) < _LEFT_5]
    layout, reach = tried[best]
    sectors = [zone["sectors_per_track"] for zone in layout.zones]
    text = f"{len(sectors)}, of {sectors[0]} to {sectors[-1]} sectors a track"
    if len(as_good) < len(_RATIOS) // 2:
        found.estimates["layout.density_ratio"] = Estimate(
            float(_RATIOS[best]), None, (float(as_good.min()), float(as_good.max()))
        )
    else:
        found.assumed["layout.density_ratio"] = f"{_RATIOS[best]:.2f} inside of 1 outside"
    found.assumed["layout.zone"] = text
    found.assumed["layout.surfaces"] = str(layout.surfaces)
    found.assumed["skews"] = f"{_SKEW} of a turn"
    return layout, reach


def _arrivals(
    recording: Recording, kinds: Kinds, radius: Radius, layout: Layout, turn: float | None
) -> Reach:
    """Arrivals of heads over the distances that the arm moved."""
    start = recording.lbn.astype(np.float64)
    end = start + recording.blocks
    # The arm stays where the last request was that the medium served, at once or later.
    moves = ~kinds.hits
    last = np.maximum.accumulate(np.where(moves, np.arange(len(start)), -1))
    before = np.concatenate(([-1], last[:-1]))
    rows = np.flatnonzero(kinds.medium & (before >= 0))
    was = end[before[rows]]
    distance = np.abs(radius(start[rows]) - radius(was))
    near = distance * layout.cylinders < 1.0
    # What the buffer was filling may hold the start of a read that goes on ahead: it tells nothing.
    ahead = near & (start[rows] >= was)
    after = np.concatenate(([False], recording.write[:-1]))[rows]
    write = recording.write[rows]
    tells = ~ahead | write
    columns = np.stack((recording.blocks[rows], ~write & after, write & ~after, write & after), axis=1)
    seen = _reach.Seen(
        recording.service[rows][tells], distance[tells], near[tells], columns[tells].astype(np.float64)
    )
    return _reach.reach(seen, turn)


def _rotation(found: Scratch, phase: tuple[Turn, Ends] | None, reach: Reach) -> float:
    """The time of a turn, ms: by its phase, or by how widely times are spread."""
    if phase is not None:
        turn = phase[0]
        found.estimates["rotation"] = Estimate(turn.ms, None, (turn.ms - turn.half, turn.ms + turn.half))
        return turn.ms
    width, half = reach.turn, reach.turn_half
    found.estimates["rotation"] = Estimate(width, None, (width - half, width + half))
    usual = min((60_000 / rpm for rpm in USUAL_RPM), key=lambda one: abs(one - width))
    text = (
        "the recording has lost the platter's phase: how widely times are spread tells a turn of "
        f"{width:.3f} ms"
    )
    if abs(usual - width) < _USUAL_WITHIN * width:
        found.notes.append(f"{text}; {60_000 / usual:,.0f} rpm are taken, the nearest usual speed")
        found.assumed["rotation"] = f"{60_000 / usual:.0f} rpm, the usual speed next to what is told"
        return usual
    found.notes.append(text)
    return width


def _describe(
    found: Scratch, kinds: Kinds, layout: Layout, reach: Reach, turn: float, recording: Recording
) -> None:
    """Puts the description together."""
    per_block = max(float(reach.extra[0]), 0.0)
    sector = turn / layout.zones[len(layout.zones) // 2]["sectors_per_track"]
    seek, overhead, overhead_half = _seek(found, reach, layout)
    after_write, write_after_read, write_after_write = (float(one) for one in reach.extra[1:4])
    overheads = {
        "read_after_read": overhead,
        "read_after_write": overhead + after_write,
        "write_after_read": overhead + (0.0 if kinds.buffers_writes else write_after_read),
        "write_after_write": overhead + (0.0 if kinds.buffers_writes else write_after_write),
    }
    halves = (0.0, *reach.extra_half[1:4])
    for (name, value), half in zip(overheads.items(), halves, strict=True):
        overheads[name] = max(value, 0.0)
        wide = float(np.hypot(overhead_half, half))
        if kinds.buffers_writes and name.startswith("write"):
            found.assumed[f"overhead.{name}"] = "as before a read"
        elif np.isfinite(wide):
            found.estimates[f"overhead.{name}"] = Estimate(value, None, (value - wide, value + wide))
    found.description = {
        "kind": "hdd",
        "name": "a drive from its recording",
        "source": [],
        "estimated": [],
        "sector_size": "512 B",
        "rotation": f"{turn:.9f} ms",
        "heads": {"switch": f"{min(1.0, max(seek[0][1] * 0.7, 0.0)):.6f} ms", "write_settle": "0 ms"},
        "seek": {"table": {"points_ms": seek}},
        "overhead": {name: f"{value:.6f} ms" for name, value in overheads.items()},
    }
    found.assumed["heads.switch"] = found.description["heads"]["switch"]
    bus = kinds.block[0] if kinds.block is not None else max(per_block - sector, 0.0)
    if kinds.block is not None:
        value, half = kinds.block
        found.estimates["interface.block_time"] = Estimate(value, None, (value - half, value + half))
    elif per_block > sector:
        half = float(reach.extra_half[0])
        found.estimates["interface.block_time"] = Estimate(bus, None, (bus - half, bus + half))
    else:
        found.assumed["interface.block_time"] = "0 ms"
    found.description["interface"] = {"block_time": f"{bus:.6f} ms"}
    _buffer(found, recording, kinds)
    found.description["layout"] = {
        "surfaces": layout.surfaces,
        "cylinders": layout.cylinders,
        "zone": layout.zones,
    }


def _seek(found: Scratch, reach: Reach, layout: Layout) -> tuple[list[list[float]], float, float]:
    """The seek curve's points, and the overhead of a read with its interval's half."""
    rising = np.maximum.accumulate(reach.at_knots)
    if reach.near is None:
        # The shortest motion that was seen is one of a settling as well: what of it is overhead is not told.
        overhead, half = 0.4 * float(rising[0]), np.inf
        found.assumed["overhead.read_after_read"] = f"{overhead:.3f} ms of the shortest arrival"
    else:
        overhead, half = min(float(reach.near), 0.9 * float(rising[0])), float(reach.near_half or 0.0)
    most = max(layout.cylinders - 1, 2)
    knots = reach.knots * layout.cylinders
    distances = np.unique(np.round(np.geomspace(1, most, _POINTS)).astype(np.int64))
    roots = np.sqrt(distances.astype(np.float64))
    at = np.sqrt(np.maximum(knots, 0.0))
    times = np.interp(roots, at, rising - overhead)
    # Below the first knot by the root, above the last one on along it.
    if at[0] > 1:
        least = 0.5 * times[0]
        below = roots < at[0]
        times[below] = least + (times[~below][0] - least) * (roots[below] - 1) / (at[0] - 1)
    times = np.maximum.accumulate(np.maximum(times, 0.05))
    for knot, value, wide in zip(knots, rising - overhead, reach.at_knots_half, strict=True):
        half_seek = float(np.hypot(wide, half if np.isfinite(half) else 0.0))
        name = f"seek[{max(round(float(knot)), 1)}]"
        found.estimates[name] = _told(float(value), half_seek)
    return [[int(d), round(float(t), 6)] for d, t in zip(distances, times, strict=True)], overhead, half


def _buffer(found: Scratch, recording: Recording, kinds: Kinds) -> None:
    """The buffer: its times by what crowds together; how much it holds is tried later."""
    reads, after_write = kinds.reads, kinds.reads_after_write
    size = int(max(512, 2 ** np.ceil(np.log2(recording.blocks.max()))))
    buffer: dict[str, Any] = {"segments": 4, "segment_size": f"{size} blocks"}
    if reads is None:
        buffer = {"segments": 1, "segment_size": f"{size} blocks", "keeps_data": False}
        found.assumed["buffer"] = "keeps nothing: no read takes a time of the buffer alone"
    else:
        late = after_write if after_write is not None else reads
        buffer["read"] = {"hit_after_read": f"{reads.base:.6f} ms", "hit_after_write": f"{late.base:.6f} ms"}
        buffer["read_ahead"] = {"until": "segment"}
        found.estimates["buffer.read.hit_after_read"] = _told(reads.base, reads.base_half)
        if after_write is not None:
            found.estimates["buffer.read.hit_after_write"] = _told(late.base, late.base_half)
        else:
            found.assumed["buffer.read.hit_after_write"] = "as after a read"
    if kinds.buffers_writes:
        first = kinds.writes_after_read or kinds.writes_after_write
        second = kinds.writes_after_write or first
        assert first is not None and second is not None
        buffer["write"] = {
            "complete": "buffered",
            "buffered_after_read": f"{max(first.base, 0.0):.6f} ms",
            "buffered_after_write": f"{max(second.base, 0.0):.6f} ms",
        }
        found.estimates["buffer.write.buffered_after_read"] = _told(first.base, first.base_half)
        found.estimates["buffer.write.buffered_after_write"] = _told(second.base, second.base_half)
    else:
        buffer["write"] = {"complete": "on-medium"}
    found.description["buffer"] = buffer


def _told(value: float, half: float) -> Estimate:
    return Estimate(value, None, (value - float(half), value + float(half)))


# What the buffer may hold and read ahead: alternatives that are tried together, as neither tells without the
# other.
SEGMENTS, SIZES = (1, 2, 3, 5, 8, 16), (128, 256, 512, 1024, 2048)
UNTIL = ("segment", "track", "cylinder", "none")


def alternatives(description: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Changes of a description whose drive keeps what it reads."""
    if not description["buffer"].get("keeps_data", True):
        return [{}]
    return [
        {
            "buffer.segments": segments,
            "buffer.segment_size": f"{size} blocks",
            "buffer.read_ahead.until": until,
        }
        for until in UNTIL
        for segments in SEGMENTS
        for size in SIZES
    ]
