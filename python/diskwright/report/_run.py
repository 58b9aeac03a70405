"""The page of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diskwright import _text
from diskwright._record import Result
from diskwright.report import _film, charts
from diskwright.report._facts import device, facts, power_states, served, settings, spec
from diskwright.report._film._base import ms, seconds
from diskwright.report._html import _embedded, rendered
from diskwright.report.charts import Chart, Run

_COLUMNS = ("mean", "± (95 %)", "std", "p50", "p90", "p95", "p99", "p99.9", "max")
_KEYS = ("mean", None, "std", "p50", "p90", "p95", "p99", "p999", "max")
_GROUP_COLUMNS = ("requests", "IOPS", "MB/s", "mean response, ms", "p50", "p99", "max", "mean service, ms")
_GROUP_KEYS = (
    ("iops",),
    ("mb_per_s",),
    *(("response_ms", key) for key in ("mean", "p50", "p99", "max")),
    ("service_ms", "mean"),
)
# Of more devices than these, the charts of what each of them has would make a page too large to read.
_MOST_DEVICES = 4
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
    always = _charts(run)
    sections = _sections(run) if always else []
    rows = [
        *facts(run.result["spec"]),
        *served(run.result),
        *settings(run.result["devices"]),
        ("Busiest moment", _busiest(run.picture["busiest"])),
        *_checks(run.result),
    ]
    context = {
        "title": run.label,
        "result": run.result,
        "number": _text.number,
        "subject": _text.subject(result.spec),
        "facts": [(name, text) for name, text in rows if text],
        "figures": _key_figures(run.result),
        "counts": _counts(run.result["requests"]),
        "columns": _COLUMNS,
        "times": [_times(name, _TIMES[name], run.result) for name in _text.times(run.result)],
        "group_columns": _GROUP_COLUMNS,
        "groups": [
            (name, _groups(key, run.result[key]))
            for name, key in (("operation", "by_op"), ("stream", "by_stream"))
            if len(run.result.get(key, ())) > 1
        ],
        "parts": _parts(run.result),
        "slow": _slow(run.picture["slowest"]),
        "devices": {path: device(item) for path, item in run.result["devices"].items()},
        "power_states": {path: power_states(item) for path, item in run.result["devices"].items()},
        "spec": spec(run.result["spec"]),
        "sections": sections,
        "films": films,
        "film_title": _film.title(films),
        "film_kinds": _film.kinds(films),
        "film_parts": _film.parts(films),
        "film_json": _embedded(_film.drawn(films)),
    }
    messages = run.result["warnings"], run.result["notes"]
    drawn = [*always, *(chart for section in sections for _, of_one in section.devices for chart in of_one)]
    return rendered("run.html.jinja", run.result, messages, drawn, context)


def _busiest(busiest: Mapping[str, int] | None) -> str:
    """When the most requests were outstanding, and how many."""
    if busiest is None:
        return ""
    count = busiest["outstanding"]
    return f"{count:,} request{'s' if count != 1 else ''} outstanding at {seconds(busiest['at_ns'])} s"


def _slow(requests: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The slowest requests in numbers: columns, and a row for each."""
    divided = [charts.waits(request) for request in requests]
    parts = list(dict.fromkeys(name for waits in divided for name, ns in waits.items() if ns))
    columns = [
        "op",
        "LBN",
        "blocks",
        "arrival, s",
        "response, ms",
        *(part.replace("_", " ") for part in parts),
    ]
    rows = [
        (
            f"{request['sequence']:,}",
            [
                request["op"],
                f"{request['lbn']:,}",
                f"{request['blocks']:,}",
                seconds(request["arrival_ns"]),
                ms(request["completion_ns"] - request["arrival_ns"]),
                *(ms(waits.get(part, 0)) for part in parts),
            ],
        )
        for request, waits in zip(requests, divided, strict=True)
    ]
    return columns, rows


def _checks(result: Mapping[str, Any]) -> list[tuple[str, str]]:
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
    some = [
        charts.by_size(run),
        charts.by_operation(run),
        charts.slowest(run),
        charts.response_map(run),
        charts.outstanding_map(run),
        charts.depth(run),
        charts.sizes(runs),
        charts.lbn_map(run),
    ]
    return [*always, *charts.seek_distances(runs), *(chart for chart in some if chart is not None)]


@dataclass(frozen=True)
class _Section:
    """A part of the page on what some devices have: the charts of the first of them, by their paths."""

    title: str
    id: str
    devices: list[tuple[str, list[Chart]]]
    left_out: int


def _sections(run: Run) -> list[_Section]:
    """The sections for which there is something to draw."""
    made = []
    for title, id, found, drawn in (
        ("Cache", "cache", charts.of_caches(run), _cache),
        ("Flash", "flash", charts.of_flash(run), _flash),
    ):
        devices = []
        for index, (path, shown) in enumerate(found[:_MOST_DEVICES]):
            some = [chart for chart in drawn(f"{id}-{index}", run, shown) if chart is not None]
            devices += [(path, some)] if some else []
        if devices:
            made.append(_Section(title, id, devices, len(found[_MOST_DEVICES:])))
    return made


def _cache(id: str, run: Run, cache: Mapping[str, Any]) -> list[Chart | None]:
    return [
        charts.hits(f"{id}-hits", run, cache),
        charts.at_risk(f"{id}-risk", run, cache),
        charts.passed_by(f"{id}-passed", run, cache),
    ]


def _flash(id: str, run: Run, flash: Mapping[str, Any]) -> list[Chart | None]:
    return [
        charts.written(f"{id}-writes", run, flash),
        charts.used(f"{id}-use", run, flash),
        charts.of_operations(f"{id}-latency", flash["parts"]),
        *charts.shares(id, run, flash),
        charts.busy_map(f"{id}-busy", run, flash),
        charts.wear(f"{id}-wear", flash),
    ]


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
        ("data rate", "mb_per_s", number(result["mb_per_s"]), "MB/s", ""),
        ("simulated", "simulated_s", number(result["simulated_s"]), "s", ""),
    ]
    if requests["measured"]:
        figures[3:3] = [
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


def _groups(of: str, groups: Mapping[str, Any]) -> list[tuple[str, list[_Value]]]:
    """The figures of each operation, or of each stream."""
    rows = []
    for name, group in groups.items():
        # A name may hold what divides the keys of a value's address: a stream's values have none.
        address = f"{of}.{name}" if of == "by_op" else ""
        values = [(f"{address}.count" if address else "", f"{group['count']:,}")]
        for keys in _GROUP_KEYS:
            value = group
            for key in keys:
                value = value[key]
            values.append((".".join((address, *keys)) if address else "", _text.number(value)))
        rows.append((name, values))
    return rows


def _parts(result: Mapping[str, Any]) -> list[tuple[str, _Value, str]]:
    parts = result["parts_ms"]
    whole = sum(parts.values())
    return [
        (name.replace("_", " "), (f"parts_ms.{name}", _text.number(mean)), f"{100 * mean / whole:.1f}")
        for name, mean in parts.items()
        if mean
    ]
