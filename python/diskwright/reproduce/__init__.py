"""What a paper says of a system, run again: its figures, its statements, and a verdict on each.

A system is one file, which says what to run and what to measure; see `docs/cli/reproduce.md`.
"""

from diskwright.reproduce._claims import Claim, above, below, near
from diskwright.reproduce._execute import reproduce
from diskwright.reproduce._inputs import GeneratedFile, Trace, bundled, converted, synthetic_clone
from diskwright.reproduce._reproduced import Reproduced
from diskwright.reproduce._system import Bars, Figure, Lines, Point, Statement, System, Worst
from diskwright.reproduce._work import Call, Inspect, Run, Work
from diskwright.reproduce._write import write

__all__ = [
    "Bars",
    "Call",
    "Claim",
    "Figure",
    "GeneratedFile",
    "Inspect",
    "Lines",
    "Point",
    "Reproduced",
    "Run",
    "Statement",
    "System",
    "Trace",
    "Work",
    "Worst",
    "above",
    "below",
    "bundled",
    "converted",
    "near",
    "reproduce",
    "synthetic_clone",
    "write",
]
