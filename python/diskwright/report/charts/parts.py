"""Where the time of a request goes: bars whose pieces add up to the mean."""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright import _text
from diskwright.report.charts._base import Chart, Figure, Run, axis, wrapped


def stages(result: Mapping[str, Any]) -> dict[str, float]:
    """The mean response time in ms, divided: before the drive admits a request, in its queue, and at work."""
    response, service = result["response_ms"]["mean"], result["service_ms"]["mean"]
    at_work = sum(result["parts_ms"].values())
    # Differences of means of the same requests: below zero only by rounding.
    return {
        "in the host": max(response - service, 0.0),
        "in the drive's queue": max(service - at_work, 0.0),
        "at work": at_work,
    }


def response_stages(runs: Sequence[Run]) -> Chart:
    """The mean response time, divided into waits and work."""
    divided = [stages(run.result) for run in runs]
    note = (
        "The mean response time: waiting in the host, waiting in the drive's queue, and from the start to "
        "the end of the work on the request."
    )
    return _bars("stages", "Mean response time", note, _labels(runs), divided)


def at_work(runs: Sequence[Run]) -> Chart:
    """The mean time from start to completion, divided into its parts."""
    divided = [run.result["parts_ms"] for run in runs]
    note = "The mean time from start to completion, by what was waited for. The parts add up to it exactly."
    return _bars("parts", "Mean time at work, by parts", note, _labels(runs), divided)


def of_operations(id: str, served: Mapping[str, Any]) -> Chart | None:
    """The mean parts of the time of a device's own reads and of its writes; None where it served none."""
    some = {op: of_op for op, of_op in served.items() if of_op["count"]}
    if not some:
        return None
    labels = [f"{of_op['count']:,} {op}{'s' if of_op['count'] != 1 else ''}" for op, of_op in some.items()]
    note = (
        "The mean time of this device's reads and of its writes from start to completion, by what was "
        "waited for: of a request on several pages, that of the page that was done last."
    )
    divided = [of_op["mean_ms"] for of_op in some.values()]
    return _bars(id, "Where the latency goes", note, labels, divided)


def _labels(runs: Sequence[Run]) -> list[str]:
    return [wrapped(run.label) for run in runs] if len(runs) > 1 else [""]


def _bars(
    id: str,
    title: str,
    note: str,
    labels: Sequence[str],
    divided: Sequence[Mapping[str, float]],
) -> Chart:
    """Bars with these labels."""
    names = dict.fromkeys(name for parts in divided for name, mean in parts.items() if mean)
    wholes = [sum(parts.values()) for parts in divided]
    traces: list[Figure] = []
    for name in names:
        values = [parts.get(name, 0.0) for parts in divided]
        shares = [100 * value / whole if whole else 0.0 for value, whole in zip(values, wholes, strict=True)]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name.replace("_", " "),
                "part": name,
                "x": values,
                "y": list(labels),
                "customdata": shares,
                "hovertemplate": "%{x:,.4~r} ms, %{customdata:.1f} %",
                "marker": {"line": {"width": 1}},
            }
        )
    longest = max(wholes)
    layout = {
        "barmode": "stack",
        "bargap": 0.25,
        # Room for the whole beside the longest bar.
        "xaxis": axis("mean time (ms)", range=[0, (1.22 if len(labels) > 1 else 1.05) * longest or 1]),
        "yaxis": {"automargin": True, "showgrid": False, "fixedrange": True, "autorange": "reversed"},
        "showlegend": True,
        "legend": {"traceorder": "normal"},
    }
    if len(labels) > 1:
        # A short bar beside a long one is told by its number.
        layout["annotations"] = [
            {
                "x": whole,
                "y": label,
                "text": f"{_text.number(whole)} ms",
                "xanchor": "left",
                "xshift": 3,
                "showarrow": False,
                "font": {"size": 12},
            }
            for label, whole in zip(labels, wholes, strict=True)
        ]
    lines = sum(label.count("<br>") + 1 for label in labels)
    return Chart(id, title, note, {"data": traces, "layout": layout}, 170 + 28 * len(labels) + 16 * lines)
