"""The platter of a device whose times have noise: one of this machine, or one that is served.

What a host adds to a time is tens of microseconds, and now and then milliseconds. So no single answer counts:
an angle is the trimmed mean of several, and how far it may be off follows from the noise, which is measured
first. Sectors are not asked for again, since the drive's memory would serve them; others near by are, whose
angles differ by known numbers of sectors.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diskwright.extracting._platter import (
    _FASTEST_RPM,
    _MANY,
    _PAUSES_MS,
    _SIZES,
    _SLOWEST_RPM,
    NoRotationError,
    Platter,
    Read,
    _common_period,
    _hits,
    _why_not,
    off,
    off_all,
)
from diskwright.extracting._target import Target

Floats = NDArray[np.float64]

# How many standard deviations from the middle a value still counts.
_TRIM = 2.5
# Pauses in turns of the reads that tell the turn, at one place.
_LADDER = (0.0, 0.0, 3.0, 0.0, 9.0, 0.0, 30.0, 0.0, 90.0, 0.0, 0.0, 0.0)
# Reads of blocks one below the other that tell the size of a sector, at most, and the ratio of variances from
# which on they do.
_MOST_BLOCKS, _CLEAR = 1200, 12.0
# The part of a turn between two reads of a track that are both made in one turn.
_PART = 6
# Requests after which a memory of segments holds nothing of what was asked for.
_FORGOTTEN = 24
# Sectors of which is seen whether memory still holds them after many others.
_KEPT = 9
# The share of steps that have to be nearly multiples of a turn: one late answer spoils two.
_OF_STEPS = 0.6
# Places at which the turn is measured.
_SOLVED = 7
# Seconds between two looks at the first zone, at most; turns that its tracks are looked at.
_LOOKS_S = 12.0
_LOOKED = 8
# Looks for an angle that was lost, at most.
_AGAIN = 5


@dataclass(frozen=True)
class Angle:
    """An angle or a part of it in turns, with its standard error, and the share of readings that agree."""

    turns: float
    error: float
    agree: float


def middle(values: Floats, noise: float) -> tuple[float, float]:
    """The trimmed mean of values with outliers, and its standard error; `noise` is their least deviation."""
    centre = float(np.median(values))
    deviation = max(1.4826 * float(np.median(np.abs(values - centre))), noise)
    for _ in range(3):
        near = values[np.abs(values - centre) <= _TRIM * deviation]
        if not len(near):
            break
        centre = float(np.mean(near))
    return centre, deviation / math.sqrt(max(len(values), 1))


def middle_angle(angles: Floats, noise: float) -> Angle:
    """The same for angles, in turns."""
    ends = np.array([np.abs(off_all(angles - one, 1.0)).sum() for one in angles])
    start = float(angles[int(ends.argmin())])
    rest = off_all(angles - start, 1.0)
    centre, error = middle(rest, noise)
    agree = float(np.mean(np.abs(rest - centre) < 4 * noise))
    return Angle((start + centre) % 1.0, error, agree)


def line(columns: Floats, values: Floats, noise: float) -> tuple[Floats, float, NDArray[np.bool_]]:
    """Least squares without outliers: the factors, the deviation, and which values count.

    It begins with the absolute deviations (by reweighting), which outliers move little.
    """
    weights = np.ones(len(values))
    for _ in range(12):
        found, *_ = np.linalg.lstsq(columns * weights[:, None], values * weights, rcond=None)
        rest = np.abs(values - columns @ found)
        weights = 1 / np.sqrt(np.maximum(rest, max(float(np.median(rest)) / 2, noise / 4, 1e-12)))
    near: NDArray[np.bool_] = np.ones(len(values), dtype=bool)
    deviation = noise
    for _ in range(4):
        rest = values - columns @ found
        deviation = max(1.4826 * float(np.median(np.abs(rest))), noise)
        near = np.abs(rest) <= _TRIM * deviation
        if near.sum() <= columns.shape[1]:
            break
        found, *_ = np.linalg.lstsq(columns[near], values[near], rcond=None)
    return np.asarray(found, dtype=float), deviation, near


class NoisyPlatter(Platter):
    """A platter whose angles follow from several readings each.

    ascends: whether sectors of a track can be read in their order without being served by memory.
    """

    def __init__(self, target: Target, deadline_ns: int | None = None) -> None:
        super().__init__(target, deadline_ns)
        self.ascends = True
        self._first_half_width = 0.0
        # At which request each sector was asked for last.
        self._asked_at: dict[int, int] = {}
        # An instant and its angle.
        self._at, self._angle = 0.0, 0.0
        # Where the platter's angle is looked at again and again, and what was seen: turns, and instants.
        self._anchor: Callable[[int], Angle] | None = None
        self._seen: list[tuple[float, float]] = []
        self._next_look = 0.0
        self._is_looking = False

    def ask(self, sector: int, pause_ns: float = 0.0, write: bool = False, sectors: int = 1) -> Read:
        for one in range(sector, sector + sectors):
            self._asked_at[one] = self.reads
        return super().ask(sector, pause_ns, write, sectors)

    def is_fresh(self, sector: int) -> bool:
        if self.is_shared:
            return super().is_fresh(sector)
        # A memory of segments has forgotten what was asked for long ago.
        asked = (self._asked_at.get(sector), self._asked_at.get(sector - 1))
        return not self.hit or all(one is None or one + _FORGOTTEN < self.reads for one in asked)

    def phase(self, end: float) -> float:
        return (self._angle + (end - self._at) / self.turn) % 1.0

    def readings(self, sectors: Sequence[int]) -> tuple[NDArray[np.int64], Floats]:
        """Reads sectors in turn; gives those that came from the medium, and the angles of their ends."""
        self.look_again()
        known, ends = [], []
        for sector in sectors:
            read = self.ask(sector)
            if read.response > self.hit:
                known.append(sector)
                ends.append(self.phase(read.end))
        return np.array(known, dtype=np.int64), np.array(ends, dtype=float)

    def sample(self, first: int, sectors: int, count: int) -> tuple[NDArray[np.int64], Floats]:
        """The same for some sectors of a stretch of tracks, that the drive's memory has no reason to hold."""
        chosen = self._chosen(first, min(first + sectors, self.sectors), count)
        if len(chosen) < min(count, sectors // 3) and not self.is_shared:
            self.evict()
            self._asked_at.clear()
            chosen = self._chosen(first, min(first + sectors, self.sectors), count)
        if not self.ascends:
            return self.readings(sorted(chosen, reverse=True))
        return self.readings(self._in_order(chosen, sectors))

    def _chosen(self, first: int, last: int, count: int) -> list[int]:
        found: set[int] = set()
        if last <= first:
            return []
        for _ in range(4 * count):
            one = self.random.randrange(first, last)
            if self.is_fresh(one) and one - 1 not in found and one + 1 not in found and one not in found:
                found.add(one)
                if len(found) == count:
                    break
        return list(found)

    def _in_order(self, chosen: list[int], sectors: int) -> list[int]:
        """An order in which the head meets many of them in one turn.

        It begins anywhere: the first answer after a longer wait is later on a host that slept, and should not
        always be that of the same sectors.
        """
        per_turn = self.per_turn or sectors
        gap = max(per_turn // _PART, 1)
        left = sorted(chosen)
        start = self.random.randrange(max(len(left), 1))
        left = left[start:] + left[:start]
        ordered: list[int] = []
        while left:
            behind: int | None = None
            later = []
            for one in left:
                if behind is None or one >= behind + gap or one < behind:
                    ordered.append(one)
                    behind = one
                else:
                    later.append(one)
            left = later
        return ordered

    # Sectors of a track, about; 0 while nothing is known.
    per_turn = 0

    def anchor(self, look: Callable[[int], Angle]) -> None:
        """From now on the platter's angle is looked at now and then with a function that gives how much later
        than expected sectors come by, of so many readings.
        """
        self._anchor = look
        self._first_half_width = self.turn_half_width
        self._seen = []
        self._next_look = 0.0

    def look_again(self) -> None:
        """Looks at the first zone once more, where it is time to."""
        if self._is_looking:
            return
        if self.target.mark() and self._anchor is not None:
            self._find_again(self._anchor)
        now = self.target.now_ns
        if self._anchor is None or now < self._next_look:
            return
        self._is_looking = True
        try:
            found = self._anchor(_LOOKED)
        finally:
            self._is_looking = False
        first = self._seen[0][1] if self._seen else now
        self._next_look = now + min(max(now - first, 1e9), _LOOKS_S * 1e9)
        if found.agree < 0.6:
            return
        now = self.target.now_ns
        turns = self._angle + (now - self._at) / self.turn - off(found.turns)
        self._seen.append((turns, float(now)))
        self._steer()

    def _find_again(self, look: Callable[[int], Angle]) -> None:
        """The platter's angle after nothing was asked for a while; the turn is known."""
        self._is_looking = True
        try:
            for _ in range(_AGAIN):
                found = look(2 * _LOOKED)
                if found.agree >= 0.6:
                    self._angle -= off(found.turns)
                    break
        finally:
            self._is_looking = False
        self._seen = []
        self._next_look = 0.0

    def _steer(self) -> None:
        """The turn and the present angle from what was seen at the first zone."""
        if len(self._seen) < 3:
            return
        turns = np.array([one for one, _ in self._seen])
        times = np.array([time for _, time in self._seen])
        start, zero = times[0], turns[0]
        columns = np.column_stack([np.ones(len(turns)), turns - zero])
        noise = self.noise / math.sqrt(_LOOKED)
        found, deviation, near = line(columns, times - start - self.turn * (turns - zero), noise)
        spread = float(np.std(turns[near])) * math.sqrt(float(near.sum()))
        if abs(float(found[1])) > 3 * self._first_half_width + 3 * self.turn_half_width:
            # No turn changes so much: the zone is not as it was taken to be.
            self._seen = []
            return
        # Of few looks the deviation is not known well.
        self.turn_half_width = (3 + 8 / (len(turns) - 2)) * deviation / spread
        self.turn += float(found[1])
        self._at, self._angle = start + float(found[0]), zero

    def mean_angle(self, place: int, count: int, expected: Callable[[int], float]) -> Angle:
        """How much later than expected sectors near a place come by."""
        sectors, ends = self.sample(place, max(self.per_turn, 8), count)
        if not len(sectors):
            return Angle(0.0, 1.0, 0.0)
        rest = np.array([ends[index] - expected(int(one)) for index, one in enumerate(sectors)]) % 1.0
        return middle_angle(rest, self.noise / self.turn)


def open_noisy(target: Target, deadline_ns: int | None = None) -> NoisyPlatter:
    """Finds out how a target with noise turns.

    Raises:
        NoRotationError: It does not.
    """
    platter = NoisyPlatter(target, deadline_ns)
    _hits(platter)
    places = [platter.random.randrange(platter.sectors // 8, platter.sectors * 7 // 8) for _ in range(7)]
    turns: list[float] = []
    solved: list[tuple[float, float, float]] = []
    for place in places:
        ends = _walked(platter, place, [pause * 1e6 for pause in _PAUSES_MS * 4])
        turn = _common_period(np.diff([end for _, end in ends]), _OF_STEPS) if len(ends) > 16 else None
        if turn is None:
            continue
        turns.append(turn)
        if len(solved) < _SOLVED:
            ends += _walked(platter, place - len(_PAUSES_MS) * 4, [pause * turn for pause in _LADDER])
            found = _solved(ends, turn)
            solved += [found] if found is not None else []
    turn = float(np.median(turns)) if turns else 0.0
    if sum(abs(one - turn) < 0.02 * turn for one in turns) < 4:
        raise NoRotationError(_why_not(platter, places))
    if not 60e9 / _FASTEST_RPM < turn < 60e9 / _SLOWEST_RPM:
        raise NoRotationError(_why_not(platter, places))
    if len(solved) < 3:
        raise NoRotationError(f"answers {turn / 1e6:.3f} ms apart do not keep that time over longer pauses")
    platter.noise = float(np.median([one[2] for one in solved]))
    # Where a walk goes over the end of a track, its turn is wrong: those count that agree best.
    found_turns = np.array([one[0] for one in solved])
    tolerance = 6 * platter.noise / sum(_LADDER)
    groups = [np.abs(found_turns - one) < tolerance for one in found_turns]
    agreed = max(groups, key=lambda group: int(group.sum()))
    platter.turn = float(np.mean(found_turns[agreed]))
    platter.turn_half_width = tolerance if agreed.sum() > 1 else 2 * float(np.std(found_turns))
    solved = [one for one, is_agreed in zip(solved, agreed, strict=True) if is_agreed]
    block = float(np.median([one[1] for one in solved]))
    platter.per_sector = _sector_size(platter, block)
    if platter.hit:
        _hits_of_sectors(platter)
        # A memory of segments reads ahead: later sectors of a track come from it, or while they are read.
        platter.ascends = platter.is_shared
    return platter


def _hits_of_sectors(platter: NoisyPlatter) -> None:
    """How long hits of a whole sector take, and whether more places are kept than segments would keep."""
    platter._asked = {block // platter.per_sector for block in platter._asked}
    platter._asked_at.clear()
    responses = []
    for _ in range(24):
        sector = platter.random.randrange(platter.sectors)
        platter.ask(sector)
        responses.append(platter.ask(sector, 0.3e6).response)
    usual = float(np.median(responses))
    deviation = 1.4826 * float(np.median(np.abs(np.array(responses) - usual)))
    platter.hit = round(usual + 8 * max(deviation, platter.noise))
    first = [platter.random.randrange(platter.sectors) for _ in range(_KEPT)]
    for sector in [*first, *(platter.random.randrange(platter.sectors) for _ in range(_MANY))]:
        platter.ask(sector)
    platter.is_shared = 2 * sum(platter.ask(sector).response <= platter.hit for sector in first) > _KEPT


def _walked(platter: Platter, place: int, pauses_ns: Sequence[float]) -> list[tuple[int, int]]:
    """Reads blocks one below the other after pauses: those from the medium, with their completions, ns."""
    ends = []
    for index, pause in enumerate(pauses_ns):
        read = platter.ask(place - index, pause)
        if read.response > platter.hit:
            ends.append((place - index, read.end))
    return ends


def _solved(ends: Sequence[tuple[int, int]], turn: float) -> tuple[float, float, float] | None:
    """The turn, a block's time and the noise from completions that are whole turns apart, less the blocks
    between; with ever longer pauses, so that turns are never counted wrongly.
    """
    first, start = ends[0]
    down = np.array([first - block for block, _ in ends], dtype=float)
    passed = np.array([end - start for _, end in ends], dtype=float)
    behind = np.arange(len(ends)) >= _crossing(passed, turn)
    block, origin, skew, deviation = 0.0, 0.0, 0.0, 0.0
    for count in (*range(12, len(ends), 4), *range(len(ends) - 11, len(ends) + 1)):
        crossed = behind[:count].astype(float)
        counts = np.round((passed[:count] - origin - skew * crossed + down[:count] * block) / turn)
        columns = [np.ones(count), counts, -down[:count]]
        if 1 < crossed.sum() < count:
            columns.append(crossed)
        solved, deviation, near = line(np.column_stack(columns), passed[:count], 0.0)
        if near.sum() < 0.6 * count:
            return None
        origin, turn, block = (float(one) for one in solved[:3])
        skew = float(solved[3]) if len(solved) > 3 else 0.0
    if not 0 < deviation < 0.05 * turn:
        return None
    return turn, block, deviation


def _crossing(passed: Floats, turn: float) -> int:
    """The first of some completions, one below the other, that may be on another track: behind the step that
    differs most from the others; behind all where none does.
    """
    steps = off_all(np.diff(passed), turn)
    near = np.diff(passed) < 1.5 * turn
    usual = float(np.median(steps[near])) if near.any() else 0.0
    rest = np.where(near, np.abs(steps - usual), 0.0)
    # A late answer makes two such steps, the other way round.
    both = np.abs(steps[1:] + steps[:-1] - 2 * usual)
    rest[:-1] = np.minimum(rest[:-1], np.where(near[1:], both, rest[:-1]))
    rest[1:] = np.minimum(rest[1:], np.where(near[:-1], both, rest[1:]))
    deviation = 1.4826 * float(np.median(np.abs(steps[near] - usual))) if near.any() else 0.0
    at = int(rest.argmax())
    return at + 1 if rest[at] > 6 * deviation else len(passed)


def _sector_size(platter: NoisyPlatter, block: float) -> int:
    """Blocks of a physical sector: all blocks of a sector are complete when the sector's end has passed."""
    turn = platter.turn
    blocks: list[int] = []
    ends: list[int] = []
    while len(blocks) < _MOST_BLOCKS:
        place = platter.random.randrange(platter.sectors // 8, platter.sectors * 7 // 8)
        walked = _walked(platter, place, [0.0] * 60)
        if len(walked) < 30:
            continue
        # Each walk has an angle of its own; they are put together by the middle of their angles.
        angles = np.array([(end / turn) % 1.0 for _, end in walked])
        numbers = np.array([one for one, _ in walked])
        straight = angles - (numbers - numbers[0]) * block / turn
        centre = middle_angle(straight % 1.0, platter.noise / turn).turns
        rest = off_all(straight - centre, 1.0) * turn
        keep = np.abs(rest) < 5 * platter.noise + 32 * block
        blocks += [int(one) for one in numbers[keep]]
        ends += list(rest[keep])
        if len(blocks) >= 240:
            size, is_clear = _best_size(np.array(blocks), np.array(ends), block)
            if is_clear:
                return size
    return size


def _best_size(blocks: NDArray[np.int64], rest: Floats, block: float) -> tuple[int, bool]:
    """The size whose steps explain best how far blocks are from an even spacing, and whether it is clear."""
    errors = []
    for size in _SIZES:
        step = ((size - 1) / 2 - blocks % size) * block
        near = rest - step
        centre, _ = middle(near, 0.0)
        deviation = max(1.4826 * float(np.median(np.abs(near - centre))), 1.0)
        cut = np.minimum(np.abs(near - centre), 3 * deviation)
        errors.append(len(rest) / 2 * math.log(float(np.mean(cut**2))))
    best = int(np.argmin(errors))
    others = [error for index, error in enumerate(errors) if index != best]
    return _SIZES[best], min(others) - errors[best] > _CLEAR


__all__ = ["Angle", "NoisyPlatter", "line", "middle", "middle_angle", "off", "open_noisy"]
