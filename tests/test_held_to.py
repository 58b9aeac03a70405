"""Does the page say of every drive how close it comes to what it is held to?"""

import re
import sys

import pytest

import diskwright
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
try:
    from drives import drives
    from held_to import NOTHING, PAGE, rows, stale, table_of
finally:
    sys.path.pop(0)

TEXT = PAGE.read_text("utf-8")
TABLE = table_of(TEXT)
# What takes a second at most.
QUICK = ["toshiba-mg10", "constellation-2", "ultrastar-hc310"]


def of(name: str) -> list[str]:
    return [row for row in TABLE if row.startswith(f"| `{name}` |")]


def test_the_table_has_every_computed_drive_with_all_its_figures() -> None:
    assert stale(TEXT) == []
    assert all(of(name) for name in drives())
    assert sum(map(len, map(of, drives()))) == len(TABLE)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [("| 550.0 |", "| 551.0 |"), ("data sheet DS2080", "data sheet DS2081"), (NOTHING, "not looked at")],
)
def test_a_figure_or_a_source_that_changes_is_noticed(was: str, becomes: str) -> None:
    assert was in TEXT
    assert stale(TEXT.replace(was, becomes))
    assert stale(re.sub(r"^\\| `exos-x24` .*\n", "", TEXT, flags=re.MULTILINE))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in drives()]
)
def test_the_table_is_what_is_simulated(name: str) -> None:
    assert of(name) == [*rows(name, drives()[name])]


def test_what_drives_come_close_to() -> None:
    """Reads within 10 %, writes within 15 %, long reads within 3 %, but for what is only remembered."""
    limits = {"long reads": 3, "random reads": 10, "random writes": 15, "synchronous random writes": 15}
    asked = 0
    for row in TABLE:
        _, _, words, _, _, difference, why, _ = (cell.strip() for cell in row.split("|"))
        if difference and "not checked" not in why:
            share = abs(float(difference.removesuffix(" %")))
            near = [limit for begins, limit in limits.items() if words.startswith(begins)]
            asked += len(near)
            assert all(share <= limit for limit in near), row
    assert asked > 30


def test_the_sizes_in_the_text_are_those_of_the_drives() -> None:
    for size, names in (
        ("4 MiB", ["exos-x16", "exos-x18", "exos-x20", "exos-x24"]),
        ("768 KiB", ["exos-m-30", "exos-2x18"]),
        ("384 KiB", ["ultrastar-7k6000"]),
    ):
        assert size in TEXT
        count, unit = size.split()
        for name in names:
            memory = str(diskwright.drive(name).description["pool"]["persistent"]["memory"])
            kib = int(count) * (1024 if unit == "MiB" else 1)
            assert memory == f"{2 * kib} blocks", name
