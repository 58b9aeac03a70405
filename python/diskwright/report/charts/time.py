"""Load, queue and latency over the time of a run, above a common axis."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from diskwright.report.charts import _coinciding
from diskwright.report.charts._base import Chart, Figure, Run, axis, duration, log_axis, rounded
from diskwright.report.charts._series import widened

# Seconds in a unit, and the longest time that is shown in it.
_UNITS = (
    ("ms", 1e-3, 0.5),
    ("s", 1.0, 600.0),
    ("min", 60.0, 3 * 3600.0),
    ("h", 3600.0, 3 * 86400.0),
    ("days", 86400.0, float("inf")),
)
_GAP = 0.035

# Traces, and the axis of their values.
Panel = tuple[list[Figure], Figure]

# Steps of all curves of a panel together, and the fewest of one.
_STEPS = 1_200
_FEWEST = 100
# The most runs whose values at an instant have room side by side; of more, one at a time is told, and when.
_BESIDE = 3
_AT = " at %{x:,.5~r}"


def unit_of_time(longest_s: float) -> tuple[str, float]:
    """The unit in which times up to this are readable, and its seconds."""
    return next((name, seconds) for name, seconds, most in _UNITS if longest_s <= most)


def end_s(run: Run) -> float:
    """When the last bin of a run ends."""
    load = run.picture["load"]
    return float(load["start_s"] + load["bin_s"] * max(len(load["arrivals"]) - 1, 0) + load["last_bin_s"])


def warm_up(run: Run) -> tuple[float, float] | None:
    """From when to when the warm-up lasted, in s."""
    start = run.picture["load"]["start_s"]
    until = run.picture["measured_from_s"]
    until = end_s(run) if until is None else min(until, end_s(run))
    return (start, until) if until > start else None


def over_time(runs: Sequence[Run]) -> Chart:
    """Arrivals, completions, queue, utilisation, power where it is known, and latency by time."""
    _, seconds = unit_of_time(max(map(end_s, runs)))
    if len(runs) > 1:
        runs = [_calm(run, len(runs)) for run in runs]
    drawn = (_load, _queue, _use, _power, _latency)
    panels = [draw(runs, seconds) for draw in drawn]
    shown = [(traces, settings) for traces, settings in panels if traces]
    if len(runs) == 1:
        shown = [(toned(traces), settings) for traces, settings in shown]
    apart = [(*_coinciding.steps(traces), settings) for traces, settings in shown]
    shown = [(traces, settings) for traces, _, settings in apart]
    same = [f"of {settings['title']['text']}: {names}" for _, names, settings in apart if names]
    # What a device had begun when the power failed may reach beyond the run.
    whole = (min(run.picture["load"]["start_s"] for run in runs), max(map(end_s, runs)))
    data, layout = panelled(shown, whole)
    if len(runs) > 1:
        layout["showlegend"] = False
    if len(runs) > _BESIDE:
        layout["hovermode"] = "closest"
    if len(runs) == 1 and (shade := warm_up(runs[0])):
        layout["shapes"], layout["annotations"] = shaded(shade, seconds)
    note = _note(runs[0]) if len(runs) == 1 else _note_of_many(runs)
    if same:
        note += f" Curves that coincide, {'; '.join(same)}."
    return Chart(
        "time", "Over time", note, {"data": data, "layout": layout}, 190 * len(shown) + 70, wide=True
    )


def toned(traces: Sequence[Figure]) -> list[Figure]:
    """Curves in the theme's colours, one after the other."""
    return [{"tone": tone} | trace for tone, trace in enumerate(traces)]


def panelled(panels: Sequence[Panel], whole: tuple[float, float]) -> tuple[list[Figure], Figure]:
    """Panels below each other on one axis of time, each with its own legend: the traces, and the layout.

    whole: from when to when they show it, in s.
    """
    unit, seconds = unit_of_time(whole[1])
    height = (1 - _GAP * (len(panels) - 1)) / len(panels)
    layout: Figure = {"hovermode": "x", "hoversubplots": "axis", "margin": {"t": 20}}
    data: list[Figure] = []
    for index, (traces, settings) in enumerate(panels):
        name = "" if index == 0 else str(index + 1)
        top = 1 - index * (height + _GAP)
        layout[f"yaxis{name}"] = settings | {"domain": [max(top - height, 0), top]}
        legend = "legend" + name
        layout[legend] = {"y": top, "yanchor": "top", "x": 1.01, "xanchor": "left", "orientation": "v"}
        data += [trace | {"yaxis": f"y{name}", "xaxis": "x", "legend": legend} for trace in traces]
    bottom = "" if len(panels) == 1 else str(len(panels))
    span = [at / seconds for at in whole]
    layout["xaxis"] = axis(f"simulated time ({unit})", anchor=f"y{bottom}", range=span)
    return data, layout


def shaded(shade: tuple[float, float], seconds: float) -> tuple[list[Figure], list[Figure]]:
    """The warm-up as a shape and its name."""
    start, end = (at / seconds for at in shade)
    shape = {"type": "rect", "xref": "x", "yref": "paper", "x0": start, "x1": end, "y0": 0, "y1": 1}
    shape |= {"line": {"width": 0}, "fillcolor": "rgba(128, 128, 128, 0.16)", "layer": "below"}
    text = {"text": "warm-up", "xref": "x", "yref": "paper", "x": start, "y": 1, "xanchor": "left"}
    return [shape], [text | {"yanchor": "bottom", "showarrow": False, "font": {"size": 11}}]


def warm_up_edge(run: Run, seconds: float) -> Figure:
    """What a layout says of the end of the warm-up, over cells that would hide a shade."""
    shade = warm_up(run)
    if shade is None:
        return {}
    shapes, annotations = shaded(shade, seconds)
    edge = {"type": "line", "xref": "x", "yref": "paper", "y0": 0, "y1": 1}
    edge |= {"x0": shapes[0]["x1"], "x1": shapes[0]["x1"]}
    return {
        "shapes": [edge | {"line": {"dash": "dot", "width": 1.5, "color": "#888"}}],
        "annotations": annotations,
    }


def _note(run: Run) -> str:
    return (
        f"Bins of {duration(run.picture['load']['bin_s'])}. The whole run is shown"
        + ("; the shaded warm-up is left out of the statistics. " if warm_up(run) else ". ")
        + "Requests count when they complete; outstanding are those that have arrived and are not complete. "
        "p50 and p99 of a bin are within 3.2 %."
    )


def _calm(run: Run, runs: int) -> Run:
    """A run in wider bins: of many curves over each other, each may have fewer steps."""
    most = max(_STEPS // runs, _FEWEST)
    devices = {
        path: device | {key: widened(device[key], most) for key in ("use", "power") if device.get(key)}
        for path, device in run.picture["devices"].items()
    }
    return replace(
        run, picture={**run.picture, "load": widened(run.picture["load"], most), "devices": devices}
    )


def _note_of_many(runs: Sequence[Run]) -> str:
    widths = [run.picture["load"]["bin_s"] for run in runs]
    least, most = duration(min(widths)), duration(max(widths))
    return (
        f"Bins of {least}"
        + (f" to {most}" if most != least else "")
        + ". Completions a second, requests outstanding on average, the share of the time that devices are "
        "busy, and the mean response time. The whole runs are shown, with their warm-up. Requests count when "
        "they complete."
    )


def over_the_run(id: str, title: str, note: str, run: Run, panels: Sequence[Panel]) -> Chart:
    """Panels of one run below each other, with its warm-up shaded."""
    whole = (run.picture["load"]["start_s"], end_s(run))
    data, layout = panelled(panels, whole)
    if shade := warm_up(run):
        layout["shapes"], layout["annotations"] = shaded(shade, unit_of_time(whole[1])[1])
    return Chart(id, title, note, {"data": data, "layout": layout}, 190 * len(panels) + 70, wide=True)


def told(name: str, unit: str) -> Figure:
    """The name of a curve, and what it tells of a value under the pointer."""
    return {"name": name, "hovertemplate": f"%{{y:,.4~r}}{unit} {name}<extra></extra>"}


def steps(series: Mapping[str, Any], key: str, seconds: float, scale: float = 1.0) -> Figure:
    """A value for each bin, drawn over its whole width."""
    values = [None if value is None else value * scale for value in series[key]]
    count = len(values)
    starts = [series["start_s"] + series["bin_s"] * index for index in range(count)]
    end = starts[-1] + series["last_bin_s"] if count else 0.0
    return {
        "type": "scatter",
        "mode": "lines",
        "line": {"shape": "hv", "width": 1.5},
        "x": rounded((at / seconds for at in (*starts, end) if count), 8),
        "y": rounded((*values, values[-1]) if count else ()),
        "connectgaps": False,
    }


def rates(series: Mapping[str, Any], counts: Sequence[float], unit: float = 1.0) -> list[float | None]:
    """Counts of bins as units a second; a last bin mostly beyond the run has none worth showing."""
    widths = [series["bin_s"]] * len(counts)
    partly = bool(widths) and 2 * series["last_bin_s"] < series["bin_s"] and len(widths) > 1
    if widths:
        widths[-1] = series["last_bin_s"] or series["bin_s"]
    found: list[float | None] = [count / width / unit for count, width in zip(counts, widths, strict=True)]
    if partly:
        found[-1] = None
    return found


def _rates(load: Mapping[str, Any], key: str, seconds: float) -> Figure:
    return steps({**load, key: rates(load, load[key])}, key, seconds)


def _load(runs: Sequence[Run], seconds: float) -> Panel:
    traces = []
    for run in runs:
        load = run.picture["load"]
        keys = ["completions"]
        if len(runs) == 1:
            keys = ["arrivals", *keys, *(["failed"] if any(load["failed"]) else [])]
        traces += [_rates(load, key, seconds) | _naming(runs, run, key, "", "/s") for key in keys]
    return traces, axis("requests/s" if len(runs) == 1 else "completions/s", rangemode="tozero")


def _queue(runs: Sequence[Run], seconds: float) -> Panel:
    traces = []
    for run in runs:
        load = run.picture["load"]
        kinds = [("outstanding_mean", "outstanding, mean", "solid")]
        if len(runs) == 1:
            kinds.append(("outstanding_max", "outstanding, most", "dot"))
        for key, what, dash in kinds:
            traces.append(_dashed(steps(load, key, seconds), dash) | _naming(runs, run, what, ""))
        if len(runs) == 1:
            for path, use in _uses(run):
                curve = steps(use, "queue_mean", seconds)
                traces.append(_dashed(curve, "solid") | _naming(runs, run, f"{path} queue, mean", ""))
    return traces, axis("requests" if len(runs) == 1 else "outstanding", rangemode="tozero")


def _use(runs: Sequence[Run], seconds: float) -> Panel:
    traces = [
        steps(use, "utilisation", seconds, 100.0) | _naming(runs, run, f"{path} busy", " %")
        for run in runs
        for path, use in _uses(run)
    ]
    return traces, axis("utilisation (%)", range=[0, 103])


def _power(runs: Sequence[Run], seconds: float) -> Panel:
    traces = [
        steps(device["power"], "watts", seconds) | _naming(runs, run, f"{path} power", " W")
        for run in runs
        for path, device in run.picture["devices"].items()
        if device.get("power", {}).get("watts")
    ]
    return traces, axis("power (W)", rangemode="tozero")


def _uses(run: Run) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, device in run.picture["devices"].items():
        if device.get("use", {}).get("utilisation"):
            yield path, device["use"]


def _latency(runs: Sequence[Run], seconds: float) -> Panel:
    kinds = (("mean", "response_mean_ms"), ("p50", "response_p50_ms"), ("p99", "response_p99_ms"))
    traces = []
    for run in runs:
        load = run.picture["load"]
        for what, key in kinds if len(runs) == 1 else kinds[:1]:
            if any(value is not None for value in load[key]):
                traces.append(steps(load, key, seconds) | _naming(runs, run, f"response, {what}", " ms"))
    return traces, log_axis("response (ms)", (y for trace in traces for y in trace["y"]), nticks=3)


def _naming(runs: Sequence[Run], run: Run, what: str, unit: str, rate: str = "") -> Figure:
    hover = f"%{{y:,.4~r}}{unit} {what}{rate}"
    if len(runs) == 1:
        return {"name": what, "hovertemplate": hover + "<extra></extra>"}
    at = _AT if len(runs) > _BESIDE else ""
    return {"name": run.label, "hovertemplate": hover + at} | run.look()


def _dashed(trace: Figure, dash: str) -> Figure:
    return trace | {"line": trace["line"] | {"dash": dash}}
