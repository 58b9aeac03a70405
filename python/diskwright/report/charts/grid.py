"""A quantity over the values of varied keys: lines along one of them, and a map of two."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diskwright import _compared, _text
from diskwright.report.charts._base import Chart, Figure, axis, rounded

# Lines that a chart can tell apart: eight colours by four dashes, with room for their names.
MOST_LINES = 24
_DASHES = ("solid", "dash", "dot", "dashdot")
_SYMBOLS = ("circle", "diamond", "square", "x")
_COLOURS = 8
# Values that grow by this factor or more have a logarithmic axis.
_WIDE = 10
# How far intervals may reach beyond the highest point, as a factor of it.
_ROOM = 1.5
# Cells of a map that have room for their numbers.
_NUMBERED = 64
# The length of a label beside a map, letters.
_LABEL = 22


@dataclass(frozen=True)
class Point:
    """The values of the varied keys, and a quantity's mean there with its interval, where they are known."""

    values: Sequence[Any]
    mean: float | None
    ci95: Sequence[float] | None


@dataclass(frozen=True)
class Grid:
    """Points with the keys that are varied among them."""

    keys: Sequence[str]
    points: Sequence[Point]

    def values(self, place: int) -> list[Any]:
        """The different values of a key, in their order."""
        found: list[Any] = []
        for point in self.points:
            if point.values[place] not in found:
                found.append(point.values[place])
        return found

    def along(self) -> int:
        """The key that lines go along: of those with numbers the one with the most, or else the last."""
        numeric = [place for place in range(len(self.keys)) if _are_numbers(self.values(place))]
        if not numeric:
            return len(self.keys) - 1
        return max(numeric, key=lambda place: (len(self.values(place)), place))


def charts(id: str, title: str, grid: Grid) -> list[Chart]:
    """Lines, and of two keys a map: of a quantity that has this title, with its unit."""
    if not grid.keys or not any(point.mean is not None for point in grid.points):
        return []
    made = [_lines(id, title, grid)]
    if len(grid.keys) == 2 and min(len(grid.values(0)), len(grid.values(1))) > 1:
        made.append(_map(f"{id}-map", title, grid))
    return made


def _lines(id: str, title: str, grid: Grid) -> Chart:
    along = grid.along()
    values = grid.values(along)
    rest = [place for place in range(len(grid.keys)) if place != along]
    groups: dict[str, list[Point]] = {}
    for point in grid.points:
        name = ", ".join(_compared.brief(point.values[place]) for place in rest)
        groups.setdefault(name, []).append(point)
    are_numbers = _are_numbers(values)
    traces: list[Figure] = []
    for order, (name, points) in enumerate(list(groups.items())[:MOST_LINES]):
        if are_numbers:
            points = sorted(points, key=lambda point: point.values[along])
        x = [point.values[along] if are_numbers else _label(point.values[along]) for point in points]
        margins = [0.0 if point.ci95 is None else (point.ci95[1] - point.ci95[0]) / 2 for point in points]
        row = order // _COLOURS % len(_DASHES)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name or title,
                "tone": order % _COLOURS,
                "line": {"dash": _DASHES[row], "width": 1.8},
                "marker": {"symbol": _SYMBOLS[row], "size": 7},
                "x": x,
                "y": rounded(point.mean for point in points),
                "hovertemplate": "%{x}: %{y:,.4~r}",
                "connectgaps": False,
            }
            | ({"error_y": {"array": rounded(margins), "width": 3, "thickness": 1.2}} if any(margins) else {})
        )
    layout: Figure = {
        "xaxis": _x_axis(grid.keys[along], values),
        "yaxis": _y_axis(title, grid.points),
        "hovermode": "closest",
        "showlegend": len(groups) > 1,
    }
    if len(groups) == 1:
        layout["margin"] = {"t": 12}
    note = ""
    if rest:
        note = f"Lines: {', '.join(grid.keys[place] for place in rest)}."
    if len(groups) > MOST_LINES:
        note += f" The first {MOST_LINES} of {len(groups)} are drawn."
    if any("error_y" in trace for trace in traces):
        note += " Bars are 95 % confidence over the seeds."
    letters = sum(len(trace["name"]) + 8 for trace in traces) if len(groups) > 1 else 0
    height = 340 + 20 * (letters // 60)
    return Chart(id, title, note.strip(), {"data": traces, "layout": layout}, height)


def _map(id: str, title: str, grid: Grid) -> Chart:
    """Along x the key that lines go along."""
    across = grid.along()
    down = 1 - across
    columns, rows = grid.values(across), grid.values(down)
    z: list[list[float | None]] = [[None] * len(columns) for _ in rows]
    for point in grid.points:
        z[rows.index(point.values[down])][columns.index(point.values[across])] = point.mean
    shown = [[_text.number(mean) if mean is not None else "" for mean in row] for row in z]
    trace: Figure = {
        "type": "heatmap",
        "x": [_label(value) for value in columns],
        "y": [_label(value) for value in rows],
        "z": [rounded(row) for row in z],
        "text": shown,
        "hovertemplate": f"{grid.keys[across]} %{{x}}, {grid.keys[down]} %{{y}}: %{{text}}<extra></extra>",
        "hoverongaps": False,
        "colorscale": "Viridis",
        "colorbar": {"title": {"text": title, "side": "right"}},
    }
    if len(columns) * len(rows) <= _NUMBERED and len(columns) <= 10:
        trace["texttemplate"] = "%{text}"
        # Neither black nor white alone can be read on the middle of the scale.
        trace["textfont"] = {"shadow": "auto"}
    layout: Figure = {
        "xaxis": axis(grid.keys[across], type="category", showgrid=False, zeroline=False),
        "yaxis": axis(grid.keys[down], type="category", showgrid=False, zeroline=False, autorange="reversed"),
        "margin": {"t": 12},
    }
    height = 200 + max(34 * len(rows), 140)
    return Chart(id, f"{title}, as a map", "", {"data": [trace], "layout": layout}, height)


def _x_axis(key: str, values: Sequence[Any]) -> Figure:
    if not _are_numbers(values):
        names = [_label(value) for value in values]
        return axis(key, type="category", categoryorder="array", categoryarray=names)
    ticks: Figure = {"tickmode": "array", "tickvals": sorted(values)}
    ticks["ticktext"] = [f"{value:,.6g}" for value in sorted(values)]
    if min(values) > 0 and max(values) >= _WIDE * min(values):
        return axis(f"{key} (logarithmic)", type="log", **ticks)
    return axis(key, **(ticks if len(values) <= 8 else {}))


def _y_axis(title: str, points: Sequence[Point]) -> Figure:
    """From 0 on where nothing is below it, whatever intervals say, with room above the lines."""
    means = [point.mean for point in points if point.mean is not None]
    if min(means) < 0:
        return axis(title)
    ends = [point.ci95[1] for point in points if point.ci95 is not None]
    top = min(max([*means, *ends]), _ROOM * max(means))
    return axis(title, range=[0, 1.06 * top or 1])


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _label(value: Any) -> str:
    """A value on an axis, cut where it is long."""
    text = _compared.brief(value)
    return text if len(text) <= _LABEL else f"{text[: _LABEL - 1]}…"
