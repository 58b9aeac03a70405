"""Drives that are not there: those of the paper with one property changed."""

import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import diskwright
from diskwright import _toml
from diskwright.reproduce import GeneratedFile
from diskwright.systems.dual_actuator._runs import CHEETAH, IBM, REGION_BLOCKS

ZONED_OF = {IBM: "ibm-18es", CHEETAH: "cheetah-9lp"}
"""The drives as they are."""


def changed(
    drive: str,
    *,
    surfaces: int | None = None,
    cylinders: int | None = None,
    seek: str | None = None,
    heads: str | None = None,
    rotation: str | None = None,
) -> GeneratedFile:
    """One of the paper's drives with something changed.

    surfaces: their number; the cylinders follow from the capacity. cylinders: their number instead.
    seek, heads, rotation: those of the drive of this name; heads are their switch and the write settling.
    """
    arguments = {
        "drive": drive,
        "surfaces": surfaces,
        "cylinders": cylinders,
        "seek": seek,
        "heads": heads,
        "rotation": rotation,
    }
    return GeneratedFile(_write, arguments, suffix=".toml")


def _write(
    target: Path,
    drive: str,
    surfaces: int | None,
    cylinders: int | None,
    seek: str | None,
    heads: str | None,
    rotation: str | None,
) -> None:
    found = described(drive)
    for key, of in (("seek", seek), ("heads", heads), ("rotation", rotation)):
        if of is not None:
            found[key] = described(of)[key]
    layout = found["layout"]
    tracks = layout["surfaces"] * layout["cylinders"]
    if surfaces is not None:
        layout["surfaces"] = surfaces
    layout["cylinders"] = cylinders or round(tracks / layout["surfaces"])
    (zone,) = layout.pop("zone")
    zone["cylinders"] = [0, layout["cylinders"] - 1]
    found["name"] += ", changed"
    # A list of tables has a line of its own.
    written = _toml.document(found)
    target.write_text(f"{written}[[layout.zone]]\n{_toml.document(zone)}", encoding="utf-8")


def described(name: str) -> dict[str, Any]:
    """The description of a drive that comes with diskwright."""
    return tomllib.loads(diskwright.drive_toml(name))


def deviation(drive: str) -> dict[str, float]:
    """How far the paper's straight seek curve is from the drive's own, both as they are measured on the
    simulated drives: the mean of the absolute difference as a share of the drive's own time.

    all: of all distances alike. random: weighted as two places anywhere on the drive are apart. region: as
    two in the cylinders of what is there at the start.
    """
    straight, own = (_seek_ms(name) for name in (drive, ZONED_OF[drive]))
    longest = min(len(straight), len(own)) - 1
    (zone,) = described(drive)["layout"]["zone"]
    cylinder = described(drive)["layout"]["surfaces"] * zone["sectors_per_track"]
    off = [0.0, *(abs(straight[at] - own[at]) / own[at] for at in range(1, longest + 1))]

    def mean(cylinders: int) -> float:
        distances = range(1, min(longest, cylinders - 1) + 1)
        weights = sum(cylinders - at for at in distances)
        return sum((cylinders - at) * off[at] for at in distances) / weights

    return {
        "all": sum(off) / longest,
        "random": mean(longest + 1),
        "region": mean(round(REGION_BLOCKS / cylinder)),
    }


def _seek_ms(drive: str) -> list[float]:
    """The seek time of each distance, those between measured ones on straight lines."""
    measured = diskwright.probe(drive, only=["seek"]).seek
    known = [(0, 0.0), *((at.distance_cylinders, at.read_ms) for at in measured)]
    times = [0.0]
    for (before, start), (after, end) in pairwise(known):
        step = (end - start) / (after - before)
        times += [start + step * (at - before) for at in range(before + 1, after + 1)]
    return times
