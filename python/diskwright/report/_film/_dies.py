"""The animation of dies at work: what the page's script draws, and the same in numbers."""

from collections.abc import Mapping
from typing import Any

from diskwright.report._film._base import Film, Kind, ms, seconds

KIND = Kind(
    name="dies",
    title="SSD",
    explained=(
        "A millisecond of the run, slowed down: what each channel carries and what each die does, as long "
        "as the simulation says, to the nanosecond; in a drive whose packages or planes do one thing at a "
        "time, what those do. Above, how many of them are at what; in the rows, each channel, and below it "
        "its dies. Low bars are commands; a line is a wait for the channel, with the data in the register "
        "of the die. What is hatched the drive does for itself: cleaning, or writing its map. A die of the "
        "plan is filled as far as what it does is done; the dot on its channel is what the channel "
        "carries. Drag in the rows or above them; the space bar plays, the arrow keys step."
    ),
    counted="operation",
    numbers="Starts are in ms of simulated time, all other times in µs. Steps of one name are added.",
    scripts=("film-dies-model.js", "film-dies.js"),
    key=(("hatched", None, "for the drive itself"),),
)

_STEPS = ("command", "data in", "data out", "read", "program", "erase", "wait")


def film(id: str, path: str, film: Mapping[str, Any]) -> Film:
    """The film of an SSD."""
    why = _why(film)
    if why:
        return Film.empty(KIND, id, path, why)
    legs = [leg["name"] for leg in film["legs"]]
    sums = [_sums(operation, legs) for operation in film["operations"]]
    shown = [name for name in _STEPS if any(each[name] for each in sums)]
    columns = ["operation", "for", "channel", film["worker"], "plane", "block", "page", "request", "start"]
    rows = [
        _row(operation, [each[name] for name in shown])
        for operation, each in zip(film["operations"], sums, strict=True)
    ]
    return Film(KIND, id, path, _data(path, film), [*columns, *shown], rows, _notes(film), "")


def _why(film: Mapping[str, Any]) -> str:
    """Why a film is empty."""
    if film["from_ns"] is None:
        return "No measured request was served by this drive, so there is nothing to animate."
    if film["operations"]:
        return ""
    start = seconds(film["from_ns"])
    if film["from_ns"] >= film["run_end_ns"]:
        end = seconds(film["run_end_ns"])
        return f"The run was over at {end} s, before the animation was to begin at {start} s."
    return f"In the millisecond from {start} s on the flash did nothing."


def _notes(film: Mapping[str, Any]) -> list[str]:
    notes = []
    if film["ended_by"] == "operations":
        length, count = _us(film["to_ns"] - film["from_ns"]), len(film["operations"])
        notes.append(
            f"The run has more operations than the animation shows: it ends after {length} µs, "
            f"with {count:,} operations."
        )
    if film["channels"] < film["all_channels"]:
        notes.append(f"The first {film['channels']} of {film['all_channels']} channels are shown.")
    if film["ended_by"] == "run":
        notes.append("The run ended within this millisecond.")
    return notes


def _data(path: str, film: Mapping[str, Any]) -> dict[str, Any]:
    start = film["from_ns"]
    kept = ("channel", "worker", "action", "cause", "request", "block", "page", "planes", "steps")
    return {
        "of": KIND.name,
        "path": path,
        "from": start,
        "length": film["to_ns"] - start,
        "channels": film["channels"],
        "workers": film["workers_of_channel"],
        "worker": film["worker"],
        "legs": [
            {"name": leg["name"], "part": leg["part"], "onChannel": leg["on_channel"]} for leg in film["legs"]
        ],
        "parts": list(dict.fromkeys(leg["part"] for leg in film["legs"])),
        "operations": [
            {key: operation[key] for key in kept} | {"start": operation["start_ns"] - start}
            for operation in film["operations"]
        ],
    }


def _sums(operation: Mapping[str, Any], legs: list[str]) -> dict[str, int]:
    """The legs of an operation, ns."""
    sums = dict.fromkeys(legs, 0)
    for leg, ns in operation["steps"]:
        sums[legs[leg]] += ns
    return sums


def _row(operation: Mapping[str, Any], times: list[int]) -> list[str]:
    numbers = [operation[key] for key in ("channel", "worker", "plane", "block", "page", "request")]
    return [
        operation["action"],
        operation["cause"],
        *("-" if number is None else f"{number:,}" for number in numbers),
        ms(operation["start_ns"]),
        *map(_us, times),
    ]


def _us(ns: int) -> str:
    """Microseconds, to the nanosecond."""
    return f"{ns // 1_000:,}.{ns % 1_000:03d}"
