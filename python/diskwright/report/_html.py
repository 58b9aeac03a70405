"""Pages from templates, with all that they need in them."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from diskwright import _engine
from diskwright._palette import PARTS
from diskwright.report.charts import Chart

if TYPE_CHECKING:
    from jinja2 import Environment

# Warnings shown at once; more fold away.
_WARNINGS = 12


def rendered(
    template: str,
    result: Mapping[str, Any],
    messages: tuple[Sequence[str], Sequence[str]],
    drawn: Sequence[Chart],
    context: Mapping[str, Any],
) -> str:
    """A page as HTML.

    result: what the page's numbers are from; it is embedded.
    messages: warnings, and notes.
    drawn: the charts, which the template places by their ids.
    context: what else the template names.
    """
    warnings, notes = messages
    common: dict[str, Any] = {
        "version": _engine.version(),
        "notes": notes,
        "warnings": warnings[:_WARNINGS],
        "more_warnings": warnings[_WARNINGS:],
        "charts": {chart.id: chart for chart in drawn},
        "part_colours": _embedded(PARTS),
        "result_json": _embedded(result),
        "charts_json": _embedded({chart.id: chart.figure | {"height": chart.height} for chart in drawn}),
    }
    return _templates().get_template(template).render(common | dict(context))


@cache
def _templates() -> "Environment":
    # Imported where a page is made: the package and the command's help do without.
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    files = resources.files("diskwright.report")
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda name: (files / name).read_text(encoding="utf-8")),
    )
    environment.globals["static"] = cache(lambda name: (files / "static" / name).read_text(encoding="utf-8"))
    return environment


def _embedded(value: Any) -> str:
    """JSON that may stand within a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
