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
    evaluations: int = 12,
) -> Found:
    """The values that make residuals least, where those far above 1 hardly count: requests that were served
    otherwise than by the model.

    residuals: of values of the parameters, each in units of its scale; 0 of what is left out.

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
        columns = []
        for index in range(len(parameters)):
            ahead, behind = moved.copy(), moved.copy()
            # A derivative is taken away from a bound.
            ahead[index] = min(moved[index] + 1, bounds[1][index])
            behind[index] = max(moved[index] - 1, bounds[0][index])
            columns.append((of(ahead) - of(behind)) / (ahead[index] - behind[index]))
        return np.stack(columns, axis=1)

    found = least_squares(
        of,
        np.zeros(len(steps)),
        jac=jacobian,
        bounds=bounds,
        loss="cauchy",
        max_nfev=evaluations,
    )
    return Found(values_of(found.x), _covariance(of(found.x), jacobian(found.x), steps, spread))


def _covariance(residuals: Floats, jacobian: Floats, steps: Floats, spread: float) -> Floats:
    """The covariance of estimates by Cauchy's loss (an M estimator's): what errors pull by, against how much
    that changes with them.

    Errors of requests that follow each other go together, as the phase of one is carried on to the next: what
    they pull by is summed over neighbours (Newey and West, Econometrica 55, 1987). The last rows are the
    priors'.
    """
    heavy = 1 + residuals**2
    change = jacobian.T @ (jacobian * ((2 - heavy) / heavy**2)[:, None])
    of_priors = jacobian[-len(steps) :]
    pulls = (jacobian * (residuals / heavy)[:, None])[: -len(steps)]
    pull = pulls.T @ pulls + spread**2 * of_priors.T @ of_priors
    for apart in range(1, min(_NEIGHBOURS, len(pulls))):
        together = pulls[apart:].T @ pulls[:-apart]
        pull += (1 - apart / _NEIGHBOURS) * (together + together.T)
    inverse = np.linalg.pinv(change)
    return inverse @ pull @ inverse.T * np.outer(steps, steps)


# How many requests' errors go together.
_NEIGHBOURS = 12


def _median(values: Floats) -> float:
    return float(np.median(values)) if len(values) else 0.0
