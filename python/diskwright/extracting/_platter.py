"""The platter of a drive as its answers show it: sector size, rotation, and the angle of every sector.

A read of one sector from the medium is complete a constant time after the sector's end has passed under the
head, whatever the arm did before. So the instant of completion, counted in turns, is the sector's angle.
"""

import math
import random
from dataclasses import dataclass

import numpy as np

from diskwright.extracting._target import Target

# Pauses between reads that the first look at the rotation makes, ms: turns of all drives fit differently.
_PAUSES_MS = (0.0, 1.3, 2.9, 4.1, 0.0, 7.7, 11.3, 5.2)
# Turns a minute that a disk may have.
_SLOWEST_RPM, _FASTEST_RPM = 2000, 20_000
# How far from where the turn so far predicts them completions may be, as a share of a turn.
_FOLLOWS = 0.08
# Sizes of physical sectors in blocks that are tried.
_SIZES = (1, 2, 4, 8, 16, 32)
# Places that no memory of segments keeps.
_MANY = 72
# Times that a sector is asked for until it comes from the medium.
_ATTEMPTS = 4


class NoRotationError(Exception):
    """The answers do not follow a turning platter; the text says how that was seen."""


class ExhaustedError(Exception):
    """The budget is used up."""


@dataclass(frozen=True)
class Read:
    """A read: its issue and its completion, ns."""

    issue: int
    end: int

    @property
    def response(self) -> int:
        return self.end - self.issue


class Platter:
    """A target that is read sector by sector.

    per_sector: blocks of a physical sector. sectors: those of the device. turn: ns.
    hit: the longest response of a read that the drive's memory serves, ns; 0 while none is known.
    noise: the standard deviation of a completion, ns.
    """

    def __init__(self, target: Target, deadline_ns: int | None = None) -> None:
        self.target = target
        self.random = random.Random(1)
        self.deadline = deadline_ns
        self.per_sector = 1
        self.turn = 0.0
        self.turn_half_width = 0.0
        self.hit = 0
        self.noise = 0.0
        self.reads = 0
        self._ends: dict[int, float] = {}
        self._asked: set[int] = set()
        # Reads elsewhere after which small memories have forgotten.
        self.evicts = 0
        # Whether the drive's memory keeps more places than memories of segments do.
        self.is_shared = False
        self._nexts: set[int] = set()

    @property
    def sectors(self) -> int:
        return self.target.blocks // self.per_sector

    def ask(self, sector: int, pause_ns: float = 0.0, write: bool = False, sectors: int = 1) -> Read:
        """Asks for sectors, whoever serves them."""
        if self.deadline is not None and self.target.now_ns + pause_ns > self.deadline:
            raise ExhaustedError
        self.reads += 1
        self._asked.update(range(sector, sector + sectors))
        if self.is_shared and not write:
            # A read that goes on where another one ended would be taken for a stream, and be followed by
            # read-ahead: it begins sooner, with sectors that are known already.
            behind = sector + sectors
            while sector in self._nexts and sector > 0:
                sector -= 1
            sectors = behind - sector
            self._nexts.add(behind)
        issue, end = self.target.ask(
            max(round(pause_ns), 0), sector * self.per_sector, sectors * self.per_sector, write
        )
        return Read(issue, end)

    def is_fresh(self, sector: int) -> bool:
        """Whether neither the sector nor the one before it was asked for: the drive's memory has no reason to
        hold it.
        """
        return not self.hit or (sector not in self._asked and sector - 1 not in self._asked)

    def evict(self) -> None:
        """Reads at other places, so that small memories forget what they hold."""
        for _ in range(self.evicts):
            self.ask(self.random.randrange(self.sectors))

    def phase(self, end: float) -> float:
        """An instant as an angle, in turns."""
        return (end / self.turn) % 1.0

    def end_of(self, sector: int) -> float:
        """The angle at which a sector's read is complete, in turns; known sectors are not asked for again."""
        known = self._ends.get(sector)
        if known is not None:
            return known
        read = self.ask(sector)
        for _ in range(_ATTEMPTS):
            if read.response > self.hit:
                break
            self.evict()
            read = self.ask(sector)
        else:
            raise MissingError(sector)
        found = self._ends[sector] = self.phase(read.end)
        return found

    def note(self, sector: int, end: float) -> None:
        """A read of a sector is known to have come from the medium."""
        self._ends[sector] = self.phase(end)


class MissingError(Exception):
    """A sector that the drive's memory serves whatever is read meanwhile."""


def off(value: float, whole: float = 1.0) -> float:
    """A difference of angles, from -whole/2 up to whole/2."""
    return (value + whole / 2) % whole - whole / 2


def open_platter(target: Target, deadline_ns: int | None = None) -> Platter:
    """Finds out how a target turns.

    Raises:
        NoRotationError: It does not.
    """
    platter = Platter(target, deadline_ns)
    _hits(platter)
    places = [platter.random.randrange(platter.sectors // 8, platter.sectors * 7 // 8) for _ in range(8)]
    looks = [_look(platter, place) for place in places]
    turns = [turn for turn, _ in looks if turn]
    if not turns:
        raise NoRotationError(_why_not(platter, places))
    turn = float(np.median(turns))
    agree = [(one, size) for one, size in looks if one and abs(one - turn) < 0.02 * turn]
    if len(agree) < 5 or not 60e9 / _FASTEST_RPM < turn < 60e9 / _SLOWEST_RPM:
        raise NoRotationError(_why_not(platter, places))
    sizes = sorted(size for _, size in agree if size)
    platter.per_sector = sizes[len(sizes) // 2] if sizes else 1
    platter.turn = turn
    if platter.hit:
        _hits_of_sectors(platter)
    _refine(platter)
    # Angles that were noted before the turn was known mean nothing.
    platter._ends.clear()
    return platter


def _hits(platter: Platter) -> None:
    """How long reads take that the drive's memory serves, where it does: of blocks asked for once more."""
    responses = []
    for _ in range(24):
        block = platter.random.randrange(platter.sectors - 1)
        platter.ask(block)
        first = platter.ask(block, 3e6)
        second = platter.ask(block, 1.7e6)
        third = platter.ask(block, 0.9e6)
        responses.append([first.response, second.response, third.response])
    times = np.array(responses, dtype=float)
    # Hits take a time that does not depend on the platter's angle; misses follow it.
    middle = float(np.median(times))
    if float(np.mean(np.abs(times - middle) < 0.35 * middle + 20_000)) > 0.8 and middle < 3e6:
        close = times[np.abs(times - middle) < 0.5 * middle + 20_000]
        platter.hit = int(close.max() * 1.02) + 1000
        platter.evicts = 12


def _hits_of_sectors(platter: Platter) -> None:
    """How long hits of a whole sector take, and whether more places are kept than segments would keep."""
    # What was asked for so far were blocks.
    platter._asked = {block // platter.per_sector for block in platter._asked}
    responses = []
    for _ in range(16):
        sector = platter.random.randrange(platter.sectors)
        platter.ask(sector)
        responses.append(platter.ask(sector, 0.3e6).response)
    # Some controllers need a moment longer now and then; it is always the same one.
    usual = float(np.median(responses))
    again = [
        time
        for time in responses
        if time < 3 * usual + 0.3e6 and sum(abs(time - other) < 2000 + 0.01 * time for other in responses) > 2
    ]
    platter.hit = int(max(again, default=usual) * 1.02) + 1000
    first = [platter.random.randrange(platter.sectors) for _ in range(3)]
    for sector in [*first, *(platter.random.randrange(platter.sectors) for _ in range(_MANY))]:
        platter.ask(sector)
    platter.is_shared = sum(platter.ask(sector).response <= platter.hit for sector in first) >= 2


def _look(platter: Platter, place: int) -> tuple[float | None, int | None]:
    """The turn and the sector size near a place, from reads of blocks one below the other.

    Each is complete a whole number of turns later, less the blocks between: none where it is in the same
    sector.
    """
    ends = []
    for index in range(36):
        read = platter.ask(place - index, _PAUSES_MS[index % len(_PAUSES_MS)] * 1e6)
        if read.response > platter.hit:
            ends.append((place - index, read.end))
    if len(ends) < 20:
        return None, None
    turn = _common_period(np.diff([end for _, end in ends]).astype(float))
    if turn is None:
        return None, None
    fits = []
    for size in _SIZES:
        found = _solved([(block // size, end) for block, end in ends], turn)
        if found is not None:
            fits.append((found[2], found[0], size))
    if not fits:
        return None, None
    _, turn, size = min(fits)
    return turn, size


def _solved(ends: list[tuple[int, int]], turn: float) -> tuple[float, float, float] | None:
    """The turn, a sector's time and the spread of completions of sectors: whole turns apart, less the sectors
    between.
    """
    (first, start), sector = ends[0], 0.0
    rows: list[tuple[float, float, float]] = []
    for number, end in ends[1:]:
        passed, down = float(end - start), float(first - number)
        count = round((passed + down * sector) / turn)
        if abs(passed + down * sector - count * turn) > _FOLLOWS * turn:
            return None
        rows.append((float(count), -down, passed))
        matrix = np.array([row[:2] for row in rows])
        times = np.array([row[2] for row in rows])
        if len(rows) >= 3 and np.linalg.matrix_rank(matrix) == 2:
            solved, *_ = np.linalg.lstsq(matrix, times, rcond=None)
            turn, sector = float(solved[0]), float(solved[1])
        elif len(rows) < 3 and down == 0 and count:
            turn = passed / count
    if len(rows) < 8:
        return None
    errors = times - matrix @ np.array([turn, sector])
    return turn, sector, float(np.std(errors))


def _common_period(steps: np.ndarray, share: float = 0.85) -> float | None:
    """The longest time of which nearly all steps are nearly multiples, where there is one.

    share: of the steps that have to be so.
    The steps are multiples of a turn, less a sector's time each at most.
    """
    least, most = 60e9 / _FASTEST_RPM, 60e9 / _SLOWEST_RPM
    best: tuple[float, float] | None = None
    for first in np.unique(np.round(steps, -3)):
        for count in range(1, 9):
            turn = first / count
            if not least * 0.97 < turn < most * 1.03:
                continue
            rest = np.abs(off_all(steps, turn)) / turn
            score = float(np.mean(rest < 0.03))
            if score > share and (best is None or turn > best[0] * 1.2):
                best = turn, score
    if best is None:
        return None
    turn = best[0]
    for _ in range(3):
        counts = np.maximum(np.round(steps / turn), 1)
        near = np.abs(steps - counts * turn) < 0.03 * turn
        turn = float(np.median(steps[near] / counts[near]))
    return turn


def off_all(values: np.ndarray, whole: float) -> np.ndarray:
    found: np.ndarray = (values + whole / 2) % whole - whole / 2
    return found


def _refine(platter: Platter) -> None:
    """The turn from reads of sectors one below the other with ever longer pauses between.

    The completions are n turns less k sectors after the first one; both a turn and a sector's time follow.
    """
    estimates = []
    spreads = []
    for _ in range(6):
        place = platter.random.randrange(platter.sectors // 8, platter.sectors * 7 // 8)
        found = _refined_at(platter, place)
        if found is not None:
            turn, spread = found
            estimates.append(turn)
            spreads.append(spread)
    if len(estimates) < 3:
        raise NoRotationError(
            f"answers {platter.turn / 1e6:.3f} ms apart do not keep that time over longer pauses"
        )
    platter.turn = float(np.median(estimates))
    platter.noise = float(np.median(spreads))
    deviations = np.abs(np.array(estimates) - platter.turn)
    platter.turn_half_width = 2 * 1.4826 * float(np.median(deviations)) + 1e-3


def _refined_at(platter: Platter, place: int) -> tuple[float, float] | None:
    pauses = [0.0, 0.0, 0.0, 3.0, 0.0, 9.0, 0.0, 30.0, 0.0, 90.0, 0.0, 250.0, 500.0, 0.0]
    ends = []
    for index, pause in enumerate(pauses):
        read = platter.ask(place - index, pause * platter.turn)
        if read.response > platter.hit:
            ends.append((place - index, read.end))
    found = _solved(ends, platter.turn) if len(ends) > 8 else None
    if found is None or found[2] > 0.02 * platter.turn:
        return None
    return found[0], found[2]


def _why_not(platter: Platter, places: list[int]) -> str:
    """How answers look that no turning platter gives."""
    responses = []
    for _ in places:
        for _ in range(4):
            read = platter.ask(platter.random.randrange(platter.sectors), 1e6 * platter.random.random())
            responses.append(read.response / 1e6)
    low, middle, high = np.percentile(responses, (5, 50, 95))
    if math.isclose(low, high, rel_tol=0.5) or high < 60e3 / _FASTEST_RPM:
        return (
            f"reads at random places take {low:.3f} to {high:.3f} ms (5th to 95th percentile), less than any "
            "platter's turn, and no time of turning is common to them"
        )
    return (
        f"reads at random places take {low:.3f} to {high:.3f} ms (median {middle:.3f} ms), but completions "
        "are not whole turns apart for any time of a turn from 3 to 30 ms"
    )
