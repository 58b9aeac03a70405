"""`diskwright fit --from-scratch`: a drive from its recording alone."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskwright
from conftest import Command, reference
from diskwright.fitting import _clusters, _phase
from diskwright.fitting._parameters import ms
from made_up import record

# A small disk with three zones, writes that wait for the medium and a buffer for what was read.
_TURN_MS = 60_000 / 7_193
_ZONES = ((0, 120), (24_000, 96), (43_200, 72))
_DRIVE = """\
kind = "hdd"
name = "made up"
rotation = "7193 rpm"
[heads]
switch = "0.7 ms"
[seek.table]
points_ms = [[1, 0.9], [10, 1.4], [299, 5.0]]
[overhead]
read_after_read = "0.4 ms"
read_after_write = "0.4 ms"
write_after_read = "0.5 ms"
write_after_write = "0.5 ms"
[interface]
block_time = "0.02 ms"
[buffer]
segments = 4
segment_size = "256 blocks"
read = { hit_after_read = "0.2 ms", hit_after_write = "0.2 ms" }
read_ahead = { until = "segment" }
[layout]
surfaces = 2
cylinders = 300
[[layout.zone]]
cylinders = [0, 99]
sectors_per_track = 120
track_skew = 20
cylinder_skew = 32
[[layout.zone]]
cylinders = [100, 199]
sectors_per_track = 96
track_skew = 16
cylinder_skew = 26
[[layout.zone]]
cylinders = [200, 299]
sectors_per_track = 72
track_skew = 12
cylinder_skew = 20
"""
_LOAD: Mapping[str, Any] = {
    "requests": 6_000,
    "arrivals": {"closed": {"users": 1, "think": "11.3 ms"}},
    "reads": 0.5,
    "size": [{"size": "2 blocks", "share": 0.6}, {"size": "8 blocks", "share": 0.4}],
    "address": {"streams": {"count": 4, "run": "16 blocks", "turns": "random"}},
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(0.0, id="exact", marks=pytest.mark.long),
        pytest.param(20.0, id="with noise", marks=pytest.mark.long),
    ],
)
def trace(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scratch")
    return record(folder / "made-up", _DRIVE, _LOAD, seed=3, noise_us=request.param)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording that is long enough for a drive and no longer."""
    folder = tmp_path_factory.mktemp("short")
    return record(folder / "short", _DRIVE, {**_LOAD, "requests": 1_200}, seed=4, noise_us=20.0)


@pytest.fixture(scope="module")
def found(trace: Path) -> diskwright.Fit:
    return diskwright.fit(None, trace, picture=True)


def test_the_turn_is_found(found: diskwright.Fit) -> None:
    rotation = found.to_dict()["parameters"]["rotation"]
    assert rotation["value"] == pytest.approx(_TURN_MS, rel=2e-5)
    assert rotation["start"] is None


def test_the_zones_are_found(found: diskwright.Fit) -> None:
    zones = tomllib.loads(found.toml)["layout"]["zone"]
    surfaces = tomllib.loads(found.toml)["layout"]["surfaces"]
    start = 0
    for zone, (truth, sectors) in zip(zones, _ZONES, strict=True):
        assert abs(zone["sectors_per_track"] - sectors) <= 1
        # A window of LBNs is a 48th of the drive.
        assert abs(start - truth) <= 57_600 / 48
        first, last = zone["cylinders"]
        spare = zone.get("spares", {}).get("sectors", 0)
        start += (last - first + 1) * surfaces * zone["sectors_per_track"] - spare


def test_the_interface_and_hits_are_found(found: diskwright.Fit) -> None:
    drive = tomllib.loads(found.toml)
    assert ms(drive["interface"]["block_time"]) == pytest.approx(0.02, abs=0.005)
    # What of a hit is its overhead and what its completion is not told apart.
    hit = ms(drive["buffer"]["read"]["hit_after_read"]) + ms(drive["overhead"]["completion_read"])
    assert hit == pytest.approx(0.2, abs=0.02)


def test_what_is_not_told_is_named(found: diskwright.Fit) -> None:
    assumed = found.to_dict()["assumed"]
    assert "capacity" in assumed
    lines = tomllib.loads(found.toml)["estimated"]
    for path, text in assumed.items():
        assert any(path in line and text in line for line in lines)


def test_the_page_of_a_drive_from_scratch(found: diskwright.Fit) -> None:
    from diskwright import report

    page = report.page(found)
    assert "--from-scratch" in page and "Errors by kind" in page


@pytest.mark.long
def test_the_capacity_is_that_of_the_drive(short: Path) -> None:
    found = diskwright.fit(None, short, capacity=57_600)
    assert "capacity" not in found.to_dict()["assumed"]
    with pytest.raises(diskwright.InputError, match="too little"):
        diskwright.fit(None, short, capacity=1_000)
    with pytest.raises(TypeError, match="capacity"):
        diskwright.fit("cheetah-9lp", short, capacity=57_600)


def test_the_command(command: Command, short: Path, tmp_path: Path) -> None:
    made, facts = tmp_path / "made.toml", tmp_path / "found.json"
    done = command(
        "fit", "--from-scratch", str(short), "--output", str(made), "--json", str(facts), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "capacity" in done.stdout and "rotation" in done.stdout
    found = json.loads(facts.read_text())
    assert found["drive"] is None
    judged = found["judged"]["rms_demerit_ms"]
    assert diskwright.validate(made, short).rms_demerit_ms < judged + 0.1
    assert command("fit", str(short), cwd=tmp_path).returncode == 2
    assert command("fit", "--from-scratch", "cheetah-9lp", str(short), cwd=tmp_path).returncode == 2
    assert command("fit", "cheetah-9lp", str(short), "--capacity", "9", cwd=tmp_path).returncode == 2


def test_a_recording_that_tells_too_little_is_refused(tmp_path: Path) -> None:
    trace = record(tmp_path / "short", _DRIVE, {**_LOAD, "requests": 100}, seed=1)
    with pytest.raises(diskwright.InputError, match="too little of a drive"):
        diskwright.fit(None, trace)


def test_pauses_that_are_not_recorded_lose_the_phase() -> None:
    chance = np.random.default_rng(1)
    lbn = chance.integers(0, 2_000, 3_000).astype(np.float64)
    rows = np.arange(3_000)
    write = np.zeros(3_000, dtype=bool)
    # Each ends when its LBN has passed, some turns later.
    angle = lbn / 100
    turns = np.cumsum(chance.integers(1, 5, 3_000))
    time = 8.0 * (turns + angle % 1)
    order = np.argsort(time)
    kept = _phase.Ends(rows, time[order], lbn[order], write, False)
    told = _phase.turn(kept)
    assert told is not None and told.ms == pytest.approx(8.0, rel=1e-4)
    lost = time[order] + np.cumsum(chance.uniform(0, 8.0, 3_000))
    assert _phase.turn(_phase.Ends(rows, lost, lbn[order], write, False)) is None


def test_times_of_the_buffer_are_told_from_those_of_the_medium() -> None:
    chance = np.random.default_rng(2)
    blocks = chance.choice([4.0, 8.0, 32.0], 2_000)
    medium = chance.uniform(2.0, 12.0, 2_000)
    assert _clusters.cluster(medium, blocks) is None
    is_hit = chance.random(2_000) < 0.2
    times = np.where(is_hit, 0.3 + 0.1 * blocks + chance.normal(0, 0.01, 2_000), medium)
    found = _clusters.cluster(times, blocks)
    assert found is not None
    assert found.base == pytest.approx(0.3, abs=0.02)
    assert found.block == pytest.approx(0.1, abs=0.002)


@pytest.mark.long
@pytest.mark.parametrize(
    ("trace", "disksim"), [("cheetah9LP", 0.1071), ("ibm18es", 0.1361), ("hp_c3323a", 0.3057)]
)
def test_drives_from_their_recordings_do_as_well_as_those_of_disksim(trace: str, disksim: float) -> None:
    found = diskwright.fit(None, reference(f"disksim/{trace}.trace"))
    assert found.judged.rms_demerit_ms < 1.5 * disksim
