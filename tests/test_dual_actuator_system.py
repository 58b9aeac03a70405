"""Is the dual-actuator logging disk reproduced, and are its latencies those of the closed forms?"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import polars
import pytest

import diskwright
from diskwright import reproduce
from diskwright._record import Record
from diskwright.reproduce._inputs import FileCache, Setting
from diskwright.sweep._job import points
from diskwright.systems import system
from diskwright.systems.dual_actuator import _changing, _drives, _points, _runs
from diskwright.systems.dual_actuator import _statements as statements
from logging_forms import BLOCK, REGION, disk
from test_reproduce import SCHEMA

SYSTEM = system("dual-actuator")
STATEMENTS = {
    "dad-ratio": 0.5,
    "stripe-ratio": 1,
    "dald-dad-crossover": "below 1",
    "logging-dad-crossover": "below 1",
    "dald-crosses-first": "above 0",
    "dald-below-logging": "above 0",
    "equal-at-the-ends": 0,
    "equal-at-eta-0": 0,
    "cheetah-gap-ratio": "below 1",
    "cylinders-explain": "above 0",
    "seek-explains": 0,
    "linear-seek-deviation": 0.09,
    "adaptive-regret": "below 0.05",
    "cleaning-late": "below 1",
}
VERDICTS = {"holds", "sign only", "inconclusive", "fails"}
NAMES = ["disk", "dad", "logging", "stripe2", "dald", "adaptive"]
TENTHS = [step / 10 for step in range(11)]
DRIVES = ("ibm-18es-linear", "cheetah-9lp-linear")
# Requests of each run: enough for every piece of the machinery, and for nothing that is found with it.
FEW = 200
# Points of a figure that are made of runs.
SOME = 2
# Statements of hundreds of runs, of which what is measured is tested by itself.
HEAVY = {"adaptive-regret", "dald-below-logging", "equal-at-the-ends"}

PARTS = ("seek_ns", "head_switch_ns", "settle_ns", "rotation_ns")


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Every figure without the recorded trace, some points of each; statements of not too many runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISKWRIGHT_DATA", raising=False)
        figures = [replace(figure, points=some(figure)) for figure in SYSTEM.figures]
        light = [statement for statement in SYSTEM.statements if statement.id not in HEAVY]
        few = replace(SYSTEM, figures=figures, statements=light, quick=FEW)
        return reproduce.reproduce(few, quick=True).to_dict()


def some(figure: reproduce.Figure) -> list[reproduce.Point]:
    """Points from all over, none of which replays many requests."""
    points = list(figure.points)
    return points[:: max(1, len(points) // SOME)]


def figure(id: str) -> reproduce.Figure:
    """A figure of the system."""
    (one,) = [figure for figure in SYSTEM.figures if figure.id == id]
    return one


def of_numbers(numbers: range) -> list[reproduce.Figure]:
    """The paper's figures of these numbers."""
    return [figure(f"fig-{number}") for number in numbers]


def test_ids_and_claims_are_those_of_the_reference() -> None:
    assert {statement.id: statement.paper.in_results() for statement in SYSTEM.statements} == STATEMENTS
    ids = [figure.id for figure in SYSTEM.figures if not figure.id.startswith("beyond-")]
    assert ids == [f"fig-{number}" for number in range(2, 13)]


def test_the_figures_over_w_have_all_architectures_in_steps_of_a_tenth() -> None:
    for numbers, drive in ((range(2, 5), DRIVES[0]), (range(10, 13), DRIVES[1])):
        for one, eta in zip(of_numbers(numbers), (0.0, 0.5, 1.0), strict=True):
            places = [tuple(point.coordinates[key] for key in ("architecture", "w")) for point in one.points]
            assert places == [(name, w) for name in NAMES for w in TENTHS]
            assert {(point.coordinates["drive"], point.coordinates["eta"]) for point in one.points} == {
                (drive, eta)
            }


def test_the_figures_over_eta_have_both_logs() -> None:
    for one, w in zip(of_numbers(range(5, 10)), (1.0, 0.7, 0.5, 0.3, 0.0), strict=True):
        places = [tuple(point.coordinates[key] for key in ("architecture", "eta")) for point in one.points]
        etas = (0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0)
        assert places == [(name, eta) for name in ("logging", "dald") for eta in etas]
        assert {(point.coordinates["drive"], point.coordinates["w"]) for point in one.points} == {
            (DRIVES[0], w)
        }


def test_what_figures_share_is_one_piece_of_work() -> None:
    by_place: dict[tuple[Any, ...], Any] = {}
    for one in of_numbers(range(2, 13)):
        for point in one.points:
            place = tuple(point.coordinates[key] for key in ("drive", "architecture", "w", "eta"))
            assert by_place.setdefault(place, point.work) == point.work
    # Without writes η is of no moment.
    assert by_place[DRIVES[0], "dald", 0.0, 0.5] == by_place[DRIVES[0], "dald", 0.0, 0.0]
    assert by_place[DRIVES[0], "dald", 0.5, 0.5] != by_place[DRIVES[0], "dald", 0.5, 0.0]


def test_every_point_has_its_coordinates_and_times(found: dict[str, Any]) -> None:
    jsonschema.validate(found, SCHEMA)
    keys = {"drive", "architecture", "w", "eta", "latency_ms", "response_ms"}
    keys |= {"latency_ms_ci95", "response_ms_ci95"}
    for one in found["figures"]:
        if one["id"] == "beyond-hp-week":
            assert "ajw.1week.srt" in one["skipped"]
            continue
        assert one["points"], one["id"]
        assert all(value is not None for point in one["points"] for value in point.values()), one["id"]
        for point in one["points"] if one["id"].startswith("fig-") else []:
            assert keys == set(point)
            low, high = point["latency_ms_ci95"]
            assert low <= point["latency_ms"] <= high
            assert point["latency_ms"] <= point["response_ms"] * (1 + 1e-9)


def test_every_statement_has_a_verdict(found: dict[str, Any]) -> None:
    assert [statement["id"] for statement in found["statements"]] == [
        id for id in STATEMENTS if id not in HEAVY
    ]
    assert {statement["verdict"] for statement in found["statements"]} <= VERDICTS
    assert {statement["measured"]["n"] for statement in found["statements"]} <= {1, 5}


def timed(ms: float) -> Record:
    """A run with a mean latency, in two parts."""
    return Record({"parts_ms": {"seek": ms / 4, "rotation": ms * 3 / 4}})


def test_a_crossover_lies_where_straight_lines_meet() -> None:
    def runs(log: Any) -> dict[str, Record]:
        times = {f"{w} 0.5 dad": timed(4) for w in TENTHS}
        return times | {f"{w} 0.5 dald": timed(log(w)) for w in TENTHS}

    assert statements.crossover(runs(lambda w: 6 - 5.5 * w), "dald") == pytest.approx(2 / 5.5)
    assert statements.crossover(runs(lambda w: 3.0), "dald") == 0
    assert statements.crossover(runs(lambda w: 5.0), "dald") == 1


def test_the_excess_is_that_over_the_better_drive() -> None:
    runs = {
        f"{mark} {name}": timed(ms)
        for mark in statements.competitors()
        for name, ms in (("dad", 4), ("dald", 5), ("adaptive", 4.1))
    }
    worst = f"{DRIVES[1]} changing"
    runs |= {f"{worst} dald": timed(2), f"{worst} adaptive": timed(2.5)}
    excess = dict(statements.regret(runs).places)
    assert excess.pop(worst) == pytest.approx(0.25)
    assert list(excess.values()) == pytest.approx([0.025] * 67)


def test_the_gap_is_a_mean_where_reads_writes_and_new_data_meet() -> None:
    assert len(statements.BETWEEN) == len(set(statements.BETWEEN)) == 30
    assert all(0 < w < 1 and eta > 0 for w, eta in statements.BETWEEN)
    runs = {f"{w} {eta} dald": timed(4) for w, eta in statements.BETWEEN}
    runs |= {f"{w} {eta} logging": timed(4 + eta) for w, eta in statements.BETWEEN}
    (one,) = [statement for statement in SYSTEM.statements if statement.id == "dald-below-logging"]
    mean = sum(eta for _, eta in statements.BETWEEN) / 30
    assert one.measure(runs) == pytest.approx(mean)
    assert isinstance(one.work, Mapping) and set(runs) == set(one.work)


def test_a_ratio_moves_by_what_is_exchanged() -> None:
    gaps = {
        f"{DRIVES[0]} nothing": 1.0,
        f"{DRIVES[1]} nothing": 0.5,
        f"{DRIVES[0]} cylinders": 0.6,
        f"{DRIVES[1]} cylinders": 0.9,
    }
    runs = {f"{mark} dald": timed(4) for mark in gaps}
    runs |= {f"{mark} logging": timed(4 + gap) for mark, gap in gaps.items()}
    assert statements.moved("cylinders")(runs) == pytest.approx(1.5 - 0.5)


def test_cleaning_is_judged_by_what_changes_when_the_disk_is_full() -> None:
    runs = {
        "before none": timed(4),
        "before idle": timed(4.4),
        "after none": timed(5),
        "after idle": timed(4.4),
    }
    assert statements.cleaning(runs) == pytest.approx(0.88 / 1.1)


def made(work: Any, seed: int | None = None) -> Mapping[str, Any]:
    """The description of a changed drive."""
    with_files = Setting({}, files=FileCache())
    return diskwright.drive(with_files.with_paths(work, seed)).to_dict()


def test_changed_drives_keep_their_capacity_and_take_what_is_exchanged() -> None:
    ibm, cheetah = (diskwright.drive(name).to_dict() for name in DRIVES)
    for surfaces in (1, 2, 12):
        changed = made(_drives.changed(DRIVES[0], surfaces=surfaces))
        assert changed["surfaces"] == surfaces
        assert changed["capacity_blocks"] == pytest.approx(ibm["capacity_blocks"], rel=1e-3)
        assert changed["full_stroke_ms"] == ibm["full_stroke_ms"]
    changed = made(_drives.changed(DRIVES[0], seek=DRIVES[1], rotation=DRIVES[1]))
    assert (changed["full_stroke_ms"], changed["rpm"]) == (cheetah["full_stroke_ms"], cheetah["rpm"])
    assert (changed["cylinders"], changed["surfaces"]) == (ibm["cylinders"], ibm["surfaces"])
    small = made(_drives.changed(DRIVES[0], cylinders=128))
    assert small["capacity_blocks"] == 128 * 5 * 312


def test_the_deviation_of_a_straight_seek_curve_is_that_of_its_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    curves = {DRIVES[0]: [0.0, 1.0, 2.0, 3.0], "ibm-18es": [0.0, 2.0, 2.0, 4.0, 9.0]}
    monkeypatch.setattr(_drives, "_seek_ms", curves.__getitem__)
    # Off by 1/2, 0 and 1/4; of two of four places 3, 2 and 1 pairs are so far apart.
    found = _drives.deviation(DRIVES[0])
    assert found["all"] == pytest.approx(0.25)
    assert found["random"] == pytest.approx((3 * 0.5 + 0.25) / 6)


def test_the_share_of_writes_changes_phase_by_phase(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        _changing.changing(tmp_path / name, seed, phase=10_000)
    contents = [(tmp_path / name).read_bytes() for name in ("one", "again", "other")]
    assert contents[0] == contents[1] != contents[2]
    table = polars.read_csv(tmp_path / "one")
    assert len(table) == _changing.LENGTH
    shares = [
        (table["op"][start : start + 10_000] == "w").mean() for start in range(0, _changing.LENGTH, 10_000)
    ]
    assert shares == pytest.approx(_changing.SHARES * 2, abs=0.025)
    gaps = [after - before for before, after in pairwise(table["time_s"])]
    assert sum(gaps) / len(gaps) == pytest.approx(0.1, rel=0.02)
    # Half of the writes are of new data, each behind all that is there.
    ends = table["lbn"].cum_max()
    new = table.filter((table["lbn"] == ends) & (table["lbn"] >= _changing.CHANGING_BLOCKS))
    writes = (table["op"] == "w").sum()
    assert len(set(new["lbn"])) == pytest.approx(writes / 2, rel=0.02)
    first = _changing.CHANGING_BLOCKS
    assert sorted(set(new["lbn"])) == list(range(first, first + BLOCK * len(set(new["lbn"])), BLOCK))


def test_a_disk_that_fills_is_full_by_its_middle() -> None:
    setting = Setting({}, files=FileCache())
    full = []
    for step in (1, 3, 5):
        work = _points.filling("dald", "none", 0, step * _points.FILL_STEP)
        run = diskwright.run(setting.with_paths(work.spec, 1))
        found = run.devices["hdd"].placement
        full.append(found.mapped_blocks / found.slots)
    # A tenth stays free.
    assert full == [pytest.approx(0.48, abs=0.01), *[pytest.approx(0.9, abs=0.001)] * 2]


def test_a_quick_try_writes_less_before_it_begins() -> None:
    setting = Setting({}, quick=10)
    for name, w, blocks in (("dald", 0.5, 20_000), ("dald", 0.0, REGION), ("adaptive", 0.0, 20_000)):
        ((job, _),) = _runs.point(name, DRIVES[0], w, 0.5).jobs(setting, [1])
        (told,) = points(job, [1])
        assert told.spec["device"]["hdd"]["placement"]["eager"]["initial"]["write"] == f"{blocks} blocks"
        assert told.spec["workload"]["synthetic"]["address"]["growing"]["blocks"] == blocks
        assert told.spec["measure"]["requests"] == 10


# The closed forms.


def latency(architecture: str, drive: str, w: float = 0.0, eta: float = 0.0, **how: Any) -> float:
    """The mean latency of 40,000 requests of the paper's load."""
    work = _runs.run(architecture, drive, _runs.growing(w, eta), requests=40_000, **how)
    return _runs.latency_ms(diskwright.run(work.spec))


@pytest.mark.parametrize("drive", DRIVES)
def test_reads_take_what_they_take_on_paper(drive: str) -> None:
    form = disk(drive)
    expected = {DRIVES[0]: (5.68, 3.60, 5.47), DRIVES[1]: (4.19, 2.70, 4.00)}[drive]
    forms = (form.one_arm(), form.two_arms(), form.striped())
    assert forms == pytest.approx(expected, abs=0.01)
    found = tuple(latency(name, drive) for name in ("disk", "dad", "stripe2"))
    assert found == pytest.approx(forms, rel=0.01)
    free = latency("stripe2", drive, spindles="free")
    assert free == pytest.approx(form.striped(2 / 3), rel=0.01)
    # Reads of a log are those of one arm: its data are as far apart.
    assert latency("dald", drive) == pytest.approx(form.one_arm(), rel=0.02)


@pytest.mark.parametrize("drive", DRIVES)
def test_by_seek_alone_two_arms_gain_no_rotation(drive: str) -> None:
    form = disk(drive)
    nearest = latency("dad", drive, arms={"choice": "nearest"})
    shortest = form.single * (1 - 0.01) + form.turn / 2 + form.slot
    assert shortest < nearest < form.one_arm()


# Pairs of a read and a write; each is long done when the next comes.
PAIRS = 20_000


def holes(target: Path, density: float, seed: int) -> None:
    """A packed log of which a share of the blocks goes; then, in turn, a read somewhere, which leaves
    the arm there, and a write of the same block, which leaves the holes as they are but for one."""
    random = Random(seed)
    blocks = range(REGION // BLOCK)
    gone = set(random.sample(blocks, round(density * len(blocks))))
    at = 0.0
    lines = ["time_s,op,lbn,blocks"]
    for block in sorted(gone):
        at += 0.001
        lines.append(f"{at:.6f},d,{block * BLOCK},{BLOCK}")
    # Far from where the log ends, behind which all is free.
    read = [block for block in blocks[10_000:-10_000] if block not in gone]
    for _ in range(PAIRS):
        for op, block in (("r", random.choice(read)), ("w", read[0])):
            at += 0.03 + random.expovariate(1 / 0.03)
            lines.append(f"{at:.9f},{op},{block * BLOCK},{BLOCK}")
    target.write_text("\n".join([*lines, ""]))


def write_positioning(work: reproduce.Run, target: Path) -> float:
    """The mean access time of writes, ms."""
    diskwright.run(work.spec, requests=target)
    writes = polars.read_parquet(target, columns=["op", *PARTS]).filter(polars.col("op") == "write")
    times: list[float] = writes.select(polars.sum_horizontal(PARTS) / 1e6).to_series().to_list()
    return sum(times) / len(times)


@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.parametrize("density", [0.05, pytest.param(0.3, marks=pytest.mark.long)])
@pytest.mark.parametrize("allocator", ["soonest", "nearest-cylinder"])
def test_a_write_waits_for_a_free_slot_as_on_paper(
    drive: str, density: float, allocator: str, tmp_path: Path
) -> None:
    packed = {"write": f"{REGION} blocks", "gap": "0 ms"}
    found = []
    # Which slots are free makes a difference of its own.
    for seed in range(4):
        trace = tmp_path / f"{seed}.csv"
        holes(trace, density, seed)
        work = _runs.replay("logging", drive, str(trace), log={"allocator": allocator}, initial=packed)
        found.append(write_positioning(work, tmp_path / "log.parquet"))
    expected = disk(drive).free_slot(density, allocator == "soonest")
    assert sum(found) / len(found) == pytest.approx(expected, rel=0.01)


def with_reads(target: Path, is_read: bool) -> None:
    """Writes of new data at certain instants, and between two of them a read or none."""
    random = Random(1)
    at = 0.0
    lines = ["time_s,op,lbn,blocks"]
    for number in range(40_000):
        block = random.randrange(REGION // BLOCK)
        if is_read:
            lines.append(f"{at + 0.03:.9f},r,{block * BLOCK},{BLOCK}")
        at += 0.06 + random.expovariate(1 / 0.04)
        lines.append(f"{at:.9f},w,{REGION + number * BLOCK},{BLOCK}")
    target.write_text("\n".join([*lines, ""]))


@pytest.mark.parametrize("drive", DRIVES)
def test_what_a_write_of_dald_takes_does_not_depend_on_reads(drive: str, tmp_path: Path) -> None:
    found = {}
    for is_read in (True, False):
        with_reads(tmp_path / "load.csv", is_read)
        for name in ("dald", "logging"):
            work = _runs.replay(name, drive, str(tmp_path / "load.csv"))
            found[name, is_read] = write_positioning(work, tmp_path / "log.parquet")
    assert found["dald", True] == found["dald", False]
    assert found["logging", True] > 1.1 * found["logging", False]


@pytest.mark.long
def test_in_a_quick_try_every_statement_has_a_verdict() -> None:
    found = reproduce.reproduce(SYSTEM, quick=True).to_dict()
    assert [statement["id"] for statement in found["statements"]] == list(STATEMENTS)
    assert {statement["verdict"] for statement in found["statements"]} <= VERDICTS
