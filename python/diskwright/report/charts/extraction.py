"""Charts of an extraction: the seek curve, and what the zones are."""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright.report.charts._base import Chart, Figure, axis, log_axis, rounded

# What is drawn of a seek curve: the key, the name in the legend, the colour and the mark.
_CURVES = (("seek", "before a read", 0, "circle"), ("write_seek", "before a write", 1, "diamond-open"))
_SKEWS = (
    ("track_skew", "to the next track", 0, "solid"),
    ("cylinder_skew", "to the next cylinder", 1, "dash"),
)


def charts(result: Mapping[str, Any]) -> list[Chart]:
    """The charts for which something was measured."""
    zones = result.get("zones", [])
    found = [_curve(result)] if result.get("seek") else []
    if zones:
        found.append(_sectors(zones))
        if any(zone[key] is not None for zone in zones for key, *_ in _SKEWS):
            found.append(_skews(zones))
    return found


def _curve(result: Mapping[str, Any]) -> Chart:
    traces: list[Figure] = []
    for key, name, tone, symbol in _CURVES:
        points = result.get(key, [])
        if not points:
            continue
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "x": [point["distance_cylinders"] for point in points],
                "y": rounded(point["ms"] for point in points),
                "error_y": {
                    "type": "data",
                    "array": rounded(point["half_width_ms"] for point in points),
                    "thickness": 1.2,
                },
                "customdata": rounded((point["half_width_ms"] for point in points), 3),
                "tone": tone,
                "line": {"width": 1.2},
                "marker": {"symbol": symbol, "size": 5},
                "hovertemplate": "%{x:,} cylinders: %{y:,.5~r} ms ± %{customdata} ms",
            }
        )
    distances = [point["distance_cylinders"] for point in result["seek"]]
    layout: Figure = {
        "xaxis": log_axis("distance (cylinders, logarithmic)", distances),
        "yaxis": axis("seek (ms)", rangemode="tozero"),
        "showlegend": len(traces) > 1,
        "hovermode": "closest",
    }
    note = "Bars are the 95 % intervals." + (
        " A seek before a write includes settling." if len(traces) > 1 else ""
    )
    return Chart("seek", "Seek curve", note, {"data": traces, "layout": layout}, 400, wide=True)


def _steps(zones: Sequence[Mapping[str, Any]], key: str) -> tuple[list[float], list[Any]]:
    """A value of all zones over the addresses, in % of those that were looked at."""
    sectors = zones[-1]["last_sector"] + 1
    places = [zone["first_sector"] / sectors * 100 for zone in zones]
    values = [zone[key] for zone in zones]
    return [*places, 100.0], [*values, values[-1]]


def _sectors(zones: Sequence[Mapping[str, Any]]) -> Chart:
    places, values = _steps(zones, "sectors_per_track")
    trace: Figure = {
        "type": "scatter",
        "mode": "lines",
        "x": rounded(places),
        "y": values,
        "tone": 0,
        "line": {"shape": "hv", "width": 1.6},
        "hovertemplate": "from %{x:.4~r} % of the addresses: %{y} sectors per track",
    }
    layout: Figure = {
        "xaxis": axis("address (% of what was looked at)", range=[0, 100]),
        "yaxis": axis("sectors of a track", rangemode="tozero"),
        "showlegend": False,
        "hovermode": "closest",
    }
    return Chart("sectors", "Sectors per track", "", {"data": [trace], "layout": layout}, 340)


def _skews(zones: Sequence[Mapping[str, Any]]) -> Chart:
    traces: list[Figure] = []
    for key, name, tone, dash in _SKEWS:
        places, values = _steps(zones, key)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": rounded(places),
                "y": values,
                "tone": tone,
                "line": {"shape": "hv", "width": 1.6, "dash": dash},
                "hovertemplate": "from %{x:.4~r} % of the addresses: %{y} sectors",
            }
        )
    layout: Figure = {
        "xaxis": axis("address (% of what was looked at)", range=[0, 100]),
        "yaxis": axis("skew (sectors)", rangemode="tozero"),
        "showlegend": True,
        "hovermode": "closest",
    }
    return Chart("skews", "Skews", "", {"data": traces, "layout": layout}, 340)
