"""Traces made by hand for the SSD as a cache, and what is counted in traces."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LINE = 8
"""Blocks of a line."""
_GAP_NS = 1e9 / 30
_READS = 2 / 3


def moving(target: Path, seed: int, lines: int, requests: int, phases: int) -> None:
    """The Zipf load on `lines` lines. From phase to phase other lines become popular."""
    import numpy

    random = numpy.random.default_rng(seed)
    ranks = _ranks(random, lines, requests)
    order = numpy.concatenate([random.permutation(lines)[part] for part in numpy.array_split(ranks, phases)])
    _write(target, random, order)


def still(target: Path, seed: int, lines: int, requests: int) -> None:
    """The Zipf load on `lines` lines."""
    moving(target, seed, lines, requests, 1)


def _ranks(random: Any, lines: int, requests: int) -> Any:
    import numpy

    below = numpy.cumsum(1 / numpy.arange(1, lines + 1))
    return numpy.searchsorted(below, random.random(requests) * below[-1])


def _write(target: Path, random: Any, lines: Any) -> None:
    import numpy
    import polars

    count = len(lines)
    arrivals = numpy.cumsum(random.exponential(_GAP_NS, count)).astype(numpy.int64)
    ops = numpy.where(random.random(count) < _READS, "read", "write")
    columns = {"arrival_ns": arrivals, "op": ops, "lbn": lines * LINE}
    polars.DataFrame(columns).with_columns(blocks=polars.lit(LINE)).write_parquet(target)


def misses(trace: str, mib: Sequence[float], by: float = 1) -> Mapping[str, Any]:
    """The share of the reads of lines that miss in LRU caches of these sizes, all in one pass.

    by: the trace has one line in this number, and the caches are smaller by this factor.
    """
    from diskwright import _api

    capacities = [f"{round(size / by * 256)}" for size in mib]
    found = _api.miss_ratio(trace, policies=["lru"], capacities=capacities)
    return {
        "read_miss_ratio": {
            f"{size:g}": point.read_miss_ratio for size, point in zip(mib, found.points, strict=True)
        },
        "read_share": found.reads / found.requests,
    }
