"""A seek curve through a maker's three figures: to the next track, on average, and over the full stroke."""

from dataclasses import dataclass
from itertools import accumulate
from math import sqrt

DIGITS = 9
"""Decimals of a millisecond in a description: a thousandth of the nanosecond that the engine rounds to."""


@dataclass(frozen=True)
class Seeks:
    """Times of reads in ms, the arm's settling included."""

    track: float
    average: float
    """Weighted by how often random requests have a distance; see `docs/model/seek.md`."""
    full: float


@dataclass(frozen=True)
class Curve:
    """`[seek.hp]`: a + b·√d below the boundary, c + e·d from there, in ms over cylinders."""

    boundary: int
    short: tuple[float, float]
    long: tuple[float, float]

    def average(self, longest: int) -> float:
        """The mean over the distances of random requests to a drive with this longest one."""
        weighted = sum((longest + 1 - d) * self.time(d) for d in range(1, longest + 1))
        return weighted / (longest * (longest + 1) / 2)

    def time(self, distance: int) -> float:
        """Milliseconds over this distance, 1 or more."""
        (a, b), (c, e) = self.short, self.long
        return a + b * sqrt(distance) if distance < self.boundary else c + e * distance


def fit(seeks: Seeks, cylinders: int) -> Curve | None:
    """The curve through all three: a square root that passes smoothly into a line.

    Of the four numbers, the first track and the full stroke fix two, and that curve and slope agree at the
    boundary fixes the line; what remains is where the boundary is, and the average grows with it.

    None where a square root all the way is still below the average: Lee's curve, which bends more, serves.
    Raises ValueError where a line is above it.
    """
    longest = cylinders - 1
    total = longest * (longest + 1) / 2
    roots = [0.0, *accumulate((longest + 1 - d) * sqrt(d) for d in range(1, longest + 1))]

    def numbers(boundary: int) -> tuple[float, float, float, float]:
        root = sqrt(boundary)
        b = (seeks.full - seeks.track) / (root / 2 + longest / (2 * root) - 1)
        a = seeks.track - b
        return a, b, a + b * root / 2, b / (2 * root)

    def average(boundary: int) -> float:
        a, b, c, e = numbers(boundary)
        below = boundary - 1
        weight = below * (longest + 1) - below * (below + 1) / 2
        distances = _weighted_distances(longest, longest) - _weighted_distances(below, longest)
        return (a * weight + b * roots[below] + c * (total - weight) + e * distances) / total

    low, high = 1, longest
    if seeks.average < average(low):
        raise ValueError(
            f"an average of {seeks.average} ms between {seeks.track} and {seeks.full} ms is less than "
            f"that of a line, {average(low):.3f}"
        )
    if seeks.average > average(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if average(middle) < seeks.average else (low, middle)
    boundary = min(low, high, key=lambda at: abs(average(at) - seeks.average))
    a, b, c, e = (round(number, DIGITS) for number in numbers(boundary))
    return Curve(boundary, (a, b), (c, e))


def _weighted_distances(up_to: int, longest: int) -> float:
    """The sum of (longest + 1 - d)·d over d = 1 … up_to."""
    return (longest + 1) * up_to * (up_to + 1) / 2 - up_to * (up_to + 1) * (2 * up_to + 1) / 6
