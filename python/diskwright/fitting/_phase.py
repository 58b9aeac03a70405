"""The time of a turn from the platter's phase, without anything known of the drive.

A request that the medium serves ends when its last sector has passed. Two of them with nearly the same LBN
end a whole number of turns apart, but for the few sectors between them. So the sum of
exp(2 pi i (t / turn - f x)) over pairs of requests, t and x apart in time and LBN, is great for the right
turn, and f is the share of a turn that a block takes. All turns are tried at once by a Fourier transform.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Turns that are looked for, ms: 2500 to 20 000 a minute.
_SHORTEST_MS, _LONGEST_MS = 3.0, 24.0
# How near two LBNs must be, the first that gives enough pairs, and how long after one another the two
# requests may be at first, ms.
_NEAR, _ENOUGH = (16, 32, 64, 128, 256, 512), 200
_SPANS_MS = (400.0, 6_000.0, 60_000.0)
# Shares of a turn that a block may take.
_MOST_PER_BLOCK = 1 / 30
_BIN_MS = 0.5
_MOST_PAIRS = 6_000
# A coherence by chance is that of Rayleigh's distribution; the excess of its exponent over the number of
# trials that counts as found, and the least that counts as a phase at all.
_EXCESS, _LEAST = 12.0, 0.3
# What share of the greatest coherence is as good.
_AS_STRONG = 0.9
# Pairs that are enough to tell the turn; spreads of phases that are tried, in turns, and the share of pairs
# whose phase is known.
_FEWEST_CLOSE, _SPREADS, _KNOWN = 60, (0.005, 0.015, 0.04, 0.08), 0.7
# What share of what a pair tells it must tell over a longer span, for the span to be kept, how many such
# pairs there must be, and by how much a span is shortened until it is so.
_KEPT, _FEWEST_LATE, _SHORTER = 0.4, 12, 2.0
# In how many pairs a request is, on average; twice the difference of log likelihoods that leaves 5 %.
_SHARED, _LEFT_5 = 2.0, 3.841


@dataclass(frozen=True)
class Ends:
    """When requests ended that the medium served, ms, at what LBN, and whether they were writes.

    With `from_start` the LBN is the first one: the interface is slower than the medium, and a request ends
    some time after its first sector.
    """

    rows: Indices
    time: Floats
    lbn: Floats
    write: NDArray[np.bool_]
    from_start: bool

    def of(self, write: bool) -> "Ends":
        """Reads or writes alone."""
        chosen = self.write == write
        at = self.rows[chosen], self.time[chosen], self.lbn[chosen], self.write[chosen]
        return Ends(*at, self.from_start)


@dataclass(frozen=True)
class Pairs:
    """Requests two by two: how far apart they are in time, ms, and LBN, and where the first one is."""

    time: Floats
    lbn: Floats
    at: Floats

    def __len__(self) -> int:
        return len(self.time)

    def chosen(self, which: NDArray[np.bool_] | Indices) -> "Pairs":
        return Pairs(self.time[which], self.lbn[which], self.at[which])


def near_pairs(ends: Ends, farthest: float, span: float = np.inf, *, with_following: bool = False) -> Pairs:
    """Pairs at most so many blocks and so long apart.

    with_following: also those of which one goes on where the other one ended. What is between them in time is
        their size as well, so that they do not tell the turn and the sectors apart.
    """
    order = np.argsort(ends.lbn, kind="stable")
    times, lbns, rows = ends.time[order], ends.lbn[order], ends.rows[order]
    found: list[Floats] = []
    held = 0
    for step in range(1, len(order)):
        apart = lbns[step:] - lbns[:-step]
        chosen = apart <= farthest
        if not chosen.any():
            break
        time = times[step:] - times[:-step]
        chosen &= np.abs(time) <= span
        if not with_following:
            chosen &= ~((np.abs(rows[step:] - rows[:-step]) == 1) & (apart * time > 0))
        sign = np.sign(time[chosen])
        found.append(np.stack([np.abs(time[chosen]), sign * apart[chosen], lbns[:-step][chosen]]))
        held += int(chosen.sum())
        if held > 4 * _MOST_PAIRS:
            break
    if not found:
        return Pairs(np.zeros(0), np.zeros(0), np.zeros(0))
    time, lbn, at = np.concatenate(found, axis=1)
    if len(time) > _MOST_PAIRS:
        # Those that are nearest in time lose the phase least.
        first = np.argsort(time, kind="stable")[:_MOST_PAIRS]
        time, lbn, at = time[first], lbn[first], at[first]
    return Pairs(time, lbn, at)


@dataclass(frozen=True)
class Turn:
    """The time of a turn, ms, with the half of its interval for 95 %.

    coherence: the mean of the phases' differences as points of the unit circle.
    span: how long apart requests may be for the phase to be told, ms.
    spread: of single differences, in turns. per_block: the share of a turn that a block takes.
    """

    ms: float
    half: float
    coherence: float
    span: float
    pairs: int
    spread: float
    per_block: float


def turn(ends: Ends) -> Turn | None:
    """The time of a turn; none where the recording has lost the phase."""
    for span in (*_SPANS_MS, np.inf):
        found = _blind(_enough(ends, span))
        if found is not None:
            return _refined(ends, found, span)
    return None


def _enough(ends: Ends, span: float) -> Pairs:
    """The nearest pairs of which there are enough."""
    for farthest in _NEAR:
        pairs = near_pairs(ends, farthest, span)
        if len(pairs) >= _ENOUGH:
            return pairs
    return pairs


def _frequencies(farthest: float) -> Floats:
    """Shares of a turn that a block takes, near enough to each other for pairs so far apart."""
    return np.arange(0.0, _MOST_PER_BLOCK, 0.25 / max(farthest, 1.0))


def _blind(pairs: Pairs) -> float | None:
    """The turn; none where no turn stands out."""
    if len(pairs) < 30:
        return None
    span = float(pairs.time.max())
    size = int(2 ** np.ceil(np.log2(max(4 * span / _BIN_MS, 256))))
    places = np.round(pairs.time / _BIN_MS).astype(np.int64)
    turns_per_ms = np.arange(size) / (size * _BIN_MS)
    inside = (turns_per_ms > 1 / _LONGEST_MS) & (turns_per_ms < 1 / _SHORTEST_MS)
    tried = _frequencies(float(np.abs(pairs.lbn).max()))
    strongest = np.zeros(int(inside.sum()))
    for one in tried:
        phases = np.exp(-2j * np.pi * one * pairs.lbn)
        binned = np.bincount(places, phases.real, size) + 1j * np.bincount(places, phases.imag, size)
        strength = np.abs(np.fft.ifft(binned))[inside] * size / len(pairs)
        strongest = np.maximum(strongest, strength)
    best = float(strongest.max())
    trials = np.log(len(tried) * max(span / _SHORTEST_MS, 2.0))
    if best < max(_LEAST, np.sqrt((trials + _EXCESS) / len(pairs))):
        return None
    # Half a turn and a third explain exact times as well as a turn: the longest is it.
    place = int(np.flatnonzero(strongest >= _AS_STRONG * best)[0])
    while place + 1 < len(strongest) and strongest[place + 1] > strongest[place]:
        place += 1
    return 1 / float(turns_per_ms[inside][place])


def _refined(ends: Ends, turn: float, span: float) -> Turn:
    """The turn, from pairs as far apart in time as the phase is kept.

    Over a longer span it is told better, but many turns explain a long span alone: all of those that the
    short one leaves are tried.
    """
    short = _enough(ends, span)
    width = 0.5 * turn**2 / float(np.sqrt(np.mean(short.time**2)))
    every = _close(ends)
    longest, least = float(every.time.max()), min(float(short.time.max()), float(every.time.max()))
    near = every.chosen(every.time <= 2 * least)
    shares = np.arange(0.0, _MOST_PER_BLOCK, 0.02 / max(float(np.abs(every.lbn).max()), 1.0))
    # The spread of phases and the share that a block takes, where many turns are no further apart than these.
    trials = np.arange(turn - width, turn + width, 0.05 * turn**2 / least)
    ways = [(spread, share) for spread in _SPREADS for share in shares]
    spread, share = max(ways, key=lambda way: float(_log_likely(near, trials, way[1], way[0]).max()))
    each = float(_log_likely(near, trials, share, spread).max()) / len(near)
    while True:
        inside = every.chosen(every.time <= longest)
        tried = np.arange(turn - width, turn + width, spread * turn**2 / longest)
        found = _log_likely(inside, tried, share, spread)
        best = float(tried[int(found.argmax())])
        late = inside.chosen(inside.time > longest / 4)
        told = float(_log_likely(late, np.array([best]), share, spread)[0]) if len(late) else 0.0
        if longest <= least or (told >= _KEPT * each * len(late) and len(late) >= _FEWEST_LATE):
            break
        longest = max(longest / _SHORTER, least)
    step = turn**2 / longest * spread
    fine = best + step * np.arange(-4, 4.001, 0.02)
    found = _log_likely(inside, fine, share, spread)
    # Every request is in several pairs, whose errors are not independent.
    found *= min(1.0, len(ends.rows) / len(inside)) / _SHARED
    best = float(fine[int(found.argmax())])
    as_good = fine[2 * (found.max() - found) < _LEFT_5]
    coherence = float(np.abs(np.mean(np.exp(2j * np.pi * (inside.time / best - share * inside.lbn)))))
    half = max(float(as_good.max()) - best, best - float(as_good.min()))
    return Turn(best, half, coherence, longest, len(inside), spread, share)


def _close(ends: Ends) -> Pairs:
    """Pairs so near that they are on one track, nearly all."""
    for farthest in _NEAR:
        pairs = near_pairs(ends, farthest)
        if len(pairs) >= _FEWEST_CLOSE:
            return pairs
    return pairs


def log_density(phase: Floats, spread: float) -> Floats:
    """The log likelihood of phases that should be 0, in turns, above that of any phase."""
    off = phase - np.round(phase)
    near = np.exp(-0.5 * (off / spread) ** 2) / (spread * np.sqrt(2 * np.pi))
    found: Floats = np.log(_KNOWN * near + 1 - _KNOWN)
    return found


def _log_likely(pairs: Pairs, turns: Floats, per_block: float, spread: float) -> Floats:
    """The log likelihood of pairs for each of some turns."""
    parts = np.array_split(turns, max(1, len(turns) * max(len(pairs), 1) // 2_000_000))
    of = [
        log_density(pairs.time / part[:, None] - per_block * pairs.lbn, spread).sum(axis=1) for part in parts
    ]
    return np.concatenate(of)
