"""Is a device that is served from an image again the same device?"""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars
import pytest

from conftest import COMMAND, Command, environment
from served import FLUSH, Client, Served, program, serving

FAST = "--as-fast-as-possible"
DISK = 'seed = 1\n[device.hdd]\ndrive = "ibm-18es"\n'
SSD = 'seed = 1\n[device.ssd]\ndrive = "slc-classic"\n'
IMAGE = [FAST, "--image", "disk.img", "--json", "found.json", "--requests", "log.parquet"]


def busy(server: Served, seed: int, count: int = 60) -> None:
    """Requests that meet each other."""
    with Client(server.path) as client:
        for number in range(count):
            at = (number * 7919 + seed * 104_729) % 1000 * 4096
            if number % 3:
                client.write(at, bytes([number]) * 4096)
            else:
                client.read(at, 4096)


def result(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return found


def times(folder: Path) -> list[tuple[int, int]]:
    log = polars.read_parquet(folder / "log.parquet")
    return log.select("arrival_ns", "completion_ns").rows()


@pytest.mark.parametrize("spec", [DISK, SSD], ids=["disk", "ssd"])
def test_it_goes_on_where_it_was(tmp_path: Path, command: Command, spec: str) -> None:
    """Two servings, and a run of what both have logged."""
    rows = []
    for number in range(2):
        with serving(tmp_path, *IMAGE, spec=spec, name=f"{number}.sock") as server:
            busy(server, number)
            assert server.end()[0] == 0
        rows.append(polars.read_parquet(tmp_path / "log.parquet"))
    assert rows[1]["arrival_ns"].min() >= rows[0]["completion_ns"].max()  # type: ignore[operator]
    notes = " ".join(result(tmp_path)["notes"])
    assert "after 60 requests" in notes
    polars.concat(rows).drop("sequence", strict=False).write_parquet(tmp_path / "both.parquet")
    done = command("run", "served.toml", "--trace", "both.parquet", "--requests", "again.parquet")
    assert done.returncode == 0, done.stderr
    again = polars.read_parquet(tmp_path / "again.parquet")
    both = polars.concat(rows)
    first = both["arrival_ns"][0]
    assert (again["completion_ns"] - again["arrival_ns"][0]).to_list() == (
        both["completion_ns"] - first
    ).to_list()


def test_what_it_counts_begins_with_the_serving(tmp_path: Path) -> None:
    for number in range(2):
        with serving(tmp_path, *IMAGE, spec=DISK, name=f"{number}.sock") as server:
            busy(server, 1, count=30)
            assert server.end()[0] == 0
        assert result(tmp_path)["devices"]["hdd"]["requests"] == 30
    assert result(tmp_path)["requests"]["issued"] == 30


def test_a_new_drive_is_asked_for(tmp_path: Path) -> None:
    answers = []
    for number, arguments in enumerate([[], ["--new-drive"]]):
        with serving(tmp_path, *IMAGE, *arguments, spec=DISK, name=f"{number}.sock") as server:
            busy(server, 1, count=20)
            assert server.end()[0] == 0
        answers.append(times(tmp_path))
    assert answers[0] == answers[1]
    with serving(tmp_path, *IMAGE, spec=DISK) as server, Client(server.path) as client:
        # The contents are kept either way.
        assert client.read((7919 + 104_729) % 1000 * 4096, 512) == bytes([1]) * 512


def test_another_device_is_refused(tmp_path: Path, command: Command) -> None:
    with serving(tmp_path, *IMAGE, spec=DISK) as server:
        busy(server, 1, count=3)
        server.end()
    (tmp_path / "served.toml").write_text(DISK + "write_cache = false\n")
    where = ["served.toml", "--socket", "s", "--image", "disk.img"]
    done = command("serve", *where, "--run", "true")
    assert done.returncode == 2, done.stderr
    assert "device.hdd.write_cache differs" in done.stderr
    assert "--new-drive" in done.stderr
    assert command("serve", *where, "--new-drive", "--run", "true").returncode == 0


def test_one_that_was_killed_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, *IMAGE, spec=DISK) as server:
        busy(server, 1, count=50)
        time.sleep(0.3)
        server.end(signal.SIGKILL)
    (tmp_path / "disk.sock").unlink()
    with serving(tmp_path, *IMAGE, spec=DISK, name="again.sock") as server:
        busy(server, 2, count=5)
        assert server.end()[0] == 0
    found = result(tmp_path)
    assert "did not end well" in " ".join(found["warnings"])
    assert "after 50 requests" in " ".join(found["notes"])


def test_the_power_ends_it(tmp_path: Path, command: Command) -> None:
    cuts = [*IMAGE, "--power-cuts"]
    with serving(tmp_path, *IMAGE, spec=DISK, name="0.sock") as server:
        with Client(server.path) as client:
            client.write(0, b"kept" * 128)
        server.end()
    # What the last serving has left unsafe is flushed first: this cut takes only what this serving writes.
    with serving(tmp_path, *cuts, spec=DISK, name="1.sock") as server:
        with Client(server.path) as client:
            client.write(8192, b"safe" * 128)
            assert client.ask(FLUSH, 0, 0) == 0
            client.write(0, b"lost" * 128)
            client.write(4096, b"lost" * 128)
            assert command("serve-ctl", str(server.path), "power-cut").returncode == 0
        assert server.ended()[0] == 0
    with (tmp_path / "disk.img").open("rb") as image:
        kept = image.read(512)
        image.seek(8192)
        assert image.read(512) == b"safe" * 128
    found = result(tmp_path)
    lost = [write["lbn"] for write in found["served"]["power_cut"]["first_lost"]]
    assert 8 in lost
    assert kept == (b"kept" if 0 in lost else b"lost") * 128
    assert not (tmp_path / "disk.img.state").exists()
    assert "as the spec describes it" in " ".join(found["notes"])
    with serving(tmp_path, *IMAGE, spec=DISK, name="2.sock") as server:
        server.end()
    assert "there is no disk.img.state" in " ".join(result(tmp_path)["notes"])


def test_readers_leave_it_as_it_is(tmp_path: Path) -> None:
    with serving(tmp_path, *IMAGE, spec=DISK, name="0.sock") as server:
        busy(server, 1, count=10)
        server.end()
    before = (tmp_path / "disk.img.state").read_bytes()
    with serving(tmp_path, *IMAGE, "--read-only", spec=DISK, name="1.sock") as server:
        with Client(server.path) as client:
            client.read(0, 4096)
        server.end()
    assert (tmp_path / "disk.img.state").read_bytes() == before
    assert times(tmp_path)[0][0] > 0


@pytest.mark.parametrize("option", ["--sync", "--new-drive"])
def test_it_is_of_an_image(command: Command, tmp_path: Path, option: str) -> None:
    (tmp_path / "served.toml").write_text(DISK)
    done = command("serve", "served.toml", "--socket", "s", option)
    assert done.returncode == 2
    assert f"{option} needs --image" in done.stderr


@pytest.mark.parametrize(("option", "syncs"), [([], 1), (["--sync"], 4)])
def test_a_flush_reaches_the_disk_of_this_machine(tmp_path: Path, option: list[str], syncs: int) -> None:
    """Three flushes and writes with FUA, and the end, which alone is always synced; FILE.state is another."""
    program("strace")
    (tmp_path / "served.toml").write_text(DISK)
    client = (
        "import os; from pathlib import Path; from served import FLUSH, Client\n"
        "with Client(Path(os.environ['socket'])) as client:\n"
        "    client.write(0, bytes(512)); client.ask(FLUSH, 0, 0)\n"
        "    client.write(0, bytes(512), flags=1); client.ask(FLUSH, 0, 0); client.read(0, 512)\n"
    )
    (tmp_path / "client.py").write_text(client)
    words = ["strace", "-f", "-y", "-e", "trace=fdatasync", "-o", "calls.txt"]
    words += [str(COMMAND), "serve", "served.toml", "--socket", "s", FAST, "--image", "disk.img", *option]
    words += ["--run", f"{sys.executable} client.py"]
    folders = {"PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        words, cwd=tmp_path, env=environment() | folders, capture_output=True, text=True, timeout=120
    )
    if "ptrace" in done.stderr:
        pytest.skip(f"strace may trace nothing here: {done.stderr.splitlines()[0]}")
    assert done.returncode == 0, done.stderr
    calls = [line for line in (tmp_path / "calls.txt").read_text().splitlines() if "fdatasync" in line]
    assert len([line for line in calls if "disk.img>" in line]) == syncs
    assert len([line for line in calls if "disk.img.state>" in line]) == 1
