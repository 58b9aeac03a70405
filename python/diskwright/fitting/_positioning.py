"""Positioning times from caught and missed turns.

A random request ends when its sectors have passed, whenever the head came to the track before that: the
platter hides the time of the seek. What shows it is whether the sectors were caught in the turn in which the
model catches them. So each request that the medium served tells an interval, a turn wide, in which the head's
arrival lies, and the arrival is estimated from intervals (interval-censored regression): as the mean of its
posterior distribution, for the few requests next to the intervals' ends draw edges, and the curvature of the
likelihood at its maximum does not tell how wide it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.special import ndtr

from diskwright.fitting._model import Prediction, Recording
from diskwright.fitting._posterior import draws

Floats = NDArray[np.float64]

# The share of requests that miss a turn for reasons of their own, and how far off overheads and seeks are
# expected to be, ms.
_STRAY = 0.01
OVERHEAD_PRIOR_MS, SEEK_PRIOR_MS = 0.6, 0.4
# Seeks are expected to be off by a share that all of them have in common, too, as actuators of one design
# differ, and each by itself: a curve that was measured has its shape, but how much of a command's time it is
# and how much is overhead is told apart badly.
_SHARE, _ALONE_MS = 0.025, 0.05
# By how much a request takes longer than from the buffer that the medium served.
_LONGER_MS = 0.3
# The least spread of arrivals in a search: with less, the likelihood is a staircase that no derivative
# describes. Draws need no derivative: theirs is the least that times are recorded to.
_LEAST_SPREAD_MS, _LEAST_DRAWN_MS, _MOST_SPREAD_MS = 0.05, 0.02, 2.0
# Standard deviations beyond which no arrival is.
_FARTHEST = 7
_SEED = 1


@dataclass(frozen=True)
class Arrivals:
    """Requests whose heads arrived at most `latest` later than by the model, and less than a turn sooner
    than that.
    """

    rows: NDArray[np.int64]
    latest: Floats
    turn: float

    def chosen(self, chosen: NDArray[np.bool_]) -> "Arrivals":
        """Some of them."""
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


@dataclass(frozen=True)
class Corrections:
    """How much later heads arrive than predicted, as coefficients of columns, in ms.

    draws: from their posterior distribution, a row each, followed by those of what is uncertain, in its
        standard deviations. count: of the coefficients. spread: the standard deviation of single arrivals.
    """

    draws: Floats
    count: int
    spread: float

    @property
    def covariance(self) -> Floats:
        return np.atleast_2d(np.cov(self.draws[:, : self.count], rowvar=False))

    def given(self, fixed: NDArray[np.bool_], values: Floats) -> Floats:
        """The means where some coefficients have these values, and where what is uncertain is as it was
        estimated: as of a normal distribution.
        """
        means, covariance = self.draws.mean(axis=0), np.atleast_2d(np.cov(self.draws, rowvar=False))
        known = np.concatenate((fixed, np.ones(len(means) - self.count, dtype=bool)))
        at = np.concatenate((values, np.zeros(len(means) - self.count)))
        if known.any():
            slope = np.linalg.pinv(covariance[np.ix_(known, known)]) @ covariance[np.ix_(known, ~known)]
            means[~known] += (at - means[known]) @ slope
            means[known] = at
        found: Floats = means[: self.count]
        return found

    def interval(self) -> tuple[Floats, Floats]:
        """The lower and upper ends of 95 %, whatever is uncertain may be."""
        low, high = np.quantile(self.draws[:, : self.count], (0.025, 0.975), axis=0)
        return low, high


@dataclass(frozen=True)
class Problem:
    """What corrections are estimated from.

    design: how much later the heads of requests arrive for each of the coefficients, ms for one of 1 ms.
    moved: how far each was corrected before. least: the least that each may be.
    expected: the covariance of all corrections together, before anything is estimated, ms².
    uncertain: how much later heads arrive for each standard deviation of what was estimated before, as
        completions, and is not estimated with these.
    spread: of single arrivals, where the search begins, ms.
    """

    seen: Arrivals
    design: Floats
    moved: Floats
    least: Floats
    expected: Floats
    uncertain: Floats
    spread: float

    @cached_property
    def priors(self) -> Floats:
        """Rows that make residuals of spread 1, each independent, of corrections as they are expected."""
        matrix: Floats = np.linalg.cholesky(np.linalg.inv(self.expected)).T
        return matrix


def _log_likelihood(latest: Floats, turn: float, spread: Floats) -> Floats:
    """The logarithms of the probabilities that heads arrived in their intervals."""
    within = ndtr(latest / spread) - ndtr((latest - turn) / spread)
    found: Floats = np.log((1 - _STRAY) * within + _STRAY / 3)
    return found


def likeliest(problem: Problem) -> tuple[Floats, Floats]:
    """The likeliest coefficients, of what is uncertain and the logarithm of the spread too, and their
    covariance as far as the curvature of the likelihood tells it.
    """
    design = np.concatenate((problem.design, problem.uncertain), axis=1)
    count, known = problem.design.shape[1], problem.uncertain.shape[1]

    def residuals(values: Floats) -> Floats:
        *coefficients, log_spread = values
        latest = problem.seen.latest - design @ np.asarray(coefficients)
        likely = _log_likelihood(latest, problem.seen.turn, np.exp(log_spread))
        prior = problem.priors @ (np.asarray(coefficients[:count]) + problem.moved)
        before = log_spread - np.log(problem.spread)
        return np.concatenate((np.sqrt(np.maximum(-2 * likely, 0.0)), prior, coefficients[count:], [before]))

    start = np.concatenate((np.zeros(count + known), [np.log(max(problem.spread, 2 * _LEAST_SPREAD_MS))]))
    lowest = np.concatenate((np.maximum(problem.least, -3.0) - 1e-6, np.full(known, -5.0)))
    highest = np.concatenate((np.full(count, 3.0), np.full(known, 5.0)))
    bounds = (
        np.concatenate((lowest, [np.log(_LEAST_SPREAD_MS)])),
        np.concatenate((highest, [np.log(_MOST_SPREAD_MS)])),
    )
    found = least_squares(residuals, start, bounds=bounds, x_scale=0.1, max_nfev=30)
    return found.x, np.linalg.pinv(found.jac.T @ found.jac)


def corrections(problem: Problem) -> Corrections:
    """Draws from the posterior distribution of the coefficients.

    The likelihood of intervals has edges, which the requests next to them draw: its curvature at one place
    does not tell how wide it is.
    """
    mode, covariance = likeliest(problem)
    design = np.concatenate((problem.design, problem.uncertain), axis=1)
    count, turn = problem.design.shape[1], problem.seen.turn
    # Requests whose interval ends far from any probable arrival tell nothing.
    latest = problem.seen.latest - design @ mode[:-1]
    wide = np.sqrt(np.einsum("ij,jk,ik->i", design, covariance[:-1, :-1], design))
    farthest = _FARTHEST * (wide + float(np.exp(mode[-1])))
    tells = np.minimum(np.abs(latest), np.abs(latest - turn)) < farthest
    tells |= (latest < 0) | (latest > turn)
    design, latest = design[tells], problem.seen.latest[tells]

    def log_density(points: Floats) -> Floats:
        coefficients, log_spread = points[:, :-1], points[:, -1]
        moved = coefficients[:, :count] + problem.moved
        likely = _log_likelihood(latest - coefficients @ design.T, turn, np.exp(log_spread)[:, None])
        found: Floats = likely.sum(axis=1)
        found -= 0.5 * ((moved @ problem.priors.T) ** 2).sum(axis=1)
        found -= 0.5 * (coefficients[:, count:] ** 2).sum(axis=1)
        found -= 0.5 * (log_spread - np.log(problem.spread)) ** 2
        inside = (coefficients[:, :count] >= problem.least - 1e-6).all(axis=1)
        inside &= (log_spread >= np.log(_LEAST_DRAWN_MS)) & (log_spread <= np.log(_MOST_SPREAD_MS))
        return np.where(inside, found, -np.inf)

    drawn = draws(log_density, mode, covariance, _SEED)
    return Corrections(drawn[:, :-1], count, float(np.exp(drawn[:, -1].mean())))


def expected(overheads: int, seeks_ms: Floats) -> Floats:
    """The covariance of corrections before anything is estimated, ms²: of some overheads, then of the numbers
    of a seek curve, which have these values.
    """
    of_seeks = SEEK_PRIOR_MS**2 + _SHARE**2 * np.outer(seeks_ms, seeks_ms)
    covariance = np.diag([OVERHEAD_PRIOR_MS**2] * overheads + [_ALONE_MS**2] * len(seeks_ms))
    covariance[overheads:, overheads:] += of_seeks
    return covariance


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
