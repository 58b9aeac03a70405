"""Does `device.hdd.overhead` put its times in the place of the drive's?"""

from pathlib import Path

import pytest

import diskwright
from conftest import SPEC, Command, refused

KEYS = ("read_after_read", "read_after_write", "write_after_read", "write_after_write")


def test_a_time_stands_before_every_command(spec: Path) -> None:
    found = diskwright.run(spec, device__hdd__overhead="0.3 ms", device__hdd__buffer=False)
    assert found.parts_ms.overhead == pytest.approx(0.3, abs=1e-9)
    none = diskwright.run(spec, device__hdd__overhead="0 ms", device__hdd__buffer=False)
    assert none.parts_ms.overhead == 0
    assert found.spec["device"]["hdd"]["overhead"] == "300 us"


def test_a_table_changes_some_values_of_the_drives(spec: Path) -> None:
    set = {"device.hdd.buffer": False}
    own = diskwright.run(spec, set=set)
    assert "overhead" not in own.spec["device"]["hdd"]
    description = diskwright.drive("ibm-18es").description.overhead
    same = diskwright.run(
        spec, set={**set, "device.hdd.overhead": {key: description[key] for key in KEYS}, "seed": 1}
    )
    assert same.digest == own.digest
    reads = {"workload.synthetic.reads": 1.0}
    changed = diskwright.run(
        spec,
        set={**set, **reads, "device.hdd.overhead": {"read_after_read": "1 ms", "completion_read": "2 ms"}},
    )
    assert changed.parts_ms.overhead == pytest.approx(3, abs=1e-9)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('overhead = "3 mss"', ("3 mss", ":12:12")),
        ('overhead = { read_after_reed = "1 ms" }', ("read_after_reed", "read_after_read", ":12:14")),
        ("overhead = { completion_read = 3 }", (":12:32",)),
        ("overhead = 3", ("0.3 ms", ":12:12")),
    ],
)
def test_what_does_not_fit_is_refused_where_it_stands(
    command: Command, tmp_path: Path, line: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "wrong.toml").write_text(f"{SPEC}{line}\n")
    refused(command("run", "wrong.toml"), *words)
