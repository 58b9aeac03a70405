"""The points of the figures: what they are measured from."""

from collections.abc import Iterable, Mapping
from typing import Any

from diskwright.reproduce import Call, GeneratedFile, Point, Run, Work
from diskwright.systems._traces import HP_WEEK
from diskwright.systems.dual_actuator._changing import CHANGING_BLOCKS, changing
from diskwright.systems.dual_actuator._drives import ZONED_OF, changed, described, deviation
from diskwright.systems.dual_actuator._runs import (
    ADAPTIVE,
    ARCHITECTURES,
    CHEETAH,
    DAD,
    DALD,
    DISK,
    ETA,
    FEWER,
    FIVE,
    IBM,
    LOGGING,
    REGION_BLOCKS,
    STRIPE2,
    WS,
    ZONED,
    Drive,
    growing,
    point,
    replay,
    run,
)

Points = list[Point]

FEW_WS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of what the paper does not have."""
ALLOCATORS = ("soonest", "nearest-cylinder", "edge")
TIES = ("outward", "emptier", "inward")
TIED_WS = (0.25, 0.5, 0.8, 1.0)
"""Shares of writes at which the rules for ties are compared."""
SURFACES = {IBM: (1, 2, 5, 10, 20), CHEETAH: (1, 3, 6, 12, 24)}
"""With as many cylinders as leave the capacity."""
PHASES = (1_000, 5_000, 20_000)
CLEANERS: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "idle": {"cleaner": "idle"},
    "watermark": {"cleaner": "watermark"},
}


def at(drive: str, architecture: str, w: float, eta: float, work: Work, **other: Any) -> Point:
    """A point with the coordinates that all have."""
    return Point({"drive": drive, "architecture": architecture, "w": w, "eta": eta, **other}, work)


def over(
    drive: str,
    architectures: Iterable[str],
    *,
    ws: Iterable[float] = WS,
    etas: Iterable[float] = (ETA,),
) -> Points:
    """The paper's points."""
    return [
        at(drive, architecture, w, eta, point(architecture, drive, w, eta))
        for architecture in architectures
        for eta in etas
        for w in ws
    ]


def few(architecture: str, drive: Drive, w: float, eta: float = ETA, **how: Any) -> Run:
    """The paper's load with fewer requests; with what `run` takes."""
    return run(architecture, drive, growing(w, eta), requests=FEWER, **how)


def zoned() -> Points:
    """All architectures on the drives as they are."""
    return [
        at(drive, architecture, w, ETA, few(architecture, drive, w))
        for drive in ZONED
        for architecture in FIVE
        for w in FEW_WS
    ]


def allocators() -> Points:
    """Both logs with each rule by which a free slot is chosen."""
    return [
        at(
            IBM,
            architecture,
            w,
            ETA,
            few(architecture, IBM, w, log={"allocator": allocator}),
            allocator=allocator,
        )
        for architecture in (LOGGING, DALD)
        for allocator in ALLOCATORS
        for w in FEW_WS
    ]


def ties() -> Points:
    """Both logs with each rule between cylinders whose free slots come by at the same instant."""
    return [
        at(IBM, architecture, w, eta, few(architecture, IBM, w, eta, log={"ties": rule}), ties=rule)
        for eta in (0.0, ETA)
        for architecture in (LOGGING, DALD)
        for rule in TIES
        for w in TIED_WS
    ]


def slacks() -> Points:
    """Both logs without new data, with and without the slots that the first writes leave free."""
    return [
        at(
            IBM,
            architecture,
            w,
            0.0,
            few(architecture, IBM, w, 0.0, initial={"write": f"{REGION_BLOCKS} blocks", "gap": gap}),
            initial_gap=gap,
        )
        for gap in ("100 ms", "0 ms")
        for architecture in (LOGGING, DALD)
        for w in FEW_WS
    ]


def choices() -> Points:
    """Two arms, of which one is chosen by seek and rotation or by seek alone, beside one arm."""
    ways: Mapping[str, tuple[str, Mapping[str, Any]]] = {
        "one arm": (DISK, {}),
        "soonest": (DAD, {}),
        "nearest": (DAD, {"arms": {"choice": "nearest"}}),
    }
    return [
        at(drive, architecture, w, ETA, few(architecture, drive, w, **how), choice=name)
        for drive in (IBM, CHEETAH)
        for name, (architecture, how) in ways.items()
        for w in FEW_WS
    ]


def spindles() -> Points:
    """Two striped drives whose platters turn together or not, beside one."""
    ways: Mapping[str, tuple[str, Mapping[str, Any]]] = {
        "one drive": (DISK, {}),
        "synchronised": (STRIPE2, {}),
        "free": (STRIPE2, {"spindles": "free"}),
    }
    return [
        at(drive, architecture, w, ETA, few(architecture, drive, w, **how), spindles=name)
        for drive in (IBM, CHEETAH)
        for name, (architecture, how) in ways.items()
        for w in FEW_WS
    ]


INDEPENDENT = {"arms": {"motion": "independent"}}
LOADED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "disk": (DISK, {}),
    "dad, one arm at a time": (DAD, {}),
    "dad, independent arms": (DAD, INDEPENDENT),
    "stripe2, halves": (STRIPE2, {}),
    "stripe2, whole requests": (STRIPE2, {"unit": 128}),
    "logging": (LOGGING, {}),
    "dald, one arm at a time": (DALD, {}),
    "dald, independent arms": (DALD, INDEPENDENT),
}
USERS = (1, 16, 64)


def loaded(way: str, users: int, scheduler: str) -> Work:
    """`users` requests outstanding all the time, half of them writes, none of new data."""
    architecture, how = LOADED[way]
    load = {**growing(0.5, 0.0), "arrivals": {"closed": {"users": users}}}
    queue = {"depth": users, "scheduler": scheduler}
    return run(architecture, IBM, load, requests=FEWER, queue=queue, **how)


def throughput() -> Points:
    """Requests a second under load."""
    return [
        at(
            IBM,
            LOADED[way][0],
            0.5,
            0.0,
            loaded(way, users, scheduler),
            way=way,
            scheduler=scheduler,
            users=users,
        )
        for scheduler in ("fcfs", "satf")
        for way in LOADED
        for users in USERS
    ]


def pair(drive: Drive, w: float = 0.5, eta: float = ETA, mark: str = "") -> dict[str, Work]:
    """Both logs, side by side, with all of the paper's requests."""
    if isinstance(drive, str):
        return {f"{mark}{name}": point(name, drive, w, eta) for name in (LOGGING, DALD)}
    return {f"{mark}{name}": run(name, drive, growing(w, eta)) for name in (LOGGING, DALD)}


def cylinders() -> Points:
    """The gap between both logs over the number of cylinders, with the capacity as it is."""
    return [
        Point(
            {"drive": drive, "w": 0.5, "eta": ETA, "surfaces": count},
            {name: few(name, changed(drive, surfaces=count), 0.5) for name in (LOGGING, DALD)},
        )
        for drive, counts in SURFACES.items()
        for count in counts
    ]


OTHER = {IBM: CHEETAH, CHEETAH: IBM}
PROPERTIES: Mapping[str, tuple[str, ...]] = {
    "nothing": (),
    "cylinders": ("surfaces",),
    "seek curve": ("seek",),
    "heads": ("heads",),
    "rotation": ("rotation",),
}
"""What is exchanged between both drives; with the cylinders go the surfaces, so that capacities stay."""


def exchanged(drive: str, what: str) -> Drive:
    """A drive with some properties of the other one."""
    other = OTHER[drive]
    found = {"surfaces": described(other)["layout"]["surfaces"]}
    taken = {name: found.get(name, other) for name in PROPERTIES[what]}
    return changed(drive, **taken) if taken else drive


def exchanges() -> Points:
    """The gap between both logs on either drive with a property of the other."""
    return [
        Point({"drive": drive, "exchanged": what, "w": 0.5, "eta": ETA}, pair(exchanged(drive, what)))
        for drive in (IBM, CHEETAH)
        for what in PROPERTIES
    ]


def both_drives(what: str) -> dict[str, Work]:
    """The same as one piece of work for each run."""
    return {
        key: work
        for drive in (IBM, CHEETAH)
        for key, work in pair(exchanged(drive, what), mark=f"{drive} {what} ").items()
    }


def deviations() -> Points:
    """How far the straight seek curves are from the drives' own."""
    return [
        Point({"drive": drive, "weighted": weighted}, {weighted: Call(deviation, {"drive": drive})})
        for drive in ZONED_OF
        for weighted in ("all", "random", "region")
    ]


def curves() -> Points:
    """The paper's architectures with the straight seek curve and with the one that was measured."""
    return [
        at(drive, architecture, 0.5, ETA, few(architecture, bent, 0.5), seek=seek)
        for drive in ZONED_OF
        for seek, bent in (("straight", drive), ("measured", changed(drive, seek=ZONED_OF[drive])))
        for architecture in FIVE
    ]


WEEK_BLOCKS = 656_000
"""A little more than the addresses of the trace."""


def weeks() -> Points:
    """All architectures under the load of a workstation, on the drives as they are."""
    week: Mapping[str, Any] = {
        "workload": {"device": 0, "past_end": "map"},
        "initial": {"write": f"{WEEK_BLOCKS} blocks", "gap": "100 ms"},
    }
    return [
        Point({"drive": drive, "architecture": architecture}, replay(architecture, drive, HP_WEEK, **week))
        for drive in ZONED
        for architecture in ARCHITECTURES
    ]


# A log that fills its disk.

FILL_CYLINDERS = 32
"""Of the 18ES's 11474: 6,240 slots."""
FILL_RESERVE = 0.1
"""The share of slots that stays free: without, nothing could be cleaned."""
FILL_START_BLOCKS = 10_000
FILL_W = 0.7
FILL_STEP = 5_000
FILL_STEPS = 5
"""Steps of `FILL_STEP` requests; the disk is full in the third."""


def filling(architecture: str, cleaner: str, first: int, last: int) -> Run:
    """A small disk that fills, of which the requests from `first` to `last` are looked at."""
    small = changed(IBM, cylinders=FILL_CYLINDERS)
    region = {"from": 0, "blocks": FILL_START_BLOCKS, "new": ETA}
    log = {"reserve": FILL_RESERVE, **CLEANERS[cleaner]}
    return run(
        architecture,
        small,
        {**growing(FILL_W), "address": {"growing": region}},
        requests=FILL_STEP * FILL_STEPS,
        window=(first, last),
        log=log,
        initial={"write": f"{FILL_START_BLOCKS} blocks", "gap": "100 ms"},
    )


def fillings() -> Points:
    """Both logs with and without cleaning while the disk fills."""
    return [
        at(
            f"{IBM}, {FILL_CYLINDERS} cylinders",
            architecture,
            FILL_W,
            ETA,
            filling(architecture, cleaner, step * FILL_STEP, (step + 1) * FILL_STEP),
            cleaner=cleaner,
            requests=(step + 1) * FILL_STEP,
        )
        for architecture in (LOGGING, DALD)
        for cleaner in CLEANERS
        for step in range(FILL_STEPS)
    ]


# A load that changes.

QUICK_CHANGING = 20_000
"""Requests of a quick try: enough for some phases."""


def alternating(architecture: str, drive: str, phase: int) -> Work:
    """The load whose share of writes changes every `phase` requests."""
    trace = GeneratedFile(changing, {"phase": phase}, suffix=".csv")
    held = {"write": f"{CHANGING_BLOCKS} blocks", "gap": "100 ms"}
    return replay(architecture, drive, trace, QUICK_CHANGING, initial=held)


def alternatings() -> Points:
    """The adaptive drive beside those between which it changes."""
    return [
        Point(
            {"drive": IBM, "architecture": architecture, "phase": phase, "eta": ETA},
            alternating(architecture, IBM, phase),
        )
        for architecture in (DAD, DALD, ADAPTIVE)
        for phase in PHASES
    ]
