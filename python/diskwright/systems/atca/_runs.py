"""What the reproduction of the access-time-aware cache runs, and what is measured of a run."""

from collections.abc import Mapping
from typing import Any

from diskwright.reproduce import GeneratedFile, Run
from diskwright.systems._clustering import DRIVES, PACES, access_s, gain, makespan_s, service_s
from diskwright.systems._clustering import WORKLOADS as SHARED
from diskwright.systems._traces import PCFAT32
from diskwright.systems.atca._hand_made import applications, beside_streaming, flooded

Policy = str | Mapping[str, Any]

SMALL, PCFAT = "SMALLDISKMON", "PCFAT32"
_SYNTHETIC_CLONE, GUEST, HP_WEEK, CLOUD = SHARED
TRACES: Mapping[str, Mapping[str, Any]] = {
    SMALL: SHARED[_SYNTHETIC_CLONE],
    PCFAT: {"synthetic-clone": PCFAT32},
    **{name: SHARED[name] for name in (GUEST, HP_WEEK, CLOUD)},
}
"""Synthetic clones of the paper's two traces, and recorded ones."""

HOT = 512
"""Hot places: a quarter of a cache of 8 MiB in blocks of 4 KiB."""
STREAMING, LOG, SCATTERED = "hot and streaming", "flooded in order", "flooded anywhere"


def hand_made(kind: str, hot: int = HOT) -> Mapping[str, Any]:
    """The workload of one of the traces made by hand."""
    if kind == STREAMING:
        return {"trace": GeneratedFile(beside_streaming, {"hot": hot}, suffix=".trace")}
    return {"trace": GeneratedFile(flooded, {"hot": hot, "in_order": kind == LOG}, suffix=".trace")}


HAND_MADE = {kind: hand_made(kind) for kind in (STREAMING, LOG, SCATTERED)}
ALL = {**TRACES, **HAND_MADE}

ONE, TWO = "one application", "two applications"
APPLICATIONS = {
    name: {"trace": GeneratedFile(applications, {"count": count}, suffix=".trace")}
    for name, count in ((ONE, 1), (TWO, 2))
}

QUICK = {GUEST: 600}
"""Requests of a quick try where they are so long that fewer turn over a cache as often."""
SIZES_MIB = (1, 2, 4, 8, 16, 32, 64)
SIZE_MIB = 8
"""Of figures that are not over sizes: a drive's cache when the paper was written."""
IDENTITY_MIB = (SIZES_MIB[0], SIZE_MIB)
"""Where ATCA without a weight is compared with LRU."""
EVERYTHING_MIB = 8192
"""Larger than any of the traces: nothing is ever evicted."""
WRITE_POLICIES = ("write-through", "write-back")


def atca(kappa: float = 1.0, **parameters: Any) -> Policy:
    """ATCA with a weight."""
    return {"atca": {"weight": kappa, **parameters}}


ATCA = atca()
SIMPLE: Policy = "atca-simple"


def run(
    workload: str | Mapping[str, Any],
    policy: Policy = "lru",
    size_mib: int | None = SIZE_MIB,
    *,
    write_policy: str = WRITE_POLICIES[0],
    scheduler: str = "ncq",
    drive: str = DRIVES[0],
    buffer: bool = False,
    pace: str = PACES[0],
) -> Run:
    """A workload on a drive with a block cache.

    size_mib: None is no cache. buffer: whether the drive has its own as well, which reads ahead.
    """
    load = ALL[workload] if isinstance(workload, str) else workload
    cache = {"size": f"{size_mib} MiB", "policy": policy, "write_policy": write_policy}
    return Run(
        {
            "workload": {"pace": pace, "past_end": "map", **load},
            # As many as NCQ has tags, of which a hit holds one while it crosses: with more, hits would wait
            # in a line that no queue bounds.
            **({"host": {"outstanding": 32}} if pace == "closed" else {}),
            # The paper's times are sums over the whole trace, which starts with an empty cache.
            "measure": {"warmup": 0},
            "device": {
                "hdd": {
                    "drive": drive,
                    "overhead": "0.3 ms",
                    "buffer": buffer,
                    "queue": {
                        "depth": 32,
                        "scheduler": {scheduler: {"timeout": "2 s"}},
                        "clustering": "32 blocks",
                    },
                    **({} if size_mib is None else {"cache": cache}),
                }
            },
        },
        quick=QUICK.get(workload) if isinstance(workload, str) else None,
    )


def everything(workload: str | Mapping[str, Any], **how: Any) -> Run:
    """A cache that holds all of a trace."""
    return run(workload, "lru", EVERYTHING_MIB, **how)


def cache(run: Any) -> Any:
    """The counters of a run's cache."""
    return run.devices["hdd.cache"]


def destage_s(run: Any) -> float:
    """The time in which dirty blocks went to the medium: part of no request."""
    found: float = cache(run).destage_ms
    return found / 1e3


def all_access_s(run: Any) -> float:
    """Total access time, with that of destaging."""
    found: float = cache(run).destage_access_ms
    return access_s(run) + found / 1e3


def miss_ratio(run: Any) -> float:
    """Of the accesses to blocks of the cache."""
    counts = cache(run)
    return float(counts.frame_misses) / float(counts.frame_accesses)


def differing(one: Any, other: Any) -> int:
    """Evictions by which two runs differ: none where every request starts and ends at the same instant and
    all counters of the caches are equal; else one at least, or as many as their counts differ by."""
    if one.digest == other.digest and cache(one).to_dict() == cache(other).to_dict():
        return 0
    return max(1, abs(int(cache(one).evictions) - int(cache(other).evictions)))


def saved(measure: Any, one: str = "lru", other: str = "it") -> Any:
    """The share of a time that is saved."""
    return gain(measure, one, other)


def of(measure: Any, name: str = "it") -> Any:
    """A measure of one run of several."""
    return lambda runs: measure(runs[name])


GAIN = {"gain": saved(service_s), "makespan_gain": saved(makespan_s)}
"""Beside each other: with a full queue one follows from the other, at recorded times it does not."""

TIMES = {
    "service_s": of(service_s),
    "makespan_s": of(makespan_s),
    "destage_s": of(destage_s),
}

GAINS = {**GAIN, **TIMES}
GAIN_LABEL = "saved of LRU's total service time"

CACHED = {"miss_ratio": of(miss_ratio), "access_s": of(all_access_s)}
