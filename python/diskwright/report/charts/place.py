"""Where requests went: distances, addresses, sizes."""

from collections.abc import Sequence
from math import log10
from typing import Any

from diskwright.report.charts._base import Chart, Figure, Run, axis, doublings, duration, named, rounded
from diskwright.report.charts.time import end_s, unit_of_time, warm_up_edge

_BLOCK_KIB = 0.5


def seek_distances(runs: Sequence[Run]) -> list[Chart]:
    """How far arms moved for an access, on an even scale and on one of doublings; none without arms."""
    arms = [
        (path, run, device["seek_cylinders"])
        for run in runs
        for path, device in run.picture["devices"].items()
        if sum(device.get("seek_cylinders", {}).get("bins", {}).get("count", ()))
    ]
    if not arms:
        return []
    paths = {path for path, _, _ in arms}
    even, growing = [], []
    for path, run, seeks in arms:
        name = named(runs, run, path if len(runs) == 1 or len(paths) > 1 else "")
        bins = seeks["even_bins"]
        width, total = bins["bin_cylinders"], sum(bins["count"])
        count = max(index for index, here in enumerate(bins["count"]) if here) + 1
        even.append(
            _bar(name, [width * (index + 0.5) for index in range(count)], bins["count"][:count], total)
            | {"width": width, "customdata": [_span(width * i, width * (i + 1)) for i in range(count)]}
            | run.look()
        )
        counts = doublings(seeks["bins"])
        growing.append(
            _bar(name, [f"{least:,}" for least in counts], list(counts.values()), total)
            | {"customdata": [_span(least, max(2 * least, 1)) for least in counts]}
            | run.look()
        )
    for trace in (*even, *growing):
        trace["hovertemplate"] = "%{customdata} cylinders: %{y:,.4~r} % of the accesses"
    share = axis("share of accesses (%)", rangemode="tozero")
    layout: Figure = {"yaxis": share, "barmode": "overlay", "showlegend": len(runs) == 1 and len(arms) > 1}
    if len(runs) > 1:
        # Bars would hide each other.
        even, growing = [_outline(trace) for trace in even], [_points(trace) for trace in growing]
        layout["hovermode"] = "closest"
    if not layout["showlegend"]:
        layout["margin"] = {"t": 8}
    distance = axis("distance (cylinders)", rangemode="tozero")
    doubled = {x: float(x.replace(",", "")) for trace in growing for x in trace["x"]}
    from_distance = axis(
        "distance, at least (cylinders)",
        type="category",
        categoryorder="array",
        categoryarray=sorted(doubled, key=doubled.__getitem__),
    )
    return [
        Chart(
            "seeks",
            "Seek distances",
            "How far the arm moves for an access, on an even scale.",
            {"data": even, "layout": layout | {"xaxis": distance}},
            330,
        ),
        Chart(
            "seek-doublings",
            "Short seeks",
            "The same distances in doublings, which show the short ones. 0 is an access without a seek.",
            {"data": growing, "layout": layout | {"xaxis": from_distance, "barmode": "group"}},
            330,
        ),
    ]


def _outline(bars: Figure) -> Figure:
    """The upper edge of bars that stand side by side from 0 on."""
    line = {key: item for key, item in bars.items() if key != "width"}
    line |= {"x": [bars["width"] * index for index in range(len(bars["x"]) + 1)]}
    line |= {key: [*bars[key], bars[key][-1]] for key in ("y", "customdata")}
    return line | {"type": "scatter", "mode": "lines", "line": {"shape": "hv", "width": 1.8}}


def _points(bars: Figure) -> Figure:
    """The tops of bars, joined."""
    return bars | {"type": "scatter", "mode": "lines+markers", "line": {"width": 1.4}, "marker": {"size": 6}}


def sizes(runs: Sequence[Run]) -> Chart | None:
    """How large requests were."""
    traces = []
    for run in runs:
        kinds = run.picture["sizes"]
        total = sum(sum(kinds[kind]["count"]) for kind in kinds)
        for kind in ("reads", "writes"):
            counts = doublings(kinds[kind])
            if not counts:
                continue
            x = [f"{least * _BLOCK_KIB:,g}" for least in counts]
            spans = [f"{least * _BLOCK_KIB:,g} to below {2 * least * _BLOCK_KIB:,g}" for least in counts]
            trace = _bar(named(runs, run, kind), x, list(counts.values()), total)
            hover = "%{customdata} KiB: %{y:,.4~r} % of the requests"
            tone = 1 if kind == "reads" else 2
            labels = {"customdata": spans, "hovertemplate": hover}
            traces.append(trace | labels | ({"tone": tone} if len(runs) == 1 else {}))
    if not traces:
        return None
    order = sorted({x for trace in traces for x in trace["x"]}, key=lambda x: float(x.replace(",", "")))
    layout = {
        "xaxis": axis(
            "size, at least (KiB)",
            type="category",
            categoryorder="array",
            categoryarray=order,
        ),
        "yaxis": axis("share of requests (%)", rangemode="tozero"),
        "barmode": "group",
        "showlegend": True,
    }
    note = "The sizes of reads and writes, in doublings."
    return Chart("sizes", "Request sizes", note, {"data": traces, "layout": layout}, 330)


def lbn_map(run: Run) -> Chart | None:
    """Where on the device and when requests were answered how fast; none where none was."""
    cells = run.picture["map"]
    if not cells["count"]:
        return None
    unit, seconds = unit_of_time(end_s(run))
    first, last = min(cells["lbn"]), max(cells["lbn"])
    rows, columns = last - first + 1, cells["bins"]
    means: list[list[float | None]] = [[None] * columns for _ in range(rows)]
    counts: list[list[int | None]] = [[None] * columns for _ in range(rows)]
    for time, lbn, count, mean in zip(
        cells["time"], cells["lbn"], cells["count"], cells["response_mean_ms"], strict=True
    ):
        means[lbn - first][time] = mean
        counts[lbn - first][time] = count
    # The edges of cells: one more than there are cells.
    x = rounded(((cells["start_s"] + cells["bin_s"] * i) / seconds for i in range(columns + 1)), 8)
    y = [cells["bin_blocks"] * (first + row) for row in range(rows + 1)]
    text = [[None if mean is None else f"{mean:.4g} ms" for mean in row] for row in means]
    hover = f"%{{x:,.6~r}} {unit}, LBN %{{y:.4~s}}: "
    latency: Figure = {
        "type": "heatmap",
        "x": x,
        "y": y,
        "hoverongaps": False,
        "z": [[None if mean is None else round(log10(max(mean, 1e-6)), 3) for mean in row] for row in means],
        "text": text,
        "customdata": counts,
        "hovertemplate": hover + "mean %{text} of %{customdata} requests<extra></extra>",
        "colorscale": "Viridis",
        "colorbar": log_bar("mean response (ms)", [mean for row in means for mean in row if mean]),
    }
    # The page fills in what it shares with the other trace.
    load: Figure = {
        "like": 0,
        "z": [[None if count is None else round(log10(count), 3) for count in row] for row in counts],
        "hovertemplate": hover + "%{customdata} requests, mean %{text}<extra></extra>",
        "colorscale": "Cividis",
        "colorbar": log_bar("requests", [count for row in counts for count in row if count]),
        "visible": False,
    }
    layout: Figure = {
        "xaxis": axis(f"simulated time ({unit})", showgrid=False, zeroline=False),
        "margin": {"t": 20},
        "yaxis": axis("LBN (512-byte blocks)", tickformat="~s", showgrid=False, zeroline=False),
    }
    layout |= warm_up_edge(run, seconds)
    note = (
        f"Every cell is {cells['bin_blocks']:,} of the device's {cells['capacity_blocks']:,} blocks for "
        f"{duration(cells['bin_s'])}; empty cells have no colour. Requests count at their first block, "
        "when they complete. The colours are logarithmic."
    )
    figure = {"data": [latency, load], "layout": layout}
    views = ("mean response time", "number of requests")
    return Chart("map", "LBN against time", note, figure, 520, wide=True, views=views)


def log_bar(title: str, values: Sequence[float]) -> Figure:
    """A colour bar of logarithms that is labelled with the values: 1, 2 and 5 in each decade."""
    low, high = log10(max(min(values), 1e-6)), log10(max(values))
    marks = [mantissa * 10.0**power for power in range(int(low) - 2, int(high) + 2) for mantissa in (1, 2, 5)]
    inside = [mark for mark in marks if low - 0.02 <= log10(mark) <= high + 0.02]
    if high - low > 2.5:
        inside = [mark for mark in inside if round(log10(mark), 9).is_integer()]
    if not inside:
        inside = [10**low]
    ticks = {"tickmode": "array", "tickvals": [log10(mark) for mark in inside]}
    return ticks | {
        "ticktext": [f"{mark:,.4g}" for mark in inside],
        "title": {"text": title, "side": "right"},
    }


def _bar(name: str, x: Sequence[Any], counts: Sequence[int], total: int) -> Figure:
    return {
        "type": "bar",
        "name": name,
        "x": list(x),
        "y": rounded((100 * count / total for count in counts), 6),
    }


def _span(low: float, beyond: float) -> str:
    """Whole numbers from one to below another."""
    return f"{low:,.0f}" if beyond - low <= 1 else f"{low:,.0f} to {beyond - 1:,.0f}"
