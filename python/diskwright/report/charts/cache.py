"""Caches over the time of a run: how often they have what is wanted, what is at risk, why lines stay out."""

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

_MB = 1e6
# Why lines got no place, as readers know it.
_REASONS = {
    "write_policy": "the write policy caches no such requests",
    "sequential": "part of a long sequential stream",
    "admission": "not admitted yet",
    "no_line": "every place in use",
    "cache_failed": "the cache device takes no writes",
    "changing": "the cache changes, or was removed",
}


def of_caches(run: Run) -> list[tuple[str, Mapping[str, Any]]]:
    """The devices of a run that tell of a cache over time, by their paths."""
    return [(path, device["cache"]) for path, device in run.picture["devices"].items() if "cache" in device]


def hits(id: str, run: Run, cache: Mapping[str, Any]) -> Chart | None:
    """Hit ratios and how full the cache is by time; None where nothing was asked of it."""
    over = cache["over_time"]
    _, seconds = unit_of_time(end_s(run))
    panels = [
        (toned(_ratios(over, op, seconds)), axis(f"{op}s hit (%)", range=[0, 103]))
        for op in ("read", "write")
        if any(over[op]["requests"])
    ]
    if not panels:
        return None
    held = steps(over, "lines_held", seconds, 100 / cache["lines"]) | told("lines held", " %")
    panels.append((toned([held]), axis("filled (%)", range=[0, 103])))
    note = (
        f"Bins of {duration(over['bin_s'])}. By requests, those hit of which the cache had every block; by "
        "blocks, the share of the blocks that it had. The two differ where requests are hit in part, or "
        "where long and short ones fare differently. A write hits where its lines are held. While the cache "
        "fills, hits are fewer than they will be."
    )
    return over_the_run(id, "Hits over time", note, run, panels)


def _ratios(over: Mapping[str, Any], op: str, seconds: float) -> list[Figure]:
    of = over[op]
    by = {
        "by requests": _divided(of["hits"], of["requests"]),
        "by blocks": _divided(of["hit_blocks"], of["blocks"]),
    }
    curves = [
        steps({**over, name: values}, name, seconds, 100.0) | told(f"{op}s, {name}", " %")
        for name, values in by.items()
    ]
    curves[1]["line"] = curves[1]["line"] | {"dash": "dot"}
    return curves


def _divided(parts: Sequence[int], wholes: Sequence[int]) -> list[float | None]:
    return [part / whole if whole else None for part, whole in zip(parts, wholes, strict=True)]


def at_risk(id: str, run: Run, cache: Mapping[str, Any]) -> Chart | None:
    """Dirty bytes, and what is moved between the devices, by time; None where there is neither."""
    over = cache["over_time"]
    _, seconds = unit_of_time(end_s(run))
    panels: list[Panel] = []
    dirty = over["dirty_bytes"]
    if any(dirty["most"]):
        names = {"mean": "dirty, mean", "most": "dirty, most"}
        curves = [
            steps({**over, **dirty}, key, seconds, 1 / _MB) | told(name, " MB") for key, name in names.items()
        ]
        curves[1]["line"] = curves[1]["line"] | {"dash": "dot"}
        panels.append((toned(curves), axis("MB at risk", rangemode="tozero")))
    moved = {"promoted": over["promoted_bytes"], "written back": over["written_back_bytes"]}
    curves = [
        steps({**over, name: rates(over, values, _MB)}, name, seconds) | told(name, " MB/s")
        for name, values in moved.items()
        if any(values)
    ]
    if curves:
        # A single curve has no legend.
        title = f"{curves[0]['name']} (MB/s)" if len(curves) == 1 else "MB/s"
        panels.append((toned(curves), axis(title, rangemode="tozero")))
    if not panels:
        return None
    note = (
        "Dirty blocks are on the cache device alone: if it dies, they are lost. Promoted is what reads "
        "brought to the cache device, written back what went from it to the backing device."
    )
    return over_the_run(id, "At risk, and moved", note, run, panels)


def passed_by(id: str, run: Run, cache: Mapping[str, Any]) -> Chart | None:
    """Lines that got no place, by reason and time; None where every line got one."""
    over = cache["over_time"]
    _, seconds = unit_of_time(end_s(run))
    curves = []
    for reason, counts in over["bypassed"].items():
        if any(counts):
            name = _REASONS.get(reason, reason)
            curve = steps({**over, reason: rates(over, counts)}, reason, seconds)
            curve |= {"stackgroup": "reasons", "line": curve["line"] | {"width": 0.7}}
            curves.append(curve | told(name, "/s") | {"showlegend": True})
    if not curves:
        return None
    note = (
        "Lines of requests that were not held and got no place in the cache, by the first reason against it."
    )
    panels = [(toned(curves), axis("lines/s", rangemode="tozero"))]
    return over_the_run(id, "What passed the cache by", note, run, panels)
