"""A recording without a drive's file."""

import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

from diskwright import _toml
from diskwright.fitting._model import Model

# A drive that no recording exceeds: 32 TB. Nothing but its size is used.
_CYLINDERS, _SURFACES, _SECTORS = 1_000_000, 64, 1_000


def opened(description: dict[str, Any], trace: str | PathLike[str], format: str | None) -> Model:
    """The model of a description that is in no file yet."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drive.toml"
        file.write_text(text(description))
        return Model(file, trace, format)


def text(description: dict[str, Any]) -> str:
    """A description as a drive's file: its zones are tables of their own."""
    layout = dict(description["layout"])
    zones = layout.pop("zone")
    lines = [_toml.document({**description, "layout": layout})]
    for zone in zones:
        lines.append("\n[[layout.zone]]\n")
        lines += [f"{_toml.key(name)} = {_toml.value(inner, name)}\n" for name, inner in zone.items()]
    return "".join(lines)


def read(trace: str | PathLike[str], format: str | None) -> Model:
    """The recording beside a drive that stands for any."""
    return opened(
        {
            "kind": "hdd",
            "name": "any drive",
            "rotation": "6 ms",
            "heads": {"switch": "1 ms"},
            "seek": {"table": {"points_ms": [[1, 1.0], [_CYLINDERS - 1, 2.0]]}},
            "overhead": {"read_after_read": "0.1 ms"},
            "buffer": {"segments": 1, "segment_size": "512 blocks"},
            "layout": {
                "surfaces": _SURFACES,
                "cylinders": _CYLINDERS,
                "zone": [
                    {
                        "cylinders": [0, _CYLINDERS - 1],
                        "sectors_per_track": _SECTORS,
                        "track_skew": 0,
                        "cylinder_skew": 0,
                    }
                ],
            },
        },
        trace,
        format,
    )
