"""Tracks and zones, from the angles of sectors.

In a zone the angle of a sector is its place on its track and the skews of all tracks before. A sector whose
angle is not where the zone so far has it lies behind a defect, whose sector or track the addresses skip, or
in another zone.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from diskwright.extracting._platter import MissingError, Platter, off

# How far an angle may be from where it is expected, in sectors.
_MATCHES = 0.3
# Sectors that addresses may skip between two looks, before another zone is assumed.
_MOST_SKIPPED = 24
# Cylinders of a zone at whose first track the skews are looked at.
_LOOKED_AT = (1, 2, 3, 5, 9, 14, 20, 29, 40)
# Sectors that a defect makes addresses skip at one place.
_FEW = 8
# Parts of the device that the stretches between two looks do not exceed.
_FINEST = 400
# Sectors of a track that are thinkable.
_LEAST_SECTORS, _MOST_SECTORS = 8, 20_000


@dataclass
class Zone:
    """Tracks that are alike.

    start, end: sectors of the device, the end exclusive. per_track: sectors of a track.
    phase: the angle at which the first sector's read is complete, turns.
    track_skew, cylinder_skew: sectors; None where none was seen.
    tracks: of a cylinder; None while it is not known.
    lead: tracks of the first cylinder that lie before the zone's first track.
    skips: pairs of a sector of the zone and how many sectors addresses have skipped from there on.
    irregular: stretches of the zone's sectors in which more is skipped than was looked for, with their ends.
    """

    start: int
    end: int
    per_track: int
    phase: float
    track_skew: int | None = None
    cylinder_skew: int | None = None
    tracks: int | None = None
    lead: int = 0
    skips: list[tuple[int, int]] = field(default_factory=list)
    irregular: list[tuple[int, int]] = field(default_factory=list)
    first_cylinder: int = 0
    hidden: int = 0
    # Half the widths of the intervals of per_track and of end, sectors: 0 where times have no noise.
    per_track_error: float = 0.0
    end_error: int = 0
    # Of how many places where a skew was looked at it was the one that is given, and of how many.
    track_seen: tuple[int, int] = (0, 0)
    cylinder_seen: tuple[int, int] = (0, 0)
    # Half the width of the interval of the cylinders behind the zone that hold no data.
    hidden_error: float = 0.0

    def skipped(self, sector: int) -> int:
        """Sectors that addresses have skipped in the zone up to one of its sectors."""
        found = 0
        for at, count in self.skips:
            if sector >= at:
                found = count
        return found

    def track_of(self, sector: int) -> int:
        """The track of a sector of the zone, from the zone's first one on."""
        return (sector + self.skipped(sector)) // self.per_track

    @property
    def used_tracks(self) -> int:
        """Tracks up to the one of the zone's last sector."""
        return self.track_of(self.end - self.start - 1) + 1

    def cylinder_of_track(self, track: int) -> int:
        return self.first_cylinder + (track + self.lead) // (self.tracks or 1)

    def skew_of_track(self, track: int) -> int:
        """Sectors by which a track's first sector lies behind that of the zone's first track."""
        skew = self.track_skew or 0
        if self.cylinder_skew is None or self.tracks is None:
            return track * skew
        cylinders = (track + self.lead) // self.tracks
        return (track - cylinders) * skew + cylinders * self.cylinder_skew

    def phase_of(self, sector: int, skipped: int | None = None) -> float:
        """The angle at which a read of a sector of the zone is complete, turns."""
        place = sector + (self.skipped(sector) if skipped is None else skipped)
        track, rest = divmod(place, self.per_track)
        return (self.phase + (rest + self.skew_of_track(track)) / self.per_track) % 1.0

    def first_of_track(self, track: int) -> int:
        """A sector of the zone from which on its track is the given one."""
        place = track * self.per_track
        sector = place - self.skipped(place)
        while self.track_of(sector) < track:
            sector += 1
        return sector


class Layout:
    """The zones of a platter."""

    def __init__(self, platter: Platter, tell: Callable[[float], None]) -> None:
        self.platter = platter
        self.tell = tell
        self.zones: list[Zone] = []
        self.tracks: int | None = None
        # Parts of the address space that each lead through all cylinders.
        self.ranges = 1
        self.notes: list[str] = []

    def survey(self) -> None:
        """Walks through the device, zone after zone."""
        start = 0
        last = self.platter.sectors
        while start < last:
            zone = self._begin(start)
            if self.zones:
                self._align(zone, self.zones[-1])
            self._skews(zone)
            self._walk(zone, last)
            self.zones.append(zone)
            start = zone.end
            self.tell(start / last)
        self.ranges = self._ranges()

    def _ranges(self) -> int:
        """Parts of the address space whose zones are the same again."""
        sizes = [zone.per_track for zone in self.zones]
        for count in (2, 3, 4):
            length = len(sizes) // count
            if length > 1 and length * count == len(sizes) and sizes[0] > sizes[length - 1]:
                parts = [sizes[part * length : (part + 1) * length] for part in range(count)]
                if all(part == parts[0] for part in parts):
                    return count
        return 1

    def zones_of(self, part: int) -> list[Zone]:
        """The zones of a part of the address space."""
        length = len(self.zones) // self.ranges
        return self.zones[part * length : (part + 1) * length]

    def _end_of(self, sector: int) -> float:
        return self.platter.end_of(sector)

    def _per_track(self, sector: int) -> int | None:
        """Sectors of the track of a sector and some behind it; None where they are not evenly spaced."""
        turn = self.platter.turn
        reach = 1
        tries = [(sector + reach * step) for step in (3, 2, 1, 0)]
        try:
            ends = [self._end_of(one) for one in tries]
        except MissingError:
            return None
        steps = [(second - first) % 1.0 for second, first in itertools.pairwise(ends)]
        middle = sorted(steps)[1]
        if middle <= 0 or any(abs(step - middle) > max(4.0 / turn, 0.2 * middle) for step in steps):
            return None
        step = ((ends[0] - ends[3]) % 1.0) / 3
        # A longer way tells more exactly.
        for reach in (9, 24):
            try:
                way = (self._end_of(sector + reach) - ends[3]) % 1.0
            except (MissingError, ValueError):
                break
            count = round(way / step) if way / step < reach + 0.5 else 0
            if count != reach:
                break
            step = way / reach
        found = round(1 / step)
        return found if _LEAST_SECTORS <= found <= _MOST_SECTORS else None

    def _begin(self, start: int) -> Zone:
        """The zone that begins at a sector."""
        for shift in (0, 5, 11, 31):
            per_track = self._per_track(start + shift)
            if per_track is not None:
                break
        else:
            raise UnclearError(start)
        try:
            zone = Zone(start, start + 1, per_track, self._end_of(start))
        except MissingError as error:
            raise UnclearError(start) from error
        # As far as the longest way that told it says.
        zone.per_track_error = 2 * max(self.platter.noise, 1.0) / self.platter.turn * per_track**2 / 24
        return zone

    def _align(self, zone: Zone, before: Zone) -> None:
        """Moves the beginning of a zone to where its first track begins.

        A few sectors of a zone may be where the one before would have them; that its first track is too short
        tells.
        """

        def is_on_first(sector: int) -> bool:
            expected = zone.phase + sector / zone.per_track
            return abs(off(self._end_of(zone.start + sector) - expected)) * zone.per_track < _MATCHES

        if zone.start + zone.per_track >= self.platter.sectors:
            return
        low, high = 0, zone.per_track
        try:
            if is_on_first(high) or is_on_first(high - 1):
                return
            while high - low > 1:
                middle = (low + high) // 2
                if is_on_first(middle):
                    low = middle
                else:
                    high = middle
        except MissingError:
            return
        short = zone.per_track - high
        if 0 < short < zone.per_track // 2 and before.end - short > before.start:
            zone.start -= short
            before.end = zone.start
            zone.phase = (zone.phase - short / zone.per_track) % 1.0

    def _skew_at(self, zone: Zone, track: int) -> int | None:
        """How far a track of the zone is behind the one before, in sectors; None where it is no whole
        number.
        """
        place = zone.start + track * zone.per_track
        # Sectors in the middle of both tracks: slips move the ends of tracks.
        middle = zone.per_track // 2
        try:
            here = self._end_of(place + middle)
            before = self._end_of(place - zone.per_track + middle)
        except (MissingError, IndexError):
            return None
        skew = ((here - before) % 1.0) * zone.per_track
        found = round(skew)
        return found % zone.per_track if abs(skew - found) < _MATCHES else None

    def _skews(self, zone: Zone) -> None:
        """The skews at the zone's first tracks; with the number of tracks of a cylinder where it is not
        known.
        """
        room = (self.platter.sectors - zone.start) // zone.per_track - 1
        if self.tracks is None:
            wanted = min(_LONGEST_CYLINDER, room)
            found = [self._skew_at(zone, track) for track in range(1, wanted + 1)]
            counts: dict[int, int] = {}
            for skew in found:
                if skew is not None:
                    counts[skew] = counts.get(skew, 0) + 1
            if not counts:
                return
            zone.track_skew = max(counts, key=lambda skew: counts[skew])
            zone.track_seen = counts[zone.track_skew], sum(counts.values())
            others = [track for track, skew in enumerate(found, 1) if skew not in (zone.track_skew, None)]
            gaps = [second - first for first, second in itertools.pairwise(others)]
            if gaps and gaps.count(gaps[0]) > len(gaps) / 2:
                self.tracks = zone.tracks = gaps[0]
                zone.lead = (-others[0]) % gaps[0]
                zone.cylinder_skew = found[others[0] - 1]
                begins = [skew for skew in found[others[0] - 1 :: gaps[0]] if skew is not None]
                zone.cylinder_seen = begins.count(zone.cylinder_skew or 0), len(begins)
                zone.track_seen = zone.track_seen[0], zone.track_seen[1] - len(begins)
            elif len(others) == 0:
                zone.cylinder_skew, zone.cylinder_seen = zone.track_skew, zone.track_seen
            return
        zone.tracks = self.tracks
        alike = bool(self.zones) and self.zones[0].cylinder_skew == self.zones[0].track_skew
        cylinders = [first for first in _LOOKED_AT if (first + 1) * self.tracks < room]
        if self.tracks > 1:
            looks = [
                first * self.tracks + 1 + index % (self.tracks - 1)
                for index, first in enumerate([0, *cylinders])
            ]
            looks = [track for track in looks if track <= room]
            zone.track_skew, zone.track_seen = self._commonest(zone, looks)
        if alike and self.tracks > 1:
            zone.cylinder_skew, zone.cylinder_seen = zone.track_skew, zone.track_seen
        else:
            begins = [first * self.tracks for first in cylinders]
            zone.cylinder_skew, zone.cylinder_seen = self._commonest(zone, begins)
            if zone.track_skew is None:
                zone.track_skew, zone.track_seen = zone.cylinder_skew, zone.cylinder_seen

    def _commonest(self, zone: Zone, tracks: list[int]) -> tuple[int | None, tuple[int, int]]:
        """The skew that most of some tracks have, since defects move the sectors of others; and how many have
        it, of how many.
        """
        known: list[int] = []
        for track in tracks:
            skew = self._skew_at(zone, track)
            if skew is not None:
                known.append(skew)
            if known and known.count(known[-1]) >= 3:
                return known[-1], (known.count(known[-1]), len(known))
        found = max(set(known), key=known.count) if known else None
        return found, (known.count(found) if found is not None else 0, len(known))

    def _matches(self, zone: Zone, sector: int, skipped: int) -> bool:
        """Whether a sector of the device is where the zone has it with so many sectors skipped."""
        expected = zone.phase_of(sector - zone.start, skipped)
        try:
            found = self._end_of(sector)
        except MissingError:
            return False
        return abs(off(found - expected)) * zone.per_track < _MATCHES

    def _skipped_at(self, zone: Zone, sector: int, least: int, most: int) -> int | None:
        """The fewest sectors that addresses have skipped before one, where the zone explains its angle."""
        try:
            found = self._end_of(sector)
        except MissingError:
            return None
        for skipped in range(least, most + 1):
            expected = zone.phase_of(sector - zone.start, skipped)
            if abs(off(found - expected)) * zone.per_track < _MATCHES:
                # By chance some other number fits now and then: a sector further on tells.
                further = sector + max(zone.per_track // 3, 2)
                if further >= self.platter.sectors:
                    return skipped
                for more in range(skipped, skipped + 4):
                    if self._matches(zone, further, more):
                        return skipped
        return None

    def _walk(self, zone: Zone, last: int) -> None:
        """Goes on to the zone's end, with all that addresses skip in it."""
        good, skipped = zone.start, 0
        cylinder = (self.tracks or 8) * zone.per_track
        step = max(cylinder // 3, 16)
        finest = max(last // _FINEST, 16)
        while True:
            # The places within tracks vary.
            ahead = min(good + step + self.platter.random.randrange(max(zone.per_track // 2, 1)), last - 1)
            if ahead <= good:
                zone.end = last
                return
            found = self._skipped_at(zone, ahead, skipped, skipped + _MOST_SKIPPED)
            if found == skipped:
                good = ahead
                step = min(step * 2, finest)
                continue
            bad = ahead
            end = self._break(zone, good, bad, skipped)
            jump = self._jump(zone, end, skipped)
            if jump is None:
                zone.end = end
                return
            skipped += jump
            zone.skips.append((end - zone.start, skipped))
            good = end
            step = max(cylinder // 3, 16)

    def _break(self, zone: Zone, good: int, bad: int, skipped: int) -> int:
        """The first sector that is not where the zone has it, between one that is and one that is not."""
        while bad - good > 1:
            middle = (good + bad) // 2
            fits = self._matches(zone, middle, skipped)
            # By chance a sector of another zone may be there, too, and then most of its track.
            for back in (16, *(round(share * zone.per_track) for share in (0.31, 0.64, 1.0))):
                before = middle - back
                if fits and before > good:
                    fits = self._matches(zone, before, skipped)
            if fits:
                good = middle
            else:
                bad = middle
        return bad

    def _jump(self, zone: Zone, sector: int, skipped: int) -> int | None:
        """How many sectors are skipped just before one; None where another zone begins there."""
        # Behind a defect all sectors of the track are moved alike; in another zone tracks begin elsewhere.
        beyond = [sector + round(share * zone.per_track) - 1 for share in (0.2, 0.4, 0.6, 0.8, 1.0)]
        beyond = [one for one in beyond if one < self.platter.sectors]
        begins = (sector - zone.start + skipped) % zone.per_track == 0
        for jump in range(1, _MOST_SKIPPED + 1):
            if self._matches(zone, sector, skipped + jump):
                near = [sector + far for far in (1, 2, 5) if sector + far < self.platter.sectors]
                if not all(self._near(zone, one, skipped + jump) for one in near):
                    continue
                fits = sum(self._near(zone, one, skipped + jump) for one in beyond)
                # In the middle of a track nothing but a defect moves sectors by so few; the zone may end
                # soon.
                if fits >= max(len(beyond) - 1, 1) or (not begins and jump <= _FEW):
                    return jump
        # Whole tracks may be skipped: all that follows is moved alike.
        for tracks in range(1, 4):
            jump = tracks * zone.per_track
            if not self._matches(zone, sector, skipped + jump):
                continue
            reach = 6 * (self.tracks or 8) * zone.per_track
            places = [sector + self.platter.random.randrange(reach) for _ in range(12)]
            places = [one for one in places if one < self.platter.sectors]
            if (
                len(places) > 6
                and sum(self._near(zone, one, skipped + jump) for one in places) >= len(places) - 1
            ):
                return jump
        return None

    def _near(self, zone: Zone, sector: int, skipped: int) -> bool:
        """Whether a sector is where the zone has it with so many sectors skipped, or few more."""
        return any(self._matches(zone, sector, skipped + more) for more in range(4))


class UnclearError(Exception):
    """A stretch of the device whose sectors are at no even spaces."""


# Tracks that are looked at for the number of a cylinder's.
_LONGEST_CYLINDER = 66
