"""Che's approximation: the hit ratio of a cache under independent references."""

from collections.abc import Mapping
from typing import Any

_EXACT, _BINS = 10_000, 4_000
_STEPS = 100


def che(policy: str, lines: int, places: int, theta: float = 1.0) -> Mapping[str, Any]:
    """The hit ratio of LRU or FIFO with `places` places, on lines whose popularity follows Zipf's law.

    A line is there if it has been requested within the time T that it lives: with LRU since its last request,
    with FIFO since it came; T is such that the cache is full. Ranks beyond the first thousands, which are
    almost alike, are counted together.
    """
    import numpy

    if places >= lines:
        return {"hit_ratio": 1.0}
    first = min(lines, _EXACT)
    edges = numpy.unique(numpy.geomspace(first, lines, _BINS).round()) + 0.5
    ranks = numpy.concatenate([numpy.arange(1, first + 1), numpy.sqrt(edges[1:] * edges[:-1])])
    counts = numpy.concatenate([numpy.ones(first), numpy.diff(edges)])
    shares = ranks**-theta
    shares /= (counts * shares).sum()

    def there(time: float) -> Any:
        if policy == "lru":
            return -numpy.expm1(-shares * time)
        return shares * time / (1 + shares * time)

    low, high = 0.0, float(lines)
    while (counts * there(high)).sum() < places:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if (counts * there(middle)).sum() < places else (low, middle)
    return {"hit_ratio": float((counts * shares * there(high)).sum())}
