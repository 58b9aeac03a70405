"""Skews of zones, where the recording follows the platter."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskwright.fitting._model import Model

Floats = NDArray[np.float64]
Changes = Mapping[str, Any]

# Requests in a zone after one in the same zone below which its skews stay as they are.
_FEWEST = 60
# Distances over which the first guess of a skew is made, cylinders.
_NEAR = 100
# How far the skew of a track may be off, in sectors, and how far a pair of skews from the first guess.
_MOST_TRACK, _FROM_GUESS = 4, 1.6
# How far skews are expected to be off (standard deviations), sectors.
_EXPECTED_TRACK, _EXPECTED_CYLINDER = 1.5, 3.0
# The spread of phases, in turns, and the share of requests whose phase is known.
_SPREAD, _KNOWN = 0.02, 0.8
# Twice the difference of log likelihoods that leaves 5 % (chi squared of one degree).
_LEFT_5 = 3.841


class Pairs:
    """Requests that follow another one on the medium, with the errors of their phases in turns."""

    def __init__(self, model: Model, changes: Changes, turn: float, end: int) -> None:
        recording = model.recording
        prediction = model.predict(changes, gain=1.0, gate=1.0)
        errors = (recording.service - prediction.service) / turn
        fresh = prediction.on_medium & ~prediction.buffered
        rows = np.flatnonzero(fresh[1:end] & fresh[: end - 1]) + 1
        self.errors = errors[rows]
        self.zone, self.zone_before = prediction.zone[rows], prediction.zone[rows - 1]
        self.moved = (
            np.sign(recording.lbn[rows] - recording.lbn[rows - 1]) * prediction.distance[rows]
        ).astype(np.int64)

    def within(self, zone: int) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = (self.zone == zone) & (self.zone_before == zone)
        return inside


def likelihood(errors: Floats) -> float:
    """The log likelihood of phases that should be 0, in turns."""
    off = errors - np.round(errors)
    near = np.exp(-0.5 * (off / _SPREAD) ** 2) / (_SPREAD * np.sqrt(2 * np.pi))
    return float(np.sum(np.log(_KNOWN * near + 1 - _KNOWN)))


def unlikely(moved: tuple[int, int]) -> float:
    """What is held against a change of two skews: it tells pairs with the same sum for a cylinder apart."""
    return 0.5 * ((moved[0] / _EXPECTED_TRACK) ** 2 + (moved[1] / _EXPECTED_CYLINDER) ** 2)


def slope(errors: Floats, moved: NDArray[np.int64]) -> float:
    """By how many turns the phase is off for each cylinder of a motion, to a hundredth of a turn."""
    slopes = np.arange(-0.5, 0.5, 0.0005)
    phases = np.exp(2j * np.pi * errors)
    strengths = [abs(np.sum(phases * np.exp(-2j * np.pi * one * moved))) for one in slopes]
    return float(slopes[int(np.argmax(strengths))])


def candidates(layout: Mapping[str, Any], zone: int, off: float) -> Iterator[tuple[int, int]]:
    """Changes of a zone's skews of tracks and cylinders that make up for a slope of turns a cylinder."""
    described = layout["zone"][zone]
    sectors, surfaces = int(described["sectors_per_track"]), int(layout["surfaces"])
    for track in range(-_MOST_TRACK, _MOST_TRACK + 1):
        wanted = off * sectors - (surfaces - 1) * track
        for cylinder in range(int(np.ceil(wanted - _FROM_GUESS)), int(np.floor(wanted + _FROM_GUESS)) + 1):
            if abs(cylinder) <= 2 * _MOST_TRACK + surfaces and (
                described["track_skew"] + track >= 0 and described["cylinder_skew"] + cylinder >= 0
            ):
                yield track, cylinder


def skews(model: Model, changes: Changes, turn: float, end: int) -> dict[str, tuple[int, tuple[int, int]]]:
    """Skews that explain the phases of requests better than those of the drive, with their intervals.

    All zones are tried at once, as each has requests of its own.
    """
    layout = model.changed(changes)["layout"]
    pairs = Pairs(model, changes, turn, end)
    tried: dict[int, list[tuple[int, int]]] = {}
    for zone in range(len(layout["zone"])):
        rows = pairs.within(zone)
        if rows.sum() < _FEWEST:
            continue
        near = rows & (abs(pairs.moved) < _NEAR)
        off = slope(pairs.errors[near], pairs.moved[near])
        tried[zone] = [(0, 0), *(one for one in candidates(layout, zone, off) if one != (0, 0))]
    scores: dict[int, list[float]] = {zone: [] for zone in tried}
    for place in range(max(map(len, tried.values()), default=0)):
        moved = dict(changes)
        for zone, ones in tried.items():
            if place < len(ones):
                moved.update(_paths(layout, zone, ones[place]))
        found = Pairs(model, moved, turn, end)
        for zone, ones in tried.items():
            if place < len(ones):
                scores[zone].append(likelihood(found.errors[found.within(zone)]) - unlikely(ones[place]))
    better: dict[str, tuple[int, tuple[int, int]]] = {}
    for zone, ones in tried.items():
        best = int(np.argmax(scores[zone]))
        # Two more parameters must pay their penalty (BIC).
        if scores[zone][best] - scores[zone][0] < np.log(pairs.within(zone).sum()):
            continue
        as_good = [
            one
            for one, score in zip(ones, scores[zone], strict=True)
            if 2 * (scores[zone][best] - score) < _LEFT_5
        ]
        for index, path in enumerate(_paths(layout, zone, (0, 0))):
            start = layout["zone"][zone][path.rpartition(".")[2]]
            values = [start + one[index] for one in as_good]
            better[path] = (start + ones[best][index], (min(values), max(values)))
    return better


def _paths(layout: Mapping[str, Any], zone: int, moved: tuple[int, int]) -> dict[str, int]:
    described = layout["zone"][zone]
    return {
        f"layout.zone[{zone}].track_skew": described["track_skew"] + moved[0],
        f"layout.zone[{zone}].cylinder_skew": described["cylinder_skew"] + moved[1],
    }
