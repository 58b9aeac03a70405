"""What a validation compares: two distributions, and the errors of single requests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from diskwright.report.charts._base import Chart, Figure, Run, axis, log_axis, rounded, wrapped
from diskwright.report.charts.response import cumulative, tail

# The colours of the two sides in all charts, and how their curves are drawn.
_SIDES = {"recorded": (0, "solid"), "simulated": (1, "dash")}

# The share of requests, in %, whose distances the frame of a chart shows.
_BODY = 99.5


def distributions(picture: Mapping[str, Any]) -> list[Chart]:
    """The share of requests served within a time, and of those that take longer."""
    runs = [Run(side, {}, {"response": {"all": picture[side]}}) for side in _SIDES]
    body = replace(cumulative(runs), title="Service time", note="The share of requests served within a time.")
    end = replace(
        tail(runs),
        title="Tail of the service time",
        note="The share of requests that take longer than a time, down to the last one or to 0.001 %.",
    )
    times = [ms for side in _SIDES for ms in picture[side]["ms"] if ms > 0]
    # Over few decades also 2 and 5 have room.
    ticks = "D2" if max(times, default=1.0) < 500 * min(times, default=1.0) else 1
    for chart in (body, end):
        layout = chart.figure["layout"]
        layout["xaxis"] = log_axis("time (ms, logarithmic)", times, dtick=ticks)
        layout["showlegend"] = True
        chart.figure["data"] = [_sided(trace) for trace in chart.figure["data"]]
    return [body, end]


def _sided(trace: Figure) -> Figure:
    tone, dash = _SIDES[trace["name"]]
    return trace | {"tone": tone, "line": {"dash": dash}}


def quantiles(picture: Mapping[str, Any]) -> Chart:
    """How much later a simulated quantile is than the recorded one."""
    points = picture["quantiles"]
    shares = [100 * share for share in points["share"]]
    pairs = zip(points["simulated_ms"], points["recorded_ms"], strict=True)
    distances = [simulated - recorded for simulated, recorded in pairs]
    trace: Figure = {
        "type": "scatter",
        "mode": "lines",
        "x": rounded(shares, 6),
        "y": rounded(distances),
        "customdata": rounded(points["recorded_ms"]),
        "tone": 1,
        "line": {"shape": "hv", "width": 1.6},
        "hovertemplate": "%{x:,.5~r} %: %{y:+,.4~r} ms at %{customdata:,.5~r} ms",
    }
    # A few of the slowest requests, as far apart as they may be, must not press all others flat.
    body = [distance for share, distance in zip(shares, distances, strict=True) if share <= _BODY]
    low, high = min(0.0, *body), max(0.0, *body)
    room = 0.08 * (high - low) or 0.001
    beyond = [distance for distance in distances if not low - room <= distance <= high + room]
    layout = {
        "xaxis": axis("share of requests, the fastest first (%)", range=[0, 100]),
        "yaxis": axis("simulated minus recorded (ms)", zerolinewidth=2, range=[low - room, high + room]),
        "hovermode": "closest",
        "showlegend": False,
    }
    note = (
        "Simulated minus recorded time, at the same share of requests. "
        "The demerit is the root mean square of this distance."
    )
    if beyond:
        note += (
            f" The slowest {100 - _BODY:g} % reach out of the frame, to {max(beyond, key=abs):+,.4g} ms:"
            " zoom out to see them."
        )
    return Chart("quantiles", "Distance of the quantiles", note, {"data": [trace], "layout": layout}, 340)


def tenths(shares: Sequence[float]) -> Chart:
    """Which requests, from the fastest to the slowest, the demerit comes from."""
    trace: Figure = {
        "type": "bar",
        "x": [f"to {10 * tenth + 10}" for tenth in range(len(shares))],
        "y": rounded(100 * share for share in shares),
        "tone": 1,
        "hovertemplate": "the tenth %{x} %: %{y:,.3~r} % of the demerit's square",
    }
    layout = {
        "xaxis": axis("share of requests, the fastest first (%)", type="category", tickangle=0),
        "yaxis": axis("share of the demerit's square (%)", rangemode="tozero"),
        "showlegend": False,
    }
    note = "How the square of the demerit divides over the distribution."
    return Chart("tenths", "Where in the distribution", note, {"data": [trace], "layout": layout}, 340)


def kinds(rows: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """For each kind of request the means of both sides, and its share of the squared errors."""
    names = [wrapped(row["name"]) for row in rows]
    counts = [f"{row['requests']:,}" for row in rows]
    bar: Figure = {"type": "bar", "orientation": "h", "y": names, "customdata": counts}
    means = [
        bar
        | {
            "name": side,
            "x": rounded(row[f"{side}_mean_ms"] for row in rows),
            "tone": tone,
            "hovertemplate": "%{y}: %{x:,.4~r} ms, mean of %{customdata} requests",
        }
        for side, (tone, _) in _SIDES.items()
    ]
    shares = bar | {
        "x": rounded(100 * row["share_of_squared_error"] for row in rows),
        "tone": 1,
        "hovertemplate": "%{y}: %{x:,.3~r} % of the squared errors, %{customdata} requests<extra></extra>",
    }
    y = {"automargin": True, "autorange": "reversed", "type": "category"}
    height = 110 + 44 * len(rows)
    return [
        Chart(
            "means",
            "Mean service time by kind",
            "Kinds of request as the simulated drive served them, after what came before.",
            {
                "data": means,
                "layout": {"xaxis": axis("mean service time (ms)"), "yaxis": y, "barmode": "group"},
            },
            height,
        ),
        Chart(
            "shares",
            "Squared errors by kind",
            "How the sum of the squared errors of single requests divides.",
            {
                "data": [shares],
                "layout": {
                    "xaxis": axis("share of the squared errors (%)", rangemode="tozero"),
                    "yaxis": y,
                    "showlegend": False,
                },
            },
            height,
        ),
    ]


def places(picture: Mapping[str, Any]) -> Chart:
    """Where on the drive requests are off, and by how much."""
    found = picture["places"]
    edges = found["from_gb"]
    some = [place for place, requests in enumerate(found["requests"]) if requests]
    middle = rounded([(edges[place] + edges[place + 1]) / 2 for place in some], 6)
    lines = {"error_rms_ms": ("root mean square", 1, "solid"), "error_mean_ms": ("mean", 2, "dot")}
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": middle,
            "y": rounded(found[key][place] for place in some),
            "customdata": [f"{found['requests'][place]:,}" for place in some],
            "tone": tone,
            "line": {"dash": dash, "width": 1.4},
            "hovertemplate": "%{x:,.4~r} GB: %{y:,.4~r} ms over %{customdata} requests",
        }
        for key, (name, tone, dash) in lines.items()
    ]
    layout = {
        "xaxis": axis("place on the drive (GB from its first block)"),
        "yaxis": axis("error of a request (ms)", zeroline=True),
        "hovermode": "closest",
        "showlegend": True,
    }
    note = "Simulated minus recorded time of the same request, by hundredths of the drive's addresses."
    return Chart("places", "Errors by place", note, {"data": traces, "layout": layout}, 340, wide=True)
