"""The figures on the access-time-aware cache that the paper has, each with what its settings do to it."""

from typing import Any

from diskwright.reproduce import Bars, Figure, Lines
from diskwright.systems._clustering import service_s
from diskwright.systems.atca._points import (
    bonuses,
    counted,
    hots,
    kappas,
    over_sizes,
    properties,
    published_properties,
    side_by_side,
    times,
)
from diskwright.systems.atca._runs import (
    ALL,
    ATCA,
    CACHED,
    GAIN_LABEL,
    GAINS,
    HAND_MADE,
    LOG,
    PCFAT,
    SCATTERED,
    SIMPLE,
    SMALL,
    STREAMING,
    TIMES,
    TRACES,
)

SIMPLE_GAIN = 0.11


def of_lru(runs: Any) -> float:
    """Total service time in that of LRU."""
    return service_s(runs["it"]) / service_s(runs["lru"])


def of_none(runs: Any) -> float:
    """Total service time in that of a drive without a cache."""
    return service_s(runs["it"]) / service_s(runs["without"])


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
        title="What is gained over LRU with fewer or more hot places",
        paper="One trace, one gain.",
        points=hots([STREAMING], {"ATCA": ATCA, "simple ATCA": SIMPLE, "LFU": "lfu"}),
        measure=GAINS,
        drawn=Lines(
            "hot_share",
            "gain",
            by=["policy"],
            x_log=True,
            x_label="hot places / blocks of the cache",
            y_label=GAIN_LABEL,
        ),
        note="The trace of fig. 1 with other numbers of hot places, 8 MiB. Access times tell the hot places "
        "from the stream, but LFU, which knows nothing of them, tells them as well.",
    ),
    Figure(
        id="beyond-flood",
        title="Hot places flooded by writes that come once",
        paper="It has no such trace.",
        points=hots([LOG, SCATTERED], {"ATCA": ATCA, "LFU": "lfu"}),
        measure=GAINS,
        drawn=Lines(
            "hot_share",
            "gain",
            by=["trace", "policy"],
            x_log=True,
            x_label="hot places / blocks of the cache",
            y_label=GAIN_LABEL,
        ),
        note="As before, with a write of 64 KiB in the place of each read of the stream: each behind the "
        "one before it, as in a log, or anywhere in the upper half, and none twice. 8 MiB, write-through. "
        "ATCA loses: it keeps what is never wanted again, since that takes longer to access. LFU gains: "
        "what helps is to resist scans, and not access time. With write-back that changes: see "
        "beyond-write-policy.",
    ),
    Figure(
        id="beyond-access-times",
        title="How long it takes to access what is hot, and what is not",
        paper="Sequential requests need little movement of the head, so that random ones are worth keeping.",
        points=times(HAND_MADE),
        measure={"hot_ms": lambda found: found["hot_ms"], "other_ms": lambda found: found["other_ms"]},
        note="Mean seek and rotation under LRU, 8 MiB, write-through, of the three traces with 512 hot "
        "places, of what went to the medium. The stream's reads have short access times and so leave first. "
        "The floods' writes, even in order, have longer ones than the hot reads, of which NCQ has many to "
        "choose from: ATCA keeps the wrong ones.",
    ),
    Figure(
        id="table-1",
        title="The clones, measured back",
        paper="Requests and blocks of 512 bytes of two traces that were not published.",
        points=properties(),
        measure={"requests": counted("requests"), "blocks": counted("blocks")},
        published=published_properties(),
        note="Made from this table, others with each seed, and counted again in the requests that are "
        "replayed. Its sizes are mixtures of 8, 16, 64, 128 and 256 blocks, which the table's four means do "
        "not fix: `diskwright.synthetic_clone_mixture` prints them, and figures below vary them.",
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
        "about as long to access whether they are wanted again or not, and recency is what the clones "
        "have.",
    ),
    Figure(
        id="beyond-sizes",
        title="What ATCA gains over the size of the cache",
        paper="Up to 0.35 and 0.21.",
        points=over_sizes(TRACES, {"ATCA": ATCA}),
        measure=GAINS,
        drawn=Lines("size_mib", "gain", by=["trace"], x_log=True, x_label="cache (MiB)", y_label=GAIN_LABEL),
        note="κ = 1, write-through. The clones of fig. 3 and the recorded traces, on which ATCA and "
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
        "and loses more on the clones and in the floods: no weight suits both.",
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
]
