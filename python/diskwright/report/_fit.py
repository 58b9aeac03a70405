"""The page of a fit."""

from collections.abc import Mapping
from shlex import quote
from typing import Any

from diskwright import _text
from diskwright._fitted import Fit
from diskwright.report._html import rendered
from diskwright.report.charts.fit import errors


def page(found: Fit, *, title: str | None = None) -> str:
    """The page of a fit, as HTML: everything that it needs is in it.

    found: of a fit that was asked for its picture.

    Raises ValueError for one without.
    """
    if found.picture is None:
        raise ValueError("the fit was not asked for its picture: diskwright.fit(…, picture=True)")
    result, picture = found.to_dict(), found.picture.to_dict()
    charts = errors(picture)
    start = result["drive"] or "from scratch"
    context = {
        "title": title or f"{start}: {result['trace']}",
        "figures": _figures(result),
        "facts": _facts(result),
        "parameters": [_parameter(*item) for item in result["parameters"].items()],
        "untold": ", ".join(result["untold"]),
        "drawn": [chart.id for chart in charts],
        "toml": found.toml,
        "command": " ".join(
            map(quote, ("diskwright", "fit", result["drive"] or "--from-scratch", result["trace"]))
        ),
    }
    messages = result["warnings"], result["notes"]
    return rendered("fit.html.jinja", result, messages, charts, context)


def _figures(result: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Names, keys, values and units."""
    judged = result["judged"]
    return [
        ("demerit before", "judged.start_rms_demerit_ms", _text.number(judged["start_rms_demerit_ms"]), "ms"),
        ("demerit after", "judged.rms_demerit_ms", _text.number(judged["rms_demerit_ms"]), "ms"),
        (
            "error of a request before, rms",
            "start_one_step_rms_ms",
            _text.number(result["start_one_step_rms_ms"]),
            "ms",
        ),
        (
            "error of a request after, rms",
            "judged.one_step_rms_ms",
            _text.number(judged["one_step_rms_ms"]),
            "ms",
        ),
        ("requests judged by", "judged.requests", f"{judged['requests']:,}", ""),
    ]


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [
        ("Drive", f"{result['drive']} ({result['name']})"),
        ("Recording", f"{result['trace']} ({result['format']}, {result['requests']:,} requests)"),
        ("Left out", f"{result['left_out']:,} requests" if result["left_out"] else ""),
        ("Kept", ", ".join(result["kept"])),
        ("No gain", ", ".join(result["dropped"])),
    ]
    return [(name, text) for name, text in rows if text]


def _parameter(name: str, parameter: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    interval = parameter["ci95"]
    shown = [("", _shown(parameter["start"])), ("", _shown(parameter["value"]))]
    ends = [("", ""), ("", "")] if interval is None else [("", _shown(end)) for end in interval]
    return name, [*shown, *ends]


def _shown(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.4f}" if isinstance(value, float) else str(value)
