"""What variants change: the ratios of their figures to the baseline's, with their intervals."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

from diskwright import _text
from diskwright.report.charts._base import Chart, Figure, axis

# The share of a row that its variants take.
_ROW = 0.7


def ratios(
    comparison: Mapping[str, Any], metrics: Sequence[str], variants: Sequence[tuple[int, str]]
) -> Chart | None:
    """A row for each quantity, with a mark for each variant but the baseline; none where there is no ratio.

    variants: their places in the comparison, and their names.
    """
    others = [(place, name) for place, name in variants if place != comparison["baseline"]]
    traces, seen = [], []
    for order, (place, name) in enumerate(others):
        shift = _ROW * ((order + 0.5) / len(others) - 0.5)
        points = [
            (row + shift, metric, difference["ratio"], difference["ratio_ci95"])
            for row, metric in enumerate(metrics)
            if ((difference := comparison["variants"][place]["difference"][metric])["ratio"] or 0) > 0
        ]
        if points:
            seen += [edge for _, _, ratio, ends in points for edge in (ratio, *(ends or ())) if edge > 0]
            traces.append(_marks(name, points) | {"variant": place})
    if not traces:
        return None
    low, high = log10(min(*seen, 1.0)), log10(max(*seen, 1.0))
    room = 0.06 * (high - low) + 0.01
    # The library would mark every digit of up to two decades; narrow pages have room for 1, 2 and 5.
    decades = high - low + 2 * room
    ticks = {"nticks": max(1, int(decades / 0.31))} if 0.5 < decades < 2 else {}
    layout: Figure = {
        "xaxis": axis(
            "ratio to the baseline (logarithmic)",
            type="log",
            tickformat=",~g",
            range=[low - room, high + room],
            **ticks,
        ),
        "yaxis": {
            "tickmode": "array",
            "tickvals": list(range(len(metrics))),
            "ticktext": [_text.unit(metric)[0] for metric in metrics],
            "range": [len(metrics) - 0.5, -0.5],
            "automargin": True,
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
        },
        "hovermode": "closest",
        "showlegend": False,
        "margin": {"t": 8},
        "shapes": [
            {"type": "line", "xref": "x", "yref": "paper", "x0": 1, "x1": 1, "y0": 0, "y1": 1}
            | {"line": {"dash": "dot", "width": 1.5, "color": "#888"}}
        ],
    }
    intervals = " with 95 % confidence over the seeds" if len(comparison["seeds"]) > 1 else ""
    note = (
        f"Each figure of a variant, divided by the baseline's{intervals}. "
        "1, the dotted line, is no difference."
    )
    height = 90 + round(len(metrics) * max(34, 11 * len(others)))
    return Chart("ratios", "Ratios", note, {"data": traces, "layout": layout}, height, wide=True)


def _marks(name: str, points: Sequence[tuple[float, str, float, Sequence[float] | None]]) -> Figure:
    """Ratios and their intervals. What reaches below zero reaches to the end of a logarithmic axis."""
    spans = [(ratio, ends or (ratio, ratio)) for _, _, ratio, ends in points]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [ratio for ratio, _ in spans],
        "y": [row for row, _, _, _ in points],
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [ends[1] - ratio for ratio, ends in spans],
            "arrayminus": [ratio - max(ends[0], 1e-9 * ratio) for ratio, ends in spans],
            "thickness": 1.6,
            "width": 4,
        },
        "marker": {"size": 8},
        "customdata": [
            [_text.unit(metric)[0], f"{ends[0]:.4g} to {ends[1]:.4g}" if ends else "no interval"]
            for _, metric, _, ends in points
        ],
        "hovertemplate": "%{customdata[0]}: %{x:,.4~r} (%{customdata[1]})",
    }
