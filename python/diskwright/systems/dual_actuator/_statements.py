"""The statements on the dual-actuator logging disk."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from statistics import fmean
from typing import Any

from diskwright.reproduce import Call, Statement, Work, Worst, above, below, near
from diskwright.systems.dual_actuator._drives import ZONED_OF, deviation
from diskwright.systems.dual_actuator._points import (
    FILL_STEP,
    FILL_STEPS,
    alternating,
    both_drives,
    filling,
)
from diskwright.systems.dual_actuator._runs import (
    ADAPTIVE,
    CHEETAH,
    DAD,
    DALD,
    DISK,
    ETA,
    ETAS,
    IBM,
    LOGGING,
    STRIPE2,
    WS,
    gap_ms,
    latency_ms,
    point,
)

Runs = Mapping[str, Any]

BETWEEN = [(w, eta) for eta in (0.5, 1.0) for w in WS if 0 < w < 1] + [
    (w, eta) for eta in ETAS if eta not in (0.0, 0.5, 1.0) for w in (0.3, 0.5, 0.7)
]
"""The paper's points with reads, writes and new data."""
ENDS = [(w, eta) for w in (0.0, 1.0) for eta in ETAS]
UPDATES = [(w, 0.0) for w in WS if w <= 0.5]
REGRET_ETAS = (0.0, ETA, 1.0)
PHASE = 5_000
"""Requests of one share of writes: some eight minutes."""


def each(architectures: Iterable[str], places: Iterable[tuple[float, float]] = ()) -> dict[str, Work]:
    """The paper's points on the 18ES, by name; over w at η = 0.5 unless said."""
    chosen = list(places) or [(w, ETA) for w in WS]
    return {f"{w} {eta} {name}": point(name, IBM, w, eta) for name in architectures for w, eta in chosen}


def mean_ratio(one: str, other: str) -> Any:
    """One architecture's latency in another's, the mean over w."""

    def measure(runs: Runs) -> float:
        at = (f"{w} {ETA} " for w in WS)
        return sum(
            latency_ms(runs[f"{mark}{one}"]) / latency_ms(runs[f"{mark}{other}"]) for mark in at
        ) / len(WS)

    return measure


def crossover(runs: Runs, log: str) -> float:
    """The least w from which on a log is below the two arms, on straight lines between the points; 1 where it
    nowhere is."""
    over = [latency_ms(runs[f"{w} {ETA} {log}"]) - latency_ms(runs[f"{w} {ETA} {DAD}"]) for w in WS]
    if over[0] < 0:
        return WS[0]
    for (before, above_), (after, below_) in pairwise(zip(WS, over, strict=True)):
        if below_ < 0:
            return before + (after - before) * above_ / (above_ - below_)
    return 1.0


def gaps(runs: Runs, places: Iterable[tuple[float, float]]) -> dict[str, float]:
    """By how much the dual actuator is below the log with one arm, ms."""
    marks = (f"{w} {eta} " for w, eta in places)
    return {mark: gap_ms(runs, mark) for mark in marks}


def gap_ratio(runs: Runs, what: str) -> float:
    """The gap on the Cheetah in that on the 18ES, with something exchanged between them."""
    return gap_ms(runs, f"{CHEETAH} {what} ") / gap_ms(runs, f"{IBM} {what} ")


def moved(what: str) -> Any:
    """By how much that ratio is larger with something exchanged."""
    return lambda runs: gap_ratio(runs, what) - gap_ratio(runs, "nothing")


def competitors() -> dict[str, dict[str, Work]]:
    """Where the adaptive drive is compared, and with what."""
    names = (DAD, DALD, ADAPTIVE)
    found: dict[str, dict[str, Work]] = {
        f"{drive} {w} {eta}": {name: point(name, drive, w, eta) for name in names}
        for drive in (IBM, CHEETAH)
        for eta in REGRET_ETAS
        for w in WS
    }
    found |= {
        f"{drive} changing": {name: alternating(name, drive, PHASE) for name in names}
        for drive in (IBM, CHEETAH)
    }
    return found


def regret(runs: Runs) -> Worst:
    """The excess of the adaptive drive's latency over the better of the others', as a share."""

    def excess(mark: str) -> float:
        dad, dald, adaptive = (latency_ms(runs[f"{mark} {name}"]) for name in (DAD, DALD, ADAPTIVE))
        return adaptive / min(dad, dald) - 1

    return Worst({mark: excess(mark) for mark in competitors()})


BEFORE, AFTER = (0, FILL_STEP), (3 * FILL_STEP, FILL_STEPS * FILL_STEP)
"""The requests before the log has come to the end of the disk, and when all is full."""


def cleaning(runs: Runs) -> float:
    """What cleaning makes of the latency when the disk is full, in what it makes of it before."""
    early, late = (
        latency_ms(runs[f"{when} idle"]) / latency_ms(runs[f"{when} none"]) for when in ("before", "after")
    )
    return late / early


STATEMENTS = [
    Statement(
        id="dad-ratio",
        text="With two arms the access time is roughly half of that with one: the ratio of latencies, mean "
        "over w, on the 18ES, η = 0.5.",
        paper=near(0.5),
        work=each((DAD, DISK)),
        measure=mean_ratio(DAD, DISK),
    ),
    Statement(
        id="stripe-ratio",
        text="Two striped drives with synchronised spindles are as one disk: the ratio of latencies, mean "
        "over w, on the 18ES, η = 0.5. beyond-spindles and beyond-throughput have free spindles and load.",
        paper=near(1),
        work=each((STRIPE2, DISK)),
        measure=mean_ratio(STRIPE2, DISK),
    ),
    Statement(
        id="dald-dad-crossover",
        text="For few writes dad is best, and there is a share of writes from which on dald is better: this "
        "one, on the 18ES, η = 0.5; 1 would be that there is none.",
        paper=below(1),
        work=each((DAD, DALD)),
        measure=lambda runs: crossover(runs, DALD),
    ),
    Statement(
        id="logging-dad-crossover",
        text="The same of logging with one arm.",
        paper=below(1),
        work=each((DAD, LOGGING)),
        measure=lambda runs: crossover(runs, LOGGING),
    ),
    Statement(
        id="dald-crosses-first",
        text="The share for dald is the lower one: the difference of the two.",
        paper=above(0),
        work=each((DAD, DALD, LOGGING)),
        measure=lambda runs: crossover(runs, LOGGING) - crossover(runs, DALD),
    ),
    Statement(
        id="dald-below-logging",
        text="With reads, writes and new data dald is below logging: the difference in ms on the 18ES, "
        "mean over the points of figs. 3, 4 and 6 to 8 with 0 < w < 1 and η > 0.",
        paper=above(0),
        work=each((LOGGING, DALD), BETWEEN),
        measure=lambda runs: fmean(gaps(runs, BETWEEN).values()),
    ),
    Statement(
        id="equal-at-the-ends",
        text="With reads alone and with writes alone both are equal: the largest difference in ms, logging "
        "less dald, of the points of figs. 5 and 9.",
        paper=near(0),
        work=each((LOGGING, DALD), ENDS),
        measure=lambda runs: Worst(gaps(runs, ENDS), abs),
    ),
    Statement(
        id="equal-at-eta-0",
        text="Without new data both are equal: the largest difference in ms, logging less dald, of the "
        "points of fig. 2 with w ≤ 0.5.",
        paper=near(0),
        work=each((LOGGING, DALD), UPDATES),
        measure=lambda runs: Worst(gaps(runs, UPDATES), abs),
    ),
    Statement(
        id="cheetah-gap-ratio",
        text="The difference between logging and dald is smaller on the Cheetah: in that on the 18ES, w = "
        "0.5, η = 0.5.",
        paper=below(1),
        work=both_drives("nothing"),
        measure=lambda runs: gap_ratio(runs, "nothing"),
    ),
    Statement(
        id="cylinders-explain",
        text="The number of cylinders is what makes that difference: by so much the ratio before rises when "
        "both drives exchange their surfaces and, at the capacities that they have, their cylinders. "
        "beyond-exchanged has the differences themselves.",
        paper=above(0),
        work=both_drives("nothing") | both_drives("cylinders"),
        measure=moved("cylinders"),
    ),
    Statement(
        id="seek-explains",
        text="The seek curve does not: by so much the ratio rises when both drives exchange their seek "
        "curves. The paper does not look at it.",
        paper=near(0),
        work=both_drives("nothing") | both_drives("seek curve"),
        measure=moved("seek curve"),
    ),
    Statement(
        id="linear-seek-deviation",
        text="A straight seek curve is off the real one by this share, mean over all distances, and of the "
        "18ES and the Cheetah.",
        paper=near(0.09),
        work={drive: Call(deviation, {"drive": drive}) for drive in ZONED_OF},
        measure=lambda found: sum(found[drive]["all"] for drive in ZONED_OF) / len(ZONED_OF),
    ),
    Statement(
        id="adaptive-regret",
        text="An adaptive controller serves all loads as well as the better of dad and dald: its worst "
        "excess, as a share, over all w with η = 0, 0.5 and 1 on both drives, and where w changes every "
        "10,000 requests. The bound is ours.",
        paper=below(0.05),
        work={
            f"{mark} {name}": work for mark, works in competitors().items() for name, work in works.items()
        },
        measure=regret,
    ),
    Statement(
        id="cleaning-late",
        text="Cleaning is of use only when the log nears the end of the disk: dald's latency with cleaning "
        "in that without when the disk is full, in the same ratio before the log has come to its end.",
        paper=below(1),
        work={
            f"{when} {cleaner}": filling(DALD, cleaner, *window)
            for when, window in (("before", BEFORE), ("after", AFTER))
            for cleaner in ("none", "idle")
        },
        measure=cleaning,
    ),
]
