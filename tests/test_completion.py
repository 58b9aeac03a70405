"""Does the shell complete what a verb takes: files, drives, formats, keys of specs and their values?"""

import subprocess
from pathlib import Path

import pytest

import diskwright
from conftest import COMMAND, SPEC, environment
from diskwright.cli import completion

SCHEDULER = "device.hdd.queue.scheduler"


def test_keys_of_specs_are_completed_part_by_part() -> None:
    assert {"workload.", "device.", "seed="} <= set(completion.settings(""))
    assert completion.settings("device.h") == ["device.hdd.", "device.hybrid."]
    assert completion.settings("device.hdd.queue.dep") == ["device.hdd.queue.depth="]
    assert completion.settings("device.tier.cache.ssd.dr") == ["device.tier.cache.ssd.drive="]
    assert completion.settings("device.nothing.") == []


def test_values_that_are_names_are_completed() -> None:
    assert f"{SCHEDULER}=ncq" in completion.settings(f"{SCHEDULER}=")
    assert completion.settings("device.hdd.write_cache=") == [
        "device.hdd.write_cache=true",
        "device.hdd.write_cache=false",
    ]
    of_ibm = ["device.hdd.drive=ibm-18es-linear", "device.hdd.drive=ibm-18es-tuned"]
    assert completion.settings("device.hdd.drive=ibm-18es-") == of_ibm
    assert completion.settings("measure.warmup=1") == []


def test_the_last_of_several_values_is_completed() -> None:
    assert f"{SCHEDULER}=fcfs,satf" in completion.variations(f"{SCHEDULER}=fcfs,sa")
    # A setting has one value.
    assert completion.settings(f"{SCHEDULER}=fcfs,sa") == []


def test_every_completed_value_is_accepted(tmp_path: Path) -> None:
    """Of a key whose values all stand without parameters."""
    (tmp_path / "spec.toml").write_text(SPEC.replace("2_000", "20"))
    values = [text.partition("=")[2] for text in completion.settings(f"{SCHEDULER}=")]
    assert len(values) > 10
    for value in values:
        diskwright.run(tmp_path / "spec.toml", set={SCHEDULER: value})


def test_files_are_completed_by_ending_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    for name in ("a.toml", "b.parv", "c.csv", ".hidden.toml", "deep/d.TOML"):
        (tmp_path / name).touch()
    assert completion.specs("") == ["a.toml", "b.parv", "deep/"]
    assert completion.specs("deep/") == ["deep/d.TOML"]
    assert completion.specs(".h") == [".hidden.toml"]
    assert completion.traces("c") == ["c.csv"]
    assert completion.specs(f"{tmp_path}/a") == [f"{tmp_path}/a.toml"]
    assert completion.specs("none/") == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("drives ibm-18", "ibm-18es"),
        ("probe ibm-18", "ibm-18es"),
        ("validate ibm-18", "ibm-18es"),
        ("fit ibm-18", "ibm-18es"),
        ("fit --from-scratch my", "my.trace"),
        ("fit --from-scr", "--from-scratch"),
        ("run spec.toml --drive ibm-18", "ibm-18es"),
        ("run sp", "spec.toml"),
        ("run spec.toml --set device.hdd.queue.dep", "device.hdd.queue.depth="),
        ("compare spec.toml --vary device.hdd.queue.dep", "device.hdd.queue.depth="),
        ("sweep spec.toml --vary device.hdd.queue.dep", "device.hdd.queue.depth="),
        ("run spec.toml --trace spec", "spec.toml"),
        ("inspect spec", "spec.toml"),
        ("inspect spec.toml --format mqs", "mqsim"),
        ("reproduce atc", "atca"),
        ("insp", "inspect"),
    ],
)
def test_a_shell_is_answered(words: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").touch()
    (tmp_path / "my.trace").touch()
    asked = {"COMP_WORDS": f"diskwright {words}", "COMP_CWORD": str(len(words.split()))}
    done = subprocess.run(
        [COMMAND],
        env=environment() | asked | {"_DISKWRIGHT_COMPLETE": "complete_bash"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert expected in done.stdout.split(), done.stdout + done.stderr
