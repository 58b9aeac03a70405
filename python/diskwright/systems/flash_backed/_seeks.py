"""Seek distances of writes, from the traces alone: figs. 3 and 4."""

from collections.abc import Mapping, Sequence
from typing import Any

_DAY_NS = 86_400 * 10**9
_FLAT = 0.1
_BINS = 3


def _writes(table: str) -> Any:
    """The writes of a trace, each with its distance from the request before it, in bytes."""
    import polars

    frame = polars.read_parquet(table)
    time = next(name for name in ("arrival_ns", "time_ns") if name in frame.columns)
    frame = frame.filter(polars.col("op").cast(polars.String).is_in(["read", "write"]))
    frame = frame.with_columns(
        bytes=512
        * (polars.col("lbn").cast(polars.Int64) - polars.col("lbn").shift(1).cast(polars.Int64)).abs(),
        at=polars.col(time) - polars.col(time).min(),
    )
    return frame.filter(polars.col("op").cast(polars.String) == "write").drop_nulls("bytes")


def by_hour(table: str) -> Mapping[str, Any]:
    """The distances of the first day's writes, hour by hour: quantiles in GB."""
    import polars

    first = _writes(table).filter(polars.col("at") < _DAY_NS)
    hours = (
        first.with_columns(hour=polars.col("at") // (_DAY_NS // 24))
        .group_by("hour")
        .agg(
            *(polars.col("bytes").quantile(share).alias(name) for name, share in QUANTILES.items()),
            polars.len().alias("writes"),
        )
    )
    found = {int(row["hour"]): row for row in hours.iter_rows(named=True)}
    return {
        "hours": [
            {
                "writes": float(found[hour]["writes"]) if hour in found else 0.0,
                **{name: float(found[hour][name]) / 1e9 if hour in found else None for name in QUANTILES},
            }
            for hour in range(24)
        ]
    }


QUANTILES = {"p10_gb": 0.1, "p50_gb": 0.5, "p90_gb": 0.9}


def histogram(table: str) -> Mapping[str, Any]:
    """How many writes have a distance of a power of two of bytes up to twice that, and the knee in MB."""
    import numpy

    distances = _writes(table)["bytes"].to_numpy()
    powers = range(9, 39)
    found, _ = numpy.histogram(distances, [2.0**power for power in (*powers, 39)])
    counts = [int(count) for count in found]
    return {"mb": [2.0**power / 1e6 for power in powers], "counts": counts, "knee_mb": knee(powers, counts)}


def knee(powers: Sequence[int], counts: Sequence[int]) -> float:
    """The least bin after which three successive ones differ by less than 10 %, in MB; else the largest."""
    for place in range(len(counts) - _BINS):
        behind = counts[place + 1 : place + 1 + _BINS]
        if min(behind) > 0 and max(behind) - min(behind) < _FLAT * max(behind):
            return 2.0 ** powers[place] / 1e6
    last = max(place for place, count in enumerate(counts) if count)
    return 2.0 ** (powers[last] + 1) / 1e6
