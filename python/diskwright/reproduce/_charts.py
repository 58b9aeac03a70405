"""Figures for the page, as data for plotly.js."""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright.report.charts import Chart
from diskwright.report.charts._base import axis, log_axis
from diskwright.reproduce._series import Series, labels, places, series, ticks, written
from diskwright.reproduce._system import Figure, Lines

_HEIGHT = 380
_ERROR = "#8a8a8a"
# As many as the page has for series; further ones are dashed.
_COLOURS = 8
_DASHES = ("solid", "dash", "dashdot")


def chart(figure: Figure, points: Sequence[Mapping[str, Any]]) -> Chart:
    """A figure's chart, with the paper's points beside those that were measured."""
    drawn = figure.drawn
    assert drawn is not None, "only what is drawn has a chart"
    curves = series(figure, points)
    x_label, y_label = labels(drawn)
    layout: dict[str, Any] = {"hovermode": "closest", "showlegend": any(curve.name for curve in curves)}
    if isinstance(drawn, Lines):
        traces = [_line(curve) for curve in curves]
        everything = [x for curve in curves for x in curve.x if isinstance(x, int | float)]
        layout["xaxis"] = log_axis(x_label, everything) if drawn.x_log else axis(x_label)
        if drawn.x_log and (few := ticks(curves)):
            layout["xaxis"] |= {"tickmode": "array", "tickvals": few}
        heights = [y for curve in curves for y in curve.y]
        layout["yaxis"] = log_axis(y_label, heights) if drawn.y_log else axis(y_label)
    else:
        order = [written(place) for place in places(curves)]
        traces = [_bar(curve) for curve in curves]
        layout["xaxis"] = axis(x_label, type="category", categoryorder="array", categoryarray=order)
        layout["yaxis"] = axis(y_label)
        layout |= {"barmode": "group", "bargap": 0.25, "bargroupgap": 0.06}
    note = "Bars show 95 % confidence over the seeds." if any(map(_varies, curves)) else ""
    if any(curve.is_paper for curve in curves):
        look = "dotted" if isinstance(drawn, Lines) else "hatched"
        note = " ".join(filter(None, (note, f"What the paper has is {look}.")))
    return Chart(figure.id, "Measured", note, {"data": traces, "layout": layout}, _HEIGHT)


def _varies(curve: Series) -> bool:
    return any(ends is not None and ends[0] < ends[1] for ends in curve.ends)


def _line(curve: Series) -> dict[str, Any]:
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": curve.x,
        "line": {
            "width": 1.8,
            "dash": "dot" if curve.is_paper else _DASHES[curve.tone // _COLOURS % len(_DASHES)],
        },
    }
    return trace | _common(curve)


def _bar(curve: Series) -> dict[str, Any]:
    marker: dict[str, Any] = {"line": {"width": 1}}
    if curve.is_paper:
        marker["pattern"] = {"shape": "/", "fillmode": "replace", "size": 7, "solidity": 0.35}
    trace = {"type": "bar", "x": [written(x) for x in curve.x], "marker": marker} | _common(curve)
    if not curve.is_paper:
        # Seen on the bar as well as over it, on light pages and on dark ones.
        trace["error_y"] |= {"color": _ERROR}
    return trace


def _common(curve: Series) -> dict[str, Any]:
    hover = [
        "" if ends is None or ends[0] == ends[1] else f" ({ends[0]:.4g} to {ends[1]:.4g})"
        for ends in curve.ends
    ]
    common: dict[str, Any] = {
        "name": curve.name,
        "tone": curve.tone,
        "y": curve.y,
        "customdata": hover,
        "hovertemplate": "%{x}: %{y:,.4~r}%{customdata}",
    }
    if not curve.is_paper:
        common["error_y"] = {
            "type": "data",
            "symmetric": False,
            "array": curve.over,
            "arrayminus": curve.below,
            "thickness": 1.4,
            "width": 4,
        }
    return common
