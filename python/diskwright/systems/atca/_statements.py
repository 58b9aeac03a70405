"""The statements on the access-time-aware cache."""

from typing import Any

from diskwright.reproduce import Run, Statement, above, below, near
from diskwright.systems._clustering import service_s
from diskwright.systems.atca._points import POLICIES, SCAN_RESISTANT
from diskwright.systems.atca._runs import (
    ALL,
    APPLICATIONS,
    ATCA,
    HP_WEEK,
    IDENTITY_MIB,
    ONE,
    PCFAT,
    SIMPLE,
    SIZES_MIB,
    SMALL,
    STREAMING,
    TWO,
    Policy,
    atca,
    differing,
    everything,
    run,
    saved,
)


def over_sizes(trace: str, policy: Policy = ATCA, name: str = "it", mark: str = "") -> dict[str, Run]:
    """A policy with each size of cache."""
    return {f"{mark}{name} {size}": run(trace, policy, size) for size in SIZES_MIB}


def both(trace: str, mark: str = "") -> dict[str, Run]:
    """ATCA and LRU with each size of cache."""
    return over_sizes(trace, mark=mark) | over_sizes(trace, "lru", "lru", mark)


def best_gain(mark: str = "") -> Any:
    """The share of the total service time that ATCA saves, with the size of cache where it saves most."""
    gains = [saved(service_s, f"{mark}lru {size}", f"{mark}it {size}") for size in SIZES_MIB]
    return lambda runs: max(gain(runs) for gain in gains)


def ceiling(runs: Any) -> float:
    """The share that a cache which holds everything saves, where it saves most."""
    most = max(service_s(runs[f"lru {size}"]) for size in SIZES_MIB)
    return 1 - service_s(runs["everything"]) / most


def ratio_to_others(runs: Any) -> float:
    """ATCA in the best of the others, with the size of cache where it gains most over LRU."""

    def times(name: str) -> list[float]:
        return [service_s(runs[f"{name} {size}"]) for size in SIZES_MIB]

    _, size, it = min(
        (it / lru, size, it) for size, it, lru in zip(SIZES_MIB, times("it"), times("lru"), strict=True)
    )
    return it / min(service_s(runs[f"{name} {size}"]) for name in SCAN_RESISTANT)


def differing_anywhere(runs: Any) -> float:
    """Evictions by which ATCA and LRU differ, over all traces."""
    return sum(differing(runs[f"{key} atca"], runs[f"{key} lru"]) for key in identities())


def identities() -> dict[str, tuple[str, int]]:
    """Where ATCA and LRU are compared: traces and sizes."""
    return {f"{name} {size}": (name, size) for name in ALL for size in IDENTITY_MIB}


STATEMENTS = [
    Statement(
        id="simple-gain",
        text="On a trace made by hand, of hot random reads beside streaming reads, simple ATCA takes this "
        "share off the total service time of LRU.",
        paper=near(0.11),
        work={"it": run(STREAMING, SIMPLE), "lru": run(STREAMING)},
        measure=saved(service_s),
    ),
    Statement(
        id="smalldiskmon-gain",
        text="On SMALLDISKMON, here its clone, ATCA takes up to this share off the total service time "
        "of LRU: with the best of the sizes of cache, weight 1.",
        paper=near(0.35),
        work=both(SMALL),
        measure=best_gain(),
    ),
    Statement(
        id="pcfat32-gain",
        text="The same on PCFAT32, here its clone.",
        paper=near(0.21),
        work=both(PCFAT),
        measure=best_gain(),
    ),
    Statement(
        id="hp-week-gain",
        text="The same on a real trace, the HP week. The paper does not have it: it expects a gain.",
        paper=above(0),
        work=both(HP_WEEK),
        measure=best_gain(),
    ),
    Statement(
        id="more-random-gains-more",
        text="ATCA gains more on SMALLDISKMON, which has more random requests, than on PCFAT32: the "
        "difference of the two shares.",
        paper=above(0),
        work=both(SMALL, f"{SMALL} ") | both(PCFAT, f"{PCFAT} "),
        measure=lambda runs: best_gain(f"{SMALL} ")(runs) - best_gain(f"{PCFAT} ")(runs),
    ),
    Statement(
        id="lru-identity",
        text="Without a weight ATCA is LRU: evictions that differ between them, over all traces, with caches "
        f"of {IDENTITY_MIB[0]} and {IDENTITY_MIB[1]} MiB. beyond-identity has how they are counted.",
        paper=near(0),
        work={
            f"{key} {policy}": run(name, what, size)
            for key, (name, size) in identities().items()
            for policy, what in (("atca", atca(0)), ("lru", "lru"))
        },
        measure=differing_anywhere,
    ),
    Statement(
        id="ceiling",
        text="A cache that holds everything takes this share off the total service time of LRU on the "
        "clone of SMALLDISKMON, with the size of LRU's where that is most. It has to be above what the "
        "paper says of ATCA there.",
        paper=above(0.35),
        work={**over_sizes(SMALL, "lru", "lru"), "everything": everything(SMALL)},
        measure=ceiling,
    ),
    Statement(
        id="beats-scan-resistant",
        text="ATCA is better than policies that resist scans and know nothing of access times: its total "
        "service time in that of the best of LFU, ARC, S3-FIFO and SIEVE, on the clone of "
        "SMALLDISKMON, with the size of cache where it gains most over LRU. The paper compares it with LRU "
        "alone.",
        paper=below(1),
        work=both(SMALL)
        | {key: it for name in SCAN_RESISTANT for key, it in over_sizes(SMALL, POLICIES[name], name).items()},
        measure=ratio_to_others,
    ),
    Statement(
        id="ncq-two-applications",
        text="Two applications that are loaded at once benefit from NCQ: its total service time in that of "
        "FCFS. “Well below” the next statement's is read as below three quarters of the 1 there.",
        paper=below(0.75),
        work={how: run(APPLICATIONS[TWO], scheduler=how) for how in ("ncq", "fcfs")},
        measure=lambda runs: service_s(runs["ncq"]) / service_s(runs["fcfs"]),
    ),
    Statement(
        id="ncq-one-application",
        text="For one application NCQ cannot make a big difference: the same ratio.",
        paper=near(1),
        work={how: run(APPLICATIONS[ONE], scheduler=how) for how in ("ncq", "fcfs")},
        measure=lambda runs: service_s(runs["ncq"]) / service_s(runs["fcfs"]),
    ),
]
