"""The figures on the SSD as a cache that the paper has, and those of its statements that have none."""

from diskwright.reproduce import Bars, Figure, Lines
from diskwright.systems.smart_response._points import (
    caps,
    combinations,
    orders,
    replacements,
    sizes,
    ssds,
    write_policies,
)
from diskwright.systems.smart_response._runs import CACHED, CLOUD, DISKSIM, RESPONSE, ZIPF, at_risk_mb

RESPONSE_LABEL = "mean response time (ms)"
SIZE_LABEL = "cache (GB)"

FIGURES = [
    Figure(
        id="beyond-order",
        title="The disk, the static hybrid, the cache and the SSD",
        paper="From the slowest to the fastest: HDD only, hybrid, SRT, SSD only. Said, not measured.",
        points=orders(),
        measure=RESPONSE,
        drawn=Bars("workload", "response_ms", by=["configuration"], x_label="", y_label=RESPONSE_LABEL),
        note="16 GB of SSD. static-hybrid has the first 16 GB of addresses on it; static-hybrid-share, as "
        "16 GB are a tenth of the disk, the first tenth of the addresses of the load; "
        "static-hybrid-hottest the most popular lines, which then lie in the order of their popularity. srt "
        "is write-through, FIFO. The hybrid of the generator over 1 GB has all of it on its SSD.",
    ),
    Figure(
        id="fig-2",
        title="Response time by the size of the cache",
        paper="Bars of the mean and the standard deviation. Better from 0.5 to 1 GB, and hardly different at "
        "16 and 64 GB, which are probably not filled. The text has no numbers.",
        points=sizes(),
        measure=CACHED,
        drawn=Lines(
            "size_gb",
            "response_ms",
            by=["workload"],
            x_label=SIZE_LABEL,
            y_label=RESPONSE_LABEL,
            x_log=True,
            y_log=True,
        ),
        note="Write-through, FIFO. Where evictions is 0, the cache was not filled.",
    ),
    Figure(
        id="fig-3",
        title="An SSD alone, by its size",
        paper="It becomes slower with its size, which the paper itself finds implausible.",
        points=ssds(),
        measure=RESPONSE,
        drawn=Lines(
            "size_gb",
            "response_ms",
            by=["written"],
            x_label="SSD (GB)",
            y_label=RESPONSE_LABEL,
            x_log=True,
        ),
        note="30 requests of 4 KiB a second anywhere on the SSD, two thirds reads. It was full at the start, "
        "written once in order, or also overwritten once at random. A larger one has more dies, each of "
        "which is as fast.",
    ),
    Figure(
        id="fig-4",
        title="Write-through and write-back",
        paper="Write-back is faster (one number, cut off in the text), write-through is safer.",
        points=write_policies(),
        measure={**CACHED, "at_risk_mb": at_risk_mb},
        drawn=Lines(
            "size_gb",
            "response_ms",
            by=["workload", "write_policy"],
            x_label=SIZE_LABEL,
            y_label=RESPONSE_LABEL,
            x_log=True,
            y_log=True,
        ),
        note="FIFO. What is dirty goes to the disk when the host has been idle for 100 ms. at_risk_mb is "
        "what only the SSD has, the mean over time: what its death would lose.",
    ),
    Figure(
        id="fig-5",
        title="FIFO, LIFO, S-LRU",
        paper="FIFO and LIFO are alike, S-LRU is significantly worse. The text has no numbers.",
        points=replacements({ZIPF: (0.5, 16), DISKSIM: (0.5, 16), CLOUD: (0.5, 1, 16)}),
        measure=CACHED,
        drawn=Bars("policy", "response_ms", by=["workload", "cache"], x_label="", y_label=RESPONSE_LABEL),
        note="Write-through. The protected segment of S-LRU is half of the cache, as in the paper; LRU, "
        "which the paper does not have, stands beside it.",
    ),
    Figure(
        id="beyond-conclusion",
        title="Which configuration is best",
        paper="Write-through with FIFO, in the largest cache that can be paid; fig. 4 of the paper says that "
        "write-back is faster.",
        points=combinations(),
        measure=RESPONSE,
        drawn=Bars(
            "policy",
            "response_ms",
            by=["workload", "cache", "write_policy"],
            x_label="",
            y_label=RESPONSE_LABEL,
        ),
    ),
    Figure(
        id="beyond-cap",
        title="Beyond 64 GB",
        paper="Intel's software uses 64 GB at most; the paper wants more for large footprints.",
        points=caps(),
        measure=CACHED,
        drawn=Lines(
            "size_gb",
            "response_ms",
            by=["workload"],
            x_label=SIZE_LABEL,
            y_label=RESPONSE_LABEL,
            x_log=True,
            y_log=True,
        ),
        note="Write-through, FIFO. The Zipf load has 32 GiB of lines, and beside it stands one of 96 GiB, of "
        "which one line in 16 is there, one in 512 in a quick try, and as much less of the caches.",
    ),
]
