"""Is a drive with two actuators compared with drives that hold as much?"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import diskwright
from diskwright import reproduce
from diskwright.systems import system
from diskwright.systems.dual_actuator import _halves

USERS = 16


@pytest.mark.parametrize(("surfaces", "share"), [(18, 1), (9, 2)])
def test_a_drive_with_one_actuator_holds_as_much(tmp_path: Path, surfaces: int, share: int) -> None:
    written = tmp_path / "drive.toml"
    _halves._write(written, surfaces)
    made, whole = diskwright.drive(written), diskwright.drive(_halves.DUAL)
    assert made.capacity_blocks * share == whole.capacity_blocks
    for key in ("average_seek_ms", "full_stroke_ms", "cylinders", "rpm", "zones"):
        assert made[key] == whole[key], key
    description = diskwright.drive(written).description
    assert "arms" not in description
    assert description["layout"].get("access_ranges", 1) == 1


def test_every_way_is_under_every_load() -> None:
    places = [
        tuple(point.coordinates[key] for key in ("load", "way", "users"))
        for figure in _halves.FIGURES
        for point in figure.points
    ]
    assert places == [
        (load, way, users) for load in _halves.LOADS for way in _halves.WAYS for users in _halves.USERS
    ]


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], dict[str, Any]]:
    """The points with 16 outstanding, of a quick try."""
    figures = [
        replace(figure, points=[point for point in figure.points if point.coordinates["users"] == USERS])
        for figure in _halves.FIGURES
    ]
    part = replace(system("dual-actuator"), figures=figures, statements=[])
    told = reproduce.reproduce(part, quick=True).to_dict()
    return {(point["load"], point["way"]): point for one in told["figures"] for point in one["points"]}


def test_both_actuators_are_two_drives(found: dict[tuple[str, str], dict[str, Any]]) -> None:
    for load in _halves.LOADS:
        dual, pair = found[load, "two actuators"], found[load, "two drives, in turn"]
        assert dual["iops"] == pytest.approx(pair["iops"], rel=0.03), load
        assert dual["mb_per_s"] == pytest.approx(pair["mb_per_s"], rel=0.03), load


def test_the_notes_say_what_is_found(found: dict[tuple[str, str], dict[str, Any]]) -> None:
    def rate(load: str, way: str) -> float:
        return float(found[load, way]["iops"])

    for load in ("reads", "reads and writes"):
        assert 1.4 < rate(load, "two actuators") / rate(load, "one actuator") < 1.75
        assert rate(load, "two drives, striped") == pytest.approx(rate(load, "two actuators"), rel=0.03)
    half = "reads of the first half"
    assert rate(half, "two actuators") < 0.85 * rate(half, "one actuator")
    assert rate(half, "two drives, striped") > 1.9 * rate(half, "two actuators")
    assert 1.4 < rate("streams", "two actuators") / rate("streams", "one actuator") < 2


def test_rates_are_those_of_the_requests(found: dict[tuple[str, str], dict[str, Any]]) -> None:
    for (load, _), point in found.items():
        size = 1 << 20 if load == "streams" else 4096
        assert point["mb_per_s"] == pytest.approx(point["iops"] * size / 1e6)
        # Little's law: all users' requests are outstanding all the time, but for the beginning and the end.
        assert point["iops"] * point["response_ms"] / 1e3 == pytest.approx(USERS, rel=0.1)
