"""Is `--fio-json` read by what reads fio's JSON output, and does it say what the results say?"""

import json
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import Command, parsed, refused

JOBS = """[global]
ioengine=libaio
direct=1
bs=4k
size=1g
runtime=20
time_based
ramp_time=2

[randread-16]
rw=randread
iodepth=16

[writers]
stonewall
rw=randwrite
numjobs=2
group_reporting
rate_iops=20
"""
SPEC = '[workload]\nfio = "job.fio"\n[device.hdd]\ndrive = "ultrastar-7k6000"\n'


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "job.fio").write_text(JOBS)
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    return path


def read_as_scripts_do(report: dict[str, Any]) -> list[dict[str, Any]]:
    """What fio-plot and common scripts take of each job; a KeyError where something is missing."""
    assert report["fio version"].startswith("fio-3")
    assert report["timestamp_ms"] // 1000 == report["timestamp"]
    rows = []
    for job in report["jobs"]:
        options = {**report["global options"], **job["job options"]}
        assert job["error"] == 0
        for direction in ("read", "write"):
            found = job[direction]
            if found["total_ios"] == 0:
                continue
            row = {
                "name": job["jobname"],
                "type": options["rw"],
                "iodepth": int(options.get("iodepth", 1)),
                "numjobs": int(options.get("numjobs", 1)),
                "bs": options["bs"],
                "iops": found["iops"],
                "bw": found["bw"],
                "latency_ms": found["lat_ns"]["mean"] / 1e6,
                "stddev_ms": found["lat_ns"]["stddev"] / 1e6,
                "percentiles": {float(name): ns for name, ns in found["clat_ns"]["percentile"].items()},
                "ctx": job["ctx"],
                "usr": job["usr_cpu"],
                "sys": job["sys_cpu"],
                "ms": {**job["latency_ns"], **job["latency_us"], **job["latency_ms"]},
            }
            for key in (
                "iops_min",
                "iops_max",
                "iops_mean",
                "iops_stddev",
                "bw_min",
                "bw_max",
                "bw_mean",
                "bw_dev",
            ):
                row[key] = found[key]
            assert found["io_bytes"] == found["io_kbytes"] * 1024
            assert found["clat_ns"]["N"] == found["total_ios"]
            rows.append(row)
    return rows


def test_scripts_read_it_and_find_the_results(command: Command, spec: Path, tmp_path: Path) -> None:
    file = tmp_path / "fio.json"
    result = parsed(command("run", spec, "--fio-json", file, "--json", "-"))
    reader, writers = read_as_scripts_do(json.loads(file.read_text()))
    assert (reader["name"], reader["type"], reader["iodepth"], reader["bs"]) == (
        "randread-16",
        "randread",
        16,
        "4k",
    )
    assert (writers["name"], writers["numjobs"]) == ("writers", 2)
    for row in (reader, writers):
        stream = result["by_stream"][row["name"]]
        assert row["iops"] == pytest.approx(stream["iops"])
        assert row["latency_ms"] == pytest.approx(stream["response_ms"]["mean"])
        assert row["stddev_ms"] == pytest.approx(stream["response_ms"]["std"])
        assert row["bw"] == int(stream["mb_per_s"] * 1e6 / 1024)
        for ours, fios in (("p50", 50), ("p90", 90), ("p95", 95), ("p99", 99), ("p999", 99.9)):
            assert row["percentiles"][fios] / 1e6 == stream["response_ms"][ours]
        assert row["iops_min"] <= row["iops_mean"] <= row["iops_max"]
    # Two clones at 20 a second each, for 20 s behind the ramp.
    assert result["by_stream"]["writers"]["count"] == 800


def test_the_table_names_the_jobs(command: Command, spec: Path) -> None:
    done = command("run", spec)
    assert done.returncode == 0, done.stderr
    assert "\nrandread-16" in done.stdout and "\nwriters" in done.stdout


def test_it_goes_to_standard_output_alone(command: Command, spec: Path) -> None:
    done = command("run", spec, "--fio-json", "-", "--set", "measure.requests=3000")
    assert json.loads(done.stdout)["jobs"][0]["jobname"] == "randread-16"
    refused(command("run", spec, "--fio-json", "-", "--json", "-"), "--json", "--fio-json")


def test_it_replaces_no_input_and_no_other_output(command: Command, spec: Path, tmp_path: Path) -> None:
    job_file = tmp_path / "job.json"
    (tmp_path / "job.fio").rename(job_file)
    spec.write_text(SPEC.replace("job.fio", "job.json"))
    before = job_file.read_text()
    refused(command("run", spec, "--fio-json", job_file), "the command reads")
    assert job_file.read_text() == before
    both = command("run", spec, "--json", tmp_path / "a.json", "--fio-json", tmp_path / "a.json")
    refused(both, "writes the same file")
    refused(command("run", spec, "--fio-json", tmp_path / "a.txt"), ".json")


def test_streams_of_python_have_their_time(spec: Path) -> None:
    result = diskwright.run(spec)
    by_stream = result["by_stream"]
    assert by_stream["randread-16"]["measured_s"] == pytest.approx(20, abs=0.5)


def test_a_comparison_has_a_job_for_each_run(command: Command, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(
        "[global]\nioengine=libaio\nbs=4k\nsize=1m\n[reader]\nrw=randread\niodepth=4\n"
    )
    (tmp_path / "spec.toml").write_text(SPEC)
    vary = "device.hdd.queue.scheduler=fcfs,satf"
    file = tmp_path / "fio.json"
    arguments = ("compare", "spec.toml", "--vary", vary, "--seeds", "2", "--fio-json", file, "--json", "-")
    found = parsed(command(*arguments))
    written = json.loads(file.read_text())
    rows = read_as_scripts_do(written)
    names = [row["name"] for row in rows]
    assert names == ["fcfs, seed 1", "fcfs, seed 2", "satf, seed 1", "satf, seed 2"]
    assert [job["groupid"] for job in written["jobs"]] == [0, 1, 2, 3]
    assert written["jobs"][2]["job options"]["device.hdd.queue.scheduler"] == "satf"
    iops = [variant["metrics"]["iops"]["value"] for variant in found["variants"]]
    for place, mean in enumerate(iops):
        of_variant = [row["iops"] for row in rows[2 * place : 2 * place + 2]]
        assert sum(of_variant) / 2 == pytest.approx(mean)
    refused(command(*arguments[:-3], "-", "--json", "-"), "--json", "--fio-json")


def test_jobs_of_one_run_keep_their_names(command: Command, spec: Path, tmp_path: Path) -> None:
    file = tmp_path / "fio.json"
    depth = "device.hdd.queue.depth=1,8"
    few = ("--set", "measure.requests=3000", "--seeds", "1")
    done = command("compare", spec, "--vary", depth, *few, "--fio-json", file, "--quiet")
    assert done.returncode == 0, done.stderr
    names = [job["jobname"] for job in json.loads(file.read_text())["jobs"]]
    assert names[0] == "1: randread-16"
    assert len(set(names)) == len(names)
