"""Can a spec or a trace come from standard input? Do traces have the same options wherever they are read?"""

import csv
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, SPEC, Command, environment, parsed, refused

TRACE = "stamp,disk,start,sectors,kind\n0,sda,100,8,r\n1000,sdb,4000,16,w\n2500,sda,200,8,r\n"
HINTS = {
    "time": "stamp",
    "time_unit": "us",
    "lbn": "start",
    "blocks": "sectors",
    "op": "kind",
    "device": "disk",
}
COLUMNS = [word for key, value in HINTS.items() for word in ("--columns", f"{key}={value}")]


def fed(text: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments],
        input=text,
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_spec_from_standard_input_is_that_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    for verb, more in (
        ("run", ()),
        ("compare", ("--vary", "device.hdd.queue.depth=1,2", "--seeds", "2")),
        ("sweep", ("--vary", "device.hdd.queue.depth=1,2", "--seeds", "1")),
    ):
        streamed = parsed(fed(SPEC, tmp_path, verb, "-", *more, "--json", "-"))
        named = parsed(fed("", tmp_path, verb, "spec.toml", *more, "--json", "-"))
        for found in (streamed, named):
            for key in ("wall_s", "requests_per_wall_s", "peak_rss_mib", "ran", "reused"):
                found.pop(key, None)
        assert streamed == named


def test_paths_of_a_spec_from_standard_input_start_here(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "small.trace").write_text("0.0 0 0 8 1\n10.0 0 8 8 1\n")
    spec = '[workload]\ntrace = "small.trace"\n[measure]\nwarmup = 0\n[device.hdd]\ndrive = "ibm-18es"\n'
    assert fed(spec, tmp_path / "deep", "run", "-").returncode == 0
    refused(fed(spec, tmp_path, "run", "-"), "small.trace")


def test_a_trace_from_standard_input_is_read_with_its_options(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC + "[host]\n")
    (tmp_path / "own.csv").write_text(TRACE)
    arguments = ("run", "spec.toml", *COLUMNS, "--device", "0", "--set", "measure.warmup=0", "--json", "-")
    streamed = parsed(fed(TRACE, tmp_path, *arguments, "--trace", "-"))
    named = parsed(fed("", tmp_path, *arguments, "--trace", "own.csv"))
    assert streamed["digest"] == named["digest"]
    assert (streamed["requests"]["measured"], streamed["requests"]["trace"]) == (2, 3)
    inspected = parsed(fed(TRACE, tmp_path, "inspect", "-", *COLUMNS, "--json", "-"))
    assert [device["requests"] for device in inspected["devices"]] == [2, 1]
    assert any("sda is 0, sdb is 1" in note for note in inspected["notes"])


def test_options_of_a_trace_are_settings_of_its_spec(command: Command, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "own.csv").write_text(TRACE)
    replayed = ("run", "spec.toml", "--trace", "own.csv")
    refused(command(*replayed, *COLUMNS, "--format", "cvs"), '"csv"')
    refused(command(*replayed, "--columns", "time"), "--columns time", "KEY=VALUE")
    # A key that is set explicitly wins.
    refused(command(*replayed, *COLUMNS, "--set", "workload.csv.time=when"), '"when"')


def test_standard_input_is_read_once(tmp_path: Path) -> None:
    refused(fed(SPEC, tmp_path, "run", "-", "--trace", "-"), "both `-`")
    binary = subprocess.run(
        [COMMAND, "run", "-"], input=b"\xff\xfe", capture_output=True, env=environment(), check=False
    )
    assert (binary.returncode, b"is no text" in binary.stderr) == (2, True)


def test_numbers_of_a_run_are_a_row_of_csv(tmp_path: Path) -> None:
    found = parsed(fed(SPEC, tmp_path, "run", "-", "--csv", "row.csv", "--json", "-"))
    with (tmp_path / "row.csv").open() as stream:
        (row,) = csv.DictReader(stream)
    assert float(row["response_ms.mean"]) == found["response_ms"]["mean"]
    assert row["devices.hdd.reads"] == str(found["devices"]["hdd"]["reads"])
    assert row["spec.device.hdd.drive"] == "ibm-18es"
    refused(fed(SPEC, tmp_path, "run", "-", "--csv", "row.json"), ".csv")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "own.csv"), ("no spec but a trace of format csv", "--trace own.csv")),
        (("inspect", "spec.toml"), ("it is a spec", "diskwright run spec.toml")),
        (("inspect", "packed.csv.xz"), ("xz", "--decompress")),
        (("inspect", "*.csv"), ("a trace is one file",)),
        (("inspect", "own.csv", "own.csv"), ("unexpected extra argument", "make one file")),
        (("run", "spec.toml", "--set", "measure.warmup=2_000"), ("all 2000 requests", "measure.warmup")),
        (("run", "spec.toml", "--set", "workload.synthetic.requests=0"), ("the run is empty",)),
    ],
)
def test_what_was_meant_is_told(
    arguments: tuple[str, ...], words: tuple[str, ...], command: Command, tmp_path: Path
) -> None:
    (tmp_path / "own.csv").write_text(TRACE)
    (tmp_path / "spec.toml").write_text(SPEC)
    (tmp_path / "packed.csv.xz").write_bytes(b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46")
    refused(command(*arguments), *words)


def test_a_warm_up_that_leaves_one_request_is_a_run(command: Command, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    found = parsed(command("run", "spec.toml", "--set", "measure.warmup=1_999", "--json", "-"))
    assert found["requests"]["measured"] == 1
