"""Charts of a fit: the errors of requests before and after, by their circumstances."""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright.report.charts._base import Chart, Figure, axis, rounded, wrapped

_SIDES = {"before": (2, "diamond-open"), "after": (1, "circle")}
_TITLES = {
    "kinds": ("Errors by kind", "Kinds of request as the fitted drive served them.", "kind of request"),
    "distance": (
        "Errors by seek distance",
        "Requests that the medium served.",
        "distance of the seek (cylinders)",
    ),
    "angle": (
        "Errors by angle",
        "Requests that the medium served, by how far the platter had to turn when they arrived.",
        "angle to the first sector (turns)",
    ),
    "size": ("Errors by size", "All requests.", "size of the request (blocks)"),
}


def errors(picture: Mapping[str, Any]) -> list[Chart]:
    """A chart for each way to sort requests."""
    return [_chart(key, picture[key]) for key in _TITLES if picture[key]]


def _chart(key: str, rows: Sequence[Mapping[str, Any]]) -> Chart:
    title, note, label = _TITLES[key]
    is_tall = key == "kinds"
    names = [wrapped(row["name"]) for row in rows]
    traces: list[Figure] = []
    for side, (tone, symbol) in _SIDES.items():
        median = rounded(row[side]["median_ms"] for row in rows)
        above = rounded(row[side]["high_ms"] - row[side]["median_ms"] for row in rows)
        below = rounded(row[side]["median_ms"] - row[side]["low_ms"] for row in rows)
        custom = [[f"{row['requests']:,}", f"{row[side]['rms_ms']:.3f}"] for row in rows]
        value, group = ("x", "y") if is_tall else ("y", "x")
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": side,
                value: median,
                group: names,
                f"error_{value}": {
                    "type": "data",
                    "symmetric": False,
                    "array": above,
                    "arrayminus": below,
                    "thickness": 1.2,
                },
                "customdata": custom,
                "tone": tone,
                "marker": {"symbol": symbol, "size": 8},
                "hovertemplate": f"%{{{group}}}: median %{{{value}:,.3~r}} ms, rms %{{customdata[1]}} ms, "
                "%{customdata[0]} requests",
            }
        )
    values = axis("predicted less recorded (ms)", zeroline=True)
    groups = axis(label, type="category", automargin=True)
    layout: Figure
    if is_tall:
        layout = {"xaxis": values, "yaxis": groups | {"autorange": "reversed"}}
    else:
        layout = {"xaxis": groups, "yaxis": values}
    layout |= {"showlegend": True, "hovermode": "closest", "scattermode": "group"}
    height = 120 + 44 * len(rows) if is_tall else 360
    return Chart(key, title, note, {"data": traces, "layout": layout}, height, wide=True)
