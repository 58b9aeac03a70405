"""Positioning times from caught and missed turns.

A random request ends when its sectors have passed, whenever the head came to the track before that: the
platter hides the
time of the seek. What shows it is whether the sectors were caught in the turn in which the model catches
them. So each
request that the medium served tells an interval, a turn wide, in which the head's arrival lies, and the
arrival is
estimated by maximum likelihood from intervals (interval-censored regression).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.special import ndtr

from diskwright.fitting._model import Prediction, Recording

Floats = NDArray[np.float64]

# The share of requests that miss a turn for reasons of their own, and how far off overheads and seeks are
# expected to be, ms.
_STRAY = 0.01
OVERHEAD_PRIOR_MS, SEEK_PRIOR_MS = 0.6, 0.4
# How far the points of a seek curve are expected to be off each by itself, beside what all have in common: a
# curve that was measured has its shape, but how much of a command's time it is and how much is overhead is
# told apart badly.
_ALONE_MS = 0.1
# By how much a request takes longer than from the buffer that the medium served.
_LONGER_MS = 0.3
# The least spread of arrivals: with less, the likelihood is a staircase that no derivative describes.
_LEAST_SPREAD_MS = 0.05


@dataclass(frozen=True)
class Arrivals:
    """Requests whose heads arrived at most `latest` later than by the model, and less than a turn sooner
    than that.
    """

    rows: NDArray[np.int64]
    latest: Floats
    turn: float

    def among(self, wanted: NDArray[np.bool_]) -> "Arrivals":
        """Those of them that are among some requests."""
        chosen = wanted[self.rows]
        return Arrivals(self.rows[chosen], self.latest[chosen], self.turn)


def arrivals(
    recording: Recording, prediction: Prediction, turn: float, from_buffer: Floats, end: int
) -> Arrivals:
    """The requests among the first `end` that tell of positioning.

    Where the platter is followed, a request ends a whole number of turns from its prediction, and the
    interval says whether it caught
    the turn. Where it is not, as after pauses that were not recorded exactly, the same interval holds,
    for the sectors came by when
    they did.

    from_buffer: how long a request takes that the buffer serves; what took no longer was not served by
        the medium.
    """
    latest = prediction.first_wait + recording.service - prediction.service
    tells = prediction.on_medium & ~prediction.buffered & np.isfinite(prediction.first_wait)
    # Where a second track was waited for, too, the end does not tell when the first one was.
    tells &= prediction.tracks == 1
    tells &= prediction.first_wait <= turn
    # More than a turn of a wait, or a request that was served otherwise, tells nothing.
    tells &= (latest > -turn) & (latest < 2 * turn)
    tells &= recording.service > from_buffer + _LONGER_MS
    tells[end:] = False
    rows = np.flatnonzero(tells)
    return Arrivals(rows, latest[rows], turn)


def corrections(
    seen: Arrivals, design: Floats, spread: float, moved: Floats, priors: Floats
) -> tuple[Floats, Floats, float]:
    """How much later heads arrive than predicted, as coefficients of the columns of `design`, in ms.

    moved: how far each was corrected before; priors: how far all its corrections are expected to take it, as
        rows of residuals.

    Returns the coefficients, their covariance, and the spread (standard deviation) of single arrivals.
    """

    def likelihood(mean: Floats, spread: float) -> Floats:
        latest = seen.latest - mean
        within = ndtr(latest / spread) - ndtr((latest - seen.turn) / spread)
        probable: Floats = (1 - _STRAY) * within + _STRAY / 3
        return probable

    def residuals(values: Floats) -> Floats:
        *coefficients, log_spread = values
        probable = likelihood(design @ np.asarray(coefficients), float(np.exp(log_spread)))
        prior = priors @ (np.asarray(coefficients) + moved)
        return np.concatenate((np.sqrt(-2 * np.log(probable)), prior, [(log_spread - np.log(spread)) / 1.0]))

    start = np.concatenate((np.zeros(design.shape[1]), [np.log(max(spread, 2 * _LEAST_SPREAD_MS))]))
    bounds = np.full(design.shape[1], 3.0)
    lowest = np.concatenate((-bounds, [np.log(_LEAST_SPREAD_MS)]))
    highest = np.concatenate((bounds, [np.log(2.0)]))
    found = least_squares(residuals, start, bounds=(lowest, highest), x_scale=0.1, max_nfev=30)
    covariance = np.linalg.pinv(found.jac.T @ found.jac)
    return found.x[:-1], covariance[:-1, :-1], float(np.exp(found.x[-1]))


def priors(overheads: int, seeks: int) -> Floats:
    """What corrections are expected to be: a matrix that makes independent residuals of spread 1 of them."""
    covariance = np.zeros((overheads + seeks, overheads + seeks))
    covariance[overheads:, overheads:] = SEEK_PRIOR_MS**2
    spreads = np.array([OVERHEAD_PRIOR_MS] * overheads + [_ALONE_MS] * seeks)
    covariance += np.diag(spreads**2)
    matrix: Floats = np.linalg.cholesky(np.linalg.inv(covariance)).T
    return matrix


def hats(distances: NDArray[np.int64], knots: Floats) -> Floats:
    """Piecewise linear functions of the root of a distance, each 1 at one knot; nothing at no distance."""
    roots = np.sqrt(distances.astype(np.float64))
    columns = [np.interp(roots, knots, np.eye(len(knots))[index]) for index in range(len(knots))]
    return np.stack(columns, axis=1) * (distances > 0)[:, None]


def knots_for(distances: NDArray[np.int64], most: int, fewest_between: int) -> Floats:
    """Knots in the root of the distance with at least so many requests between two of them."""
    moved = np.sqrt(distances[distances > 0].astype(np.float64))
    count = int(min(most, len(moved) // fewest_between))
    if count < 2:
        return np.array([0.0, max(float(moved.max(initial=1.0)), 1.0)])[: max(count, 0)]
    quantiles = np.quantile(moved, np.linspace(0, 1, count))
    return np.unique(quantiles)


def seek_ms(seek: Mapping[str, Any], distances: NDArray[np.int64], cylinders: int) -> Floats:
    """A seek curve of a description at distances, in ms."""
    from diskwright.fitting._parameters import ms

    d = distances.astype(np.float64)
    if "table" in seek:
        points = np.asarray(seek["table"]["points_ms"], dtype=np.float64)
        x, y = points[:, 0], points[:, 1]
        if x[0] > 0:
            x, y = np.concatenate(([0.0], x)), np.concatenate(([0.0], y))
        found = np.interp(d, x, y)
        beyond = d > x[-1]
        if len(x) > 1:
            found[beyond] = y[-1] + (d[beyond] - x[-1]) * (y[-1] - y[-2]) / (x[-1] - x[-2])
    elif "linear" in seek:
        line = seek["linear"]
        single = ms(line["single"])
        if line.get("slope_ns") is not None:
            slope = line["slope_ns"] / 1e6
        else:
            slope = (ms(line["full"]) - single) / max(cylinders - 2, 1)
        found = single + slope * (d - 1)
    elif "hp" in seek:
        hp = seek["hp"]
        (a, b), (c, e) = hp["short_ms"], hp["long_ms"]
        found = np.where(d < hp["boundary"], a + b * np.sqrt(d), c + e * d)
        first = np.asarray(hp.get("first_ms") or [0.0])
        listed = (d >= 1) & (d <= len(hp.get("first_ms") or []))
        found[listed] = first[np.clip(distances[listed] - 1, 0, len(first) - 1)]
    elif "lee" in seek:
        lee = seek["lee"]
        least, mean, full = ms(lee["single"]), ms(lee["average"]), ms(lee["full"])
        root = (-10 * least + 15 * mean - 5 * full) / (3 * np.sqrt(cylinders))
        slope = (7 * least - 15 * mean + 8 * full) / (3 * cylinders)
        found = root * np.sqrt(np.maximum(d - 1, 0)) + slope * (d - 1) + least
    else:
        found = np.full(len(d), ms(seek["constant"]))
    return np.where(d > 0, found, 0.0)


def form_parameters(seek: Mapping[str, Any]) -> list[str]:
    """The paths of the numbers of a seek curve's form, below `seek`; none of a table."""
    if "linear" in seek:
        second = "full" if seek["linear"].get("slope_ns") is None else "slope_ns"
        return ["linear.single", f"linear.{second}"]
    if "hp" in seek:
        listed = len(seek["hp"].get("first_ms") or [])
        ends = ["hp.short_ms[0]", "hp.short_ms[1]", "hp.long_ms[0]", "hp.long_ms[1]"]
        return [*ends, *(f"hp.first_ms[{index}]" for index in range(listed))]
    if "lee" in seek:
        return ["lee.single", "lee.average", "lee.full"]
    return ["constant"] if "constant" in seek else []
