"""The statements on the SSD as a cache, each on every load."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from diskwright.reproduce import Claim, Statement, Work, Worst, above, below, near
from diskwright.systems.smart_response._devices import BACK, FIFO, LIFO, POLICIES, SLRU, THROUGH
from diskwright.systems.smart_response._runs import (
    BEYOND_CAP_GB,
    CAP_GB,
    CLOUD,
    CONFIGURATIONS,
    DISKSIM,
    SIZE_GB,
    ZIPF,
    cached,
    configured,
    ratio,
)

Runs = Mapping[str, Any]

MARKS = {ZIPF: "", DISKSIM: "-paper", CLOUD: "-trace"}
"""What the id of a statement ends with, by its load."""
ON = {
    ZIPF: "On the warmed Zipf load",
    DISKSIM: "On the generator of DiskSim's examples",
    CLOUD: "On the trace of CloudPhysics",
}
SMALL_GB = 0.5
SMALL_MARK = "-trace-small"
"""The trace again, in the cache of the paper that is smaller than what it touches."""


@dataclass(frozen=True)
class Spoken:
    """A sentence of the paper, and what is measured of it on a load with a cache of some GB."""

    id: str
    text: str
    paper: Claim
    work: Callable[[str, float], Mapping[str, Work]]
    measure: Callable[[Runs], float | Worst]

    def on(self, load: str, gb: float = SIZE_GB, mark: str | None = None) -> Statement:
        """The statement on one of the loads."""
        size = "" if gb == SIZE_GB else f", {gb:g} GB of cache"
        return Statement(
            id=self.id + (MARKS[load] if mark is None else mark),
            text=f"{ON[load]}{size}: {self.text}",
            paper=self.paper,
            work=self.work(load, gb),
            measure=self.measure,
        )


def sizes(one: float, other: float) -> Callable[[str, float], Mapping[str, Work]]:
    """A load on caches of two sizes."""
    return lambda load, _: {"one": cached(load, one), "other": cached(load, other)}


def combinations(load: str, gb: float) -> dict[str, Work]:
    """A load on each write policy with each replacement."""
    return {
        f"{write_policy}, {name}": cached(load, gb, policy, write_policy)
        for write_policy in (THROUGH, BACK)
        for name, policy in POLICIES.items()
    }


BEST = f"{THROUGH}, FIFO"


def against_best(runs: Runs) -> Worst:
    """Write-through with FIFO in each of all, the largest of which is that in the best."""
    return Worst({name: ratio(runs, BEST, name) for name in runs})


def neighbours(runs: Runs) -> Worst:
    """Each configuration in the one that the paper has before it."""
    return Worst(
        {f"{after} / {before}": ratio(runs, after, before) for before, after in pairwise(CONFIGURATIONS)}
    )


def one_in_other(runs: Runs) -> float:
    """The mean response time of one in that of the other."""
    return ratio(runs, "one", "other")


def policies(one: Any, other: Any) -> Callable[[str, float], Mapping[str, Work]]:
    """A load under two replacement policies."""
    return lambda load, gb: {"one": cached(load, gb, one), "other": cached(load, gb, other)}


SPOKEN = [
    Spoken(
        "order",
        "the disk alone is slowest, then come the static hybrid, the cache and the SSD alone. The largest "
        "ratio of mean response times of two that follow one another.",
        below(1),
        lambda load, _: {name: configured(load, name) for name in CONFIGURATIONS},
        neighbours,
    ),
    Spoken(
        "half-to-one-gb",
        "1 GB of cache is better than 0.5 GB: the ratio of mean response times.",
        below(1),
        sizes(1, 0.5),
        one_in_other,
    ),
    Spoken(
        "sixteen-equals-sixty-four",
        "64 GB are as good as 16 GB, for these are not filled: the ratio of mean response times.",
        near(1),
        sizes(CAP_GB, SIZE_GB),
        one_in_other,
    ),
    Spoken(
        "write-back-faster",
        "write-back is faster than write-through: the ratio of mean response times.",
        below(1),
        lambda load, gb: {
            "one": cached(load, gb, write_policy=BACK),
            "other": cached(load, gb, write_policy=THROUGH),
        },
        one_in_other,
    ),
    Spoken(
        "fifo-like-lifo",
        "FIFO and LIFO are alike: the mean response time of LIFO in that of FIFO.",
        near(1),
        policies(LIFO, FIFO),
        one_in_other,
    ),
    Spoken(
        "slru-worse",
        "S-LRU is worse than FIFO: the ratio of mean response times.",
        above(1),
        policies(SLRU, FIFO),
        one_in_other,
    ),
    Spoken(
        "through-fifo-best",
        "write-through with FIFO is best: its mean response time in that of the best of both write "
        "policies with FIFO, LIFO, S-LRU and LRU.",
        near(1),
        combinations,
        against_best,
    ),
    Spoken(
        "cap-at-64gb",
        "more than 64 GB of cache gain nothing: the mean response time of 128 GB in that of 64 GB.",
        near(1),
        sizes(BEYOND_CAP_GB, CAP_GB),
        one_in_other,
    ),
]
SMALL = ("write-back-faster", "fifo-like-lifo", "slru-worse", "through-fifo-best")
"""Those that are judged on the trace with the smaller cache as well."""


def statements(of: Iterable[Spoken]) -> list[Statement]:
    """Each on all loads, and some of them on the trace with a cache that it fills."""
    found = [spoken.on(load) for spoken in of for load in MARKS]
    return found + [spoken.on(CLOUD, SMALL_GB, SMALL_MARK) for spoken in of if spoken.id in SMALL]


STATEMENTS = statements(SPOKEN)
