"""Are flash-backed requests reproduced on loads and devices that are what their descriptions say?"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import polars
import pytest

import diskwright
from diskwright import reproduce
from diskwright.reproduce._system import works
from diskwright.systems import system
from diskwright.systems.flash_backed import _devices, _energy, _loads, _runs, _seeks
from test_reproduce import SCHEMA

SYSTEM = system("flash-backed")
CLAIMS = {
    "write-time-80mb": 0.3,
    "idle-share-10mb": 0.9,
    "write-time-with-idle": 0.6,
    "write-time-with-idle-eng": 0.6,
    "write-time-with-idle-winpc": "above 1",
    "write-time-with-idle-mac": "above 1",
    "idle-share-least": "above 0.2",
    "schedulers-spread": "below 0.1",
    "schedulers-raw": "above 0",
    "flush-share-falls": "below 1",
    "flush-share-falls-small": "below 1",
    "overwrites-most": "below 0.15",
    "disk-time": "below 1",
    "disk-writes": "below 1",
    "endurance-linear": 1,
    "endurance-slope": 1,
    "flash-speed": "below 1",
    "look-ahead": "below 1",
    "look-ahead-busy": "below 1",
}
SINGLE = {"seek-knee": 1, "memory-share": 0.15}
FIGURES = ["2", "3", "4", "7", "8a", "8b", "9", "10", "11", "12", "13"]
FEW = 2_000


def short(work: reproduce.Work) -> reproduce.Work:
    """The same from few requests."""
    return replace(work, quick=FEW) if isinstance(work, reproduce.Run) else work


def shortened(part: Any) -> Any:
    """A point or statement from few requests."""
    if isinstance(part.work, Mapping):
        return replace(part, work={name: short(work) for name, work in part.work.items()})
    return replace(part, work=short(part.work))


def test_ids_and_claims_are_those_of_the_reference() -> None:
    expected = {id + mark: claim for id, claim in CLAIMS.items() for mark in ("", "-mechanical")} | SINGLE
    assert {one.id: one.paper.in_results() for one in SYSTEM.statements} == expected
    ids = [one.id for one in SYSTEM.figures if not one.id.startswith("beyond-")]
    assert ids == [f"fig-{number}" for number in FIGURES]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Some points of every figure, and the statements that need no trace."""
    figures = []
    for one in SYSTEM.figures:
        there = [point for point in one.points if not any(recorded(work) for work in works(point))]
        figures.append(replace(one, points=[shortened(point) for point in there[:: max(1, len(there) // 3)]]))
    wanted = [one for one in SYSTEM.statements if not any(recorded(work) for work in works(one))]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DISKWRIGHT_DATA", raising=False)
        few = replace(SYSTEM, figures=figures, statements=[shortened(one) for one in wanted])
        return reproduce.reproduce(few, quick=True).to_dict()


def recorded(work: reproduce.Work) -> bool:
    """Whether a piece of work needs the HP week."""
    return any(trace.file is None for trace in work.traces())


def test_every_figure_has_points_and_every_statement_a_verdict(found: dict[str, Any]) -> None:
    jsonschema.validate(found, SCHEMA)
    without = {
        "beyond-energy",
        "beyond-energy-delay",
        "beyond-energy-starts",
        "beyond-look-ahead",
        "beyond-readings",
        "beyond-readings-mechanical",
        "beyond-small",
    }
    for one in found["figures"]:
        assert bool(one["points"]) == (one["id"] not in without), one["id"]
    verdicts = {one["id"]: one["verdict"] for one in found["statements"]}
    assert set(verdicts) == {
        *(
            f"write-time-with-idle-{load}{mark}"
            for load in ("eng", "winpc", "mac")
            for mark in ("", "-mechanical")
        ),
        "memory-share",
    }
    assert not set(verdicts.values()) & {"not run"}


@pytest.mark.parametrize("load", list(_loads.DESKTOPS))
def test_stand_ins_are_what_they_say(load: str, tmp_path: Path) -> None:
    kind = _loads.DESKTOPS[load]
    files = [tmp_path / f"{seed}.parquet" for seed in (1, 2, 1)]
    for file, seed in zip(files, (1, 2, 1), strict=True):
        _loads.desktop(file, seed, load)
    first, other, again = (polars.read_parquet(file) for file in files)
    assert first.equals(again) and not first.equals(other)
    assert len(first) == kind.requests
    times, places = first["arrival_ns"].to_numpy(), first["lbn"].to_numpy()
    assert (times[1:] >= times[:-1]).all() and times[-1] < 7 * 86_400e9
    hours = times / 3600e9 % 24
    begin, end = kind.hours
    assert hours.min() >= begin
    assert (hours < end).mean() > 0.99
    reads = (first["op"] == "read").to_numpy().mean()
    # Five standard errors of a share.
    assert abs(reads - kind.reads) < 5 * (0.25 / kind.requests) ** 0.5
    assert (places + first["blocks"].to_numpy()).max() <= _devices.DRIVE_BLOCKS
    assert places.min() >= 0
    writes = first.filter(polars.col("op") == "write")
    ring = kind.gib * 2**21 // 2
    logged = writes.filter((polars.col("lbn") >= ring) & (polars.col("lbn") < ring + kind.log_mib * 2048))
    assert len(logged) / len(writes) >= kind.log - 0.02


def test_the_knee_is_the_bin_before_three_that_are_alike() -> None:
    assert _seeks.knee([9, 10, 11, 12, 13, 14], [900, 500, 100, 95, 92, 10]) == 2**10 / 1e6
    # None: the end of the largest distance.
    assert _seeks.knee([9, 10, 11, 12, 13], [900, 500, 300, 100, 0]) == 2**13 / 1e6


def test_seek_distances_are_those_of_writes(tmp_path: Path) -> None:
    rows = [(0, "read", 0), (1, "write", 2048), (2, "read", 0), (3, "write", 4096), (4, "write", 4096)]
    table = tmp_path / "t.parquet"
    polars.DataFrame(
        {
            "arrival_ns": [at * 10**9 for at, _, _ in rows],
            "op": [op for _, op, _ in rows],
            "lbn": [lbn for _, _, lbn in rows],
            "blocks": [8] * len(rows),
        }
    ).write_parquet(table)
    counted = _seeks.histogram(str(table))
    assert {
        round(mb * 1e6): count for mb, count in zip(counted["mb"], counted["counts"], strict=True) if count
    } == {
        2**20: 1,
        2**21: 1,
    }
    day = _seeks.by_hour(str(table))["hours"][0]
    assert (day["writes"], day["p50_gb"]) == (3, 2**20 / 1e9)


def test_the_curve_is_that_of_the_drive(tmp_path: Path) -> None:
    file = tmp_path / "curve.csv"
    _devices.curve_file(file, "write", 100)
    spec: dict[str, Any] = {
        "workload": {
            "synthetic": {
                "requests": 500,
                "arrivals": {"poisson": "100 ms"},
                "reads": 0.0,
                "size": "8 blocks",
            }
        },
        "measure": {"warmup": 0},
        "device": {
            "curve": {"capacity": f"{_devices.DRIVE_BLOCKS} blocks", "read": str(file), "rate": "46 MB/s"}
        },
    }
    by_curve = float(diskwright.run(spec).service_ms.mean)
    spec["device"] = _devices.medium(_devices.MECHANICAL)
    by_mechanics = float(diskwright.run(spec).service_ms.mean)
    # The curve is without the controller's half a millisecond; random writes take some 20 ms.
    assert abs(by_curve + 0.5 - by_mechanics) < 0.05 * by_mechanics


def test_write_time_and_what_is_made_of_it(tmp_path: Path) -> None:
    trace = tmp_path / "t.csv"
    places = [100_000 * (number % 7) for number in range(50)]
    rows = [f"{number * 10**9},0,write,0,{lbn},8" for number, lbn in enumerate(places)]
    trace.write_text("time_ns,device,op,fua,lbn,blocks\n" + "\n".join(rows) + "\n", encoding="utf-8")
    spec: dict[str, Any] = {
        "workload": {"trace": str(trace)},
        "measure": {"warmup": 0},
        "host": {"flash_backed": {"fqueue": "8 MiB"}},
        "device": {
            "hybrid": {
                "media": {"simple": {"capacity": "1 GB", "read": "10 ms", "write": "10 ms"}},
                "nvcache": {"simple": {"capacity": "16 MiB", "read": "1 ms", "write": "1 ms"}},
            }
        },
    }
    runs = {_runs.WITH: diskwright.run(spec)}
    spec["host"]["flash_backed"]["rule"] = "never"
    runs[_runs.WITHOUT] = diskwright.run(spec)
    assert _runs.ratio(runs) == pytest.approx(0.1)
    # The last one stays in the FQueue.
    assert _runs.idle_share(runs) == pytest.approx(49 / 50)
    assert _runs.left_mb(runs[_runs.WITH]) == pytest.approx(8 * 512 / 1e6)
    assert _runs.disk_writes(runs) == pytest.approx(49 / 50)
    seconds = float(runs[_runs.WITH].simulated_s)
    erases_a_year = 50 * 4096 / 131_072 / (8 * 2**20 / 131_072) * 365.25 * 86_400 / seconds
    assert _runs.years(runs[_runs.WITH]) == pytest.approx(100_000 / erases_a_year)


def test_an_nv_cache_spares_the_stopped_disk_its_writes() -> None:
    """The works of the figure on energy, with a write a minute in place of the HP week."""
    load = {
        "workload": {
            "synthetic": {"requests": 60, "arrivals": {"constant": "1 min"}, "reads": 0.1, "size": "4 KiB"}
        }
    }
    policy = {"fixed": {"standby_z": "5 s"}}
    works = {
        "on": _energy.on_disk(None),
        "disk": _energy.on_disk(policy),
        "oracle": _energy.on_disk("oracle"),
        "cached": _energy.on_hybrid(policy),
        "mode": _energy.on_hybrid(None, power_mode=True, high_power="5 s"),
    }
    runs = {name: diskwright.run({**work.inputs()[0], **load}) for name, work in works.items()}
    told = {name: {"run": run, "on": runs["on"]} for name, run in runs.items()}
    starts = {name: _energy.spin_ups(of) for name, of in told.items()}
    assert starts["on"] == 0
    assert starts["disk"] == 59
    assert 0 < starts["cached"] < 20
    assert 0 < starts["mode"] < 20
    energy = {name: _energy.energy_kj(of) for name, of in told.items()}
    assert energy["cached"] < energy["oracle"] <= energy["disk"] < energy["on"]
    added = {name: _energy.added_ms(of) for name, of in told.items()}
    assert added["oracle"] == added["on"] == 0
    assert 0 < added["cached"] < added["disk"]
    assert _energy.years(told["on"]) is None
    assert _energy.years(told["disk"]) == pytest.approx(600_000 / (59 * 365.25 / 7))
