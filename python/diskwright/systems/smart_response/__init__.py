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
    about=["TODO"],
    traces=[CLOUD_PHYSICS],
    quick=200_000,
    figures=[*FIGURES, *EXTENSIONS],
    statements=STATEMENTS,
)
