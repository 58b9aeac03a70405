"""What the reproduction of the dual-actuator logging disk runs, and what is measured of a run."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from diskwright.reproduce import GeneratedFile, Run, Trace

DISK, DAD, LOGGING, STRIPE2, DALD, ADAPTIVE = "disk", "dad", "logging", "stripe2", "dald", "adaptive"
FIVE = (DISK, DAD, LOGGING, STRIPE2, DALD)
"""The paper's."""
ARCHITECTURES = (*FIVE, ADAPTIVE)
"""Those, and the one that its section 3 ends with."""

IBM, CHEETAH = "ibm-18es-linear", "cheetah-9lp-linear"
ZONED = ("ibm-18es", "cheetah-9lp")
QUEUE: Mapping[str, Any] = {"depth": 32, "scheduler": "fcfs"}
"""Of all drives, unless a work says otherwise."""
REQUESTS = 500_000
REGION_BLOCKS = 1_000_000
"""The sectors that hold data at the start, from the first on."""
QUICK_BLOCKS = 20_000
"""The same of logs in a quick try: to write a million takes longer than its requests."""
QUICK_WINDOW = 50
"""Requests that the adaptive controller looks at in a quick try."""
FEWER = 100_000
"""Requests of what the paper does not have."""
WS = tuple(step / 10 for step in range(11))
ETAS = (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0)
ETA = 0.5
"""Of what is not over η."""

_BOTH = [{}, {"angle": 0.5}]
_SPLIT = [{"writes": False}, {"angle": 0.5, "reads": False}]
_ARMS: Mapping[str, Mapping[str, Any]] = {
    DISK: {},
    DAD: {"arm": _BOTH},
    LOGGING: {},
    DALD: {"arm": _SPLIT},
    ADAPTIVE: {"choice": "adaptive", "arm": _BOTH},
}
LOGS = (LOGGING, DALD, ADAPTIVE)
"""Those that write where the head is."""

Drive = str | GeneratedFile


def growing(w: float, eta: float = ETA) -> dict[str, Any]:
    """The paper's load: requests of 4 KiB anywhere in what is there, a share w of them writes, a share η of
    which are of new data."""
    return {
        "requests": REQUESTS,
        "arrivals": {"poisson": "100 ms"},
        "reads": 1 - w,
        "size": "8 blocks",
        # Where nothing is written, nothing is new: the same run for all η.
        "address": {"growing": {"from": 0, "blocks": REGION_BLOCKS, "new": eta if w else 0.0}},
    }


def device(
    architecture: str,
    drive: Drive,
    *,
    unit: int = 4,
    spindles: str = "synchronised",
    arms: Mapping[str, Any] | None = None,
    log: Mapping[str, Any] | None = None,
    initial: Mapping[str, Any] | None = None,
    queue: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The tree of devices of an architecture.

    unit: blocks of a stripe; 4 splits each request in halves. arms, log: keys beside those of the
    architecture. initial: what a log holds at the start, the paper's unless given.
    """
    hdd: dict[str, Any] = {"drive": drive, "buffer": False, "queue": dict(queue or QUEUE)}
    if architecture == STRIPE2:
        layout = {"stripe": {"unit": f"{unit} blocks"}}
        return {"array": {"layout": layout, "spindles": spindles, "member": [{"hdd": hdd}] * 2}}
    if said := {**_ARMS[architecture], **(arms or {})}:
        hdd["arms"] = said
    if architecture in LOGS:
        held = initial or {"write": f"{REGION_BLOCKS} blocks", "gap": "100 ms"}
        hdd["placement"] = {"eager": {"initial": dict(held), **(log or {})}}
    return {"hdd": hdd}


@cache
def point(architecture: str, drive: str, w: float, eta: float) -> Run:
    """One of the paper's points."""
    return run(architecture, drive, growing(w, eta))


def run(
    architecture: str,
    drive: Drive,
    load: Mapping[str, Any],
    *,
    requests: int | None = None,
    window: tuple[int, int] | None = None,
    **how: Any,
) -> Run:
    """A synthetic load on an architecture.

    requests: in place of the load's. window: looks at the requests from the first of them up to the second,
    all of which a quick try has too. how: of `device`.
    """
    synthetic = {**load, "requests": requests or load["requests"]}
    less: dict[str, Any] = {
        "workload.synthetic.address.growing.blocks": QUICK_BLOCKS,
        "device.hdd.placement.eager.initial.write": f"{QUICK_BLOCKS} blocks",
    }
    if architecture == ADAPTIVE:
        # So that it learns within a quick try.
        less["device.hdd.arms.choice"] = {"adaptive": {"window": QUICK_WINDOW}}
    # Reads alone are few runs.
    has_less = architecture == ADAPTIVE or (architecture in LOGS and load["reads"] < 1)
    return Run(
        {
            "workload": {"synthetic": synthetic},
            # What new data do depends on how much there is: no request is left out unless said.
            "measure": {"warmup": 0} if window is None else {"warmup": window[0], "requests": window[1]},
            "device": device(architecture, drive, **how),
        },
        quick=None if window is None else window[1],
        quick_set=less if has_less and window is None else {},
    )


def replay(
    architecture: str, drive: Drive, trace: Trace | GeneratedFile | str, quick: int | None = None, **how: Any
) -> Run:
    """A trace at its recorded times on an architecture.

    how: of `device`, and `workload`, keys beside the trace.
    """
    workload = {"trace": trace, "pace": "recorded", **how.pop("workload", {})}
    return Run(
        {"workload": workload, "measure": {"warmup": 0}, "device": device(architecture, drive, **how)},
        quick=quick,
    )


def latency_ms(run: Any) -> float:
    """Seek, head switch, settling, rotation and transfer of a request, and what else its drive needs from
    its start to its end; no queueing."""
    return float(sum(run.parts_ms.to_dict().values()))


def response_ms(run: Any) -> float:
    """The same with what a request waits."""
    return float(run.response_ms.mean)


TIMES = {"latency_ms": latency_ms, "response_ms": response_ms}
"""What every point has."""


def gap_ms(runs: Mapping[str, Any], mark: str = "") -> float:
    """By how much the dual actuator's latency is below that of a log with one arm."""
    return latency_ms(runs[f"{mark}{LOGGING}"]) - latency_ms(runs[f"{mark}{DALD}"])
