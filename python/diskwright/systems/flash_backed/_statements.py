"""The statements on flash-backed requests, each on the drive's measured curve and on its full model."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from diskwright.reproduce import Call, Claim, Statement, Work, above, below, near
from diskwright.systems.flash_backed._devices import CURVE, MECHANICAL
from diskwright.systems.flash_backed._loads import ENG, HP, LOADS, MAC, WINPC
from diskwright.systems.flash_backed._points import HISTOGRAMS, SMALL_MB, SPEED_MB
from diskwright.systems.flash_backed._runs import (
    QUEUES,
    SIZE_MB,
    SIZES_MB,
    WITH,
    WITHOUT,
    both,
    disk_time,
    disk_writes,
    flash_backed,
    flash_mb,
    flush_share_with_idle,
    idle_share,
    overwrites,
    ratio,
    ratio_with_idle,
    write_ms,
    years,
)

Runs = Mapping[str, Any]
SMALL = 0.1
"""What "small" is taken for: a difference of a tenth."""


def on_both(id: str, text: str, paper: Claim, work: Any, measure: Any) -> list[Statement]:
    """A statement on the measured curve, and on the full model."""
    return [
        Statement(id=id, text=text, paper=paper, work=work(CURVE), measure=measure),
        Statement(
            id=f"{id}-mechanical",
            text=f"{text} On the full model of the drive.",
            paper=paper,
            work=work(MECHANICAL),
            measure=measure,
        ),
    ]


def at(mb: float, load: str = HP) -> Any:
    """A load with an FQueue of a size and without."""
    return lambda medium: both(load, medium, mb)


def by_queue(medium: str) -> dict[str, Work]:
    """The HP week in each order and size, with and without."""
    found: dict[str, Work] = {}
    for queue in QUEUES:
        found[f"{queue} {WITHOUT}"] = flash_backed(HP, medium, SIZE_MB, queue=queue, rule="never")
        found |= {f"{queue} {mb}": flash_backed(HP, medium, mb, queue=queue) for mb in SIZES_MB}
    return found


def normalised(runs: Runs, queue: str, mb: float) -> float:
    """The time of writes in an order with an FQueue of a size, to that without."""
    return write_ms(runs[f"{queue} {mb}"]) / write_ms(runs[f"{queue} {WITHOUT}"])


def spread(runs: Runs) -> float:
    """The largest difference between two orders at one size."""
    pairs = [(mb, one, other) for mb in SIZES_MB for one, other in combinations(QUEUES, 2)]
    return max(abs(normalised(runs, one, mb) - normalised(runs, other, mb)) for mb, one, other in pairs)


def raw_spread(runs: Runs) -> float:
    """The largest difference between two orders without an FQueue, to the shortest time."""
    times = [write_ms(runs[f"{queue} {WITHOUT}"]) for queue in QUEUES]
    return (max(times) - min(times)) / min(times)


def by_size(medium: str) -> dict[str, Work]:
    """The HP week with each size."""
    return {f"{mb}": flash_backed(HP, medium, mb) for mb in SIZES_MB}


def ends(medium: str) -> dict[str, Work]:
    """The same with the smallest and the largest."""
    return {f"{mb}": flash_backed(HP, medium, mb) for mb in (SIZES_MB[0], SIZES_MB[-1])}


def fall(runs: Runs) -> float:
    """The share of accesses that flush with the largest FQueue, to that with the smallest."""
    first, *_, last = (flush_share_with_idle(runs[size]) for size in runs)
    return last / first


def filled(medium: str) -> dict[str, Work]:
    """The HP week with FQueues that it fills."""
    return {f"{mb}": flash_backed(HP, medium, mb, idle="watermark") for mb in (0.5, 4)}


PACE = 1_000


def linear(runs: Runs) -> float:
    """The correlation of years with size."""
    from statistics import correlation

    found = [(float(mb), years(runs[f"{mb}"])) for mb in SIZES_MB]
    return correlation([mb for mb, _ in found], [float(value or 0.0) for _, value in found])


def slope(runs: Runs) -> float:
    """Years for each 10 MB, by least squares."""
    from statistics import linear_regression

    found = [years(runs[f"{mb}"]) for mb in SIZES_MB]
    return 10 * linear_regression(SIZES_MB, [float(value or 0.0) for value in found]).slope


def of_loads(medium: str) -> dict[str, Work]:
    """Every load with each size, and without."""
    return {
        f"{load} {name}": run
        for load in LOADS
        for mb in SIZES_MB
        for name, run in (
            (f"{mb}", flash_backed(load, medium, mb)),
            (WITHOUT, flash_backed(load, medium, rule="never")),
        )
    }


def least_idle(runs: Runs) -> float:
    """The least over loads of the largest share over sizes."""
    return min(
        max(idle_share({WITH: runs[f"{load} {mb}"], WITHOUT: runs[f"{load} {WITHOUT}"]}) for mb in SIZES_MB)
        for load in LOADS
    )


def memory_share(memory_mib: float) -> Mapping[str, Any]:
    """What an FQueue of 100 MB is of a memory."""
    return {"share": 100e6 / (memory_mib * 2**20)}


STATEMENTS = [
    *on_both(
        "write-time-80mb",
        "Fig. 7: with 80 MB the time of writes is down to this share; HP week, C-LOOK.",
        near(0.3),
        at(SIZE_MB),
        ratio,
    ),
    *on_both(
        "idle-share-10mb",
        "Fig. 8 (a): with 10 MB, flushing in idle time is this share of the writing without an FQueue; HP "
        "week.",
        near(0.9),
        at(SMALL_MB),
        idle_share,
    ),
    *on_both(
        "write-time-with-idle",
        "Fig. 9: with flushing in idle time, 80 MB, the time of writes is down by 30 to 50 %; HP week.",
        near(0.6),
        at(SIZE_MB),
        ratio_with_idle,
    ),
    *on_both(
        "write-time-with-idle-eng",
        "The same of the engineering workstation. On a stand-in for its trace.",
        near(0.6),
        at(SIZE_MB, ENG),
        ratio_with_idle,
    ),
    *on_both(
        "write-time-with-idle-winpc",
        "Of the Windows desktop it is above 1. On a stand-in for its trace.",
        above(1),
        at(SIZE_MB, WINPC),
        ratio_with_idle,
    ),
    *on_both(
        "write-time-with-idle-mac",
        "Of the PowerBook it is above 1. On a stand-in for its trace.",
        above(1),
        at(SIZE_MB, MAC),
        ratio_with_idle,
    ),
    *on_both(
        "idle-share-least",
        "Fig. 8 (a): at least 20 % of all writing is done in idle time: the least share of all loads, "
        "stand-ins among "
        "them, each with the size at which it is largest.",
        above(0.2),
        of_loads,
        least_idle,
    ),
    *on_both(
        "schedulers-spread",
        "Fig. 7: the orders of the Request Queue hardly differ once each is normalised to itself: the "
        "largest "
        "difference of two, over all sizes; HP week. The bound of a tenth is ours.",
        below(SMALL),
        by_queue,
        spread,
    ),
    *on_both(
        "schedulers-raw",
        "Their times themselves do differ: by so much more than that, without an FQueue, to the shortest; "
        "HP week.",
        above(0),
        by_queue,
        lambda runs: raw_spread(runs) - spread(runs),
    ),
    *on_both(
        "flush-share-falls",
        "Fig. 8 (b): the share of accesses that flush falls with the size: with 250 MB, to that with 10 "
        "MB; HP week. With "
        "those in idle time, since there are no others: the HP week fills no FQueue of 10 MB.",
        below(1),
        ends,
        fall,
    ),
    *on_both(
        "flush-share-falls-small",
        "The same with 4 MB, to that with 0.5 MB, which the HP week fills where nothing is purged in idle "
        "time.",
        below(1),
        filled,
        fall,
    ),
    *on_both(
        "overwrites-most",
        "Fig. 12: at most 15 % of the writes overwrite the FQueue, at any size; HP week.",
        below(0.15),
        by_size,
        lambda runs: max(overwrites(run) for run in runs.values()),
    ),
    *on_both(
        "disk-time",
        "Fig. 13 (a): the medium is busy for slightly less time, 80 MB; HP week.",
        below(1),
        at(SIZE_MB),
        disk_time,
    ),
    *on_both(
        "disk-writes",
        "Fig. 13 (b): the medium has slightly fewer writes, 80 MB; HP week.",
        below(1),
        at(SIZE_MB),
        disk_writes,
    ),
    *on_both(
        "endurance-linear",
        "Fig. 10: endurance is linear in the size: the correlation; HP week.",
        near(1),
        by_size,
        linear,
    ),
    *on_both(
        "endurance-slope",
        "Fig. 10: 10 MB last for a year: years for each 10 MB; HP week.",
        near(1),
        by_size,
        slope,
    ),
    *on_both(
        "flash-speed",
        "Fig. 11: with flash four times as fast writes take less time, 100 MB; HP week.",
        below(1),
        lambda medium: {f"{speed}": flash_backed(HP, medium, SPEED_MB, speed=speed) for speed in (1, 4)},
        lambda runs: write_ms(runs["4"]) / write_ms(runs["1"]),
    ),
    *on_both(
        "look-ahead",
        "A rule that looks one request ahead keeps the FQueue from being polluted: what is written to "
        "flash, to that of "
        "one that looks at the head alone, 80 MB; HP week.",
        below(1),
        lambda medium: {name: flash_backed(HP, medium, rule=name) for name in ("paper", "head-only")},
        lambda runs: flash_mb(runs["paper"]) / flash_mb(runs["head-only"]),
    ),
    *on_both(
        "look-ahead-busy",
        f"The same with the HP week {PACE:,} times as fast, where requests wait and there is something to "
        f"look ahead to.",
        below(1),
        lambda medium: {
            name: flash_backed(HP, medium, rule=name, pace=PACE) for name in ("paper", "head-only")
        },
        lambda runs: flash_mb(runs["paper"]) / flash_mb(runs["head-only"]),
    ),
    Statement(
        id="seek-knee",
        text="Figs. 3 and 4: writes become rarer with their seek distance up to about 1 MB, and are as "
        "frequent at any "
        "distance from there on: the least power of two after which three bins differ by less than 10 %, "
        "in MB; HP week. "
        "Where there is none, the largest distance.",
        paper=near(1),
        work=HISTOGRAMS[HP],
        measure=lambda found: float(found["knee_mb"]),
    ),
    Statement(
        id="memory-share",
        text="100 MB of FQueue are 10 to 20 % of the memory of the hosts of which it is known, 512 MB and "
        "1 GB: "
        "the mean of both.",
        paper=near(0.15),
        work={f"{mib}": Call(memory_share, {"memory_mib": mib}) for mib in (512, 1024)},
        measure=lambda found: sum(float(share["share"]) for share in found.values()) / len(found),
    ),
]
