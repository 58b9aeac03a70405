"""A drive's cache that keeps longer what took long to access."""

from diskwright.reproduce import System
from diskwright.systems._traces import CLOUD_PHYSICS, GUEST, HP_WEEK, PCFAT32, SMALLDISKMON
from diskwright.systems.atca import _extensions, _figures
from diskwright.systems.atca._statements import STATEMENTS

SYSTEM = System(
    name="atca",
    title="A drive's cache that is aware of access times",
    paper="A. Arfan, Y.-J. Kim and J. B. Kwon, Access time-aware cache algorithm for SATA hard disks, IEICE "
    "Electronics Express 9(22), 2012.",
    about=[
        "A drive has a cache of blocks in front of its queue. LRU gives up the block whose last access is "
        "longest ago; ATCA the one of the smallest worth: the number of its last access, and a bonus that "
        "grows with N, the seek and rotation of the access to the medium that last brought or wrote it. The "
        "simple form gives a fixed bonus where N is above the mean. The paper prints neither the size of "
        "the bonus nor its unit; here a block of mean N lives κ turnovers of the cache longer than one that "
        "was free, and κ is 1 unless said.",
        "As in the paper, the queue has 32 slots, merges requests of one direction that continue one "
        "another up to 32 blocks, and serves the one of the shortest positioning time (NCQ). What it leaves "
        "out is ours: an IBM Ultrastar 18ES of 1999, without its segment buffer, with a command overhead of "
        "0.3 ms and a timeout of 2 s; a cache in blocks of 4 KiB, empty at the start, of 8 MiB where the "
        "size is not varied; writes go through to the medium and stay in the cache, unless a point says "
        "write-back; and each trace comes as fast as a host issues it that has 32 requests at the drive at "
        "most.",
        "The paper's two traces are not public. Synthetic clones have their counts, and are others with each "
        "seed; recorded traces stand beside them: a Debian guest's, which is the repository's own, a week "
        "of a workstation at HP, and a virtual disk of CloudPhysics. Requests that reach past the end of a "
        "drive have their first block taken modulo its size. Total service time is the sum of the times "
        "from when a request enters the queue, or hits, to its completion. Beside it stand the makespan, "
        "from the first arrival to the last completion, and the time in which dirty blocks were destaged, "
        "which is no request's.",
        "What was found: the gains that the paper reports are not there. On the clones ATCA is not "
        "better than LRU with any size of cache, and on the recorded traces within a few percent of it. On "
        "the clone of SMALLDISKMON, a cache that holds everything gains far less than the paper's 35 "
        "%: as long as writes go through, no policy can. ATCA gains where hot random reads compete with "
        "streaming reads; policies that resist scans and know nothing of access times gain as well there, "
        "and more. With write-back its total service time flatters: the makespan says otherwise, except "
        "where hot reads are flooded by writes. NCQ helps two applications at once more than one; that one "
        "alone does not benefit is true of a drive that reads ahead.",
    ],
    traces=[SMALLDISKMON, PCFAT32, GUEST, HP_WEEK, CLOUD_PHYSICS],
    quick=3_000,
    figures=[*_figures.FIGURES, *_extensions.FIGURES],
    statements=STATEMENTS,
)
