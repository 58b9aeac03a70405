"""Does the recorded week of a workstation replay as known?"""

from pathlib import Path

import pytest

import diskwright
from conftest import ROOT, reference


@pytest.fixture
def week() -> Path:
    """The trace, which is not part of this repository."""
    return reference("disksim/ajw.1week.srt")


def test_the_week_replays_whole_and_the_same_each_time(week: Path) -> None:
    spec = ROOT / "examples" / "hp-week.toml"
    first, second = (diskwright.run(spec, trace=week) for _ in range(2))
    counts = first.requests
    assert (counts.trace, counts.completed, counts.skipped) == (44_519, 42_252, 2_267)
    assert first.digest == second.digest


def test_the_week_is_described(week: Path) -> None:
    assert diskwright.inspect(week, device=0).requests == 42_252
