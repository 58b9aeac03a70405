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
        "samsung-850-pro, which has 512 GB: smaller ones have fewer dies with the same pages, times and "
        "share of spare, below 4 GB with smaller blocks, and are as large as the cache, to the block. A "
        "cache is new at the start; SSDs that are no cache are full, for flash that was never written takes "
        "no time to read. GB are 2^30 bytes where the paper names a size.",
        "Three loads, on each of which every statement has a verdict. Zipf: 4 KiB, two thirds reads, 30 "
        "requests a second, over 32 GiB of lines, 8 Mi of them, whose popularity falls as 1/rank. The "
        "statistics leave out what fills the cache: 1 and 2 million requests with 0.5 and 1 GB; from 16 GB "
        "on 8 requests for each line, of which one in 8 is there, and of the cache, the SSD left as it is, "
        "as much less (beyond-scale). -paper: the generator of DiskSim's examples, one on a processor of "
        "its own, 100,000 requests from an empty cache on, over the whole disk. -trace: a virtual disk of "
        "CloudPhysics, one request after the other, from an empty cache on. It touches 1.03 GiB: "
        "-trace-small has the 0.5 GB of cache which that fills.",
        "In a quick try one line in 8 is there with 0.5 and 1 GB of cache, and one in 128 with 16 GB and "
        "more (256 in beyond-write-cache and beyond-ratio, 512 in beyond-cap), and the requests of the "
        "warm-up are fewer by as much; 100,000 requests are measured. Of the generator and the trace there "
        "are the first 50,000 requests.",
        "The paper's text has no numbers for its figures: what is judged is the order that it tells. Of a "
        "ratio that should be 1, “sign only” says just that it is further off than 25 %.",
        "What was found: on the generator hardly anything is used again, and nothing leaves a cache of 1 GB "
        "or more, so that all sizes and policies are the same, request by request: that 16 and 64 GB are "
        "alike, FIFO and LIFO too, and that write-through with FIFO is best are artefacts of this load, and "
        "a static hybrid beats the cache. On the Zipf load the order of the configurations holds, S-LRU is "
        "best, 64 GB take a third to a half of the time of 16 GB once these are full, and write-back gains "
        "little, because the disk has a write cache of its own; a hybrid that holds the hottest lines beats "
        "the cache. On CloudPhysics in half a GB S-LRU is worse than FIFO, as the paper says, and write- "
        "back takes twice as long as write-through, because no clean line is left. The cap is where the "
        "footprint ends. docs/model/ssd-cache.md has more.",
    ],
    traces=[CLOUD_PHYSICS],
    quick=200_000,
    figures=[*FIGURES, *EXTENSIONS],
    statements=STATEMENTS,
)
