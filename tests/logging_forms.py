"""Latencies of drives with several arms, and of logs, in ms: the forms of `docs/model/logging.md`."""

import tomllib
from dataclasses import dataclass
from itertools import count
from math import floor

import diskwright

REGION = 1_000_000
BLOCK = 8
# Steps over which what depends on the platter's angle is averaged.
_ANGLES = 400


@dataclass(frozen=True)
class Disk:
    """A drive of one zone with a straight seek curve."""

    turn: float
    sectors: int
    surfaces: int
    switch: float
    settle: float
    single: float
    slope: float

    @property
    def slot(self) -> float:
        """The time of a block of 4 KiB."""
        return self.turn * BLOCK / self.sectors

    def seek(self, distance: int) -> float:
        """The time of a seek, for reads."""
        return self.single + self.slope * (distance - 1) if distance else 0.0

    def motion(self, blocks: int = REGION) -> float:
        """The motion between two random places in the first `blocks` blocks, for reads."""
        cylinders = blocks / (self.surfaces * self.sectors)
        whole = floor(cylinders)
        # Each whole cylinder weighs 1, the last one what it holds.
        last = cylinders - whole
        apart = sum(2 * (whole - distance) * self.seek(distance) for distance in range(1, whole))
        apart += sum(2 * last * self.seek(distance) for distance in range(1, whole + 1))
        together = (whole + last**2) * (1 - 1 / self.surfaces) * self.switch
        return (apart + together) / cylinders**2

    def one_arm(self) -> float:
        """A read of 4 KiB."""
        return self.motion() + self.turn / 2 + self.slot

    def two_arms(self) -> float:
        """The same with two arms opposite each other, of which the sooner serves."""
        return self.motion() + self.turn / 4 + self.slot

    def striped(self, turns: float = 1 / 2) -> float:
        """The same in halves on two drives, with `turns` turns of rotation."""
        return self.motion(REGION // 2) + turns * self.turn + self.slot / 2

    def free_slot(self, density: float, may_leave: bool = True) -> float:
        """How long a write positions where each slot is free with this probability, independently, and the
        arm has just read: one slot of its track is not free.

        may_leave: whether it looks at other cylinders than its own.
        """
        starts = [self.slot * (step + 0.5) / _ANGLES for step in range(_ANGLES)]
        return sum(self._soonest(start, density, may_leave) for start in starts) / _ANGLES

    def _soonest(self, first: float, density: float, may_leave: bool) -> float:
        """The same where the next slot comes by after a time `first`."""
        mean, left = 0.0, 1.0
        for number in count():
            at = first + number * self.slot
            own = density * (1 - BLOCK / self.sectors)
            some = 1 - (1 - own) * (1 - density) ** (self._tracks(at, may_leave) - 1)
            mean += left * some * at
            left *= 1 - some
            # What is left out is less than a part in a million million.
            if left < 1e-12:
                return mean
        raise AssertionError("there is no last slot")

    def _tracks(self, time: float, may_leave: bool) -> int:
        """The tracks on which a write can begin after this time."""
        tracks = 1
        if time >= self.switch + self.settle:
            tracks = self.surfaces
        beyond = time - self.settle - self.single
        if may_leave and beyond >= 0:
            tracks += 2 * self.surfaces * (1 + floor(beyond / self.slope))
        return tracks


def disk(name: str) -> Disk:
    """A drive that comes with diskwright."""
    found = tomllib.loads(diskwright.drive_toml(name))
    (zone,) = found["layout"]["zone"]
    seek = found["seek"]["linear"]
    single = _ms(seek["single"])
    return Disk(
        turn=60_000 / float(found["rotation"].removesuffix(" rpm")),
        sectors=zone["sectors_per_track"],
        surfaces=found["layout"]["surfaces"],
        switch=_ms(found["heads"]["switch"]),
        settle=_ms(found["heads"]["write_settle"]),
        single=single,
        slope=(_ms(seek["full"]) - single) / (found["layout"]["cylinders"] - 2),
    )


def _ms(text: str) -> float:
    return float(text.removesuffix(" ms"))
