"""What a drive's buffer does or does not do: alternatives that are compared as models."""

from collections.abc import Iterator, Mapping
from typing import Any

from diskwright.fitting._parameters import at

Changes = Mapping[str, Any]

_CHOICES: dict[str, tuple[Any, ...]] = {
    "buffer.read.hits_written_data": (True, False),
    "buffer.read.partial_hits_at_once": (True, False),
    "buffer.read_ahead.until": ("none", "track", "cylinder", "segment", "stream-track"),
    "buffer.read_ahead.over_requested": (True, False),
    "buffer.read_ahead.after_hits": (True, False),
    "buffer.read_ahead.stops_within_sector": (True, False),
    "buffer.read_ahead.while_waiting": (True, False),
    "buffer.write.complete": ("on-medium", "buffered-alone", "buffered"),
    "buffer.write.own_segment": (True, False),
    "buffer.write.appends": (True, False),
    "buffer.bus.high_water": (0.0, 0.25, 0.5, 0.75, 1.0),
    "buffer.bus.kept_by_reads": (True, False),
    "interface.overlapped": (True, False),
}


def alternatives(description: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each switch with each value that it has not, and numbers of segments near its own."""
    for path, choices in _CHOICES.items():
        now = at(description, path)
        yield from ((path, choice) for choice in choices if choice != now)
    if at(description, "buffer.read_ahead.most") is not None:
        # What is read ahead takes no more of the segment than the request leaves.
        yield "buffer.read_ahead.most", None
    segments = int(at(description, "buffer.segments"))
    least = 2 if at(description, "buffer.write.own_segment") else 1
    others = {segments - 1, segments + 1, segments * 2, segments // 2}
    for other in sorted(others - {segments}):
        if least <= other <= 1024:
            yield "buffer.segments", other
