"""A disk with two arms that writes where its head is."""

from diskwright.reproduce import System
from diskwright.systems._traces import HP_WEEK
from diskwright.systems.dual_actuator import _beyond, _figures
from diskwright.systems.dual_actuator._statements import STATEMENTS

SYSTEM = System(
    name="dual-actuator",
    title="A disk with two arms that writes where its head is",
    paper="J. A. Chandy, A Dual Actuator Logging Disk Architecture, IASTED International Conference on "
    "Parallel and Distributed Computing and Systems.",
    about=[],
    traces=[HP_WEEK],
    quick=1_000,
    figures=[*_figures.FIGURES, *_beyond.FIGURES],
    statements=STATEMENTS,
)
