"""The figures on the SSD as a cache that the paper does not have."""

from typing import Any

from diskwright.reproduce import Bars, Figure, Lines
from diskwright.systems.smart_response._figures import RESPONSE_LABEL, SIZE_LABEL
from diskwright.systems.smart_response._points import (
    MIB,
    cleanings,
    costs,
    hits,
    moves,
    passes,
    ratios,
    scales,
    warming,
    wears,
    write_caches,
)
from diskwright.systems.smart_response._runs import CACHED, RESPONSE, at_risk_mb, hit_ratio, tier_of

MISS_MS = 16.5
"""What a read of a line takes longer on the disk than on the SSD: seek, half a turn and overhead."""


def missed(found: Any) -> float:
    """The share of reads of lines that miss at the size that is the name of the work."""
    ((size, counted),) = found.items()
    return float(counted["read_miss_ratio"][size])


def saved_ms(found: Any) -> float | None:
    """What another gigabyte takes off the mean response time, from this size to twice as much."""
    ((size, counted),) = found.items()
    at = MIB.index(int(size))
    if at + 1 == len(MIB):
        return None
    ratios = counted["read_miss_ratio"]
    fewer = float(ratios[size]) - float(ratios[f"{MIB[at + 1]:g}"])
    return fewer * float(counted["read_share"]) * MISS_MS / (float(size) / 1024)


def found_hit_ratio(found: Any) -> float:
    """That of a run, or of the approximation."""
    return float(found.hit_ratio) if "hit_ratio" in found else hit_ratio(found)


def ssd_of(run: Any) -> Any:
    """The counters of the SSD that is the cache."""
    return run.devices["tier.cache.ssd"]


EXTENSIONS = [
    Figure(
        id="beyond-hit-ratio",
        title="Hit ratio by size and replacement",
        paper="Not shown.",
        points=hits(),
        measure={"hit_ratio": found_hit_ratio},
        drawn=Lines(
            "size_gb", "hit_ratio", by=["policy"], x_label=SIZE_LABEL, y_label="hit ratio", x_log=True
        ),
        note="The Zipf load with one line in 512 and caches as much smaller, so that all of them are in "
        "their steady state; Che's approximation of these is drawn beside the simulated ones.",
    ),
    Figure(
        id="beyond-scale",
        title="What it changes that only some of the lines are there",
        paper="Nothing.",
        points=scales(),
        measure={"hit_ratio": found_hit_ratio},
        drawn=Lines(
            "one_line_in",
            "hit_ratio",
            by=["found"],
            x_label="one line kept in",
            y_label="hit ratio",
            x_log=True,
        ),
        note="The Zipf load, 16 GB, FIFO, write-through. To fill 16 GB takes 25 days of this load, 64 "
        "million requests. That is why runs on 16 GB and more have one line in 8, and one in 128 in a "
        "quick try.",
    ),
    Figure(
        id="beyond-moving",
        title="When other lines become popular",
        paper="Not looked at.",
        points=moves(),
        measure=CACHED,
        drawn=Bars("policy", "response_ms", by=["popularity"], x_label="", y_label=RESPONSE_LABEL),
        note="32,768 lines by Zipf's law, the cache has room for an eighth; four phases of 50,000 requests, "
        "the first of which is left out. LIFO keeps what came first.",
    ),
    Figure(
        id="beyond-next-gigabyte",
        title="What the next gigabyte takes off the mean response time",
        paper="Only the price is a limit.",
        points=passes(),
        measure={"read_miss_ratio": missed, "saved_ms_per_gb": saved_ms},
        drawn=Lines(
            "size_gb",
            "read_miss_ratio",
            by=["workload"],
            x_label=SIZE_LABEL,
            y_label="misses of reads",
            x_log=True,
        ),
        note="From one pass over each load, LRU. saved_ms_per_gb is what a gigabyte more takes off the mean "
        f"response time between this size and twice as much, with {MISS_MS} ms for a miss.",
        partial=True,
    ),
    Figure(
        id="beyond-write-cache",
        title="The disk's own write cache",
        paper="Not looked at.",
        points=write_caches(),
        measure=RESPONSE,
        drawn=Bars("configuration", "response_ms", by=["write_cache"], x_label="", y_label=RESPONSE_LABEL),
        note="The Zipf load, 16 GB, FIFO. A disk as it is sold completes writes in its memory: writing "
        "through costs the host next to nothing, and loses what is in that memory when the power fails. The "
        "differences that the paper has are those of a disk whose write cache is off.",
    ),
    Figure(
        id="beyond-ratio",
        title="An SSD that is three times as fast as the disk, and a real one",
        paper="A rule of thumb: an access to the SSD is three times as fast as one to the disk.",
        points=ratios(),
        measure=RESPONSE,
        drawn=Bars("configuration", "response_ms", by=["disk", "ssd"], x_label="", y_label=RESPONSE_LABEL),
        note="The Zipf load, 16 GB. Three times as fast: 5.7 ms for each request, one at a "
        "time. no memory: the disk without its 8 MiB, which otherwise serves popular reads and all "
        "writes.",
    ),
    Figure(
        id="beyond-warm-up",
        title="How long the cache takes to warm up",
        paper="Runs are short; nothing is left out.",
        points=warming(),
        measure=CACHED,
        drawn=Lines(
            "days",
            "response_ms",
            by=["policy"],
            x_label="days at 30 requests/s",
            y_label=RESPONSE_LABEL,
            x_log=True,
        ),
        note="The Zipf load on 16 GB, write-through; the last third of the requests up to that day.",
    ),
    Figure(
        id="beyond-wear",
        title="Wear of the SSD by policy",
        paper="Not looked at.",
        points=wears(),
        measure={
            "response_ms": CACHED["response_ms"],
            "hit_ratio": hit_ratio,
            "ssd_writes": lambda run: run.devices["tier.cache.ssd"].writes / run.requests.measured,
            "write_amplification": lambda run: float(ssd_of(run).write_amplification),
            "flash_pages": lambda run: float(ssd_of(run).flash_pages) / run.requests.measured,
        },
        drawn=Bars(
            "policy", "flash_pages", by=["write_policy"], x_label="", y_label="pages of 16 KiB per request"
        ),
        note="An SSD of 0.5 GB, all of which is cache, full and overwritten once at the start; a load "
        "on 0.75 GiB of lines, whose popularity falls as 1/rank^0.5. flash_pages are the pages programmed "
        "for each request of the host.",
    ),
    Figure(
        id="beyond-cleaning",
        title="Write-back: when dirty lines are written back",
        paper="Only when it is demanded.",
        points=cleanings(),
        measure={
            "response_ms": CACHED["response_ms"],
            "at_risk_mb": at_risk_mb,
            "waited_for_place": lambda run: float(tier_of(run).waited_for_place),
        },
        drawn=Bars("cleaning", "response_ms", by=["rate"], x_label="", y_label=RESPONSE_LABEL),
        note="0.5 GB, FIFO, the load of beyond-wear with two thirds writes.",
    ),
    Figure(
        id="beyond-cost",
        title="What a gigabyte costs in latency",
        paper="The only limit is the price.",
        points=costs(),
        measure=RESPONSE,
        drawn=Lines(
            "price",
            "response_ms",
            by=["configuration"],
            x_label="price of disk and SSD, the disk alone being 1",
            y_label=RESPONSE_LABEL,
        ),
        note="The Zipf load, write-through, FIFO. A gigabyte of flash at five times the price of one of the "
        "disk: with another factor f the price is 1 + f · ssd_gb / 160, of the SSD alone f.",
    ),
]
