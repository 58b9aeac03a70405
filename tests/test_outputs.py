"""Does every verb keep its outputs off what it reads, off each other, and to names that fit?"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import COMMAND, ENDLESS, ROOT, Command, environment, names, refused

SPEC = '[workload]\ntrace = "small.trace"\n[device.hdd]\ndrive = "own.toml"\n'


@pytest.fixture
def folder(tmp_path: Path, trace: Path, command: Command) -> Path:
    """A spec that reads a trace and a drive, all under names that are those of outputs too."""
    drive = parsed_text(command)
    (tmp_path / "own.toml").write_text(drive)
    (tmp_path / "spec.toml").write_text(SPEC)
    return tmp_path


def parsed_text(command: Command) -> str:
    shown = command("drives", "ibm-18es").stdout
    return shown[shown.index("\n\n") :].lstrip()


# Of each verb what it writes, with the file that it reads in the place of FILE.
READ: list[tuple[str, Sequence[str]]] = [
    ("spec.json", ("run", "FILE", "--json", "FILE")),
    ("spec.html", ("run", "FILE", "--report", "FILE")),
    ("spec.toml", ("run", "FILE", "--disksim-output", "FILE")),
    ("spec.parquet", ("run", "FILE", "--requests", "FILE")),
    ("trace.parquet", ("run", "spec.toml", "--trace", "FILE", "--requests", "FILE")),
    ("drive.toml", ("run", "spec.toml", "--drive", "FILE", "--json", "FILE")),
    ("spec.json", ("compare", "FILE", "--vary", "seed=1,2", "--json", "FILE")),
    ("spec.html", ("compare", "FILE", "--vary", "seed=1,2", "--report", "FILE")),
    ("trace.json", ("compare", "spec.toml", "--vary", "workload.trace=small.trace,FILE", "--json", "FILE")),
    ("spec.json", ("sweep", "FILE", "--json", "FILE")),
    ("spec.csv", ("sweep", "FILE", "--out", "FILE")),
    ("trace.csv", ("sweep", "spec.toml", "--vary", "workload.trace=FILE", "--out", "FILE")),
    ("trace.json", ("inspect", "FILE", "--json", "FILE")),
    ("trace.toml", ("inspect", "FILE", "--profile", "FILE")),
    ("trace.json", ("miss-ratio", "FILE", "--json", "FILE")),
    ("trace.svg", ("miss-ratio", "FILE", "--plot", "FILE")),
    ("trace.csv", ("convert", "FILE", "FILE")),
    ("trace.json", ("convert", "FILE", "out.csv", "--json", "FILE")),
    ("drive.toml", ("validate", "FILE", "small.trace", "--json", "FILE")),
    ("trace.json", ("validate", "ibm-18es", "FILE", "--json", "FILE")),
    ("trace.html", ("validate", "ibm-18es", "FILE", "--report", "FILE")),
    ("drive.toml", ("probe", "FILE", "--json", "FILE")),
    ("drive.toml", ("drives", "FILE", "--json", "FILE")),
    ("set.toml.parv", ("import-disksim", "FILE", "--output", "FILE")),
    ("set.parv", ("import-disksim", "FILE", "--json", "FILE")),
    ("system.py", ("reproduce", "FILE", "--json", "FILE")),
]


@pytest.mark.parametrize(("name", "arguments"), READ, ids=[f"{a[0]} {a[-2]} {n}" for n, a in READ])
def test_no_output_takes_the_place_of_an_input(
    command: Command, folder: Path, name: str, arguments: Sequence[str]
) -> None:
    text = {
        "spec": SPEC,
        "drive": (folder / "own.toml").read_text(),
        "system": (ROOT / "tests/toy_system.py").read_text(),
        "set": "",
    }
    path = folder / name
    path.write_text(text.get(path.name.partition(".")[0], (folder / "small.trace").read_text()))
    before = path.read_bytes()
    done = command(*(argument.replace("FILE", name) for argument in arguments))
    refused(done, f"{name}: this is ", "the command reads")
    assert path.read_bytes() == before
    assert not any(left.startswith(".") for left in names(folder))


@pytest.mark.parametrize("written", ["down/../spec.json", "symlink.json", "hard.json", "around/spec.json"])
def test_an_input_is_known_under_any_name(command: Command, folder: Path, written: str) -> None:
    (folder / "spec.json").write_text(SPEC)
    (folder / "symlink.json").symlink_to("spec.json")
    os.link(folder / "spec.json", folder / "hard.json")
    (folder / "down").mkdir()
    (folder / "around").symlink_to(".")
    done = command("run", "spec.json", "--json", written)
    refused(done, f"--json {written}: this is spec.json, which the command reads")
    assert (folder / "spec.json").read_text() == SPEC


@pytest.mark.parametrize("output", ["small.trace", "own.toml", "spec.toml"])
def test_what_a_spec_names_is_an_input(command: Command, folder: Path, output: str) -> None:
    for option in ("--json", "--report", "--requests"):
        refused(command("run", "spec.toml", option, output), f"{option} {output}", "the command reads")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    refused(command("run", "../spec.toml", "--json", f"../{output}", cwd=elsewhere), "the command reads")


def test_the_other_files_of_a_recording_and_of_a_set_up_are_inputs(command: Command, tmp_path: Path) -> None:
    for path in (ROOT / "examples/disksim").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    arguments = ("--output", "small.model")
    refused(command("import-disksim", "small.parv", *arguments), "small.model", "the command reads")
    refused(command("probe", "small.parv", "--json", "small.seek"), "small.seek", "the command reads")
    for cpu in (0, 1):
        (tmp_path / f"a.blktrace.{cpu}").touch()
    refused(
        command("convert", "a.blktrace.0", "a.blktrace.1", "--to", "csv"), "a.blktrace.1", "the command reads"
    )


def test_two_outputs_are_two_files(command: Command, folder: Path) -> None:
    (folder / "link.html").symlink_to("a.json")
    done = command("run", "spec.toml", "--json", "a.json", "--report", "link.html")
    refused(done, "--report link.html: --json writes the same file")
    done = command("convert", "small.trace", "./a.json", "--to", "disksim-ascii", "--json", "a.json")
    refused(done, "OUT a.json: --json writes the same file")
    (folder / "b.json").touch()
    os.link(folder / "b.json", folder / "b.csv")
    refused(
        command("sweep", "spec.toml", "--out", "b.csv", "--json", "b.json"), "--json writes the same file"
    )


def test_nothing_is_written_among_the_points_of_a_store(command: Command, folder: Path) -> None:
    done = command("sweep", "spec.toml", "--store", "points", "--json", "points/a.json")
    refused(done, "points/a.json: this is in points, which the command reads")


def test_a_reproduction_keeps_off_its_inputs_and_its_own_files(command: Command, tmp_path: Path) -> None:
    toy = ROOT / "tests/toy_system.py"
    done = command("reproduce", toy, "--out", "out", "--json", "out/result.json")
    refused(done, "--out out/result.json: --json writes the same file")
    (tmp_path / "system.py").write_text(
        "from diskwright.reproduce import System, Trace\n"
        "WEEK = Trace(name='week', bytes=5, sha256='0' * 64, source='')\n"
        "SYSTEM = System(name='s', title='S', paper='P', figures=[], statements=[], traces=[WEEK])\n"
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data/week.json").write_text("12345")
    done = command("reproduce", "system.py", "--data", "data", "--json", "data/week.json")
    refused(done, "data/week.json", "the command reads")


@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        (("run", "endless.toml", "--json", "a.html"), ".json"),
        (("run", "endless.toml", "--json", "a"), ".json"),
        (("run", "endless.toml", "--report", "a.json"), ".html"),
        (("run", "endless.toml", "--report", "-"), ".html"),
        (("run", "endless.toml", "--requests", "a.csv"), ".parquet"),
        (("compare", "endless.toml", "--vary", "seed=1,2", "--report", "a.toml"), ".html"),
        (("sweep", "endless.toml", "--out", "a.json"), ".parquet or .csv"),
        (("inspect", "small.trace", "--profile", "a.json"), ".toml"),
        (("miss-ratio", "small.trace", "--plot", "a.json"), ".png or .svg or .pdf"),
        (("probe", "ibm-18es", "--plot", "a.html"), ".png or .svg or .pdf"),
        (("validate", "ibm-18es", "small.trace", "--report", "a.json"), ".html"),
        (("import-disksim", "small.parv", "--output", "a.json"), ".toml"),
        (("convert", "small.trace", "a.csv", "--json", "a.txt"), ".json"),
        (("formats", "--json", "a.txt"), ".json"),
        (("drives", "--json", "a.txt"), ".json"),
    ],
)
def test_the_ending_of_an_output_fits_what_is_written(
    command: Command, folder: Path, arguments: Sequence[str], accepted: str
) -> None:
    (folder / "endless.toml").write_text(ENDLESS)
    before = names(folder)
    refused(command(*arguments), arguments[-2], arguments[-1], f"ends in {accepted}")
    assert names(folder) == before


def test_a_stream_has_no_ending_to_speak_of(folder: Path) -> None:
    fifo = folder / "pipe"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True)
    shell = f"'{COMMAND}' drives --json /dev/null && '{COMMAND}' drives cheetah-9lp --json '{fifo}'"
    done = subprocess.run(["bash", "-c", shell], env=environment(), capture_output=True, text=True)
    read, _ = reader.communicate(timeout=60)
    assert done.returncode == 0, done.stderr
    assert read.startswith("{")


def test_other_files_of_the_folder_may_be_replaced(command: Command, folder: Path) -> None:
    (folder / "result.json").write_text("old")
    done = command("run", "spec.toml", "--json", "result.json", "--requests", "log.parquet")
    assert done.returncode == 0, done.stderr
    assert (folder / "result.json").read_text().startswith("{")
