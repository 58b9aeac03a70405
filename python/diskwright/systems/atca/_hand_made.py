"""Traces made by hand for the access-time-aware cache: what the paper describes without a table.

Each is drawn with a seed, in DiskSim's format. Arrivals are a millisecond apart: here all are replayed as
fast as the queue takes them.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

HOT_BLOCKS = 8
"""A hot place: one block of the cache."""
LONG_BLOCKS = 128
"""What streams or floods comes in requests of 64 KiB."""
SPAN_BLOCKS = 16_000_000
"""Addresses: 8 GB, which both drives have."""
LENGTH = 20_000
"""Requests of each trace."""

_REACH_BLOCKS = 1_000
_RUN = 32

Request = tuple[int, int, bool]
"""Its first block, its blocks, and whether it reads."""


def beside_streaming(target: Path, seed: int, hot: int) -> None:
    """Hot random reads beside streaming reads: in turn a read of one of `hot` hot places, which are all
    alike, and the next 64 KiB of one long stream, which nobody reads again."""
    random = Random(seed)
    read = _hot(random, hot)

    def requests() -> Iterator[Request]:
        for turn in range(LENGTH // 2):
            yield read()
            yield SPAN_BLOCKS // 2 + turn * LONG_BLOCKS, LONG_BLOCKS, True

    _write(target, requests())


def flooded(target: Path, seed: int, hot: int, in_order: bool) -> None:
    """Hot random reads flooded by writes that come once: in turn a read as beside the stream, and a write of
    64 KiB, each behind the one before it as in a log, or each somewhere else."""
    random = Random(seed)
    read = _hot(random, hot)
    # None is written twice, and none is read.
    places = random.sample(range(SPAN_BLOCKS // 2 // LONG_BLOCKS, SPAN_BLOCKS // LONG_BLOCKS), LENGTH // 2)

    def requests() -> Iterator[Request]:
        for turn, place in enumerate(places):
            yield read()
            first = SPAN_BLOCKS // 2 + turn * LONG_BLOCKS if in_order else place * LONG_BLOCKS
            yield first, LONG_BLOCKS, False

    _write(target, requests())


def applications(target: Path, seed: int, count: int) -> None:
    """One or more applications that are loaded at once, request by request in turn: each reads files in an
    area of its own, 16 blocks at a time in runs of 32 requests, and goes on somewhere near after each."""
    random = Random(seed)
    at = [SPAN_BLOCKS * (2 * index + 1) // (2 * count) for index in range(count)]

    def requests() -> Iterator[Request]:
        for number in range(LENGTH):
            turn, index = divmod(number, count)
            if turn % _RUN == 0:
                at[index] += random.randrange(_REACH_BLOCKS)
            yield at[index], 16, True
            at[index] += 16

    _write(target, requests())


def _hot(random: Random, hot: int) -> Callable[[], Request]:
    """Draws a read of one of `hot` places in the lower half of the addresses."""
    places = [place * HOT_BLOCKS for place in random.sample(range(SPAN_BLOCKS // HOT_BLOCKS // 2), hot)]
    return lambda: (random.choice(places), HOT_BLOCKS, True)


def _write(target: Path, requests: Iterator[Request]) -> None:
    lines = (f"{at}.0 0 {lbn} {blocks} {int(reads)}\n" for at, (lbn, blocks, reads) in enumerate(requests))
    target.write_text("".join(lines), encoding="ascii")
