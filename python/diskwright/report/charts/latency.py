"""Response times and requests outstanding: over the run, by size, by operation, and of the slowest."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import Any

from diskwright.report.charts._base import Chart, Figure, Run, axis, duration, log_axis, rounded
from diskwright.report.charts._bins import between, named_bins
from diskwright.report.charts.time import end_s, unit_of_time, warm_up_edge

_BLOCK_KIB = 0.5
# Labels of rows that have room beside a map.
_LABELS = 9


def response_map(run: Run) -> Chart | None:
    """How many requests were answered how fast, by time; None where none was."""
    cells = run.picture["response_map"]
    if not cells["count"]:
        return None
    edges = between(min(cells["from_ns"]), max(cells["from_ns"]))
    counts = _grid(cells, "from_ns", "count", edges)
    unit, seconds = unit_of_time(end_s(run))
    most = max(cells["count"])
    trace: Figure = {
        "type": "heatmap",
        "x": _columns(cells, seconds),
        # The first bin begins at 0, where a logarithmic axis has no place.
        "y": rounded(max(edge, 0.5) / 1e6 for edge in edges),
        "z": [[None if count is None else round(log10(count), 3) for count in row] for row in counts],
        "customdata": [
            [f"{low / 1e6:,.4g} to {beyond / 1e6:,.4g} ms"] * cells["bins"] for low, beyond in pairwise(edges)
        ],
        "text": [[None if count is None else f"{count:,}" for count in row] for row in counts],
        "hovertemplate": f"%{{x:,.6~r}} {unit}, %{{customdata}}: %{{text}} requests<extra></extra>",
        "hoverongaps": False,
        "colorscale": "Viridis",
        "zmin": 0,
        "zmax": max(log10(most), 0.5),
        "colorbar": _counts_bar(most),
    }
    note = (
        f"Each cell is {duration(cells['bin_s'])} by a quarter of a doubling of the response time. Its "
        "colour, logarithmic, is the number of requests that were completed then. Two bands are two kinds of "
        "service, such as hits and misses."
    )
    times = log_axis("response (ms, logarithmic)", (edge / 1e6 for edge in edges[1:]), showgrid=False)
    return _map(run, "response-map", "Response time over the run", note, trace, times)


def outstanding_map(run: Run) -> Chart | None:
    """For which share of the time how many requests were outstanding, by time; None where none was."""
    cells = run.picture["outstanding_map"]
    if not any(cells["from"]):
        return None
    edges = between(0, max(cells["from"]))
    shares = _grid(cells, "from", "share", edges)
    names = named_bins(edges)
    unit, seconds = unit_of_time(end_s(run))
    trace: Figure = {
        "type": "heatmap",
        "x": _columns(cells, seconds),
        "y": list(range(len(names))),
        "z": [[None if share is None else round(100 * share, 3) for share in row] for row in shares],
        "customdata": [[name] * cells["bins"] for name in names],
        "hovertemplate": f"%{{x:,.6~r}} {unit}, %{{customdata}} outstanding: "
        "%{z:,.3~r} % of the time<extra></extra>",
        "hoverongaps": False,
        "colorscale": "Viridis",
        "zmin": 0,
        "zmax": 100,
        "colorbar": {"title": {"text": "share of the time (%)", "side": "right"}},
    }
    note = (
        f"Each cell is {duration(cells['bin_s'])} by a number of requests that have arrived and are not "
        "complete. Its colour is the share of that time for which as many were. From 8 on a row holds "
        "several numbers, four rows for each doubling."
    )
    return _map(
        run, "outstanding-map", "Requests outstanding over the run", note, trace, _rows(names, "outstanding")
    )


def depth(run: Run) -> Chart | None:
    """For which share of the measured time how many requests were outstanding; None without such a time."""
    known = dict(zip(run.picture["outstanding"]["from"], run.picture["outstanding"]["s"], strict=True))
    whole = sum(known.values())
    if not whole:
        return None
    edges = between(min(known), max(known))
    names = named_bins(edges)
    # One bar alone would be as wide as the chart.
    shares = rounded(100 * known.get(least, 0.0) / whole for least in edges[:-1])
    trace: Figure = {
        "type": "bar",
        "tone": 0,
        "x": names,
        "y": shares,
        "width": [min(0.8, 0.12 * len(names))] * len(names),
        "hovertemplate": "%{x} outstanding: %{y:,.4~r} % of the time<extra></extra>",
    }
    mean = sum(least * s for least, s in known.items()) / whole if max(known) < 8 else None
    note = (
        "The share of the measured time for which as many requests had arrived and were not complete, in the "
        "host or in the device."
    )
    if mean is not None:
        note += f" The mean is {mean:,.3g}."
    layout: Figure = {
        "xaxis": axis("requests outstanding", type="category"),
        "yaxis": axis("share of the time (%)", rangemode="tozero"),
        "showlegend": False,
        "margin": {"t": 8},
    }
    return Chart("depth", "Queue depth", note, {"data": [trace], "layout": layout}, 330)


def by_size(run: Run) -> Chart | None:
    """Response times of reads and writes of each size; None where all are of one."""
    kinds = run.picture["by_size"]
    sizes = sorted({blocks for kind in kinds.values() for blocks in kind["blocks"]})
    if len(sizes) < 2:
        return None
    traces: list[Figure] = []
    for tone, kind in enumerate(("reads", "writes"), start=1):
        of_kind = kinds[kind]
        labels = [f"{blocks * _BLOCK_KIB:,g}" for blocks in of_kind["blocks"]]
        told = [
            f"{blocks * _BLOCK_KIB:,g} to below {2 * blocks * _BLOCK_KIB:,g} KiB, {count:,} {kind}"
            for blocks, count in zip(of_kind["blocks"], of_kind["count"], strict=True)
        ]
        for what, key, dash, symbol in (
            ("median", "p50_ms", "solid", "circle"),
            ("p99", "p99_ms", "dash", "diamond"),
        ):
            if labels:
                traces.append(
                    {
                        "type": "scatter",
                        "mode": "lines+markers",
                        "name": f"{kind}, {what}",
                        "tone": tone,
                        "line": {"dash": dash},
                        "marker": {"symbol": symbol, "size": 7},
                        "x": labels,
                        "y": rounded(of_kind[key]),
                        "customdata": told,
                        "hovertemplate": "%{y:,.4~r} ms, %{customdata}",
                    }
                )
    layout: Figure = {
        "xaxis": axis(
            "size, at least (KiB)",
            type="category",
            categoryorder="array",
            categoryarray=[f"{blocks * _BLOCK_KIB:,g}" for blocks in sizes],
        ),
        "yaxis": log_axis("response (ms, logarithmic)", (y for trace in traces for y in trace["y"])),
        "hovermode": "closest",
        "showlegend": True,
    }
    note = "Response times of measured requests by their size, in doublings; within 3.2 %."
    return Chart("by-size", "Latency by size", note, {"data": traces, "layout": layout}, 360)


def by_operation(run: Run) -> Chart | None:
    """Response times of each operation; None where there is one only."""
    ops: Mapping[str, Any] = run.result["by_op"]
    if len(ops) < 2:
        return None
    names = [f"{name} ({of_op['count']:,})" for name, of_op in ops.items()]
    traces: list[Figure] = []
    for tone, (what, key, symbol) in enumerate(
        (
            ("median", "p50", "circle"),
            ("p90", "p90", "square"),
            ("p99", "p99", "diamond"),
            ("slowest", "max", "x"),
        )
    ):
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": what,
                "tone": tone,
                "marker": {"symbol": symbol, "size": 11},
                # A logarithmic axis has no place for 0.
                "x": rounded(of_op["response_ms"][key] or None for of_op in ops.values()),
                "y": names,
                "hovertemplate": "%{x:,.4~r} ms, %{y}",
            }
        )
    layout: Figure = {
        "xaxis": log_axis("response (ms, logarithmic)", (x for trace in traces for x in trace["x"])),
        "yaxis": axis("operation", autorange="reversed", fixedrange=True, type="category"),
        "hovermode": "closest",
        "showlegend": True,
    }
    note = "Response times of measured requests by operation, with the number of requests."
    height = 190 + 46 * len(names)
    return Chart("by-op", "Latency by operation", note, {"data": traces, "layout": layout}, height)


def slowest(run: Run) -> Chart | None:
    """What the slowest requests waited for, the slowest on top; None where nothing was measured."""
    found = run.picture["slowest"]
    if not found:
        return None
    rows = [waits(request) for request in found]
    names = [f"{request['op']} {request['sequence']:,}" for request in found]
    parts = dict.fromkeys(name for row in rows for name, ns in row.items() if ns)
    traces: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": part.replace("_", " "),
            "part": part,
            "x": rounded(row.get(part, 0) / 1e6 for row in rows),
            "y": names,
            "hovertemplate": "%{x:,.5~r} ms, %{y}",
            "marker": {"line": {"width": 0.5}},
        }
        for part in parts
    ]
    layout: Figure = {
        "barmode": "stack",
        "bargap": 0.2,
        "xaxis": axis("time (ms)", rangemode="tozero"),
        "yaxis": axis(
            "request",
            showgrid=False,
            fixedrange=True,
            autorange="reversed",
            type="category",
            tickmode="array",
            tickvals=names,
        ),
        "showlegend": True,
        "legend": {"traceorder": "normal"},
    }
    note = (
        "What each waited for, from its arrival to its completion. Numbers are those of the log of requests: "
        "the order of arrival."
    )
    figure = {"data": traces, "layout": layout}
    return Chart("slowest", "The slowest requests", note, figure, 150 + 22 * len(rows), wide=True)


def waits(request: Mapping[str, Any]) -> dict[str, int]:
    """The response time of a request of the picture's list, divided: ns by what was waited for."""
    return {
        "in the host": request["acceptance_ns"] - request["arrival_ns"],
        "in the drive's queue": request["start_ns"] - request["acceptance_ns"],
        **request["parts_ns"],
    }


def _grid(cells: Mapping[str, Any], key: str, value: str, edges: Sequence[int]) -> list[list[Any]]:
    """The values by rows, the least first, and columns; None where a cell has none."""
    row_of = {least: row for row, least in enumerate(edges[:-1])}
    grid: list[list[Any]] = [[None] * cells["bins"] for _ in row_of]
    for time, least, item in zip(cells["time"], cells[key], cells[value], strict=True):
        grid[row_of[least]][time] = item
    return grid


def _columns(cells: Mapping[str, Any], seconds: float) -> list[float | None]:
    """The edges of the columns: one more than there are columns."""
    return rounded(
        ((cells["start_s"] + cells["bin_s"] * index) / seconds for index in range(cells["bins"] + 1)), 8
    )


def _rows(names: Sequence[str], title: str) -> Figure:
    """An axis of rows of which as many are named as there is room for."""
    step = -(-len(names) // _LABELS)
    marks = list(range(0, len(names), step))
    return axis(
        title,
        tickmode="array",
        tickvals=marks,
        ticktext=[names[mark] for mark in marks],
        range=[-0.5, len(names) - 0.5],
        showgrid=False,
        zeroline=False,
    )


def _counts_bar(most: int) -> Figure:
    """A colour bar of logarithms that is labelled with counts."""
    marks = [10**power for power in range(len(str(most)))]
    if len(marks) < 3:
        marks = [mark for mark in (1, 2, 5, 10, 20, 50) if mark <= max(most, 3)]
    return {
        "tickmode": "array",
        "tickvals": [log10(mark) for mark in marks],
        "ticktext": [f"{mark:,}" for mark in marks],
        "title": {"text": "requests", "side": "right"},
    }


def _map(run: Run, id: str, title: str, note: str, trace: Figure, rows: Figure) -> Chart:
    """A map whose columns are times of the run."""
    unit, seconds = unit_of_time(end_s(run))
    layout: Figure = {
        "xaxis": axis(
            f"simulated time ({unit})",
            showgrid=False,
            zeroline=False,
            range=[run.picture["load"]["start_s"] / seconds, end_s(run) / seconds],
        ),
        "yaxis": rows,
        "margin": {"t": 20},
    }
    layout |= warm_up_edge(run, seconds)
    return Chart(id, title, note, {"data": [trace], "layout": layout}, 340, wide=True)
