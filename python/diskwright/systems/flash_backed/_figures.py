"""The figures of the paper on flash-backed requests."""

from typing import Any

from diskwright.reproduce import Figure, Lines
from diskwright.systems.flash_backed._devices import CURVE
from diskwright.systems.flash_backed._points import (
    bins,
    curves,
    hours,
    queues,
    sizes,
    speeds,
)
from diskwright.systems.flash_backed._runs import (
    BLOCK,
    WITH,
    WITHOUT,
    disk_time,
    disk_writes,
    flash_mb,
    flush_share,
    flush_share_with_idle,
    idle_share,
    left_mb,
    overwrites,
    ratio,
    ratio_with_idle,
    write_ms,
    written_mb,
    years,
)

SIZE_LABEL = "FQueue (MB)"
STAND_INS = "Loads with a star are stand-ins for traces that are not public."


def of_curve(key: str) -> Any:
    """A value of a point of Fig. 2, by the number that is the name of its work."""

    def measure(found: Any) -> float | None:
        ((number, curve),) = found.items()
        points = curve["points"]
        return float(points[int(number)][key]) if int(number) < len(points) else None

    return measure


def of_curve_mb(found: Any) -> float | None:
    """The distance of a point of Fig. 2; None where it is 0, for which a logarithmic axis has no place."""
    blocks = of_curve("distance_blocks")(found)
    return blocks * BLOCK / 1e6 if blocks else None


def of_hour(key: str) -> Any:
    """A value of an hour."""

    def measure(found: Any) -> float | None:
        ((hour, day),) = found.items()
        value = day["hours"][int(hour)][key]
        return None if value is None else float(value)

    return measure


def of_bin(key: str) -> Any:
    """A value of a bin."""

    def measure(found: Any) -> float:
        ((number, counted),) = found.items()
        return float(counted[key][int(number)])

    return measure


def over_size(y: str, label: str, by: tuple[str, ...] = ("workload", "medium")) -> Lines:
    """Curves over the size of the FQueue."""
    return Lines("size_mb", y, by=by, x_label=SIZE_LABEL, y_label=label)


def of_with(measure: Any) -> Any:
    """What is measured of the run with an FQueue."""
    return lambda runs: measure(runs[WITH])


FIGURES = [
    Figure(
        id="fig-2",
        title="Access time by distance",
        paper="Flash is flat, the drive grows with distance.",
        points=curves(),
        measure={
            **{key: of_curve(key) for key in ("distance_blocks", "mean_ms", "low_ms", "high_ms")},
            "distance_mb": of_curve_mb,
        },
        drawn=Lines(
            "distance_mb", "mean_ms", by=["device"], x_label="distance (MB)", y_label="ms", x_log=True
        ),
        note="low_ms and high_ms hold 99 % of the accesses. The drive: writes of a sector, as `diskwright "
        "probe` "
        "measures them, without their transfer and the controller's time; the card: writes of 4 KiB.",
    ),
    Figure(
        id="fig-3",
        title="Seek distances of writes on the first day",
        paper="Bands: some distances come again and again.",
        points=hours(),
        measure={key: of_hour(key) for key in ("writes", "p10_gb", "p50_gb", "p90_gb")},
        drawn=Lines("hour", "p50_gb", by=["workload"], x_label="hour", y_label="median (GB)"),
        note=f"Hour by hour, quantiles of the distance from the request before. {STAND_INS}",
        partial=True,
    ),
    Figure(
        id="fig-4",
        title="Seek distances of writes",
        paper="Frequent up to about 1 MB, then as frequent at any distance.",
        points=bins(),
        measure={
            "mb": of_bin("mb"),
            "count": of_bin("counts"),
            "writes": lambda found: of_bin("counts")(found) or None,
        },
        drawn=Lines(
            "mb", "writes", by=["workload"], x_label="distance (MB)", y_label="writes", x_log=True, y_log=True
        ),
        note=f"Bins are powers of two, of which mb is the lower end. {STAND_INS}",
        partial=True,
    ),
    Figure(
        id="fig-7",
        title="Time of writes by size of the FQueue and order of the Request Queue",
        paper="Up to 70 % less at 80 MB; orders alike. Each is normalised to itself without an FQueue.",
        points=queues(),
        measure={
            "write_time": ratio,
            "write_s": lambda runs: write_ms(runs[WITH]) / 1e3,
            "write_s_without": lambda runs: write_ms(runs[WITHOUT]) / 1e3,
            "left_mb": of_with(left_mb),
        },
        drawn=over_size("write_time", "write time, to that without", ("workload", "queue", "medium")),
        note=f"left_mb is in the FQueue when the last request has ended. {STAND_INS}",
        partial=True,
    ),
    Figure(
        id="fig-8a",
        title="Flushing in idle time",
        paper="At least 20 % of all writing; 90 % of the HP load's with 10 MB.",
        points=sizes(),
        measure={"idle_share": idle_share},
        drawn=over_size("idle_share", "idle time, to writing without"),
        note="The time of the medium, to that of writes without an FQueue.",
        partial=True,
    ),
    Figure(
        id="fig-8b",
        title="Accesses that flush the FQueue",
        paper="Fewer with a larger FQueue.",
        points=sizes(media=(CURVE,)),
        measure={"flush_share": of_with(flush_share), "with_idle": of_with(flush_share_with_idle)},
        drawn=over_size("flush_share", "share of accesses"),
        note="While requests wait; with_idle has those in idle time, too.",
        partial=True,
    ),
    Figure(
        id="fig-9",
        title="Time of writes with flushing in idle time",
        paper="HP and Eng 30 to 50 % less, Mac and WinPC above 1.",
        points=sizes(),
        measure={"write_time_with_idle": ratio_with_idle},
        drawn=over_size("write_time_with_idle", "write time, to that without"),
        note=STAND_INS,
        partial=True,
    ),
    Figure(
        id="fig-10",
        title="Years until 100,000 erases of every block",
        paper="Linear in the size; 10 MB a year.",
        points=sizes(media=(CURVE,)),
        measure={
            "years": of_with(years),
            "flash_mb": of_with(flash_mb),
            "written_mb": of_with(written_mb),
        },
        drawn=Lines("size_mb", "years", by=["workload"], x_label=SIZE_LABEL, y_label="years", y_log=True),
        note="Erase blocks of 128 KiB, writes spread evenly over all. 10 MB a year is what 19 GB a week "
        "come to; "
        "written_mb is what the load writes in all.",
        partial=True,
    ),
    Figure(
        id="fig-11",
        title="Cards that are slower and faster",
        paper="Faster flash, shorter writes. 100 MB.",
        points=speeds(),
        measure={"write_time": ratio},
        drawn=Lines(
            "speed",
            "write_time",
            by=["workload", "medium"],
            x_label="speed of the card",
            y_label="write time, to that without",
            x_log=True,
        ),
        partial=True,
    ),
    Figure(
        id="fig-12",
        title="Writes that overwrite the FQueue",
        paper="More with a larger FQueue; at most 15 %.",
        points=sizes(media=(CURVE,)),
        measure={"overwrites": of_with(overwrites)},
        drawn=over_size("overwrites", "share of writes"),
        partial=True,
    ),
    Figure(
        id="fig-13",
        title="Busy time and writes of the medium",
        paper="Both slightly below 1.",
        points=sizes(),
        measure={"disk_time": disk_time, "disk_writes": disk_writes},
        drawn=over_size("disk_time", "busy time, to that without"),
        note="disk_time is Fig. 13 (a), disk_writes (b), both to those without an FQueue.",
        partial=True,
    ),
]
