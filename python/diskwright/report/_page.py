"""A page from a run."""

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from diskwright import _engine, _text, _toml
from diskwright._record import Record, Result
from diskwright.report import charts
from diskwright.report.charts import Chart, Run

if TYPE_CHECKING:
    from jinja2 import Template

# Warnings shown at once; more fold away.
_WARNINGS = 12
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
    drawn = _charts(run)
    context = {
        "title": run.label,
        "result": run.result,
        "number": _text.number,
        "subject": _text.subject(result.spec),
        "version": _engine.version(),
        "warnings": run.result["warnings"][:_WARNINGS],
        "more_warnings": run.result["warnings"][_WARNINGS:],
        "facts": _facts(run.result),
        "figures": _key_figures(run.result),
        "counts": _counts(run.result["requests"]),
        "columns": _COLUMNS,
        "times": [_times(name, means, run.result) for name, means in _TIMES.items()],
        "parts": _parts(run.result),
        "charts": {chart.id: chart for chart in drawn},
        "devices": {path: _device(device) for path, device in run.result["devices"].items()},
        "spec": _spaced(_toml.document(run.result["spec"])),
        "result_json": _embedded(run.result),
        "charts_json": _embedded({chart.id: chart.figure | {"height": chart.height} for chart in drawn}),
    }
    return _template().render(context)


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


def _spaced(document: str) -> str:
    """A TOML document with an empty line before each table that follows values."""
    lines = document.splitlines()
    pairs = zip(["[", *lines], lines, strict=False)
    return "".join(f"\n{line}\n" if line[0] == "[" != above[0] else f"{line}\n" for above, line in pairs)


@cache
def _template() -> "Template":
    # Imported where a page is made: the package and the command's help do without.
    from jinja2 import Environment, StrictUndefined

    files = resources.files("diskwright.report")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals["static"] = cache(lambda name: (files / "static" / name).read_text(encoding="utf-8"))
    return environment.from_string((files / "report.html.jinja").read_text(encoding="utf-8"))


def _embedded(value: Any) -> str:
    """JSON that may stand within a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


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


def _device(device: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str, str]]]:
    """Single values; and those of its records, such as the time by parts, each with the record's name."""
    single = {name: item for name, item in device.items() if not isinstance(item, Mapping)}
    records = {name: item for name, item in device.items() if isinstance(item, Mapping)}
    rows = []
    for name, record in records.items():
        label, of = _text.unit(name)
        rows += [
            (label, key.replace("_", " "), f"{_text.plain(item)} {of}".rstrip())
            for key, item in record.items()
            if item
        ]
    return list(_text.flat(single).items()), rows


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was run, for people."""
    spec = result["spec"]
    workload, host = spec.get("workload", {}), spec.get("host", {})
    facts = [("Workload", _workload(workload))]
    facts += [(f"Device {path}", text) for path, text in _devices(spec.get("device", {}))]
    facts += [
        ("Host", _settings(host)),
        ("Measured", _settings(spec.get("measure", {})) or "everything"),
        ("Faults", "; ".join(_settings(fault) for fault in spec.get("fault", ()))),
        ("Seed", str(spec.get("seed", ""))),
        ("Checked", f"{result['checked']:,} requests: no fault" if "checked" in result else ""),
        ("Digest", result["digest"]),
    ]
    return [(name, text) for name, text in facts if text]


def _workload(workload: Mapping[str, Any]) -> str:
    kind = next((key for key in ("trace", "synthetic") if key in workload), None)
    if kind == "trace":
        rest = {key: workload[key] for key in ("pace", "device", "from", "to", "limit") if key in workload}
        return "; ".join(filter(None, [f"trace {workload['trace']}", _settings(rest)]))
    return "synthetic: " + _settings(workload["synthetic"]) if kind else _settings(workload)


def _devices(tree: Any, path: str = "") -> list[tuple[str, str]]:
    """Every device of the tree that names a drive, by its path as results have it."""
    found = []
    for key, inner in tree.items() if isinstance(tree, Mapping) else ():
        here = f"{path}.{key}" if path else key
        if isinstance(inner, list):
            for index, item in enumerate(inner):
                found += _devices(item, f"{here}[{index}]")
        elif isinstance(inner, Mapping):
            if isinstance(inner.get("drive"), str):
                rest = {name: item for name, item in inner.items() if name != "drive"}
                found.append((here, "; ".join(filter(None, [_drive(inner["drive"]), _settings(rest)]))))
            else:
                found += _devices(inner, here)
    return found


def _drive(name: str) -> str:
    if name not in _engine.drives():
        return name
    drive = Record.parse(_engine.drive(name))
    return f"{name} ({drive.name}, {drive.capacity_blocks * 512 / 1e9:,.1f} GB, {drive.rpm:,.10g} rpm)"


def _settings(table: Mapping[str, Any]) -> str:
    """Settings as a spec has them, on one line."""
    written = []
    for name, item in table.items():
        if isinstance(item, Mapping) and name == "queue":
            written.append(_settings(item))
        else:
            written.append(f"{name.replace('_', ' ')} {item if isinstance(item, str) else _toml.value(item)}")
    return ", ".join(written)
