"""Motions of the arm where times have noise: the chance to catch a sector rises over a stretch as wide as the
noise, and its middle is what is looked for.

The times at which sectors are asked for are chosen as in Watson and Pelli, "QUEST: a Bayesian adaptive
psychometric method" (1983): each where it is as likely as not, by all answers so far, that it is caught.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from diskwright.extracting._motion import Motion, Place, Time, UnmeasuredError
from diskwright.extracting._noise import NoisyPlatter
from diskwright.extracting._platter import off

# Chance that an answer says nothing: the host was late, or the sector was at another place.
_LAPSE = 0.03
# Answers to one time, and those that may go astray.
_MOST_ANSWERS, _ASTRAY = 60, 60
# Turns that a motion takes at most.
_LONGEST = 6
# The half-width, in deviations of the noise, from which on no more is asked.
_ENOUGH = 0.6
# Widths of the stretch over which the chance to catch a sector rises, in deviations of completions: the way
# to the device has noise as well.
_WIDTHS = (0.7, 1.2, 2.0, 3.5)
# Logarithm of a chance that is as good as none.
_IMPOSSIBLE = 30.0
_LEAST_ANSWERS = 12
_OF_THREE = 3
# The wait before a request, in turns, where the drive reads ahead.
_WAIT = 0.4
# Sectors at the beginning of a track before which nothing else of it is read.
_FIRST = 4
# How long after a completion a request can be issued, ns.
_AT_ONCE = 50_000


class NoisyMotion(Motion):
    """Measures times of motions between tracks in spite of noise."""

    platter: NoisyPlatter

    def time(
        self,
        pairs: Callable[[], tuple[Place, Place]],
        resolution: float,
        write: bool = False,
        by: str | None = None,
    ) -> Time:
        turn, noise = self.platter.turn, self.platter.noise
        step = noise / 3
        # Chances, as logarithms, by how wide the stretch is and by the time.
        times = np.arange(0.0, _LONGEST * turn, step)
        widths = np.array(_WIDTHS)[:, None] * noise
        likely = np.zeros((len(_WIDTHS), len(times)))
        answers = astray = 0
        wanted = turn * self.platter.random.uniform(0.3, 0.7)
        while True:
            taken = self._taken(pairs(), wanted, write, by)
            if taken is None:
                astray += 1
                if astray > _ASTRAY:
                    raise UnmeasuredError
                continue
            answers += 1
            # It was enough, and a turn less was not.
            caught = ndtr((taken - times) / widths) - ndtr((taken - turn - times) / widths)
            likely += np.log((1 - _LAPSE) * caught + _LAPSE / _LONGEST)
            chance = np.exp(likely - likely.max())
            total = np.cumsum(chance.sum(axis=0))
            low, middle, high = (
                float(times[min(int(np.searchsorted(total, part * total[-1])), len(times) - 1)])
                for part in (0.025, 0.5, 0.975)
            )
            half_width = (high - low) / 2 + step
            if half_width <= max(_ENOUGH * noise, resolution) and answers >= _LEAST_ANSWERS:
                return Time(middle, math.hypot(half_width, noise))
            if answers >= _MOST_ANSWERS:
                if half_width > turn / 4:
                    raise UnmeasuredError
                return Time(middle, math.hypot(half_width, noise))
            wanted = middle
            # What is as good as impossible is left out.
            possible = np.flatnonzero(likely.max(axis=0) > likely.max() - _IMPOSSIBLE)
            kept = slice(possible[0], possible[-1] + 1)
            times, likely = times[kept], likely[:, kept]

    def is_caught(self, pairs: Callable[[], tuple[Place, Place]], wanted: float) -> bool:
        caught = [super(NoisyMotion, self).is_caught(pairs, wanted) for _ in range(_OF_THREE)]
        while abs(2 * sum(caught) - len(caught)) < _OF_THREE and len(caught) < 4 * _OF_THREE:
            caught.append(super().is_caught(pairs, wanted))
        return 2 * sum(caught) > len(caught)

    def _taken(self, pair: tuple[Place, Place], wanted: float, write: bool, by: str | None) -> int | None:
        """As without noise; but how late the answer was is no part of it."""
        platter = self.platter
        platter.look_again()
        turn = platter.turn
        before, after = pair
        by = by or self.by
        try:
            from_sector = self._any(before) if by != "read" else self._from(before)
            end = self._put(from_sector, by)
            if end is None:
                return None
            if write:
                to_sector = self._any(after)
            elif before == after and platter.hit and not platter.is_shared:
                # What comes behind the first read is read ahead.
                to_sector = self._one_of(after, 0, _FIRST - 2)
            else:
                # After as long a wait as for a sector of the same track: a host that slept longer is later.
                waits = _WAIT * turn if platter.hit and not platter.is_shared else 0.0
                to_sector = self._next(after, end + wanted + waits)
        except UnmeasuredError:
            return None
        angle = after.zone.phase_of(to_sector - after.zone.start) + (self.write_late / turn if write else 0.0)
        pause = ((angle - platter.phase(end + wanted)) % 1.0) * turn
        read = platter.ask(to_sector, pause, write)
        # What was never asked for is no hit of a shared memory, however soon it is there.
        if read.response <= platter.hit and (write or not platter.is_shared):
            return None
        # From the issue as it was to when the sector is over.
        least = ((angle - platter.phase(read.issue)) % 1.0) * turn
        late = off(read.response - least, turn)
        if abs(late) > max(6 * platter.noise, 0.5 * turn / after.zone.per_track):
            return None
        return round(least + round((read.response - least) / turn) * turn)

    def _from(self, place: Place) -> int:
        """A sector of a track after whose read the arm stays there for a while, even if the drive reads
        ahead: early on the track, but not one of the first.
        """
        return self._one_of(place, _FIRST, round(0.3 * place.zone.per_track))

    def _next(self, place: Place, instant: float) -> int:
        """The first sector of a track behind an instant that the drive's memory has no reason to hold."""
        zone = place.zone
        first, last = self._ends(place)
        count = last - first + 1
        # The angle of the head then, from the track's first sector on.
        passed = (self.platter.phase(instant + _AT_ONCE) - zone.phase_of(first)) % 1.0
        start = math.ceil(passed * zone.per_track)
        for step in range(zone.per_track):
            at = (start + step) % zone.per_track
            if at < count and self.platter.is_fresh(zone.start + first + at):
                return zone.start + first + at
        raise UnmeasuredError

    def _one_of(self, place: Place, low: int, high: int) -> int:
        first, last = self._ends(place)
        low, high = min(first + low, last), min(first + high, last)
        for _ in range(20):
            sector = place.zone.start + self.platter.random.randint(low, high)
            if self.platter.is_fresh(sector):
                return sector
        raise UnmeasuredError

    def _ends(self, place: Place) -> tuple[int, int]:
        """The first and the last sector of a track, counted from the zone's first."""
        zone = place.zone
        first = zone.first_of_track(place.track)
        last = min(zone.first_of_track(place.track + 1), zone.end - zone.start) - 1
        if last < first:
            raise UnmeasuredError
        return first, last


def _normal(values: np.ndarray) -> np.ndarray:
    """The normal distribution."""
    found: np.ndarray = ndtr(values)
    return found


__all__ = ["NoisyMotion"]
