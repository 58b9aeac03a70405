"""Is the recorded trace what its page says, does its spec run, and does its recorder read a log right?"""

import subprocess
import sys
from pathlib import Path

import pytest

import diskwright
from conftest import ROOT

TRACE = ROOT / "examples" / "traces" / "debian-guest.csv.zst"
TO_CSV = ROOT / "tools" / "record-trace" / "to_csv.py"


def test_the_trace_is_small() -> None:
    assert TRACE.stat().st_size <= 2 << 20


def test_the_trace_is_what_its_page_says() -> None:
    found = diskwright.inspect(TRACE).to_dict()
    expected = {
        "requests": 124_920,
        "reads": 103_687,
        "writes": 16_062,
        "flushes": 4_754,
        "trims": 417,
        "read_blocks": 5_358_757,
        "write_blocks": 4_205_040,
        "sequential_requests": 19_618,
        "working_set_requests": 76_997,
        "working_set_blocks": 4_670_576,
        "end_lbn": 251_658_240,
        "out_of_order": 0,
        "skipped": 0,
    }
    assert {key: found[key] for key in expected} == expected
    assert found["duration_s"] == pytest.approx(2077.278246)
    assert found["warnings"] == []


def test_the_spec_replays_all_of_it_without_overload() -> None:
    done = diskwright.run(ROOT / "examples" / "laptop.toml")
    counts = done.requests
    assert (counts.trace, counts.completed) == (124_920, 124_920)
    assert (counts.skipped, counts.clipped, counts.mapped) == (0, 0, 0)
    assert not any("queue only grows" in warning for warning in done.warnings)
    # Nothing waits for long, and the drive has rests.
    assert done.response_ms.max < 10_000
    assert 0.2 < done.devices.hdd.utilisation < 0.8
    assert done.devices.hdd.queue_length_mean < 4


def test_commands_become_requests(tmp_path: Path) -> None:
    commands = [
        "0x12 0x00 0x00 0x00 0x24 0x00",  # an inquiry names no blocks
        "0x28 0x00 0x00 0x00 0x08 0x00 0x00 0x00 0x10 0x00",
        "0x2a 0x08 0x01 0x00 0x00 0x00 0x00 0x01 0x00 0x00",  # FUA
        "0x35 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00",
        "0x93 0x08 0x00 0x00 0x00 0x01 0x00 0x00 0x00 0x00 0x00 0x01 0x00 0x00 0x00 0x00",  # with UNMAP
        "0x93 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x09 0x00 0x00 0x02 0x00 0x00 0x00",
        "0x08 0x1f 0xff 0xff 0x00 0x00",  # 0 is 256 blocks
        "0x8a 0x00 0x00 0x00 0x00 0x02 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x08 0x00 0x00",
        "0xa8 0x08 0x00 0x00 0x00 0x05 0x00 0x00 0x00 0x07 0x00 0x00",
    ]
    lines = [
        f"77@1000.{500_000 + i:06}:scsi_disk_new_request Command: lun=0 tag=0x{i:x} data= {command}\n"
        for i, command in enumerate(commands)
    ]
    console = "999.000000 Linux\n1000.500003 login: MARK begin work\n1000.600000 MARK end all\n"
    done = converted(tmp_path, "".join(lines), console)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "trace.csv").read_text().splitlines() == [
        "time_ns,device,op,fua,lbn,blocks",
        "0,0,r,0,2048,16",
        "1000,0,w,1,16777216,256",
        "2000,0,f,0,0,0",
        "3000,0,d,0,4294967296,65536",
        "4000,0,w,0,9,512",
        "5000,0,r,0,2097151,256",
        "6000,0,w,0,8589934592,8",
        "7000,0,r,1,5,7",
    ]
    assert (tmp_path / "phases.csv").read_text().splitlines() == [
        "phase,begin_s,end_s,reads,writes,fua,flushes,trims,read_mib,written_mib",
        "boot,0.0,0.0,1,1,1,0,0,0.0,0.1",
        "work,0.0,0.0,2,2,1,1,1,0.1,0.3",
    ]
    assert diskwright.inspect(tmp_path / "trace.csv").requests == 8


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("9@10.000000:scsi_disk_new_request Command: lun=0 tag=0x0 data= 0x42 0x00", "UNMAP"),
        ("9@10.000000:scsi_disk_new_request Command: lun=0 tag=0x0 data= 0xff 0x00", "unknown command 0xff"),
        ("9@10.000000:scsi_disk_new_request Command: lun=0 tag=0x0 data= 0x28 0x00", "2 bytes, not 10"),
        ("9@08.999999:scsi_disk_new_request Command: lun=0 tag=0x0 data= 0x00", "the clock was set"),
        ("scsi_disk_new_request Command: lun=0 tag=0x0 data= 0x00", "-msg timestamp=on"),
    ],
)
def test_a_log_that_cannot_be_understood_is_refused(tmp_path: Path, line: str, why: str) -> None:
    first = "9@9.000000:scsi_disk_new_request Command: lun=0 tag=0x0 data= 0x35 0x00\n"
    done = converted(tmp_path, first + line + "\n", "")
    assert done.returncode == 1
    assert "requests.log:2: " in done.stderr
    assert why in done.stderr
    assert not (tmp_path / "trace.csv").exists()


def converted(folder: Path, log: str, console: str) -> subprocess.CompletedProcess[str]:
    """Runs the converter on a log and a console."""
    (folder / "requests.log").write_text(log)
    (folder / "console.log").write_text(console)
    names = ("requests.log", "console.log", "trace.csv", "phases.csv")
    return subprocess.run([sys.executable, TO_CSV, *names], cwd=folder, capture_output=True, text=True)
