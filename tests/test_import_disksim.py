"""Does `diskwright import-disksim` make drives from DiskSim's files, and do set-ups run as they are?"""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

import diskwright
from conftest import ROOT, Command, names, parsed, refused
from diskwright import _engine

LOAD = (
    "workload.synthetic={ requests = 300, arrivals = { poisson = '20 ms' }, "
    "reads = 0.5, size = '8 blocks', address = 'uniform' }"
)


@pytest.fixture
def setup(tmp_path: Path) -> Path:
    """The example's set-up in the command's folder."""
    shutil.copytree(ROOT / "examples" / "disksim", tmp_path, dirs_exist_ok=True)
    return tmp_path / "small.parv"


def told(stderr: str) -> list[str]:
    """The warnings on standard error."""
    return [line for line in stderr.splitlines() if line.startswith("warning:")]


def change(setup: Path, name: str, old: str, new: str) -> None:
    """Changes a text in one of the set-up's files."""
    path = setup.parent / name
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} in {name}"
    path.write_text(text.replace(old, new))


def test_a_set_up_becomes_a_drives_text(command: Command, setup: Path) -> None:
    done = command("import-disksim", "small.parv")
    assert (done.returncode, told(done.stderr)) == (0, []), done.stderr
    drive = tomllib.loads(done.stdout)
    assert (drive["name"], drive["rotation"], drive["buffer"]["segments"]) == ("SMALL", "6000 rpm", 3)
    assert command("import-disksim", "small.parv", "--output", "small.toml").stdout == ""
    assert (setup.parent / "small.toml").read_text() == done.stdout


def test_the_text_is_the_drive(command: Command, setup: Path) -> None:
    answer = parsed(command("import-disksim", "small.parv", "--json", "-", "--output", "small.toml"))
    assert answer["schema"] == 1
    read = diskwright.drive(setup.parent / "small.toml")
    assert answer["drive"] == read.description.to_dict()
    assert diskwright.drive(setup).description == read.description
    assert (answer["settings"]["host"]["outstanding"], answer["settings"]["queue"]["depth"]) == (4, 4)
    assert answer["warnings"] == []
    rest = ("--set", LOAD, "--json", "-")
    by_name = parsed(command("run", "small.parv", *rest))
    by_text = parsed(command("run", "small.parv", "--drive", "small.toml", *rest))
    assert by_name["digest"] == by_text["digest"]


def test_values_are_put_over_those_of_the_files(command: Command, setup: Path) -> None:
    sets = (
        ("--set", "disk0:Max queue length=8"),
        ("--set", "disk0:Scheduler:Scheduling policy=8"),
        ("--set", "disk0:Model:Mechanical Model:Rotation speed (in rpms)=7200"),
        ("--set", "*:Read block transfer time=0.1"),
        ("--set", "disk0:Allow almost read hits=1"),
    )
    answer = parsed(command("import-disksim", "small.parv", "--json", "-", *sum(sets, ())))
    assert answer["settings"]["queue"] == {"depth": 8, "scheduler": "satf"}
    assert answer["drive"]["rotation"] == "7200 rpm"
    interface = answer["drive"]["interface"]
    assert interface["block_time"] != interface["write_block_time"]
    assert len(answer["warnings"]) == 1
    done = command("import-disksim", "small.parv", *sum(sets, ()))
    assert told(done.stderr) == [f"warning: {answer['warnings'][0]}"]
    assert f"# - {answer['warnings'][0]}\n" in done.stdout


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("disk0", ("expected COMPONENT:PARAMETER=VALUE",)),
        ("disk9:Max queue length=1", ('no component "disk9"', 'did you mean "disk0"')),
        ("disk0:Max queue lenght=1", ("Max queue lenght", 'did you mean "Max queue length"')),
        ("disk0:Max queue length=[", ("expected ']' to close",)),
        ("disk0:Max queue length=soon", ("Max queue length", "expected a whole number")),
        ("disk0 .. disk99999999:Max queue length=1", ("disk0", "disk99999999")),
    ],
)
def test_a_wrong_override_is_told(
    command: Command, setup: Path, override: str, words: tuple[str, ...]
) -> None:
    refused(command("import-disksim", "small.parv", "--set", override), *words)


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        # A bracket is missing.
        (
            "small.parv",
            "   Print stats = 0\n}\nBUS0",
            "   Print stats = 0\nBUS0",
            ("small.parv:37:1", 'expected "," or "}"'),
        ),
        # A component that there is not.
        ("small.parv", "[ disk0 ] as SMALL", "[ disk0 ] as SMAL", ("small.parv:", "SMAL")),
        ("small.parv", "disksim_ctlr CTLR0", "disksim_cltr CTLR0", ("small.parv:39:1", "disksim_ctlr")),
        # A text where a number belongs.
        (
            "small.diskspecs",
            "Preseeking level = 0",
            "Preseeking level = none",
            ("small.diskspecs:15:23", "expected a whole number"),
        ),
        # A file that is not there, and one that names itself.
        (
            "small.parv",
            "source small.diskspecs",
            "source big.diskspecs",
            ("small.parv:46:8", "big.diskspecs"),
        ),
        (
            "small.diskspecs",
            "source small.model",
            "source small.diskspecs",
            ("small.diskspecs:4:19", "small.diskspecs"),
        ),
        # A range of millions.
        ("small.parv", "[ bus1 .. bus1 ]", "[ bus1 .. bus99999999 ]", ("small.parv:49:15", "bus99999999")),
        ("small.seek", "4, 1.300", "1, 1.300", ("small.seek:3:1",)),
    ],
)
def test_a_damaged_file_is_told_with_its_place(
    command: Command, setup: Path, name: str, old: str, new: str, words: tuple[str, ...]
) -> None:
    change(setup, name, old, new)
    before = names(setup.parent)
    refused(command("import-disksim", "small.parv", "--output", "small.toml"), *words)
    refused(command("run", "small.parv", "--set", LOAD), *words)
    assert names(setup.parent) == before


def test_an_existing_file_is_replaced_but_no_input(command: Command, setup: Path) -> None:
    target = setup.parent / "small.toml"
    target.write_text("mine")
    own = setup.read_text()
    refused(command("import-disksim", "small.parv", "--output", "small.parv"), "the command reads")
    assert setup.read_text() == own
    assert command("import-disksim", "small.parv", "--output", "small.toml").returncode == 0
    assert tomllib.loads(target.read_text())["name"] == "SMALL"
    refused(command("import-disksim", "small.parv", "--output", "none/small.toml"), "none/small.toml")
    refused(command("import-disksim", "none.parv"), "none.parv")


def test_json_and_text_are_written_side_by_side(command: Command, setup: Path) -> None:
    done = command("import-disksim", "small.parv", "--json", "small.json")
    assert tomllib.loads(done.stdout)["name"] == "SMALL"
    answer = json.loads((setup.parent / "small.json").read_text())
    assert sorted(answer) == ["drive", "schema", "settings", "warnings"]


def test_a_set_up_wants_a_load(command: Command, setup: Path) -> None:
    refused(command("run", "small.parv"), "small.parv", "--trace FILE", "--set workload.format=disksim-ascii")
    (setup.parent / "small.trace").write_text("0.0 0 0 8 1\n30.0 1 8 8 1\n60.0 0 1000 16 0\n")
    by_option = parsed(command("run", "small.parv", "--trace", "small.trace", "--json", "-"))
    assert (by_option["requests"]["completed"], by_option["requests"]["skipped"]) == (2, 1)
    sets = ("--set", "workload.trace=small.trace", "--set", "workload.format=disksim-ascii")
    assert parsed(command("run", "small.parv", *sets, "--json", "-"))["digest"] == by_option["digest"]


def test_a_set_ups_drive_can_be_named_everywhere(command: Command, setup: Path) -> None:
    change(setup, "small.diskspecs", "almost read hits = 0", "almost read hits = 1")
    (setup.parent / "here").mkdir()
    (setup.parent / "here" / "spec.toml").write_text('[device.hdd]\ndrive = "../small.parv"\n[workload]\n')
    ran = parsed(command("run", "here/spec.toml", "--set", LOAD, "--json", "-"))
    warnings = [warning for warning in ran["warnings"] if "Allow almost read hits" in warning]
    assert len(warnings) == 1
    assert "small.diskspecs:9:29" in warnings[0]
    named = parsed(command("run", "here/spec.toml", "--set", LOAD, "--drive", "small.parv", "--json", "-"))
    assert named["digest"] == ran["digest"]
    assert parsed(command("probe", "small.parv", "--only", "zones", "--json", "-"))["name"] == "SMALL"
    shown = parsed(command("drives", "small.parv", "--json", "-"))
    assert (shown["capacity_blocks"], len(shown["warnings"])) == (1_679_980, 1)
    refused(command("run", "here/spec.toml", "--set", LOAD, "--drive", "smal"), ".toml", ".parv")


def test_two_seeds_of_a_set_up_can_be_compared(command: Command, setup: Path) -> None:
    vary = ("--vary", "device.hdd.queue.depth=1,4", "--seeds", "2")
    done = command("compare", "small.parv", "--set", LOAD, *vary)
    assert done.returncode == 0, done.stderr


def test_the_page_of_parameters_has_every_one() -> None:
    page = (ROOT / "docs" / "formats" / "disksim-parameters.md").read_text(encoding="utf-8")
    for row in json.loads(_engine.disksim_parameters()):
        assert f"`{row['module']}`" in page
        assert f"`{row['parameter']}`" in page, row
        if not row["used"]:
            assert row["because"] in page, row
