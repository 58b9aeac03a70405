"""A drive's memory: overheads of hits, the interface, how much it keeps, what it reads ahead, its write cache."""

from dataclasses import dataclass, field

import numpy as np

from diskwright.extracting._motion import Arm
from diskwright.extracting._platter import Platter
from diskwright.extracting._zones import Layout


@dataclass
class Memory:
    """What is known of it; times in ns, sizes in blocks."""

    hit: float | None = None
    block_time: float | None = None
    size: int | None = None
    reads_ahead: int | None = None
    caches_writes: bool | None = None
    notes: list[str] = field(default_factory=list)


def measure_memory(platter: Platter, layout: Layout, arm: Arm) -> Memory:
    return Memory()
