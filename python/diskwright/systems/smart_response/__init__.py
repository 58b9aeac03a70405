"""An SSD as the cache of a hard disk."""

from diskwright.reproduce import System
from diskwright.systems._traces import CLOUD_PHYSICS
from diskwright.systems.smart_response._extensions import EXTENSIONS
from diskwright.systems.smart_response._figures import FIGURES
from diskwright.systems.smart_response._statements import STATEMENTS

SYSTEM = System(
    name="smart-response",
    title="An SSD as the cache of a hard disk",
    paper="L. Plewa, A Better Look at Smart Response Technology, CSC 520, California Polytechnic State "
    "University, 2014.",
    about=[
        "Four configurations: the disk alone (hdd-only); static-hybrid, of which the first addresses lie on "
        "an SSD and the rest on the disk, for good; srt, the SSD as a cache of lines of 4 KiB; ssd-only. The "
        "disk is the library's travelstar-5k160 as it is sold, its 8 MiB of memory and its write cache on, "
        "with another angle for each seed. The SSD is the library's SATA drive of MLC flash, "
        "samsung-850-pro. It has 512 GB: smaller ones have fewer dies with the same pages, times and share of "
        "spare, below 4 GB with smaller blocks, and are as large as the cache, to the block. A cache is new "
        "at the start; SSDs that are no cache are full, for flash that was never written takes no time to "
        "read. GB are 2^30 bytes where the paper names a size.",
        "Three loads, on each of which every statement has a verdict. Zipf: 4 KiB, two thirds reads, 30 "
        "requests a second, over 32 GiB of lines, 8 Mi of them, whose popularity falls as 1/rank. The "
        "statistics leave out what fills the cache: 1 and 2 million requests with 0.5 and 1 GB; from 16 GB on 8 "
        "requests for each line, of which one in 8 is there, and of the cache, the SSD left as it is, as "
        "much less (beyond-scale). -paper: the generator of DiskSim's examples, one on a processor of its "
        "own, 100,000 requests from an empty cache on, over the whole disk. -trace: a virtual disk of "
        "CloudPhysics, one request after the other, from an empty cache on. It touches 1.03 GiB: "
        "-trace-small has the 0.5 GB of cache which that fills.",
        "In a quick try one line in 8 is there with 0.5 and 1 GB of cache, and one in 128 with 16 GB and more "
        "(256 in beyond-write-cache and beyond-ratio), and the requests before and behind the warm-up are "
        "fewer by as much; of the generator and the trace there are the first 50,000 requests.",
        "The paper's text has no numbers for its figures: what is judged is the order that it tells.",
        "FOUND",
    ],
    traces=[CLOUD_PHYSICS],
    quick=200_000,
    figures=[*FIGURES, *EXTENSIONS],
    statements=STATEMENTS,
)
