"""A run's statistics as DiskSim writes them, for scripts that search its output files for lines."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

# What has a medium, and so is a disk of DiskSim's.
_MEDIA = ("hdd", "simple", "curve", "ssd")
# Parts of an access, and what DiskSim calls the average of their sum.
_ACCESS = {
    "Seek time": ("seek", "head_switch", "settle", "positioning"),
    "Rotational latency": ("rotation",),
    "Positioning time": ("seek", "head_switch", "settle", "positioning", "rotation"),
    "Transfer time": ("transfer",),
    "Access time": ("seek", "head_switch", "settle", "positioning", "rotation", "transfer"),
}


def text(result: Mapping[str, Any]) -> str:
    """The whole file: times in ms, counts without the warm-up."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Mapping[str, Any]) -> Iterator[str]:
    simulated_ms = 1000 * result["simulated_s"]
    yield from _heading("SIMULATION STATISTICS")
    yield f"Total time of run:       \t{simulated_ms:.6f}"
    yield ""
    yield from _heading("OVERALL I/O SYSTEM STATISTICS")
    by_op = result["by_op"]
    overall = "Overall I/O System"
    yield from _handled(overall, result["requests"]["measured"], result["iops"])
    yield from _times(f"{overall} Response time", result["response_ms"])
    counts = {
        name: by_op[op]["count"] if op in by_op else 0
        for name, op in (("reads", "read"), ("writes", "write"))
    }
    yield from _shares(overall, counts)
    yield ""
    yield from _heading("IODRIVER STATISTICS")
    yield from _drivers(result)
    devices = result["devices"]
    disks = [record for path, record in devices.items() if _kind(path) in _MEDIA]
    seconds = result["requests"]["measured"] / result["iops"] if result["iops"] else 0.0
    yield from _heading("DISK STATISTICS")
    for number, disk in enumerate(disks):
        yield f"Disk #{number}:"
        yield ""
        yield from _disk(f"Disk #{number}", disk, seconds)
        yield ""


def _heading(title: str) -> Iterator[str]:
    yield title
    yield "-" * len(title)
    yield ""


def _kind(path: str) -> str:
    """The kind of the device at a path, such as `hdd` of `array.member[1].driver.device.hdd`."""
    return re.sub(r"\[\d+\]", "", path.rpartition(".")[2])


def _handled(prefix: str, count: int, per_second: float) -> Iterator[str]:
    yield f"{prefix} Total Requests handled:\t{count}"
    yield f"{prefix} Requests per second:   \t{per_second:.6f}"


def _times(prefix: str, times: Mapping[str, Any]) -> Iterator[str]:
    for key, name in (("mean", "average: "), ("std", "std.dev.:"), ("max", "maximum:")):
        if times.get(key) is not None:
            yield f"{prefix} {name}\t{times[key]:.6f}"


def _shares(prefix: str, counts: Mapping[str, int]) -> Iterator[str]:
    total = sum(counts.values())
    for name, count in counts.items():
        yield f"{prefix} Number of {name}:\t{count}\t{count / total if total else 0.0:.6f}"


def _drivers(result: Mapping[str, Any]) -> Iterator[str]:
    """Physical accesses at the drivers; in a system without one at the host's queue."""
    records = [record for path, record in result["devices"].items() if _kind(path) == "driver"]
    prefix = "IOdriver"
    if not records:
        yield from _handled(prefix, result["requests"]["measured"], result["iops"])
        yield from _times(f"{prefix} Response time", result["response_ms"])
        yield from _times(f"{prefix} Physical access time", result["service_ms"])
        yield ""
        return
    count = sum(record["completed"] for record in records)
    measured = result["requests"]["measured"]
    yield from _handled(prefix, count, result["iops"] * count / measured if measured else 0.0)
    for key, name in (("response_ms", "Response time"), ("physical_access_ms", "Physical access time")):
        yield from _times(
            f"{prefix} {name}", _together((record["completed"], record[key]) for record in records)
        )
    yield from _shares(
        prefix, {name: sum(record[name] for record in records) for name in ("reads", "writes")}
    )
    yield ""
    for number, record in enumerate(records):
        own = f"{prefix} device #{number}"
        yield f"{own} Total Requests handled:\t{record['completed']}"
        yield from _times(f"{own} Response time", record["response_ms"])
        yield from _times(f"{own} Physical access time", record["physical_access_ms"])
        yield ""


def _together(parts: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[str, float]:
    """Mean, deviation and maximum of several groups as one."""
    groups = [(count, times) for count, times in parts if count and times.get("mean") is not None]
    total = sum(count for count, _ in groups)
    if not total:
        return {}
    mean = sum(count * times["mean"] for count, times in groups) / total
    squares = (
        sum(count * ((times["std"] or 0.0) ** 2 + times["mean"] ** 2) for count, times in groups) / total
    )
    deviation = math.sqrt(max(squares - mean**2, 0.0))
    return {"mean": mean, "std": deviation, "max": max(times["max"] for _, times in groups)}


def _disk(prefix: str, disk: Mapping[str, Any], seconds: float) -> Iterator[str]:
    requests = disk["requests"]
    yield from _handled(prefix, requests, requests / seconds if seconds else 0.0)
    if "reads" in disk and "writes" in disk:
        yield from _shares(prefix, {name: disk[name] for name in ("reads", "writes")})
    accesses, busy = disk.get("media_accesses"), disk.get("busy_ms")
    if accesses and busy:
        for name, parts in _ACCESS.items():
            spent = sum(busy.get(part, 0.0) for part in parts)
            yield f"{prefix} {name} average: \t{spent / accesses:.6f}"
