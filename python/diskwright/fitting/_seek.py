"""A seek curve as numbers that can be put right: the parameters of its form, or corrections of a table."""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskwright.fitting._parameters import at, ms
from diskwright.fitting._positioning import form_parameters, hats, knots_for, seek_ms

Floats = NDArray[np.float64]

_MOST_KNOTS, _FEWEST_BETWEEN = 8, 100


@dataclass(frozen=True)
class SeekNumber:
    """A number of a seek curve, and what a correction of it by 1 ms adds to the seeks of some requests.

    per_ms: the change of the number that moves the curve by 1 ms where it moves it most.
    """

    name: str
    per_ms: float
    column: Floats
    start: float


@dataclass(frozen=True)
class SeekNumbers:
    """The numbers of a curve for requests that moved over some distances."""

    numbers: tuple[SeekNumber, ...]
    knots: Floats

    @property
    def values_ms(self) -> Floats:
        """The numbers, in their units of 1 ms."""
        return np.array([number.start / number.per_ms for number in self.numbers])

    @staticmethod
    def of(
        description: Mapping[str, Any], distances: NDArray[np.int64], knots: Floats | None = None
    ) -> "SeekNumbers":
        seek = description["seek"]
        cylinders = int(description["layout"]["cylinders"])
        if "table" in seek:
            if knots is None:
                knots = knots_for(distances, _MOST_KNOTS, _FEWEST_BETWEEN)
            columns = hats(distances, knots) if len(knots) else np.zeros((len(distances), 0))
            at_knots = np.round(knots**2).astype(np.int64)
            values = seek_ms(seek, at_knots, cylinders)
            return SeekNumbers(
                tuple(
                    SeekNumber(f"seek[{at_knots[index]}]", 1.0, columns[:, index], float(values[index]))
                    for index in range(len(knots))
                ),
                knots,
            )
        everywhere = np.unique(np.linspace(1, cylinders - 1, 200).astype(np.int64))
        numbers = []
        for path in form_parameters(seek):
            now = at(seek, path)
            start = float(now) if isinstance(now, (int, float)) else ms(now)
            nudge = max(abs(start), 1e-3) * 1e-3
            nudged = _with(seek, path, start + nudge)
            effect = (seek_ms(nudged, everywhere, cylinders) - seek_ms(seek, everywhere, cylinders)) / nudge
            most = float(np.abs(effect).max())
            if most == 0:
                continue
            of_requests = seek_ms(nudged, distances, cylinders) - seek_ms(seek, distances, cylinders)
            numbers.append(SeekNumber(f"seek.{path}", 1 / most, of_requests / nudge / most, start))
        return SeekNumbers(tuple(numbers), np.zeros(0))

    def changes(self, description: Mapping[str, Any], corrections: Floats) -> dict[str, Any]:
        """The change of the description that corrects the numbers by so many of their units of 1 ms."""
        seek = description["seek"]
        if "table" in seek:
            points = np.asarray(seek["table"]["points_ms"], dtype=np.float64)
            distances = points[:, 0].astype(np.int64)
            added = hats(distances, self.knots) @ corrections if len(self.knots) else 0.0
            times = np.maximum(points[:, 1] + added, 0.0)
            table = [[int(d), round(float(t), 6)] for d, t in zip(distances, times, strict=True)]
            return {"seek": {"table": {"points_ms": table}}}
        for number, correction in zip(self.numbers, corrections, strict=True):
            path = number.name.removeprefix("seek.")
            seek = _with(seek, path, number.start + correction * number.per_ms)
        return {"seek": seek}


def _with(seek: Mapping[str, Any], path: str, value: float) -> dict[str, Any]:
    """A seek curve with another number."""
    changed: dict[str, Any] = copy.deepcopy(dict(seek))
    is_time = not isinstance(at(seek, path), (int, float))
    at_last: Any = changed
    *ways, last = re.findall(r"[a-z_]+|\d+", path)
    for step in ways:
        at_last = at_last[int(step) if step.isdecimal() else step]
    at_last[int(last) if last.isdecimal() else last] = f"{value:.6f} ms" if is_time else value
    return changed
