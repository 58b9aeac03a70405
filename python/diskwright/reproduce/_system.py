"""What a file of `systems/` is made of."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diskwright.reproduce._claims import Claim
from diskwright.reproduce._inputs import Trace
from diskwright.reproduce._work import Work

Coordinate = str | float
Works = Work | Mapping[str, Work]
"""One piece of work, or several by name."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The same number of several places, of which the worst counts.

    That is the place where the mean over all seeds is largest by `key`; its number is the one of each
    seed. The largest of each seed's numbers would be one of chance where all places are much alike.

    places: the numbers, by names that all seeds have.
    """

    places: Mapping[str, float]
    key: Callable[[float], float] = float


Measure = Callable[[Any], float | Worst | None]
"""A number from the results of one seed: of the one `Record`, or of a dict of them by name."""

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Lines:
    """A curve of `y` over `x`, a coordinate or a value, for each value of the coordinates `by`."""

    x: str
    y: str
    by: Sequence[str] = ()
    x_label: str = ""
    y_label: str = ""
    x_log: bool = False
    y_log: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar of `y` for each value of the coordinate `x`, side by side for those of `by`."""

    x: str
    y: str
    by: Sequence[str] = ()
    x_label: str = ""
    y_label: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a point of a figure is, and the work that it is measured from."""

    coordinates: Mapping[str, Coordinate]
    work: Works


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure or table of a paper.

    id: "fig-2", "fig-8a", "table-1"; "beyond-NAME" for one that the paper does not have.
    paper: what the paper shows, in words.
    measure: the values of each point, by name.
    drawn: how; None for a table alone.
    published: the paper's own points, with the same names.
    note: what to know of how it was measured.
    partial: whether it is drawn without the points whose traces are not there.
    """

    id: str
    title: str
    paper: str
    points: Sequence[Point]
    measure: Mapping[str, Measure]
    drawn: Lines | Bars | None = None
    published: Sequence[Mapping[str, Coordinate]] = ()
    note: str = ""
    partial: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence of a paper with a number in it.

    paper: the value or the bound: `near(0.21)`, `above(0)`, `below(1)`.
    measure: the same number, from the results of one seed; or `Worst` of several.
    """

    id: str
    text: str
    paper: Claim
    work: Works
    measure: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A paper's system.

    paper: the citation. about: what the system is, what stands for what the paper had: drives, traces, sizes.
    quick: the most requests of each run in a quick try.
    """

    name: str
    title: str
    paper: str
    figures: Sequence[Figure]
    statements: Sequence[Statement]
    about: Sequence[str] = ()
    traces: Sequence[Trace] = ()
    quick: int = 20_000

    def __post_init__(self) -> None:
        parts: list[Figure | Statement] = [*self.figures, *self.statements]
        ids = [part.id for part in parts]
        for id in (self.name, *ids):
            if not _ID.fullmatch(id):
                raise ValueError(f"{self.name}: {id!r} is no id: expected words of a-z and 0-9 with dashes")
        if twice := {id for id in ids if ids.count(id) > 1}:
            raise ValueError(f"{self.name}: the id {min(twice)!r} is there twice")
        for figure in self.figures:
            _check(figure)
        wanted = (trace for part in parts for work in works(part) for trace in work.traces())
        if strange := next((trace for trace in wanted if trace not in self.traces), None):
            raise ValueError(f"{self.name}: the trace {strange.name!r} is not among the system's traces")


def _check(figure: Figure) -> None:
    """Draws what every point has."""
    for point in figure.points:
        if both := set(point.coordinates) & set(figure.measure):
            raise ValueError(f"{figure.id}: {min(both)!r} is a coordinate and a value")
        if figure.drawn is not None:
            # What a curve is drawn over may be measured, too.
            is_measured = isinstance(figure.drawn, Lines) and figure.drawn.x in figure.measure
            for name in (*([] if is_measured else [figure.drawn.x]), *figure.drawn.by):
                if name not in point.coordinates:
                    raise ValueError(f"{figure.id}: a point has no coordinate {name!r}, which is drawn")
    if figure.drawn is not None and figure.drawn.y not in figure.measure:
        raise ValueError(f"{figure.id}: {figure.drawn.y!r} is drawn and not measured")


def works(part: Figure | Statement | Point) -> list[Work]:
    """All work that something needs."""
    if isinstance(part, Figure):
        return [work for point in part.points for work in works(point)]
    return [part.work] if isinstance(part.work, Work) else list(part.work.values())
