"""The figures on the access-time-aware cache that the paper does not have: other policies, writes, loads."""

from typing import Any

from diskwright.reproduce import Bars, Figure, Lines
from diskwright.systems._clustering import SMALL_SHARES, makespan_s, service_s
from diskwright.systems.atca._points import (
    POLICIES,
    THETAS,
    VARIANTS,
    ceilings,
    drives,
    identical,
    paces,
    side_by_side,
    streams,
    synthetic_clones,
    write_policies,
)
from diskwright.systems.atca._runs import (
    ALL,
    CACHED,
    GAIN,
    GAIN_LABEL,
    GAINS,
    HAND_MADE,
    TIMES,
    TRACES,
    cache,
    differing,
    of,
)


def ncq_of_fcfs(measure: Any) -> Any:
    """What a time is under NCQ in what it is under FCFS."""
    return lambda runs: measure(runs["ncq"]) / measure(runs["fcfs"])


FIGURES = [
    Figure(
        id="beyond-variants",
        title="Variants and relatives of ATCA",
        paper="Only its own. Its successor FAC, in the same journal in 2014, is reported to take up to 39 % "
        "off LRU.",
        points=side_by_side(ALL, VARIANTS),
        measure={**GAIN, **CACHED, **TIMES},
        drawn=Bars("trace", "gain", by=["policy"], x_label="", y_label=GAIN_LABEL),
        note="8 MiB, write-through. “Of the longest” takes the longest access time so far in place of the "
        "mean; “per block” divides an access time by the blocks of its access, so that it gives up large "
        "requests first: on the traces made by hand that tells the streams from the hot places, where "
        "access times do not.",
        partial=True,
    ),
    Figure(
        id="beyond-policies",
        title="All policies on recorded traces and synthetic clones",
        paper="LRU and ATCA.",
        points=side_by_side(TRACES, POLICIES),
        measure={**GAIN, **CACHED, **TIMES},
        drawn=Bars("policy", "gain", by=["trace"], x_label="", y_label=GAIN_LABEL),
        note="8 MiB, write-through. miss_ratio is of accesses to blocks of the cache, reads and writes; "
        "access_s is the total access time. Fewer misses are not always less time: a write goes to the "
        "medium whether it hits or not.",
        partial=True,
    ),
    Figure(
        id="beyond-policies-by-hand",
        title="All policies on the traces made by hand",
        paper="LRU and simple ATCA.",
        points=side_by_side(HAND_MADE, POLICIES),
        measure={**GAIN, **CACHED, **TIMES},
        drawn=Bars("policy", "gain", by=["trace"], x_label="", y_label=GAIN_LABEL),
        note="8 MiB, write-through, 512 hot places. LFU, SLRU, 2Q, ARC, S3-FIFO, SIEVE and W-TinyLFU gain "
        "on all three; ATCA and its simple form beside the stream alone.",
    ),
    Figure(
        id="beyond-ceiling",
        title="What a cache that holds everything gains over LRU",
        paper="It has none.",
        points=ceilings(),
        measure={**GAINS, "evictions": lambda runs: cache(runs["it"]).evictions},
        drawn=Bars(
            "trace", "makespan_gain", by=["write_policy"], x_label="", y_label="saved of LRU's makespan"
        ),
        note="A cache of 8 GiB beside LRU with 8 MiB; nothing is ever evicted from it. Write-through, no "
        "policy can gain much more than this. Write-back it is no cache that one could have: what is dirty "
        "at the end was never written. The makespan is drawn, since with write-back the total service time "
        "is no measure: see the next figure.",
        partial=True,
    ),
    Figure(
        id="beyond-write-policy",
        title="What ATCA gains with write-through and write-back",
        paper="It does not say which it has.",
        points=write_policies(),
        measure={**GAINS, "lru_makespan_s": of(makespan_s, "lru")},
        drawn=Bars("trace", "gain", by=["write_policy"], x_label="", y_label=GAIN_LABEL),
        note="8 MiB, κ = 1. With write-back the total service time flatters: destaging is part of no "
        "request, and a request that waits for it in front of the queue has not entered it. On the "
        "clone of SMALLDISKMON ATCA gains by that measure while the makespan, in the table, grows. In "
        "the floods it gains by both: what was only written to the cache has cost nothing yet, and leaves "
        "first.",
        partial=True,
    ),
    Figure(
        id="beyond-small-share",
        title="What is gained with more or fewer small requests",
        paper="It does not have the sizes of its requests, only their means.",
        points=synthetic_clones("small_share", SMALL_SHARES),
        measure=GAINS,
        drawn=Lines(
            "small_share",
            "gain",
            by=["policy"],
            x_label="share of requests of up to 16 blocks",
            y_label=GAIN_LABEL,
        ),
        note="Synthetic clones of SMALLDISKMON's table, which allows shares from 0.44 to 0.85. 8 MiB, "
        "write-through. No share brings what the paper reports within reach, not even of a cache that holds "
        "everything.",
    ),
    Figure(
        id="beyond-theta",
        title="What is gained over the locality of the clone",
        paper="The table has the working set, and not how requests come back to it.",
        points=synthetic_clones("theta", THETAS),
        measure=GAINS,
        drawn=Lines("theta", "gain", by=["policy"], x_label="θ: 0 is anywhere", y_label=GAIN_LABEL),
        note="Runs come again by their depth in the LRU stack, with Zipf's exponent θ: the larger, the "
        "sooner. 8 MiB, write-through. The less locality there is, the more a cache that holds everything "
        "gains, and LRU loses what ATCA does not find either.",
    ),
    Figure(
        id="beyond-pace",
        title="What ATCA gains with a full queue and at recorded times",
        paper="A host's buffer in front of the queue; how full it is, is not said.",
        points=paces(),
        measure=GAINS,
        drawn=Bars("trace", "gain", by=["pace"], x_label="", y_label=GAIN_LABEL),
        note="8 MiB, κ = 1, write-through. At recorded times the makespan is that of the recording as long "
        "as the drive keeps up. The clones' times are parameters of their own.",
        partial=True,
    ),
    Figure(
        id="beyond-drives",
        title="What ATCA gains on two drives",
        paper="One drive of unknown make.",
        points=drives(),
        measure=GAINS,
        drawn=Bars("trace", "gain", by=["drive"], x_label="", y_label=GAIN_LABEL),
        note="8 MiB, κ = 1, write-through.",
        partial=True,
    ),
    Figure(
        id="beyond-applications",
        title="NCQ in FCFS with one application and with two",
        paper="NCQ helps where two applications compete for the arm. One that is loaded from one area, and "
        "mostly in order, hardly benefits.",
        points=streams(),
        measure={"of_fcfs": ncq_of_fcfs(service_s), "makespan_of_fcfs": ncq_of_fcfs(makespan_s)},
        drawn=Bars("load", "of_fcfs", by=["buffer"], x_label="", y_label="total service time, NCQ / FCFS"),
        note="20,000 reads of 8 KiB made by hand, in runs of 32 within an area of its own for each "
        "application, with gaps of less than 1,000 blocks between runs; two take turns request by request. "
        "Nothing is written. Without a buffer, the block behind a request has passed by when it is asked "
        "for, and FCFS waits a turn for it; NCQ fills that with requests further on, and so even one "
        "application benefits. Where the drive has its own buffer, and reads ahead, FCFS streams, and one "
        "application does not benefit: what the paper says is true of such a drive.",
    ),
    Figure(
        id="beyond-identity",
        title="ATCA without a weight is LRU",
        paper="“The algorithm can be viewed as the LRU algorithm if N is zero.”",
        points=identical(),
        measure={
            "differing": lambda runs: differing(runs["it"], runs["lru"]),
            "evictions": lambda runs: cache(runs["it"]).evictions,
        },
        note="Two runs differ by no eviction where every request starts and ends at the same instant in "
        "both, and all counters of the caches are equal; else by one at least, or by as many as their "
        "counts of evictions do. A block evicted in another's stead shows as soon as either is wanted "
        "again. Beside it is how many evictions there were.",
        partial=True,
    ),
]
