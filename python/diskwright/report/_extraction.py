"""The page of an extraction."""

from collections.abc import Mapping
from shlex import quote
from typing import Any

from diskwright import _text
from diskwright._extraction import Extraction
from diskwright.report._html import rendered
from diskwright.report.charts.extraction import charts

# A text of the page with the key of the result that it was written from; None where it was computed.
_Value = tuple[str | None, str]

_KINDS = {"none": "none was seen", "segments": "in segments", "shared": "one for all"}
_TIMES = {
    "overhead_read": "request for the same track",
    "head_switch": "head switch",
    "write_head_switch": "head switch before a write",
}


def page(found: Extraction, *, title: str | None = None) -> str:
    """The page of an extraction, as HTML: everything that it needs is in it."""
    result = found.to_dict()
    drawn = charts(result)
    context = {
        "title": title or result["target"],
        "why_not": result.get("why_not", ""),
        "figures": _figures(result),
        "facts": _facts(result),
        "times": _times(result),
        "zones": [_zone(index, zone) for index, zone in enumerate(result.get("zones", []))],
        "irregular": _irregular(result),
        "drawn": [chart.id for chart in drawn],
        "toml": found.toml,
        "command": " ".join(map(quote, ("diskwright", "extract", result["target"]))),
    }
    return rendered("extraction.html.jinja", result, ([], result["notes"]), drawn, context)


def _figures(result: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Names, keys, values and units."""
    rows = []
    if "rotation" in result:
        turn = result["rotation"]
        rows += [
            ("rotation", "rotation.rpm", f"{turn['rpm']:,.3f}", "rpm"),
            ("a turn", "rotation.turn_ms", f"{turn['turn_ms']:.6f}", "ms"),
        ]
    if result.get("zones"):
        rows.append(("zones", "", f"{len(result['zones'])}", ""))
    if result.get("seek"):
        last = len(result["seek"]) - 1
        rows.append(("longest seek", f"seek.{last}.ms", _text.number(result["seek"][last]["ms"]), "ms"))
    rows.append(("time taken", "seconds", f"{result['seconds']:,.0f}", "s"))
    rows.append(("requests", "requests", f"{result['requests']:,}", ""))
    return rows


def _facts(result: Mapping[str, Any]) -> list[tuple[str, str]]:
    memory = result.get("memory", {})
    writes, noise = memory.get("absorbs_writes"), result.get("noise_ms", 0.0)
    rows = [
        ("Target", result["target"]),
        ("Capacity", f"{result['capacity_blocks'] * 512 / 1e9:,.1f} GB"),
        ("Sector", f"{result['sector_bytes']} B" if "sector_bytes" in result else ""),
        ("Tracks of a cylinder", f"{result['surfaces']}" if result.get("surfaces") else ""),
        ("Access ranges", f"{result['access_ranges']}" if "access_ranges" in result else ""),
        ("Arms", f"{result['arms']}" if "arms" in result else ""),
        ("Noise of a completion", f"{noise * 1e3:,.1f} µs" if noise > 1e-4 else ""),
        ("Memory", _KINDS[memory["kind"]] if memory else ""),
        ("Segments", f"{memory.get('segments') or ''}"),
        ("Blocks of a segment", f"{memory.get('segment_blocks') or ''}"),
        ("Blocks of the memory", f"{memory['size_blocks']:,}" if memory.get("size_blocks") else ""),
        ("Reads ahead", f"{memory['reads_ahead_blocks']:,} blocks" if "reads_ahead_blocks" in memory else ""),
        ("Writes wait for the medium", "" if writes is None else "no" if writes else "yes"),
        ("All was measured", "" if "why_not" in result else _complete(result)),
    ]
    return [(name, text) for name, text in rows if text]


def _complete(result: Mapping[str, Any]) -> str:
    if not result["complete"]:
        return "no: the budget was used up"
    return "yes" if "zones" in result else "no: the notes say what hides the rest"


def _times(result: Mapping[str, Any]) -> list[tuple[str, list[_Value]]]:
    """Times and half the widths of their intervals."""
    rows: list[tuple[str, str, str, float, float]] = []
    if "rotation" in result:
        turn = result["rotation"]
        rows.append(
            ("turn", "rotation.turn_ms", "rotation.half_width_ms", turn["turn_ms"], turn["half_width_ms"])
        )
    found = {key: name for key, name in _TIMES.items() if key in result}
    for key, name in found.items():
        rows.append(
            (name, f"{key}.ms", f"{key}.half_width_ms", result[key]["ms"], result[key]["half_width_ms"])
        )
    for kind, time in result.get("overheads", {}).items():
        key = f"overheads.{kind}"
        name = f"overhead of a {kind.replace('_', ' ')}"
        rows.append((name, f"{key}.ms", f"{key}.half_width_ms", time["ms"], time["half_width_ms"]))
    memory = result.get("memory", {})
    for part, name in (("hit_overhead", "overhead of a hit"), ("block_time", "a block on the interface")):
        value, width = f"{part}_ms", f"{part}_half_width_ms"
        if value in memory:
            rows.append((name, f"memory.{value}", f"memory.{width}", memory[value], memory[width]))
    return [(name, [(key, f"{ms:.6f}"), (wide, f"{width:.6f}")]) for name, key, wide, ms, width in rows]


def _zone(index: int, zone: Mapping[str, Any]) -> list[_Value]:
    def looks(key: str) -> str:
        return f"{zone[key]['seen']} of {zone[key]['of']}"

    def whole(key: str) -> str:
        return "-" if zone[key] is None else f"{zone[key]:,}"

    columns = [
        ("first_sector", whole("first_sector")),
        ("first_sector_half_width", whole("first_sector_half_width")),
        ("first_cylinder", whole("first_cylinder")),
        ("last_cylinder", whole("last_cylinder")),
        ("cylinders_half_width", whole("cylinders_half_width")),
        ("sectors_per_track", whole("sectors_per_track")),
        ("sectors_per_track_half_width", f"{zone['sectors_per_track_half_width']:.3f}"),
        ("track_skew", whole("track_skew")),
        (None, looks("track_skew_looks")),
        ("cylinder_skew", whole("cylinder_skew")),
        (None, looks("cylinder_skew_looks")),
        ("sectors_skipped", whole("sectors_skipped")),
    ]
    return [(f"zones.{index}.{key}" if key else None, text) for key, text in columns]


def _irregular(result: Mapping[str, Any]) -> str:
    places = result.get("irregular", [])
    skipped = sum(place["sectors_skipped"] for place in places)
    return f"{skipped:,} sectors at {len(places):,} places" if places else ""
