"""What a trace asks for: when, how much, how far apart, and where."""

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

from diskwright.report.charts._base import Chart, Figure, axis, doublings, duration, rounded
from diskwright.report.charts._bins import between
from diskwright.report.charts.place import log_bar
from diskwright.report.charts.time import panelled, rates, steps, told, unit_of_time

_BLOCK_KIB = 0.5
_MB = 512e-6


def arrivals(picture: Mapping[str, Any]) -> Chart | None:
    """Requests and data by the time of their arrival; None for an empty trace."""
    over = picture["arrivals"]
    if not over["reads"]:
        return None
    _, seconds = unit_of_time(_end_s(over))
    counted = (("reads", 0), ("writes", 1), ("others", 2))
    names = {"others": "flushes and trims"}
    of_requests = [
        _steps(over, rates(over, over[key]), seconds) | {"tone": tone} | told(names.get(key, key), "/s")
        for key, tone in counted
        if any(over[key])
    ]
    of_data = [
        _steps(over, rates(over, [blocks * _MB for blocks in over[f"{key}_blocks"]]), seconds)
        | {"tone": tone}
        | told(f"{key}s", " MB/s")
        for key, tone in (("read", 0), ("write", 1))
        if any(over[f"{key}_blocks"])
    ]
    panels = [
        (of_requests, axis("requests/s", rangemode="tozero")),
        (of_data, axis("MB/s", rangemode="tozero")),
    ]
    panels = [each for each in panels if each[0]]
    data, layout = panelled(panels, (over["start_s"], _end_s(over)))
    layout["xaxis"]["title"]["text"] = layout["xaxis"]["title"]["text"].replace("simulated", "recorded")
    note = f"Requests and data that arrive, in bins of {duration(over['bin_s'])}."
    figure = {"data": data, "layout": layout}
    return Chart("arrivals", "Arrivals over time", note, figure, 200 * len(panels) + 70, wide=True)


def _end_s(over: Mapping[str, Any]) -> float:
    """When the last bin ends, so that a trace of one instant has a width, too."""
    return float(over["start_s"] + over["bin_s"] * max(len(over["reads"]), 1))


def _steps(over: Mapping[str, Any], values: Sequence[float | None], seconds: float) -> Figure:
    return steps({**over, "values": values, "last_bin_s": over["bin_s"]}, "values", seconds)


def gaps(picture: Mapping[str, Any]) -> Chart | None:
    """The times between arrivals; None where there is none."""
    counts = dict(zip(picture["gaps_ns"]["from"], picture["gaps_ns"]["count"], strict=True))
    total = sum(counts.values())
    if not total:
        return None
    at_once = counts.pop(0, 0)
    note = "The share of gaps between an arrival and the next, in quarters of doublings."
    if at_once:
        share = f"{100 * at_once / total:,.3g} %"
        note += f" {share} of the arrivals came at the same instant as the one before; they are not drawn."
    if not counts:
        return None
    edges = between(min(counts), max(counts))
    ms = [edge / 1e6 for edge in edges]
    trace: Figure = {
        "type": "scatter",
        "mode": "lines",
        "tone": 0,
        "fill": "tozeroy",
        "line": {"shape": "hv", "width": 1.5},
        "x": rounded(ms),
        "y": rounded([*(100 * counts.get(edge, 0) / total for edge in edges[:-1]), 0.0]),
        "hovertemplate": "from %{x:,.4~r} ms: %{y:,.3~r} % of the gaps<extra></extra>",
    }
    decades = log10(ms[-1] / ms[0])
    layout: Figure = {
        "xaxis": axis(
            "time to the next arrival (ms, logarithmic)",
            type="log",
            tickformat=",~g",
            nticks=max(int(decades), 3) if decades > 3 else 6,
        ),
        "yaxis": axis("share of arrivals (%)", rangemode="tozero"),
        "showlegend": False,
        "margin": {"t": 8},
    }
    return Chart("gaps", "Gaps between arrivals", note, {"data": [trace], "layout": layout}, 330)


def trace_sizes(picture: Mapping[str, Any]) -> Chart | None:
    """How large reads and writes are; None without any."""
    kinds = picture["sizes"]
    total = sum(sum(kinds[kind]["count"]) for kind in kinds)
    if not total:
        return None
    return _doubled(
        "sizes",
        "Request sizes",
        "The sizes of reads and writes, in doublings.",
        [(kind, tone, doublings(kinds[kind])) for tone, kind in enumerate(("reads", "writes"))],
        ("size, at least (KiB)", _BLOCK_KIB, "KiB", "requests"),
    )


def distances(picture: Mapping[str, Any]) -> Chart | None:
    """How far requests begin from the end of the one before; None without any."""
    kinds = picture["distances"]
    if not any(sum(kinds[kind]["count"]) for kind in kinds):
        return None
    return _doubled(
        "distances",
        "Distances",
        "Blocks from the end of a request to the start of the next one of its device, in doublings: 0 "
        "forward is a sequential request.",
        [(kind, tone, doublings(kinds[kind])) for tone, kind in ((2, "forward"), (3, "backward"))],
        ("distance, at least (blocks)", 1, "blocks", "requests"),
    )


def _short(number: float) -> str:
    """A power of two in a few letters, such as 512 or 16 Ki."""
    for power, prefix in ((40, "Ti"), (30, "Gi"), (20, "Mi"), (13, "Ki")):
        if number >= 1 << power:
            return f"{number / (1 << power - power % 10):,g} {prefix}"
    return f"{number:,g}"


def _doubled(
    id: str,
    title: str,
    note: str,
    kinds: Sequence[tuple[str, int, Mapping[int, int]]],
    of: tuple[str, float, str, str],
) -> Chart:
    """Bars by doublings."""
    label, scale, unit, things = of
    total = sum(sum(counts.values()) for _, _, counts in kinds)
    traces: list[Figure] = []
    for name, tone, counts in kinds:
        if not counts:
            continue
        spans = [
            f"{least * scale:,.12g} to below {2 * least * scale:,.12g} {unit}" if least else f"0 {unit}"
            for least in counts
        ]
        traces.append(
            {
                "type": "bar",
                "name": name,
                "tone": tone,
                "x": [_short(least * scale) for least in counts],
                "y": rounded(100 * count / total for count in counts.values()),
                "customdata": spans,
                "hovertemplate": f"%{{customdata}}: %{{y:,.3~r}} % of the {things}",
            }
        )
    starts = sorted({least for _, _, counts in kinds for least in counts})
    layout: Figure = {
        "xaxis": axis(
            label,
            type="category",
            categoryorder="array",
            categoryarray=[_short(least * scale) for least in starts],
        ),
        "yaxis": axis(f"share of {things} (%)", rangemode="tozero"),
        "barmode": "group",
        "showlegend": True,
    }
    return Chart(id, title, note, {"data": traces, "layout": layout}, 330)


def places(picture: Mapping[str, Any], devices: int) -> Chart | None:
    """Where on the device requests begin, by time; None without any."""
    cells = picture["map"]
    if not cells["count"]:
        return None
    unit, seconds = unit_of_time(cells["start_s"] + cells["bin_s"] * cells["bins"])
    first, last = min(cells["lbn"]), max(cells["lbn"])
    counts: list[list[int | None]] = [[None] * cells["bins"] for _ in range(last - first + 1)]
    for time, lbn, count in zip(cells["time"], cells["lbn"], cells["count"], strict=True):
        counts[lbn - first][time] = count
    trace: Figure = {
        "type": "heatmap",
        "x": rounded(
            ((cells["start_s"] + cells["bin_s"] * index) / seconds for index in range(cells["bins"] + 1)), 8
        ),
        "y": [cells["bin_blocks"] * (first + row) for row in range(len(counts) + 1)],
        "z": [[None if count is None else round(log10(count), 3) for count in row] for row in counts],
        "customdata": counts,
        "hoverongaps": False,
        "hovertemplate": f"%{{x:,.6~r}} {unit}, LBN %{{y:.4~s}}: %{{customdata}} requests<extra></extra>",
        "colorscale": "Viridis",
        "zmin": 0,
        "zmax": max(log10(max(cells["count"])), 0.5),
        "colorbar": log_bar("requests", cells["count"]),
    }
    layout: Figure = {
        "xaxis": axis(f"recorded time ({unit})", showgrid=False, zeroline=False),
        "yaxis": axis("LBN (512-byte blocks)", tickformat="~s", showgrid=False, zeroline=False),
        "margin": {"t": 20},
    }
    note = (
        f"Every cell is {cells['bin_blocks']:,} blocks for {duration(cells['bin_s'])}; empty cells have no "
        "colour. Requests count at their first block. The colours are logarithmic."
    )
    if devices > 1:
        note += f" The {devices} devices of the trace lie over each other; choose one of them with --device."
    figure = {"data": [trace], "layout": layout}
    return Chart("places", "LBN against time", note, figure, 480, wide=True)
