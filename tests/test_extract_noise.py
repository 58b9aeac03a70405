"""`diskwright extract` where times have noise, and where it is interrupted."""

import io
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import diskwright
from conftest import COMMAND, Command, Look, environment
from diskwright import report
from diskwright.cli.extract import _report
from diskwright.extracting._answer import extract
from diskwright.extracting._noisy_zones import HiddenError, NoisyLayout
from diskwright.extracting._target import SimulatedTarget, _mounts, _Uninterrupted
from served import serving

_LIVE = '[device.{kind}]\ndrive = "{drive}"\n'


class _Noisy(_Uninterrupted):
    """A drive of the simulator behind a host: requests and answers are late by some 30 µs, and one in a
    hundred by milliseconds more.

    late: requests that something else made before, after which the platter is at another angle.
    """

    exact, may_write = False, False
    identity = "noisy"

    def __init__(self, drive: str, late: int = 0) -> None:
        self._inner = SimulatedTarget(drive)
        self._random = random.Random(1)
        self._end = 0
        self.blocks, self.requests = self._inner.blocks, 0
        for index in range(late):
            self.ask(7_000_003 + 13 * index, 1000, 1)
        self.requests = 0

    @property
    def now_ns(self) -> int:
        return self._end

    def _late(self) -> int:
        late = self._random.gammavariate(4, 7_500)
        return round(late + (self._random.expovariate(1 / 2e6) if self._random.random() < 0.01 else 0.0))

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        issue = self._end + pause_ns
        arrives = issue + self._late()
        _, end = self._inner.ask(max(arrives - self._inner.now_ns, 0), lbn, blocks, write, through)
        self._end = end + self._late()
        self.requests += 1
        return issue, self._end


def _judge(found: dict[str, Any], truth: dict[str, Any], share: float) -> None:
    """What was measured with noise, against what is measured without."""
    turn, true_turn = found["rotation"], truth["rotation"]["turn_ms"]
    assert abs(turn["turn_ms"] - true_turn) < 2 * turn["half_width_ms"] < 2e-6 * true_turn
    assert found["surfaces"] == truth["surfaces"]
    exact = [(zone["first_sector"], zone["sectors_per_track"]) for zone in truth["zones"]]
    for zone in found["zones"]:
        near = [
            other
            for other in truth["zones"]
            if abs(zone["first_sector"] - other["first_sector"])
            <= max(2 * zone["first_sector_half_width"], 3)
        ]
        assert len(near) == 1, zone
        for key in ("sectors_per_track", "track_skew", "cylinder_skew"):
            assert zone[key] == near[0][key], zone
        off_by = abs(zone["first_cylinder"] - near[0]["first_cylinder"])
        assert off_by <= max(2 * zone["cylinders_half_width"], 1), zone
    assert len(found["zones"]) == len(exact)
    times = {point["distance_cylinders"]: point["ms"] for point in truth["seek"]}
    both = [point for point in found["seek"] if point["distance_cylinders"] in times]
    assert len(both) > 25
    off = [abs(point["ms"] - times[point["distance_cylinders"]]) for point in both]
    within = sum(error <= point["half_width_ms"] for error, point in zip(off, both, strict=True))
    assert within >= share * len(both)
    assert all(error < 3 * point["half_width_ms"] for error, point in zip(off, both, strict=True))


@pytest.mark.parametrize("name", ["hp-c2249a", pytest.param("hp-c3323a", marks=pytest.mark.long)])
def test_a_drive_is_measured_through_noise(name: str) -> None:
    _judge(extract(_Noisy(name), name, None, None).to_dict(), diskwright.extract(name).to_dict(), 0.85)


def test_where_noise_hides_the_zones_the_turn_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hidden(layout: NoisyLayout) -> None:
        raise HiddenError(layout.platter.noise, 258_000)

    monkeypatch.setattr(NoisyLayout, "survey", hidden)
    found = extract(_Noisy("hp-c2249a"), "hp-c2249a", None, None)
    told = found.to_dict()
    assert any("hides the zones, whose sectors pass in 258 µs" in note for note in told["notes"])
    turn = told["rotation"]
    assert abs(turn["turn_ms"] - 60e3 / 5400) < turn["half_width_ms"] < 1e-3
    assert told["noise_ms"] > 0.005 and told["sector_bytes"] == 512
    assert "zones" not in told and found.toml == ""
    report.write(found, tmp_path / "page.html")
    assert "no: the notes say what hides the rest" in (tmp_path / "page.html").read_text()
    with io.StringIO() as file:
        Console(file=file, width=80).print(*_report(found))
        assert "turns a minute" in file.getvalue() and "noise of a completion" in file.getvalue()


class _StoppedError(Exception):
    pass


def _stopping(at: int) -> Any:
    def progress(done: int, total: int | None) -> None:
        if done >= at:
            raise _StoppedError

    return progress


@pytest.mark.long
def test_an_interrupted_measurement_finds_the_platter_again(tmp_path: Path) -> None:
    part = tmp_path / "measured.toml.part"
    requests = []
    for late, at in ((3, 300), (503, 800)):
        with pytest.raises(_StoppedError):
            extract(_Noisy("hp-c2249a", late), "hp-c2249a", None, _stopping(at), part)
        requests.append(part.read_text().count("\n"))
    assert requests[1] > requests[0] > 500
    found = extract(_Noisy("hp-c2249a", 10_000), "hp-c2249a", None, None, part)
    assert not part.exists()
    _judge(found.to_dict(), diskwright.extract("hp-c2249a").to_dict(), 0.85)


def test_a_budget_leaves_what_was_measured_and_the_same_command_goes_on(
    tmp_path: Path, command: Command
) -> None:
    output, part = tmp_path / "measured.toml", tmp_path / "measured.toml.part"
    arguments = ["extract", "hp-c2249a", "--minutes", "1", "--output", output, "--json", "found.json"]
    refused = command(*arguments)
    assert refused.returncode == 2 and "the same command goes on" in refused.stderr
    assert part.exists() and not output.exists()
    seconds = []
    while part.exists():
        assert command(*arguments).returncode == 0
        found = json.loads((tmp_path / "found.json").read_text())
        assert found["complete"] != part.exists()
        seconds.append(found["seconds"])
    assert 115 < seconds[0] < 121 and len(seconds) == 2
    assert output.read_text() == diskwright.extract("hp-c2249a").toml


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.long)])
def test_what_a_signal_interrupts_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    output, part = tmp_path / "measured.toml", tmp_path / "measured.toml.part"
    arguments = [str(COMMAND), "extract", "ibm-18es", "--output", str(output)]
    process = subprocess.Popen(
        arguments, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 60
    while not (part.exists() and part.stat().st_size > 100_000):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.002)
    process.send_signal(number)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode != 0
    assert ("the same command goes on" in complaint) == (number == signal.SIGINT)
    assert part.exists() and not output.exists()
    # A line that was not written whole is left out.
    with part.open("a") as file:
        file.write("[1, 2")
    subprocess.run(arguments, env=environment(), capture_output=True, check=True)
    assert not part.exists()
    assert output.read_text() == diskwright.extract("ibm-18es").toml


def test_what_was_measured_of_something_else_is_not_used(tmp_path: Path) -> None:
    part = tmp_path / "measured.toml.part"
    found = diskwright.extract("hp-c2249a", minutes=0.2, resume=part)
    assert not found.complete and part.exists()
    with pytest.raises(diskwright.InputError, match="something else"):
        diskwright.extract("exos-x18", resume=part)
    part.write_text("a letter\n")
    with pytest.raises(diskwright.InputError, match="not replaced"):
        diskwright.extract("hp-c2249a", resume=part)
    assert part.read_text() == "a letter\n"


def test_a_served_ssd_does_not_rotate(tmp_path: Path) -> None:
    spec = _LIVE.format(kind="ssd", drive="samsung-870-evo")
    with serving(tmp_path, "--discard-contents", spec=spec) as served:
        found = diskwright.extract(served.path)
        by_uri = diskwright.extract(served.uri)
    for one in (found, by_uri):
        assert not one.rotates and one.capacity_blocks == 1_000_204_886_016 // 512
        assert "reads at random places take" in one.why_not


def test_a_disk_served_as_fast_as_possible_shows_no_rotation(tmp_path: Path) -> None:
    spec = _LIVE.format(kind="hdd", drive="hp-c2249a")
    with serving(tmp_path, "--discard-contents", "--as-fast-as-possible", spec=spec) as served:
        assert not diskwright.extract(served.path).rotates


def test_a_speed_is_of_what_is_served() -> None:
    with pytest.raises(diskwright.InputError, match="only what is served has a speed"):
        diskwright.extract("hp-c2249a", speed=0.5)


def test_each_value_has_its_confidence() -> None:
    found = diskwright.extract("exos-x18")
    for zone in found.to_dict()["zones"]:
        assert 0 < zone["sectors_per_track_half_width"] < 0.1
        assert zone["first_sector_half_width"] == zone["cylinders_half_width"] == 0
        for looks in (zone["track_skew_looks"], zone["cylinder_skew_looks"]):
            assert looks["seen"] > 0.8 * looks["of"] > 0
    memory = found.to_dict()["memory"]
    assert 0 < memory["hit_overhead_half_width_ms"] < 1e-4 and memory["block_time_half_width_ms"] > 0
    comments = [line for line in found.toml.splitlines() if line.startswith("# ")]
    assert any(line.startswith("# seek over 1: 0.0000") for line in comments)
    assert sum("sectors per track ±" in line for line in comments) == len(found.zones)


def test_a_page_shows_what_was_measured(tmp_path: Path, command: Command, look: Look) -> None:
    page = tmp_path / "found.html"
    assert command("extract", "hp-c2249a", "--report", page).returncode == 0
    browser = look(page)
    text = browser.page.inner_text("body")
    assert "5,400.000" in text and "overhead of a write after read" in text
    assert browser.page.locator("figure.chart").count() == 3
    result = json.loads(browser.page.inner_text("#result"))
    for cell in browser.page.locator("[data-value^='zones.0.']").all():
        key = cell.get_attribute("data-value") or ""
        value = result["zones"][0][key.split(".")[2]]
        assert math.isclose(float(cell.inner_text().replace(",", "")), value, abs_tol=6e-4)
    assert not browser.complaints and not browser.requested[1:]


def _mounted(folder: Path) -> tuple[str, list[str]]:
    """A loop device that is mounted, or was to be, and the messages of what failed."""
    image, place = folder / "image", folder / "mounted"
    image.write_bytes(bytes(4 * 2**20))
    place.mkdir()
    for program in ("losetup", "mkfs.ext2", "mount"):
        if shutil.which(program) is None:
            return "", [f"{program} is not installed"]
    subprocess.run(["mkfs.ext2", "-q", "-F", image], check=True, capture_output=True)
    made = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if made.returncode:
        return "", [made.stderr.strip()]
    device = made.stdout.strip()
    told = subprocess.run(["mount", device, place], capture_output=True, text=True, check=False)
    return device, [told.stderr.strip()] if told.returncode else []


def test_a_path_with_nothing_there_is_no_name_of_a_drive(tmp_path: Path, command: Command) -> None:
    path = tmp_path / "socket"
    done = command("extract", path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {path}: No such file or directory\n")
    assert "the socket of a network block device" in done.stderr
    assert "unknown drive" not in done.stderr
    assert "unknown drive" in command("extract", "socket").stderr


def test_a_mounted_device_is_refused(tmp_path: Path, command: Command) -> None:
    device, failed = _mounted(tmp_path)
    try:
        if failed:
            pytest.skip(f"no loop device can be mounted here: {failed[0]}")
        told = command("extract", device, "--allow-writes", "--yes")
        assert told.returncode == 2
        assert f"{device} is in use: mounted at {tmp_path / 'mounted'}" in told.stderr
    finally:
        if device:
            subprocess.run(["umount", tmp_path / "mounted"], capture_output=True, check=False)
            subprocess.run(["losetup", "--detach", device], capture_output=True, check=False)


def test_what_is_mounted_is_known() -> None:
    devices = {}
    with Path("/proc/self/mountinfo").open() as lines:
        for line in lines:
            fields = line.split()
            major, minor = map(int, fields[2].split(":"))
            if major:
                devices[os.makedev(major, minor)] = fields[4]
    if not devices:
        pytest.skip("nothing is mounted here that is on a block device")
    for device, place in devices.items():
        assert any(found.startswith("mounted at /") for found in _mounts(device)), place


def test_a_served_device_is_written_to_after_a_confirmation_only(tmp_path: Path) -> None:
    spec = _LIVE.format(kind="ssd", drive="slc-classic")
    with serving(tmp_path, "--discard-contents", spec=spec) as served:
        command = [sys.executable, "-m", "diskwright", "extract", str(served.path), "--allow-writes"]
        refused = subprocess.run(command, input="n\n", capture_output=True, text=True, check=False)
        assert refused.returncode == 1 and "will be lost" in refused.stderr
        agreed = subprocess.run(command, input="y\n", capture_output=True, text=True, check=False)
        assert agreed.returncode == 0 and "It does not rotate" in agreed.stdout
        asked_nothing = subprocess.run([*command, "--yes"], capture_output=True, text=True, check=False)
        assert asked_nothing.returncode == 0 and "will be lost" not in asked_nothing.stderr
