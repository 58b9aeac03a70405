"""Is the access-time-aware cache reproduced from traces that are what their descriptions say?"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import diskwright
from conftest import no_reference, reference_places
from diskwright import reproduce
from diskwright._record import Record
from diskwright.reproduce._system import works
from diskwright.systems import system
from diskwright.systems.atca import _hand_made as hand_made
from diskwright.systems.atca import _statements as statements
from test_reproduce import SCHEMA

SYSTEM = system("atca")
RECORDED = {"ajw.1week.srt", "cloudPhysicsIO.vscsi"}
STATEMENTS = [
    "simple-gain",
    "smalldiskmon-gain",
    "pcfat32-gain",
    "hp-week-gain",
    "more-random-gains-more",
    "lru-identity",
    "ceiling",
    "beats-scan-resistant",
    "ncq-two-applications",
    "ncq-one-application",
]
VERDICTS = {"holds", "sign only", "inconclusive", "fails"}
# Requests of each run: enough for every piece of the machinery, and for nothing that is found with it.
FEW = 200
# Points of a figure that are made of runs, when not all are.
SOME = 3

Requests = list[tuple[int, int, bool]]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Every figure and statement without recorded traces, with some of each figure's points."""
    there = [replace(figure, points=[*filter(is_there, figure.points)]) for figure in SYSTEM.figures]
    figures = [
        figure if figure.id == "table-1" else replace(figure, points=some(figure.points)) for figure in there
    ]
    assert all(figure.points for figure in figures)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISKWRIGHT_DATA", raising=False)
        return reproduce.reproduce(replace(SYSTEM, figures=figures, quick=FEW), quick=True).to_dict()


def is_there(point: reproduce.Point) -> bool:
    """Whether all of its traces come along."""
    return all(trace.file is not None for work in works(point) for trace in work.traces())


def some(points: Sequence[reproduce.Point]) -> list[reproduce.Point]:
    """Points from all over."""
    return list(points[:: max(1, len(points) // SOME)])


def written(target: Path) -> Requests:
    """A trace in DiskSim's format: first block, blocks, whether it reads."""
    lines = [line.split() for line in target.read_text().splitlines()]
    assert [float(line[0]) for line in lines] == list(range(len(lines)))
    return [(int(lbn), int(blocks), flags == "1") for _, _, lbn, blocks, flags in lines]


def hot(requests: Requests, places: int) -> None:
    """Reads of `places` places, all equally popular, in the lower half of the addresses."""
    counts = Counter(lbn for lbn, _, _ in requests)
    assert {(blocks, reads) for _, blocks, reads in requests} == {(8, True)}
    assert len(counts) == places and all(lbn % 8 == 0 for lbn in counts)
    assert max(counts) + 8 <= hand_made.SPAN_BLOCKS // 2
    # Each count is within six standard deviations of the mean.
    mean = len(requests) / places
    assert all(abs(count - mean) < 6 * mean**0.5 for count in counts.values())


def test_ids_are_those_of_the_reference() -> None:
    assert [statement.id for statement in SYSTEM.statements] == STATEMENTS
    ids = [figure.id for figure in SYSTEM.figures]
    assert [id for id in ids if not id.startswith("beyond-")] == ["fig-1", "table-1", "fig-3"]
    paper = {statement.id: statement.paper.in_results() for statement in SYSTEM.statements}
    values = [paper[id] for id in ("simple-gain", "smalldiskmon-gain", "pcfat32-gain", "lru-identity")]
    assert values == [0.11, 0.35, 0.21, 0]


def test_without_data_a_figure_lacks_only_what_was_recorded() -> None:
    for figure in SYSTEM.figures:
        is_whole = all(map(is_there, figure.points))
        assert figure.partial or is_whole, figure.id
        assert any(map(is_there, figure.points)), figure.id


def test_makespan_and_destage_time_stand_beside_the_total_service_time() -> None:
    for figure in SYSTEM.figures:
        if {"gain", "service_s", "of_lru"} & set(figure.measure):
            assert {"makespan_s", "destage_s"} <= set(figure.measure), figure.id


def test_without_data_all_is_there_that_can_be(found: dict[str, Any]) -> None:
    jsonschema.validate(found, SCHEMA)
    recorded = {trace["name"] for trace in found["traces"] if trace["found"] is None}
    assert recorded == RECORDED
    for figure in found["figures"]:
        assert figure["points"], figure["id"]
        values = [value for point in figure["points"] for value in point.values()]
        assert all(value is not None for value in values), figure["id"]
    verdicts = {statement["id"]: statement["verdict"] for statement in found["statements"]}
    assert {id for id, verdict in verdicts.items() if verdict == "not run"} == {
        "hp-week-gain",
        "lru-identity",
    }
    assert set(verdicts.values()) <= VERDICTS | {"not run"}


def test_the_tables_are_measured_back(found: dict[str, Any]) -> None:
    (table,) = [figure for figure in found["figures"] if figure["id"] == "table-1"]
    (source,) = [figure for figure in SYSTEM.figures if figure.id == "table-1"]
    keys = ("trace", "property", "requests", "blocks")
    assert [{key: point[key] for key in keys} for point in table["points"]] == list(source.published)


def test_without_a_weight_no_eviction_differs(found: dict[str, Any]) -> None:
    (figure,) = [figure for figure in found["figures"] if figure["id"] == "beyond-identity"]
    assert {point["differing"] for point in figure["points"]} == {0}


def test_a_gain_is_that_of_two_runs(found: dict[str, Any], tmp_path: Path) -> None:
    gains = []
    for seed in range(1, 6):
        path = tmp_path / f"{seed}.trace"
        hand_made.beside_streaming(path, seed, 512)
        totals = []
        for policy in ("lru", "atca-simple"):
            run = diskwright.run(
                {
                    "seed": seed,
                    "workload": {"trace": str(path), "pace": "closed"},
                    "host": {"outstanding": 10_000},
                    "measure": {"warmup": 0, "requests": FEW},
                    "device": {
                        "hdd": {
                            "drive": "ibm-18es",
                            "angle": "random",
                            "overhead": "0.3 ms",
                            "queue": {
                                "depth": 32,
                                "scheduler": {"ncq": {"timeout": "2 s"}},
                                "clustering": "32 blocks",
                            },
                            "cache": {"size": "8 MiB", "policy": policy},
                        }
                    },
                }
            )
            totals.append(run.service_ms.total)
        gains.append(1 - totals[1] / totals[0])
    (statement,) = [one for one in found["statements"] if one["id"] == "simple-gain"]
    assert statement["measured"]["value"] == pytest.approx(sum(gains) / 5)
    assert statement["measured"]["ci95"] == pytest.approx(diskwright._engine.ci95(gains))


def timed(total_s: float) -> Any:
    """A run with a total service time."""
    return Record({"service_ms": {"total": total_s * 1e3}})


def test_what_is_measured_over_sizes_takes_the_best_of_them() -> None:
    sizes = (1, 2, 4, 8, 16, 32, 64)
    lru = {f"lru {size}": timed(100 - size) for size in sizes}
    it = {f"it {size}": timed((100 - size) * (0.7 if size == 16 else 0.9)) for size in sizes}
    assert statements.best_gain()({**lru, **it}) == pytest.approx(0.3)
    # The largest is that over the slowest LRU.
    assert statements.ceiling({**lru, "everything": timed(33)}) == pytest.approx(1 - 33 / 99)
    others = {
        f"{name} {size}": timed(50 + 10 * place)
        for place, name in enumerate(("lfu", "arc", "s3-fifo", "sieve"))
        for size in sizes
    }
    assert statements.ratio_to_others({**lru, **it, **others}) == pytest.approx(84 * 0.7 / 50)


def test_hot_places_are_read_beside_a_stream(tmp_path: Path) -> None:
    hand_made.beside_streaming(tmp_path / "made", 1, hot=64)
    requests = written(tmp_path / "made")
    assert len(requests) == hand_made.LENGTH
    hot(requests[::2], 64)
    stream = requests[1::2]
    assert {(blocks, reads) for _, blocks, reads in stream} == {(128, True)}
    first = hand_made.SPAN_BLOCKS // 2
    assert [lbn for lbn, _, _ in stream] == list(range(first, first + 128 * len(stream), 128))
    assert stream[-1][0] + 128 <= hand_made.SPAN_BLOCKS


@pytest.mark.parametrize("in_order", [True, False])
def test_hot_places_are_flooded_with_what_comes_once(tmp_path: Path, in_order: bool) -> None:
    hand_made.flooded(tmp_path / "made", 1, hot=64, in_order=in_order)
    requests = written(tmp_path / "made")
    hot(requests[::2], 64)
    flood = requests[1::2]
    assert {(blocks, reads) for _, blocks, reads in flood} == {(128, False)}
    places = [lbn for lbn, _, _ in flood]
    assert len(set(places)) == len(places) and all(lbn % 128 == 0 for lbn in places)
    assert min(places) >= hand_made.SPAN_BLOCKS // 2 and max(places) + 128 <= hand_made.SPAN_BLOCKS
    follow = sum(after == before + 128 for before, after in pairwise(places))
    assert follow == len(places) - 1 if in_order else follow < len(places) // 100


@pytest.mark.parametrize("count", [1, 2])
def test_applications_take_turns_and_stay_where_they_are(tmp_path: Path, count: int) -> None:
    hand_made.applications(tmp_path / "made", 1, count)
    requests = written(tmp_path / "made")
    assert len(requests) == hand_made.LENGTH
    assert {(blocks, reads) for _, blocks, reads in requests} == {(16, True)}
    areas = [requests[index::count] for index in range(count)]
    for area in areas:
        gaps = [after[0] - before[0] - 16 for before, after in pairwise(area)]
        jumps = [gap for place, gap in enumerate(gaps, start=1) if place % 32 == 0]
        assert all(gap == 0 for place, gap in enumerate(gaps, start=1) if place % 32)
        assert all(0 <= gap < 1_000 for gap in jumps) and len(set(jumps)) > 1
    ends = [(area[0][0], area[-1][0] + 16) for area in areas]
    assert all(before[1] < after[0] for before, after in pairwise(ends))
    assert max(end for _, end in ends) <= hand_made.SPAN_BLOCKS


@pytest.mark.parametrize(
    ("make", "arguments"),
    [
        (hand_made.beside_streaming, {"hot": 64}),
        (hand_made.flooded, {"hot": 64, "in_order": False}),
        (hand_made.applications, {"count": 2}),
    ],
)
def test_traces_made_by_hand_are_others_with_each_seed(
    make: Callable[..., None], arguments: dict[str, Any], tmp_path: Path
) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        make(tmp_path / name, seed, **arguments)
    contents = [(tmp_path / name).read_bytes() for name in ("one", "again", "other")]
    assert contents[0] == contents[1] != contents[2]


@pytest.mark.long
def test_with_all_traces_each_statement_has_a_verdict() -> None:
    folder = next(iter(reference_places()), None)
    if folder is None:
        no_reference("the recorded traces")
    found = reproduce.reproduce(replace(SYSTEM, quick=2_000), quick=True, data=folder).to_dict()
    if lost := [trace["name"] for trace in found["traces"] if trace["found"] is None]:
        no_reference(", ".join(lost))
    assert {statement["verdict"] for statement in found["statements"]} <= VERDICTS
    assert not any({"skipped", "incomplete"} & set(figure) for figure in found["figures"])
    (identity,) = [one for one in found["statements"] if one["id"] == "lru-identity"]
    assert (identity["measured"]["value"], identity["verdict"]) == (0, "holds")
