"""The page of a validation."""

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any

from diskwright import _text
from diskwright._validation import Validation
from diskwright.report._html import rendered
from diskwright.report.charts import Chart, validation

_COLUMNS = ("mean", "± (95 %)", "std", "p50", "p90", "p95", "p99", "p99.9", "max")
_KEYS = ("mean", None, "std", "p50", "p90", "p95", "p99", "p999", "max")

# Ways to sort requests; more kinds than this fold away.
_GROUPINGS = {
    "service": "how it was served",
    "predecessor": "the request before it",
    "service_and_predecessor": "both",
    "operation": "operation",
    "size": "size",
    "place": "addresses",
    "zone": "zone",
}
_FOLDED = 12

# A value of the page with the key of the result it was written from.
_Value = tuple[str, str]


def page(found: Validation, *, title: str | None = None) -> str:
    """The page of a validation, as HTML: everything that it needs is in it.

    found: of a validation that was asked for its picture.

    Raises ValueError for one without.
    """
    if found.picture is None:
        message = "the validation was not asked for its picture: diskwright.validate(…, picture=True)"
        raise ValueError(message)
    result, picture = found.to_dict(), found.picture.to_dict()
    groupings = [(label, _rows(key, result["kinds"][key])) for key, label in _GROUPINGS.items()]
    context = {
        "title": title or f"{result['drive']}: {result['trace']}",
        "result": result,
        "figures": _key_figures(result),
        "facts": _facts(result),
        "columns": _COLUMNS,
        "times": [_times(side, result) for side in ("recorded", "simulated")],
        "shown": [grouping for grouping in groupings if len(grouping[1]) <= _FOLDED],
        "folded": [grouping for grouping in groupings if len(grouping[1]) > _FOLDED],
        "command": _command(result),
    }
    messages = result["warnings"], result["notes"]
    return rendered("validation.html.jinja", result, messages, _charts(result, picture), context)


def _charts(result: Mapping[str, Any], picture: Mapping[str, Any]) -> list[Chart]:
    return [
        *validation.distributions(picture),
        validation.quantiles(picture),
        validation.tenths(result["demerit_by_tenth"]),
        *validation.kinds(result["kinds"]["service_and_predecessor"]),
        validation.places(picture),
    ]


def _key_figures(result: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Names, keys, values and units."""
    relative = result["relative_demerit"]
    figures = [
        ("demerit", "rms_demerit_ms", _text.number(result["rms_demerit_ms"]), "ms"),
        ("recorded mean", "recorded_mean_ms", _text.number(result["recorded_mean_ms"]), "ms"),
        ("simulated mean", "simulated_mean_ms", _text.number(result["simulated_mean_ms"]), "ms"),
        ("requests", "requests", f"{result['requests']:,}", ""),
        ("error of a request, rms", "error_rms_ms", _text.number(result["error_rms_ms"]), "ms"),
        ("error of a request, mean", "error_mean_ms", _text.number(result["error_mean_ms"]), "ms"),
        ("off by 0.1 ms or less", "", f"{100 * result['share_within_0_1_ms']:.1f}", "% of the requests"),
    ]
    if relative is not None:
        figures.insert(1, ("of the recorded mean", "", f"{100 * relative:.2f}", "%"))
    return figures


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    capacity = result["capacity_blocks"] * 512 / 1e9
    rows = [
        ("Drive", f"{result['drive']} ({result['name']}, {capacity:,.1f} GB)"),
        ("Changed", ", ".join(result["set"])),
        ("Recording", f"{result['trace']} ({result['format']})"),
        ("Left out", f"{result['beyond_the_end']:,} requests" if result["beyond_the_end"] else ""),
        ("Simulated", f"{_text.number(result['simulated_s'])} s"),
    ]
    return [(name, text) for name, text in rows if text]


def _times(side: str, result: Mapping[str, Any]) -> tuple[str, list[_Value]]:
    times = result[f"{side}_ms"]
    interval = times["ci95"]
    margin = None if interval is None else (interval[1] - interval[0]) / 2
    values = [
        (f"{side}_ms.{key}" if key else "", _text.number(times[key] if key else margin)) for key in _KEYS
    ]
    return side, values


def _rows(key: str, kinds: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[_Value]]]:
    """For each kind its name and its figures."""
    return [(kind["name"], _figures(f"kinds.{key}.{place}", kind)) for place, kind in enumerate(kinds)]


def _figures(at: str, kind: Mapping[str, Any]) -> list[_Value]:
    means = ("recorded_mean_ms", "simulated_mean_ms", "error_rms_ms")
    return [
        (f"{at}.requests", f"{kind['requests']:,}"),
        *((f"{at}.{name}", _text.number(kind[name])) for name in means),
        ("", f"{100 * kind['share_of_squared_error']:.1f}"),
    ]


def _command(result: Mapping[str, Any]) -> str:
    """What repeats the validation."""
    settings = [word for setting in result["set"] for word in ("--set", setting)]
    words = ["diskwright", "validate", result["drive"], result["trace"], *settings]
    return " ".join(map(quote, words))
