"""Does `diskwright compare` tell what makes a difference? Are many runs what each is alone?"""

import copy
import pickle
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import COMMAND, ENDLESS, ROOT, SPEC, Command, environment, names, parsed, refused

SCHEDULER = "device.hdd.queue.scheduler"
METRICS = {
    "response_mean_ms",
    "response_p50_ms",
    "response_p95_ms",
    "response_p99_ms",
    "response_p999_ms",
    "response_max_ms",
    "service_mean_ms",
    "access_mean_ms",
    "iops",
    "utilisation_hdd",
}


def small(**changes: Any) -> dict[str, Any]:
    """A spec of a full queue."""
    load = {"requests": 400, "arrivals": {"closed": {"users": 16, "think": "0 ms"}}, "size": "8 blocks"}
    return {"workload": {"synthetic": load}, "device": {"hdd": {"drive": "ibm-18es"}}} | changes


def test_the_example_is_compared_and_documented(command: Command) -> None:
    example = ROOT / "examples" / "demo.toml"
    fewer = "workload.synthetic.requests=2_000"
    found = parsed(
        command("compare", example, "--vary", f"{SCHEDULER}=fcfs,sstf,satf", "--set", fewer, "--json", "-")
    )
    assert found["schema"] == 1
    assert found["varied"] == [SCHEDULER]
    assert found["seeds"] == [1, 2, 3, 4, 5]
    assert (found["seeds_vary"], found["baseline"]) == (["workload"], 0)
    assert [variant["values"][SCHEDULER] for variant in found["variants"]] == ["fcfs", "sstf", "satf"]
    for variant in found["variants"]:
        assert len(set(variant["runs"])) == 5
        assert set(variant["metrics"]) == set(variant["difference"]) == METRICS
        for metric in variant["metrics"].values():
            assert metric["n"] == 5
            assert metric["ci95"][0] <= metric["value"] <= metric["ci95"][1]
    base, sstf, satf = (variant["difference"]["response_mean_ms"] for variant in found["variants"])
    exactly = {"value": 0, "ci95": [0, 0], "ratio": 1, "ratio_ci95": [1, 1], "significant": False}
    assert base == exactly
    assert satf["value"] < sstf["value"] < 0
    assert satf["significant"]
    assert satf["ratio_ci95"][0] < satf["ratio"] < satf["ratio_ci95"][1] < 1
    assert found["spec"]["device"]["hdd"]["queue"]["scheduler"] == "fcfs"
    page = (ROOT / "docs" / "cli" / "compare.md").read_text(encoding="utf-8")
    parts = [found, found["variants"][0], base, found["variants"][0]["metrics"]["iops"]]
    for key in {key for part in parts for key in part} | METRICS - {"utilisation_hdd"}:
        assert f"`{key}`" in page, key


def test_the_table_comes_in_80_columns(command: Command, spec: Path) -> None:
    vary = SCHEDULER + '=fcfs,{ ncq = { timeout = "500 ms" } }'
    done = command("compare", spec, "--vary", vary, "--vary", "device.hdd.queue.depth=1,8", "--seeds", "3")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in ("response mean, ms", "p95", "p99", "iops", "baseline", "seeds 1 to 3", "95 %"):
        assert word in done.stdout
    # With a depth of 1 nothing is left to choose.
    assert "changes nothing" in done.stderr


def test_one_seed_gives_no_interval(command: Command, spec: Path) -> None:
    arguments = ("compare", spec, "--vary", f"{SCHEDULER}=fcfs,satf", "--seeds", "1", "--metric", "iops")
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    assert "one run of each" in done.stdout
    assert "±" not in done.stdout and "response mean" not in done.stdout
    found = parsed(command(*arguments, "--json", "-"))
    (iops,) = found["variants"][1]["metrics"].values()
    assert (iops["n"], iops["ci95"]) == (1, None)
    assert found["variants"][1]["difference"]["iops"]["significant"] is None


def test_a_trace_is_repeated_from_other_angles(command: Command, spec: Path, trace: Path) -> None:
    vary = ("--vary", "device.hdd.drive=ibm-18es,cheetah-9lp", "--seeds", "3")
    done = command("compare", spec, "--trace", trace, *vary)
    assert "where the platters stand" in done.stdout
    found = parsed(command("compare", spec, "--trace", trace, *vary, "--json", "-"))
    assert found["seeds_vary"] == ["angle"]
    assert found["spec"]["device"]["hdd"]["angle"] == "random"
    fixed = (*vary, "--set", "device.hdd.angle=0.25")
    found = parsed(command("compare", spec, "--trace", trace, *fixed, "--json", "-"))
    assert (found["seeds"], found["seeds_vary"]) == ([1], [])
    assert "nothing in these runs varies" in found["notes"][0]["text"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("nothing is varied", SCHEDULER)),
        (("--vary", f"{SCHEDULER}=fcfs,staf"), ("staf", "did you mean", "satf", "--vary:1:28")),
        (("--vary", "device.hdd.queu.depth=1,2"), ("queu", "did you mean", "queue")),
        (("--vary", f"{SCHEDULER}=fcfs"), ("one value is nothing to compare",)),
        (("--vary", f"{SCHEDULER}=fcfs,"), ("an empty value",)),
        (("--vary", f"{SCHEDULER}=fcfs,fcfs"), ("there twice",)),
        (("--vary", "seed=1,2"), ("--seeds",)),
        (("--vary", f"{SCHEDULER}=fcfs,satf", "--baseline", "sstf"), ("--baseline", "fcfs,satf")),
        (("--vary", f"{SCHEDULER}=fcfs,satf", "--metric", "iop"), ("unknown metric", "iops")),
        (("--vary", f"{SCHEDULER}=fcfs,satf", "--seeds", "0"), ("--seeds 0",)),
        (("--vary", f"{SCHEDULER}=fcfs,satf", "--threads", "0"), ("--threads 0",)),
        (("--vary", "device.hdd.drive=ibm-18es,ibm-18e"), ("ibm-18e", "this is the run of", "seed 1")),
    ],
)
def test_mistakes_are_told(
    command: Command, spec: Path, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(command("compare", spec, *arguments, "--json", "found.json"), *words)
    assert names(tmp_path) == ["spec.toml"]


def test_an_interrupted_comparison_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(ENDLESS)
    files = ("--json", "found.json", "--report", "page.html")
    running = subprocess.Popen(
        [COMMAND, "compare", "spec.toml", "--vary", f"{SCHEDULER}=fcfs,satf", *files],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(names(tmp_path)) < 3:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, complaint = running.communicate(timeout=60)
    assert (running.returncode, complaint) == (130, "interrupted\n")
    assert names(tmp_path) == ["spec.toml"]


def test_a_comparison_in_python_keeps_its_results() -> None:
    policies = ["fcfs", {"ncq": {"timeout": "1 s"}}]
    found = diskwright.compare(
        small(),
        {SCHEDULER: policies, "device.hdd.queue.depth": [4, 16]},
        seeds=2,
        set={"host.outstanding": 8},
    )
    values = [variant["values"] for variant in found.to_dict()["variants"]]
    assert values == [
        {SCHEDULER: policy, "device.hdd.queue.depth": depth} for policy in policies for depth in (4, 16)
    ]
    results = found.results
    assert [[result.digest for result in runs] for runs in results] == [
        variant.runs for variant in found.variants
    ]
    assert results[3][1].spec.seed == 2
    assert results[3][1].spec.host.outstanding == 8
    mean = sum(result.response_ms.mean for result in results[3]) / 2
    assert found.variants[3].metrics.response_mean_ms.value == pytest.approx(mean, rel=1e-12)
    assert re.fullmatch(r"<diskwright.Comparison: 4 variants of .*, 2 seeds>", repr(found))
    for again in (copy.copy(found), pickle.loads(pickle.dumps(found))):
        assert again.to_dict() == found.to_dict()
        assert again.results[0][0].digest == results[0][0].digest


def test_another_baseline_in_python() -> None:
    found = diskwright.compare(
        small(), {SCHEDULER: ["fcfs", "satf"]}, seeds=2, baseline={SCHEDULER: "satf"}, metrics=["iops"]
    )
    assert found.baseline == 1
    assert found.variants[0].difference.iops.value < 0
    assert list(found.variants[0].metrics) == ["iops"]
    with pytest.raises(TypeError, match="a list of values"):
        diskwright.compare(small(), {SCHEDULER: "fcfs,satf"})


def test_many_runs_are_those_of_each_alone(tmp_path: Path) -> None:
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    specs: list[Any] = [small(seed=3), path, (small(), {SCHEDULER: "satf", "seed": 9}), (path, {"seed": 4})]
    alone = [
        diskwright.run(small(seed=3)),
        diskwright.run(path),
        diskwright.run(small(seed=9), set={SCHEDULER: "satf"}),
        diskwright.run(path, seed=4),
    ]
    for threads in (None, 1, 3):
        heard: list[tuple[int, int | None]] = []
        results = diskwright.run_many(
            iter(specs), threads=threads, progress=lambda *counts, heard=heard: heard.append(counts)
        )
        assert [result.digest for result in results] == [result.digest for result in alone]
        assert heard[-1] == (4_800, 4_800)
    assert diskwright.run_many([]) == []


def test_the_first_of_many_that_fails_is_named() -> None:
    wrong = small(host={"outstanding": 0})
    with pytest.raises(
        diskwright.InputError, match=r"(?s)0 requests outstanding.*this is the run of specs\[1\]"
    ):
        diskwright.run_many([small(), wrong, (small(), {"nothing": 1})])
    with pytest.raises(diskwright.InputError, match="on 0 threads"):
        diskwright.run_many([small()], threads=0)


def test_an_exception_of_the_progress_stops_all_runs(tmp_path: Path) -> None:
    path = tmp_path / "endless.toml"
    path.write_text(ENDLESS)

    def enough(done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        diskwright.run_many([path] * 4, progress=enough)
    with pytest.raises(RuntimeError, match="enough"):
        diskwright.compare(path, {SCHEDULER: ["fcfs", "satf"]}, progress=enough)


def test_any_number_of_the_results_is_compared(command: Command, spec: Path) -> None:
    name, share = "by_op.read.response_ms.p99", "devices.hdd.utilisation"
    arguments = ("compare", spec, "--vary", f"{SCHEDULER}=fcfs,satf", "--seeds", "2")
    done = command(*arguments, "--metric", name, "--metric", share)
    assert done.returncode == 0, done.stderr
    assert name in done.stdout and share in done.stdout and "response mean" not in done.stdout
    found = parsed(command(*arguments, "--metric", name, "--json", "-"))
    assert all(set(variant["metrics"]) == {name} for variant in found["variants"])
    refused(
        command(*arguments, "--metric", "devices.hdd.utilization"),
        "--metric:1:1",
        "unknown metric",
        f'did you mean "{share}"',
    )
