"""How does the command end where a disk is full, a reader has gone, or a signal comes?"""

import gzip
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import polars
import pytest

from conftest import COMMAND, Command, environment, names, refused

FULL = "No space left on device"


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line for bash, in which `diskwright` is the command."""
    text = f"set -o pipefail; diskwright() {{ '{COMMAND}' \"$@\"; }}; {line}"
    return subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "line",
    [
        "diskwright drives",
        "diskwright drives ibm-18es",
        "diskwright schema",
        "diskwright formats --json -",
        "diskwright run spec.toml",
        "diskwright run spec.toml --json -",
        "diskwright --help",
        "diskwright --version",
    ],
)
def test_a_full_disk_under_standard_output_is_one_line(spec: Path, line: str) -> None:
    done = shell(f"{line} > /dev/full", spec.parent)
    assert done.returncode == 1, done.stderr
    assert last_line(done) == f"error: cannot write to standard output: {FULL}"


@pytest.mark.parametrize("option", ["--json", "--report", "--requests"])
def test_a_full_disk_under_an_output_is_one_line_and_leaves_no_other(
    command: Command, spec: Path, tmp_path: Path, option: str
) -> None:
    others = {"--json": "a.json", "--report": "a.html"}
    others.pop(option, None)
    arguments = [word for pair in others.items() for word in pair]
    done = command("run", spec, option, "/dev/full", *arguments)
    assert done.returncode == 1, done.stderr
    assert last_line(done) == f"error: cannot write /dev/full: {FULL}"
    assert names(tmp_path) == ["spec.toml"]


def test_a_full_disk_under_a_converted_trace_is_one_line(command: Command, trace: Path) -> None:
    done = command("convert", trace, "/dev/full", "--to", "spc")
    assert done.returncode == 1, done.stderr
    assert last_line(done) == f"error: cannot write /dev/full: {FULL}"


@pytest.mark.parametrize("line", ["diskwright schema", "diskwright drives --json -"])
def test_a_closed_pipe_ends_it_silently_as_any_other_program(tmp_path: Path, line: str) -> None:
    done = shell(f"{line} | head -c 1 > /dev/null; echo ${{PIPESTATUS[0]}}", tmp_path)
    # Where all of it fits into the pipe before the reader goes, it just ends.
    assert done.stdout.strip() in (str(128 + signal.SIGPIPE), "0")
    done = shell(f"({line}; echo $? >&2) | true", tmp_path)
    assert "Traceback" not in done.stderr and "error" not in done.stderr


def test_a_reader_that_is_gone_is_seen(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([COMMAND, "schema"], stdout=writing, stderr=subprocess.PIPE, env=environment())
    os.close(writing)
    assert done.returncode == -signal.SIGPIPE
    assert b"Traceback" not in done.stderr and b"error" not in done.stderr


@pytest.mark.parametrize("into", ["| cat > both", "> both", "--json /dev/fd/3 3> both"])
def test_standard_output_has_a_name_too(tmp_path: Path, into: str) -> None:
    option = "" if "--json" in into else "--json /dev/stdout"
    done = shell(f"diskwright drives {option} {into}", tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "both").read_text() + done.stdout
    # The table comes after the object, and nothing stands over anything.
    found, end = json.JSONDecoder().raw_decode(text)
    assert len(found["drives"]) > 1
    assert text[end:] == "\n" + shell("diskwright drives", tmp_path).stdout
    assert names(tmp_path) == ["both"]


def test_a_closed_standard_output_is_nothing_to_write_to(tmp_path: Path) -> None:
    for line in ("diskwright drives", "diskwright schema"):
        done = shell(f"{line} >&-", tmp_path)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("writer", [False, True], ids=["never opened", "never written"])
def test_a_signal_ends_it_while_a_pipe_gives_nothing(
    spec: Path, tmp_path: Path, number: signal.Signals, code: int, writer: bool
) -> None:
    os.mkfifo(tmp_path / "pipe")
    holding = os.open(tmp_path / "pipe", os.O_RDWR) if writer else None
    arguments = ("run", "spec.toml", "--trace", "pipe", "--json", "a.json", "--requests", "a.parquet")
    process = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        deadline = time.monotonic() + 60
        while len(names(tmp_path)) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(number)
        started = time.monotonic()
        stdout, stderr = process.communicate(timeout=20)
        assert time.monotonic() - started < 10
    finally:
        process.kill()
        if holding is not None:
            os.close(holding)
    assert process.returncode == code, stderr
    assert stdout == ""
    assert "Traceback" not in stderr
    assert names(tmp_path) == ["pipe", "spec.toml"]


def test_a_damaged_parquet_file_is_one_error(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    rows = range(5_000)
    frame = polars.DataFrame(
        {
            "arrival_ns": [1_000 * row for row in rows],
            "op": ["read"] * 5_000,
            "lbn": [row * 7_919 % 100_000 for row in rows],
            "blocks": [8] * 5_000,
        }
    )
    frame.write_parquet(path, compression="uncompressed")
    sound = path.read_bytes()
    told = set()
    for place in range(4, len(sound) - 200, len(sound) // 12):
        damaged = bytearray(sound)
        damaged[place : place + 16] = b"\xff" * 16
        path.write_bytes(damaged)
        done = command("inspect", path, "--json", "-")
        assert "panicked" not in done.stderr, done.stderr
        assert "RUST_BACKTRACE" not in done.stderr
        told.add(done.returncode)
    assert 2 in told


def test_an_endless_line_in_a_sound_archive_is_called_that(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(b"time_us,lbn,blocks,op\n0,8,8,read\n" + b"1" * (3 << 20)))
    done = command("inspect", path)
    refused(done, "trace.csv.gz:3", "no end of line within")
    assert "damaged" not in done.stderr
