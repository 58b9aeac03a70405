"""The paper's load: the generator of DiskSim's examples."""

from pathlib import Path
from random import Random

REQUESTS = 100_000
GAP_MS = 50.0
EXAMPLE_BLOCKS = 2_056_008
"""The capacity that the examples give their generators: the disk of 1 GB that they were made for."""
UNIT = 8
"""Blocks: what sizes and addresses are multiples of."""

_SEQUENTIAL, _LOCAL, _READS = 0.2, 0.3, 0.66
_DISTANCE = 40_000.0
_SIZE = 8.0


def generated(target: Path, seed: int, blocks: int) -> None:
    """One generator of the examples on a processor of its own, which no request waits for, over the first so
    many blocks: a fifth of the requests continue the one before, three tenths lie near it, half go anywhere.
    """
    import polars

    random = Random(seed)
    places = blocks // UNIT
    at_ms, place, size, reads = 0.0, 0, 1, True
    columns: dict[str, list[int]] = {"arrival_ns": [], "lbn": [], "blocks": []}
    ops: list[str] = []
    for number in range(REQUESTS):
        at_ms += random.expovariate(1 / GAP_MS)
        kind = random.random()
        if number and kind < _SEQUENTIAL and place + 2 * size < places:
            place += size
        else:
            is_local = number > 0 and _SEQUENTIAL <= kind < _SEQUENTIAL + _LOCAL
            place, size = _drawn(random, places, place if is_local else None)
            reads = random.random() < _READS
        columns["arrival_ns"].append(round(at_ms * 1e6))
        columns["lbn"].append(place * UNIT)
        columns["blocks"].append(size * UNIT)
        ops.append("read" if reads else "write")
    polars.DataFrame({**columns, "op": ops}).write_parquet(target)


def _drawn(random: Random, places: int, near: int | None) -> tuple[int, int]:
    """A place and a size in units, drawn anew until the request lies in the range."""
    while True:
        if near is None:
            place = random.randrange(places)
        else:
            place = near + int(int(random.gauss(0.0, _DISTANCE)) / UNIT)
        size = -(-int(random.expovariate(1 / _SIZE)) // UNIT)
        if place >= 0 and size > 0 and place + size < places:
            return place, size
