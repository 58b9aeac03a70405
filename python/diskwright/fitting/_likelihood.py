"""How probable a recording is by a drive's model, request by request: what models are compared by.

A request that the buffer serves takes its predicted time, with Cauchy tails. One that the medium serves
ends where the model has it or a turn off, as far as the platter's phase is known; otherwise its first
sector comes by at any angle, and only the turn is known in which it does. How often the phase is known is
estimated for each range of distances, so that no threshold decides it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from diskwright.fitting._model import Prediction, Recording

Floats = NDArray[np.float64]

# Scales of errors, ms: of requests from the buffer, of those whose phase is known, of the arrivals of heads.
_BUFFER_MS, _KNOWN_MS, _ARRIVAL_MS = 0.1, 0.15, 0.2
# Of requests that the medium serves, the share that takes any other time.
_STRAY = 0.03
# The chances that a request catches its turn, or the one before or after it.
_CAUGHT = {-1: 0.08, 0: 0.82, 1: 0.1}
# Lower ends of the ranges of distances, in cylinders.
_RANGES = np.array([0, 1, 5, 100])


def log_likelihood(recording: Recording, prediction: Prediction, turn: float) -> Floats:
    """The logarithm of the density of each recorded time, 1/ms."""
    errors = recording.service - prediction.service
    found = np.log(_cauchy(errors, _BUFFER_MS))
    fresh = prediction.on_medium & np.isfinite(prediction.first_wait)
    if not fresh.any():
        return found
    at = errors[fresh]
    latest = at + prediction.first_wait[fresh]
    anywhere = (ndtr(latest / _ARRIVAL_MS) - ndtr((latest - turn) / _ARRIVAL_MS)) / turn
    known = np.zeros(len(at))
    for turns, chance in _CAUGHT.items():
        known += chance * _cauchy(at - turns * turn, _KNOWN_MS)
    stray = _cauchy(at, turn)
    ranges = np.digitize(prediction.distance[fresh], _RANGES)
    for one in np.unique(ranges):
        rows = ranges == one
        share = _share(known[rows], anywhere[rows])
        anywhere[rows] = share * known[rows] + (1 - share) * anywhere[rows]
    found[fresh] = np.log((1 - _STRAY) * anywhere + _STRAY * stray)
    return found


def _cauchy(errors: Floats, scale: float) -> Floats:
    density: Floats = scale / np.pi / (errors**2 + scale**2)
    return density


def _share(known: Floats, anywhere: Floats) -> float:
    """The share of the first of two densities, by expectation and maximisation."""
    share = 0.5
    for _ in range(20):
        mixed = share * known + (1 - share) * anywhere
        share = float(np.mean(share * known / np.maximum(mixed, 1e-300)))
    return float(np.clip(share, 0.001, 0.999))
