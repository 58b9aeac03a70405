"""A load whose share of writes changes over time."""

from pathlib import Path
from random import Random

from diskwright.systems.dual_actuator._runs import ETA

SHARES = (0.0, 1.0, 0.1, 0.9, 0.2, 0.8, 0.0, 0.5)
"""The shares of writes, phase by phase, and from the first again."""
CHANGING_BLOCKS = 200_000
"""What is there at the start."""
LENGTH = 160_000
"""Requests of a trace."""
_GAP_S = 0.1
_BLOCKS = 8


def changing(target: Path, seed: int, phase: int) -> None:
    """The paper's load with `phase` requests of each share of writes, as a table with named columns."""
    random = Random(seed)
    at = 0.0
    places = CHANGING_BLOCKS // _BLOCKS
    lines = ["time_s,op,lbn,blocks\n"]
    for number in range(LENGTH):
        at += random.expovariate(1 / _GAP_S)
        writes = random.random() < SHARES[number // phase % len(SHARES)]
        if writes and random.random() < ETA:
            place = places
            places += 1
        else:
            place = random.randrange(places)
        lines.append(f"{at:.9f},{'w' if writes else 'r'},{place * _BLOCKS},{_BLOCKS}\n")
    target.write_text("".join(lines), encoding="ascii")
