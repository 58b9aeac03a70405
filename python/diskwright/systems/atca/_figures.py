"""The figures on the access-time-aware cache, as the paper has them and beyond."""

from typing import Any

from diskwright.reproduce import Bars, Figure, Lines
from diskwright.systems._clustering import makespan_s, service_s
from diskwright.systems.atca._points import (
    POLICIES,
    SMALL_SHARES,
    THETAS,
    VARIANTS,
    bonuses,
    ceilings,
    counted,
    drives,
    hots,
    identical,
    kappas,
    look_alikes,
    over_sizes,
    paces,
    properties,
    published_properties,
    side_by_side,
    streams,
    write_policies,
)
from diskwright.systems.atca._runs import (
    ALL,
    ATCA,
    CACHED,
    GAIN,
    HAND_MADE,
    PCFAT,
    SIMPLE,
    SMALL,
    STREAMING,
    TIMES,
    TRACES,
    cache,
    differing,
    of,
)

GAIN_LABEL = "saved of LRU's total service time"
GAINS = {**GAIN, **TIMES}
SIMPLE_GAIN = 0.11


def of_lru(runs: Any) -> float:
    """Total service time in that of LRU."""
    return service_s(runs["it"]) / service_s(runs["lru"])


def of_none(runs: Any) -> float:
    """Total service time in that of a drive without a cache."""
    return service_s(runs["it"]) / service_s(runs["without"])


def ncq_of_fcfs(measure: Any) -> Any:
    """What a time is under NCQ in what it is under FCFS."""
    return lambda runs: measure(runs["ncq"]) / measure(runs["fcfs"])


FIGURES = [
    Figure(
        id="fig-1",
        title="Simple ATCA and LRU on a trace made by hand",
        paper="Two bars of total service time, of which that of the simple form is 11 % lower. Neither the "
        "trace nor the size of the cache is told, nor what makes an access time big.",
        points=side_by_side([STREAMING], {"LRU": "lru", "simple ATCA": SIMPLE, "ATCA": ATCA}),
        measure={"of_lru": of_lru, **TIMES, **CACHED},
        drawn=Bars("policy", "of_lru", x_label="", y_label="total service time / LRU"),
        published=[
            {"trace": STREAMING, "policy": "LRU", "of_lru": 1.0},
            {"trace": STREAMING, "policy": "simple ATCA", "of_lru": 1 - SIMPLE_GAIN},
        ],
        note="Our trace has what the paper's text is about. 20,000 reads: in turn one of 4 KiB, of one of "
        "512 hot places, which are all alike and lie anywhere in the lower half of 8 GB, and the next 64 "
        "KiB of one stream through the upper half, which is never read again. The hot places would fill a "
        "quarter of the cache of 8 MiB. That was fixed beforehand; the next figure has other numbers of "
        "them. Write-through, though nothing is written.",
    ),
    Figure(
        id="beyond-hot-set",
        title="What is gained with fewer or more hot places",
        paper="Access time tells which blocks to keep.",
        points=hots(HAND_MADE),
        measure=GAINS,
        drawn=Lines(
            "hot_share",
            "gain",
            by=["trace", "policy"],
            x_log=True,
            x_label="hot places / blocks of the cache",
            y_label=GAIN_LABEL,
        ),
        note="Three traces made by hand. The stream is that of fig. 1. In the two floods a write of 64 KiB "
        "that comes once takes the place of each read of the stream: each behind the one before it, as in a "
        "log, or anywhere. Beside the stream ATCA gains. In the floods, write-through, it loses: a write "
        "takes as long to access as a hot read, or longer, and so what is never wanted again is kept. LFU, "
        "which knows nothing of access times, gains on all three. What helps is to resist scans.",
    ),
    Figure(
        id="table-1",
        title="The look-alikes, measured back",
        paper="Requests and blocks of 512 bytes of two traces that were not published.",
        points=properties(),
        measure={"requests": counted("requests"), "blocks": counted("blocks")},
        published=published_properties(),
        note="Made from this table, others with each seed, and counted again in the requests that are "
        "replayed. Its sizes are mixtures of 8, 16, 64, 128 and 256 blocks, which the table's four means do "
        "not fix: `diskwright.look_alike_mixture` prints them, and figures below vary them.",
    ),
    Figure(
        id="fig-3",
        title="Total service time of LRU and ATCA over the size of the cache",
        paper="Total service times on both traces: ATCA takes up to 35 % off that of LRU on SMALLDISKMON, "
        "and up to 21 % on PCFAT32. Its text names no size of cache and no write policy.",
        points=over_sizes([SMALL, PCFAT], {"LRU": "lru", "ATCA": ATCA}),
        measure={"of_none": of_none, **GAINS},
        drawn=Lines(
            "size_mib",
            "of_none",
            by=["trace", "policy"],
            x_log=True,
            x_label="cache (MiB)",
            y_label="total service time / without a cache",
        ),
        note="κ = 1, write-through. Times are given in those of the same drive without a cache, so that "
        "both traces fit; seconds are in the table. ATCA is not below LRU with any size: its requests take "
        "about as long to access whether they are wanted again or not, and recency is what the look-alikes "
        "have.",
    ),
    Figure(
        id="beyond-sizes",
        title="What ATCA gains over the size of the cache",
        paper="Up to 0.35 and 0.21.",
        points=over_sizes(TRACES, {"ATCA": ATCA}),
        measure=GAINS,
        drawn=Lines("size_mib", "gain", by=["trace"], x_log=True, x_label="cache (MiB)", y_label=GAIN_LABEL),
        note="κ = 1, write-through. The look-alikes of fig. 3 and the recorded traces, on which ATCA and "
        "LRU are much the same.",
        partial=True,
    ),
    Figure(
        id="beyond-kappa",
        title="What ATCA gains over its weight κ",
        paper="It prints neither the factor of the access time nor its unit.",
        points=kappas(ALL),
        measure=GAINS,
        drawn=Lines("kappa", "gain", by=["trace"], x_label="κ", y_label=GAIN_LABEL),
        note="8 MiB, write-through. With κ = 1 a block of mean access time lives one turnover of the cache "
        "longer than one that was free. At 0 the policy is LRU. More weight gains more beside the stream, "
        "and loses more on the look-alikes and in the floods: no weight suits both.",
        partial=True,
    ),
    Figure(
        id="beyond-alpha",
        title="What ATCA gains over a fixed bonus",
        paper="As above: its formula adds access times to numbers of accesses.",
        points=bonuses(ALL),
        measure=GAINS,
        drawn=Lines(
            "alpha",
            "gain",
            by=["trace"],
            x_log=True,
            x_label="bonus (accesses for a millisecond)",
            y_label=GAIN_LABEL,
        ),
        note="8 MiB, write-through. Taken literally, with milliseconds and a factor of 1, the bonus is a "
        "few accesses, and the policy all but LRU.",
        partial=True,
    ),
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
        title="All policies on recorded traces and look-alikes",
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
        note="8 MiB, write-through, 512 hot places. Policies that resist scans gain on all three.",
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
        "policy can gain much more than this. Write-back, what is dirty at the end was never written: a "
        "bound, and no cache. The makespan is drawn, for write-back breaks the tie between it and the total "
        "service time: see the next figure.",
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
        "look-alikes ATCA gains by that measure while the makespan, in the table, grows. In the floods it "
        "gains by both: what was only written to the cache has cost nothing yet, and leaves first.",
        partial=True,
    ),
    Figure(
        id="beyond-small-share",
        title="What is gained with more or fewer small requests",
        paper="It does not have the sizes of its requests, only their means.",
        points=look_alikes("small_share", SMALL_SHARES),
        measure=GAINS,
        drawn=Lines(
            "small_share",
            "gain",
            by=["policy"],
            x_label="share of requests of up to 16 blocks",
            y_label=GAIN_LABEL,
        ),
        note="Look-alikes of SMALLDISKMON's table, which allows shares from 0.44 to 0.85. 8 MiB, "
        "write-through. No share brings what the paper reports within reach, not even of a cache that holds "
        "everything.",
    ),
    Figure(
        id="beyond-theta",
        title="What is gained over the locality of the look-alike",
        paper="The table has the working set, and not how requests come back to it.",
        points=look_alikes("theta", THETAS),
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
        "as the drive keeps up. The look-alikes' times are parameters of their own.",
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
        drawn=Bars("load", "of_fcfs", by=["overhead"], x_label="", y_label="total service time, NCQ / FCFS"),
        note="20,000 reads of 8 KiB made by hand, in runs of 32 within an area of its own for each "
        "application, with gaps of less than 1,000 blocks between runs; two take turns request by request. "
        "With a command overhead FCFS misses the block behind each request and waits a turn for it, which "
        "NCQ fills with requests further on: so even one application benefits, as long as its requests wait "
        "in the queue together.",
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
        note="The differing evictions of the statement, trace by trace, and how many there were.",
        partial=True,
    ),
]
