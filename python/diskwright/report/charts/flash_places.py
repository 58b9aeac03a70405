"""Flash by its places: how busy each channel and die was, how its blocks have worn."""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright.report.charts._base import Chart, Figure, Run, axis, duration, rounded
from diskwright.report.charts.flash import CAUSES, KINDS, several
from diskwright.report.charts.time import end_s, unit_of_time

# Rows of a map beside which all have their names, and the height of a row at most, px.
_NAMED = 24
_ROW = 16


def _place(shape: Mapping[str, Any], plane: int, level: str) -> str:
    """Where a plane is, as far down as a level; levels of which there is but one are left out."""
    words = []
    for name, count in (("plane", "planes"), ("die", "dies"), ("package", "packages")):
        plane, number = divmod(plane, shape[count])
        if shape[count] > 1:
            words.append(f"{name} {number}")
    words.append(f"channel {plane}")
    words.reverse()
    return ", ".join(words[: _depth(shape, level)])


def _depth(shape: Mapping[str, Any], level: str) -> int:
    """How many words name what is on a level."""
    counts = {"package": ("packages",), "die": ("packages", "dies"), "plane": ("packages", "dies", "planes")}
    return 1 + [shape[count] > 1 for count in counts[level]].count(True)


def _named_rows(shape: Mapping[str, Any], count: int, of_row: int, level: str) -> list[str]:
    """The names of rows, each with `of_row` neighbours on a level."""
    planes = shape["channels"] * shape["packages"] * shape["dies"] * shape["planes"]
    all = {"plane": planes, "package": planes // shape["dies"] // shape["planes"]}.get(
        level, planes // shape["planes"]
    )
    each = planes // all
    names = []
    for row in range(count):
        first, last = row * of_row, min((row + 1) * of_row, all) - 1
        name = _place(shape, first * each, level)
        names.append(name if first == last else f"{name} to {_place(shape, last * each, level)}")
    return names


def _rows_axis(names: Sequence[str], marks: Sequence[int]) -> Figure:
    """An axis of named rows, the first one above: all are labelled, or, of many, some."""
    settings = axis("", type="category", autorange="reversed", showgrid=False)
    # Room between the names and what they name.
    settings |= {"ticks": "outside", "ticklen": 5, "tickcolor": "rgba(0, 0, 0, 0)"}
    if len(names) > _NAMED:
        every = -(-len(marks) // _NAMED)
        some = [names[row] for row in marks[::every]]
        settings |= {"tickmode": "array", "tickvals": some, "ticktext": [text.split(",")[0] for text in some]}
    return settings


def _channel_marks(shape: Mapping[str, Any], count: int) -> list[int]:
    """The first row of each channel, where a channel has rows of its own."""
    return list(range(0, count, max(count // shape["channels"], 1)))


def shares(id: str, run: Run, flash: Mapping[str, Any]) -> list[Chart]:
    """How long each channel, and each worker, was busy with what, as shares of the time that was measured."""
    whole, shape, measured = run.result["measured_s"], flash["shape"], flash["measured"]
    if not whole:
        return []
    worker = shape["worker"]
    channels = [f"channel {number}" for number in range(shape["channels"])]
    by_cause = [(f"for {cause}", part, measured["channels"][cause]) for cause, part in CAUSES.items()]
    by_kind = [(name, part, measured["workers"][kind]) for kind, (name, part) in KINDS.items()]
    of_row, count = measured["workers_of_row"], len(measured["workers"]["read"])
    names = _named_rows(shape, count, of_row, worker)
    after = " since the warm-up" if run.picture["measured_from_s"] else ""
    joined = f" A bar is the mean of {of_row} {worker}s." if of_row > 1 else ""
    return [
        _bars(
            f"{id}-channels",
            "How busy each channel was",
            f"Shares of the time{after} in which it carried commands and data, by what for.",
            (channels, list(range(len(channels)))),
            by_cause,
            whole,
        ),
        _bars(
            f"{id}-dies",
            f"How busy each {worker} was",
            f"Shares of the time{after} by what it did.{joined}",
            (names, _channel_marks(shape, count)),
            by_kind,
            whole,
            wide=True,
        ),
    ]


def _bars(
    id: str,
    title: str,
    note: str,
    rows: tuple[Sequence[str], Sequence[int]],
    kinds: Sequence[tuple[str, str, Sequence[float]]],
    whole: float,
    wide: bool = False,
) -> Chart:
    names, marks = rows
    traces: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "part": part,
            "x": rounded(100 * value / whole for value in values),
            "y": list(names),
            "hovertemplate": "%{y}: %{x:,.4~r} %",
            "marker": {"line": {"width": 0}},
        }
        for name, part, values in kinds
        if any(values)
    ]
    busiest = max((sum(each) for each in zip(*(trace["x"] for trace in traces), strict=True)), default=0.0)
    layout: Figure = {
        "barmode": "stack",
        "bargap": 0.2,
        "xaxis": axis("share of the time (%)", range=[0, min(1.1 * busiest, 103) or 1]),
        "yaxis": _rows_axis(names, marks),
        "showlegend": True,
        "legend": {"traceorder": "normal"},
    }
    height = 170 + max(min(_ROW * len(names), 480), 90)
    return Chart(id, title, note, {"data": traces, "layout": layout}, height, wide=wide)


def busy_map(id: str, run: Run, flash: Mapping[str, Any]) -> Chart:
    """How busy each worker, and each channel, was by time."""
    shape, busy = flash["shape"], flash["busy"]
    unit, seconds = unit_of_time(end_s(run))
    worker, of_row = shape["worker"], busy["workers_of_row"]
    columns = len(busy["workers"][0])
    edges = [busy["start_s"] + busy["bin_s"] * index for index in range(columns)]
    edges.append(edges[-1] + busy["last_bin_s"] if edges else 0.0)
    names = {
        "workers": _named_rows(shape, len(busy["workers"]), of_row, worker),
        "channels": [f"channel {number}" for number in range(shape["channels"])],
    }
    traces: list[Figure] = []
    for kind, rows in names.items():
        trace: Figure = {
            "type": "heatmap",
            "x": rounded((at / seconds for at in edges), 8),
            "y": rows,
            "z": [rounded((100 * share for share in row), 3) for row in busy[kind]],
            "zmin": 0,
            "zmax": 100,
            "hovertemplate": f"%{{y}}, %{{x:,.6~r}} {unit}: busy %{{z:.3~r}} %<extra></extra>",
            "colorscale": "Viridis",
            "colorbar": {"title": {"text": "busy (%)", "side": "right"}},
            "yaxis": "y" if kind == "workers" else "y2",
        }
        traces.append(trace | ({} if kind == "workers" else {"visible": False}))
    count = len(busy["workers"])
    layout: Figure = {
        "margin": {"t": 20},
        "xaxis": axis(f"simulated time ({unit})", showgrid=False, zeroline=False),
        "yaxis": _rows_axis(names["workers"], _channel_marks(shape, count)),
        "yaxis2": _rows_axis(names["channels"], list(range(shape["channels"]))) | {"overlaying": "y"},
    }
    joined = f" A row is the mean of {of_row} {worker}s." if of_row > 1 else ""
    note = f"The share of the time that each was busy, in bins of {duration(busy['bin_s'])}.{joined}"
    height = 110 + max(min(_ROW * count, 480), 160)
    title = f"Channels and {worker}s, each over time"
    views = (f"{worker}s", "channels")
    return Chart(id, title, note, {"data": traces, "layout": layout}, height, wide=True, views=views)


def wear(id: str, flash: Mapping[str, Any]) -> Chart | None:
    """How often blocks have been erased, by plane and place in it; None where none was."""
    shape, map = flash["shape"], flash["wear"]
    most = [value for row in map["most"] for value in row if value is not None]
    if not any(most):
        return None
    of_row, of_column = map["planes_of_row"], map["blocks_of_column"]
    names = _named_rows(shape, len(map["mean"]), of_row, "plane")
    edges = [of_column * column for column in range(len(map["mean"][0]))] + [shape["blocks"]]
    traces: list[Figure] = []
    of_one = of_row * of_column == 1
    kinds = {"most": "erases"} if of_one else {"mean": "mean erases", "most": "most erases"}
    for kind, title in kinds.items():
        values = [value for row in map[kind] for value in row if value is not None]
        low, high = min(values), max(values)
        trace: Figure = {
            "type": "heatmap",
            "x": edges,
            "y": names,
            "z": [rounded(row, 4) for row in map[kind]],
            "zmin": low if high > low else 0,
            "zmax": high,
            "hoverongaps": False,
            "hovertemplate": "%{y}, block %{x:,.0f}: %{z:,.4~r} " + title + "<extra></extra>",
            "colorscale": "Viridis",
            "colorbar": {"title": {"text": title, "side": "right"}, "tickformat": ",~r"},
        }
        if kind == "most" and high - low < _NAMED:
            trace["colorbar"]["dtick"] = max(1, round((high - low) / 6))
        traces.append(trace | ({"visible": False} if traces else {}))
    layout: Figure = {
        "margin": {"t": 20},
        "xaxis": axis("block of the plane", showgrid=False, zeroline=False),
        "yaxis": _rows_axis(names, _channel_marks(shape, len(names))),
    }
    cell = f"{several(of_column, 'block')} of {several(of_row, 'plane')}"
    note = (
        f"A cell is {cell}. Erases of the whole life of the drive, those before the run among them. Blocks "
        "that hold no data, because they are bad or reserved, have no colour."
    )
    height = 110 + max(min(_ROW * len(names), 480), 160)
    views = () if of_one else ("mean", "most")
    return Chart(id, "Wear", note, {"data": traces, "layout": layout}, height, wide=True, views=views)
