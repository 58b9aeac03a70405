"""Curves that lie on each other, so that each can be seen and the page names them."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import log10

from diskwright.report.charts._base import Figure

# Curves closer than this share of the axis lie on each other: about the width of a line.
_CLOSE = 0.006
# The widths of lines on each other, in pixels: the first is the widest, and the last lies on top.
_WIDEST = 7.0
_LAST = 1.5

Near = Callable[[Figure, Figure], bool]


def distributions(traces: Sequence[Figure]) -> tuple[list[Figure], str]:
    """Curves of shares against logarithms of times, told apart; and the names of those that coincide."""
    times = [ms for trace in traces for ms in trace["x"] if ms]
    decades = max(log10(max(times) / min(times)), 0.1) if times else 1.0
    return _apart(traces, lambda one, other: _gap(one, other) <= _CLOSE * decades)


def steps(traces: Sequence[Figure]) -> tuple[list[Figure], str]:
    """Values of bins over time, told apart; and the names of those that coincide."""
    values = [value for trace in traces for value in trace["y"] if value is not None]
    room = _CLOSE * (max(values, default=0.0) - min(0.0, *values) if values else 0.0)

    def is_near(one: Figure, other: Figure) -> bool:
        if one["x"] != other["x"]:
            return False
        return all(
            a is b or (a is not None and b is not None and abs(a - b) <= room)
            for a, b in zip(one["y"], other["y"], strict=True)
        )

    return _apart(traces, is_near)


def _apart(traces: Sequence[Figure], is_near: Near) -> tuple[list[Figure], str]:
    groups: list[list[int]] = []
    for place, trace in enumerate(traces):
        mine = next((group for group in groups if is_near(traces[group[0]], trace)), None)
        if mine is None:
            groups.append([place])
        else:
            mine.append(place)
    made = list(traces)
    several = [group for group in groups if len(group) > 1]
    for group in several:
        for order, place in enumerate(group):
            width = _WIDEST - (_WIDEST - _LAST) * order / (len(group) - 1)
            made[place] = made[place] | {"line": made[place].get("line", {}) | {"width": round(width, 2)}}
    return made, "; ".join(_listed([traces[place]["name"] for place in group]) for group in several)


def _listed(names: Sequence[str]) -> str:
    names = [f"“{name}”" if "," in name else name for name in names]
    return ", ".join(names[:-1]) + " and " + names[-1]


def _gap(one: Figure, other: Figure) -> float:
    """The greatest distance of two curves along the axis of time, in decades."""
    low, high = max(min(one["y"]), min(other["y"])), min(max(one["y"]), max(other["y"]))
    shares = [share for share in (*one["y"], *other["y"]) if low <= share <= high]
    if not shares:
        return float("inf")
    return max(abs(_at(one, share) - _at(other, share)) for share in shares)


def _at(curve: Figure, share: float) -> float:
    """The logarithm of the time at which a curve has a share, on the straight line between its points."""
    points = sorted(zip(curve["y"], curve["x"], strict=True))
    place = bisect_left(points, (share, float("-inf")))
    (y1, x1) = points[min(place, len(points) - 1)]
    (y0, x0) = points[max(place - 1, 0)]
    end = log10(max(x1, 1e-6))
    start = log10(max(x0, 1e-6))
    return end if y1 == y0 else start + (end - start) * (share - y0) / (y1 - y0)
