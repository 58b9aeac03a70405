"""The animation of arms at work: what the page's script draws, and the same in numbers."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from diskwright.report._film._base import Film, Kind, ms, seconds

KIND = Kind(
    name="arms",
    title="disk",
    explained=(
        "Half a second of the run, slowed down: the platter turns, the arm seeks and the sectors pass as "
        "long as the simulation says, to the nanosecond. Of a seek the simulation knows the time and not "
        "the course: in between, the arm is drawn speeding up and slowing down evenly. The first sectors "
        "of waiting requests are marked on the platter, whichever surface they are on; an outlined arc is "
        "what the head waits for, and it fills as the sectors pass. The first row tells what the arm does, "
        "of several each has its own; it is hatched where no request waits for it: reading ahead, writing "
        "what was buffered, or making room in a log. Drag in the rows or above them; the space bar plays, "
        "the arrow keys step."
    ),
    counted="request",
    numbers=(
        "Times in ms of simulated time, as in the log of requests (--requests); the parts of a request add "
        "up to the time from its start to its completion."
    ),
    scripts=("film-model.js", "film-disk.js", "film-time.js", "film-arms.js"),
    key=(("read", 0, "read"), ("write", 1, "write")),
)

# Parts that a table always has: what people look for in a disk.
_ALWAYS = ("seek", "head_switch", "settle", "rotation", "transfer")
_OPS = {"read": 0, "write": 1}


def film(id: str, path: str, film: Mapping[str, Any]) -> Film:
    """The film of a hard disk."""
    why = _why(film)
    if why:
        return Film.empty(KIND, id, path, why)
    parts = film["parts"]
    sums = [_sums(request, parts) for request in film["requests"]]
    shown = [name for name in parts if name in _ALWAYS or any(each[name] for each in sums)]
    columns = ["request", "", "LBN", "blocks", "arrival", "start", "completion"]
    rows = [_row(request, each, shown) for request, each in zip(film["requests"], sums, strict=True)]
    columns += [name.replace("_", " ") for name in shown]
    return Film(KIND, id, path, _data(path, film), columns, rows, _notes(film), "")


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
            f"The run has more requests than the animation shows: it ends after {length} ms, "
            f"with {count:,} requests."
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
        "of": KIND.name,
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
