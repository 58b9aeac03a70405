"""The distribution of response times."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from diskwright.report.charts import _coinciding
from diskwright.report.charts._base import Chart, Figure, Run, axis, log_axis, named, rounded

_HOVER = "%{y:,.4~r} % within %{x:,.5~r} ms"
_HOVER_TAIL = "%{y:,.3~r} % take longer than %{x:,.5~r} ms"


def cumulative(runs: Sequence[Run]) -> Chart:
    """The share of requests that were answered within a time."""
    traces = [
        _line(name, curve["ms"], [100 * share for share in curve["quantile"]], _HOVER) | look
        for name, curve, look in _curves(runs)
    ]
    traces, same = _coinciding.distributions(traces)
    layout = _layout(
        runs,
        log_axis("time (ms, logarithmic)", _values(traces, "x")),
        axis("share of requests (%)", range=[0, 101]),
    )
    note = "The share of measured requests answered within a time."
    if len(runs) == 1:
        note += " Service leaves out the wait in the host."
    if same:
        note += f" Curves that coincide: {same}."
    return Chart("cdf", "Response time", note, {"data": traces, "layout": layout}, 380)


def tail(runs: Sequence[Run]) -> Chart:
    """The share of requests that took longer than a time, as far down as there are samples."""
    traces = []
    for name, curve, look in _curves(runs):
        points = [
            (ms, 100 * (1 - share))
            for ms, share in zip(curve["ms"], curve["quantile"], strict=True)
            if share < 1
        ]
        traces.append(
            _line(name, [ms for ms, _ in points], [share for _, share in points], _HOVER_TAIL) | look
        )
    traces, same = _coinciding.distributions(traces)
    layout = _layout(
        runs,
        log_axis("time (ms, logarithmic)", _values(traces, "x")),
        log_axis("requests that take longer (%, logarithmic)", _values(traces, "y"), dtick=1),
    )
    note = "The share of measured requests that take longer than a time, down to the last one or to 0.001 %."
    if same:
        note += f" Curves that coincide: {same}."
    return Chart("tail", "Tail of the response time", note, {"data": traces, "layout": layout}, 380)


def _curves(runs: Sequence[Run]) -> Iterator[tuple[str, Mapping[str, Any], Figure]]:
    """Names, curves and what they look like: of several runs, the response alone."""
    kinds = (
        ("response", "all", "response", "solid"),
        ("response", "reads", "reads", "solid"),
        ("response", "writes", "writes", "solid"),
        ("service", "all", "service", "dash"),
    )
    for run in runs:
        for time, of, what, dash in kinds if len(runs) == 1 else kinds[:1]:
            curve = run.picture[time][of]
            if curve["count"]:
                name = named(runs, run, what if len(runs) == 1 else "")
                yield name, curve, {"line": {"dash": dash}} | run.look()


def _line(name: str, x: Sequence[float], y: Sequence[float], hover: str) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines" if len(x) > 1 else "markers",
        "name": name,
        "x": rounded(x),
        "y": rounded(y, 8),
        "hovertemplate": hover,
    }


def _values(traces: Sequence[Figure], axis: str) -> Iterator[float]:
    return (value for trace in traces for value in trace[axis])


def _layout(runs: Sequence[Run], x: Figure, y: Figure) -> Figure:
    return {"xaxis": x, "yaxis": y, "hovermode": "closest", "showlegend": len(runs) == 1}
