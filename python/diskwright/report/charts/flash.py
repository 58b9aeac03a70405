"""Flash over the time of a run: what is written, what is free, what channels and dies do."""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright.report.charts._base import Chart, Figure, Run, axis, duration
from diskwright.report.charts.time import (
    Panel,
    end_s,
    over_the_run,
    rates,
    steps,
    told,
    toned,
    unit_of_time,
)

# What workers do: how it is called, and the part of a request's time that has the same colour. Moves are of
# no request: they have a colour that no other kind has.
KINDS = {
    "read": ("reading", "flash_read"),
    "program": ("programming", "program"),
    "transfer": ("transferring", "channel"),
    "wait": ("waiting for the channel", "wait"),
    "move": ("moving, for cleaning", "mapping"),
    "erase": ("erasing", "erase"),
}
# What channels carry it for.
CAUSES = {"reads": "flash_read", "writes": "program", "cleaning": "mapping", "map": "bus"}
_MB = 1e6


def of_flash(run: Run) -> list[tuple[str, Mapping[str, Any]]]:
    """The devices of a run that tell of their flash, by their paths."""
    return [(path, device["flash"]) for path, device in run.picture["devices"].items() if "flash" in device]


def several(count: int | float, one: str) -> str:
    """A number of things."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def written(id: str, run: Run, flash: Mapping[str, Any]) -> Chart | None:
    """What is written and what is free by time; None where nothing was written."""
    over = flash["over_time"]
    if not any(map(sum, over["flash_bytes"].values())):
        return None
    _, seconds = unit_of_time(end_s(run))
    panels = [_rates(over, seconds), _amplification(over, seconds), _free(over, seconds)]
    note = (
        f"Bins of {duration(over['bin_s'])}. The write amplification is what was programmed, divided by "
        "what the host wrote: in each bin, and since the warm-up, which ends at the value of the result."
    )
    if _is_near_cleaning(over["free_blocks"]):
        note += (
            " A plane is cleaned when few of its own blocks are free: below the dashed line this must be "
            "so in some plane."
        )
    panels = [(toned(traces), settings) for traces, settings in panels]
    return over_the_run(id, "Writes and free blocks", note, run, panels)


def _rates(over: Mapping[str, Any], seconds: float) -> Panel:
    names = {
        "host": "programmed for the host",
        "moved": "moved by cleaning",
        "map": "map",
        "parity": "parity",
    }
    rows = {"written by the host": over["host_bytes"]}
    rows |= {names[cause]: values for cause, values in over["flash_bytes"].items() if any(values)}
    traces = [
        steps({**over, name: rates(over, values, _MB)}, name, seconds) | told(name, " MB/s")
        for name, values in rows.items()
    ]
    return traces, axis("MB/s", rangemode="tozero")


def _amplification(over: Mapping[str, Any], seconds: float) -> Panel:
    names = {"of_bin": "of each bin", "so_far": "since the warm-up"}
    series = over["write_amplification"]
    traces = [steps({**over, **series}, key, seconds) | told(name, "") for key, name in names.items()]
    traces[1]["line"] = traces[1]["line"] | {"width": 2.5}
    settings = axis("write amplification", rangemode="tozero")
    measured = [
        value
        for value, so_far in zip(series["of_bin"], series["so_far"], strict=True)
        if value is not None and so_far is not None
    ]
    if measured:
        # A bin in which the host wrote next to nothing must not flatten all others.
        usual = max(sorted(measured)[int(0.95 * (len(measured) - 1))], series["so_far"][-1])
        if max(value or 0 for value in series["of_bin"]) > 1.6 * usual:
            settings = axis("write amplification", range=[0, 1.3 * usual])
    return traces, settings


def _free(over: Mapping[str, Any], seconds: float) -> Panel:
    free = over["free_blocks"]
    names = {"mean": "free, mean", "least": "free, fewest"}
    traces = [steps({**over, **free}, key, seconds) | told(name, " blocks") for key, name in names.items()]
    traces[1]["line"] = traces[1]["line"] | {"dash": "dot"}
    if not _is_near_cleaning(free):
        return traces, axis("free blocks", tickformat=",~r")
    ends = [traces[0]["x"][0], traces[0]["x"][-1]]
    level: Figure = {"type": "scatter", "mode": "lines", "x": ends, "y": [free["cleaned_below"]] * 2}
    level |= {"line": {"dash": "dash", "width": 1.5}, **told("some plane is cleaned below", " blocks")}
    return [*traces, level], axis("free blocks", rangemode="tozero", tickformat=",~r")


def _is_near_cleaning(free: Mapping[str, Any]) -> bool:
    """Whether free blocks become so few that it matters below which number planes are cleaned."""
    least = min((value for value in free["least"] if value is not None), default=None)
    return least is not None and least < 4 * free["cleaned_below"]


def used(id: str, run: Run, flash: Mapping[str, Any]) -> Chart:
    """What channels and workers do by time, as shares of their time."""
    over, worker = flash["over_time"], flash["shape"]["worker"]
    _, seconds = unit_of_time(end_s(run))
    dies = [(name, part, over["workers"][kind]) for kind, (name, part) in KINDS.items()]
    channels = [(f"for {cause}", part, over["channels"][cause]) for cause, part in CAUSES.items()]
    panels = [
        (_stacked(dies, over, seconds, "dies"), axis(f"{worker}s busy (%)", rangemode="tozero")),
        (
            _stacked(channels, over, seconds, "channels"),
            axis("channels busy (%)", rangemode="tozero"),
        ),
    ]
    note = (
        f"Shares of the time of all {worker}s, and of all channels, in bins of {duration(over['bin_s'])}. A "
        f"{worker} has an operation from its command to its end, with its transfers and its waits for the "
        "channel."
    )
    return over_the_run(
        id, f"Channels and {worker}s over time", note, run, [each for each in panels if each[0]]
    )


def _stacked(
    rows: Sequence[tuple[str, str, Sequence[float]]],
    over: Mapping[str, Any],
    seconds: float,
    stack: str,
) -> list[Figure]:
    traces = []
    for name, part, values in rows:
        if any(values):
            curve = steps({**over, name: values}, name, seconds, 100.0)
            curve |= {"stackgroup": stack, "part": part, "line": curve["line"] | {"width": 0.7}}
            traces.append(curve | told(name, " %"))
    return traces
