"""The points of the figures: what they are measured from."""

from collections.abc import Iterable, Mapping
from typing import Any

from diskwright.reproduce import Call, Inspect, Point, Run, synthetic_clone
from diskwright.systems._clustering import DRIVES, PACES
from diskwright.systems._traces import PCFAT32, SMALLDISKMON
from diskwright.systems.atca._access_times import access_times
from diskwright.systems.atca._hand_made import HOT_BLOCKS
from diskwright.systems.atca._runs import (
    ALL,
    APPLICATIONS,
    ATCA,
    IDENTITY_MIB,
    PCFAT,
    SIMPLE,
    SIZE_MIB,
    SIZES_MIB,
    SMALL,
    TRACES,
    WRITE_POLICIES,
    Policy,
    atca,
    everything,
    hand_made,
    run,
)

Points = list[Point]

POLICIES: Mapping[str, Policy] = {
    **{name: name for name in ("lru", "fifo", "lifo", "clock", "random")},
    **{name: name for name in ("lfu", "slru", "2q", "arc", "lirs", "s3-fifo", "sieve", "w-tinylfu")},
    "atca": ATCA,
    "atca-simple": SIMPLE,
    "fac": "fac",
    "greedy-dual": "greedy-dual",
}
"""All that need not know the future."""
SCAN_RESISTANT = ("lfu", "arc", "s3-fifo", "sieve")
"""Those with which ATCA is compared: they have no access times."""

VARIANTS: Mapping[str, Policy] = {
    "ATCA": ATCA,
    "of the longest": {"atca": {"relative_to": "maximum"}},
    "per block": {"atca": {"per_block": True}},
    "simple": SIMPLE,
    "FAC": "fac",
    "FAC, ageing": {"fac": {"ageing": True}},
    "GreedyDual": "greedy-dual",
    "GreedyDual, per block": {"greedy-dual": {"per_block": True}},
}

KAPPAS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
ALPHAS = (1.0, 10.0, 100.0, 1_000.0, 10_000.0)
"""Accesses of longer life for a millisecond."""
BLOCKS_A_MIB = 2048
HOTS = (64, 128, 256, 512, 1024, 2048)
"""Hot places: from a thirtieth of the cache to all of it."""
THETAS = (0.0, 0.5, 1.0, 1.5, 2.0)
PROPERTIES = ("working set", "random", "sequential", "read", "write")
_PROFILES = {SMALL: SMALLDISKMON, PCFAT: PCFAT32}

TABLE = [
    (
        SMALL,
        (41_819, 1_956_272),
        (57_166, 1_872_624),
        (15_656, 1_756_502),
        (31_208, 992_172),
        (41_614, 2_636_954),
    ),
    (
        PCFAT,
        (204_386, 7_484_939),
        (437_742, 10_417_692),
        (199_145, 14_561_873),
        (414_498, 14_724_779),
        (222_389, 10_254_786),
    ),
]


def properties() -> Points:
    """Each line of the table, which is measured back."""
    return [
        Point({"trace": trace, "property": name}, {name: Inspect(synthetic_clone(profile))})
        for trace, profile in _PROFILES.items()
        for name in PROPERTIES
    ]


def published_properties() -> list[dict[str, Any]]:
    """The same as the paper prints them."""
    return [
        {"trace": trace, "property": name, "requests": requests, "blocks": blocks}
        for trace, *lines in TABLE
        for name, (requests, blocks) in zip(PROPERTIES, lines, strict=True)
    ]


def counted(what: str) -> Any:
    """The requests or blocks of a line of the table."""
    keys = {"working set": f"working_set_{what}"}
    keys |= {name: f"{name}_{what}" for name in ("random", "sequential")}
    keys |= {name: f"{name}s" if what == "requests" else f"{name}_blocks" for name in ("read", "write")}

    def value(found: Mapping[str, Any]) -> float:
        ((name, inspected),) = found.items()
        return float(inspected[keys[name]])

    return value


def beside(it: Run, workload: str | Mapping[str, Any], **how: Any) -> dict[str, Run]:
    """A run beside that of LRU."""
    return {"it": it, "lru": run(workload, "lru", **how)}


def over_sizes(traces: Iterable[str], policies: Mapping[str, Policy]) -> Points:
    """Policies over the size of the cache, beside a drive without one."""
    return [
        Point(
            {"trace": trace, "policy": name, "size_mib": size},
            {**beside(run(trace, policy, size), trace, size_mib=size), "without": run(trace, size_mib=None)},
        )
        for trace in traces
        for name, policy in policies.items()
        for size in SIZES_MIB
    ]


def side_by_side(workloads: Iterable[str], policies: Mapping[str, Policy]) -> Points:
    """Policies in a cache of one size."""
    return [
        Point({"trace": name, "policy": policy}, beside(run(name, what), name))
        for name in workloads
        for policy, what in policies.items()
    ]


def settings(name: str, values: Iterable[float], policy: Any, workloads: Iterable[str]) -> Points:
    """A policy over the value of a parameter of its own."""
    return [
        Point({"trace": workload, name: value}, beside(run(workload, policy(value)), workload))
        for workload in workloads
        for value in values
    ]


def kappas(workloads: Iterable[str]) -> Points:
    """ATCA over κ."""
    return settings("kappa", KAPPAS, atca, workloads)


def bonuses(workloads: Iterable[str]) -> Points:
    """ATCA over a bonus that does not follow the drive and the cache."""
    return settings("alpha", ALPHAS, lambda alpha: {"atca": {"alpha": alpha}}, workloads)


def hots(kinds: Iterable[str], policies: Mapping[str, Policy]) -> Points:
    """Policies over the number of hot places."""
    return [
        Point(
            {"trace": kind, "policy": name, "hot_share": hot * HOT_BLOCKS / (SIZE_MIB * BLOCKS_A_MIB)},
            beside(run(hand_made(kind, hot), policy), hand_made(kind, hot)),
        )
        for kind in kinds
        for name, policy in policies.items()
        for hot in HOTS
    ]


def times(kinds: Iterable[str]) -> Points:
    """How long hot reads take to access, and what competes with them."""
    return [Point({"trace": kind}, Call(access_times, {"spec": run(kind).spec})) for kind in kinds]


def synthetic_clones(name: str, values: Iterable[float]) -> Points:
    """ATCA and a cache that holds everything over what the paper's table leaves open."""
    return [
        Point({"policy": policy, name: value}, beside(work(load), load))
        for policy, work in (("ATCA", lambda load: run(load, ATCA)), ("everything", everything))
        for value in values
        for load in [{"synthetic-clone": {"profile": SMALLDISKMON, name: value}}]
    ]


def ceilings() -> Points:
    """What a cache that holds everything gains, with either write policy."""
    return [
        Point(
            {"trace": name, "write_policy": how},
            beside(everything(name, write_policy=how), name, write_policy=how),
        )
        for how in WRITE_POLICIES
        for name in ALL
    ]


def axes(name: str, values: Iterable[str], workloads: Iterable[str]) -> Points:
    """ATCA over an argument of `run`."""
    return [
        Point({"trace": workload, name: value}, beside(run(workload, ATCA, **how), workload, **how))
        for value in values
        for how in [dict[str, Any]({name: value})]
        for workload in workloads
    ]


def write_policies() -> Points:
    """ATCA with either write policy."""
    return axes("write_policy", WRITE_POLICIES, ALL)


def drives() -> Points:
    """ATCA on either drive."""
    return axes("drive", DRIVES, TRACES)


def paces() -> Points:
    """ATCA with a full queue and at recorded times."""
    return axes("pace", PACES, TRACES)


def identical() -> Points:
    """ATCA without a weight beside LRU."""
    return [
        Point({"trace": name, "size_mib": size}, beside(run(name, atca(0), size), name, size_mib=size))
        for name in ALL
        for size in IDENTITY_MIB
    ]


def streams() -> Points:
    """NCQ and FCFS with one application and with two, on a drive that reads ahead and one that does not."""
    return [
        Point(
            {"load": name, "buffer": "reads ahead" if buffer else "no buffer"},
            {how: run(load, scheduler=how, buffer=buffer) for how in ("ncq", "fcfs")},
        )
        for buffer in (False, True)
        for name, load in APPLICATIONS.items()
    ]
