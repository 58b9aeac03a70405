"""Motions of the arm, from whether a sector is caught at its next turn.

A request is issued so that its sector comes by a chosen time later. If the arm is there in time, the request
is complete then; otherwise a turn later. The shortest time that is enough is found by bisection, at fresh
sectors each time, so that no memory serves them.
"""

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from diskwright.extracting._platter import ExhaustedError, Platter, off
from diskwright.extracting._zones import Layout, Zone

# How far a completion may be from the chosen instant, as a share of a turn.
_STRAY = 0.004
# Requests in a row that may tell nothing new.
_STAYS = 4
# Sectors of a track that are written.
_WRITTEN = 7
# Requests of a bisection that may go astray, and the most that it makes.
_ASTRAY, _MOST_PAIRS = 40, 150


@dataclass(frozen=True)
class Place:
    """A track of a zone."""

    zone: Zone
    track: int


@dataclass(frozen=True)
class Time:
    """A time in ns, with the half-width of the interval in which it lies."""

    ns: float
    half_width: float


class UnmeasuredError(Exception):
    """Too many requests did not take the time that the platter's angle gives them."""


class Motion:
    """Measures times of motions between tracks."""

    def __init__(self, platter: Platter, layout: Layout) -> None:
        self.platter = platter
        self.layout = layout
        # A request before which the drive is left alone for whole turns.
        self.rest_turns = 0
        # How the arm is put to a track: by a read, by a write, which no read-ahead follows, or by a write and
        # then a read that the drive's memory serves.
        self.by = "read"
        # How much later a write is complete than a read of the same sector, ns.
        self.write_late = 0.0
        # The longest response of a hit after a write, ns.
        self.hit_after_write = 0.0

    def fresh(self, place: Place) -> int:
        """A sector of a track that the drive's memory has no reason to hold."""
        zone = place.zone
        first = zone.first_of_track(place.track)
        last = min(zone.first_of_track(place.track + 1), zone.end - zone.start) - 1
        if last < first:
            raise UnmeasuredError
        for _ in range(20):
            sector = zone.start + self.platter.random.randint(first, last)
            if self.platter.is_fresh(sector):
                return sector
        left = [
            sector
            for sector in range(zone.start + first, zone.start + last + 1)
            if self.platter.is_fresh(sector)
        ]
        if not left:
            raise UnmeasuredError
        return self.platter.random.choice(left)

    def compare_writes(self) -> None:
        """How much later than reads writes are complete, at the same angle of the platter."""
        zone = max(self.layout.zones, key=lambda zone: zone.used_tracks)
        late = []
        for _ in range(9):
            sector = self.fresh(Place(zone, self.platter.random.randrange(zone.used_tracks - 1)))
            wrote = self.platter.ask(sector, 0.0, True)
            expected = zone.phase_of(sector - zone.start)
            late.append(off(self.platter.phase(wrote.end) - expected) * self.platter.turn)
        self.write_late = sorted(late)[len(late) // 2]
        responses = []
        for _ in range(9):
            kept = self.platter.random.randrange(self.platter.sectors)
            self.platter.ask(kept)
            self.platter.ask(self.platter.random.randrange(self.platter.sectors), 6 * self.platter.turn, True)
            responses.append(self.platter.ask(kept).response)
        usual = sorted(responses)[len(responses) // 2]
        # Where what was read is forgotten with a write, no hit follows one.
        self.hit_after_write = usual * 1.02 + 1000 if usual < 5 * self.platter.hit else 0.0

    def put(self, place: Place) -> None:
        """Puts the arm to a track."""
        self._put(self.fresh(place) if self.by == "read" else self._any(place), self.by)

    def _put(self, sector: int, by: str) -> int | None:
        """Puts the arm to a sector's track; gives the instant of the last completion, or None where the
        drive's memory was in the way.
        """
        platter = self.platter
        rest = self.rest_turns * platter.turn
        if by == "read":
            read = platter.ask(sector, rest)
            return read.end if read.response > platter.hit else None
        if by == "write":
            return platter.ask(sector, rest, True).end
        kept = platter.random.randrange(platter.sectors)
        platter.ask(kept, rest)
        platter.ask(sector, 6 * platter.turn, True)
        read = platter.ask(kept)
        return read.end if read.response <= self.hit_after_write else None

    def time(
        self,
        pairs: Callable[[], tuple[Place, Place]],
        resolution: float,
        write: bool = False,
        by: str | None = None,
    ) -> Time:
        """The shortest time from the issue of a request for the second of two tracks to its completion,
        after one
        for the first.
        """
        turn = self.platter.turn
        low, high = 0.0, math.inf
        astray = 0
        stays = 0
        for _ in range(_MOST_PAIRS):
            # Where completions are a little off, the interval stays wider than was wished for.
            if high - low <= resolution or stays > _STAYS:
                return Time((low + high) / 2, (high - low) / 2)
            wanted = (low + high) / 2 if math.isfinite(high) else turn * self.platter.random.uniform(0.3, 0.7)
            taken = self._taken(pairs(), wanted, write, by)
            if taken is None:
                astray += 1
                if astray > _ASTRAY:
                    raise UnmeasuredError
                continue
            if taken < low or taken - turn > high:
                # Contradicts the bisection so far: it begins anew from what this request tells.
                astray += 4
                if astray > _ASTRAY:
                    raise UnmeasuredError
                low, high = max(taken - turn, 0.0), float(taken)
                continue
            width = high - low
            high = min(high, float(taken))
            low = max(low, taken - turn)
            stays = stays + 1 if high - low > 0.9 * width else 0
        raise UnmeasuredError

    def is_caught(self, pairs: Callable[[], tuple[Place, Place]], wanted: float) -> bool:
        """Whether a request for the second of two tracks is complete a time after its issue, ns, which is
        less than a turn away from the shortest time that is enough.
        """
        for _ in range(_ASTRAY):
            taken = self._taken(pairs(), wanted, False, None)
            if taken is not None:
                return taken - wanted < self.platter.turn / 2
        raise UnmeasuredError

    def _taken(self, pair: tuple[Place, Place], wanted: float, write: bool, by: str | None) -> int | None:
        """How long a request takes that is issued so long before its sector is over, or whole turns later;
        None where it went astray.
        """
        platter, turn = self.platter, self.platter.turn
        before, after = pair
        by = by or self.by
        try:
            from_sector = self.fresh(before) if by == "read" else self._any(before)
            to_sector = self._any(after) if write else self.fresh(after)
        except UnmeasuredError:
            return None
        end = self._put(from_sector, by)
        if end is None:
            return None
        at = after.zone.phase_of(to_sector - after.zone.start) * turn + (self.write_late if write else 0.0)
        pause = (at - wanted - end) % turn + self.rest_turns * turn
        taken = platter.ask(to_sector, pause, write).response
        late = off(taken - wanted, turn)
        if abs(late) > max(_STRAY * turn, 4 * platter.noise) or taken <= platter.hit:
            return None
        return taken

    def _any(self, place: Place) -> int:
        """A sector of a track that may be written: always of the same few, so that the others stay fresh."""
        zone = place.zone
        first = zone.first_of_track(place.track)
        last = min(zone.first_of_track(place.track + 1), zone.end - zone.start) - 1
        if last < first:
            raise UnmeasuredError
        return zone.start + self.platter.random.randint(first, min(first + _WRITTEN, last))


def spread_distances(most: int, per_octave: int = 4) -> list[int]:
    """Distances from 1 on, at first all and then in equal ratios, up to the largest."""
    found = list(range(1, min(11, most + 1)))
    at = 10.0
    while at < most:
        at *= 2 ** (1 / per_octave)
        found.append(min(round(at), most))
    return sorted(set(found))


class Arm:
    """The arm of a drive: cylinders, and how long it takes between them."""

    def __init__(self, motion: Motion, resolution: float, tell: Callable[[float], None]) -> None:
        self.motion = motion
        self.platter = motion.platter
        self.layout = motion.layout
        self.resolution = resolution
        self.tell = tell
        self.base: Time | None = None
        self.switch: Time | None = None
        # By distance in cylinders, seek times in ns.
        self.seeks: dict[int, Time] = {}
        self.have_own_arms = False
        self.notes: list[str] = []
        # Whether it is known at which cylinder each zone begins.
        self.is_numbered = False
        # The zone in which most is measured, where it is not the largest one.
        self._zone: Zone | None = None

    def _sector_time(self, zone: Zone) -> float:
        return self.platter.turn / zone.per_track

    def _wide(self, found: Time) -> float:
        """The half-width of a motion's time, from which that of a request without motion is subtracted."""
        assert self.base is not None
        if self.platter.target.exact:
            return found.half_width
        return math.hypot(found.half_width, self.base.half_width)

    def _within(self, zone: Zone, tracks: int) -> Callable[[], tuple[Place, Place]]:
        """Pairs of tracks of a zone, so many tracks apart."""
        room = zone.used_tracks - 2 - tracks

        def pairs() -> tuple[Place, Place]:
            track = self.platter.random.randrange(max(room, 1))
            return Place(zone, track), Place(zone, track + tracks)

        return pairs

    def _from_cylinder(
        self, zone: Zone, cylinders: int, first: int = 0, by: int = 0
    ) -> Callable[[], tuple[Place, Place]]:
        """Pairs of tracks, from the first tracks of cylinders of a zone, so many cylinders on."""
        per_cylinder = zone.tracks or 1
        whole = (zone.used_tracks - 1 + zone.lead) // per_cylinder
        room = whole - cylinders - (1 if zone.lead else 0)
        offset = per_cylinder - zone.lead if zone.lead else 0

        def pairs() -> tuple[Place, Place]:
            cylinder = self.platter.random.randrange(max(room, 1))
            track = offset + cylinder * per_cylinder + first
            return Place(zone, track), Place(zone, track - first + cylinders * per_cylinder + by)

        return pairs

    def measure_base(self) -> None:
        """A request for another sector of the same track: all that is no motion."""
        if not self.platter.target.exact:
            self._choose_zone()
        zone = self._largest()
        self.base = self.motion.time(self._within(zone, 0), self.resolution)
        # Counted without the time that the sector itself takes to pass.
        self.base = Time(self.base.ns - self._sector_time(zone), self.base.half_width)

    def overhead(self, by: str, write: bool) -> Time:
        """The same for a read or a write after a read, a write, or a hit."""
        zone = self._largest()
        found = self.motion.time(self._within(zone, 0), self.resolution, write, by)
        return Time(found.ns - self._sector_time(zone), found.half_width)

    def write_motion(self, distance: int, by: str, base: Time) -> Time:
        """The time of a motion before a write: over cylinders of one zone, or to another head."""
        zone = self._largest()
        pairs = self._from_cylinder(zone, distance, 0, 0 if distance else 1)
        found = self.motion.time(pairs, self.resolution, True, by)
        return Time(found.ns - self._sector_time(zone) - base.ns, found.half_width + base.half_width)

    def _choose_zone(self) -> None:
        """Takes the largest zone in which requests take the times that the angles of its sectors give them:
        noise may have hidden what is skipped in one.
        """
        zones = sorted(self.layout.zones_of(0), key=lambda zone: zone.used_tracks, reverse=True)
        for zone in zones[:_MOST_ZONES]:
            try:
                self.motion.time(self._within(zone, 0), self.platter.turn / 20)
            except UnmeasuredError:
                continue
            self._zone = zone
            return

    def _largest(self) -> Zone:
        if self._zone is not None:
            return self._zone
        return max(self.layout.zones_of(0), key=lambda zone: zone.used_tracks)

    def find_cylinders(self) -> None:
        """How many tracks a cylinder has, where the skews do not tell: from the times between tracks.

        From the first track of a cylinder to the others of it they are a head switch. The first that differs
        is the same head's in the next cylinder, if a switch takes longer than the seek there. If it is
        shorter, or as long, times rise from one cylinder to the next, and two changes tell.
        """
        zone = self.layout.zones[0]
        most = min(_MOST_HEADS * 3 + 2, zone.used_tracks - 2)
        tolerance = 4 * self.resolution
        if not self.platter.target.exact:
            self._find_same_head(most, 2 * tolerance)
            return

        def pair(track: int) -> Callable[[], tuple[Place, Place]]:
            return lambda: (Place(zone, 0), Place(zone, track))

        def change_after(track: int) -> tuple[int, bool] | None:
            """The first track behind one whose time is another, and whether it is longer."""
            time = self.motion.time(pair(track), self.resolution).ns
            for other in range(track + 1, most + 1):
                if self.motion.is_caught(pair(other), time - tolerance):
                    return other, False
                if not self.motion.is_caught(pair(other), time + tolerance):
                    return other, True
            return None

        first = change_after(1)
        found = None
        if first is not None:
            track, is_longer = first
            if is_longer:
                second = change_after(track)
                found = None if second is None else second[0] - track
            else:
                found = track
        if found is None:
            self.notes.append("no change of the time between tracks tells where cylinders begin")
        self._set_tracks(found or 1)

    def _find_same_head(self, most: int, tolerance: float) -> None:
        """The same from any tracks, since the first ones do not have fresh sectors enough for many answers.

        To a track of the same head in the next cylinder the arm is sooner than to one of another head.
        """
        zone = self._largest()
        time = self.motion.time(self._within(zone, 1), self.resolution).ns
        for tracks in range(2, most + 1):
            if self.motion.is_caught(self._within(zone, tracks), time - tolerance):
                self._set_tracks(tracks)
                return
        self.notes.append("no change of the time between tracks tells where cylinders begin")
        self._set_tracks(1)

    def _set_tracks(self, tracks: int) -> None:
        self.layout.tracks = tracks
        for zone in self.layout.zones:
            zone.tracks = tracks

    def measure_switch(self) -> None:
        """The time to another track of the same cylinder."""
        zone = self._largest()
        if (zone.tracks or 1) < 2:
            return
        assert self.base is not None
        found = self.motion.time(self._from_cylinder(zone, 0, 0, 1), self.resolution)
        self.switch = Time(found.ns - self._sector_time(zone) - self.base.ns, self._wide(found))

    def seek_within(self, distance: int) -> Time:
        """The time of a seek that fits into one zone."""
        known = self.seeks.get(distance)
        if known is not None:
            return known
        assert self.base is not None
        zone = self._largest()
        found = self.motion.time(self._from_cylinder(zone, distance), self.resolution)
        self.seeks[distance] = Time(found.ns - self._sector_time(zone) - self.base.ns, self._wide(found))
        return self.seeks[distance]

    def distances_within(self, per_octave: int) -> list[int]:
        """Distances of seeks that fit well into one zone."""
        return spread_distances(max((self.cylinders_of(self._largest()) - 2) // 2, 1), per_octave)

    def cylinders_of(self, zone: Zone) -> int:
        """Cylinders with data, of a zone."""
        per_cylinder = zone.tracks or 1
        return (zone.used_tracks + zone.lead + per_cylinder - 1) // per_cylinder

    def number_cylinders(self) -> None:
        """The cylinder at which each zone begins: behind the one before, with cylinders between that hold no
        data.
        """
        done = 0
        for part in range(self.layout.ranges):
            at = 0
            previous: Zone | None = None
            for zone in self.layout.zones_of(part):
                if previous is not None:
                    at += self.cylinders_of(previous)
                    previous.hidden = self._hidden(previous, zone)
                    at += previous.hidden
                zone.first_cylinder = at
                previous = zone
                done += 1
                self.tell(done / len(self.layout.zones))
        self.is_numbered = True

    def find_arms(self) -> None:
        """Whether parts of the address space have arms of their own, that stay where they are while others
        move.
        """
        if self.layout.ranges == 1:
            return
        assert self.base is not None
        here, there = self.layout.zones_of(0)[0], self.layout.zones_of(1)[-1]
        far = Place(there, there.used_tracks - 2)

        def pairs() -> tuple[Place, Place]:
            track = Place(here, self.platter.random.randrange(here.tracks or 1))
            self.motion.put(track)
            return far, track

        time = self.motion.time(pairs, self.resolution * 64)
        moved = time.ns - self._sector_time(here) - self.base.ns
        self.have_own_arms = moved < 0.2e6

    def _hidden(self, before: Zone, after: Zone) -> int:
        """Cylinders between two zones, by how long the arm takes from one to the other."""
        assert self.base is not None
        whole = self.cylinders_of(before)
        limit = self.cylinders_of(self._largest()) - 10
        wanted = []
        widths: list[float] = []
        for back in (0, 3, 7):
            if back >= whole:
                continue
            pairs = partial(self._of_one_head, before, whole - 1 - back, after)
            try:
                found = self.motion.time(pairs, self.resolution)
            except UnmeasuredError:
                continue
            widths.append(self._wide(found))
            wanted.append((back + 1, found.ns - self._sector_time(after) - self.base.ns))
        if not wanted:
            self.notes.append(
                f"cylinders between sectors {before.end - 1} and {before.end} could not be counted"
            )
            return 0

        def error(hidden: int) -> float:
            return sum(abs(self.seek_within(least + hidden).ns - time) for least, time in wanted)

        if error(0) < 4 * self.resolution * len(wanted):
            before.hidden_error = self._uncertain(wanted[0][0], widths)
            return 0
        # The curve rises but for the roughness of its points: bisection, and then the neighbours.
        low, high = 0, 1
        least, time = wanted[-1]
        while least + high < limit and self.seek_within(least + high).ns < time:
            low, high = high, high * 2
        high = min(high, limit - least)
        while high - low > 1:
            middle = (low + high) // 2
            if self.seek_within(least + middle).ns < time:
                low = middle
            else:
                high = middle
        near = range(max(low - 4, 0), min(high + 5, limit - 4))
        if not near:
            self.notes.append(
                f"cylinders between sectors {before.end - 1} and {before.end} could not be counted"
            )
            return 0
        hidden = min(near, key=error)
        before.hidden_error = self._uncertain(wanted[0][0] + hidden, widths)
        return hidden

    def _uncertain(self, distance: int, widths: list[float]) -> float:
        """The cylinders that seek times around a distance do not tell apart."""
        if self.platter.target.exact:
            return 0.0
        width = math.sqrt(sum(one**2 for one in widths)) / len(widths)
        curve = sorted(self.seeks.items())
        slopes = [
            (later.ns - sooner.ns) / (far - near)
            for (near, sooner), (far, later) in itertools.pairwise(curve)
            if near <= distance + 20 and far >= distance - 10
        ]
        slope = sorted(slopes)[len(slopes) // 2] if slopes else 0.0
        return width / slope if slope > 0 else float(distance)

    def _of_one_head(self, before: Zone, cylinder: int, after: Zone) -> tuple[Place, Place]:
        """A track of a cylinder of a zone, counted from the zone's first, and one of the same head in the
        first cylinder of another zone: so that no head switch takes longer than the seek.
        """
        heads = before.tracks or 1
        last = min((cylinder + 1) * heads - before.lead, before.used_tracks - 1) - 1
        first = max(cylinder * heads - before.lead, 0)
        if last < first:
            last = first
        track = self.platter.random.randint(first, last)
        head = (track + before.lead) % heads
        return Place(before, track), Place(after, max(head - after.lead, 0))

    def measure_curve(self, per_octave: int) -> None:
        """Seek times of distances up to the longest between sectors."""
        zones = self.layout.zones_of(0)
        # The last cylinder may have too few sectors.
        last = zones[-1].first_cylinder + self.cylinders_of(zones[-1]) - 2
        within = self.cylinders_of(self._largest()) - 2
        distances = spread_distances(last, per_octave)
        for index, distance in enumerate(distances):
            try:
                if distance <= within // 2:
                    self.seek_within(distance)
                else:
                    self._seek_across(distance)
            except UnmeasuredError:
                self.notes.append(f"a seek over {distance} cylinders could not be measured")
            self.tell((index + 1) / len(distances))

    def _seek_across(self, distance: int) -> None:
        assert self.base is not None
        zones = self.layout.zones_of(0)
        last = zones[-1].first_cylinder + self.cylinders_of(zones[-1]) - 1
        pairs = []
        for start in _starts(last - distance):
            before, after = self._at(start), self._at(start + distance)
            if before is not None and after is not None:
                pairs.append((before, after))
        if not pairs:
            raise UnmeasuredError
        # One zone for the second track, so that its sectors take one time.
        zone = pairs[0][1].zone
        pairs = [pair for pair in pairs if pair[1].zone is zone]
        found = self.motion.time(lambda: self.platter.random.choice(pairs), self.resolution * 4)
        self.seeks[distance] = Time(found.ns - self._sector_time(zone) - self.base.ns, self._wide(found))

    def _at(self, cylinder: int) -> Place | None:
        """The first track of a cylinder, where it has data."""
        for zone in self.layout.zones_of(0):
            index = cylinder - zone.first_cylinder
            if 0 <= index < self.cylinders_of(zone):
                track = index * (zone.tracks or 1) - zone.lead
                return Place(zone, track) if 0 <= track < zone.used_tracks - 1 else None
        return None


def _starts(room: int) -> Iterable[int]:
    """Cylinders from 0 up to `room`."""
    count = min(room + 1, 400)
    return (room * index // max(count - 1, 1) for index in range(count))


_MOST_HEADS = 32
# Zones that are tried for most measurements.
_MOST_ZONES = 6

__all__ = ["Arm", "ExhaustedError", "Motion", "Place", "Time", "UnmeasuredError", "spread_distances"]
