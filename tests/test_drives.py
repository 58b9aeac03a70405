"""Does `diskwright drives` list and show the drives, and do the drives work?"""

import tomllib
from pathlib import Path

import pytest

import diskwright
from conftest import ROOT, SPEC, Command, parsed, refused


def test_every_description_in_the_repository_is_listed() -> None:
    assert sorted(diskwright.drives()) == sorted(path.stem for path in (ROOT / "drives").glob("*.toml"))


def test_the_list_names_every_drive(command: Command) -> None:
    done = command("drives")
    assert done.returncode == 0
    for name in diskwright.drives():
        assert name in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_the_list_as_json(command: Command) -> None:
    listed = parsed(command("drives", "--json", "-"))
    assert listed["schema"] == 1
    assert [drive["id"] for drive in listed["drives"]] == diskwright.drives()


@pytest.mark.parametrize("name", diskwright.drives())
def test_a_drive_is_shown_with_its_description(command: Command, name: str) -> None:
    done = command("drives", name)
    assert done.returncode == 0, done.stderr
    text = diskwright.drive_toml(name)
    assert tomllib.loads(text)
    assert text.strip() in done.stdout


def test_a_shown_description_can_be_saved_and_used(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(diskwright.drive_toml("ibm-18es"))
    (tmp_path / "spec.toml").write_text(SPEC)
    own = parsed(command("run", "spec.toml", "--drive", "./mine.toml", "--json", "-"))
    named = parsed(command("run", "spec.toml", "--json", "-"))
    assert own["digest"] == named["digest"]
    assert command("drives", "./mine.toml").returncode == 0


def test_a_misspelt_drive_is_wrong_input_with_a_suggestion(command: Command) -> None:
    refused(command("drives", "ibm-18s"), "ibm-18s", "ibm-18es")
