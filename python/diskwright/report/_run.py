"""The page of a run."""

from collections.abc import Mapping
from typing import Any

from diskwright import _text
from diskwright._record import Result
from diskwright.report import _film, charts
from diskwright.report._facts import device, facts, spec
from diskwright.report._html import _embedded, rendered
from diskwright.report.charts import Chart, Run

_COLUMNS = ("mean", "± (95 %)", "std", "p50", "p90", "p95", "p99", "p99.9", "max")
_KEYS = ("mean", None, "std", "p50", "p90", "p95", "p99", "p999", "max")
_TIMES = {
    "response": "arrival to completion",
    "service": "acceptance by the drive to completion",
    "access": "seek, head switch, settle and rotation of an access",
}


def page(result: Result, *, title: str | None = None) -> str:
    """The page of a run, as HTML: everything that it needs is in it.

    result: of a run that was asked for its picture.

    Raises ValueError for a result without one.
    """
    picture = result.picture
    if picture is None:
        raise ValueError("the run was not asked for its picture: diskwright.run(spec, picture=True)")
    run = Run(title or _text.subject(result.spec), result.to_dict(), picture.to_dict())
    films = _film.films(run.picture)
    told = [*facts(run.result["spec"]), *_told(run.result)]
    context = {
        "title": run.label,
        "result": run.result,
        "number": _text.number,
        "subject": _text.subject(result.spec),
        "facts": [(name, text) for name, text in told if text],
        "figures": _key_figures(run.result),
        "counts": _counts(run.result["requests"]),
        "columns": _COLUMNS,
        "times": [_times(name, means, run.result) for name, means in _TIMES.items()],
        "parts": _parts(run.result),
        "devices": {path: device(item) for path, item in run.result["devices"].items()},
        "spec": spec(run.result["spec"]),
        "films": films,
        "tones": _film.tones(run.result),
        "film_json": _embedded(_film.drawn(run.result, films)),
    }
    return rendered("run.html.jinja", run.result, run.result["warnings"], _charts(run), context)


def _told(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("Checked", f"{result['checked']:,} requests: no fault" if "checked" in result else ""),
        ("Digest", result["digest"]),
    ]


def _charts(run: Run) -> list[Chart]:
    if not run.picture["load"]["completions"]:
        return []
    runs = [run]
    always = [charts.over_time(runs)]
    if run.result["requests"]["measured"]:
        always += [
            charts.cumulative(runs),
            charts.tail(runs),
            charts.response_stages(runs),
            charts.at_work(runs),
        ]
    some = [charts.sizes(runs), charts.lbn_map(run)]
    return [*always, *charts.seek_distances(runs), *(chart for chart in some if chart is not None)]


# A value of the page with the key of the result it was written from.
_Value = tuple[str, str]


def _key_figures(result: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Names, keys, values, units, and the margin of the value where there is one."""
    response, interval = result["response_ms"], result["response_ms"]["ci95"]
    number = _text.number
    requests = result["requests"]
    margin = "" if interval is None else number((interval[1] - interval[0]) / 2)
    figures = [
        ("measured", "requests.measured", f"{requests['measured']:,}", "requests", ""),
        ("throughput", "iops", number(result["iops"]), "IOPS", ""),
        ("simulated", "simulated_s", number(result["simulated_s"]), "s", ""),
    ]
    if requests["measured"]:
        figures[2:2] = [
            ("mean response", "response_ms.mean", number(response["mean"]), "ms", margin),
            ("median response", "response_ms.p50", number(response["p50"]), "ms", ""),
            ("99 % within", "response_ms.p99", number(response["p99"]), "ms", ""),
            ("slowest", "response_ms.max", number(response["max"]), "ms", ""),
        ]
    if requests["failed"]:
        figures.insert(1, ("failed", "requests.failed", f"{requests['failed']:,}", "requests", ""))
    return figures


def _counts(requests: Mapping[str, int]) -> list[tuple[str, str, str]]:
    always = {"issued", "completed", "measured"}
    return [
        (name, f"requests.{name}", f"{count:,}")
        for name, count in requests.items()
        if count or name in always
    ]


def _times(name: str, meaning: str, result: Mapping[str, Any]) -> tuple[str, str, list[_Value]]:
    times = result[f"{name}_ms"]
    interval = times["ci95"]
    margin = None if interval is None else (interval[1] - interval[0]) / 2
    values = [
        (f"{name}_ms.{key}" if key else "", _text.number(times[key] if key else margin)) for key in _KEYS
    ]
    return name, meaning, values


def _parts(result: Mapping[str, Any]) -> list[tuple[str, _Value, str]]:
    parts = result["parts_ms"]
    whole = sum(parts.values())
    return [
        (name.replace("_", " "), (f"parts_ms.{name}", _text.number(mean)), f"{100 * mean / whole:.1f}")
        for name, mean in parts.items()
        if mean
    ]
