"""Zones, skews and spares from a drive's capacity and its sustained rates.

The sustained rate is a cylinder's data in one access range, divided by the time that they take: a revolution
for each track and the turn of the skew after each. Makers state it so (Deskstar 7K500 specification, 4.4.4).
"""

from dataclasses import dataclass
from math import ceil

BLOCK = 512


@dataclass(frozen=True)
class Shape:
    """What a layout is computed from. Times in ms, rates in MB/s of one access range."""

    blocks: int
    sector: int
    """Bytes of a physical sector."""
    revolution: float
    surfaces: int
    ranges: int
    zones: int
    outside: float
    inside: float
    track_change: float
    """To the next track of the cylinder and settled for a write, with the margin of the skew."""
    cylinder_change: float
    spare: float
    """The share of cylinders beyond those that the capacity needs."""


@dataclass(frozen=True)
class Zone:
    """A zone: cylinders, both included, and what its tracks hold."""

    first: int
    last: int
    sectors: int
    track_skew: int
    cylinder_skew: int
    spares: int


def rate(shape: Shape, sectors: int) -> float:
    """MB/s of a long read where tracks hold `sectors` sectors."""
    heads = shape.surfaces // shape.ranges
    tracks, step = _skews(shape, sectors)
    revolutions = heads + ((heads - 1) * tracks + step) / sectors
    return heads * sectors * shape.sector / (revolutions * shape.revolution) / 1e3


def lay_out(shape: Shape) -> list[Zone]:
    """Equal zones, whose sectors fall evenly from the outer rate's to the inner one's, for the real capacity.

    Raises ValueError where the capacity is no whole number of sectors in each access range.
    """
    outer, inner = _sectors(shape, shape.outside), _sectors(shape, shape.inside)
    step = (outer - inner) / (shape.zones - 1)
    tracks = [round(outer - step * zone) for zone in range(shape.zones)]
    wanted, rest = divmod(shape.blocks * BLOCK, shape.sector * shape.ranges)
    if rest:
        raise ValueError(f"{shape.blocks} blocks are not sectors of {shape.sector} bytes in every range")
    heads = shape.surfaces // shape.ranges
    cylinders = ceil(wanted / (sum(tracks) * heads) * (1 + shape.spare))
    left = sum(tracks) * heads * cylinders - wanted
    spares = [left * sectors // sum(tracks) for sectors in tracks]
    # Spares of a drive with one range end it; those of ranges begin it, so that each range starts alike.
    spares[-1 if shape.ranges == 1 else 0] += left - sum(spares)
    return [
        Zone(
            number * cylinders,
            (number + 1) * cylinders - 1,
            sectors,
            *_skews(shape, sectors),
            spares[number],
        )
        for number, sectors in enumerate(tracks)
    ]


def _sectors(shape: Shape, wanted: float) -> int:
    """The sectors of a track whose rate is nearest to this one."""
    sectors = 1
    while rate(shape, sectors) < wanted:
        sectors += 1
    return min(sectors - 1, sectors, key=lambda count: abs(rate(shape, max(1, count)) - wanted))


def _skews(shape: Shape, sectors: int) -> tuple[int, int]:
    """From track to track and from cylinder to cylinder, in whole sectors that are long enough."""

    def skew(change: float) -> int:
        return ceil(change / shape.revolution * sectors)

    return skew(shape.track_change), skew(shape.cylinder_change)
