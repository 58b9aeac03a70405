"""Does `diskwright convert` write what it read, and leave nothing behind where it cannot?"""

import os
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import pytest

import diskwright
from conftest import COMMAND, ROOT, SPEC, Command, environment, names, parsed, refused

FORMATS = diskwright.formats()


def test_a_trace_survives_parquet_and_back(command: Command, trace: Path) -> None:
    done = parsed(command("convert", trace, "trace.parquet", "--json", "-"))
    assert (done["from"], done["to"], done["read"], done["written"]) == ("disksim-ascii", "parquet", 4, 4)
    assert done["skipped"] == 0
    assert set(done["lost"].values()) == {0}
    parsed(command("convert", "trace.parquet", "back.csv.gz", "--json", "-"))
    first, last = (
        diskwright.inspect(trace).to_dict(),
        diskwright.inspect(trace.parent / "back.csv.gz").to_dict(),
    )
    assert first.pop("format") != last.pop("format")
    assert first == last


def test_the_log_of_a_run_is_a_trace(command: Command, spec: Path) -> None:
    diskwright.run(spec, requests=spec.parent / "log.parquet", device__hdd__queue__scheduler="satf")
    found = parsed(command("inspect", "log.parquet", "--json", "-"))
    assert (found["requests"], found["out_of_order"]) == (2_000, 0)
    replay = tomllib.loads(SPEC) | {"workload": {"trace": str(spec.parent / "log.parquet")}}
    again = diskwright.run(replay)
    assert again.requests.completed == 2_000
    # The same requests at the same times on the same drive.
    assert again.digest == diskwright.run(spec).digest


def test_what_is_lost_is_told(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time_ns,lbn,blocks,op,fua\n1,0,8,w,1\n2,8,8,trim,0\n3,0,8,r,0\n")
    done = command("convert", "a.csv", "b.trace", "--to", "disksim-ascii")
    assert done.returncode == 0, done.stderr
    assert "1 trims were left out" in done.stderr
    assert "1 requests lost their force unit access" in done.stderr
    assert "read 3, written 2, skipped 0" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_one_device_can_be_chosen(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a.trace").write_text("0.0 0 0 8 1\n1.0 1 8 8 1\n2.0 1 16 8 0\n")
    done = parsed(command("convert", "a.trace", "b.csv", "--device", "1", "--json", "-"))
    assert (done["read"], done["written"], done["skipped"]) == (3, 2, 1)
    refused(command("convert", "a.trace", "c.csv", "--device", "7"), "no request of device 7")
    assert "c.csv" not in names(tmp_path)


def test_the_hints_of_the_reader_are_those_of_inspect(command: Command, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("when,lbn,blocks,op\n10,0,8,r\n20,8,8,w\n")
    hints = ("--columns", "time=when", "--csv", "time_unit=us")
    refused(command("convert", "odd", "out.csv", "--format", "csv"), "--columns time=COLUMN")
    done = parsed(command("convert", "odd", "out.csv", "--format", "csv", *hints, "--json", "-"))
    assert done["written"] == 2
    assert parsed(command("inspect", "out.csv", "--json", "-"))["last_arrival_s"] == pytest.approx(20e-6)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("small.trace", "out"), ("--to NAME", "parquet")),
        (("small.trace", "out", "--to", "parqet"), ('did you mean "parquet"',)),
        (("small.trace", "out", "--to", "disksim-recording"), ("can be read, not written",)),
        (("small.trace", "out.parquet.gz"), ("out.parquet.gz", "leave out .gz")),
        (("small.trace", "none/out.csv"), ("none/out.csv",)),
        (("small.trace", "small.trace", "--to", "disksim-ascii"), ("the command reads",)),
        (("small.trace", "a.parquet", "--to", "spc"), ("of format parquet, not spc", ".spc or .csv")),
        (("bad.trace", "out.csv"), ("bad.trace:2", "expected an LBN")),
        (("empty.csv", "out.parquet"), ("no requests",)),
        (("trims.csv", "out", "--to", "disksim-ascii"), ("flushes or trims",)),
        (("small.trace", "out.csv", "--sector-bytes", "512"), ("--sector-bytes",)),
        (("letter", "out.csv"), ("--format NAME",)),
    ],
)
def test_what_goes_wrong_is_said_and_leaves_nothing(
    command: Command, trace: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    folder = trace.parent
    (folder / "bad.trace").write_text("0.0 0 0 8 1\n0.0 0 x 8 1\n")
    (folder / "empty.csv").write_text("time_ns,lbn,blocks,op\n")
    (folder / "trims.csv").write_text("time_ns,lbn,blocks,op\n0,0,8,trim\n")
    (folder / "letter").write_text("Dear reader,\nthis is not a trace.\n")
    before = {name: (folder / name).read_bytes() for name in names(folder)}
    refused(command("convert", *arguments), *words)
    assert {name: (folder / name).read_bytes() for name in names(folder)} == before


def test_an_interrupted_conversion_leaves_nothing(tmp_path: Path) -> None:
    pipe = tmp_path / "endless"
    os.mkfifo(pipe)
    arguments: list[str | Path] = [COMMAND, "convert", "endless", "out.csv", "--format", "disksim-ascii"]
    running = subprocess.Popen(
        arguments, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = b"0.0 0 0 8 1\n" * 100_000
    with pipe.open("wb", buffering=0) as feed:
        feed.write(lines)
        running.send_signal(signal.SIGINT)
        deadline = time.monotonic() + 60
        try:
            while running.poll() is None and time.monotonic() < deadline:
                feed.write(lines)
        except BrokenPipeError:
            pass
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130, stderr
    assert names(tmp_path) == ["endless"]


def test_progress_is_told_and_may_stop_the_conversion(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    told: list[tuple[int, int | None]] = []

    def progress(done: int, total: int | None) -> None:
        told.append((done, total))
        if len(told) == 2:
            raise EnoughError

    trace = tmp_path / "a.trace"
    trace.write_text("0.0 0 0 8 1\n" * 200_000)
    with pytest.raises(EnoughError):
        diskwright.convert(trace, tmp_path / "a.csv", progress=progress)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert names(tmp_path) == ["a.trace"]


def test_the_formats_are_listed(command: Command) -> None:
    listed = parsed(command("formats", "--json", "-"))["formats"]
    assert [format["name"] for format in listed] == [format.name for format in FORMATS]
    shown = command("formats").stdout
    for format in FORMATS:
        assert format.name in shown
        assert format.writable == (format.holds is not None)


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_every_format_has_a_page_and_a_row_in_the_table(format: diskwright.Record) -> None:
    assert (ROOT / "docs" / "formats" / f"{format.name}.md").is_file()
    table = (ROOT / "docs" / "formats" / "README.md").read_text(encoding="utf-8")
    written = "yes" if format.writable else "no"
    assert f"| [`{format.name}`]({format.name}.md) | yes | {written} |" in table
