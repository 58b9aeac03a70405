"""What the reproduction of flash-backed requests runs, and what is measured of a run."""

from collections.abc import Mapping
from math import nan
from typing import Any

from diskwright.reproduce import Run
from diskwright.systems.flash_backed._devices import CURVE, ENDURANCE, ERASE_KIB, hybrid
from diskwright.systems.flash_backed._loads import DAYS, DESKTOPS, workload

SIZES_MB = (10, 20, 40, 60, 80, 100, 150, 250)
"""Of the FQueue; the paper's are 10 to 100, and beyond."""
SIZE_MB = 80
QUEUES = ("fcfs", "sstf", "c-look")
QUEUE = "c-look"
QUICK_DESKTOP = 12_000
"""Requests of a stand-in in a quick try: less than half a day."""
BLOCK = 512
WEEKS_PER_YEAR = 365.25 / 7
WITH, WITHOUT = "with", "without"


def flash_backed(
    load: str,
    medium: str = CURVE,
    mb: float = SIZE_MB,
    *,
    queue: str = QUEUE,
    rule: Any = "paper",
    speed: float = 1.0,
    pace: float = 1,
    **switches: Any,
) -> Run:
    """A load on the hybrid drive, `pace` times as fast. switches: further keys of `host.flash_backed`."""
    faster = {} if pace == 1 else {"pace": {"scaled": float(pace)}}
    spec = {
        "workload": {**workload(load), **faster},
        "host": {
            "flash_backed": {
                "fqueue": f"{round(mb * 1e6 / BLOCK)} blocks",
                "queue": queue,
                "rule": rule,
                **switches,
            }
        },
        "measure": {"warmup": 0},
        "device": hybrid(medium, speed),
    }
    return Run(spec, quick=QUICK_DESKTOP if load in DESKTOPS else None)


def both(load: str, medium: str = CURVE, mb: float = SIZE_MB, **how: Any) -> dict[str, Run]:
    """The same with and without an FQueue."""
    queue = how.get("queue", QUEUE)
    return {
        WITH: flash_backed(load, medium, mb, **how),
        WITHOUT: flash_backed(load, medium, SIZE_MB, queue=queue, rule="never"),
    }


def counts(run: Any) -> Any:
    """The scheduler's counters."""
    return run.devices["host.flash_backed"]


def write_ms(run: Any) -> float:
    """The time of all writes, without flushing in idle time."""
    return float(counts(run).write_access_total_ms)


def idle_ms(run: Any) -> float:
    """The time of flushing in idle time."""
    return float(counts(run).write_access_ms.idle_flush)


def _to(part: float, whole: float) -> float:
    """A part to its whole; not a number where there is none, as in a run without writes."""
    return part / whole if whole else nan


def ratio(runs: Mapping[str, Any]) -> float:
    """The time of writes, to that without an FQueue."""
    return _to(write_ms(runs[WITH]), write_ms(runs[WITHOUT]))


def ratio_with_idle(runs: Mapping[str, Any]) -> float:
    """The same with flushing in idle time."""
    return _to(write_ms(runs[WITH]) + idle_ms(runs[WITH]), write_ms(runs[WITHOUT]))


def idle_share(runs: Mapping[str, Any]) -> float:
    """The time of flushing in idle time, to that of writes without an FQueue."""
    return _to(idle_ms(runs[WITH]), write_ms(runs[WITHOUT]))


def overwrites(run: Any) -> float:
    """The share of writes that replace what is in the FQueue."""
    return float(counts(run).overwriting) / max(1.0, float(counts(run).writes))


def flush_share(run: Any) -> float:
    """The share of the accesses to the medium and to flash that flush the FQueue while requests wait."""
    of = counts(run).writes_of
    flushes = float(of.foreground_flush)
    return _to(flushes, float(of.medium) + float(of.flash) + float(counts(run).medium_reads) + flushes)


def flush_share_with_idle(run: Any) -> float:
    """The same with the flushes in idle time."""
    of = counts(run).writes_of
    flushes = float(of.foreground_flush) + float(of.idle_flush)
    return _to(flushes, float(of.medium) + float(of.flash) + float(counts(run).medium_reads) + flushes)


def medium_of(run: Any) -> Any:
    """The counters of the medium."""
    (path,) = (path for path in run.devices.to_dict() if path.startswith("hybrid.media."))
    return run.devices[path]


def disk_time(runs: Mapping[str, Any]) -> float:
    """How long the medium is busy, to that without an FQueue."""
    busy = [
        float(medium_of(runs[name]).utilisation) * float(runs[name].simulated_s) for name in (WITH, WITHOUT)
    ]
    return _to(busy[0], busy[1])


def disk_writes(runs: Mapping[str, Any]) -> float:
    """Writes of the medium, to those without an FQueue."""
    return _to(float(medium_of(runs[WITH]).writes), float(medium_of(runs[WITHOUT]).writes))


def flash_mb(run: Any) -> float:
    """Megabytes written to the card."""
    return float(counts(run).flash_bytes) / 1e6


def written_mb(run: Any) -> float:
    """Megabytes that the load writes."""
    return float(run.by_op.write.blocks) * 512 / 1e6


def years(run: Any) -> float | None:
    """Until every erase block has been erased 100,000 times, with writes spread evenly over the FQueue."""
    erases = float(counts(run).flash_bytes) / (ERASE_KIB * 1024)
    blocks = float(counts(run).fqueue_bytes) / (ERASE_KIB * 1024)
    weeks = float(run.simulated_s) / (DAYS * 86_400)
    return ENDURANCE * blocks * weeks / erases / WEEKS_PER_YEAR if erases else None


def left_mb(run: Any) -> float:
    """What is in the FQueue at the end."""
    return float(counts(run).fqueue_bytes_at_end) / 1e6
