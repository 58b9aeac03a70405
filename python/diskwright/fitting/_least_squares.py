"""Parameters that move predicted times smoothly, by robust least squares."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from diskwright.fitting._parameters import Parameter

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """Values of parameters, and their covariance."""

    values: Floats
    covariance: Floats


def minimise(
    parameters: Sequence[Parameter],
    start: Floats,
    residuals: Callable[[Floats], Floats],
    evaluations: int = 30,
    uncertain: Callable[[Floats], Floats] | None = None,
) -> Found:
    """The values that make residuals least, where those far above 1 hardly count: requests that were served
    otherwise than by the model.

    residuals: of values of the parameters, each in units of its scale; 0 of what is left out.
    uncertain: of values of the parameters, how residuals change for a standard deviation of each thing that
        is known from elsewhere, and no better.

    What the residuals do not tell is held near the start by the parameters' priors, and so are their
    intervals.
    """
    steps = np.array([parameter.step for parameter in parameters])
    priors = np.array([parameter.prior for parameter in parameters])
    least = np.array([parameter.least for parameter in parameters])
    most = np.array([parameter.most for parameter in parameters])
    begin = np.clip(start, least, most)
    first = residuals(begin)
    # The spread of single residuals, in which the priors' residuals are counted.
    spread = float(np.clip(1.4826 * _median(np.abs(first[first != 0.0])), 0.05, 1.0))
    bounds = ((least - begin) / steps - 1e-9, (most - begin) / steps + 1e-9)

    def values_of(moved: Floats) -> Floats:
        values: Floats = np.clip(begin + moved * steps, least, most)
        return values

    def of(moved: Floats) -> Floats:
        values = values_of(moved)
        return np.concatenate((residuals(values), spread * (values - start) / priors))

    def jacobian(moved: Floats) -> Floats:
        columns, here = [], of(moved)
        for index in range(len(parameters)):
            # Two steps side by side, away from a bound.
            begins = -1 if moved[index] - 1 >= bounds[0][index] else 0
            begins = begins if moved[index] + begins + 2 <= bounds[1][index] else -2
            unit = np.eye(len(moved))[index]
            errors = [of(moved + step * unit) if step else here for step in range(begins, begins + 3)]
            one, other = errors[1] - errors[0], errors[2] - errors[1]
            # Where a turn is missed on the way, that jump tells nothing of how errors change.
            jumps = np.abs(other - one) > _JUMP
            smaller = np.where(np.abs(one) < np.abs(other), one, other)
            columns.append(np.where(jumps, smaller, (one + other) / 2))
        return np.stack(columns, axis=1)

    found = least_squares(
        of,
        np.zeros(len(steps)),
        jac=jacobian,
        bounds=bounds,
        loss="cauchy",
        ftol=_CONVERGED,
        max_nfev=evaluations,
    )
    values = values_of(found.x)
    elsewhere = np.zeros((len(first), 0)) if uncertain is None else uncertain(values)
    return Found(values, _covariance(of(found.x), jacobian(found.x), steps, spread, elsewhere))


def _covariance(
    residuals: Floats, jacobian: Floats, steps: Floats, spread: float, elsewhere: Floats
) -> Floats:
    """The covariance of estimates by Cauchy's loss (an M estimator's): what errors pull by, against how much
    that changes with them.

    Errors of requests that follow each other go together, as the phase of one is carried on to the next: what
    they pull by is summed over neighbours (Newey and West, Econometrica 55, 1987). What was estimated
    elsewhere pulls by all that it may be (Murphy and Topel, Journal of Business & Economic Statistics 3,
    1985). The last rows are the priors'.
    """
    heavy, count = 1 + residuals**2, len(residuals) - len(steps)
    weights = (2 - heavy) / heavy**2
    inverse = np.linalg.pinv(jacobian.T @ (jacobian * weights[:, None]))
    of_priors = jacobian[count:]
    # A fit takes a part of each error upon itself, a large one where few requests tell a parameter: what is
    # left of the error is too small by it (MacKinnon and White, Journal of Econometrics 29, 1985).
    taken = weights * np.einsum("ij,jk,ik->i", jacobian, inverse, jacobian)
    whole = residuals / heavy / (1 - np.clip(taken, 0.0, _MOST_TAKEN))
    pulls = (jacobian * whole[:, None])[:count]
    pull = pulls.T @ pulls + spread**2 * of_priors.T @ of_priors
    for apart in range(1, min(_NEIGHBOURS, len(pulls))):
        together = pulls[apart:].T @ pulls[:-apart]
        pull += (1 - apart / _NEIGHBOURS) * (together + together.T)
    of_elsewhere = jacobian[:count].T @ (elsewhere * weights[:count, None])
    pull += of_elsewhere @ of_elsewhere.T
    found: Floats = inverse @ pull @ inverse.T * np.outer(steps, steps)
    return found


# What changes of a residual over two steps of one size differ by only where the drive then does something
# else.
_JUMP = 0.05
# The relative change of the sum of losses that ends a search.
_CONVERGED = 1e-6
# The largest part of its error that a request's own pull may take.
_MOST_TAKEN = 0.8
# How many requests' errors go together.
_NEIGHBOURS = 12


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else 0.0
