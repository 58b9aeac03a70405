"""The points of the figures: what they are measured from."""

from collections.abc import Iterable, Mapping
from typing import Any

from diskwright.reproduce import Call, GeneratedFile, Point, Run
from diskwright.systems._traces import CLOUD_PHYSICS
from diskwright.systems.smart_response._che import che
from diskwright.systems.smart_response._devices import (
    BACK,
    DISK_BLOCKS,
    FIFO,
    GIB_BLOCKS,
    LRU,
    POLICIES,
    THROUGH,
    Device,
    blocks,
    disk,
    empty,
    filled,
    hybrid,
    tier,
)
from diskwright.systems.smart_response._made import misses, moving, still
from diskwright.systems.smart_response._runs import (
    BEYOND_CAP_GB,
    CAP_GB,
    CLOUD,
    CONFIGURATIONS,
    DISKSIM,
    EXAMPLE,
    HDD,
    HYBRID,
    HYBRID_HOT,
    HYBRID_SHARE,
    LINE,
    LINES,
    LOADS,
    SIZE_GB,
    SIZES_GB,
    SRT,
    SRT_BACK,
    SSD_ONLY,
    ZIPF,
    Scale,
    cached,
    configured,
    uncached,
    zipf,
)

Points = list[Point]

SSD_SIZES_GB = (0.5, 1, 16, 64)
MOST_OVERWRITTEN_GB = 16
WRITE_POLICIES = (THROUGH, BACK)


def orders() -> Points:
    """Each configuration on each load."""
    further = {
        ZIPF: [HYBRID_SHARE, HYBRID_HOT, SRT_BACK],
        CLOUD: [HYBRID_SHARE, SRT_BACK],
        EXAMPLE: [SRT_BACK],
    }
    return [
        Point({"workload": load, "configuration": name}, configured(load, name))
        for load in (ZIPF, DISKSIM, EXAMPLE, CLOUD)
        for name in [*CONFIGURATIONS, *further.get(load, [SRT_BACK])]
    ]


def sizes() -> Points:
    """Each load on each of the paper's sizes of cache."""
    return [Point({"workload": load, "size_gb": gb}, cached(load, gb)) for load in LOADS for gb in SIZES_GB]


def ssds() -> Points:
    """SSDs alone, of each size, that are full: once written in order, or also overwritten at random."""
    return [
        Point(
            {"written": name, "size_gb": gb},
            zipf(
                filled(blocks(gb), overwrite=overwrite),
                Scale(measured=100_000, quick_measured=20_000),
                lines=blocks(gb) // LINE,
                theta=0,
            ),
        )
        for name, overwrite in (("in order", 0.0), ("and overwritten", 1.0))
        for gb in SSD_SIZES_GB
        if not overwrite or gb <= MOST_OVERWRITTEN_GB
    ]


def write_policies() -> Points:
    """Each load with either write policy on each of the paper's sizes."""
    return [
        Point(
            {"workload": load, "write_policy": write_policy, "size_gb": gb},
            cached(load, gb, write_policy=write_policy),
        )
        for load in LOADS
        for write_policy in WRITE_POLICIES
        for gb in SIZES_GB
    ]


def replacements(sizes_gb: Mapping[str, Iterable[float]]) -> Points:
    """Each load under each replacement policy."""
    return [
        Point({"workload": load, "cache": f"{gb:g} GB", "policy": name}, cached(load, gb, policy))
        for load, of in sizes_gb.items()
        for gb in of
        for name, policy in POLICIES.items()
    ]


def combinations() -> Points:
    """Each load with each write policy and each replacement policy, on 16 GB, and on what the trace fills."""
    return [
        Point(
            {"workload": load, "cache": f"{gb:g} GB", "write_policy": write_policy, "policy": name},
            cached(load, gb, policy, write_policy),
        )
        for load, gb in [*((load, SIZE_GB) for load in LOADS), (CLOUD, SIZES_GB[0])]
        for write_policy in WRITE_POLICIES
        for name, policy in POLICIES.items()
    ]


LARGE_LINES = 24 << 20
"""A load whose lines are 96 GiB: more than the cap."""
LARGE = Scale(16, 512, 8 * LARGE_LINES // 16, 8 * LARGE_LINES // 512)


def caps() -> Points:
    """The loads around the cap, and one whose lines are more than the cap."""
    return [
        *(
            Point({"workload": load, "size_gb": gb}, cached(load, gb))
            for load in LOADS
            for gb in (SIZE_GB, CAP_GB, BEYOND_CAP_GB)
        ),
        *(
            Point(
                {"workload": "Zipf, 96 GB", "size_gb": gb}, zipf(tier(blocks(gb)), LARGE, lines=LARGE_LINES)
            )
            for gb in (SIZE_GB, CAP_GB, BEYOND_CAP_GB)
        ),
    ]


HIT_BY = 512
HIT_SCALE = Scale(
    HIT_BY, HIT_BY, 8 * LINES // HIT_BY, 8 * LINES // HIT_BY, measured=100_000, quick_measured=50_000
)
HIT_SIZES_GB = (0.5, 1, 4, 8)


def hits() -> Points:
    """The hit ratio of each replacement policy over the size, and by Che's approximation."""
    simulated = [
        Point({"policy": name, "size_gb": gb}, zipf(tier(blocks(gb), policy), HIT_SCALE))
        for name, policy in POLICIES.items()
        for gb in HIT_SIZES_GB
    ]
    return simulated + [
        Point(
            {"policy": f"{policy.upper()}, by Che", "size_gb": gb},
            Call(che, {"policy": policy, "lines": LINES // HIT_BY, "places": blocks(gb) // LINE // HIT_BY}),
        )
        for policy in (FIFO, LRU)
        for gb in HIT_SIZES_GB
    ]


SCALES = (128, 256, 512)
"""One line in this number is kept."""


def scales() -> Points:
    """The hit ratio of 16 GB when only some of the lines are there, and by Che's approximation."""
    places = blocks(SIZE_GB) // LINE
    simulated = [
        Point(
            {"found": "simulated", "one_line_in": by},
            zipf(tier(blocks(SIZE_GB)), Scale(by, by, 8 * LINES // by, 8 * LINES // by)),
        )
        for by in SCALES
    ]
    return simulated + [
        Point(
            {"found": "by Che", "one_line_in": by},
            Call(che, {"policy": FIFO, "lines": LINES // by, "places": places // by}),
        )
        for by in (1, 8, *SCALES)
    ]


MOVING_LINES = 32_768
MOVING_PHASES = 4
MOVING_REQUESTS = 200_000


def moves() -> Points:
    """What replacement makes of popularity that moves, in a cache of an eighth of the lines."""
    arguments = {"lines": MOVING_LINES, "requests": MOVING_REQUESTS}
    loads = {
        "stays": GeneratedFile(still, arguments),
        "moves": GeneratedFile(moving, {**arguments, "phases": MOVING_PHASES}),
    }
    return [
        Point(
            {"popularity": name, "policy": policy},
            Run(
                {
                    "workload": {"trace": load},
                    "measure": {"warmup": MOVING_REQUESTS // MOVING_PHASES},
                    "device": tier(MOVING_LINES * LINE // 8, what, cache=empty(blocks(1))),
                },
                quick=MOVING_REQUESTS,
            ),
        )
        for name, load in loads.items()
        for policy, what in POLICIES.items()
    ]


MIB = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
STILL_BY = 64
PASSES = {
    ZIPF: Call(
        misses,
        {
            "trace": GeneratedFile(still, {"lines": LINES // STILL_BY, "requests": 8 * LINES // STILL_BY}),
            "mib": list(MIB),
            "by": STILL_BY,
        },
    ),
    CLOUD: Call(misses, {"trace": CLOUD_PHYSICS, "mib": list(MIB)}),
}


def passes() -> Points:
    """The misses of all sizes, from one pass over a load."""
    return [
        Point({"workload": load, "size_gb": size / 1024}, {f"{size:g}": work})
        for load, work in PASSES.items()
        for size in MIB
    ]


COARSE = Scale(8, 256, 8 * LINES // 8, 8 * LINES // 256)
"""As other caches of this size, with fewer lines in a quick try."""
WRITE_CACHE = {"on, as sold": {}, "off": {"write_cache": False}}


def write_caches() -> Points:
    """The disk's own write cache, on and off, behind a tier of 16 GB and alone."""
    points = []
    for name, changes in WRITE_CACHE.items():
        works = {HDD: zipf(disk(**changes))}
        works |= {
            f"srt, {policy}": zipf(tier(blocks(SIZE_GB), FIFO, policy, backing=disk(**changes)), COARSE)
            for policy in (*WRITE_POLICIES, "write-around", "read-only")
        }
        points += [
            Point({"write_cache": name, "configuration": configuration}, work)
            for configuration, work in works.items()
        ]
    return points


THIRD = "5.7 ms"
"""A third of what a random read of 4 KiB takes on the disk: 11 ms of seek, half a turn, and overhead."""


def slow(size: int) -> Device:
    """What is three times as fast as the disk, as the paper assumed."""
    return {"simple": {"capacity": f"{size} blocks", "read": THIRD, "write": THIRD}}


def ratios() -> Points:
    """The configurations with an SSD three times as fast as the disk, and with the library's; the disk with
    its memory and without."""
    points = []
    for memory, changes in (("as sold", {}), ("no memory", {"buffer": False})):
        for speed, own in (("the library's SSD", None), ("3 times the disk", slow)):
            size = blocks(SIZE_GB)
            cache = None if own is None else own(size)
            of = {
                HDD: zipf(disk(**changes)),
                HYBRID: zipf(hybrid(size, cache, disk(**changes))),
                SRT: zipf(tier(size, cache=cache, backing=disk(**changes)), COARSE),
                SRT_BACK: zipf(tier(size, FIFO, BACK, cache=cache, backing=disk(**changes)), COARSE),
                SSD_ONLY: zipf(filled(DISK_BLOCKS, LINES * LINE) if own is None else own(DISK_BLOCKS)),
            }
            points += [
                Point({"disk": memory, "ssd": speed, "configuration": name}, work)
                for name, work in of.items()
            ]
    return points


WARM_DAYS = (0.1, 0.3, 1, 3, 9, 25)


def warming() -> Points:
    """The 16 GB from empty on: the last third of the requests up to a number of days after the start."""
    points = []
    for days in WARM_DAYS:
        last = round(days * 86_400 * 30)
        first = last * 2 // 3
        rest = last - first
        at = Scale(8, 128, first // 8, first // 128, rest // 8, rest // 128)
        points += [
            Point({"policy": name, "days": days}, zipf(tier(blocks(SIZE_GB), policy), at))
            for name, policy in (("FIFO", FIFO), ("LRU", LRU))
        ]
    return points


WEAR_GB = 0.5
WEAR_LINES = round(1.5 * WEAR_GB * GIB_BLOCKS) // LINE
WEAR_THETA = 0.5
"""Less skewed than the Zipf load, so that few requests turn the cache over."""
WEAR = Scale(1, 1, 600_000, 250_000, 400_000, 100_000)


def wears() -> Points:
    """What each write policy and replacement does to an SSD that is all cache, on a load twice as large."""
    of = [(write_policy, name) for write_policy in WRITE_POLICIES for name in POLICIES]
    of += [("write-around", "FIFO"), ("read-only", "FIFO")]
    return [
        Point(
            {"write_policy": write_policy, "policy": name},
            zipf(
                tier(
                    blocks(WEAR_GB),
                    POLICIES[name],
                    write_policy,
                    cache=filled(blocks(WEAR_GB), overwrite=1.0),
                ),
                WEAR,
                lines=WEAR_LINES,
                theta=WEAR_THETA,
            ),
        )
        for write_policy, name in of
    ]


CLEANINGS: Mapping[str, Any] = {
    "none": "none",
    "idle for 100 ms": "oldest",
    "above 20 %": {"oldest": {"high": "20 %", "low": "10 %"}},
    "aggressive": "aggressive",
}


def cleanings() -> Points:
    """Write-back with each cleaner, at the usual rate and at one that leaves no idle time."""
    return [
        Point(
            {"cleaning": name, "rate": f"{rate:g} requests/s"},
            zipf(
                tier(blocks(WEAR_GB), FIFO, BACK, cleaning=cleaning),
                WEAR,
                lines=WEAR_LINES,
                theta=WEAR_THETA,
                rate=rate,
                reads=1 / 3,
            ),
        )
        for name, cleaning in CLEANINGS.items()
        for rate in (30, 60)
    ]


FLASH = 5.0
"""The price of a gigabyte of flash, in that of one of the disk."""
DISK_GB = 160


def costs() -> Points:
    """The Zipf load on the disk, on caches of each size, and on an SSD alone."""
    of = [("disk", 0.0, 1.0, uncached(ZIPF, disk()))]
    of += [("cache", gb, 1 + FLASH * gb / DISK_GB, cached(ZIPF, gb)) for gb in SIZES_GB]
    of += [("SSD alone", float(DISK_GB), FLASH, configured(ZIPF, SSD_ONLY))]
    return [
        Point({"configuration": name, "ssd_gb": gb, "price": price}, work) for name, gb, price, work in of
    ]
