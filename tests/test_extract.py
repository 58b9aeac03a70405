"""`diskwright extract`: a drive's parameters from its answers, against what the drive's file has."""

import itertools
import json
import math
import random
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import diskwright
from diskwright.extracting import _target
from diskwright.extracting._platter import NoRotationError, open_platter

# Drives with segments, with a shared memory, without memory, with defects, without skews, with two arms.
_FEW = ["cheetah-9lp", "hp-c2249a", "ibm-18es", "ibm-18es-linear", "exos-2x18", "travelstar-5k160"]
_DISKS = diskwright.drives(kind="hdd")
# What is asked of the rotation, of seek times, and of the share of zones with the right skews.
_ROTATION, _SEEK = 10e-6, 0.02


def _ms(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1e3, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "ns": 1e-6}[unit]


def _turn_ms(text: str) -> float:
    return 60_000 / float(text.split()[0]) if text.endswith("rpm") else _ms(text)


def _curve(seek: Mapping[str, Any], cylinders: int) -> Callable[[int], float]:
    """A seek curve as the manual defines its forms, ms."""
    ((form, values),) = seek.items()
    if form == "linear":
        single, full = _ms(values["single"]), _ms(values["full"])
        return lambda distance: single + (full - single) * (distance - 1) / (cylinders - 2)
    if form == "hp":
        first, (a, b), (c, e) = values.get("first_ms", []), values["short_ms"], values["long_ms"]

        def hp(distance: int) -> float:
            if distance <= len(first):
                return float(first[distance - 1])
            return float(a + b * math.sqrt(distance) if distance < values["boundary"] else c + e * distance)

        return hp
    if form == "lee":
        single, average, full = (_ms(values[key]) for key in ("single", "average", "full"))
        root, line = _lee(single, average, full, cylinders)
        return lambda distance: root * math.sqrt(distance - 1) + line * (distance - 1) + single
    assert form == "table"
    points = [(0, 0.0), *map(tuple, values["points_ms"])]

    def table(distance: int) -> float:
        pairs = list(itertools.pairwise(points))
        within = [pair for pair in pairs if distance <= pair[1][0]]
        (near, low), (far, high) = (within or pairs[-1:])[0]
        return float(low + (high - low) * (distance - near) / (far - near))

    return table


def _lee(single: float, average: float, full: float, cylinders: int) -> tuple[float, float]:
    """The two factors of Lee's curve: it goes through the full stroke, and has the mean that is given."""
    last = cylinders - 2
    # Of two random cylinders, with the chance of each distance given that it is not 0.
    weights = [2 * (cylinders - distance) for distance in range(1, cylinders)]
    whole = sum(weights)
    roots = sum(weight * math.sqrt(distance) for distance, weight in enumerate(weights)) / whole
    lines = sum(weight * distance for distance, weight in enumerate(weights)) / whole
    ends = math.sqrt(last), last
    determinant = roots * ends[1] - lines * ends[0]
    mean, most = average - single, full - single
    return (mean * ends[1] - lines * most) / determinant, (roots * most - mean * ends[0]) / determinant


def _judge(name: str) -> None:
    found = diskwright.extract(name)
    truth = diskwright.drive(name).to_dict()["description"]
    layout = truth["layout"]
    zones = layout["zone"]
    ranges = layout.get("access_ranges") or 1
    heads = layout["surfaces"] // ranges
    assert found.rotates and found.sector_bytes == _bytes(truth["sector_size"])
    assert found.rotation.turn_ms == pytest.approx(_turn_ms(truth["rotation"]), rel=_ROTATION)
    assert found.surfaces == heads
    assert found.to_dict().get("access_ranges", 1) == ranges
    # Cylinders before the first sector have no address: nothing tells how many there are.
    before = zones[0].get("front", 0) // (zones[0]["sectors_per_track"] * heads)
    begins = {zone["first_cylinder"]: zone for zone in found.to_dict()["zones"][: len(found.zones) // ranges]}
    assert len(begins) == len(zones)
    for index, zone in enumerate(zones):
        first = zone["cylinders"][0] - before if index else 0
        (near,) = (begins[at] for at in (first - 1, first, first + 1) if at in begins)
        assert near["sectors_per_track"] == zone["sectors_per_track"]
        assert near["track_skew"] == zone.get("track_skew", 0)
        assert near["cylinder_skew"] == zone.get("cylinder_skew", 0)
    seek = _curve(truth["seek"], layout["cylinders"])
    assert len(found.seek) > 30
    for point in found.seek:
        assert point.ms == pytest.approx(seek(point.distance_cylinders), rel=_SEEK)
    # The longest seek that was made is nearly from the first cylinder to the last one with sectors.
    assert found.seek[-1].distance_cylinders > 0.97 * layout["cylinders"]
    switch = _ms(truth["heads"]["switch"])
    assert found.head_switch.ms == pytest.approx(switch, rel=_SEEK, abs=0.001)


def _bytes(size: str) -> int:
    number, unit = size.split()
    return int(number) * {"B": 1, "KiB": 1024, "block": 512, "blocks": 512}[unit]


@pytest.mark.parametrize("name", _FEW)
def test_a_drive_is_measured_as_its_file_has_it(name: str) -> None:
    _judge(name)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in _DISKS if name not in _FEW])
def test_every_drive_of_the_library_is_measured_as_its_file_has_it(name: str) -> None:
    _judge(name)


@pytest.mark.parametrize(
    ("name", "reads", "share"),
    [
        ("hp-c2249a", 1.0, 0.99),
        ("exos-x18", 0.5, 0.99),
        ("hp-c3323a", 0.5, 0.98),
        ("cheetah-9lp", 0.5, 0.95),
        ("ibm-18es", 0.5, 0.95),
    ],
)
def test_the_measured_drive_serves_requests_as_the_drive_does(
    name: str, reads: float, share: float, tmp_path: Path
) -> None:
    file = tmp_path / "measured.toml"
    file.write_text(diskwright.extract(name).toml)
    responses = []
    for drive in (name, str(file)):
        spec = {
            "seed": 3,
            "workload": {
                "synthetic": {
                    "requests": 1_500,
                    "arrivals": {"closed": {"users": 1}},
                    "reads": reads,
                    "size": "8 blocks",
                }
            },
            "device": {"hdd": {"drive": drive}},
        }
        log = diskwright.run(spec, requests=True).request_log
        assert log is not None
        rows = log.to_polars().sort("issue_ns").to_dicts()
        responses.append([(row["lbn"], row["completion_ns"] - row["issue_ns"]) for row in rows])
    pairs = list(zip(*responses, strict=True))
    assert all(before[0] == after[0] for before, after in pairs)
    close = sum(abs(before[1] - after[1]) < 50_000 for before, after in pairs)
    assert close > share * len(pairs)


def test_sectors_that_addresses_skip_are_named() -> None:
    found = diskwright.extract("ibm-18es")
    truth = diskwright.drive("ibm-18es").to_dict()["description"]["layout"]["zone"]
    slipped = [len(zone.get("slipped") or []) for zone in truth]
    assert [zone.sectors_skipped for zone in found.zones] == slipped
    assert sum(place.sectors_skipped for place in found.irregular) == sum(slipped)


def test_memory_is_measured() -> None:
    found = diskwright.extract("exos-x18").memory
    truth = diskwright.drive("exos-x18").to_dict()["description"]["pool"]
    assert found.kind == "shared" and found.absorbs_writes
    assert found.size_blocks * 512 == pytest.approx(256 * 2**20, rel=0.01)
    assert found.hit_overhead_ms == pytest.approx(_ms(truth["hit_overhead"]), rel=0.01)
    assert found.block_time_ms == pytest.approx(512 / 600e6 * 1e3, rel=0.01)
    assert found.reads_ahead_blocks == 4096
    # It takes the bus once all blocks of a read are there, and tells 0.241 ms later that it is complete.
    hp = diskwright.extract("hp-c3323a")
    assert hp.memory.waits_for_share == pytest.approx(1.0, abs=1e-3)
    assert _ms(tomllib.loads(hp.toml)["overhead"]["completion_read"]) == pytest.approx(0.241, abs=1e-3)
    segments = diskwright.extract("cheetah-9lp").memory
    assert segments.waits_for_share < 0.01
    assert (segments.kind, segments.segments, segments.absorbs_writes) == ("segments", 3, True)
    assert segments.block_time_ms == pytest.approx(0.105, rel=0.01)
    assert segments.hit_overhead_ms == pytest.approx(0.066, rel=0.01)


def test_a_changed_drive_is_told_from_the_one_it_is_like(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text(
        'like = "hp-c2249a"\nname = "other"\nrotation = "5407 rpm"\n[heads]\nswitch = "1.3 ms"\n'
        '[overhead]\nread_after_read = "0.7 ms"\n'
    )
    found, usual = diskwright.extract(file), diskwright.extract("hp-c2249a")
    assert found.rotation.rpm == pytest.approx(5407, rel=_ROTATION)
    assert found.head_switch.ms == pytest.approx(1.3, abs=0.002)
    more = found.overheads.read_after_read.ms - usual.overheads.read_after_read.ms
    assert more == pytest.approx(0.7 - 0.55821, abs=0.002)


def test_what_does_not_rotate_is_said(tmp_path: Path) -> None:
    found = diskwright.extract("slc-classic")
    assert not found.rotates and found.toml == ""
    assert "less than any platter's turn" in found.why_not
    command = [sys.executable, "-m", "diskwright", "extract", "slc-classic"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "It does not rotate" in told.stdout
    file = tmp_path / "drive.toml"
    refused = subprocess.run([*command, "--output", str(file)], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "no drive's file is written" in refused.stderr
    assert not file.exists()


class _Chance(_target._Uninterrupted):
    """A device whose answers take times of chance, as long as a disk's."""

    blocks, may_write, exact, identity = 10_000_000, False, True, "chance"

    def __init__(self) -> None:
        self.random = random.Random(1)
        self._end, self.requests = 0, 0

    @property
    def now_ns(self) -> int:
        return self._end

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        issue = self._end + pause_ns
        self._end = issue + self.random.randrange(2_000_000, 15_000_000)
        return issue, self._end


def test_times_of_chance_are_no_rotation() -> None:
    with pytest.raises(NoRotationError, match="not whole turns apart"):
        open_platter(_Chance())


def test_a_budget_ends_the_measurement() -> None:
    found = diskwright.extract("exos-x18", minutes=0.5)
    assert 24 < found.seconds < 31
    assert any("budget" in note for note in found.notes)


def test_progress_rises_to_its_end() -> None:
    told: list[tuple[int, int | None]] = []
    diskwright.extract("hp-c2249a", progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told) and {total for _, total in told} == {1000} and told[-1][0] > 900


def test_a_file_is_read_past_memory(tmp_path: Path) -> None:
    plain = tmp_path / "plain.bin"
    plain.write_bytes(bytes(8 * 2**20))
    before = plain.read_bytes()
    try:
        target = _target.FileTarget(plain, allow_writes=False)
    except diskwright.InputError as error:
        pytest.skip(f"this file system has no direct access: {error}")
    assert target.blocks == 16_384 and not target.may_write
    issue, end = target.ask(2_000_000, 7, 3)
    assert end > issue
    assert plain.read_bytes() == before


def test_the_command_writes_json_and_a_drive(tmp_path: Path) -> None:
    file, result = tmp_path / "measured.toml", tmp_path / "measured.json"
    command = [sys.executable, "-m", "diskwright", "extract", "hp-c2249a"]
    command += ["--output", str(file), "--json", str(result)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.search(r"turns a minute +5,400\.000", told.stdout)
    found = json.loads(result.read_text())
    assert found["schema"] == 1 and len(found["zones"]) == 8
    drive = tomllib.loads(file.read_text())
    assert drive["layout"]["surfaces"] == 17
    assert diskwright.drive(str(file)).name == "as measured: hp-c2249a"


def test_writes_need_a_confirmation(tmp_path: Path) -> None:
    plain = tmp_path / "plain.bin"
    plain.write_bytes(b"kept" * 2**20)
    command = [sys.executable, "-m", "diskwright", "extract", str(plain), "--allow-writes"]
    told = subprocess.run(command, input="n\n", capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "will be lost" in told.stderr
    assert plain.read_bytes() == b"kept" * 2**20
