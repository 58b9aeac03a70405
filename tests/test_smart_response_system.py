"""Is the SSD as a cache reproduced on loads and devices that are what their descriptions say?"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import polars
import pytest

import diskwright
from diskwright import reproduce
from diskwright._record import Record
from diskwright.reproduce._inputs import FileCache, Setting
from diskwright.reproduce._system import works
from diskwright.sweep._job import points
from diskwright.systems import system
from diskwright.systems.smart_response import _che, _devices, _generator, _made, _points, _runs
from diskwright.systems.smart_response import _extensions as extensions
from test_reproduce import SCHEMA

SYSTEM = system("smart-response")
CLAIMS = {
    "order": "below 1",
    "half-to-one-gb": "below 1",
    "sixteen-equals-sixty-four": 1,
    "write-back-faster": "below 1",
    "fifo-like-lifo": 1,
    "slru-worse": "above 1",
    "through-fifo-best": 1,
    "cap-at-64gb": 1,
}
SMALL = {"write-back-faster", "fifo-like-lifo", "slru-worse", "through-fifo-best"}
VERDICTS = {"holds", "sign only", "inconclusive", "fails"}
# Requests of each run: enough for every piece of the machinery, and for nothing that is found with it.
FEW = 200
# Points of a figure that are made of runs.
SOME = 3


def statement(id: str) -> reproduce.Statement:
    """A statement of the system."""
    (one,) = [statement for statement in SYSTEM.statements if statement.id == id]
    return one


def figure(id: str) -> reproduce.Figure:
    """A figure of the system."""
    (one,) = [figure for figure in SYSTEM.figures if figure.id == id]
    return one


def emptied(item: Any) -> Any:
    """A spec with SSDs on which nothing is at the start: to fill them takes longer than the requests."""
    if isinstance(item, Mapping):
        return {key: {"fill": "0 %"} if key == "initial" else emptied(inner) for key, inner in item.items()}
    return [emptied(inner) for inner in item] if isinstance(item, list) else item


def short(point: reproduce.Point) -> reproduce.Point:
    """The same from few requests, on SSDs that hold nothing at the start."""

    def shortened(work: reproduce.Work) -> reproduce.Work:
        if not isinstance(work, reproduce.Run):
            return work
        cut = {"measure.requests": FEW, "measure.warmup": FEW // 4}
        return replace(work, spec=emptied(work.spec), set=cut, quick=FEW, quick_set={})

    if isinstance(point.work, reproduce.Work):
        return replace(point, work=shortened(point.work))
    return replace(point, work={name: shortened(work) for name, work in point.work.items()})


def is_there(part: Any) -> bool:
    """Whether it needs no recorded trace, and no long-running work beside runs."""
    return not any(work.traces() or isinstance(work, reproduce.Call) for work in works(part))


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Some points of every figure, and every statement on the load that is made for the run."""
    figures = []
    for one in SYSTEM.figures:
        there = [short(point) for point in one.points if is_there(point)]
        figures.append(replace(one, points=there[:: max(1, len(there) // SOME)]))
    chosen = [
        replace(one, work={name: short_work(work) for name, work in of.items()})
        for one in SYSTEM.statements
        if isinstance(of := one.work, Mapping) and is_there(one) and one.id in CLAIMS
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISKWRIGHT_DATA", raising=False)
        few = replace(SYSTEM, figures=figures, statements=chosen)
        return reproduce.reproduce(few, quick=True).to_dict()


def short_work(work: reproduce.Work) -> reproduce.Work:
    made = short(reproduce.Point({}, work)).work
    assert isinstance(made, reproduce.Work)
    return made


def test_ids_and_claims_are_those_of_the_reference() -> None:
    expected = {id + mark: claim for id, claim in CLAIMS.items() for mark in ("", "-paper", "-trace")}
    expected |= {f"{id}-trace-small": CLAIMS[id] for id in SMALL}
    assert {one.id: one.paper.in_results() for one in SYSTEM.statements} == expected
    ids = [one.id for one in SYSTEM.figures if not one.id.startswith("beyond-")]
    assert ids == ["fig-2", "fig-3", "fig-4", "fig-5"]


def test_every_figure_has_points_and_every_statement_a_verdict(found: dict[str, Any]) -> None:
    jsonschema.validate(found, SCHEMA)
    for one in found["figures"]:
        if one["id"] == "beyond-next-gigabyte":
            continue
        assert one["points"], one["id"]
        for point in one["points"]:
            assert all(value is not None for value in point.values()), one["id"]
    assert [one["id"] for one in found["statements"]] == list(CLAIMS)
    assert {one["verdict"] for one in found["statements"]} <= VERDICTS


def timed(ms: float) -> Record:
    """A run with a mean response time."""
    return Record({"response_ms": {"mean": ms}})


def test_statements_are_the_ratios_that_they_say() -> None:
    order = statement("order").measure
    runs = {name: timed(ms) for name, ms in zip(_runs.CONFIGURATIONS, (10, 9, 4, 1), strict=True)}
    worst = order(runs)
    assert isinstance(worst, reproduce.Worst)
    assert max(worst.places.values()) == pytest.approx(0.9)
    # A hybrid that is slower than the disk breaks the order, whatever comes after it.
    broken = order(runs | {_runs.HYBRID: timed(11)})
    assert isinstance(broken, reproduce.Worst) and max(broken.places.values()) == pytest.approx(1.1)
    best = statement("through-fifo-best")
    assert isinstance(best.work, Mapping)
    of = {name: timed(4) for name in best.work} | {"write-back, S-LRU": timed(2)}
    measured = best.measure(of)
    assert isinstance(measured, reproduce.Worst) and max(measured.places.values()) == pytest.approx(2)
    pair = {"one": timed(3), "other": timed(4)}
    for id in CLAIMS.keys() - {"order", "through-fifo-best"}:
        assert statement(id).measure(pair) == pytest.approx(0.75)


def told(work: reproduce.Work, quick: bool = False) -> Any:
    """The effective spec of a run, which no trace is needed for."""
    assert isinstance(work, reproduce.Run)
    setting = Setting({}, quick=SYSTEM.quick if quick else None, files=FileCache())
    ((job, _),) = work.jobs(setting, [1])
    (one,) = points(job, [1])
    return one.spec


def test_the_sizes_and_policies_of_statements_are_those_that_they_name() -> None:
    def devices(id: str) -> dict[str, Any]:
        work = statement(id).work
        assert isinstance(work, Mapping)
        return {name: told(one)["device"]["tier"] for name, one in work.items()}

    # Of the larger ones one line in eight is there.
    gib = 2**21
    for id, one, other in (
        ("half-to-one-gb", 1, 0.5),
        ("sixteen-equals-sixty-four", 64 / 8, 16 / 8),
        ("cap-at-64gb", 128 / 8, 64 / 8),
    ):
        found = devices(id)
        sizes = [diskwright_blocks(found[name]["size"]) for name in ("one", "other")]
        assert sizes == [one * gib, other * gib], id
    found = devices("write-back-faster")
    assert [found[name]["write_policy"] for name in ("one", "other")] == ["write-back", "write-through"]
    found = devices("slru-worse")
    assert found["one"]["policy"]["slru"]["protected"] == 0.5
    assert "fifo" in str(found["other"]["policy"])
    assert "lifo" in str(devices("fifo-like-lifo")["one"]["policy"])
    assert len(devices("through-fifo-best")) == 8


def test_each_seed_takes_as_many_requests_as_the_manual_tells() -> None:
    parts: list[reproduce.Point | reproduce.Statement] = [*SYSTEM.statements]
    parts += [point for one in SYSTEM.figures for point in one.points]
    requests = {}
    for work in (work for part in parts for work in works(part)):
        if not isinstance(work, reproduce.Run):
            continue
        spec: Any = work.spec
        workload = spec["workload"]
        if "synthetic" in workload:
            in_full, quick = workload["synthetic"]["requests"], work.quick_set["measure.requests"]
            requests[repr(work.spec)] = (in_full, quick)
    full, quick = (sum(column) for column in zip(*requests.values(), strict=True))
    manual = (Path(__file__).parents[1] / "docs/model/ssd-cache.md").read_text()
    millions, quick_millions = round(full / 1e6), round(quick / 1e6)
    told = f"{millions} million requests of the Zipf loads for each seed, `--quick` {quick_millions} million"
    assert told in manual


def diskwright_blocks(size: str) -> int:
    """A size in blocks."""
    number, unit = size.split()
    return int(float(number) * {"blocks": 1, "GiB": 2**21, "MiB": 2**11}[unit])


def test_a_quick_try_shrinks_lines_and_cache_alike() -> None:
    for gb in _runs.SIZES_GB:
        work = _runs.cached(_runs.ZIPF, gb)
        full, quick = told(work), told(work, quick=True)
        places = []
        for spec in (full, quick):
            address = spec["workload"]["synthetic"]["address"]["zipf"]
            lines = address["blocks"] // diskwright_blocks(address["align"])
            places.append(diskwright_blocks(spec["device"]["tier"]["size"]) / lines)
        assert places[0] == places[1], gb
        # Warm: a cache that can be filled has been.
        warm = quick["measure"]["warmup"]
        assert quick["measure"]["requests"] > warm
        assert quick["device"]["tier"]["cache"] == full["device"]["tier"]["cache"]


@pytest.mark.parametrize("gb", _points.SSD_SIZES_GB)
def test_an_ssd_of_another_size_has_the_times_of_the_librarys(gb: float) -> None:
    load = {"synthetic": {"requests": 1000, "arrivals": {"constant": "10 ms"}, "reads": 1.0, "size": "4 KiB"}}
    load["synthetic"]["address"] = {"uniform": {"blocks": 100_000}}
    size = _devices.blocks(gb)
    one = {"device": _devices.filled(size, 100_000), "workload": load}
    own = {"device": {"ssd": {"drive": _devices.SSD, "initial": {"fill": "1 %"}}}, "workload": load}
    times, owns = (diskwright.run(spec).response_ms for spec in (one, own))
    assert times.max == owns.max and times.mean == pytest.approx(owns.mean, rel=2e-3)
    # As large as it is said to be, to the block.
    end = {**load["synthetic"], "address": {"sequential": {"from": size - 8, "blocks": 8}}}
    diskwright.run({**one, "workload": {"synthetic": end}})
    with pytest.raises(diskwright.InputError, match="blocks"):
        beyond = {**end, "address": {"sequential": {"from": size - 8, "blocks": 16}}}
        diskwright.run({**one, "workload": {"synthetic": beyond}})


def test_the_generator_is_that_of_the_examples(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        _generator.generated(tmp_path / name, seed, _devices.DISK_BLOCKS)
    contents = [(tmp_path / name).read_bytes() for name in ("one", "again", "other")]
    assert contents[0] == contents[1] != contents[2]
    table = polars.read_parquet(tmp_path / "one")
    assert len(table) == 100_000
    assert (table["op"] == "read").mean() == pytest.approx(0.66, abs=0.01)
    # Exponential with a mean of 8 blocks, in units of 8, none of which is empty.
    assert table["blocks"].mean() == pytest.approx(8 / (1 - 2.718281828**-1), rel=0.02)
    assert (table["lbn"] % 8).sum() == (table["blocks"] % 8).sum() == 0
    assert (table["lbn"] + table["blocks"]).max() < _devices.DISK_BLOCKS  # type: ignore[operator]
    gaps = table["arrival_ns"].diff().drop_nulls()
    assert gaps.mean() == pytest.approx(50e6, rel=0.02)
    sequential = table["lbn"] == (table["lbn"] + table["blocks"]).shift(1)
    assert sequential.mean() == pytest.approx(0.2, abs=0.01)
    near = (table["lbn"] - table["lbn"].shift(1)).abs() < 200_000
    assert near.mean() == pytest.approx(0.5, abs=0.01)


def test_popularity_moves_between_phases(tmp_path: Path) -> None:
    _made.moving(tmp_path / "moving", seed=1, lines=4096, requests=80_000, phases=4)
    table = polars.read_parquet(tmp_path / "moving")
    phases = [table[start : start + 20_000] for start in range(0, 80_000, 20_000)]
    popular = [phase["lbn"].value_counts(sort=True)["lbn"][0] for phase in phases]
    assert len(set(popular)) == 4
    for phase in phases:
        # The most popular line gets 1/H(4096) of all.
        assert phase["lbn"].value_counts(sort=True)["count"][0] / 20_000 == pytest.approx(1 / 8.895, rel=0.1)
    assert set(table["lbn"] % 8) == {0}


@pytest.mark.parametrize("policy", ["fifo", "lru"])
def test_hit_ratios_are_those_of_che(policy: str) -> None:
    at = _runs.Scale(256, 256, 200_000, 200_000, measured=200_000)
    work = _runs.zipf(_devices.tier(_devices.blocks(4), policy), at)
    run = diskwright.run(Setting({}).with_paths(work.spec, 1))
    lines = _runs.LINES // 256
    expected = _che.che(policy, lines, _devices.blocks(4) // 8 // 256)["hit_ratio"]
    assert _runs.hit_ratio(run) == pytest.approx(expected, abs=0.004)
    # And not that of the other one.
    (other,) = {"fifo", "lru"} - {policy}
    assert abs(_che.che(other, lines, _devices.blocks(4) // 8 // 256)["hit_ratio"] - expected) > 0.02


def test_che_has_simple_limits() -> None:
    assert _che.che("lru", 100, 100)["hit_ratio"] == 1
    # Without skew any policy has what it holds.
    assert _che.che("fifo", 50_000, 5_000, theta=0)["hit_ratio"] == pytest.approx(0.1, abs=1e-3)
    assert _che.che("lru", 50_000, 5_000, theta=0)["hit_ratio"] == pytest.approx(0.1, abs=1e-3)


def test_the_next_gigabyte_is_what_misses_fall_by() -> None:
    ratios = {f"{size:g}": 0.5 for size in _points.MIB} | {"1024": 0.4, "2048": 0.3}
    counted = {"read_miss_ratio": ratios, "read_share": 0.6}
    assert extensions.missed({"1024": counted}) == 0.4
    saved = 0.1 * 0.6 * extensions.MISS_MS
    assert extensions.saved_ms({"1024": counted}) == pytest.approx(saved)
    assert extensions.saved_ms({"512": counted}) == pytest.approx(2 * saved)
    assert extensions.saved_ms({f"{_points.MIB[-1]:g}": counted}) is None


def test_one_pass_counts_reads_that_miss(tmp_path: Path) -> None:
    _made.still(tmp_path / "still.parquet", seed=1, lines=2048, requests=30_000)
    counted = _made.misses(str(tmp_path / "still.parquet"), [4, 8, 16], by=2)
    ratios = list(counted["read_miss_ratio"].values())
    assert ratios == sorted(ratios, reverse=True) and 0 < ratios[-1] < ratios[0] < 1
    # The last one holds all: what misses is the first access of each.
    assert ratios[-1] == pytest.approx(2048 / 30_000, rel=0.15)
    assert counted["read_share"] == pytest.approx(2 / 3, abs=0.01)


def test_a_tier_of_the_generators_load_reuses_nothing() -> None:
    """Why the paper's policies are alike: a cache that never evicts cannot tell them apart."""
    digests = set()
    setting = Setting({}, files=FileCache())
    for policy in _devices.POLICIES.values():
        work = _runs.cached(_runs.DISKSIM, 16, policy)
        spec = setting.with_paths(work.spec, 1)
        run = diskwright.run({**spec, "measure": {"warmup": 0, "requests": 20_000}})
        assert _runs.tier_of(run).evictions == 0
        digests.add(run.digest)
    assert len(digests) == 1


@pytest.mark.long
def test_in_a_quick_try_every_statement_without_a_trace_has_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISKWRIGHT_DATA", raising=False)
    found = reproduce.reproduce(SYSTEM, quick=True).to_dict()
    verdicts = {one["id"]: one["verdict"] for one in found["statements"]}
    assert {id for id, verdict in verdicts.items() if verdict == "not run"} == {
        id for id in verdicts if "-trace" in id
    }
    # The load on which nothing is used again tells no policies apart.
    assert verdicts["fifo-like-lifo-paper"] == verdicts["sixteen-equals-sixty-four-paper"] == "holds"
    assert verdicts["order"] == "holds" and verdicts["slru-worse"] == "fails"
