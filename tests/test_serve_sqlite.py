"""What is left of SQLite's transactions after the power of a served disk is cut, at random instants."""

import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import ROOT, Command, environment
from served import serving

PROGRAM = str(ROOT / "examples" / "sqlite_on_nbd.py")
# A disk with 64 MB of memory for writes, which it loses.
DISK = '[device.hdd]\ndrive = "wd-blue-1tb"\n'
ARGUMENTS = ["--as-fast-as-possible", "--image", "disk.img", "--power-cuts", "--json", "found.json"]


@dataclass
class Left:
    """What is left after a cut."""

    is_sound: bool
    committed: list[int]
    missing: int
    last_missing: list[int]
    lost_writes: int
    named: list[str]


def needs_apsw() -> None:
    pytest.importorskip("apsw", reason="not installed: the package apsw, SQLite with file systems in Python")


def cut(folder: Path, command: Command, number: int, wait: float, pragmas: list[str]) -> Left:
    """Lets transactions run, cuts the power after a time, and looks at what is left."""
    acknowledged = folder / "acknowledged"
    with serving(folder, *ARGUMENTS, spec=DISK, name=f"{number}.sock") as server:
        with acknowledged.open("a") as file:
            words = [sys.executable, PROGRAM, "write", str(server.path), *pragmas]
            before = acknowledged.stat().st_size
            writer = subprocess.Popen(words, stdout=file, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while acknowledged.stat().st_size == before and time.monotonic() < until:
            assert writer.poll() is None, writer.communicate()[1]
            time.sleep(0.005)
        time.sleep(wait)
        assert command("serve-ctl", str(server.path), "power-cut").returncode == 0
        _, err = writer.communicate(timeout=60)
        assert writer.returncode == 0, err
        assert "the device is gone" in err
        code, _, err = server.ended()
        assert code == 0, err
    words = [sys.executable, PROGRAM, "check", "disk.img", "acknowledged", "found.json"]
    done = subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    lines = done.stdout.splitlines()
    assert done.stderr == "", done.stderr
    counts = re.fullmatch(r"(\d+) transactions were committed, (\d+) of them are lost: \[(.*)\]", lines[-1])
    assert counts is not None, lines
    lost = json.loads((folder / "found.json").read_text())["served"]["power_cut"]["lost_writes"]
    assert lines[0] == f"{lost} writes that the device had answered are lost"
    is_sound = lines[-2] == "the database: ok"
    assert done.returncode == (0 if is_sound and counts[2] == "0" else 1)
    return Left(
        is_sound,
        [int(line) for line in acknowledged.read_text().split()],
        int(counts[2]),
        [int(one) for one in counts[3].split(", ") if one],
        lost,
        [line for line in lines if line.startswith("  ")],
    )


def cuts(folder: Path, command: Command, count: int, pragmas: list[str]) -> list[Left]:
    """Cuts the power again and again on one disk, whose database goes on with what was left."""
    needs_apsw()
    draw = random.Random(count)
    return [cut(folder, command, number, draw.uniform(0, 0.6), pragmas) for number in range(count)]


def all_is_there(found: list[Left]) -> None:
    assert all(left.is_sound and left.missing == 0 for left in found), found
    assert found[-1].committed, "there were transactions"


def test_what_is_synced_is_there(tmp_path: Path, command: Command) -> None:
    all_is_there(cuts(tmp_path, command, 2, ["synchronous=extra"]))


def unsynced(folder: Path, command: Command, count: int) -> Iterator[Left]:
    """Cuts the power of one new disk after another, on which SQLite syncs nothing."""
    needs_apsw()
    draw = random.Random(count)
    for number in range(count):
        (folder / str(number)).mkdir()
        yield cut(folder / str(number), command, number, draw.uniform(0.1, 1), ["synchronous=off"])


def test_what_is_not_synced_is_lost_and_named(tmp_path: Path, command: Command) -> None:
    """About one cut in forty takes only writes that no transaction misses: one of eight must take more."""
    found = unsynced(tmp_path, command, 8)
    left = next((left for left in found if left.missing > 0 or not left.is_sound), None)
    assert left is not None and left.lost_writes > 0
    place = "blocks of the (place and length of the |)(database|journal|log)"
    assert all(re.search(place, line) for line in left.named)
    assert left.named


@pytest.mark.long
@pytest.mark.parametrize(
    "pragmas",
    [["synchronous=extra"], ["locking_mode=exclusive", "journal_mode=wal"]],
    ids=["extra", "write-ahead log"],
)
def test_50_cuts_lose_no_transaction(tmp_path: Path, command: Command, pragmas: list[str]) -> None:
    found = cuts(tmp_path, command, 50, pragmas)
    all_is_there(found)
    assert sum(left.lost_writes for left in found) > 0, "the cuts take something"


@pytest.mark.long
def test_50_cuts_with_the_defaults_lose_the_last_transaction_at_most(
    tmp_path: Path, command: Command
) -> None:
    """The journal's deletion, by which SQLite commits, is synced by `synchronous = EXTRA` only."""
    found = cuts(tmp_path, command, 50, [])
    assert all(left.is_sound for left in found), found
    # A transaction that was lost is made again, with its number, once the disk is back.
    assert all(left.last_missing in ([], left.committed[-1:]) for left in found), found
    assert all(left.missing <= 1 for left in found), found


@pytest.mark.long
def test_cuts_of_what_is_not_synced_lose_transactions(tmp_path: Path, command: Command) -> None:
    found = list(unsynced(tmp_path, command, 10))
    assert sum(left.missing for left in found) > 0
    assert all(left.named for left in found if left.missing > 0)
