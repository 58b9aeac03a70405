"""Does fio measure on a served device what `run` gives of the same job file?"""

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
# What this machine takes for a request is a small share of its time at these speeds.
CASES = [
    (DISK, 1.0, "randread", 1, 40),
    (DISK, 1.0, "randread", 32, 40),
    (DISK + "write_cache = false\n", 0.2, "randwrite", 1, 40),
    (SSD, 0.005, "randread", 1, 10),
    (SSD, 0.02, "randread", 32, 10),
    (SSD, 0.002, "randwrite", 1, 10),
]


@dataclass(frozen=True)
class Served:
    """Runs fio on a served device: the command, where it runs, and fio's load."""

    command: Command
    folder: Path
    speed: float
    rw: str
    depth: int

    def job(self, runtime: float) -> str:
        socket = self.folder / "disk.sock"
        return JOB.format(socket=socket, rw=self.rw, depth=self.depth, runtime=f"{runtime:g}")

    def measured(self, device: str, seconds: int) -> tuple[float, float]:
        """Requests per second, and their mean latency in ms, both of simulated time."""
        (self.folder / "served.toml").write_text(device)
        (self.folder / "served.fio").write_text(self.job(seconds))
        where = ["--socket", "disk.sock", "--discard-contents", "--speed", str(self.speed)]
        fio = "fio served.fio --output-format=json --output=fio.json"
        done = self.command("serve", "served.toml", *where, "--run", fio)
        assert done.returncode == 0, done.stderr
        text = (self.folder / "fio.json").read_text()
        job = json.loads(text[text.index("{") :])["jobs"][0]
        found = job["read" if self.rw == "randread" else "write"]
        return found["iops"] / self.speed, found["lat_ns"]["mean"] / 1e6 * self.speed

    def run(self, device: str, seconds: float) -> Any:
        """The result of `run` with the same job."""
        (self.folder / "run.toml").write_text('[workload]\nfio = "run.fio"\n' + device)
        (self.folder / "run.fio").write_text(self.job(seconds))
        done = self.command("run", "run.toml", "--json", "run.json")
        assert done.returncode == 0, done.stderr
        return json.loads((self.folder / "run.json").read_text())


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize(("device", "speed", "rw", "depth", "seconds"), CASES)
def test_fio_measures_what_a_run_gives(
    command: Command, tmp_path: Path, device: str, speed: float, rw: str, depth: int, seconds: int
) -> None:
    program("fio")
    served = Served(command, tmp_path, speed, rw, depth)
    # fio's runtime is in whole seconds.
    run = served.run(device, max(seconds * speed, 1))
    mean_ms = run["response_ms"]["mean"]
    own_ms = 0.0
    if depth == 1:
        # What client, server and their machine take for a request: more than the time of a constant device.
        time = f"{mean_ms:.6f} ms"
        constant = f'[device.simple]\ncapacity = "100 GB"\nread = "{time}"\nwrite = "{time}"\n'
        own_ms = served.measured(constant, 10)[1] - mean_ms
        assert 0 <= own_ms < 0.15 * mean_ms
    iops, latency_ms = served.measured(device, seconds)
    print(f"fio {iops:.1f} IOPS, {latency_ms:.4f} ms, of which the machine {own_ms:.4f} ms")
    print(f"run {run['iops']:.1f} IOPS, {mean_ms:.4f} ms")
    assert latency_ms - own_ms == pytest.approx(mean_ms, rel=0.03)
    without_own = iops if depth > 1 else 1 / (1 / iops - own_ms / 1e3)
    assert without_own == pytest.approx(run["iops"], rel=0.03)


def test_a_job_file_for_a_served_device_is_a_load(command: Command, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOB.format(socket="/no/socket", rw="randread", depth=4, runtime=1))
    (tmp_path / "spec.toml").write_text('[workload]\nfio = "job.fio"\n' + DISK)
    done = command("run", "spec.toml", "--json", "run.json")
    assert done.returncode == 0, done.stderr
    assert "job.fio" not in done.stderr, "no option is warned of"
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["devices"]["hdd"]["queue_length_max"] == 4


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("contents", [["--discard-contents"], ["--image", "disk.img"]], ids=" ".join)
def test_memory_does_not_grow(tmp_path: Path, contents: list[str]) -> None:
    """An hour and a quarter of random requests at fifty times the speed of the clock."""
    program("fio")
    disk = '[device.hdd]\ndrive = "wd-blue-1tb"\n'
    with serving(tmp_path, *contents, "--speed", "50", "--json", "found.json", spec=disk) as server:
        words = ["fio", "--name=day", "--ioengine=nbd", f"--uri={server.uri}", "--rw=randrw", "--bs=4k"]
        words += ["--iodepth=8", "--size=64m", "--time_based", "--runtime=90", "--norandommap"]
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
        *(f"{mib:.1f}" for mib in held[::10]),
    )
    assert found["simulated_s"] > 70 * 60
    # Distributions reach their size, and the disk's cache is filled, within the first third.
    early, late = max(held[10:30]), max(held[60:])
    assert late - early < 2, held
