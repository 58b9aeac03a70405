"""The animation of the disks at work: what the page's script draws, and the same in numbers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Parts that a table always has: what people look for in a disk.
_ALWAYS = ("seek", "head_switch", "settle", "rotation", "transfer")
_OPS = {"read": 0, "write": 1}


@dataclass(frozen=True)
class Film:
    """A disk at work.

    id: of the elements that are its own.
    data: what is drawn; instants are ns since the window's start.
    columns, rows: its requests, times in ms as exact as the log has them.
    notes: what a reader must know to read it.
    why: why there is nothing to show; empty where there is.
    """

    id: str
    path: str
    data: Mapping[str, Any]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]
    why: str


def films(picture: Mapping[str, Any]) -> list[Film]:
    """Of every hard disk of a run that was asked for its picture."""
    found = [(path, device["film"]) for path, device in picture["devices"].items() if "film" in device]
    return [_film(f"film-{index}", path, film) for index, (path, film) in enumerate(found)]


def tones(result: Mapping[str, Any]) -> dict[str, int]:
    """Which of the theme's colours a part has: those of the chart of parts, then the ones that are left."""
    parts = result["parts_ms"]
    first = sorted(parts, key=lambda name: not parts[name])
    return {name: tone for tone, name in enumerate(first)}


def drawn(result: Mapping[str, Any], shown: Sequence[Film]) -> dict[str, Any]:
    """What the page's script gets."""
    return {"tones": tones(result), "films": [film.data for film in shown if not film.why]}


def _film(id: str, path: str, film: Mapping[str, Any]) -> Film:
    why = _why(film)
    if why:
        return Film(id, path, {}, (), (), (), why)
    parts = film["parts"]
    sums = [_sums(request, parts) for request in film["requests"]]
    shown = [name for name in parts if name in _ALWAYS or any(each[name] for each in sums)]
    columns = ["request", "", "LBN", "blocks", "arrival", "start", "completion"]
    rows = [_row(request, each, shown) for request, each in zip(film["requests"], sums, strict=True)]
    columns += [name.replace("_", " ") for name in shown]
    return Film(id, path, _data(path, film), columns, rows, _notes(film), "")


def _why(film: Mapping[str, Any]) -> str:
    """Why a film is empty."""
    if film["from_ns"] is None:
        return "No measured request was served by this disk, so there is nothing to animate."
    if film["work"]:
        return ""
    start = seconds(film["from_ns"])
    if film["from_ns"] >= film["run_end_ns"]:
        end = seconds(film["run_end_ns"])
        return f"The run was over at {end} s, before the animation was to begin at {start} s."
    if any(request["served_by"] != "medium" for request in film["requests"]):
        return f"From {start} s on the buffer served every request: the arm did not move."
    if film["requests"]:
        return f"From {start} s on all that was read had never been written: no arm moved."
    return f"From {start} to {seconds(film['to_ns'])} s this disk served no request."


def _notes(film: Mapping[str, Any]) -> list[str]:
    notes = []
    if film["ended_by"] == "accesses":
        length, count = ms(film["to_ns"] - film["from_ns"]), len(film["requests"])
        notes.append(
            f"There are so many requests that the animation ends after {length} ms, with {count:,} of them."
        )
    if film["waiting_left_out"]:
        notes.append(f"{film['waiting_left_out']:,} more requests waited at the end than are shown.")
    if any(request["sequence"] is None for request in film["requests"]):
        notes.append("What has no number is no request of the host, but comes from a device above this one.")
    if any(request["cylinder"] is None for request in [*film["requests"], *film["waiting"]]):
        notes.append(
            "What waits to be written into the log has no place yet, and is not marked on the platter."
        )
    arms: dict[int, set[int]] = defaultdict(set)
    for work in film["work"]:
        if work["request"] is not None:
            arms[work["request"]].add(work["arm"])
    if any(len(of_one) > 1 for of_one in arms.values()):
        notes.append(
            "Several arms work for one request here: its row and numbers are what its completion waited for."
        )
    if any(request["completion_ns"] > film["run_end_ns"] for request in film["requests"]):
        notes.append("The run ended before its last requests did: they are drawn as they would have gone on.")
    return notes


def _data(path: str, film: Mapping[str, Any]) -> dict[str, Any]:
    start = film["from_ns"]
    return {
        "path": path,
        "from": start,
        "length": film["to_ns"] - start,
        "turn": film["turn_ns"],
        "phase": film["phase"],
        "cylinders": film["cylinders"],
        "surfaces": film["surfaces"],
        "zones": [
            [zone["first_cylinder"], zone["last_cylinder"], zone["sectors_per_track"]]
            for zone in film["zones"]
        ],
        "arms": [
            {
                "angle": arm["angle"],
                "surfaces": [arm["first_surface"], arm["last_surface"]],
                "cylinder": arm["cylinder"],
                "head": arm["head"],
            }
            for arm in film["arms"]
        ],
        "parts": film["parts"],
        "requests": [_request(request, start) for request in [*film["requests"], *film["waiting"]]],
        "work": [
            {
                "arm": work["arm"],
                "purpose": work["purpose"],
                "request": work["request"],
                "op": None if work["op"] is None else _OPS[work["op"]],
                "start": work["start_ns"] - start,
                "steps": work["steps"],
            }
            for work in film["work"]
        ],
    }


def _request(request: Mapping[str, Any], start: int) -> dict[str, Any]:
    def since(key: str) -> int | None:
        instant = request.get(key)
        return None if instant is None else instant - start

    return {
        "sequence": request["sequence"],
        "op": _OPS[request["op"]],
        "lbn": request["lbn"],
        "blocks": request["blocks"],
        "place": None
        if request["cylinder"] is None
        else [request["cylinder"], request["head"], request["angle"]],
        "arrival": since("arrival_ns"),
        "acceptance": since("acceptance_ns"),
        "start": since("start_ns"),
        "completion": since("completion_ns"),
        "service": request.get("service"),
        "steps": request.get("steps", []),
    }


def _sums(request: Mapping[str, Any], parts: Sequence[str]) -> dict[str, int]:
    """The parts of a request, ns."""
    sums = dict.fromkeys(parts, 0)
    for part, ns in request["steps"]:
        sums[parts[part]] += ns
    return sums


def _row(request: Mapping[str, Any], sums: Mapping[str, int], shown: Sequence[str]) -> list[str]:
    sequence = request["sequence"]
    instants = (request[f"{name}_ns"] for name in ("arrival", "start", "completion"))
    return [
        "-" if sequence is None else str(sequence),
        request["op"],
        f"{request['lbn']:,}",
        f"{request['blocks']:,}",
        *map(ms, instants),
        *(ms(sums[name]) for name in shown),
    ]


def ms(ns: int) -> str:
    """Milliseconds, to the nanosecond."""
    return f"{ns // 1_000_000:,}.{ns % 1_000_000:06d}"


def seconds(ns: int) -> str:
    """Seconds, to the microsecond."""
    return f"{ns // 1_000_000_000:,}.{ns % 1_000_000_000 // 1_000:06d}"
