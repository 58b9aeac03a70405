"""What the reproduction of I/O clustering runs, and what is measured of it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from diskwright.reproduce import (
    Call,
    GeneratedFile,
    Inspect,
    Point,
    Run,
    converted,
    synthetic_clone,
)
from diskwright.systems._traces import CLOUD_PHYSICS, GUEST, HP_WEEK, SMALLDISKMON

SYNTHETIC_CLONE = "synthetic clone"
WORKLOADS: Mapping[str, Mapping[str, Any]] = {
    SYNTHETIC_CLONE: {"synthetic-clone": SMALLDISKMON},
    "Debian guest": {"trace": GUEST},
    "HP week": {"trace": HP_WEEK, "device": 0},
    "CloudPhysics": {"trace": CLOUD_PHYSICS},
}


def starving(target: Path, seed: int) -> None:
    """A trace that starves: each single block continues the blocks before it, and arrives just before their
    turn. Random reads arrive between them, enough that some always wait in front of the merged request, which
    occupies one of the 32 slots for each part."""
    random = Random(seed)
    lines: list[str] = []

    def read(lbn: int, blocks: int) -> None:
        lines.append(f"{len(lines)}.0 0 {lbn} {blocks} 1\n")

    for _ in range(10):
        first = random.randrange(1_000_000) * 8
        for part in range(1, 31):
            read(first + part, 1)
            for _ in range(30 - part):
                read(random.randrange(2_000_000) * 8, 8)
    target.write_text("".join(lines), encoding="ascii")


HAND_MADE = "hand-made"
LOADS = {
    **WORKLOADS,
    HAND_MADE: {"trace": GeneratedFile(starving, suffix=".trace"), "format": "disksim-ascii"},
}

SCHEDULERS = ("fcfs", "ncq")
DRIVES = ("ibm-18es", "travelstar-5k160")
OVERHEADS = ("0.3 ms", "0 ms")
PACES = ("closed", "recorded")
THRESHOLD = 32
"""Blocks, as the paper has it."""
THRESHOLDS = (32, 64, 128, 256, 512, 1024, 2048)
DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
TIMEOUTS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10)
SMALL_SHARES = (0.45, 0.55, 0.65, 0.75, 0.85)
"""The table allows 0.44 to 0.85."""
SEQUENTIAL = (0, 1, 2, 4, 8, 16, 32, 64)
"""Thresholds of sequential requests, in blocks."""


def run(
    workload: str,
    scheduler: str = "ncq",
    threshold: int | None = THRESHOLD,
    *,
    drive: str = DRIVES[0],
    overhead: str = OVERHEADS[0],
    pace: str = PACES[0],
    depth: int = 32,
    timeout_s: float = 2,
    parameters: Mapping[str, Any] | None = None,
    **queue: str,
) -> Run:
    """A workload on a drive without a buffer.

    threshold: the most blocks of a merged request; None merges nothing. parameters: of the synthetic clone.
    """
    load = {"pace": pace, "past_end": "map", **LOADS[workload]}
    if parameters:
        load["synthetic-clone"] = {"profile": load["synthetic-clone"], **parameters}
    if threshold is not None:
        queue = {"clustering": f"{threshold} blocks", **queue}
    return Run(
        {
            "workload": load,
            # More than any queue takes: the host's buffer never runs empty.
            **({"host": {"outstanding": 10_000}} if pace == "closed" else {}),
            # The paper's times are sums over the whole trace.
            "measure": {"warmup": 0},
            "device": {
                "hdd": {
                    "drive": drive,
                    "overhead": overhead,
                    "buffer": False,
                    "queue": {
                        "depth": depth,
                        "scheduler": {scheduler: {"timeout": f"{timeout_s} s"}},
                        **queue,
                    },
                }
            },
        }
    )


def pair(workload: str, scheduler: str, threshold: int = THRESHOLD, **how: Any) -> dict[str, Run]:
    """The same with and without clustering."""
    queue = {key: value for key, value in how.items() if key not in ("slots", "merged_place")}
    return {
        "without": run(workload, scheduler, None, **queue),
        "with": run(workload, scheduler, threshold, **how),
    }


def four(workload: str, **how: Any) -> dict[str, Run]:
    """Both schedulers with and without clustering."""
    return {
        f"{scheduler} {name}": work
        for scheduler in SCHEDULERS
        for name, work in pair(workload, scheduler, **how).items()
    }


def service_s(run: Any) -> float:
    """Total service time."""
    total: float = run.service_ms.total
    return total / 1e3


def access_s(run: Any) -> float:
    """Total access time: each access to the medium counts once, however many requests it serves."""
    total: float = run.access_ms.total
    return total / 1e3


def makespan_s(run: Any) -> float:
    """From the first arrival to the last completion."""
    completed: int = run.requests.completed
    return completed / float(run.iops)


def merged_share(run: Any) -> float:
    """Of all requests, those that were served as parts of others."""
    merged: int = run.devices["hdd"].merged_requests
    return merged / float(run.requests.completed)


def gain(measure: Any, one: str = "without", other: str = "with") -> Any:
    """The share of a time that clustering saves."""
    return lambda runs: 1 - measure(runs[other]) / measure(runs[one])


GAINS = {
    "gain": gain(service_s),
    "makespan_gain": gain(makespan_s),
    "access_gain": gain(access_s),
    "service_without_s": lambda runs: service_s(runs["without"]),
    "service_with_s": lambda runs: service_s(runs["with"]),
    "makespan_without_s": lambda runs: makespan_s(runs["without"]),
    "makespan_with_s": lambda runs: makespan_s(runs["with"]),
    "merged_share": lambda runs: merged_share(runs["with"]),
}


# How often requests are sequential.

READINGS = ("by requests", "by blocks", "by size after clustering")


def sequential(workload: str, threshold: int) -> dict[str, Inspect | Call]:
    """Each reading of what the share of sequential requests is."""
    device = {"device": 0} if workload == "HP week" else {}
    if workload == SYNTHETIC_CLONE:
        trace, table = (synthetic_clone(SMALLDISKMON),) * 2
    else:
        trace = WORKLOADS[workload]["trace"]
        table = converted(trace, **device)
    measured = Inspect(trace, {"threshold": threshold, **device})
    sizes = Call(longer, {"trace": table, "blocks": threshold})
    return dict(zip(READINGS, (measured, measured, sizes), strict=True))


def longer(trace: str, blocks: int) -> Mapping[str, Any]:
    """Of what a trace becomes where each read or write that continues the one before it is merged with it,
    the share of requests that are longer than `blocks` blocks."""
    import polars

    columns = ["op", "lbn", "blocks"]
    requests = polars.read_parquet(trace, columns=columns).filter(polars.col("op").is_in(["read", "write"]))
    end = polars.col("lbn") + polars.col("blocks")
    continues = (polars.col("lbn") == end.shift(1)) & (polars.col("op") == polars.col("op").shift(1))
    runs = requests.group_by((~continues.fill_null(False)).cum_sum()).agg(polars.col("blocks").sum())
    return {"share": (runs["blocks"] > blocks).mean()}


def share(found: Mapping[str, Any]) -> float:
    """The share that a reading has."""
    ((reading, what),) = found.items()
    if reading == READINGS[0]:
        return float(what.sequential_requests / (what.reads + what.writes))
    return float(what.sequential_blocks / what.blocks if reading == READINGS[1] else what.share)


def shares(workloads: Iterable[str]) -> list[Point]:
    """Of each workload, the share of sequential requests over the threshold, as each reading has it."""
    return [
        Point({"trace": workload, "reading": reading, "threshold": threshold}, {reading: work})
        for workload in workloads
        for threshold in SEQUENTIAL
        for reading, work in sequential(workload, threshold).items()
    ]


# The points of figures.

Points = list[Point]


def cases() -> Points:
    """Both schedulers with and without clustering, beside what each is compared with."""
    return [
        Point(
            {"trace": workload, "case": f"{scheduler.upper()}{name}", "scheduler": scheduler},
            {
                "it": runs[clustering],
                "without": runs["without"],
                "fcfs": run(workload, "fcfs", None),
            },
        )
        for workload in WORKLOADS
        for scheduler in SCHEDULERS
        for runs in [pair(workload, scheduler)]
        for clustering, name in (("without", ""), ("with", ", clustering"))
    ]


def pairs(*axes: tuple[str, Iterable[Any]], workloads: Iterable[str] = WORKLOADS, **how: Any) -> Points:
    """The gain of clustering for each workload, scheduler and value of the axes, arguments of `run`."""
    chosen: list[dict[str, Any]] = [{}]
    for name, values in axes:
        chosen = [{**one, name: value} for one in chosen for value in values]
    return [
        Point({"trace": workload, "scheduler": scheduler, **one}, pair(workload, scheduler, **how, **one))
        for workload in workloads
        for one in chosen
        for scheduler in SCHEDULERS
    ]


def orders() -> Points:
    """All settings, each with what the paper says of signs and of the order."""
    return [
        Point(
            {"trace": workload, "drive": drive, "overhead": overhead, "pace": pace},
            four(workload, drive=drive, overhead=overhead, pace=pace),
        )
        for pace in PACES
        for drive in DRIVES
        for overhead in OVERHEADS
        for workload in WORKLOADS
    ]


def small_shares() -> Points:
    """The gain with synthetic clones of more or fewer small requests."""
    return [
        Point(
            {"scheduler": scheduler, "threshold": threshold, "small_share": small},
            pair(SYNTHETIC_CLONE, scheduler, threshold, parameters={"small_share": small}),
        )
        for threshold in (32, 256)
        for small in SMALL_SHARES
        for scheduler in SCHEDULERS
    ]


def slots(workload: str) -> Points:
    """The gain over the depth of the queue, with either counting of slots."""
    return [
        Point(
            {"trace": workload, "scheduler": scheduler, "slots": counting, "depth": depth},
            pair(workload, scheduler, depth=depth, slots=counting),
        )
        for counting in ("parts", "merged")
        for depth in DEPTHS
        for scheduler in SCHEDULERS
    ]


def waits() -> Points:
    """FCFS with clustering, for either turn of merged requests, without and with a timeout."""
    return [
        Point(
            {"trace": workload, "merged_place": place, "timeout": f"{timeout_s} s" if timeout_s else "none"},
            run(workload, "fcfs", merged_place=place, timeout_s=timeout_s),
        )
        for workload in LOADS
        for place in ("oldest", "newest")
        for timeout_s in (0, 2)
    ]


def timeouts() -> Points:
    """Both schedulers with clustering over the timeout."""
    return [
        Point(
            {"trace": workload, "scheduler": scheduler, "timeout_s": timeout_s},
            run(workload, scheduler, timeout_s=timeout_s, merged_place="newest"),
        )
        for workload in WORKLOADS
        for scheduler in SCHEDULERS
        for timeout_s in TIMEOUTS_S
    ]


# What is measured.

SERVICE = {
    "service_s": lambda works: service_s(works["it"]),
    "makespan_s": lambda works: makespan_s(works["it"]),
    "of_fcfs": lambda works: service_s(works["it"]) / service_s(works["fcfs"]),
    "of_without": lambda works: service_s(works["it"]) / service_s(works["without"]),
    "makespan_of_without": lambda works: makespan_s(works["it"]) / makespan_s(works["without"]),
}
ACCESS = {
    "access_s": lambda works: access_s(works["it"]),
    "makespan_s": lambda works: makespan_s(works["it"]),
    "of_fcfs": lambda works: access_s(works["it"]) / access_s(works["fcfs"]),
    "of_without": lambda works: access_s(works["it"]) / access_s(works["without"]),
    "media_accesses": lambda works: works["it"].devices["hdd"].media_accesses,
}
ORDERS = {
    "fcfs_gain": gain(service_s, "fcfs without", "fcfs with"),
    "ncq_gain": gain(service_s, "ncq without", "ncq with"),
    "fcfs_makespan_gain": gain(makespan_s, "fcfs without", "fcfs with"),
    "ncq_makespan_gain": gain(makespan_s, "ncq without", "ncq with"),
    "ncq_of_fcfs": lambda runs: largest_ratio({"": runs}),
}
WAITS = {
    "longest_wait_ms": lambda run: run.devices["hdd"].longest_wait_ms,
    "promotions": lambda run: run.devices["hdd"].promotions,
    "service_s": service_s,
    "makespan_s": makespan_s,
}
TIMEOUTS = {
    "promoted_share": lambda run: run.devices["hdd"].promotions / run.devices["hdd"].media_accesses,
    "service_s": service_s,
    "makespan_s": makespan_s,
    "longest_wait_ms": lambda run: run.devices["hdd"].longest_wait_ms,
}


def largest_ratio(runs: Mapping[str, Mapping[str, Any]]) -> float:
    """The largest total service time of NCQ in that of FCFS, over all pairs."""
    return max(
        service_s(four[f"ncq {name}"]) / service_s(four[f"fcfs {name}"])
        for four in runs.values()
        for name in ("without", "with")
    )


def traces() -> Points:
    """What each workload is, and what of it lies past the end of the smaller drive."""
    return [
        Point(
            {"trace": workload},
            {"is": sequential(workload, 0)[READINGS[0]], "run": run(workload, "fcfs", None)},
        )
        for workload in WORKLOADS
    ]


TRACES = {
    "requests": lambda works: works["is"].requests,
    "blocks": lambda works: works["is"].blocks,
    "read_share": lambda works: works["is"].read_share,
    "sequential_requests": lambda works: share({READINGS[0]: works["is"]}),
    "sequential_blocks": lambda works: share({READINGS[1]: works["is"]}),
    "hours": lambda works: works["is"].duration_s / 3600,
    "mapped_share": lambda works: works["run"].requests.mapped / works["run"].requests.completed,
}
