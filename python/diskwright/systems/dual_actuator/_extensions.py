"""The figures on the dual-actuator logging disk that the paper does not have."""

from typing import Any

from diskwright.reproduce import Bars, Figure, Lines
from diskwright.systems.dual_actuator._figures import LATENCY
from diskwright.systems.dual_actuator._points import (
    allocators,
    alternatings,
    choices,
    curves,
    cylinders,
    deviations,
    exchanges,
    fillings,
    slacks,
    spindles,
    throughput,
    ties,
    weeks,
    zoned,
)
from diskwright.systems.dual_actuator._runs import DALD, LOGGING, TIMES, gap_ms, latency_ms

W = "w, share of writes"
GAP = {
    "gap_ms": gap_ms,
    "logging_ms": lambda runs: latency_ms(runs[LOGGING]),
    "dald_ms": lambda runs: latency_ms(runs[DALD]),
}
GAP_LABEL = "latency of logging less that of dald (ms)"


def weighted_deviation(found: Any) -> float:
    """The deviation of one weighting, which is the name of the work."""
    ((weighted, deviation),) = found.items()
    return float(deviation[weighted])


FIGURES = [
    Figure(
        id="beyond-allocators",
        title="Which free slot a write takes",
        paper="Free sectors near the head; how one is chosen is not said.",
        points=allocators(),
        measure=TIMES,
        drawn=Lines("w", "latency_ms", by=["architecture", "allocator"], x_label=W, y_label=LATENCY),
        note="18ES, η = 0.5. “soonest”, the one of all other figures, is the slot of the shortest "
        "positioning time, wherever it is; “nearest-cylinder” leaves a cylinder only when it is full; "
        "“edge” never goes before the highest cylinder written so far.",
    ),
    Figure(
        id="beyond-ties",
        title="Which of several free slots that come by at the same instant a write takes",
        paper="The arm stays at the edge of the log; what it does where it could go either way is not said.",
        points=ties(),
        measure=TIMES,
        drawn=Lines("w", "latency_ms", by=["architecture", "ties", "eta"], x_label=W, y_label=LATENCY),
        note="18ES, η = 0 and 0.5. Sectors of all tracks begin at the same angles, so that slots on both "
        "sides of the arm often come by at once. “outward”, the rule of all other figures, takes that of the "
        "nearest cylinder above the arm; “emptier” that of the cylinder with the most free slots; “inward” "
        "that of the nearest cylinder below, so that the log lives among its own holes.",
    ),
    Figure(
        id="beyond-slack",
        title="What the first writes leave free: both logs without new data",
        paper="Without new data both are the same, since the first writes do not fill the active area.",
        points=slacks(),
        measure=TIMES,
        drawn=Lines("w", "latency_ms", by=["architecture", "initial_gap"], x_label=W, y_label=LATENCY),
        note="18ES, η = 0. With 100 ms between the first writes, as in all other figures, each begins at "
        "another angle and the cylinders that are left have holes; without gaps they are packed, and "
        "updates have only the slots that other updates set free.",
    ),
    Figure(
        id="beyond-arm-choice",
        title="Two arms in place: which one serves a request",
        paper="Two arms halve the access time; how one is chosen is not said.",
        points=choices(),
        measure=TIMES,
        drawn=Lines("w", "latency_ms", by=["drive", "choice"], x_label=W, y_label=LATENCY),
        note="η = 0.5. Chosen by seek alone the second arm takes nothing off the rotation. By seek and "
        "rotation it takes a quarter of a turn.",
    ),
    Figure(
        id="beyond-spindles",
        title="Two striped drives with free spindles",
        paper="Two striped drives are as one, since they are assumed to be synchronised.",
        points=spindles(),
        measure=TIMES,
        drawn=Lines("w", "latency_ms", by=["drive", "spindles"], x_label=W, y_label=LATENCY),
        note="η = 0.5. With free spindles a request waits for the later of two sectors: two thirds of a "
        "turn in the place of a half.",
    ),
    Figure(
        id="beyond-throughput",
        title="Throughput under load",
        paper="Disk arrays deliver better throughput than a single drive.",
        points=throughput(),
        measure={"iops": lambda run: run.iops, **TIMES},
        drawn=Lines(
            "users",
            "iops",
            by=["way", "scheduler"],
            x_label="requests outstanding",
            y_label="requests a second",
            x_log=True,
        ),
        note="18ES, w = 0.5, η = 0, a constant number outstanding, in a queue of that "
        "depth. Two drives win where a stripe is larger than a request, 128 blocks here: with halves, as in "
        "the paper's response times, both drives are at every request.",
    ),
    Figure(
        id="beyond-zoned",
        title="The drives as they are",
        paper="One zone and a straight seek curve.",
        points=zoned(),
        measure=TIMES,
        drawn=Lines("w", "latency_ms", by=["drive", "architecture"], x_label=W, y_label=LATENCY),
        note="η = 0.5. The validated 18ES and Cheetah 9LP without their buffers: zones, skews, slipped "
        "sectors, measured seek curves, and the overheads of commands and of the bus, which are in the "
        "latency.",
    ),
    Figure(
        id="beyond-hp-week",
        title="A week of a workstation",
        paper="It uses a synthetic load rather than traces.",
        points=weeks(),
        measure=TIMES,
        drawn=Bars("architecture", "latency_ms", by=["drive"], x_label="", y_label=LATENCY),
        note="Its first disk at recorded times, on the drives as they are. The logs hold the first million "
        "sectors at the start, which is more than the trace has. Requests are of 1 KiB to 64 KiB; a write "
        "of part of a slot of 4 KiB reads the rest of it first.",
    ),
    Figure(
        id="beyond-cylinders",
        title="The gap between both logs over the number of surfaces",
        paper="The number of cylinders is what determines it.",
        points=cylinders(),
        measure=GAP,
        drawn=Lines("surfaces", "gap_ms", by=["drive"], x_label="surfaces", y_label=GAP_LABEL, x_log=True),
        note="w = 0.5, η = 0.5. Each drive with other numbers of surfaces and as many cylinders as leave its "
        "capacity; the straight seek curve keeps its first and its last point.",
    ),
    Figure(
        id="beyond-exchanged",
        title="The gap between both logs with properties exchanged",
        paper="It is smaller on the Cheetah, for it has fewer cylinders and more surfaces.",
        points=exchanges(),
        measure=GAP,
        drawn=Bars("exchanged", "gap_ms", by=["drive"], x_label="", y_label=GAP_LABEL),
        note="w = 0.5, η = 0.5. Each drive with a property of the other: its surfaces, and cylinders for "
        "its own capacity; its seek curve; its heads' switch and settling; its rotation.",
    ),
    Figure(
        id="beyond-seek-deviation",
        title="How far straight seek curves are from the real ones",
        paper="A mean deviation of about 9 %, of another paper's.",
        points=deviations(),
        measure={"deviation": weighted_deviation},
        note="Mean of the absolute difference as a share of the real time: of all distances alike, as "
        "random places of the whole drive are apart, and as random places of the first million sectors are.",
    ),
    Figure(
        id="beyond-seek-curve",
        title="The architectures with a straight and with the measured seek curve",
        paper="A straight one.",
        points=curves(),
        measure=TIMES,
        drawn=Bars("architecture", "latency_ms", by=["drive", "seek"], x_label="", y_label=LATENCY),
        note="w = 0.5, η = 0.5; one zone in both cases.",
    ),
    Figure(
        id="beyond-filling",
        title="A log that fills its disk, with and without cleaning",
        paper="Cleaning is needed only when the active region approaches the end of the disk.",
        points=fillings(),
        measure=TIMES,
        drawn=Lines(
            "requests",
            "latency_ms",
            by=["architecture", "cleaner"],
            x_label="requests so far",
            y_label=LATENCY,
        ),
        note="w = 0.7, η = 0.5, on 32 cylinders of the 18ES, so that it fills within 15,000 requests, to "
        "nine tenths; each point has the 5,000 requests before it, all of them in a quick try too. The "
        "idle cleaner begins when nothing has come for 50 ms, the one with watermarks lets requests wait.",
    ),
    Figure(
        id="beyond-changing",
        title="The adaptive drive under a load that changes",
        paper="A controller could switch between both ways and serve all loads well.",
        points=alternatings(),
        measure=TIMES,
        drawn=Lines(
            "phase",
            "latency_ms",
            by=["architecture"],
            x_label="requests of one share of writes",
            y_label=LATENCY,
            x_log=True,
        ),
        note="η = 0.5; 160,000 requests, 20,000 in a quick try, with w = 0, 1, 0.1, 0.9, 0.2, 0.8, 0 and "
        "0.5 in turn. The controller looks at 500 requests at a time, and learns little where a phase has "
        "no more.",
    ),
]
