"""Sectors per track, skews and zones from the phases of requests, without a layout.

Two LBNs that are `x` blocks apart are `x / sectors` turns apart, and a track's skew more for every end of a
track between them. Where tracks end is not known, but `x` blocks have as many ends in them as whole tracks
fit, or one more, and how often which is known. So every pair has a likelihood by sectors and skew.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskwright.fitting._phase import Pairs, Turn

Floats = NDArray[np.float64]

# The least spread of phases, in turns, as sectors and skews are tried in steps, and the share of pairs whose
# phase is known.
_LEAST_SPREAD, _KNOWN = 0.01, 0.8
# Sectors per track that are tried, skews as shares of a turn, and windows of LBNs.
_LEAST_SECTORS, _MOST_SECTORS = 30, 2_000
_SKEWS = 100
_WINDOWS = 48
# Pairs of a window below which it tells nothing, and those of which there is enough.
_FEWEST, _MOST = 15, 200
# What another zone must gain, in units of log likelihood: two parameters more, and windows chosen among many.
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


def density(phase: Floats, spread: float) -> Floats:
    """The likelihood of a phase that should be 0, in turns."""
    off = phase - np.round(phase)
    near = np.exp(-0.5 * (off / spread) ** 2) / (spread * np.sqrt(2 * np.pi))
    dense: Floats = _KNOWN * near + 1 - _KNOWN
    return dense


def likely(phase: Floats, lbn: Floats, sectors: float, skews: Floats, spread: float) -> Floats:
    """The log likelihood of pairs, a row for each skew. phase: how far apart in turns, lbn: in blocks."""
    tracks = np.abs(lbn) / sectors
    whole = np.floor(tracks)
    sign = np.sign(lbn)
    left = (phase - lbn / sectors)[None, :]
    fewer = density(left - (sign * whole)[None, :] * skews[:, None], spread)
    more = density(left - (sign * (whole + 1))[None, :] * skews[:, None], spread)
    part = (tracks - whole)[None, :]
    found: Floats = np.log((1 - part) * fewer + part * more)
    return found


def zones(pairs: Pairs, turn: Turn, first: int, end: int) -> list[Zone]:
    """The zones, from outside to inside: sectors per track become no more.

    pairs: about a track apart, so that hardly any are in several cylinders.
    """
    phase, about = pairs.time / turn.ms, turn.per_block
    spread = max(turn.spread, _LEAST_SPREAD)
    middle = 1.0 / about if about > 0 else 200.0
    least = int(max(_LEAST_SECTORS, 0.5 * middle))
    most = int(min(_MOST_SECTORS, 2.0 * middle))
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
            of = likely(phase[rows], pairs.lbn[rows], float(one), skews, spread)
            found[window, index] = of.sum(axis=1)
    states = _path(found.max(axis=2))
    return _merged(found, counts, states, edges, sectors)


def _path(found: Floats) -> list[int]:
    """The likeliest sectors of every window: sectors never grow, a change pays the penalty."""
    score = found[0].copy()
    came: list[NDArray[np.int64]] = []
    for window in range(1, len(found)):
        # The best of all with as many sectors or more.
        backwards = score[::-1]
        leaders = np.maximum.accumulate(backwards)
        new = np.concatenate(([True], backwards[1:] > leaders[:-1]))
        places = np.maximum.accumulate(np.where(new, np.arange(len(score)), 0))
        above = len(score) - 1 - places[::-1]
        changes = score[above] - _PENALTY > score
        came.append(np.where(changes, above, np.arange(len(score))))
        score = np.where(changes, score[above] - _PENALTY, score) + found[window]
    path = [int(score.argmax())]
    for origin in reversed(came):
        path.append(int(origin[path[-1]]))
    return path[::-1]


def _merged(
    found: Floats, counts: NDArray[np.int64], states: list[int], edges: Floats, sectors: NDArray[np.int64]
) -> list[Zone]:
    zones: list[Zone] = []
    begin = 0
    for window in range(1, len(states) + 1):
        if window < len(states) and states[window] == states[begin]:
            continue
        index = states[begin]
        # The skew at the end of a track is another one at the end of a cylinder: windows may have either.
        by_sectors = found[begin:window].max(axis=2).sum(axis=0)
        as_good = sectors[2 * (by_sectors[index] - by_sectors) < _LEFT_5]
        by_skew = found[begin:window, index].sum(axis=0)
        skew = int(by_skew.argmax())
        near = np.flatnonzero(2 * (by_skew[skew] - by_skew) < _LEFT_5)
        around = np.abs((near - skew + _SKEWS / 2) % _SKEWS - _SKEWS / 2).max() + 0.5
        zones.append(
            Zone(
                first=int(edges[begin]),
                end=int(edges[window]),
                sectors=int(sectors[index]),
                sectors_ci95=(int(as_good.min()), int(as_good.max())),
                skew=skew / _SKEWS,
                skew_half=float(around) / _SKEWS,
                pairs=int(counts[begin:window].sum()),
            )
        )
        begin = window
    return zones


def cylinders(pairs: Pairs, turn: Turn, zones: list[Zone]) -> tuple[int, float, float] | None:
    """Surfaces, and by how much more than from track to track it is from cylinder to cylinder, in turns: with
    the gain in log likelihood over no cylinders at all. None where no number of surfaces stands out.
    """
    phase, spread = pairs.time / turn.ms, max(turn.spread, 2 * _LEAST_SPREAD)
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
                    turned = off[None, :] - more[:, None] * (sign * crossed)[None, :]
                    dense += part * share * density(turned, spread)
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
