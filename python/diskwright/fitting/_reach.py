"""When heads arrive, from times alone: without a layout, and where the platter's phase is lost as well.

A request of the medium takes the time in which the head comes to its track, and any part of a turn until its
first sector comes by. So the times of requests over one distance are spread evenly over a turn, from the
arrival on: the lower edge tells the arrival, the width the turn. Distances are shares of the drive's radii;
the arrival is piecewise linear in their roots, and everything is estimated at once by maximum likelihood.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr

Floats = NDArray[np.float64]

# The share of requests that take any other time, and the span of times over which these are spread, ms.
_STRAY, _STRAY_SPAN_MS = 0.03, 25.0
# Bounds of the spread of arrivals, ms.
_LEAST_SPREAD_MS, _MOST_SPREAD_MS = 0.04, 1.0
# Turns from which a search begins, ms, and by how much it may take one.
_STARTS_MS = (60 / 3.6, 60 / 4.5, 60 / 5.4, 60 / 6.3, 60 / 7.2, 6.0, 5.0, 4.0)
_WITHIN = 0.15
_MOST_KNOTS, _FEWEST_BETWEEN = 10, 60
_Z95 = 1.959964


@dataclass(frozen=True)
class Seen:
    """Requests that the medium served.

    service: their times, ms. distance: how far the arm moved, as a share of all LBNs or radii.
    near: whether it stayed within a cylinder. columns: what else makes them longer, one column each.
    """

    service: Floats
    distance: Floats
    near: NDArray[np.bool_]
    columns: Floats


@dataclass(frozen=True)
class Reach:
    """Arrivals: that of near requests, and those at the knots, with the halves of their intervals for 95 %.

    near, at_knots: in ms; extra: coefficients of the columns.
    cost: the negative log likelihood.
    """

    turn: float
    turn_half: float
    knots: Floats
    at_knots: Floats
    at_knots_half: Floats
    near: float | None
    near_half: float | None
    extra: Floats
    extra_half: Floats
    spread: float
    cost: float


def knots_of(distance: Floats) -> Floats:
    """Knots in the root of the distance, with requests enough between them."""
    roots = np.sqrt(distance)
    count = int(np.clip(len(roots) // _FEWEST_BETWEEN, 2, _MOST_KNOTS))
    knots = np.unique(np.quantile(roots, np.linspace(0, 1, count)))
    if len(knots) < 2:
        knots = np.array([0.0, max(float(roots.max(initial=1.0)), 1e-6)])
    return knots


def reach(seen: Seen, turn: float | None) -> Reach:
    """Arrivals, and the turn where it is not known."""
    far = ~seen.near
    knots = knots_of(seen.distance[far])
    roots = np.sqrt(seen.distance)
    hats = np.stack([np.interp(roots, knots, one) for one in np.eye(len(knots))], axis=1) * far[:, None]
    has_near = bool(seen.near.sum() >= 30)
    keep = np.ones(len(far), dtype=bool) if has_near else far
    design = np.concatenate([hats, *([seen.near[:, None]] if has_near else []), seen.columns], axis=1)[keep]
    service = seen.service[keep]

    fits = [
        _likeliest(service, design, len(knots), has_near, one, turn is None)
        for one in ([turn] if turn is not None else _STARTS_MS)
    ]
    values, cost, covariance = min(fits, key=lambda fit: fit[1])
    half = _Z95 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    count = len(knots)
    of_extra = slice(count + has_near, design.shape[1])
    return Reach(
        turn=float(values[-2]),
        turn_half=float(half[-2]) if turn is None else 0.0,
        knots=knots**2,
        at_knots=values[:count],
        at_knots_half=half[:count],
        near=float(values[count]) if has_near else None,
        near_half=float(half[count]) if has_near else None,
        extra=values[of_extra],
        extra_half=half[of_extra],
        spread=float(np.exp(values[-1])),
        cost=cost,
    )


def _likeliest(
    service: Floats, design: Floats, knots: int, has_near: bool, turn: float, is_free: bool
) -> tuple[Floats, float, Floats]:
    """Coefficients, turn and logarithm of the spread that make the times likeliest; cost; covariance."""
    width = design.shape[1]
    low, high = np.quantile(service, (0.03, 0.97))
    rise = max(float(high - low) - turn, 0.0)
    start = np.concatenate(
        (
            low + rise * np.linspace(0, 1, knots),
            [low] * has_near,
            np.zeros(width - knots - has_near),
            [turn, np.log(0.4)],
        )
    )
    lowest, highest = _LEAST_SPREAD_MS, _MOST_SPREAD_MS
    bounds = [(0.0, 60.0)] * (knots + has_near) + [(-5.0, 5.0)] * (width - knots - has_near)
    bounds += [((1 - _WITHIN) * turn, (1 + _WITHIN) * turn) if is_free else (turn, turn)]
    bounds += [(np.log(lowest), np.log(highest))]

    def each(values: Floats) -> tuple[Floats, Floats]:
        """Of every request its probability density, and the derivatives by arrival, turn and spread."""
        arrival, turn, spread = design @ values[:width], values[-2], np.exp(values[-1])
        early = (service - arrival) / spread
        late = (service - arrival - turn) / spread
        at_early, at_late = _density(early), _density(late)
        even = (ndtr(early) - ndtr(late)) / turn
        dense = (1 - _STRAY) * even + _STRAY / _STRAY_SPAN_MS
        by = np.stack(
            (
                (at_late - at_early) / (spread * turn),
                at_late / (spread * turn) - even / turn,
                (late * at_late - early * at_early) / turn,
            )
        )
        return dense, (1 - _STRAY) * by / dense

    def cost(values: Floats) -> tuple[float, Floats]:
        dense, by = each(values)
        slope = np.concatenate((design.T @ by[0], [by[1].sum(), by[2].sum()]))
        return -float(np.log(dense).sum()), -slope

    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300})
    _, by = each(found.x)
    slopes = np.concatenate((design * by[0][:, None], by[1][:, None], by[2][:, None]), axis=1)
    free = np.ones(width + 2, dtype=bool)
    free[-2] = is_free
    covariance = np.zeros((width + 2, width + 2))
    covariance[np.ix_(free, free)] = np.linalg.pinv(slopes[:, free].T @ slopes[:, free])
    return found.x, float(found.fun), covariance


def _density(values: Floats) -> Floats:
    dense: Floats = np.exp(-0.5 * values**2) / np.sqrt(2 * np.pi)
    return dense
