"""Sectors per track, skews and zones from the phases of requests, without a layout.

Two LBNs that are `x` blocks apart are `x / sectors` turns apart, and a track's skew more for every end of a
track between them. Where tracks end is not known, but `x` blocks have as many ends in them as whole tracks
fit, or one more, and how often which is known. So every pair has a likelihood by sectors and skew.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskwright.fitting._phase import Pairs

Floats = NDArray[np.float64]

# The spread of phases, in turns, and the share of pairs whose phase is known.
_SPREAD, _KNOWN = 0.02, 0.8
# Sectors per track that are tried, skews as shares of a turn, and windows of LBNs.
_LEAST_SECTORS, _MOST_SECTORS = 30, 2_000
_SKEWS = 50
_WINDOWS = 48
# Pairs of a window below which it tells nothing, and those of which there is enough.
_FEWEST, _MOST = 15, 400
# What another zone must gain, in units of log likelihood: three parameters more.
_PENALTY = 12.0
# How far apart requests are that tell of cylinders, in tracks, and the numbers of surfaces that are tried.
_TRACKS_APART, _MOST_SURFACES = 40, 24
# Twice the difference of log likelihoods that leaves 5 %.
_LEFT_5 = 3.841


@dataclass(frozen=True)
class Zone:
    """LBNs with the same sectors per track; skew: that of a track, in turns. Intervals are for 95 %."""

    first: int
    end: int
    sectors: int
    sectors_ci95: tuple[int, int]
    skew: float
    skew_half: float
    pairs: int

    @property
    def is_told(self) -> bool:
        """Whether its sectors are told to a tenth."""
        low, high = self.sectors_ci95
        return high - low <= 0.1 * self.sectors


def density(phase: Floats) -> Floats:
    """The likelihood of a phase that should be 0, in turns."""
    off = phase - np.round(phase)
    near = np.exp(-0.5 * (off / _SPREAD) ** 2) / (_SPREAD * np.sqrt(2 * np.pi))
    dense: Floats = _KNOWN * near + 1 - _KNOWN
    return dense


def likely(phase: Floats, lbn: Floats, sectors: float, skews: Floats) -> Floats:
    """The log likelihood of pairs, a row for each skew. phase: how far apart in turns, lbn: in blocks."""
    tracks = np.abs(lbn) / sectors
    whole = np.floor(tracks)
    sign = np.sign(lbn)
    left = (phase - lbn / sectors)[None, :]
    fewer = density(left - (sign * whole)[None, :] * skews[:, None])
    more = density(left - (sign * (whole + 1))[None, :] * skews[:, None])
    part = (tracks - whole)[None, :]
    found: Floats = np.log((1 - part) * fewer + part * more)
    return found


def zones(pairs: Pairs, turn: float, first: int, end: int, about: float) -> list[Zone]:
    """The zones, from outside to inside: sectors per track become no more.

    about: a share of a turn that a block takes somewhere on the drive.
    """
    phase = pairs.time / turn
    middle = 1.0 / about if about > 0 else 200.0
    least = int(max(_LEAST_SECTORS, 0.4 * middle))
    most = int(min(_MOST_SECTORS, 2.5 * middle))
    sectors = np.arange(least, most + 1)
    skews = np.arange(_SKEWS) / _SKEWS
    edges = np.linspace(first, end, _WINDOWS + 1)
    place = np.clip(np.searchsorted(edges, pairs.at, side="right") - 1, 0, _WINDOWS - 1)
    found = np.zeros((_WINDOWS, len(sectors), _SKEWS))
    counts = np.zeros(_WINDOWS, dtype=int)
    for window in range(_WINDOWS):
        rows = np.flatnonzero(place == window)
        counts[window] = len(rows)
        if len(rows) < _FEWEST:
            continue
        # More pairs than these tell no more than where they are.
        rows = rows[:: max(1, len(rows) // _MOST)]
        for index, one in enumerate(sectors):
            found[window, index] = likely(phase[rows], pairs.lbn[rows], float(one), skews).sum(axis=1)
    states = _path(found)
    return _merged(found, counts, states, edges, sectors)


def _path(found: Floats) -> list[tuple[int, int]]:
    """The likeliest sectors and skew of every window: sectors never grow, a change pays the penalty."""
    windows, count, skews = found.shape
    score = found[0].copy()
    came: list[NDArray[np.int64]] = []
    for window in range(1, windows):
        best_skew = score.argmax(axis=1)
        best = score[np.arange(count), best_skew]
        # Of all with as many sectors or more.
        above = np.zeros(count, dtype=np.int64)
        leader = count - 1
        for index in range(count - 1, -1, -1):
            if best[index] >= best[leader]:
                leader = index
            above[index] = leader
        change = best[above] - _PENALTY
        origin = np.tile(np.arange(count * skews).reshape(count, skews), 1)
        changed = change[:, None] > score
        origin = np.where(changed, (above * skews + best_skew[above])[:, None], origin)
        score = np.maximum(score, change[:, None]) + found[window]
        came.append(origin)
    path = [int(score.argmax())]
    for origin in reversed(came):
        path.append(int(origin.reshape(-1)[path[-1]]))
    return [divmod(one, skews) for one in reversed(path)]


def _merged(
    found: Floats,
    counts: NDArray[np.int64],
    states: list[tuple[int, int]],
    edges: Floats,
    sectors: NDArray[np.int64],
) -> list[Zone]:
    zones: list[Zone] = []
    begin = 0
    for window in range(1, len(states) + 1):
        if window < len(states) and states[window] == states[begin]:
            continue
        whole = found[begin:window].sum(axis=0)
        index, skew = states[begin]
        told = int(counts[begin:window].sum())
        top = whole.max()
        as_good = sectors[2 * (top - whole.max(axis=1)) < _LEFT_5]
        near = np.flatnonzero(2 * (top - whole[index]) < _LEFT_5)
        around = np.abs((near - skew + _SKEWS / 2) % _SKEWS - _SKEWS / 2).max() + 0.5
        zones.append(
            Zone(
                first=int(edges[begin]),
                end=int(edges[window]),
                sectors=int(sectors[index]),
                sectors_ci95=(int(as_good.min()), int(as_good.max())),
                skew=float(skew) / _SKEWS,
                skew_half=float(around) / _SKEWS,
                pairs=told,
            )
        )
        begin = window
    return zones


def cylinders(pairs: Pairs, turn: float, zones: list[Zone]) -> tuple[int, float, float] | None:
    """Surfaces, and by how much more than from track to track it is from cylinder to cylinder, in turns: with
    the gain in log likelihood over no cylinders at all. None where no number of surfaces stands out.
    """
    phase = pairs.time / turn
    more = np.arange(_SKEWS) / _SKEWS
    total = np.full((_MOST_SURFACES + 1, _SKEWS), -np.inf)
    total[1:] = 0.0
    for zone in zones:
        rows = (pairs.at >= zone.first) & (pairs.at < zone.end)
        rows &= np.abs(pairs.lbn) < _TRACKS_APART * zone.sectors
        chosen = np.flatnonzero(rows)[:2_000]
        if len(chosen) < _FEWEST:
            continue
        lbn, left = pairs.lbn[chosen], phase[chosen] - pairs.lbn[chosen] / zone.sectors
        sign, tracks = np.sign(lbn), np.abs(lbn) / zone.sectors
        whole = np.floor(tracks)
        for surfaces in range(1, _MOST_SURFACES + 1):
            dense = np.zeros((_SKEWS, len(chosen)))
            for ends, part in ((whole, 1 - (tracks - whole)), (whole + 1, tracks - whole)):
                of = ends / surfaces
                least = np.floor(of)
                for crossed, share in ((least, 1 - (of - least)), (least + 1, of - least)):
                    off = left - sign * ends * zone.skew
                    dense += part * share * density(off[None, :] - more[:, None] * (sign * crossed)[None, :])
            total[surfaces] += np.log(np.maximum(dense, 1e-12)).sum(axis=1)
    if not total[1:].any():
        return None
    surfaces, place = divmod(int(total.argmax()), _SKEWS)
    best = total[surfaces, place]
    # One surface without anything more from cylinder to cylinder is no surfaces at all.
    gain = float(best - total[1, 0])
    second = float(np.delete(total.max(axis=1), surfaces).max())
    if gain < _PENALTY or best - second < np.log(len(pairs)):
        return None
    return surfaces, float(more[place]), gain
