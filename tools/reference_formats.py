"""The page of the reference that lists the formats of traces."""

from collections.abc import Iterable
from typing import Any

from diskwright import Record

_NS_PER_YEAR = 365.25 * 24 * 3600 * 1e9
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))


def formats_page(formats: Iterable[Record]) -> str:
    """A list of the formats, and what those that can be written hold of a request."""
    known = list(formats)
    written = [(format, format.holds) for format in known if format.holds is not None]
    return "\n".join(
        [
            "# Trace formats",
            "",
            "The formats in which traces are read and written. The pages that they lead to describe them "
            "byte by byte or column by column.",
            "",
            "| name | what it is | usual extensions | read | written |",
            "|---|---|---|---|---|",
            *(_row(_link(f), f.summary, _codes(f.extensions), f.readable, f.writable) for f in known),
            "",
            "## What a written file holds",
            "",
            "Times are rounded to the unit; what has no place is left out and counted, or is an error: "
            "[`diskwright convert`](../cli/convert.md) tells.",
            "",
            "| format | unit of time | flushes | trims | FUA | service times |",
            "|---|---|---|---|---|---|",
            *(
                _row(_link(f), _time(h.time_unit_ns), h.flushes, h.trims, h.fua, h.recorded)
                for f, h in written
            ),
            "",
            "## Limits of a written file",
            "",
            "| format | extension | last arrival, years | highest device | highest LBN | blocks a request |",
            "|---|---|---|---|---|---|",
            *(
                _row(
                    _link(f),
                    f"`.{f.written_extension}`" if f.written_extension else "",
                    f"{h.latest_arrival_ns / _NS_PER_YEAR:,.0f}",
                    "one device only" if h.max_device is None else _number(h.max_device),
                    _number(h.max_lbn),
                    f"{h.min_blocks} to {_number(h.max_blocks)}",
                )
                for f, h in written
            ),
        ]
    )


def _link(format: Record) -> str:
    return f"[`{format.name}`](../formats/{format.name}.md)"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`.{name}`" for name in names)


def _row(*cells: Any) -> str:
    texts = (("yes" if cell else "no") if isinstance(cell, bool) else str(cell) for cell in cells)
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _time(ns: int) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if ns % size == 0)
    return f"{ns // size} {unit}"


def _number(value: int) -> str:
    """A number, as a power of two where it is one or lies just below."""
    for offset in (0, 1, 2):
        bits = (value + offset).bit_length() - 1
        if bits >= 16 and value + offset == 1 << bits:
            return f"2^{bits}" + (f" \N{MINUS SIGN} {offset}" if offset else "")
    return f"{value:,}"
