"""Does `diskwright run` do what a user asks, and refuse what is wrong?"""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

import diskwright
from conftest import COMMAND, ENDLESS, ROOT, SPEC, Command, environment, names, parsed, refused

DEPTH = "device.hdd.queue.depth"
DISTRIBUTION = {"mean", "std", "p50", "p90", "p95", "p99", "p999", "max", "total", "ci95"}


def test_the_table_comes_in_80_columns_without_colours(command: Command, spec: Path) -> None:
    done = command("run", spec)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert max(map(len, (done.stdout + done.stderr).splitlines())) <= 80
    words = ("times in ms", "response", "service", "access", "rotation", "hdd", "digest", "MB/s", "operation")
    for word in words:
        assert word in done.stdout


def test_the_table_of_an_ssd_has_no_access_time(command: Command, spec: Path) -> None:
    spec.write_text(SPEC.split("[device", maxsplit=1)[0] + '[device.ssd]\ndrive = "slc-classic"\n')
    done = command("run", spec)
    assert done.returncode == 0, done.stderr
    assert "\nresponse" in done.stdout and "\naccess" not in done.stdout
    assert parsed(command("run", spec, "--json", "-"))["access_ms"]["max"] == 0


def test_what_a_device_counts_apart_has_lines_of_its_own(command: Command, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(
        "[workload.synthetic]\nrequests = 200\narrivals = { closed = { users = 4 } }\nreads = 0.5\n"
        "[device.hdd]\ndrive = 'ibm-18es'\n"
        "arms = { motion = 'independent', arm = [{ writes = false }, { reads = false, angle = 0.5 }] }\n"
    )
    done = command("run", str(spec), "--json", str(tmp_path / "result.json"))
    assert done.returncode == 0, done.stderr
    arms = json.loads((tmp_path / "result.json").read_text())["devices"]["hdd"]["arms"]
    for number, (arm, writes) in enumerate(zip(arms, ("no", "yes"), strict=True)):
        (line,) = (line for line in done.stdout.splitlines() if line.startswith(f"hdd.arms[{number}]"))
        assert f"writes {writes}" in line
        assert f"accesses {arm['accesses']}," in line
    assert "{" not in done.stdout


def test_the_table_of_an_ssd_says_whether_it_is_steady(command: Command) -> None:
    done = command("run", str(ROOT / "examples" / "ssd.toml"), "--set", "workload.synthetic.requests=2000")
    assert done.returncode == 0, done.stderr
    assert "\nssd.erases  total " in done.stdout
    assert "\nssd.steady  reached no\n" in done.stdout


def test_warnings_and_notes_are_told_apart_from_results(command: Command, spec: Path) -> None:
    without = SPEC.replace('[measure]\nwarmup = "10 %"\n', "")
    spec.write_text(f"{without}\n[sweep]\nseeds = 2\n")
    plain = command("run", spec)
    as_json = command("run", spec, "--json", "-")
    for done in (plain, as_json):
        assert done.stderr.startswith("warning:  no warm-up"), done.stderr
        assert "\nnote:  the table [sweep] changes nothing here" in done.stderr
        assert "warning:" not in done.stdout and "note:" not in done.stdout
    result = parsed(as_json)
    assert any("no warm-up" in text for text in result["warnings"])
    assert ["[sweep]" in text for text in result["notes"]] == [True]


def test_a_run_tells_what_is_from_the_drive_and_what_from_the_spec(
    command: Command, spec: Path, tmp_path: Path
) -> None:
    ships = "[ships]\nqueue_depth = 16\nscheduler = { aged-satf = { weight = 0.04 } }\nwrite_cache = true\n"
    own = diskwright.drive_toml("ibm-18es").replace("[heads]", f"{ships}\n[heads]")
    (tmp_path / "mine.toml").write_text(own)
    spec.write_text(SPEC)
    plain = parsed(command("run", spec, "--drive", "mine.toml", "--json", "-"))
    aged = {"aged-satf": {"weight": 0.04}}
    assert plain["devices"]["hdd"]["settings"] == {
        "queue_depth": {"value": 16, "from": "drive"},
        "scheduler": {"value": aged, "from": "drive"},
        "buffer": {"value": "segmented", "from": "drive"},
        "write_cache": {"value": True, "from": "drive"},
    }
    assert not plain["notes"]
    assert plain["devices"]["hdd"]["queue_length_max"] <= 16
    said = ("--set", f"{DEPTH}=16", "--set", "device.hdd.queue.scheduler={ aged-satf = { weight = 0.04 } }")
    same = parsed(command("run", spec, "--drive", "ibm-18es", *said, "--json", "-"))
    assert same["digest"] == plain["digest"]
    unusual = ("device.hdd.queue={ depth = 64, scheduler = 'fcfs' }", "device.hdd.buffer=false")
    changes = [part for key in unusual for part in ("--set", key)]
    done = command("run", spec, "--drive", "mine.toml", *changes)
    for words in (
        "note:  hdd: fcfs in a drive that ships with aged-satf",
        "note:  hdd: a queue of 64 in a drive that ships with one of 16",
        "note:  hdd: without the buffer that the drive has",
    ):
        assert words in done.stderr
    assert "hdd settings  queue depth 64 (spec), scheduler fcfs (spec), buffer none (spec)," in done.stdout
    assert "write cache off (spec)" in done.stdout
    off = parsed(
        command("run", spec, "--drive", "mine.toml", "--set", "device.hdd.write_cache=false", "--json", "-")
    )
    on_medium = ("--set", "device.hdd.buffer.write.complete=on-medium")
    same = parsed(command("run", spec, "--drive", "mine.toml", *on_medium, "--json", "-"))
    assert off["digest"] == same["digest"] != plain["digest"]


def test_json_to_standard_output_is_one_object_and_nothing_else(command: Command, spec: Path) -> None:
    done = command("run", spec, "--json", "-")
    result = parsed(done)
    assert all(line.startswith(("warning:  ", "          ")) for line in done.stderr.splitlines())
    assert result["schema"] == 1
    assert set(result["by_op"]) == {"read", "write"}
    assert "by_stream" not in result
    for group in result["by_op"].values():
        assert set(group) == {"count", "blocks", "iops", "mb_per_s", "response_ms", "service_ms"}
        assert set(group["response_ms"]) >= DISTRIBUTION
    moved = result["iops"] * 8 * 512 / 1e6
    assert abs(result["mb_per_s"] - moved) < 1e-9 * moved
    counts = result["requests"]
    assert set(counts) >= {"trace", "issued", "completed", "measured", "reads", "writes", "blocks"}
    assert set(counts) >= {"skipped", "clipped", "mapped"}
    assert counts["issued"] == counts["completed"] == counts["reads"] + counts["writes"] == 2_000
    assert counts["measured"] == 1_800
    assert counts["blocks"] == 16_000
    for times in ("response_ms", "service_ms", "access_ms"):
        assert set(result[times]) >= DISTRIBUTION
        assert 0 < result[times]["p50"] <= result[times]["p99"] <= result[times]["max"]
    assert set(result["parts_ms"]) >= {
        "overhead",
        "bus",
        "seek",
        "head_switch",
        "settle",
        "rotation",
        "transfer",
    }
    assert result["issue_lag_ms"].keys() >= {"mean", "max"}
    assert "hdd" in result["devices"]
    for key in ("simulated_s", "iops", "wall_s", "requests_per_wall_s", "peak_rss_mib"):
        assert result[key] > 0, key
    assert isinstance(result["digest"], str)
    assert isinstance(result["warnings"], list)
    assert result["spec"]["seed"] == 1


def test_the_effective_spec_is_a_spec_of_the_same_run(command: Command, spec: Path, tmp_path: Path) -> None:
    import diskwright

    result = parsed(command("run", spec, "--json", "-"))
    again = diskwright.run(result["spec"])
    assert again.digest == result["digest"]


def test_json_to_a_file_leaves_the_table_on_standard_output(
    command: Command, spec: Path, tmp_path: Path
) -> None:
    done = command("run", spec, "--json", "result.json")
    assert done.returncode == 0, done.stderr
    assert "digest" in done.stdout
    text = (tmp_path / "result.json").read_text()
    assert json.loads(text)["digest"] in done.stdout
    assert names(tmp_path) == ["result.json", "spec.toml"]


def test_a_failed_run_leaves_the_old_file_as_it_was(command: Command, spec: Path, tmp_path: Path) -> None:
    old = tmp_path / "result.json"
    old.write_text("old")
    refused(command("run", spec, "--drive", "no-such", "--json", old))
    assert old.read_text() == "old"
    assert names(tmp_path) == ["result.json", "spec.toml"]


def test_a_folder_that_is_not_there_is_told_before_the_run(command: Command, tmp_path: Path) -> None:
    endless = tmp_path / "endless.toml"
    endless.write_text(ENDLESS)
    refused(command("run", endless, "--json", "no/such/result.json"), "no/such/result.json")


def test_the_same_spec_gives_the_same_digest(command: Command, spec: Path) -> None:
    first, second = (parsed(command("run", spec, "--json", "-")) for _ in range(2))
    assert first["digest"] == second["digest"]


def test_another_seed_gives_another_digest(command: Command, spec: Path) -> None:
    first = parsed(command("run", spec, "--json", "-"))
    second = parsed(command("run", spec, "--json", "-", "--set", "seed=2"))
    assert first["digest"] != second["digest"]


def test_seed_is_short_for_its_setting_and_stands_above_it(command: Command, spec: Path) -> None:
    long = parsed(command("run", spec, "--json", "-", "--set", "seed=2"))
    short = parsed(command("run", spec, "--json", "-", "--seed", "2", "--set", "seed=3"))
    assert short["digest"] == long["digest"]
    assert short["spec"]["seed"] == 2
    refused(command("run", spec, "--seed", "-1"), "--seed", "0")
    several = parsed(
        command("compare", spec, "--vary", f"{DEPTH}=1,2", "--seeds", "2", "--seed", "7", "--json", "-")
    )
    assert several["seeds"] == [7, 8]


def test_a_quiet_run_prints_nothing_but_what_is_wrong(command: Command, spec: Path, tmp_path: Path) -> None:
    # It has something to warn of.
    spec.write_text(SPEC.replace('[measure]\nwarmup = "10 %"\n', ""))
    for verb, *arguments in (
        ("run",),
        ("compare", "--vary", f"{DEPTH}=1,2", "--seeds", "2"),
        ("sweep", "--vary", f"{DEPTH}=1,2", "--seeds", "2"),
    ):
        done = command(verb, spec, *arguments, "--quiet", "--json", f"{verb}.json")
        assert done.returncode == 0, done.stderr
        assert (done.stdout, done.stderr) == ("", "")
        written = json.loads((tmp_path / f"{verb}.json").read_text())
        assert written["warnings"]
    refused(command("run", spec, "--quiet", "--drive", "no-such"), "no-such")


def test_settings_override_the_spec(command: Command, spec: Path) -> None:
    arguments = ("--set", "workload.synthetic.requests=500", "--set", "device.hdd.queue.scheduler=satf")
    result = parsed(command("run", spec, "--json", "-", *arguments))
    assert result["requests"]["completed"] == 500
    assert "satf" in json.dumps(result["spec"]["device"]["hdd"]["queue"]["scheduler"])


def test_a_setting_may_be_a_table_with_commas(command: Command, spec: Path) -> None:
    setting = "workload.synthetic.address={ uniform = { from = 0, blocks = 8_000 } }"
    result = parsed(command("run", spec, "--json", "-", "--set", setting))
    uniform = result["spec"]["workload"]["synthetic"]["address"]["uniform"]
    assert (uniform["from"], uniform["blocks"]) == (0, 8_000)


def test_drive_is_short_for_the_usual_setting(command: Command, spec: Path) -> None:
    short = parsed(command("run", spec, "--json", "-", "--drive", "cheetah-9lp"))
    long = parsed(command("run", spec, "--json", "-", "--set", "device.hdd.drive=cheetah-9lp"))
    assert short["digest"] == long["digest"]


def test_trace_replays_a_trace(command: Command, spec: Path, trace: Path) -> None:
    spec.write_text('[workload]\ntrace = "not-there.trace"\n[device.hdd]\ndrive = "ibm-18es"\n')
    result = parsed(command("run", spec, "--json", "-", "--trace", trace))
    assert result["requests"]["trace"] == result["requests"]["completed"] == 4
    assert result["requests"]["reads"] == 3


def test_a_checked_run_says_so(command: Command, spec: Path) -> None:
    done = command("run", spec, "--check")
    assert done.returncode == 0, done.stderr
    assert "checked 2,000 requests: no fault" in done.stdout


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("seed = 1", "sede = 1"), ("sede", "seed", "spec.toml:1:1")),
        (("reads = 0.67", "raeds = 0.67"), ("raeds", "reads", "spec.toml:5:1")),
        (('"8 blocks"', '"-8 blocks"'), ("-8 blocks", "spec.toml:6:")),
        (('"8 blocks"', '"8 furlongs"'), ("furlongs", "spec.toml:6:")),
        (('"ibm-18es"', '"ibm-18e"'), ("ibm-18e", "ibm-18es", "spec.toml:11:")),
        (("[device.hdd]", "[device.hhd]"), ("hhd", "hdd", "spec.toml:10:")),
        (("reads = 0.67", "reads = "), ("spec.toml:5:",)),
    ],
)
def test_what_is_wrong_in_a_spec_is_named_with_its_place(
    command: Command, spec: Path, change: tuple[str, str], words: tuple[str, ...]
) -> None:
    spec.write_text(SPEC.replace(*change))
    refused(command("run", spec), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--drive", "ibm-18ess"), ("ibm-18ess", "ibm-18es")),
        (("--trace", "not-there.srt"), ("not-there.srt", "No such file")),
        (("--set", "device.hdd.drvie=x"), ("drvie", "drive")),
        (("--set", "seed"), ("seed", "=")),
        (("--set", "workload.synthetic.requests=-1"), ("requests",)),
        (("--set", "device.hdd.queue.scheduler=sattf"), ("sattf", "satf")),
    ],
)
def test_what_is_wrong_in_an_argument_is_named(
    command: Command, spec: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(command("run", spec, *arguments), *words)


def test_a_spec_that_is_not_there_is_wrong_input(command: Command) -> None:
    refused(command("run", "not-there.toml"), "not-there.toml", "No such file")


def test_a_trace_of_a_wrong_kind_is_wrong_input(command: Command, spec: Path, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    refused(command("run", spec, "--trace", "picture.png"), "picture.png")


def test_a_trace_in_the_spec_starts_at_the_specs_folder(
    command: Command, spec: Path, trace: Path, tmp_path: Path
) -> None:
    spec.write_text(f'[workload]\ntrace = "{trace.name}"\n[device.hdd]\ndrive = "ibm-18es"\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert parsed(command("run", spec, "--json", "-", cwd=elsewhere))["requests"]["completed"] == 4


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_leaves_nothing_behind(tmp_path: Path, number: signal.Signals, code: int) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    arguments = ("run", "endless.toml", "--json", "result.json", "--requests", "log.parquet")
    process = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=tmp_path,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A background job of a shell without job control inherits an ignored SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        # The temporary file of --json tells that the command is past its start.
        deadline = time.monotonic() + 60
        while len(names(tmp_path)) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == code, stderr
    assert stdout == ""
    assert "Traceback" not in stderr
    assert names(tmp_path) == ["endless.toml"]
