"""Draws from a posterior distribution, by Metropolis' algorithm in many chains at once.

Positions of the head that requests only bound have a likelihood with edges: few requests lie near one, and a
curvature at its greatest value tells little of how wide it is. Draws need no curvature.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Chains, their steps before draws count, how often the steps' covariance is estimated anew in these, and the
# steps that count.
_CHAINS, _BEFORE, _ADAPTED, _COUNTED = 48, 500, 5, 700
# The best size of a step, in standard deviations, times the root of the number of dimensions (Roberts, Gelman
# and Gilks, Annals of Applied Probability 7, 1997).
_STEP = 2.38
# Of every so many steps one is kept: neighbours are nearly the same.
_THINNED = 5


def draws(log_density: Callable[[Floats], Floats], start: Floats, covariance: Floats, seed: int) -> Floats:
    """Draws, a row each, from a density that is known to a factor.

    log_density: of many points, a row each; -inf where none may be.
    start, covariance: a point of some density, and a first guess of the distribution's covariance.
    """
    random = np.random.default_rng(seed)
    size = len(start)
    step_root = root(covariance)
    at = start + 0.5 * random.standard_normal((_CHAINS, size)) @ step_root.T
    density = log_density(at)
    lost = ~np.isfinite(density)
    at[lost] = start
    density[lost] = log_density(at[lost])
    every, seen = _BEFORE // _ADAPTED, []
    kept = []
    for step in range(_BEFORE + _COUNTED):
        tried = at + _STEP / np.sqrt(size) * random.standard_normal((_CHAINS, size)) @ step_root.T
        of_tried = log_density(tried)
        moved = np.log(random.random(_CHAINS)) < of_tried - density
        at = np.where(moved[:, None], tried, at)
        density = np.where(moved, of_tried, density)
        if step < _BEFORE:
            seen.append(at)
            if (step + 1) % every == 0:
                step_root = root(np.cov(np.concatenate(seen[every // 2 :]), rowvar=False))
                seen = []
        elif step % _THINNED == 0:
            kept.append(at)
    return np.concatenate(kept)


def root(covariance: Floats) -> Floats:
    """A matrix whose product with its transpose is the covariance."""
    values, vectors = np.linalg.eigh(np.atleast_2d(covariance))
    found: Floats = vectors * np.sqrt(np.maximum(values, 1e-12))
    return found
