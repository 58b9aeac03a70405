"""The page of a comparison."""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright import _compared, _text
from diskwright._compared import Cell
from diskwright._record import Comparison, Result
from diskwright.report import charts
from diskwright.report._facts import counted, facts, is_zero, spec
from diskwright.report._html import rendered
from diskwright.report.charts import Chart, Run, grid

# Columns of a table that a sheet of paper has room for.
_BESIDE = 6


def page(found: Comparison, *, title: str | None = None) -> str:
    """The page of a comparison, as HTML: everything that it needs is in it.

    found: of a comparison that was asked for its picture.

    Raises ValueError for a comparison without one.
    """
    data, names = found.to_dict(), _compared.names(found)
    firsts = [(place, runs[0]) for place, runs in enumerate(found.results) if runs[0].picture is not None]
    if not firsts:
        message = (
            "the comparison was not asked for its pictures: diskwright.compare(spec, vary, picture=True)"
        )
        raise ValueError(message)
    runs = [_run(names[place], place, result) for place, result in firsts]
    metrics = list(data["variants"][0]["metrics"])
    # Unless few were asked for, those that the command prints; the others fold away.
    shown = [metric for metric in metrics if metric in _compared.SHOWN]
    shown = shown if len(shown) == len(_compared.SHOWN) else metrics
    subject = _text.subject(data["spec"])
    context: dict[str, Any] = {
        "title": title or subject,
        "comparison": data,
        "subject": subject,
        "repetitions": _compared.seeds(found),
        "facts": _facts(data, names, is_checked="checked" in runs[0].result),
        "names": names,
        "drawn": [run.variant for run in runs],
        "values": [
            [_compared.value(item) for item in variant["values"].values()] for variant in data["variants"]
        ],
        "columns": _compared.columns(found),
        "shown": [_table(found, metric) for metric in shown],
        "more": [_table(found, metric) for metric in metrics if metric not in shown],
        "intervals": _compared.INTERVALS if len(data["seeds"]) > 1 else "",
        "marked": _compared.MARKED if any(_compared.is_marked(found, metric) for metric in metrics) else "",
        "parts": _parts(runs),
        "devices": _devices(runs),
        "spec": spec(data["spec"]),
    }
    by_key = _by_key(data, shown)
    context["by_key"] = [chart.id for chart in by_key]
    drawn = [*by_key, *_charts(data, shown, [(place, names[place]) for place, _ in firsts], runs)]
    messages = _compared.warnings(found, names), _compared.notes(found, names)
    return rendered("comparison.html.jinja", data, messages, drawn, context)


def _run(name: str, place: int, result: Result) -> Run:
    assert result.picture is not None
    return Run(name, result.to_dict(), result.picture.to_dict(), variant=place)


def _charts(
    data: Mapping[str, Any],
    metrics: Sequence[str],
    variants: Sequence[tuple[int, str]],
    runs: Sequence[Run],
) -> list[Chart]:
    drawn = [charts.ratios(data, metrics, variants)]
    if any(run.result["requests"]["measured"] for run in runs):
        drawn += [
            charts.cumulative(runs),
            charts.tail(runs),
            charts.response_stages(runs),
            charts.at_work(runs),
        ]
    if all(run.picture["load"]["completions"] for run in runs):
        drawn.append(charts.over_time(runs))
    return [*(chart for chart in drawn if chart is not None), *charts.seek_distances(runs)]


def _by_key(data: Mapping[str, Any], metrics: Sequence[str]) -> list[Chart]:
    """The quantities over the varied keys; none of one key with few values, which the ratios show."""
    keys, variants = data["varied"], data["variants"]
    if len(variants) < 3 or (len(keys) == 1 and len(variants) < 4):
        return []
    return [
        chart
        for index, metric in enumerate(metrics)
        for chart in grid.charts(f"quantity-{index}", _compared.label(metric), _grid(keys, variants, metric))
    ]


def _grid(keys: Sequence[str], variants: Sequence[Mapping[str, Any]], metric: str) -> grid.Grid:
    points = []
    for variant in variants:
        figure = variant["metrics"][metric]
        points.append(grid.Point(list(variant["values"].values()), figure["value"], figure["ci95"]))
    return grid.Grid(keys, points)


def _facts(data: Mapping[str, Any], names: Sequence[str], is_checked: bool) -> list[tuple[str, str]]:
    """What was compared; of the spec, what the baseline ran."""
    rows = [(name, text) for name, text in facts(data["spec"]) if text and name != "Seed"]
    checked = [("Checked", "every block of every run: no fault")] if is_checked else []
    return [("Varied", ", ".join(data["varied"])), ("Baseline", names[data["baseline"]]), *rows, *checked]


# A figure, and the pointer to its value in the page's JSON (RFC 6901), empty where it has none.
_Figure = tuple[str, str, str]


def _table(found: Comparison, metric: str) -> tuple[str, list[list[_Figure]]]:
    """What a quantity is called, and its figures for each variant."""
    rows = [
        [(cell.text, _pointer(place, cell), cell.mark.strip()) for cell in cells]
        for place, cells in enumerate(_compared.rows(found, metric))
    ]
    return _compared.label(metric), rows


def _pointer(place: int, cell: Cell) -> str:
    keys = (key.replace("~", "~0").replace("/", "~1") for key in cell.key)
    return "/".join(("/variants", str(place), *keys)) if cell.key else ""


# Names of columns; for each drawn variant its place and the texts in them.
_Grid = tuple[list[str], list[tuple[int, list[str]]]]


# Places of variants; the names of what their devices counted, each with a text for each of them.
_Counts = tuple[list[int], list[tuple[str, list[str]]]]


def _parts(runs: Sequence[Run]) -> _Grid:
    """The mean time of each part."""
    parts = list(dict.fromkeys(part for run in runs for part, mean in run.result["parts_ms"].items() if mean))
    rows = [
        (int(run.variant or 0), [_text.number(run.result["parts_ms"].get(part, 0.0)) for part in parts])
        for run in runs
    ]
    return [part.replace("_", " ") for part in parts], rows


def _devices(runs: Sequence[Run]) -> dict[str, list[_Counts]]:
    """For each device what it counted, of as many runs side by side as a sheet of paper has room for."""
    paths = dict.fromkeys(path for run in runs for path in run.result["devices"])
    return {path: _counts(path, runs) for path in paths}


def _counts(path: str, runs: Sequence[Run]) -> list[_Counts]:
    """What is zero in all of the runs is left out."""
    records = [_counted(run.result["devices"].get(path, {})) for run in runs]
    labels = dict.fromkeys(label for record in records for label in record)
    shown = [label for label in labels if not all(is_zero(record.get(label, "0")) for record in records)]
    groups = [range(start, min(start + _BESIDE, len(runs))) for start in range(0, len(runs), _BESIDE)]
    return [
        (
            [int(runs[place].variant or 0) for place in group],
            [(label, [records[place].get(label, "-") for place in group]) for label in shown],
        )
        for group in groups
    ]


def _counted(record: Mapping[str, Any]) -> dict[str, str]:
    rest = {name: item for name, item in record.items() if name != "settings"}
    return _text.settings(record) | counted(rest)
