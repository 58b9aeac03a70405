"""Does fio measure on a served device what `run` gives of the same job file?"""

import json
import statistics
import subprocess
import time
from pathlib import Path

import pytest

from conftest import Command, environment
from served import program, serving

JOB = """\
[a]
ioengine=nbd
uri=nbd+unix:///?socket={socket}
rw={rw}
bs=4k
iodepth={depth}
runtime={runtime}
time_based
norandommap
"""
DISK = '[device.hdd]\ndrive = "exos-x20"\n'
SSD = '[device.ssd]\ndrive = "samsung-870-evo"\n'
# What this machine may take for a request stays below 3 % of its time at these speeds. fio's draws are not
# those of a run: the mean of several seeds is compared, and fio runs long enough to be within 1 % of that.
CASES = [
    (DISK, 0.5, "randread", 1, 80),
    (DISK, 1.0, "randread", 32, 40),
    (DISK + "write_cache = false\n", 0.2, "randwrite", 1, 40),
    (DISK + "write_cache = false\n", 0.5, "randwrite", 32, 60),
    (SSD, 0.005, "randread", 1, 10),
    (SSD, 0.02, "randread", 32, 10),
    (SSD, 0.002, "randwrite", 1, 10),
    (SSD, 0.01, "randwrite", 32, 10),
]


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize(("device", "speed", "rw", "depth", "seconds"), CASES)
def test_fio_measures_what_a_run_gives(
    command: Command, tmp_path: Path, device: str, speed: float, rw: str, depth: int, seconds: int
) -> None:
    program("fio")
    socket = tmp_path / "disk.sock"

    def job(runtime: float) -> str:
        return JOB.format(socket=socket, rw=rw, depth=depth, runtime=f"{runtime:g}")

    (tmp_path / "served.toml").write_text(device)
    (tmp_path / "served.fio").write_text(job(seconds))
    where = ["--socket", str(socket), "--discard-contents", "--speed", str(speed)]
    fio = "fio served.fio --output-format=json --output=fio.json"
    done = command("serve", "served.toml", *where, "--run", fio)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "fio.json").read_text()
    found = json.loads(text[text.index("{") :])["jobs"][0]["read" if rw == "randread" else "write"]
    iops, latency_ms = found["iops"] / speed, found["lat_ns"]["mean"] / 1e6 * speed

    (tmp_path / "run.toml").write_text('[workload]\nfio = "run.fio"\n' + device)
    # fio's runtime is in whole seconds.
    (tmp_path / "run.fio").write_text(job(max(seconds * speed, 1)))
    runs = []
    for seed in range(1, 9):
        done = command("run", "run.toml", "--seed", str(seed), "--json", "run.json")
        assert done.returncode == 0, done.stderr
        runs.append(json.loads((tmp_path / "run.json").read_text()))
    run_iops = statistics.mean(run["iops"] for run in runs)
    run_ms = statistics.mean(run["response_ms"]["mean"] for run in runs)
    print(
        f"{rw}, depth {depth}, speed {speed}: {iops:,.0f} IOPS, runs {run_iops:,.0f};",
        f"latency {latency_ms:.4f} ms, runs {run_ms:.4f}",
    )
    assert iops == pytest.approx(run_iops, rel=0.03)
    assert latency_ms == pytest.approx(run_ms, rel=0.03)


def test_a_job_file_for_a_served_device_is_a_load(command: Command, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOB.format(socket="/no/socket", rw="randread", depth=4, runtime=1))
    (tmp_path / "spec.toml").write_text('[workload]\nfio = "job.fio"\n' + DISK)
    done = command("run", "spec.toml", "--json", "run.json")
    assert done.returncode == 0, done.stderr
    assert "job.fio" not in done.stderr, "no option is warned of"
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["devices"]["hdd"]["queue_length_max"] == 4


# Seconds at fifty times the speed of the clock.
AN_HOUR_AND_A_QUARTER, A_DAY = 90, 1730
MINUTES = (pytest.mark.long, pytest.mark.alone)


@pytest.mark.parametrize(
    ("contents", "runtime"),
    [
        pytest.param(["--discard-contents"], AN_HOUR_AND_A_QUARTER, marks=MINUTES, id="nothing kept"),
        pytest.param(["--image", "disk.img"], AN_HOUR_AND_A_QUARTER, marks=MINUTES, id="image"),
        pytest.param(["--image", "disk.img"], A_DAY, marks=pytest.mark.hours, id="image, a day"),
    ],
)
def test_memory_does_not_grow(tmp_path: Path, contents: list[str], runtime: int) -> None:
    """Random requests at fifty times the speed of the clock."""
    program("fio")
    disk = '[device.hdd]\ndrive = "wd-blue-1tb"\n'
    with serving(tmp_path, *contents, "--speed", "50", "--json", "found.json", spec=disk) as server:
        words = ["fio", "--name=day", "--ioengine=nbd", f"--uri={server.uri}", "--rw=randrw", "--bs=4k"]
        words += ["--iodepth=8", "--size=64m", "--time_based", f"--runtime={runtime}", "--norandommap"]
        fio = subprocess.Popen(words, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL)
        held = []
        while fio.poll() is None:
            time.sleep(1)
            held.append(server.memory_mib())
        assert fio.returncode == 0
        assert server.end()[0] == 0
    found = json.loads((tmp_path / "found.json").read_text())
    print(
        f"{found['requests']['completed']:,} requests in {found['simulated_s']:,.0f} simulated s; MiB held:",
        *(f"{mib:.1f}" for mib in held[:: runtime // 9]),
    )
    assert found["simulated_s"] > 50 * (runtime - 6)
    # Distributions reach their size, and the disk's cache is filled, within the first half minute.
    early, late = max(held[10:30]), max(held[60:])
    assert late - early < 2, held
