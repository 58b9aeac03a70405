"""The page of an inspection: what a trace is."""

from collections.abc import Mapping, Sequence
from typing import Any

from diskwright import _text
from diskwright._record import Inspection
from diskwright.report import charts
from diskwright.report._html import rendered

# What the page shows in charts and tables of its own, or nowhere.
_APART = ("warnings", "notes", "devices", "sizes", "schema")


def page(found: Inspection, *, title: str | None = None) -> str:
    """The page of an inspection, as HTML: everything that it needs is in it.

    found: of a trace that was asked for its picture.

    Raises ValueError for an inspection without one.
    """
    if found.picture is None:
        message = "the inspection was not asked for its picture: diskwright.inspect(trace, picture=True)"
        raise ValueError(message)
    data, picture = found.to_dict(), found.picture.to_dict()
    devices = data["devices"]
    drawn = [
        charts.arrivals(picture),
        charts.gaps(picture),
        charts.trace_sizes(picture),
        charts.distances(picture),
        charts.places(picture, len(devices)),
    ]
    context = {
        "title": title or f"a trace of format {data['format']}",
        "result": data,
        "facts": [(name, text) for name, text in _facts(data) if text],
        "figures": _figures(data),
        "common": _common(data),
        "sizes": list(
            _text.flat({key: item for key, item in data["sizes"].items() if key != "common"}).items()
        ),
        "devices": _devices(devices) if len(devices) > 1 else [],
    }
    messages = data["warnings"], data["notes"]
    return rendered(
        "inspection.html.jinja", data, messages, [each for each in drawn if each is not None], context
    )


def _figures(data: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Names, keys, values and units."""
    number = _text.number
    figures = [
        ("requests", "requests", f"{data['requests']:,}", ""),
        ("reads", "read_share", number(100 * data["read_share"]), "%"),
        ("working set", "working_set_blocks", number(data["working_set_blocks"] * 512 / 2**30), "GiB"),
        ("sequential", "sequential_requests", number(_sequential(data)), "% of requests"),
        ("duration", "duration_s", number(data["duration_s"]), "s"),
    ]
    if data["interarrival_mean_ms"] is not None:
        figures.append(("mean gap", "interarrival_mean_ms", number(data["interarrival_mean_ms"]), "ms"))
    return figures


def _sequential(data: Mapping[str, Any]) -> float:
    of = data["sequential_requests"] + data["random_requests"]
    return 100 * data["sequential_requests"] / of if of else 0.0


def _facts(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    numbers = {key: item for key, item in data.items() if key not in (*_APART, "format", "start_date")}
    return [
        ("Format", data["format"]),
        ("Recorded", data.get("start_date") or ""),
        *_text.flat(numbers).items(),
    ]


def _common(data: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The most frequent sizes: blocks, requests, share of reads and writes."""
    transfers = data["reads"] + data["writes"]
    return [
        (f"{size['blocks']:,}", f"{size['requests']:,}", f"{100 * size['requests'] / transfers:.1f}")
        for size in data["sizes"]["common"]
    ]


_COLUMNS = {
    "requests": "requests",
    "reads": "reads",
    "writes": "writes",
    "blocks": "blocks",
    "working_set_blocks": "working set, blocks",
    "end_lbn": "end LBN",
}


def _devices(devices: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """A header, and then a row for each device."""
    rows = [(str(device["device"]), [f"{device[key]:,}" for key in _COLUMNS]) for device in devices]
    return [("device", list(_COLUMNS.values())), *rows]
