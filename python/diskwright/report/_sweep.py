"""The page of a sweep."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from diskwright import _compared, _engine, _text
from diskwright.report._facts import facts, spec
from diskwright.report._html import rendered
from diskwright.report.charts.grid import Grid, Point, charts
from diskwright.sweep import _swept
from diskwright.sweep._swept import Swept

# Points in the page's table; the files of --out and --json have all.
_MOST_ROWS = 1_000
# Quantities that are drawn.
_MOST_DRAWN = 12
# Those that are shown where nothing else is asked for.
_NAMES = {"response_ms.mean": "response mean, ms", "response_ms.p99": "response p99, ms", "iops": "IOPS"}


def page(found: Swept, *, title: str | None = None) -> str:
    """The page of a sweep, as HTML: everything that it needs is in it."""
    data = found.to_dict()
    names = {name: label for table in _swept.tables(data) for name, label in _full(table).items()}
    points = _points(data, list(names))
    drawn = [
        chart
        for index, (name, label) in enumerate(list(names.items())[:_MOST_DRAWN])
        for chart in charts(f"quantity-{index}", label, _grid(data["varied"], points, name))
    ]
    first = data["points"][0]["result"]["spec"]
    subject = _text.subject(first)
    count = len(points)
    rows = [
        ("Varied", ", ".join(data["varied"]) or "nothing"),
        ("Points", f"{count:,} with {_swept.repeated(data['seeds'])}"),
        ("Runs", f"{data['ran']:,} run now, {data['reused']:,} from the store"),
        *((name, text) for name, text in facts(first) if text and name != "Seed"),
    ]
    context = {
        "title": title or subject,
        "subject": subject,
        "facts": rows,
        "points": count,
        "varied": data["varied"],
        "columns": [
            part
            for label in names.values()
            for part in ((label, "±") if len(data["seeds"]) > 1 else (label,))
        ],
        "rows": [_row(point, list(names), len(data["seeds"]) > 1) for point in points[:_MOST_ROWS]],
        "left_out": max(count - _MOST_ROWS, 0),
        "quantities_left_out": list(names.values())[_MOST_DRAWN:],
        "repeated": len(data["seeds"]) > 1,
        "spec": spec(first),
        "ids": [chart.id for chart in drawn],
    }
    # The runs' whole results would make the page as large as the table of the sweep.
    embedded = data | {
        "points": [{key: item for key, item in point.items() if key != "result"} for point in data["points"]]
    }
    messages = _swept.messages(found, "warnings"), _swept.messages(found, "notes")
    return rendered("sweep.html.jinja", embedded, messages, drawn, context)


def _full(table: Mapping[str, str]) -> dict[str, str]:
    """Quantities with names that stand for themselves."""
    return {name: _NAMES.get(name) or _compared.label(name) for name in table}


# The values of the varied keys; of each quantity its mean and interval over the seeds.
_Point = tuple[list[Any], dict[str, tuple[float | None, Sequence[float] | None]]]


def _points(data: Mapping[str, Any], names: Sequence[str]) -> list[_Point]:
    seeds = len(data["seeds"])
    made = []
    for start in range(0, len(data["points"]), seeds):
        of_point = data["points"][start : start + seeds]
        found = [_swept.of_point(point, names) for point in of_point]
        figures: dict[str, tuple[float | None, Sequence[float] | None]] = {}
        for name in names:
            known = [value for values in found if (value := values.get(name)) is not None]
            figures[name] = (fmean(known) if known else None, _engine.ci95(known) if seeds > 1 else None)
        made.append((list(of_point[0]["values"].values()), figures))
    return made


def _grid(keys: Sequence[str], points: Sequence[_Point], name: str) -> Grid:
    return Grid(keys, [Point(values, *figures[name]) for values, figures in points])


def _row(point: _Point, names: Sequence[str], is_repeated: bool) -> tuple[list[str], list[str]]:
    values, figures = point
    cells = []
    for name in names:
        mean, interval = figures[name]
        cells.append(_text.number(mean))
        if is_repeated:
            cells.append(_compared.margin(interval))
    return [_compared.brief(value) for value in values], cells
