"""The points of the figures on flash-backed requests."""

from typing import Any

from diskwright.reproduce import Call, Point
from diskwright.systems.flash_backed._devices import CURVE, MEDIA, SAMPLES, card_curve, drive_curve
from diskwright.systems.flash_backed._loads import HP, LOADS, as_table
from diskwright.systems.flash_backed._runs import (
    QUEUES,
    SIZE_MB,
    SIZES_MB,
    WITH,
    WITHOUT,
    both,
    flash_backed,
)
from diskwright.systems.flash_backed._seeks import by_hour, histogram

Points = list[Point]

CARD_DISTANCES = (1, 1 << 10, 1 << 14, 1 << 18)
CARD_KIB = 4
DRIVE_CURVE = Call(drive_curve, {"samples": SAMPLES})
CARD_CURVE = Call(card_curve, {"distances": list(CARD_DISTANCES), "size_kib": CARD_KIB})
DRIVE_POINTS = 57
"""How many distances `probe` measures; points beyond what it has found are left out."""
BINS = 30
SPEEDS = (0.25, 0.5, 1, 2, 4, 8)
SPEED_MB = 100

HISTOGRAMS = {load: Call(histogram, {"table": as_table(load)}) for load in LOADS}
HOURS = {load: Call(by_hour, {"table": as_table(load)}) for load in LOADS}


def curves() -> Points:
    """The drive and the card, at each distance."""
    return [
        Point({"device": device, "number": number}, {f"{number}": work})
        for device, work, count in (
            ("drive", DRIVE_CURVE, DRIVE_POINTS),
            ("card", CARD_CURVE, len(CARD_DISTANCES)),
        )
        for number in range(count)
    ]


def hours() -> Points:
    """The hours of each load's first day."""
    return [
        Point({"workload": load, "hour": hour}, {f"{hour}": work})
        for load, work in HOURS.items()
        for hour in range(24)
    ]


def bins() -> Points:
    """The bins of each load's histogram."""
    return [
        Point({"workload": load, "bin": number}, {f"{number}": work})
        for load, work in HISTOGRAMS.items()
        for number in range(BINS)
    ]


def sizes(loads: Any = LOADS, media: Any = MEDIA, **how: Any) -> Points:
    """Each load with each size of the FQueue, and without."""
    return [
        Point({"workload": load, "medium": medium, "size_mb": mb}, both(load, medium, mb, **how))
        for load in loads
        for medium in media
        for mb in SIZES_MB
    ]


def queues() -> Points:
    """The same in each order of the Request Queue; of the full model for the HP week alone."""
    return [
        Point(
            {"workload": load, "medium": medium, "queue": queue, "size_mb": mb},
            both(load, medium, mb, queue=queue),
        )
        for load in LOADS
        for medium in (MEDIA if load == HP else (CURVE,))
        for queue in QUEUES
        for mb in SIZES_MB
    ]


def speeds() -> Points:
    """Cards that are slower and faster."""
    return [
        Point({"workload": load, "medium": medium, "speed": speed}, both(load, medium, SPEED_MB, speed=speed))
        for load in LOADS
        for medium in (MEDIA if load == HP else (CURVE,))
        for speed in SPEEDS
    ]


def rules(names: Any) -> Points:
    """Each rule at 80 MB."""
    return [
        Point({"workload": load, "medium": medium, "rule": name}, both(load, medium, SIZE_MB, rule=rule))
        for load in LOADS
        for medium in (MEDIA if load == HP else (CURVE,))
        for name, rule in names.items()
    ]


IDLE = {
    "eager": "eager",
    "10 ms": {"delay": "10 ms"},
    "100 ms": {"delay": "100 ms"},
    "1 s": {"delay": "1 s"},
    "10 s": {"delay": "10 s"},
    "100 s": {"delay": "100 s"},
    "watermark": "watermark",
}
NEXT = ("none-if-empty", "never-redirect", "oracle")
OVERLAP = ("overwrite", "coalesce")
ORDER = ("durable-first", "paper")
SMALL_MB = 10


def readings(medium: str) -> Points:
    """The HP week under each reading: idle with each next, and the other two with three kinds of purging."""
    chosen = [(idle, following, OVERLAP[0], ORDER[0]) for idle in IDLE for following in NEXT]
    for idle in ("eager", "1 s", "watermark"):
        chosen += [(idle, NEXT[0], OVERLAP[1], ORDER[0]), (idle, NEXT[0], OVERLAP[0], ORDER[1])]
    points = []
    for idle, following, overlap, order in chosen:
        switches: dict[str, Any] = {"idle": IDLE[idle], "next": following, "overlap": overlap, "order": order}
        works = {
            "large": flash_backed(HP, medium, SIZE_MB, **switches),
            "small": flash_backed(HP, medium, SMALL_MB, **switches),
            "most": flash_backed(HP, medium, SIZES_MB[-1], **switches),
            WITHOUT: flash_backed(HP, medium, SIZE_MB, rule="never"),
        }
        points.append(Point({"idle": idle, "next": following, "overlap": overlap, "order": order}, works))
    return points


SMALL_SIZES_MB = (0.25, 0.5, 1, 2, 4, 8, 10)
"""Of FQueues that the HP week fills where nothing is purged in idle time."""


def small_sizes() -> Points:
    """FQueues that are filled: the HP week, purged at the watermark alone."""
    return [
        Point({"medium": medium, "size_mb": mb}, both(HP, medium, mb, idle="watermark"))
        for medium in MEDIA
        for mb in SMALL_SIZES_MB
    ]


PACES = (1, 10, 100, 1_000, 10_000)


def paces(medium: str = CURVE) -> Points:
    """The HP week at several paces, with the rule that looks ahead and with the one that does not."""
    return [
        Point(
            {"faster": pace},
            {
                name: flash_backed(HP, medium, rule=name, pace=pace)
                for name in ("paper", "head-only", "never")
            },
        )
        for pace in PACES
    ]


def larger(runs: Any) -> dict[str, Any]:
    """The works of a reading as those with an FQueue of 80 MB and without."""
    return {WITH: runs["large"], WITHOUT: runs[WITHOUT]}


def smaller(runs: Any) -> dict[str, Any]:
    """The same with one of 10 MB."""
    return {WITH: runs["small"], WITHOUT: runs[WITHOUT]}
