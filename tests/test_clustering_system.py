"""Does `diskwright reproduce clustering` measure what it says, with and without recorded traces?"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import polars
import pytest

import diskwright
from conftest import ROOT, no_reference, reference_places
from diskwright.reproduce import reproduce, write
from diskwright.reproduce._inputs import FileCache, Setting
from diskwright.systems import _clustering as clustering
from diskwright.systems import system
from test_reproduce import SCHEMA

SYSTEM = system("clustering")
STATEMENTS = [
    "fcfs-gain",
    "ncq-gain",
    "ncq-below-fcfs",
    "gain-larger-under-fcfs",
    "sequential-share-at-8",
    "starvation",
]
VERDICTS = {"holds", "sign only", "inconclusive", "fails"}


def tried(requests: int, data: Path | None = None) -> Any:
    """A quick try with `requests` requests in each run."""
    return reproduce(replace(SYSTEM, quick=requests), data=data, quick=True)


@pytest.fixture(scope="module")
def found() -> Iterator[Any]:
    """What is found without recorded traces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISKWRIGHT_DATA", raising=False)
        yield tried(400)


@pytest.fixture
def reference() -> Path:
    """A folder with recorded traces, which are not part of this repository."""
    for place in reference_places():
        if all(list(place.rglob(trace.name)) for trace in SYSTEM.traces if trace.file is None):
            return place
    return no_reference("the recorded traces")


def test_without_recorded_traces_all_is_measured_or_told(found: Any) -> None:
    told = found.to_dict()
    jsonschema.validate(told, SCHEMA)
    assert {"fig-1", "fig-3", "fig-4"} <= {figure["id"] for figure in told["figures"]}
    for figure in told["figures"]:
        assert figure["points"] or "cloudPhysicsIO.vscsi" in figure["skipped"], figure["id"]
    verdicts = {statement["id"]: statement["verdict"] for statement in told["statements"]}
    assert list(verdicts) == STATEMENTS
    assert verdicts.pop("ncq-below-fcfs") == "not run"
    assert set(verdicts.values()) <= VERDICTS
    assert verdicts["starvation"] == "holds"


def test_a_gain_is_that_of_two_runs(found: Any) -> None:
    rows = found.frame().filter(
        (polars.col("figure") == "beyond-drives")
        & (polars.col("trace") == clustering.SYNTHETIC_CLONE)
        & (polars.col("drive") == "travelstar-5k160")
        & (polars.col("scheduler") == "fcfs")
        & (polars.col("seed") == 3)
    )
    (row,) = rows.rows(named=True)
    totals = []
    for threshold in (None, 32):
        queue = {"depth": 32, "scheduler": {"fcfs": {"timeout": "2 s"}}}
        one = diskwright.run(
            {
                "seed": 3,
                "workload": {
                    "synthetic-clone": str(ROOT / "examples/synthetic-clone/smalldiskmon.toml"),
                    "pace": "closed",
                },
                "host": {"outstanding": 10_000},
                "measure": {"requests": 400, "warmup": 0},
                "device": {
                    "hdd": {
                        "drive": "travelstar-5k160",
                        "overhead": "0.3 ms",
                        "buffer": False,
                        "queue": queue | ({"clustering": "32 blocks"} if threshold else {}),
                    }
                },
            }
        )
        totals.append(one.service_ms.total)
        makespan = row["makespan_with_s" if threshold else "makespan_without_s"]
        assert makespan == pytest.approx(one.simulated_s)
    assert row["gain"] == pytest.approx(1 - totals[1] / totals[0], rel=1e-12)


def test_every_figure_has_the_makespan_beside_the_total_service_time() -> None:
    for figure in SYSTEM.figures:
        if any("service" in name or name == "gain" for name in figure.measure):
            assert any("makespan" in name for name in figure.measure), figure.id


def test_the_readings_of_sequential_are_those_of_a_small_trace(tmp_path: Path) -> None:
    # 8 blocks, 8 behind them, 16 written behind those, 8 after a gap of 4, 4 elsewhere.
    (tmp_path / "t.trace").write_text(
        "0.0 0 0 8 1\n1.0 0 8 8 1\n2.0 0 16 16 0\n3.0 0 36 8 0\n4.0 0 900 4 0\n"
    )
    diskwright.convert(tmp_path / "t.trace", tmp_path / "t.parquet")
    shares = {}
    for threshold in (0, 4):
        inspected = diskwright.inspect(tmp_path / "t.trace", threshold=threshold)
        shares[threshold] = [clustering.share({reading: inspected}) for reading in clustering.READINGS[:2]]
    assert shares == {0: [2 / 5, 24 / 44], 4: [3 / 5, 32 / 44]}
    # Merged, they have 16, 16, 8 and 4 blocks.
    longer = [clustering.longer(str(tmp_path / "t.parquet"), blocks)["share"] for blocks in (0, 4, 8, 16)]
    assert longer == [1, 3 / 4, 2 / 4, 0]


def test_only_the_turn_of_the_newest_part_starves_and_a_timeout_ends_that() -> None:
    setting = Setting({}, files=FileCache())
    waits = {}
    for place in ("oldest", "newest"):
        for timeout_s in (0, 2):
            work = clustering.run(clustering.HAND_MADE, "fcfs", merged_place=place, timeout_s=timeout_s)
            one = diskwright.run(setting.with_paths(work.spec, 1))
            waits[place, timeout_s] = one.devices["hdd"].longest_wait_ms
    # With the oldest part's turn, at most 31 requests are in front of anyone.
    assert waits["oldest", 0] == waits["oldest", 2] < 1_000
    assert waits["newest", 0] > 4_000
    assert 2_000 <= waits["newest", 2] < 2_100


@pytest.mark.long
def test_with_recorded_traces_every_statement_has_a_verdict(reference: Path, tmp_path: Path) -> None:
    found = tried(2_000, reference)
    told = found.to_dict()
    assert {statement["verdict"] for statement in told["statements"]} <= VERDICTS
    assert not [figure["id"] for figure in told["figures"] if "skipped" in figure or "incomplete" in figure]
    traces = {point["trace"] for point in told["figures"][2]["points"]}
    assert traces == set(clustering.WORKLOADS)
    pages = write(found, tmp_path)
    assert pages[0].name == "index.html"
