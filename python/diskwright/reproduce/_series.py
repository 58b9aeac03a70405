"""The curves of a figure: one for each value of what divides it, and the paper's beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diskwright.reproduce._system import Bars, Coordinate, Figure, Lines

PAPER = "paper"
_MOST_TICKS = 10


@dataclass
class Series:
    """Points of one curve. tone: its place among the curves; the paper's has that of its own measured one."""

    name: str
    tone: int
    is_paper: bool
    x: list[Coordinate] = field(default_factory=list)
    y: list[float] = field(default_factory=list)
    ends: list[tuple[float, float] | None] = field(default_factory=list)
    """Of the intervals of 95 % confidence."""

    @property
    def below(self) -> list[float]:
        """How far each interval reaches down."""
        return [0.0 if ends is None else y - ends[0] for y, ends in zip(self.y, self.ends, strict=True)]

    @property
    def over(self) -> list[float]:
        """How far each interval reaches up."""
        return [0.0 if ends is None else ends[1] - y for y, ends in zip(self.y, self.ends, strict=True)]


def series(figure: Figure, points: Sequence[Mapping[str, Any]]) -> list[Series]:
    """The curves in the order of the figure's points, each followed by what the paper has for it."""
    drawn = figure.drawn
    assert drawn is not None, "only what is drawn has curves"
    found: dict[tuple[str, bool], Series] = {}
    for is_paper, rows in ((False, points), (True, figure.published)):
        for row in rows:
            value = row.get(drawn.y)
            if not isinstance(value, int | float) or drawn.x not in row:
                continue
            label = ", ".join(written(row[name]) for name in drawn.by if name in row)
            if (curve := found.get((label, is_paper))) is None:
                beside = found.get((label, False))
                tone = len({other.tone for other in found.values()}) if beside is None else beside.tone
                # One curve alone needs no name; beside the paper's it does.
                own = PAPER if is_paper else "measured" if figure.published and not label else ""
                name = ", ".join(filter(None, (label, own)))
                curve = found[label, is_paper] = Series(name, tone, is_paper)
            curve.x.append(row[drawn.x])
            curve.y.append(float(value))
            ends: Any = row.get(f"{drawn.y}_ci95")
            curve.ends.append(None if ends is None else (ends[0], ends[1]))
    return sorted(found.values(), key=lambda curve: (curve.tone, curve.is_paper))


def ticks(curves: Sequence[Series]) -> list[float]:
    """The places on a logarithmic axis, where they are few enough to be written there; else none."""
    found = sorted({x for curve in curves for x in curve.x if isinstance(x, int | float)})
    return found if len(found) <= _MOST_TICKS else []


def places(curves: Sequence[Series]) -> list[Coordinate]:
    """The places of bars, in their order."""
    return list(dict.fromkeys(x for curve in curves for x in curve.x))


def labels(drawn: Lines | Bars) -> tuple[str, str]:
    """What the axes are called."""
    return drawn.x_label or drawn.x.replace("_", " "), drawn.y_label or drawn.y.replace("_", " ")


def written(item: Coordinate) -> str:
    """A coordinate in a few letters."""
    return item if isinstance(item, str) else f"{item:g}"
