"""A disk with two arms that writes where its head is."""

from diskwright.reproduce import System
from diskwright.systems._traces import HP_WEEK
from diskwright.systems.dual_actuator import _extensions, _figures, _halves
from diskwright.systems.dual_actuator._statements import STATEMENTS

SYSTEM = System(
    name="dual-actuator",
    title="A disk with two arms that writes where its head is",
    paper="J. A. Chandy, A Dual Actuator Logging Disk Architecture, University of Connecticut.",
    about=[
        "Five architectures: disk, with one arm; dad, with two arms half a turn apart, of which the one "
        "that positions sooner serves a request, one at a time; logging, with one arm, which writes into "
        "the free slot that it reaches soonest; stripe2, two synchronised drives with half of each request; "
        "dald, a log with an arm for reads and one for writes. adaptive has two arms for everything, and "
        "changes between dad and dald by the share of writes that it sees.",
        "The drives are the paper's: one zone, a straight seek curve, no skew, no overhead. Before a run "
        "begins, a log writes the first million sectors at random angles, which leaves holes; then come "
        "500,000 requests of 4 KiB, ten a second, anywhere in what is there, a share w of them writes, and "
        "a share η of these of new data. A write settles after every seek and every head switch. A block of "
        "new data goes, in place, to the next address behind all that is there. Figures that the paper does "
        "not have take 100,000 requests unless they say otherwise.",
        "latency_ms is the mean time from the start of a request to its end: seek, head switch, settling, "
        "rotation and transfer; response_ms is that with waiting. The paper prints no numbers: what is "
        "judged is the shape of its curves.",
        "In a quick try logs begin with 20,000 sectors in place of a million, but for reads alone, and the "
        "adaptive drive looks at 50 requests at a time in place of 500: their reads take some 0.2 ms less.",
        "What was found: two arms save a quarter of a turn, which is a third of the latency and not half. "
        "dald passes dad at a smaller share of writes than logging does, as the paper has it. On the "
        "Cheetah their difference is larger by a tenth, not smaller. Fewer cylinders at the same capacity "
        "do not reduce it; a seek curve that is short for the first cylinder does. A straight seek curve "
        "is further off the real one than the paper says, and cleaning in idle time does not pay on a full "
        "disk. docs/model/logging.md has the closed forms.",
    ],
    traces=[HP_WEEK],
    quick=1_000,
    figures=[*_figures.FIGURES, *_extensions.FIGURES, *_halves.FIGURES],
    statements=STATEMENTS,
)
