"""Requests that the buffer serves, told from those of the medium by their times.

From the buffer a request takes one time and a time for each of its blocks, whatever the platter does: such
times crowd together, those of the medium are spread over a turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The width in which times count as one, and how far around it others belong to it, ms.
_WIDTH_MS, _AROUND_MS = 0.06, 0.35
# Times of a block that are tried, ms.
_MOST_BLOCK_MS, _BLOCK_STEP_MS = 0.4, 0.001
# A crowd has this multiple of the requests that would be there by chance, and at least this number and share.
_CROWDED, _FEWEST, _LEAST_SHARE = 6.0, 20, 0.03
# The share of writes that crowd above which the drive takes writes into its buffer.
_MOST_WRITES = 0.2
_Z95 = 1.959964


@dataclass(frozen=True)
class Cluster:
    """Times that crowd at `base + block * blocks`, ms, with the halves of their intervals for 95 %."""

    base: float
    block: float
    base_half: float
    block_half: float
    requests: int
    share: float

    def times(self, blocks: Floats) -> Floats:
        return self.base + self.block * blocks

    def holds(self, service: Floats, blocks: Floats) -> NDArray[np.bool_]:
        """Whether times are those of the buffer: some controllers need a moment longer now and then."""
        inside: NDArray[np.bool_] = service <= self.times(blocks) + _AROUND_MS
        return inside


def cluster(service: Floats, blocks: Floats, block: float | None = None) -> Cluster | None:
    """The times from the buffer among those of requests; none where no times crowd together.

    block: the time of a block, where it is known.
    """
    if len(service) < 2 * _FEWEST:
        return None
    if block is not None:
        tried = np.array([block])
    elif len(np.unique(blocks)) > 1:
        tried = np.arange(0.0, _MOST_BLOCK_MS, _BLOCK_STEP_MS)
    else:
        tried = np.zeros(1)
    best, at, of_block = 0, 0.0, 0.0
    for one in tried:
        left = np.sort(service - one * blocks)
        together = np.searchsorted(left, left + _WIDTH_MS, side="right") - np.arange(len(left))
        place = int(together.argmax())
        if together[place] > best:
            best, at, of_block = int(together[place]), float(left[place]), float(one)
    low, high = np.quantile(service, (0.05, 0.95))
    by_chance = len(service) * _WIDTH_MS / max(float(high - low), _WIDTH_MS)
    share = best / len(service)
    # Where nearly all requests come from the buffer, times are spread no more than the crowd is.
    crowded = best > _CROWDED * by_chance or share > 0.5
    if best < max(_FEWEST, _LEAST_SHARE * len(service)) or not crowded:
        return None
    middle = at + _WIDTH_MS / 2
    near = np.abs(service - of_block * blocks - middle) < 2 * _WIDTH_MS
    return _refined(service[near], blocks[near], middle, of_block, share, block is None)


def _refined(
    service: Floats, blocks: Floats, base: float, block: float, share: float, is_free: bool
) -> Cluster:
    """The line through times that are near one already."""
    count = len(service)
    left = service - block * blocks
    varies = is_free and bool(blocks.max() > blocks.min())
    slope = float(np.polyfit(blocks, left, 1)[0]) if varies and count > 2 * _FEWEST else 0.0
    left = left - slope * blocks
    base = float(np.median(left))
    spread = float(left.std()) or _WIDTH_MS / 100
    of_blocks = float(blocks.std()) if varies else np.inf
    block_half = _Z95 * spread / np.sqrt(count) / of_blocks
    lever = float(np.hypot(1.0, blocks.mean() / of_blocks)) if varies else 1.0
    base_half = _Z95 * 1.2533 * spread / np.sqrt(count) * lever
    return Cluster(base, max(block + slope, 0.0), base_half, float(block_half), count, share)


@dataclass(frozen=True)
class Kinds:
    """What serves the requests of a recording.

    medium: requests whose times say where the platter was.
    """

    reads: Cluster | None
    reads_after_write: Cluster | None
    writes_after_read: Cluster | None
    writes_after_write: Cluster | None
    medium: NDArray[np.bool_]
    hits: NDArray[np.bool_]

    @property
    def buffers_writes(self) -> bool:
        return self.writes_after_read is not None or self.writes_after_write is not None

    @property
    def block(self) -> tuple[float, float] | None:
        """The time of a block, ms, and the half of its interval: the one that is told best."""
        best = _best((self.writes_after_read, self.writes_after_write)) or _best((self.reads,))
        return None if best is None else (best.block, best.block_half)


def _best(of: Sequence[Cluster | None]) -> Cluster | None:
    """The one that tells best what a block takes."""
    known = [one for one in of if one is not None and np.isfinite(one.block_half) and one.block_half > 0]
    return min(known, key=lambda one: one.block_half) if known else None


def _block(of: Sequence[Cluster | None]) -> float | None:
    best = _best(of)
    return None if best is None else best.block


def kinds(write: NDArray[np.bool_], service: Floats, blocks: Floats) -> Kinds:
    """Sorts the requests of a recording."""
    after = np.concatenate(([False], write[:-1]))
    of_writes = [cluster(service[write & chosen], blocks[write & chosen]) for chosen in (~after, after)]
    # Some writes that take one time are no memory for writes: most must.
    if sum(one.requests for one in of_writes if one is not None) < _MOST_WRITES * write.sum():
        of_writes = [None, None]
    # A block takes one time, whatever it belongs to: of writes that the buffer takes there are more.
    block = _block(of_writes)
    reads = cluster(service[~write], blocks[~write], block)
    if reads is not None and reads.base < 0:
        reads = None
    hit_after_write = None
    if reads is not None:
        late = ~write & after
        hit_after_write = cluster(service[late], blocks[late], reads.block)
    hits = np.zeros(len(service), dtype=bool)
    if reads is not None:
        hits = ~write & reads.holds(service, blocks)
        if hit_after_write is not None:
            hits |= ~write & after & hit_after_write.holds(service, blocks)
    buffered = any(one is not None for one in of_writes)
    medium = ~hits & ~(write & buffered)
    return Kinds(reads, hit_after_write, of_writes[0], of_writes[1], medium, hits)
