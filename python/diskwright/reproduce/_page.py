"""The page of a reproduction."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from diskwright import _compared, _engine, _text
from diskwright._palette import PARTS
from diskwright.report._facts import spec
from diskwright.report._html import _embedded
from diskwright.reproduce._charts import chart
from diskwright.reproduce._reproduced import Reproduced
from diskwright.reproduce._series import PAPER
from diskwright.reproduce._system import Figure

if TYPE_CHECKING:
    from jinja2 import Environment

# Warnings shown at once; more fold away.
_WARNINGS = 6
_MARKS = {"holds": "✓", "sign only": "±", "inconclusive": "?", "fails": "✗", "not run": "·"}


def page(found: Reproduced, command: str) -> str:
    """The page as HTML: everything that it needs is in it, but the figures as files, to which it links.

    command: what repeats it.
    """
    data = found.to_dict()
    pairs = list(zip(found.source.figures, data["figures"], strict=True))
    charts = [
        chart(figure, item["points"]) for figure, item in pairs if figure.drawn is not None and item["points"]
    ]
    verdicts = [statement["verdict"] for statement in data["statements"]]
    context: dict[str, Any] = {
        "version": _engine.version(),
        "title": data["title"],
        "warnings": found.warned[:_WARNINGS],
        "notes": [],
        "more_warnings": found.warned[_WARNINGS:],
        "charts": {drawn.id: drawn for drawn in charts},
        "part_colours": _embedded(PARTS),
        "result_json": _embedded(data),
        "charts_json": _embedded({drawn.id: drawn.figure | {"height": drawn.height} for drawn in charts}),
        "found": data,
        "system": found.source,
        "counts": [(verdict, verdicts.count(verdict)) for verdict in _MARKS if verdict in verdicts],
        "marks": _MARKS,
        "statements": [_statement(statement) for statement in data["statements"]],
        "figures": [(figure, item, _table(figure, item)) for figure, item in pairs],
        "work": [_work(piece) for piece in data["work"]],
        "command": command,
    }
    return _templates().get_template("reproduce.html.jinja").render(context)


def _statement(statement: Mapping[str, Any]) -> dict[str, Any]:
    value, ends = statement["measured"]["value"], statement["measured"]["ci95"]
    interval = f"{number(ends[0])} to {number(ends[1])}" if _varies(ends) else ""
    paper = statement["paper"] if isinstance(statement["paper"], str) else number(statement["paper"])
    return {**statement, "value": number(value), "interval": interval, "paper": paper}


def number(value: float | None) -> str:
    """Four digits: a ratio as well as a time. A large whole number has all of its own."""
    if value is None:
        return "-"
    if abs(value) >= 1e4 and value == int(value):
        return f"{int(value):,}"
    return f"{value:,.4g}" if abs(value) < 1e4 else _text.number(value)


def _table(figure: Figure, item: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """The points: coordinates, and each value with its interval and what the paper has."""
    if not item["points"]:
        return [], []
    coordinates = list(dict.fromkeys(key for point in figure.points for key in point.coordinates))
    head = [*(name.replace("_", " ") for name in coordinates)]
    published = {_place(row, coordinates): row for row in figure.published}
    in_paper = [name for name in figure.measure if any(name in row for row in figure.published)]
    varying = [
        name for name in figure.measure if any(_varies(point.get(f"{name}_ci95")) for point in item["points"])
    ]
    for name in figure.measure:
        label = name.replace("_", " ")
        head += [label, *(["95 % from", "to"] if name in varying else [])]
        head += [f"{label}, {PAPER}"] if name in in_paper else []
    rows = []
    for point in item["points"]:
        row = [_compared.value(point[key]) if key in point else "" for key in coordinates]
        beside = published.get(_place(point, coordinates), {})
        for name in figure.measure:
            ends = point.get(f"{name}_ci95")
            row.append(number(point.get(name)))
            if name in varying:
                row += map(number, ends) if _varies(ends) else ["", ""]
            if name in in_paper:
                known = beside.get(name)
                row.append("" if known is None else known if isinstance(known, str) else number(known))
        rows.append(row)
    return head, rows


def _varies(ends: Any) -> bool:
    """Whether an interval is seen to be one: the mean of equal numbers may be off by the last bit."""
    return ends is not None and number(ends[0]) != number(ends[1])


def _place(row: Mapping[str, Any], coordinates: list[str]) -> tuple[Any, ...]:
    return tuple(row.get(key) for key in coordinates)


def _work(piece: Mapping[str, Any]) -> dict[str, Any]:
    text = spec(piece["spec"]) if "spec" in piece else piece["what"]
    return {**piece, "text": text}


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    own, shared = resources.files("diskwright.reproduce"), resources.files("diskwright.report")

    def text(folder: str, name: str) -> str:
        # Its own first; what all pages share else.
        files = [root / folder / name if folder else root / name for root in (own, shared)]
        return "".join(file.read_text(encoding="utf-8") for file in reversed(files) if file.is_file())

    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda name: text("", name)),
    )
    # The style of all pages, and what is this one's alone after it.
    environment.globals["static"] = cache(lambda name: text("static", name))
    return environment
