"""What all charts are made of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, log10
from textwrap import wrap
from typing import Any

Figure = dict[str, Any]

# Values that differ by less than this factor need no axis that stretches them.
_NARROW = 1.5


@dataclass(frozen=True)
class Run:
    """A run to draw: a name for legends, the `run` object and its picture.

    variant: of which the page has one key for all charts; all that is drawn of it has its colour and dashes.
    """

    label: str
    result: Mapping[str, Any]
    picture: Mapping[str, Any]
    variant: int | None = None

    def look(self) -> Figure:
        """What a trace of this run alone says of its look."""
        return {} if self.variant is None else {"variant": self.variant}


@dataclass(frozen=True)
class Chart:
    """A figure with what stands around it; `wide` ones take the whole width of the page."""

    id: str
    title: str
    note: str
    figure: Figure
    height: int
    wide: bool = False
    # Names of views, each of which shows one trace; none where all are shown together.
    views: tuple[str, ...] = ()


def axis(title: str, **settings: Any) -> dict[str, Any]:
    """An axis; the title carries the unit."""
    return {"title": {"text": title}, **settings}


def named(runs: Sequence[Run], run: Run, what: str) -> str:
    """A curve's name in the legend: the run's too, where there are several."""
    return what if len(runs) == 1 else f"{run.label}: {what}" if what else run.label


def wrapped(label: str, width: int = 30) -> str:
    """A label of an axis, in lines that leave room for what is drawn."""
    return "<br>".join(escape(line, quote=False) for line in wrap(label, width))


def log_axis(title: str, values: Iterable[float | None], **settings: Any) -> dict[str, Any]:
    """A logarithmic axis, with whole numbers at its ticks and not only their digits."""
    some = [value for value in values if value]
    decades = 1.1 * log10(max(some) / min(some)) if some else 0.0
    # Over many decades only their powers have room; over few also 2 and 5, and all digits within one.
    ticks: dict[str, Any] = {"nticks": ceil(decades) if decades > 3 else 6}
    if 1 < decades <= 3:
        ticks = {"dtick": "D2"}
    made = axis(title, type="log", tickformat=",~g", **(ticks | settings))
    if some and max(some) < _NARROW * min(some):
        made["range"] = [log10(min(some) / _NARROW), log10(max(some) * _NARROW)]
    return made


def duration(s: float) -> str:
    """A length of time for a text."""
    return f"{1e6 * s:,.4g} µs" if s < 1e-3 else f"{1e3 * s:,.4g} ms" if s < 1 else f"{s:,.4g} s"


def rounded(values: Iterable[float | None], digits: int = 5) -> list[float | None]:
    """Numbers as precise as a chart can show."""
    return [None if value is None else float(f"{value:.{digits}g}") for value in values]


def doublings(bins: Mapping[str, Sequence[int]]) -> dict[int, int]:
    """Counts of bins within each doubling, by its least number; 0 and 1 stand alone.

    From the first that holds something to the last one, none is left out.
    """
    counts: dict[int, int] = {}
    for least, count in zip(bins["from"], bins["count"], strict=True):
        start = 1 << least.bit_length() >> 1
        counts[start] = counts.get(start, 0) + count
    if not counts:
        return {}
    starts = [0, *(1 << power for power in range(max(counts).bit_length()))]
    first = min(counts)
    return {start: counts.get(start, 0) for start in starts if start >= first}
