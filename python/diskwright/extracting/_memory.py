"""A drive's memory: hits, the interface, how much is kept, what is read ahead, the write cache; and the
overheads of requests by kind.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from diskwright.extracting._motion import Arm, Place, Time, UnmeasuredError
from diskwright.extracting._platter import Platter, off
from diskwright.extracting._zones import Zone

# Sectors of the reads whose hits are timed.
_SIZES = (1, 2, 4, 8, 16, 32)
# Places that a memory of segments may keep; one that keeps more is shared.
_MOST_SEGMENTS = 64
# Blocks of the reads that fill a shared memory, and the most that is looked for.
_FILL, _LARGEST = 2048, 2 * 2**20
# Blocks of a segment that are looked for, and of read-ahead.
_MOST_RUN = 8192
# Sectors of the reads that tell when the interface is taken, and how many of each.
_LENGTHS, _LOOKS = (1, 2, 4, 8, 12, 16, 24), 7
# Distances in cylinders at which seeks before writes are measured, for each octave.
_WRITES_PER_OCTAVE = 2


@dataclass
class Memory:
    """What is known of it; times in ns, sizes in blocks.

    hit: the controller's time for a hit. block_time: of the interface.
    segments: places that are kept, of a memory of segments; None for a shared one. size: of a segment, or of
        all.
    reads_ahead: blocks behind a read, after which nothing goes on; for a shared memory behind the second of
        two reads that follow each other.
    waits_for: the share of a read that has to be there before it crosses the interface.
    absorbs_writes: whether writes are complete before they are on the medium.
    overheads: by kind, "read_after_write" and so on.
    """

    hit: float | None = None
    block_time: float | None = None
    # Half the widths of their intervals, ns.
    hit_half_width: float = 0.0
    block_half_width: float = 0.0
    segments: int | None = None
    size: int | None = None
    is_shared: bool = False
    reads_ahead: int | None = None
    absorbs_writes: bool | None = None
    waits_for: float | None = None
    absorbed: float | None = None
    absorbed_after_read: float | None = None
    overheads: dict[str, Time] = field(default_factory=dict)
    write_switch: Time | None = None
    write_seeks: dict[int, Time] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class _Measuring:
    def __init__(self, platter: Platter, arm: Arm) -> None:
        self.platter = platter
        self.arm = arm
        self.memory = Memory()
        self._cursor = platter.sectors * 5 // 8

    def _place(self, sectors: int = 1) -> int:
        """A place in the first half of the device where nothing was read."""
        for _ in range(200):
            place = self.platter.random.randrange(self.platter.sectors // 2)
            if all(self.platter.is_fresh(place + index) for index in range(min(sectors, 64))):
                return place
        raise UnmeasuredError

    def _read(self, sector: int, sectors: int = 1, pause_turns: float = 0.0, write: bool = False) -> int:
        """The response of a read of which no note is taken, ns."""
        per, turn = self.platter.per_sector, self.platter.turn
        issue, end = self.platter.target.ask(
            round(pause_turns * turn), sector * per, sectors * per, write, False
        )
        return end - issue

    def _longest_hit(self) -> float:
        """The longest response of a hit: where times have noise, what is nearer to one than to any other."""
        if self.platter.target.exact or self.arm.base is None:
            return self.platter.hit
        return max(self.platter.hit, (self.platter.hit + self.arm.base.ns) / 2)

    def _is_hit(self, sector: int) -> bool:
        return self.platter.ask(sector).response <= self._longest_hit()

    def hits(self) -> None:
        """The time of a hit and of a block on the interface: from hits of several sizes."""
        sizes, times = [], []
        for size in _SIZES:
            responses = []
            for _ in range(5):
                place = self._place(size + 1)
                self._read(place, size)
                responses.append(self._read(place, size))
            response = float(np.median(responses))
            if response > self.platter.turn:
                break
            sizes.append(size * self.platter.per_sector)
            times.append(response)
        if len(sizes) < 3:
            return
        slope, start = np.polyfit(sizes, times, 1)
        self._set_widths(np.array(sizes, dtype=float), np.array(times) - start - slope * np.array(sizes))
        self.memory.block_time = max(float(slope), 0.0)
        self.memory.hit = max(float(start), 0.0)

    def _set_widths(self, sizes: NDArray[np.float64], rest: NDArray[np.float64]) -> None:
        """Half the widths of the intervals of a hit's time and a block's, by how far hits are off a line."""
        count = len(sizes)
        variance = max(float(np.sum(rest**2)) / (count - 2), 1.0)
        spread = float(np.sum((sizes - sizes.mean()) ** 2))
        factor = float(t.ppf(0.975, count - 2))
        self.memory.block_half_width = factor * math.sqrt(variance / spread)
        self.memory.hit_half_width = factor * math.sqrt(variance * (1 / count + sizes.mean() ** 2 / spread))

    def _most(self, holds: Callable[[int], bool], least: int, most: int) -> int:
        """The largest number for which something holds, that holds for small ones."""
        if not self.platter.target.exact:
            once = holds

            def agreed(count: int) -> bool:
                # Of three answers one may be late.
                first, second = once(count), once(count)
                return first if first == second else once(count)

            holds = agreed

        low, high = 0, least
        while high < most and holds(high):
            low, high = high, min(high * 2, most)
        if high == most and holds(most):
            return most
        while high - low > max(low // 256, 1):
            middle = (low + high) // 2
            if holds(middle):
                low = middle
            else:
                high = middle
        return low

    def kept(self) -> None:
        """How many places are kept, and how much of one or of all."""

        def keeps(others: int) -> bool:
            place = self._place()
            self._read(place)
            for _ in range(others):
                self._read(self._place())
            return self._is_hit(place)

        others = self._most(keeps, 1, _MOST_SEGMENTS)
        if others >= _MOST_SEGMENTS:
            self.memory.is_shared = True
            self.memory.size = self._shared_size()
            return
        self.memory.segments = others + 1
        self.memory.size = self._segment_size()

    def _shared_size(self) -> int | None:
        per = self.platter.per_sector
        run = _FILL // per

        def keeps(runs: int) -> bool:
            place = self._place()
            self._read(place)
            for _ in range(runs):
                # Behind each run some blocks are left out, so that no stream is seen.
                if self._cursor + 2 * run > self.platter.sectors:
                    self._cursor = self.platter.sectors * 5 // 8
                self._read(self._cursor, run)
                self._cursor += run + 64
            return self._is_hit(place)

        most = min(_LARGEST * 2 // _FILL, (self.platter.sectors * 3 // 8) // (run + 64) - 1)
        runs = self._most(keeps, 4, most)
        return (runs + 1) * _FILL if runs < most else None

    def _segment_size(self) -> int | None:
        hit = (self.memory.hit or 0.0) * 1.05 + 2000
        if not self.platter.target.exact:
            hit += 6 * self.platter.noise
        per = self.platter.per_sector
        block = self.memory.block_time or 0.0

        def keeps(sectors: int) -> bool:
            place = self._place(sectors)
            self._read(place, sectors)
            return self._read(place, sectors) <= hit + block * sectors * per * 1.02

        most = _MOST_RUN // per
        found = self._most(keeps, 8, most)
        return found * per if 8 <= found < most else None

    def read_ahead(self) -> None:
        """How far is read behind a read that is left alone."""
        per = self.platter.per_sector
        shared = self.memory.is_shared

        def reaches(sectors: int) -> bool:
            place = self._place(4)
            self._read(place)
            behind = place
            if shared:
                behind = place + 1
                self._read(behind)
            # Long enough for all of it, at as few sectors a turn as any drive has.
            return self._read(behind + sectors, 1, 12 + sectors / 40) <= self._longest_hit()

        found = self._most(reaches, 1, _MOST_RUN // per)
        self.memory.reads_ahead = found * per

    def writes(self) -> None:
        """Whether writes are complete before they are on the medium."""
        responses = []
        for _ in range(9):
            responses.append(self._read(self._place(), 1, 3.0, True))
        middle = float(np.median(responses))
        spread = float(np.percentile(responses, 80) - np.percentile(responses, 20))
        self.memory.absorbs_writes = spread < 0.1 * self.platter.turn and middle < 0.5 * self.platter.turn
        if self.memory.absorbs_writes:
            self.memory.absorbed = middle

    def writes_after_reads(self) -> None:
        """How soon writes are complete after reads, where they need not wait for the medium."""
        if not self.memory.absorbs_writes:
            return
        responses = []
        for _ in range(9):
            self._read(self._place(), 1, 3.0)
            responses.append(self._read(self._place(), 1, 12.0, True))
        self.memory.absorbed_after_read = float(np.median(responses))

    def interface(self) -> None:
        """How much of a read has to be in the memory before it crosses the interface: from how much later
        longer reads are complete than their last sectors are over.

        Blocks cross one after the other. Those of a read of n sectors that begins to cross when a share w of
        them is there are across n b - (1 - w) n s after its end, where b is a sector's time on the interface
        and s that under the head.
        """
        zone = max(self.arm.layout.zones_of(0), key=lambda zone: zone.used_tracks)
        block = (self.memory.block_time or 0.0) * self.platter.per_sector
        passing = self.platter.turn / zone.per_track
        if not block or self.memory.is_shared:
            return
        sizes, lates = [], []
        for size in _LENGTHS:
            if size > zone.per_track // 3 or (size * block) > self.platter.turn / 2:
                break
            found = [late for _ in range(_LOOKS) if (late := self._late(zone, size)) is not None]
            if len(found) > _LOOKS // 2:
                sizes.append(size)
                lates.append(float(np.median(found)))
        if len(sizes) < 3:
            return
        slope = float(np.polyfit(sizes, lates, 1)[0])
        if slope > 0.05 * block:
            self.memory.waits_for = min(max(1 - (block - slope) / passing, 0.0), 1.0)

    def _late(self, zone: Zone, size: int) -> float | None:
        """How much later than usual after the end of its last sector a read of one track is complete, ns."""
        place = Place(zone, self.platter.random.randrange(1, zone.used_tracks - 2))
        first = zone.first_of_track(place.track)
        last = zone.first_of_track(place.track + 1) - 1
        if last - first < size or zone.skipped(first) != zone.skipped(last):
            return None
        begin = self.platter.random.randint(first, last - size + 1)
        if not all(self.platter.is_fresh(zone.start + begin + index) for index in range(size)):
            return None
        read = self.platter.ask(zone.start + begin, 0.0, False, size)
        if read.response <= self.platter.hit:
            return None
        late = self.platter.phase(read.end) - zone.phase_of(begin + size - 1)
        return (late % 1.0) * self.platter.turn if size > 1 else off(late) * self.platter.turn

    def overheads(self) -> None:
        """What a request for the track on which the arm is takes, but for the platter, by kinds."""
        may_write = self.platter.target.may_write
        if may_write:
            self.arm.motion.compare_writes()
        for kind, by, write in (
            ("read_after_read", "hit" if self.platter.hit and may_write else "read", False),
            ("read_after_write", "write", False),
            ("write_after_read", "hit" if self.platter.hit and may_write else "read", True),
            ("write_after_write", "write", True),
        ):
            if not may_write and "write" in kind:
                continue
            try:
                self.memory.overheads[kind] = self.arm.overhead(by, write)
            except UnmeasuredError:
                self.memory.notes.append(f"the overhead of a {kind.replace('_', ' ')} could not be measured")

    def write_motions(self) -> None:
        """Motions before writes."""
        base = self.memory.overheads.get("write_after_write")
        if base is None:
            return
        if (self.arm.layout.tracks or 1) > 1:
            try:
                self.memory.write_switch = self.arm.write_motion(0, "write", base)
            except UnmeasuredError:
                self.memory.notes.append("a head switch before a write could not be measured")
        for distance in self.arm.distances_within(_WRITES_PER_OCTAVE):
            try:
                self.memory.write_seeks[distance] = self.arm.write_motion(distance, "write", base)
            except UnmeasuredError:
                self.memory.notes.append(
                    f"a seek before a write over {distance} cylinders could not be measured"
                )


def measure_memory(platter: Platter, arm: Arm, tell: Callable[[float], None]) -> Memory:
    """Measures all of it that the target allows."""
    measuring = _Measuring(platter, arm)
    memory = measuring.memory
    steps: list[tuple[str, Callable[[], None]]] = []
    if platter.hit:
        steps += [
            ("hits", measuring.hits),
            ("places that are kept", measuring.kept),
            ("read-ahead", measuring.read_ahead),
        ]
    if platter.target.may_write:
        steps += [("the write cache", measuring.writes)]
    steps += [("overheads", measuring.overheads)]
    if platter.target.may_write:
        steps += [("motions before writes", measuring.write_motions)]
    if platter.hit:
        steps += [("the interface", measuring.interface)]
    if platter.target.may_write:
        steps += [("writes after reads", measuring.writes_after_reads)]
    for index, (name, step) in enumerate(steps):
        tell(index / len(steps))
        try:
            step()
        except UnmeasuredError:
            memory.notes.append(f"{name}: no fresh places are left to measure with")
    return memory
