"""What the reproduction of Smart Response runs, and what is measured of a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from diskwright.reproduce import GeneratedFile, Run
from diskwright.systems._traces import CLOUD_PHYSICS
from diskwright.systems.smart_response._devices import (
    DISK_BLOCKS,
    FIFO,
    THROUGH,
    Device,
    blocks,
    disk,
    filled,
    hybrid,
    tier,
)
from diskwright.systems.smart_response._generator import EXAMPLE_BLOCKS, generated

ZIPF, DISKSIM, EXAMPLE, CLOUD = "Zipf", "DiskSim", "DiskSim, 1 GB", "CloudPhysics"
LOADS = (ZIPF, DISKSIM, CLOUD)
"""Those that every statement is judged on."""
HDD, HYBRID, SRT, SSD_ONLY = "hdd-only", "static-hybrid", "srt", "ssd-only"
CONFIGURATIONS = (HDD, HYBRID, SRT, SSD_ONLY)
"""From the slowest to the fastest, as the paper has it."""
HYBRID_SHARE, HYBRID_HOT = "static-hybrid-share", "static-hybrid-hottest"
SRT_BACK = "srt-write-back"

SIZES_GB = (0.5, 1, 16, 64)
"""The paper's sizes of cache."""
SIZE_GB = 16
CAP_GB, BEYOND_CAP_GB = 64, 128

LINE = 8
LINES = 8 << 20
"""Of the Zipf load: 32 GiB."""
RATE = 30.0
READS = 2 / 3
MEASURED, QUICK_MEASURED = 1_000_000, 100_000
"""Requests behind the warm-up."""
WARM = {0.5: 1_000_000, 1: 2_000_000}
WARM_LARGE = 8 * LINES
"""Requests before statistics begin: 25 days, in which a cache of 16 GB has been filled and turned over."""
UNCACHED_WARM = 10_000
LARGE = 8
"""For caches larger than these, one line in this number is kept, and the cache is smaller by this factor.

A warm start would not do: by popularity it is not FIFO's steady state, by requests it leaves the SSD as new.
"""
QUICK_SCALE, QUICK_LARGE = 8, 128
"""The same in a quick try, of the smaller and of the larger caches."""
TRACE_SPAN = 65_595_584
QUICK_RECORDED = 50_000
"""Requests of a trace, of the generator's too, in a quick try."""


@dataclass(frozen=True)
class Scale:
    """One line in this number is kept, and the cache is smaller by this factor: in full, and in a quick try.

    warm, measured: requests on the lines that are there.
    """

    full: int = 1
    quick: int = 1
    warm: int = UNCACHED_WARM
    quick_warm: int = UNCACHED_WARM
    measured: int = MEASURED
    quick_measured: int = QUICK_MEASURED


def scale(gb: float) -> Scale:
    """That of a cache of this size on the Zipf load."""
    if gb in WARM:
        return Scale(1, QUICK_SCALE, WARM[gb], WARM[gb] // QUICK_SCALE)
    return Scale(LARGE, QUICK_LARGE, WARM_LARGE // LARGE, WARM_LARGE // QUICK_LARGE)


def zipf(
    device: Device,
    at: Scale = Scale(),
    *,
    lines: int = LINES,
    theta: float = 1.0,
    reads: float = READS,
    scattered: bool = True,
    rate: float = RATE,
) -> Run:
    """The Zipf load over a number of lines of 4 KiB; each request is for one whole line.

    scattered: whether the popular lines lie anywhere; if not, the most popular is the first.
    """
    total, quick = at.warm + at.measured, at.quick_warm + at.quick_measured
    address = {"theta": theta, "blocks": lines * LINE, "align": f"{LINE * at.full} blocks"}
    spec = {
        "workload": {
            "synthetic": {
                "requests": total,
                "arrivals": {"poisson": f"{1e3 / rate:.6f} ms"},
                "reads": reads,
                "size": f"{LINE} blocks",
                "address": {"zipf": address if scattered else {**address, "scatter": False}},
            }
        },
        "measure": {"warmup": at.warm, "requests": total},
        "device": _shrunk(device, at.full),
    }
    less: dict[str, Any] = {
        "workload.synthetic.requests": quick,
        "workload.synthetic.address.zipf.align": f"{LINE * at.quick} blocks",
        "measure.warmup": at.quick_warm,
        "measure.requests": quick,
    }
    if "tier" in device:
        less["device.tier.size"] = _shrunk(device, at.quick)["tier"]["size"]
    return Run(spec, quick=quick, quick_set=less)


def _shrunk(device: Device, by: int) -> Device:
    """A cache smaller by a factor; what is no cache stays as it is."""
    if by == 1 or "tier" not in device:
        return device
    size = int(device["tier"]["size"].removesuffix(" blocks"))
    return {"tier": {**device["tier"], "size": f"{size // by} blocks"}}


def recorded(load: str, device: Device) -> Run:
    """One of the loads that are traces, from an empty cache on, as in the paper."""
    workloads: Mapping[str, Mapping[str, Any]] = {
        DISKSIM: {"workload": {"trace": _generated(DISK_BLOCKS)}},
        EXAMPLE: {"workload": {"trace": _generated(EXAMPLE_BLOCKS)}},
        CLOUD: {"workload": {"trace": CLOUD_PHYSICS, "pace": "closed"}, "host": {"outstanding": 1}},
    }
    return Run({**workloads[load], "measure": {"warmup": 0}, "device": device}, quick=QUICK_RECORDED)


def _generated(reach: int) -> GeneratedFile:
    return GeneratedFile(generated, {"blocks": reach})


REACH = {ZIPF: LINES * LINE, DISKSIM: DISK_BLOCKS, EXAMPLE: EXAMPLE_BLOCKS, CLOUD: TRACE_SPAN}
"""The blocks in which all of a load lies."""


def cached(
    load: str,
    gb: float = SIZE_GB,
    policy: str | Mapping[str, Any] = FIFO,
    write_policy: str = THROUGH,
    **how: Any,
) -> Run:
    """A load on the cache tier."""
    device = tier(blocks(gb), policy, write_policy, **how)
    return zipf(device, scale(gb)) if load == ZIPF else recorded(load, device)


def uncached(load: str, device: Device) -> Run:
    """A load on a device that has no cache of lines."""
    return zipf(device) if load == ZIPF else recorded(load, device)


def configured(load: str, configuration: str) -> Run:
    """A load on one of the configurations."""
    reach = REACH[load]
    if configuration == HDD:
        return uncached(load, disk())
    if configuration == SSD_ONLY:
        return uncached(load, filled(DISK_BLOCKS, reach))
    if configuration == HYBRID:
        return uncached(load, hybrid(blocks(SIZE_GB)))
    if configuration == HYBRID_SHARE:
        share = blocks(SIZE_GB) / DISK_BLOCKS
        return uncached(load, hybrid(round(share * reach / LINE) * LINE))
    if configuration == HYBRID_HOT:
        assert load == ZIPF, "of a trace, that would move what it stands beside"
        return zipf(hybrid(blocks(SIZE_GB)), scattered=False)
    return cached(load, write_policy="write-back" if configuration == SRT_BACK else THROUGH)


def response_ms(run: Any) -> float:
    """The mean response time."""
    return float(run.response_ms.mean)


def std_ms(run: Any) -> float:
    """The standard deviation of the response time."""
    return float(run.response_ms.std)


def tier_of(run: Any) -> Any:
    """The counters of a run's tier."""
    return run.devices["tier"]


def hit_ratio(run: Any) -> float:
    """Of the accesses to lines."""
    return float(tier_of(run).line_hit_ratio)


def at_risk_mb(run: Any) -> float:
    """What would be lost if the SSD died, the mean over time: megabytes that only it has."""
    return float(tier_of(run).dirty_blocks_mean) * 512 / 1e6


RESPONSE = {"response_ms": response_ms, "std_ms": std_ms}
CACHED = {
    **RESPONSE,
    "hit_ratio": hit_ratio,
    "evictions": lambda run: float(tier_of(run).evictions),
}


def ratio(runs: Mapping[str, Any], one: str, other: str) -> float:
    """One mean response time in another."""
    return response_ms(runs[one]) / response_ms(runs[other])
