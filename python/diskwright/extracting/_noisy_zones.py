"""Tracks and zones of a device whose times have noise.

The zones are those of `_zones`; here an angle follows from several sectors, and a place is tested by sectors
of some tracks behind it, which in another zone are not where this one has them.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from diskwright.extracting._noise import Angle, Floats, NoisyPlatter, line, middle, middle_angle
from diskwright.extracting._platter import off, off_all
from diskwright.extracting._zones import _LONGEST_CYLINDER, Layout, UnclearError, Zone

# Standard errors that a count of sectors has to be away from the next one.
_SURE = 4.0
# Readings of a place, at least and at most; the share of them that is where the zone has them.
_FEWEST, _MOST_READ = 6, 20
_AGREE = 0.6
# Tracks over which the readings of a place are spread.
_SPREAD = 3
# Readings of all tracks of a zone that tell its sectors per track, at most.
_MOST_FIT = 4000
# The share of cylinders' beginnings that have to have one skew.
_OF_BEGINS = 0.7
# The most readings of a track, for its skew.
_MOST_SKEW = 300
# Readings of a stretch in which a zone ends.
_CHANGE = 48
# Sectors that addresses may skip between two looks.
_MOST_SKIPPED = 24
# Parts of the device that the stretches between two looks do not exceed.
_FINEST = 200
# Tracks by which the beginning of a zone may have been missed.
_BACK = 8
# So many zones, one behind the other, with fewer tracks than these: what was seen was noise.
_SHORT_ZONES, _SHORT = 4, 100
# Looks at a zone's first tracks.
_LOOKED_TRACKS = 60


class HiddenError(Exception):
    """Noise hides the zones; the noise and the time of a sector, ns."""


class NoisyLayout(Layout):
    """The zones of a platter with noise."""

    platter: NoisyPlatter

    def __init__(
        self, platter: NoisyPlatter, tell: Callable[[float], None], deadline_ns: int | None = None
    ) -> None:
        super().__init__(platter, tell)
        # When the survey has to end.
        self.deadline = deadline_ns
        self._angles: dict[tuple[int, int], Angle | None] = {}
        # Where the platter is looked at again: a stretch of the first zone that is known.
        self._known = 0

    def survey(self) -> None:
        start, last = 0, self.platter.sectors
        while start < last:
            if self.deadline is not None and self.platter.target.now_ns > self.deadline:
                self.notes.append(f"the budget did not reach for the zones from sector {start} on")
                break
            zone = self._begun(start)
            if len(self.zones) > 1 and self._was_chance(self.zones[-1], zone):
                del self.zones[-1]
            if self.zones:
                self.zones[-1].end = zone.start
            self._skews(zone)
            self._settle(zone)
            if not self.zones:
                self._known = min(_LOOKED_TRACKS * zone.per_track, last // 2)
                self._watch(zone)
            else:
                self._align(zone, self.zones[-1])
                self._back(zone, self.zones[-1])
            self._walk(zone, last)
            self.zones.append(zone)
            latest = self.zones[-_SHORT_ZONES:]
            if len(latest) == _SHORT_ZONES and all(one.used_tracks < _SHORT for one in latest):
                raise HiddenError(self.platter.noise, self.platter.turn / zone.per_track)
            start = zone.end
            self.tell(start / last)
        self._merge()
        self.ranges = self._ranges()

    def _merge(self) -> None:
        """Puts zones together of which the one goes on where the other ends: noise made them two."""
        merged: list[Zone] = []
        for zone in self.zones:
            before = merged[-1] if merged else None
            if before is not None and self._continues(before, zone):
                skipped = before.skipped(before.end - before.start)
                first = zone.start - before.start
                before.skips += [(first + at, skipped + count) for at, count in zone.skips]
                before.irregular += zone.irregular
                before.end, before.end_error = zone.end, zone.end_error
            else:
                merged.append(zone)
        self.zones = merged

    def _continues(self, before: Zone, zone: Zone) -> bool:
        if (before.per_track, before.track_skew, before.cylinder_skew) != (
            zone.per_track,
            zone.track_skew,
            zone.cylinder_skew,
        ):
            return False
        first = zone.start - before.start
        expected = before.phase_of(first, before.skipped(first))
        return abs(off(zone.phase - expected)) < max(1.0 / zone.per_track, 4 * self._noise)

    def _was_chance(self, before: Zone, zone: Zone) -> bool:
        """Whether a short zone is the beginning of the next one, whose first tracks were not clear."""
        short = 3 * (self.tracks or 8) * before.per_track
        alike = abs(before.per_track - zone.per_track) <= 0.03 * zone.per_track
        return (alike or before.track_skew is None) and before.end - before.start <= short

    @property
    def _noise(self) -> float:
        return self.platter.noise / self.platter.turn

    def _watch(self, zone: Zone) -> None:
        def look(count: int) -> Angle:
            tracks = max(self._known // zone.per_track - 2, 1)
            place = zone.start + self.platter.random.randrange(tracks) * zone.per_track
            return self.platter.mean_angle(place, count, lambda sector: zone.phase_of(sector - zone.start))

        self.platter.anchor(look)

    def _begin(self, start: int) -> Zone:
        """The zone that begins at a sector, from ever longer stretches of its first tracks."""
        platter = self.platter
        per_track, error = self._rough(start)
        platter.per_turn = round(per_track)
        if start:
            start = self._aligned(start, per_track)
        per_track, error = self._pooled(start, per_track, error)
        zone = Zone(start, start + 1, round(per_track), 0.0)
        zone.per_track_error = max(abs(per_track - zone.per_track) + 2 * error, 2 * error)
        platter.per_turn = zone.per_track
        angle = self._angle_of_track(zone, 0)
        if angle is None:
            raise UnclearError(start)
        zone.phase = angle.turns % 1.0
        return zone

    def _begun(self, start: int) -> Zone:
        """The same, tried again a little further on where its first track is not clear."""
        for shift in (0, 0.5, 1.0, 2.0, 3.0, 4.5, 6.0, 11.0, 17.0, 23.0, 31.0):
            try:
                return self._begin(start + round(shift * (self.platter.per_turn or 96)))
            except UnclearError:
                if not self.zones or start + 40 * self.platter.per_turn >= self.platter.sectors:
                    raise
        raise UnclearError(start)

    def _skews(self, zone: Zone) -> None:
        first = self.zones[0] if self.zones else None
        if self.tracks is None and first is not None and first.cylinder_skew == first.track_skew:
            zone.track_skew, zone.track_seen = self._commonest(zone, list(range(1, 13)))
        elif first is not None and (self.tracks or 1) > 1 and first.cylinder_skew != first.track_skew:
            self._skews_of_cylinders(zone)
        elif self.tracks is None:
            self._count_tracks(zone)
        else:
            super()._skews(zone)
        if self.tracks is None and zone.cylinder_skew is None:
            # No other skew comes again and again.
            zone.cylinder_skew, zone.cylinder_seen = zone.track_skew, zone.track_seen

    def _count_tracks(self, zone: Zone) -> None:
        """The skews of the first zone, and the tracks of a cylinder: those that explain most skews."""
        room = (self.platter.sectors - zone.start) // zone.per_track - 2
        looked = range(1, min(_LONGEST_CYLINDER, room) + 1)
        found = {track: skew for track in looked if (skew := self._skew_at(zone, track)) is not None}
        if not found:
            return
        skews = list(found.values())
        usual = zone.track_skew = max(set(skews), key=skews.count)
        zone.track_seen = skews.count(usual), len(skews)
        # One sector more or less is noise where all skews are alike.
        others = [skew for skew in skews if abs(skew - usual) > 1]
        best: tuple[int, int, int] | None = None
        most = skews.count(usual)
        for tracks in range(2, _LONGEST_CYLINDER // 2 + 1):
            for rest in range(tracks):
                begins = [skew for track, skew in found.items() if track % tracks == rest]
                for skew in set(begins) & set(others):
                    fits = begins.count(skew) + skews.count(usual) - begins.count(usual)
                    least = max(_OF_BEGINS * len(begins), min(len(begins), 3), 2)
                    if begins.count(skew) >= least and fits > most:
                        best, most = (tracks, rest, skew), fits
        if best is not None:
            self.tracks = zone.tracks = best[0]
            zone.lead, zone.cylinder_skew = -best[1] % best[0], best[2]
            begins = [skew for track, skew in found.items() if track % best[0] == best[1]]
            zone.cylinder_seen = begins.count(best[2]), len(begins)
            within = [skew for track, skew in found.items() if track % best[0] != best[1]]
            zone.track_seen = within.count(usual), len(within)

    def _skews_of_cylinders(self, zone: Zone) -> None:
        """The two skews, and at which of its tracks the zone's first cylinder ends."""
        assert self.tracks is not None
        zone.tracks = self.tracks
        room = (self.platter.sectors - zone.start) // zone.per_track - 2
        found = {track: self._skew_at(zone, track) for track in range(1, min(3 * self.tracks, room) + 1)}
        known = [skew for skew in found.values() if skew is not None]
        if not known:
            return
        zone.track_skew = zone.cylinder_skew = max(set(known), key=known.count)
        votes: dict[tuple[int, int], int] = {}
        for track, skew in found.items():
            if skew is not None and skew != zone.track_skew:
                key = track % self.tracks, skew
                votes[key] = votes.get(key, 0) + 1
        if votes:
            rest, zone.cylinder_skew = max(votes, key=lambda key: votes[key])
            zone.lead = -rest % self.tracks
            begins = [
                skew for track, skew in found.items() if track % self.tracks == rest and skew is not None
            ]
            zone.cylinder_seen = begins.count(zone.cylinder_skew), len(begins)
        zone.track_seen = known.count(zone.track_skew), len(known) - zone.cylinder_seen[1]

    def _rough(self, start: int) -> tuple[float, float]:
        """Sectors of a track near its beginning, and the standard error, from one track."""
        least = 24 if not self.zones else 36
        reach, error = least, math.inf
        per_track = float(self.zones[-1].per_track) if self.zones else 0.0
        shift, is_known = 0, False
        while True:
            sectors, ends = self._enough(start + shift, reach)
            step = 1 / per_track if per_track else self._first_step(sectors, ends)
            rest = off_all(ends - ends[0] - (sectors - sectors[0]) * step, 1.0)
            columns = np.column_stack([np.ones(len(sectors)), (sectors - start).astype(float)])
            found, deviation, near = line(columns, rest, self._noise)
            if near.sum() < 0.7 * len(sectors) or not 0 < step + found[1] < 0.2:
                # The track ends there: it is tried further on, and what is known then stays.
                if is_known and error < 0.01 * per_track:
                    return per_track, error
                if shift > 2000:
                    raise UnclearError(start)
                shift += reach
                reach = least
                continue
            is_known = True
            step += float(found[1])
            per_track = 1 / step
            error = deviation / (float(np.std(sectors[near])) * math.sqrt(near.sum())) * per_track**2
            if reach >= 0.85 * per_track:
                return per_track, error
            reach = min(2 * reach, round(0.9 * per_track))

    def _enough(self, place: int, reach: int) -> tuple[NDArray[np.int64], Floats]:
        """Readings of a stretch, as many as a line takes."""
        for _ in range(12):
            sectors, ends = self.platter.sample(place, reach, 16)
            if len(sectors) >= _FEWEST - 1:
                return sectors, ends
            place += reach
        raise UnclearError(place)

    def _aligned(self, start: int, per_track: float) -> int:
        """Where the track begins in which a zone begins, of which the first sectors may be where the zone
        before would have them.
        """
        whole = round(per_track)
        sectors, ends = self.platter.sample(start, 4 * whole, 64)
        straight = ends - (sectors - start) / per_track
        best, least = 0, math.inf
        for begin in range(0, whole, max(whole // 120, 1)):
            cost = 0.0
            tracks = np.floor((sectors - start - begin) / per_track)
            for track in np.unique(tracks):
                inner = straight[tracks == track] % 1.0
                centre = middle_angle(inner, self._noise).turns
                cost += float(np.minimum(np.abs(off_all(inner - centre, 1.0)), 8 * self._noise).sum())
            if cost < least * 0.98:
                best, least = begin, cost
        certain = max(0.08 * whole, 3, 3 * self.zones[-1].end_error if self.zones else 0)
        return start + best - (whole if best > certain else 0)

    def _first_step(self, sectors: NDArray[np.int64], ends: Floats) -> float:
        """The part of a turn that a sector takes, from a few near ones; the widest spacing without jumps."""
        best, least = 0.0, math.inf
        for per_track in np.geomspace(16, 6000, 600):
            rest = off_all((ends - sectors / per_track) % 1.0, 1.0)
            angle = middle_angle((ends - sectors / per_track) % 1.0, self._noise)
            cost = float(np.abs(off_all(rest - angle.turns, 1.0)).sum())
            if cost < least:
                best, least = 1 / float(per_track), cost
        return best

    def _pooled(self, start: int, per_track: float, error: float) -> tuple[float, float]:
        """Sectors of a track from several tracks at once, each with an angle of its own; its standard
        error.
        """
        sector = 1 / per_track
        wanted = (2 * _SURE * math.sqrt(12) * self._noise / sector) ** 2
        count = round(min(max(wanted, 24), _MOST_FIT))
        tracks = max(4, -(-count // max(round(per_track) // 4, 1)))
        tracks = min(tracks, max((self.platter.sectors - start) // round(per_track) - 1, 1))
        rows: list[tuple[float, float]] = []
        for track in range(tracks):
            first = start + round(track * per_track)
            # The ends of tracks are left out: where they are is not known exactly.
            edge = round(0.04 * per_track) + round(track * 2 * error) + 1
            room = round(per_track) - 2 * edge
            if room < 8:
                break
            sectors, ends = self.platter.sample(first + edge, room, max(count // tracks, 4))
            if len(sectors) < 3:
                continue
            straight = (ends - (sectors - start) / per_track) % 1.0
            centre = middle_angle(straight, self._noise)
            rest = off_all(straight - centre.turns, 1.0)
            near = np.abs(rest) < 0.06
            if near.sum() < 3:
                continue
            position = (sectors[near] - np.mean(sectors[near])).astype(float)
            rows += list(zip(position, rest[near] - np.median(rest[near]), strict=True))
        if len(rows) < 12:
            return per_track, error
        position, rest = np.array([one for one, _ in rows]), np.array([one for _, one in rows])
        found, deviation, near = line(np.column_stack([np.ones(len(rows)), position]), rest, self._noise)
        step = sector + float(found[1])
        spread = float(np.std(position[near])) * math.sqrt(float(near.sum()))
        return 1 / step, deviation / spread / step**2

    def _angle_of_track(self, zone: Zone, track: int) -> Angle | None:
        """The angle of a track's first sector."""
        key = zone.start, track
        if key not in self._angles:
            sector = 1 / zone.per_track
            count = min(max(round(50 * (self._noise / sector) ** 2), 5), _MOST_SKEW)
            first = zone.start + track * zone.per_track
            edge = max(zone.per_track // 10, 1)
            sectors, ends = self.platter.sample(first + edge, zone.per_track - 2 * edge, count)
            if len(sectors) < 3:
                self._angles[key] = None
            else:
                straight = (ends - (sectors - first) * sector) % 1.0
                angle = middle_angle(straight, self._noise)
                self._angles[key] = angle if angle.agree > _AGREE else None
        return self._angles[key]

    def _skew_at(self, zone: Zone, track: int) -> int | None:
        here, before = self._angle_of_track(zone, track), self._angle_of_track(zone, track - 1)
        if here is None or before is None:
            return None
        skew = ((here.turns - before.turns) % 1.0) * zone.per_track
        found = round(skew)
        error = math.hypot(here.error, before.error) * zone.per_track
        if abs(skew - found) > max(0.35, 2 * error) or error > 0.4:
            return None
        return found % zone.per_track

    def _settle(self, zone: Zone) -> None:
        """The angle of the zone's first sector from all its tracks that were looked at."""
        rest = []
        for (start, track), angle in self._angles.items():
            if start == zone.start and angle is not None:
                expected = zone.phase + zone.skew_of_track(track) / zone.per_track
                rest.append(off(angle.turns - expected))
        near = np.array([one for one in rest if abs(one) < 2 / zone.per_track])
        if len(near) > 2:
            centre, _ = middle(near, self._noise / 4)
            zone.phase = (zone.phase + centre) % 1.0

    def _align(self, zone: Zone, before: Zone) -> None:
        """Moves the beginning of a zone to where its first track begins: its further tracks begin by skews
        later than sectors of the track before would.
        """
        skew = off(zone.skew_of_track(1) / zone.per_track)
        if abs(skew) < 6 * self._noise or zone.start + 5 * zone.per_track >= self.platter.sectors:
            return
        width = max(round(zone.per_track * 0.04), 12)
        places, jumps = [], []
        for track in (1, 2, 3, 4):
            jump = off((zone.skew_of_track(track) - zone.skew_of_track(track - 1)) / zone.per_track)
            begin = zone.start + track * zone.per_track
            sectors, ends = self.platter.sample(begin - width, 2 * width, width // 2)
            for sector, end in zip(sectors, ends, strict=True):
                expected = zone.phase_of(int(sector) - zone.start)
                # As if the track before went on, and as if the next one had begun.
                without = off(end - expected + (jump if sector >= begin else 0.0))
                places.append(int(sector) - begin)
                jumps.append(min(abs(without), abs(jump)) - min(abs(without - jump), abs(jump)))
        if not places:
            return
        at, votes = np.array(places), np.sign(np.array(jumps))
        costs = [
            (float(np.sum(votes[at >= one] < 0) + np.sum(votes[at < one] > 0)), abs(one), one)
            for one in range(-width, width + 1)
        ]
        shift = min(costs)[2]
        if shift and before.end + shift > before.start:
            zone.start += shift
            before.end = zone.start
            zone.phase = (zone.phase + shift / zone.per_track) % 1.0
            self._angles = {}

    def _back(self, zone: Zone, before: Zone) -> None:
        """Moves the beginning of a zone over the tracks before it that are where it would have them."""
        moved = 0
        for track in range(1, _BACK * (self.tracks or 1) + 1):
            first = zone.start - track * zone.per_track
            if first <= before.start:
                break
            edge = zone.per_track // 10
            angle = self._shift(zone, first + edge, 0, zone.per_track - 2 * edge, _MOST_READ // 2)
            other = self._shift(
                before,
                first + edge,
                before.skipped(before.end - before.start),
                zone.per_track - 2 * edge,
                _MOST_READ // 2,
            )
            if not self._within(zone, angle) or (before.start < first and self._within(before, other)):
                break
            moved = track
        if moved:
            zone.phase = zone.phase_of(-moved * zone.per_track, 0)
            zone.start -= moved * zone.per_track
            zone.lead = (zone.lead - moved) % (zone.tracks or 1)
            before.end = zone.start
            self._angles = {}

    def _shift(self, zone: Zone, sector: int, skipped: int, width: int, count: int) -> Angle:
        """How much later than the zone has them sectors of a stretch come by, turns."""
        sectors, ends = self.platter.sample(sector, width, count)
        if len(sectors) < 3:
            return Angle(0.0, 1.0, 0.0)
        expected = np.array([zone.phase_of(int(one) - zone.start, skipped) for one in sectors])
        angle = middle_angle((ends - expected) % 1.0, self._noise)
        return Angle(off(angle.turns), angle.error, angle.agree)

    def _within(self, zone: Zone, angle: Angle) -> bool:
        """Whether sectors are where the zone has them."""
        return angle.agree >= _AGREE and abs(angle.turns) < max(0.5 / zone.per_track, 4 * angle.error)

    def _skip_of(self, zone: Zone, angle: Angle) -> int | None:
        """Sectors that are skipped before some that agree with each other; None where they do not."""
        sectors = angle.turns * zone.per_track
        if angle.agree < _AGREE or angle.error > 0.2 or not 0 < round(sectors) <= _MOST_SKIPPED:
            return None
        return round(sectors)

    def _walk(self, zone: Zone, last: int) -> None:
        good, skipped = zone.start, 0
        cylinder = (self.tracks or 8) * zone.per_track
        step, finest = max(cylinder, 16), max(last // _FINEST, 16)
        width = _SPREAD * zone.per_track
        while True:
            ahead = min(good + step, last - width)
            if ahead <= good:
                zone.end = last
                return
            angle = self._shift(zone, ahead, skipped, width, _FEWEST)
            if not self._within(zone, angle):
                angle = self._shift(zone, ahead, skipped, width, _MOST_READ)
            if self._within(zone, angle):
                good = ahead
                step = min(step * 2, finest)
                continue
            skip = self._skip_of(zone, angle)
            if skip is not None:
                at, error = self._skip_at(zone, good, ahead, skipped, skip)
                skipped += skip
                zone.skips.append((at - zone.start, skipped))
                zone.irregular.append((max(at - error, zone.start), at + error))
                good, step = ahead, max(cylinder, 16)
                continue
            zone.end, zone.end_error = self._end_of_zone(zone, good, ahead, skipped)
            goes_on = self._goes_on(zone, skipped, last)
            if goes_on is None:
                return
            # It was chance.
            good, step = goes_on, max(cylinder, 16)

    def _goes_on(self, zone: Zone, skipped: int, last: int) -> int | None:
        """A sector behind what seems a zone's end up to which the zone goes on nevertheless."""
        width = _SPREAD * zone.per_track
        places = [zone.end + tracks * zone.per_track for tracks in (1, 7, 31)]
        places = [place for place in places if place + width < last]
        fits = [self._within(zone, self._shift(zone, place, skipped, width, 2 * _FEWEST)) for place in places]
        return places[-1] if len(fits) > 1 and sum(fits) > len(fits) / 2 else None

    def _skip_at(self, zone: Zone, good: int, bad: int, skipped: int, skip: int) -> tuple[int, int]:
        """About where addresses skip sectors, and how far that may be off."""
        while bad - good > 2 * zone.per_track:
            at = (good + bad) // 2
            angle = self._shift(zone, at, skipped, zone.per_track, _MOST_READ)
            if angle.agree < _AGREE:
                break
            if angle.turns * zone.per_track < skip / 2:
                good = at
            else:
                bad = at
        return (good + bad) // 2, (bad - good) // 2 + zone.per_track

    def _end_of_zone(self, zone: Zone, good: int, bad: int, skipped: int) -> tuple[int, int]:
        """The first sector that is not where the zone has it, and how far that may be off."""
        while bad - good > 1.5 * zone.per_track:
            at = (good + bad) // 2
            width = min(_SPREAD * zone.per_track, max((bad - good) // 8, zone.per_track // 3))
            angle = self._shift(zone, at, skipped, width, 2 * _FEWEST)
            if self._within(zone, angle):
                good = at
            else:
                # It may be anywhere among these.
                bad = at + width
        low, high = good, min(bad + zone.per_track // 4, self.platter.sectors)
        at = (low + high) // 2
        for _ in range(8):
            sectors, ends = self.platter.sample(low, high - low, min(_CHANGE, max((high - low) // 2, 3)))
            if len(sectors) < 3:
                break
            expected = np.array([zone.phase_of(int(one) - zone.start, skipped) for one in sectors])
            tolerance = max(4 * self._noise, 0.5 / zone.per_track)
            fits = np.abs(off_all(ends - expected, 1.0)) < tolerance
            at, gap = _change(sectors, fits)
            if gap <= 2 and high - low < zone.per_track // 4:
                break
            around = max(2 * gap, 24 if high - low >= zone.per_track // 4 else 4)
            low, high = max(at - around, good), min(at + around, self.platter.sectors)
            if high - low <= 8:
                break
        # A zone rather ends with a track than a few sectors before or behind.
        place = at - zone.start + skipped
        rest = round(place / zone.per_track) * zone.per_track - place
        error = max((high - low) // 4, 1)
        return (at + rest, error) if abs(rest) <= min(error, 3) else (at, error)


def _change(sectors: NDArray[np.int64], fits: NDArray[np.bool_]) -> tuple[int, int]:
    """The sector from which on few fit, where before it most do; and how far apart those next to it are."""
    order = np.argsort(sectors)
    sectors, fits = sectors[order], fits[order]
    behind = np.concatenate([[0], np.cumsum(~fits)]) + np.concatenate([np.cumsum(fits[::-1])[::-1], [0]])
    at = int(behind.argmin())
    if at == len(sectors):
        return int(sectors[-1]) + 1, 1
    before = int(sectors[at - 1]) if at else int(sectors[0])
    return int(sectors[at]), max(int(sectors[at]) - before, 1)


__all__ = ["HiddenError", "NoisyLayout"]
