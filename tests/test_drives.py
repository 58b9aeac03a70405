"""Does `diskwright drives` list and show the drives, and do the drives work?"""

import tomllib
from pathlib import Path

import pytest

import diskwright
from conftest import ROOT, SPEC, Command, parsed, refused
from diskwright._shingled import SHINGLED


def test_every_description_in_the_repository_is_listed() -> None:
    def files(folder: str) -> list[str]:
        return sorted(path.stem for path in (ROOT / "drives" / folder).glob("*.toml"))

    assert diskwright.drives(kind="hdd") == files("")
    assert diskwright.drives(kind="ssd") == files("ssd")
    assert diskwright.drives() == files("") + files("ssd")
    with pytest.raises(diskwright.InputError, match="hdd, ssd"):
        diskwright.drives(kind="tape")


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
    assert {drive["kind"] for drive in listed["drives"]} == {"hdd", "ssd"}


def test_the_list_of_a_kind(command: Command) -> None:
    listed = parsed(command("drives", "--kind", "ssd", "--json", "-"))
    assert [drive["id"] for drive in listed["drives"]] == diskwright.drives(kind="ssd")
    shown = command("drives", "--kind", "ssd").stdout
    assert "slc-classic" in shown
    assert "ibm-18es" not in shown
    refused(command("drives", "--kind", "tape"), "tape", "hdd, ssd")
    refused(command("drives", "ibm-18es", "--kind", "hdd"), "give one of them")


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


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("exos-x20", ["exos-x20"]),
        ("ST20000NM007D", ["exos-x20"]),
        # As a drive answers, with what labels have behind the model.
        ("st20000nm007d-3DJ103", ["exos-x20"]),
        ("seagate exos 2x18", ["exos-2x18"]),
        ("ULTRASTAR he10", ["ultrastar-he10"]),
        ("Quantum", None),
        ("exos laptop", None),
        ("disksim SLC", ["slc-classic"]),
    ],
)
def test_words_find_drives(command: Command, words: str, names: list[str] | None) -> None:
    done = command("drives", "--search", words, "--json", "-")
    if names is None:
        refused(done, "no drive has all of", words.split()[0])
        with pytest.raises(diskwright.InputError, match="no drive has all of"):
            diskwright.drives(words)
        return
    found = parsed(done)
    assert [drive["id"] for drive in found["drives"]] == names == diskwright.drives(words)
    assert found["notes"] == []
    shown = command("drives", "--search", words).stdout
    assert all(name in shown for name in names)
    assert "cheetah-9lp" not in shown


def test_every_word_must_be_there() -> None:
    surveillance = diskwright.drives("surveillance")
    assert set(surveillance) == {"skyhawk-4tb", "wd-purple-4tb"}
    assert diskwright.drives("surveillance western") == ["wd-purple-4tb"]
    assert diskwright.drives("TOSHIBA nearline") == ["toshiba-mg08", "toshiba-mg10", "toshiba-mg11"]


@pytest.mark.parametrize("words", ["WD40EFAX", "wd red", "ST8000DM004-2CX188", "MQ04ABF100", "HC620", "SMR"])
def test_a_product_with_shingled_tracks_is_said_to_be_one(command: Command, words: str) -> None:
    refused(command("drives", "--search", words), "has shingled tracks, which are not modelled")


def test_a_search_that_finds_both_tells_of_both(command: Command) -> None:
    done = command("drives", "--search", "barracuda")
    assert done.returncode == 0
    assert "barracuda-2tb" in done.stdout
    assert "note:  Seagate BarraCuda, 3.5-inch" in done.stderr
    # A maker alone asks for its drives.
    assert "shingled" not in command("drives", "--search", "seagate").stderr


def test_what_is_shingled_is_not_in_the_library() -> None:
    names = [diskwright.drive(name).name for name in diskwright.drives()]
    for product in SHINGLED:
        assert product.source
        for model in product.models:
            assert not [name for name in names if model in name]


def test_a_search_shows_no_drive(command: Command) -> None:
    refused(command("drives", "exos-x20", "--search", "exos"), "give one of them")
    refused(command("drives", "--search", " "), "no words")
