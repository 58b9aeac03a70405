"""What `diskwright probe` shows of an SSD."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from diskwright import Record
from diskwright._text import byte_size
from diskwright.cli import output

if TYPE_CHECKING:
    from rich.console import RenderableType

# What can be measured of an SSD, all of it where nothing is named.
MEASUREMENTS = ["latency", "depth", "bandwidth", "mixed", "cliff", "behind"]
# Intervals of the cliff that a terminal shows.
_INTERVALS = 16


def report(found: Record) -> Iterator["RenderableType"]:
    """The drive and a table for each measurement."""
    yield output.heading(f"{found.drive}: {found.name}")
    yield f"{found.capacity_blocks * 512 / 1e9:,.1f} GB, flash"
    if "simulated" in found:
        yield ""
        yield smaller(found)
    tables = (
        ("latency", _latency),
        ("depth", _depth),
        ("bandwidth", _bandwidth),
        ("mixed", _mixed),
        ("cliff", _cliff),
        ("behind", _behind),
    )
    for key, table in tables:
        if key in found:
            yield ""
            yield table(found)


def smaller(found: Record) -> str:
    """What was measured in place of a large drive."""
    simulated = found.simulated
    return (
        "measured on a drive of the same channels, dies, planes and times "
        f"with {simulated.blocks} blocks a plane and {simulated.pages} pages a block "
        f"({simulated.capacity_blocks * 512 / 1e9:,.3g} GB), as full as this one"
    )


def _time(milliseconds: float) -> str:
    """Three digits and a unit."""
    for unit, of in (("s", 1e3), ("ms", 1.0)):
        if milliseconds >= 0.9995 * of:
            return f"{milliseconds / of:,.{_digits(milliseconds / of)}f} {unit}"
    return f"{milliseconds * 1e3:,.{_digits(milliseconds * 1e3)}f} µs"


def _digits(value: float) -> int:
    """Behind the point, where three digits say enough."""
    return 2 if value < 10 else 1 if value < 100 else 0


def _latency(found: Record) -> "RenderableType":
    table = output.table("size", "read", "50 %", "99 %", "write", "50 %", "99 %")
    for point in found.latency:
        row = []
        for times in (point.read, point.write):
            row += [times.mean_ms, times.p50_ms, times.p99_ms]
        table.add_row(byte_size(point.bytes), *map(_time, row))
    caption = (
        "response times of one request at a time, at random places: "
        "reads of a half-full drive, writes to a new one"
    )
    return output.captioned(table, caption)


def _depth(found: Record) -> "RenderableType":
    table = output.table("queue depth", "reads/s", "mean", "99 %", "writes/s", "mean", "99 %")
    for point in found.depth:
        row = []
        for rate in (point.read, point.write):
            row += [f"{rate.iops:,.0f}", _time(rate.mean_ms), _time(rate.p99_ms)]
        table.add_row(str(point.depth), *row)
    caption = (
        f"random requests of {byte_size(found.request_bytes)}, response times: "
        "reads of a half-full drive, writes to a new one"
    )
    return output.captioned(table, caption)


def _bandwidth(found: Record) -> "RenderableType":
    table = output.table("size", "sequential read", "random read", "sequential write", "random write")
    for point in found.bandwidth:
        rates = (
            point.sequential_read_mb_per_s,
            point.random_read_mb_per_s,
            point.sequential_write_mb_per_s,
            point.random_write_mb_per_s,
        )
        table.add_row(byte_size(point.bytes), *(f"{rate:,.1f}" for rate in rates))
    caption = (
        f"MB/s with {found.bandwidth[0].outstanding} requests outstanding: "
        "reads of a half-full drive, writes to a new one"
    )
    return output.captioned(table, caption)


def _mixed(found: Record) -> "RenderableType":
    table = output.table("reads", "requests/s", "read", "99 %", "write", "99 %")
    for point in found.mixed:
        row = []
        for times in (point.get("read"), point.get("write")):
            row += ["-", "-"] if times is None else [_time(times.mean_ms), _time(times.p99_ms)]
        table.add_row(f"{point.reads:.0%}", f"{point.iops:,.0f}", *row)
    caption = (
        f"random requests of {byte_size(found.request_bytes)}, {found.mixed[0].outstanding} outstanding, "
        "on a half-full drive; response times"
    )
    return output.captioned(table, caption)


def _cliff(found: Record) -> "RenderableType":
    cliff = found.cliff
    table = output.table("capacities written", "after", "writes/s", "MB/s", "write amplification")
    every = -(-len(cliff.intervals) // _INTERVALS)
    for number, interval in enumerate(cliff.intervals):
        if number % every and number != len(cliff.intervals) - 1:
            continue
        table.add_row(
            f"{interval.drive_writes:.2f}",
            f"{interval.to_s:,.2f} s",
            f"{interval.iops:,.0f}",
            f"{interval.mb_per_s:,.1f}",
            f"{interval.write_amplification:.2f}",
        )
    falls = cliff.get("falls_at_drive_writes")
    course = "the rate never falls" if falls is None else f"the rate falls after {falls:.2f} capacities"
    steady = "steady" if cliff.is_steady else "not steady yet"
    caption = (
        f"random writes of {byte_size(found.request_bytes)}, {cliff.outstanding} outstanding, "
        f"from a new drive on: {course}; at the end {steady} at {cliff.steady_iops:,.0f} "
        f"writes/s, write amplification {cliff.steady_write_amplification:.2f}"
    )
    return output.captioned(table, caption)


def _behind(found: Record) -> "RenderableType":
    table = output.table("beside", "mean", "50 %", "90 %", "99 %", "99.9 %", "longest", "delayed")
    for point in found.behind:
        times = (point.mean_ms, point.p50_ms, point.p90_ms, point.p99_ms, point.p999_ms, point.max_ms)
        beside = "nothing" if point.beside == "alone" else point.beside
        table.add_row(beside, *map(_time, times), f"{point.delayed:.1%}")
    caption = (
        f"response times of random reads of {byte_size(found.request_bytes)}, one at a time: "
        "alone, beside 4 random writes outstanding, and beside these on a full drive that is "
        "being cleaned; delayed: longer than any alone"
    )
    return output.captioned(table, caption)
