"""Does work of a reproduction get its files: those that come along, and those that are made for it?"""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars
import pytest

import diskwright
from conftest import ROOT, names
from diskwright.reproduce import (
    Call,
    Figure,
    GeneratedFile,
    Inspect,
    Point,
    Run,
    System,
    Trace,
    bundled,
    converted,
    reproduce,
    synthetic_clone,
)
from diskwright.reproduce._inputs import FileCache, Setting

TABLE = """\
[counts]
working_set = { requests = 300, blocks = 6_000 }
random = { requests = 400, blocks = 8_000 }
sequential = { requests = 100, blocks = 2_000 }
read = { requests = 300, blocks = 6_000 }
write = { requests = 200, blocks = 4_000 }
"""
BARRIER = threading.Barrier(2)


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISKWRIGHT_DATA", raising=False)


@pytest.fixture
def profile(tmp_path: Path) -> Trace:
    path = tmp_path / "counts.toml"
    path.write_text(TABLE)
    return bundled("counts", path, "the tests")


@pytest.fixture
def small(trace: Path) -> Trace:
    return bundled("small", trace, "the tests")


def system(traces: list[Trace], **work: Any) -> System:
    """A figure of one point for each piece of work; each measures what its results hold, as `found`."""
    return System(
        name="inputs",
        title="",
        paper="",
        traces=traces,
        figures=[
            Figure(id=f"beyond-{name}", title="", paper="", points=[Point({"x": 1}, work)], measure=measure)
            for name, (work, measure) in work.items()
        ],
        statements=[],
    )


def values(found: Any, name: str, value: str) -> list[float]:
    frame = found.frame().filter(polars.col("figure") == f"beyond-{name}")
    return list(frame[value])


def rows(trace: str) -> Mapping[str, Any]:
    return {"blocks": int(polars.read_parquet(trace)["blocks"].sum())}


def hundred(target: Path, blocks: int, seed: int) -> None:
    """A hundred reads, other ones with each seed."""
    lines = [f"{at}.0 0 {at * seed * 1000} {blocks} 1" for at in range(100)]
    target.write_text("\n".join(lines) + "\n")


def meet(name: str) -> Mapping[str, Any]:
    """Returns when another one is called meanwhile."""
    BARRIER.wait(timeout=60)
    return {"name": len(name)}


def fail() -> Mapping[str, Any]:
    raise ZeroDivisionError("as told")


def test_a_synthetic_clone_is_another_one_with_each_seed(profile: Trace) -> None:
    measure = {"gap": lambda found: found.interarrival_mean_ms, "requests": lambda found: found.requests}
    work = Inspect(synthetic_clone(profile))
    busy = Inspect(synthetic_clone(profile, {"mean_gap": "2 ms", "burst_requests": 1.0}))
    assert work.is_seeded and not Inspect(profile).is_seeded
    found = reproduce(system([profile], calm=(work, measure), busy=(busy, measure)))
    assert profile.file is not None
    direct = [diskwright.inspect(profile.file, seed=seed) for seed in range(1, 6)]
    assert values(found, "calm", "gap") == [one.interarrival_mean_ms for one in direct]
    assert len(set(values(found, "calm", "gap"))) == 5
    assert set(values(found, "calm", "requests")) == {500}
    assert max(values(found, "busy", "gap")) < 4


def test_a_call_reads_a_trace_in_parquet(small: Trace, profile: Trace) -> None:
    measure = {"blocks": lambda found: found.blocks}
    recorded = Call(rows, {"trace": converted(small, device=0)})
    made = Call(rows, {"trace": synthetic_clone(profile)})
    assert (recorded.is_seeded, made.is_seeded) == (False, True)
    found = reproduce(system([small, profile], recorded=(recorded, measure), made=(made, measure)))
    assert values(found, "recorded", "blocks") == [40]
    assert values(found, "made", "blocks") == [10_000] * 5
    (told,) = [piece["what"] for piece in found.to_dict()["work"] if "small" in piece["what"]]
    assert told == 'rows: { trace = { converted = { trace = "small", arguments = { device = 0 } } } }'


def test_runs_of_a_made_file_are_those_of_the_file(tmp_path: Path) -> None:
    made = GeneratedFile(hundred, {"blocks": 8}, suffix=".trace")
    spec = {"workload": {"trace": made}, "device": {"hdd": {"drive": "ibm-18es", "angle": 0.25}}}
    measure = {"iops": lambda run: run.iops}
    whole = system([], run=(Run(spec), measure))
    found = reproduce(whole, store=tmp_path / "store")
    direct = []
    for seed in range(1, 6):
        hundred(tmp_path / "direct.trace", 8, seed)
        one = diskwright.run({**spec, "workload": {"trace": str(tmp_path / "direct.trace")}})
        direct.append(one.iops)
    assert values(found, "run", "iops") == direct and len(set(direct)) == 5
    # The files stay with the points, whose specs name them.
    kept = names(tmp_path / "store" / "made")
    assert len(kept) == 5 and {Path(name).suffix for name in kept} == {".trace"}
    again = reproduce(whole, store=tmp_path / "store")
    assert (again.ran, again.reused) == (0, 5)


def test_a_file_is_made_once_however_many_want_it_at_once(tmp_path: Path) -> None:
    written: list[Path] = []

    def write(target: Path) -> None:
        written.append(target)
        target.write_text("made")

    files = FileCache(tmp_path / "made")
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: files.path("file.txt", write), range(32)))
    assert len(written) == 1 and set(paths) == {tmp_path / "made" / "file.txt"}
    assert names(tmp_path / "made") == ["file.txt"]
    with pytest.raises(ZeroDivisionError):
        files.path("other.txt", lambda target: fail())
    assert names(tmp_path / "made") == ["file.txt"]


def test_a_made_file_is_known_by_all_that_it_is_made_of(small: Trace, profile: Trace) -> None:
    keys = [
        converted(small).key(None),
        converted(small, device=0).key(None),
        synthetic_clone(profile).key(1),
        synthetic_clone(profile).key(2),
        synthetic_clone(profile, {"theta": 0.5}).key(1),
        GeneratedFile(hundred, {"blocks": 8}).key(1),
        GeneratedFile(hundred, {"blocks": 8}, suffix=".trace").key(1),
    ]
    assert len(set(keys)) == len(keys)
    setting = Setting({})
    first, second = (Call(rows, {"trace": synthetic_clone(profile)}).key(setting, seed) for seed in (1, 2))
    assert first != second


def test_pieces_that_are_no_runs_go_side_by_side() -> None:
    measure = {"name": lambda found: found["name"]}
    work = {name: (Call(meet, {"name": name}), measure) for name in ("one", "two")}
    found = reproduce(system([], **work), threads=2)
    assert found.ran == 2


def test_one_that_fails_ends_the_others() -> None:
    load = {"synthetic": {"requests": 10_000_000_000, "arrivals": {"closed": {"users": 1}}}}
    endless = Run({"workload": load, "device": {"hdd": {"drive": "ibm-18es"}}})
    with pytest.raises(ZeroDivisionError, match="as told"):
        reproduce(system([], run=(endless, {}), call=(Call(fail), {})))


def test_a_recorded_trace_starts_at_another_angle_with_each_seed(small: Trace) -> None:
    run = Run({"workload": {"trace": small}, "device": {"hdd": {"drive": "ibm-18es"}}})
    found = reproduce(system([small], run=(run, {"response_ms": lambda run: run.response_ms.mean})))
    assert len(set(values(found, "run", "response_ms"))) == 5
    assert found.traces == [{"name": "small", "found": str(small.file)}]


def test_the_examples_are_the_files_of_the_package() -> None:
    data = Path(diskwright.__file__).parent / "systems" / "data"
    files = [path for path in data.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == [
        "debian-guest.csv.zst",
        "pcfat32.toml",
        "smalldiskmon.toml",
    ]
    for file in files:
        example = ROOT / "examples" / file.relative_to(data)
        assert example.is_symlink() and example.resolve() == file.resolve()
