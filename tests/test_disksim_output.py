"""Does `run --disksim-output` write the lines that scripts search for, with the numbers of the run?"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import SPEC, Command, refused
from diskwright import _disksim_output

TWO = """
seed = 1
[workload.synthetic]
requests = 500
arrivals = { poisson = "20 ms" }
reads = 0.67
size = "8 blocks"
[device.array]
layout = "concat"
[[device.array.member]]
[device.array.member.hdd]
drive = "ibm-18es"
[[device.array.member]]
[device.array.member.simple]
capacity = "8 GiB"
read = "10 ms"
write = "10 ms"
"""


def value(text: str, name: str) -> float:
    """The number behind a name, as a script takes it from a line."""
    found = re.findall(rf"^{re.escape(name)}\s+(\S+)", text, re.MULTILINE)
    assert len(found) == 1, (name, found)
    return float(found[0])


def run(command: Command, folder: Path, spec: str) -> tuple[str, dict[str, Any]]:
    (folder / "spec.toml").write_text(spec)
    command("run", "spec.toml", "--disksim-output", "run.outv", "--json", "run.json")
    return (folder / "run.outv").read_text(), json.loads((folder / "run.json").read_text())


def test_the_lines_have_the_numbers_of_the_run(command: Command, tmp_path: Path) -> None:
    text, result = run(command, tmp_path, SPEC)
    times = result["response_ms"]
    overall = "Overall I/O System"
    assert value(text, f"{overall} Total Requests handled:") == result["requests"]["measured"]
    assert value(text, f"{overall} Requests per second:") == pytest.approx(result["iops"], abs=1e-6)
    for name, key in (("average:", "mean"), ("std.dev.:", "std"), ("maximum:", "max")):
        for prefix in (overall, "IOdriver"):
            assert value(text, f"{prefix} Response time {name}") == pytest.approx(times[key], abs=1e-6)
    service = result["service_ms"]["mean"]
    assert value(text, "IOdriver Physical access time average:") == pytest.approx(service, abs=1e-6)
    disk = result["devices"]["hdd"]
    assert value(text, "Disk #0 Total Requests handled:") == disk["requests"]
    spent = sum(disk["busy_ms"][part] for part in ("seek", "head_switch", "settle"))
    seek = spent / disk["media_accesses"]
    assert value(text, "Disk #0 Seek time average:") == pytest.approx(seek, abs=1e-6)
    assert value(text, "Disk #0 Positioning time average:") == pytest.approx(
        seek + value(text, "Disk #0 Rotational latency average:"), abs=2e-6
    )
    assert value(text, "Disk #0 Access time average:") == pytest.approx(
        value(text, "Disk #0 Positioning time average:") + value(text, "Disk #0 Transfer time average:"),
        abs=2e-6,
    )


def test_disks_are_numbered_in_the_order_of_the_tree(command: Command, tmp_path: Path) -> None:
    text, result = run(command, tmp_path, TWO)
    for number, path in enumerate(("array.member[0].hdd", "array.member[1].simple")):
        device = result["devices"][path]
        assert value(text, f"Disk #{number} Total Requests handled:") == device["requests"]
        assert value(text, f"Disk #{number} Number of reads:") == device["reads"]
    assert "Disk #2" not in text
    # A device without positioning has no seeks.
    assert "Disk #1 Seek time" not in text


def test_physical_accesses_are_those_of_all_drivers_together() -> None:
    def times(mean: float, std: float, most: float) -> dict[str, float]:
        return {"mean": mean, "std": std, "max": most}

    def driver(completed: int, response: dict[str, float]) -> dict[str, Any]:
        counts = {"completed": completed, "reads": completed - 1, "writes": 1}
        return {**counts, "response_ms": response, "physical_access_ms": response}

    result = {
        "simulated_s": 2.0,
        "iops": 2.0,
        "requests": {"measured": 4},
        "by_op": {"read": {"count": 4}},
        "response_ms": times(9.0, 0.0, 9.0),
        "service_ms": times(8.0, 0.0, 8.0),
        # 1, 3 and 8.
        "devices": {
            "array.member[0].driver": driver(2, times(2.0, 1.0, 3.0)),
            "array.member[1].driver": driver(1, times(8.0, 0.0, 8.0)),
        },
    }
    text = _disksim_output.text(result)
    assert value(text, "Total time of run:") == 2000
    assert value(text, "IOdriver Total Requests handled:") == 3
    assert value(text, "IOdriver Requests per second:") == 1.5
    assert value(text, "IOdriver Response time average:") == 4
    # Their squares are 1, 9 and 64.
    assert value(text, "IOdriver Response time std.dev.:") == pytest.approx((74 / 3 - 16) ** 0.5, abs=1e-6)
    assert value(text, "IOdriver Response time maximum:") == 8
    assert value(text, "IOdriver device #1 Response time average:") == 8
    assert value(text, "IOdriver Number of writes:") == 2


def test_the_file_is_an_output(command: Command, tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(SPEC)
    done = command("run", "spec.toml", "--disksim-output", "spec.toml")
    refused(done, "--disksim-output spec.toml: this is ", "the command reads")
    done = command("run", "spec.toml", "--disksim-output", "same.json", "--json", "same.json")
    refused(done, "same.json", "writes the same file")
    assert (tmp_path / "spec.toml").read_text() == SPEC
