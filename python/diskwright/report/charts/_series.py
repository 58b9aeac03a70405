"""Values by bins of time, in wider bins."""

from collections.abc import Mapping, Sequence
from typing import Any

# What adds up; what is a mean over requests; all else that is drawn is a mean over time.
_COUNTS = ("arrivals", "completions", "failed")
_OF_REQUESTS = ("response_mean_ms",)
_OF_TIME = ("outstanding_mean", "utilisation", "watts")


def widened(series: Mapping[str, Any], most: int) -> dict[str, Any]:
    """A series with neighbouring bins joined, where there are more than `most` of them.

    Counts add up; means are those of the joined bins. Percentiles cannot be joined and are left out.
    """
    kept = {key: series[key] for key in (*_COUNTS, *_OF_REQUESTS, *_OF_TIME) if key in series}
    times = {key: series[key] for key in ("start_s", "bin_s", "last_bin_s")}
    bins = max(map(len, kept.values()), default=0)
    joined = -(-bins // most)
    if joined <= 1:
        return times | kept
    widths = [times["bin_s"]] * (bins - 1) + [times["last_bin_s"]]
    groups = [slice(start, start + joined) for start in range(0, bins, joined)]
    for key, values in kept.items():
        if key in _COUNTS:
            kept[key] = [sum(values[group]) for group in groups]
        else:
            weights = _answered(series) if key in _OF_REQUESTS else widths
            kept[key] = [_mean(values[group], weights[group]) for group in groups]
    times |= {"bin_s": joined * times["bin_s"], "last_bin_s": sum(widths[groups[-1]])}
    return times | kept


def _answered(load: Mapping[str, Any]) -> list[int]:
    """How many requests the mean response time of each bin is that of."""
    return [all - failed for all, failed in zip(load["completions"], load["failed"], strict=True)]


def _mean(values: Sequence[float | None], weights: Sequence[float]) -> float | None:
    """A weighted mean; bins without a value do not count."""
    some = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    whole = sum(weight for _, weight in some)
    if not some or not whole:
        return some[0][0] if some else None
    return sum(value * weight for value, weight in some) / whole
