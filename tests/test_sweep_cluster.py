"""Is a sweep on a cluster the same to the byte, and does it say what a worker lacks?"""

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import ROOT, SPEC, Command, parsed, refused
from diskwright.sweep import Store, _cluster, _runner
from diskwright.sweep._job import CustomPolicies, Job, points
from test_python_scheduler import Newest
from test_sweep import SWEEP, _killed_at, stored

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'diskwright[cluster]'")


@pytest.fixture
def replayed(tmp_path: Path, trace: Path) -> Path:
    """A spec that replays a trace on a drive from a file, both named by relative paths."""
    text = diskwright.drive_toml("ibm-18es")
    (tmp_path / "mine.toml").write_text(text.replace('"7200 rpm"', '"7100 rpm"'))
    path = tmp_path / "replay.toml"
    path.write_text(
        f'[workload]\ntrace = "{trace.name}"\n[device.hdd]\ndrive = "mine.toml"\n[sweep]\nseeds = 3\n'
    )
    return path


def test_the_tables_are_the_same(command: Command, replayed: Path, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SWEEP)
    for spec, count in (("spec.toml", 12), ("replay.toml", 3)):
        here = parsed(command("sweep", spec, "--store", "here", "--out", "here.parquet", "--json", "-"))
        there = parsed(
            command(
                "sweep",
                spec,
                "--store",
                "there",
                "--out",
                "there.parquet",
                "--json",
                "-",
                "--cluster",
                "local",
                "--threads",
                "2",
            )
        )
        assert (here["ran"], there["ran"]) == (count, count)
        assert here == there
        assert (tmp_path / "here.parquet").read_bytes() == (tmp_path / "there.parquet").read_bytes()
    # What is stored is the same too.
    for one, other in zip(stored(tmp_path / "here"), stored(tmp_path / "there"), strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_killed_sweep_goes_on_where_it_was(tmp_path: Path, command: Command) -> None:
    (tmp_path / "spec.toml").write_text(SWEEP)
    varied = ["--vary", "device.hdd.queue.depth=1,2,3,4,5,6", "--set", "workload.synthetic.requests=30000"]
    arguments: list[str | Path] = ["sweep", "spec.toml", *varied, "--store", "store"]
    there: list[str | Path] = [*arguments, "--cluster", "local", "--threads", "2"]
    kept = _killed_at(18, tmp_path / "store", [*there, "--out", "half.parquet"], tmp_path)
    assert 18 <= kept < 36
    resumed = parsed(command(*there, "--out", "resumed.parquet", "--json", "-"))
    assert (resumed["ran"], resumed["reused"]) == (36 - kept, kept)
    whole = parsed(command(*arguments[:-1], "other", "--out", "whole.parquet", "--json", "-"))
    assert (whole["ran"], whole["points"]) == (36, resumed["points"])
    assert (tmp_path / "resumed.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_failure_on_the_cluster_is_told(command: Command, replayed: Path, trace: Path) -> None:
    trace.write_text("0.0 0 0 8 1\n10.0 0 99999999999 8 1\n")
    done = command("sweep", "replay.toml", "--seeds", "1", "--cluster", "local", "--threads", "1")
    refused(done, "small.trace:2", "seed 1")


def parcel(job: Job, **schedulers: Any) -> _cluster.Parcel:
    custom = CustomPolicies.of(schedulers, {})
    (point,) = points(job, [3], custom, whole=True)
    return _cluster.Parcel(point, job.check, "a point", custom, _cluster.build())


def test_a_worker_makes_the_result_of_a_run_here(replayed: Path) -> None:
    job = Job(str(replayed), None, check=True)
    sent = parcel(job)
    done = json.loads(_cluster.work(sent))
    here = diskwright.run(replayed, set={"seed": 3, "device.hdd.angle": "random"}, check=True).to_dict()
    for passing in ("wall_s", "requests_per_wall_s", "peak_rss_mib"):
        del here[passing]
    here["notes"] = [text for text in here["notes"] if "[sweep]" not in text]
    assert done == here


def test_a_worker_has_the_schedulers_that_were_sent() -> None:
    spec = SPEC + '[device.hdd.queue]\nscheduler = "mine"\n'
    done = json.loads(_cluster.work(parcel(Job(None, spec), mine=Newest())))
    here = diskwright.sweep(
        {"workload": {"synthetic": {"requests": 2000, "arrivals": {"poisson": "20 ms"}, "reads": 0.67,
         "size": "8 blocks", "address": "uniform"}}, "seed": 3, "measure": {"warmup": "10 %"},
         "device": {"hdd": {"drive": "ibm-18es", "queue": {"scheduler": "mine"}}}},
        seeds=1, schedulers={"mine": Newest},
    )  # fmt: skip
    assert done["digest"] == here.points[0].result.digest


def test_what_a_worker_lacks_is_told(replayed: Path, trace: Path) -> None:
    sent = parcel(Job(str(replayed), None))
    other = dataclasses.replace(sent, build=("0.0.1", "0123456789", "f" * 32))
    message = r"another build of the engine: .*, not 0\.0\.1 \(0123456789, sources f{12}\)"
    with pytest.raises(diskwright.InputError, match=message):
        _cluster.work(other)
    text = trace.read_text()
    trace.write_text(text.replace("1000", "1008"))
    with pytest.raises(diskwright.InputError, match=f"{re.escape(str(trace))} is a different file"):
        _cluster.work(sent)
    trace.unlink()
    with pytest.raises(diskwright.InputError, match=r"cannot read a trace.*\n.*traces are not sent"):
        _cluster.work(sent)
    trace.write_text(text)
    assert sent.point.whole is not None
    changed = dict(sent.point.whole) | {"seed": 4}
    wrong = dataclasses.replace(sent, point=dataclasses.replace(sent.point, whole=changed))
    with pytest.raises(diskwright.SimulationError, match="reads a point differently"):
        _cluster.work(wrong)
    assert _cluster.work(sent)


def test_a_cluster_that_is_not_there_is_told(replayed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cluster, "_PATIENCE_S", 1)
    with pytest.raises(
        diskwright.InputError, match=r"no scheduler of Dask's answers at tcp://127\.0\.0\.1:9"
    ):
        diskwright.sweep(replayed, cluster="tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(diskwright.InputError, match=r"pip install 'diskwright\[cluster\]'"):
        diskwright.sweep(replayed, cluster="local")


# The others replay a trace that does not come with them.
EXAMPLES = ("closed-form.toml", "demo.toml", "laptop.toml", "queue.toml", "single-track.toml", "stripe.toml")
LOAD = 'workload.synthetic={ requests = 300, arrivals = { poisson = "20 ms" }, size = "8 blocks" }'


@pytest.mark.parametrize("name", [*EXAMPLES, "disksim/small.parv"])
def test_every_example_is_the_same_there(name: str) -> None:
    settings = ["measure.requests=300", *([LOAD] if name.endswith(".parv") else [])]
    sent = parcel(Job(str(ROOT / "examples" / name), None, set=settings))
    assert _done(sent) == _here(ROOT / "examples" / name, settings)


def test_a_job_of_fios_is_the_same_there(tmp_path: Path) -> None:
    job_file = tmp_path / "job.fio"
    text = "[one]\nrw=randread\nbs=4k\nsize=64m\niodepth=4\nioengine=psync\nnumber_ios=200\nnumjobs=2\n"
    job_file.write_text(text)
    spec = tmp_path / "spec.toml"
    spec.write_text('[workload]\nfio = "job.fio"\n[device.hdd]\ndrive = "ibm-18es"\n')
    sent = parcel(Job(str(spec), None))
    assert any("ioengine" in note for note in sent.point.notes)
    job_file.unlink()
    done = _done(sent)
    job_file.write_text(text)
    assert done == _here(spec, [])


def _done(sent: _cluster.Parcel) -> Any:
    return json.loads(_cluster.work(sent))


def _here(spec: Path, settings: list[str]) -> Any:
    job = Job(str(spec), None, set=settings)
    (task,) = _runner.tasks(job, [3], "here")
    (result,) = _runner.run([task], Store(None)).results.values()
    return result
