"""Does the page say of every SSD how close it comes to what it is held to?"""

import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
try:
    from held_to_ssd import PAGE, drives, rows, stale, table_of
finally:
    sys.path.pop(0)

TEXT = PAGE.read_text("utf-8")
TABLE = table_of(TEXT)


def test_the_table_has_every_figure() -> None:
    assert stale(TEXT) == []
    assert stale(TEXT.replace(TABLE[0], TABLE[0].replace("| `samsung", "| `sansung")))


@pytest.mark.long
@pytest.mark.parametrize("name", drives())
def test_the_table_is_what_is_simulated(name: str) -> None:
    assert [row for row in TABLE if row.startswith(f"| `{name}` |")] == [*rows(name, drives()[name])]
