"""Does a sweep run every point once, keep what is finished, and go on after it was killed?"""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import polars
import pytest

import diskwright
from conftest import COMMAND, SPEC, Command, environment, names, parsed, refused
from diskwright.sweep import Store
from test_python_scheduler import Newest

SWEEP = (
    SPEC
    + """\
[sweep]
seeds = 3
[sweep.vary]
"device.hdd.queue.scheduler" = ["fcfs", { ncq = { timeout = "1 s" } }]
"device.hdd.queue.depth" = [1, 8]
"""
)


@pytest.fixture
def swept(tmp_path: Path) -> Path:
    """A spec of four points with three seeds, in the command's folder."""
    path = tmp_path / "spec.toml"
    path.write_text(SWEEP)
    return path


def stored(folder: Path) -> list[Path]:
    """The finished points in a store."""
    return sorted(folder.glob("[0-9a-f]*.json"))


def test_the_rows_are_those_of_single_runs_in_grid_order(swept: Path) -> None:
    frame = diskwright.sweep(swept).frame()
    assert frame.columns[:3] == ["device.hdd.queue.scheduler", "device.hdd.queue.depth", "seed"]
    assert frame.columns[-1] == "digest"
    rows = frame.rows(named=True)
    ncq = '{ ncq = { timeout = "1 s" } }'
    expected = [(name, depth, seed) for name in ("fcfs", ncq) for depth in (1, 8) for seed in (1, 2, 3)]
    assert [tuple(row.values())[:3] for row in rows] == expected
    for row in rows:
        name = row["device.hdd.queue.scheduler"]
        alone = diskwright.run(
            swept,
            set={
                "seed": row["seed"],
                "device.hdd.queue.depth": row["device.hdd.queue.depth"],
                "device.hdd.queue.scheduler": name if name == "fcfs" else {"ncq": {"timeout": "1 s"}},
            },
        )
        assert row["digest"] == alone.digest
        assert row["response_ms.p99"] == alone.response_ms.p99
        assert row["devices.hdd.seeks"] == alone.devices.hdd.seeks
    assert not [name for name in frame.columns if "wall" in name or "rss" in name or name.startswith("spec")]


def test_what_is_there_is_not_run_again(swept: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    first = diskwright.sweep(swept, store=store)
    again = diskwright.sweep(swept, store=store)
    more = diskwright.sweep(swept, {"device.hdd.queue.depth": [1, 8, 32]}, seeds=4, store=store)
    assert [(found.ran, found.reused) for found in (first, again, more)] == [(12, 0), (0, 12), (12, 12)]
    assert len(stored(store)) == 24
    assert first.points == again.points
    # Two names of one policy are one point.
    same = diskwright.sweep(SPEC_DICT, {"device.hdd.queue.scheduler": ["satf", "sptf"]}, seeds=1)
    assert (same.ran, len(same.points)) == (1, 2)


SPEC_DICT: dict[str, Any] = {
    "workload": {"synthetic": {"requests": 200, "arrivals": {"poisson": "20 ms"}, "size": "8 blocks"}},
    "device": {"hdd": {"drive": "ibm-18es"}},
}


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _other_number(path: Path) -> None:
    path.write_text(path.read_text().replace('"iops":', '"iops":1', 1))


def _foreign(path: Path) -> None:
    path.write_text('{"iops": 1}\n')


def _not_text(path: Path) -> None:
    path.write_bytes(bytes(range(256)))


def _of_another_key(path: Path) -> None:
    (other,) = [name for name in stored(path.parent) if name != path][:1]
    path.write_bytes(other.read_bytes())


@pytest.mark.parametrize("damage", [_half, _other_number, _foreign, _not_text, _of_another_key])
def test_a_damaged_file_is_noticed_and_its_point_run_again(swept: Path, tmp_path: Path, damage: Any) -> None:
    store = tmp_path / "store"
    first = diskwright.sweep(swept, store=store)
    path = stored(store)[5]
    sound = path.read_bytes()
    damage(path)
    assert path.read_bytes() != sound
    again = diskwright.sweep(swept, store=store)
    assert (again.ran, again.reused) == (1, 11)
    assert again.points == first.points
    assert path.name in again.warnings[0].text
    assert path.read_bytes() == sound
    assert diskwright.sweep(swept, store=store).ran == 0


def test_a_moved_trace_is_the_same_point_under_its_new_path(tmp_path: Path, trace: Path) -> None:
    def found(at: Path) -> diskwright.Swept:
        spec = {"workload": {"trace": at}, "device": {"hdd": {"drive": "ibm-18es"}}}
        return diskwright.sweep(spec, seeds=1, store=tmp_path / "store")

    before = found(trace)
    moved = found(trace.rename(tmp_path / "moved.trace"))
    assert (before.ran, moved.ran) == (1, 0)
    assert moved.points[0].result.spec.workload.trace == str(tmp_path / "moved.trace")
    (tmp_path / "moved.trace").write_text("0.0 0 0 8 1\n")
    assert found(tmp_path / "moved.trace").ran == 1


def test_files_that_a_killed_process_left_go(tmp_path: Path) -> None:
    for name, age in ((".0a.json.x", 100_000), (".0b.json.y", 10)):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    Store(tmp_path)
    assert names(tmp_path) == [".0b.json.y"]


def _killed_at(count: int, store: Path, arguments: list[str | Path], folder: Path) -> int:
    """Kills a sweep when `count` points are in its store; the number of points in it afterwards."""
    process = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while len(stored(store)) < count:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return len(stored(store))


def test_a_killed_sweep_goes_on_where_it_was(swept: Path, tmp_path: Path, command: Command) -> None:
    vary = [f"device.hdd.queue.depth={','.join(map(str, range(1, 13)))}"]
    varied = ["--vary", *vary, "--set", "workload.synthetic.requests=30000"]
    arguments: list[str | Path] = ["sweep", "spec.toml", *varied, "--store", "store", "--threads", "1"]
    kept = _killed_at(36, tmp_path / "store", [*arguments, "--out", "half.parquet"], tmp_path)
    assert 36 <= kept < 72
    assert not (tmp_path / "half.parquet").exists()
    resumed = parsed(command(*arguments, "--out", "resumed.parquet", "--json", "-"))
    assert (resumed["ran"], resumed["reused"]) == (72 - kept, kept)
    whole = parsed(
        command("sweep", "spec.toml", *varied, "--store", "other", "--out", "whole.parquet", "--json", "-")
    )
    assert (whole["ran"], whole["reused"]) == (72, 0)
    assert (tmp_path / "resumed.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert resumed["points"] == whole["points"]
    assert polars.read_parquet(tmp_path / "whole.parquet").height == 72


def test_two_processes_share_a_store(swept: Path, tmp_path: Path) -> None:
    arguments = ["sweep", "spec.toml", "--set", "workload.synthetic.requests=20000", "--store", "store"]
    running = [
        subprocess.Popen(
            [COMMAND, *arguments, "--out", f"{name}.parquet"], cwd=tmp_path, stdout=subprocess.PIPE
        )
        for name in ("a", "b")
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    for process in running:
        assert process.stdout is not None
        process.stdout.close()
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert len(stored(tmp_path / "store")) == 12


def test_a_file_says_which_build_it_is_of(swept: Path, tmp_path: Path) -> None:
    diskwright.sweep(swept, store=tmp_path / "store", seeds=1)
    head = json.loads(stored(tmp_path / "store")[0].read_text().splitlines()[0])
    version, commit, _ = diskwright._engine.version()
    assert head["engine"] == {"version": version, "commit": commit, "sources": diskwright._engine.sources()}
    assert len(diskwright._engine.sources()) == 32


def test_a_scheduler_of_ones_own_is_part_of_the_point(swept: Path, tmp_path: Path) -> None:
    class Counted(Newest):
        def __init__(self, state: int) -> None:
            self.state = state

    def ran(scheduler: Any) -> int:
        found = diskwright.sweep(
            SPEC_DICT,
            {"device.hdd.queue.scheduler": ["fcfs", "mine"]},
            seeds=2,
            store=tmp_path / "store",
            schedulers={"mine": scheduler},
        )
        assert len({point.key for point in found.points}) == 4
        number: int = found.ran
        return number

    assert ran(Newest) == 4
    assert ran(Newest()) == 0
    # Another class, another state: the points that do not use it stay.
    assert ran(Counted(1)) == 2
    assert ran(Counted(2)) == 2
    assert ran(Counted(1)) == 0
    with pytest.raises(diskwright.InputError, match="cannot be determined from its source"):
        ran(Counted(object()))  # type: ignore[arg-type]


def test_the_first_failure_in_the_grid_is_told_and_the_rest_kept(swept: Path, command: Command) -> None:
    (swept.parent / "bad.trace").write_text("0.0 0 0 8 1\n10.0 0 99999999999 8 1\n")
    done = command(
        "sweep", "spec.toml", "--trace", "bad.trace", "--set", "measure.warmup=0", "--threads", "1",
        "--vary", "measure.requests=1,2", "--seeds", "1", "--store", "store",
    )  # fmt: skip
    refused(done, "bad.trace:2", "device.hdd.queue.depth=1, measure.requests=2 with seed 1")
    assert len(stored(swept.parent / "store")) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--vary", "device.hdd.queue.depth=1,1"], ["--vary:1:26", "is there twice"]),
        (["--vary", "device.hdd.queue.dept=1"], ["unknown key", "depth"]),
        (["--seeds", "0"], ["0 seeds", "expected 1 or more"]),
        (["--out", "table.xlsx"], ["table.xlsx", ".parquet or .csv"]),
        (["--out", "no/table.csv"], ["no/table.csv"]),
        (["--store", "spec.toml"], ["cannot keep points in spec.toml", "--store DIR"]),
        (["--threads", "0"], ["0 threads"]),
        (["--set", "device.hdd.queue.depth=3"], ["spec.toml:16:1", "is set and varied"]),
    ],
)
def test_what_cannot_be_swept_is_told(
    swept: Path, command: Command, arguments: list[str], words: list[str]
) -> None:
    refused(command("sweep", "spec.toml", *arguments), *words)
    assert not stored(swept.parent / "results" / "points")


def test_a_spec_without_a_sweep_says_how(spec: Path, command: Command) -> None:
    refused(command("sweep", "spec.toml"), "nothing is swept", "[sweep.vary]", "--vary KEY=A,B")
    assert parsed(command("sweep", "spec.toml", "--seeds", "2", "--json", "-"))["seeds"] == [1, 2]


def test_the_command_prints_the_points(swept: Path, command: Command) -> None:
    done = command("sweep", "spec.toml", "--out", "table.csv")
    assert done.returncode == 0, done.stderr
    assert "4 points with seeds 1 to 3: 12 run now, 0 from results/points" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert len((swept.parent / "table.csv").read_text().splitlines()) == 13
    again = command("sweep", "spec.toml")
    assert "0 run now, 12 from results/points" in again.stdout
    run = command("run", "spec.toml")
    assert "[sweep] changes nothing here" in " ".join(run.stderr.split())


def test_progress_is_told(swept: Path) -> None:
    heard: list[tuple[int, int, int, int | None]] = []
    diskwright.sweep(swept, progress=lambda *words: heard.append(words))
    assert heard[0][:2] == (0, 12) and heard[-1][:2] == (12, 12)
    assert [done for done, *_ in heard] == sorted(done for done, *_ in heard)

    class EnoughError(Exception):
        pass

    def stop(*words: object) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        diskwright.sweep(swept, progress=stop)


def test_columns_have_the_types_of_all_their_values() -> None:
    frame = diskwright.sweep(
        SPEC_DICT, {"measure.warmup": [10, "10 %"], "device.hdd.angle": [0, 0.25]}, seeds=1
    ).frame()
    assert frame["measure.warmup"].to_list() == ["10", "10", "10 %", "10 %"]
    assert frame["device.hdd.angle"].to_list() == [0.0, 0.25, 0.0, 0.25]
    # Too few requests for an interval: numbers, of which there is none.
    assert frame["response_ms.ci95.low"].dtype == polars.Float64


def test_a_sweep_shows_the_numbers_asked_for(swept: Path, command: Command) -> None:
    name = "by_op.read.response_ms.p99"
    done = command("sweep", "spec.toml", "--metric", name, "--metric", "mb_per_s")
    assert done.returncode == 0, done.stderr
    assert name in done.stdout and "data rate, MB/s" in done.stdout and "IOPS" not in done.stdout
    found = parsed(
        command("sweep", "spec.toml", "--metric", name, "--metric", "response_p99_ms", "--json", "-")
    )
    assert found["metrics"] == [name, "response_p99_ms"]
    for point in found["points"]:
        expected = point["result"]["by_op"]["read"]["response_ms"]["p99"]
        assert point["metrics"] == {name: expected, "response_p99_ms": point["result"]["response_ms"]["p99"]}
    frame = diskwright.sweep(swept, metrics=["response_p99_ms"]).frame()
    assert frame["response_p99_ms"].to_list() == frame["response_ms.p99"].to_list()
    words = ("--metric:1:1", "unknown metric", 'did you mean "by_op.read.iops"')
    refused(command("sweep", "spec.toml", "--metric", "by_op.raed.iops"), *words)
    swept.write_text(swept.read_text().replace("[sweep]", "[sweep]\nmetrics = ['iosp']", 1))
    refused(command("sweep", "spec.toml"), "spec.toml:", "unknown metric", 'did you mean "iops"')
