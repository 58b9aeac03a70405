"""Do the notebook and the demo do what they say?"""

import os
import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot
import pytest

import diskwright
from conftest import COMMAND, ROOT, environment
from test_report import Page


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the cells of the notebook define, run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    try:
        return runpy.run_path(str(ROOT / "examples" / "notebook.py"))
    finally:
        matplotlib.pyplot.close("all")


def test_the_notebook_shows_the_numbers_of_single_runs(notebook: dict[str, Any], tmp_path: Path) -> None:
    rows = notebook["runs"].to_dicts()
    assert len(rows) == len(notebook["specs"]) == 20
    for row, (spec, settings) in zip(rows, notebook["specs"], strict=True):
        alone = diskwright.run(spec, set=settings)
        assert row["depth"] == settings["device.hdd.queue.depth"]
        assert (row["digest"], row["iops"]) == (alone.digest, alone.iops)
        assert (row["mean_ms"], row["p99_ms"]) == (alone.response_ms.mean, alone.response_ms.p99)
    # In order, the depth of the queue changes nothing; otherwise more depth gains more.
    gains = {(row["scheduler"], row["depth"]): row["gain"] for row in notebook["gains"].to_dicts()}
    assert {gain for (scheduler, _), gain in gains.items() if scheduler == "fcfs"} == {1.0}
    assert 1 < gains["satf", 4] < gains["satf", 16] < gains["satf", 32]
    assert (tmp_path / "reordering.png").read_bytes().startswith(b"\x89PNG")


def commands(target: str) -> list[str]:
    """What a target of the Makefile would do."""
    done = subprocess.run(
        ["make", "--dry-run", target],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.replace("\\\n", " ").splitlines()


def test_the_demo_prints_a_comparison_and_the_path_of_its_page(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    building = commands("setup")
    demo = (line for line in commands("demo") if line not in building)
    script = "\n".join(demo).replace(".venv/bin/diskwright", str(COMMAND))
    assert script.count(str(COMMAND)) == 1
    done = subprocess.run(
        ["bash", "-euc", script], cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "p99" in done.stdout
    path = done.stdout.splitlines()[-1]
    found = Page((tmp_path / path).read_text(encoding="utf-8")).embedded("result")
    in_order, reordered = (variant["metrics"]["response_mean_ms"]["value"] for variant in found["variants"])
    # The drive cannot keep up in order; reordering, it can.
    assert in_order > 1_000 > 100 > reordered
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert re.match(r"results/", path) and "/results/" in ignored


def test_the_stripe_halves_its_requests_and_loses_what_free_spindles_cost() -> None:
    spec = ROOT / "examples" / "stripe.toml"
    free = diskwright.run(spec)
    together = diskwright.run(spec, device__array__spindles="synchronised")
    for result in (free, together):
        array = result.devices["array"]
        # As all that is counted, without the warm-up.
        assert array.split_requests == array.requests == result.requests.measured
        assert [member["share"] for member in array.members.values()] == [0.5, 0.5]
    # Two thirds of a turn of 8.33 ms in place of half a turn, with each access to the medium.
    lost = free.access_ms.mean - together.access_ms.mean
    assert abs(lost - 8.333 * (2 / 3 - 1 / 2)) < 0.1
    assert free.response_ms.mean > together.response_ms.mean + 1
