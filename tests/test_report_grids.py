"""Do the pages of sweeps, traces and comparisons of several keys say what was found, within the window?"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import chromium
import diskwright
from conftest import SPEC, Command, Look, others_long
from diskwright import report
from diskwright.report.charts import grid
from test_report import Page

SCHEDULER, DEPTH = "device.hdd.queue.scheduler", "device.hdd.queue.depth"
SMALL = tomllib.loads(SPEC.replace("2_000", "200"))
KINDS = others_long(["one key", "two keys", "three keys", "trace", "comparison"], "two keys", "trace")


def found(kind: str) -> Any:
    vary: dict[str, list[Any]] = {DEPTH: [1, 2, 16]}
    if kind == "trace":
        path = Path(__file__).parents[1] / "examples" / "traces" / "debian-guest.csv.zst"
        return diskwright.inspect(path, picture=True)
    if kind != "one key":
        vary = {SCHEDULER: ["fcfs", "satf"]} | vary
    if kind == "comparison":
        return diskwright.compare(SMALL, vary, seeds=2, picture=True)
    if kind == "three keys":
        vary |= {"workload.synthetic.reads": [0.0, 1.0]}
    return diskwright.sweep(SMALL, vary, seeds=2)


@pytest.fixture(scope="module", params=KINDS)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grids") / f"{request.param}.html"
    report.write(found(request.param), path)
    return path


@chromium.in_windows(360, 800, 1400)
def test_it_fits_the_window(look: Look, file: Path, width: int, scheme: str) -> None:
    browser = look(file)
    browser.window(width, 900, scheme)
    assert browser.wide() == []


@pytest.mark.long
def test_a_scale_of_colours_survives_a_change_of_the_window(look: Look, tmp_path: Path) -> None:
    report.write(found("two keys"), tmp_path / "page.html")
    browser = look(tmp_path / "page.html")
    widths = "[...document.querySelectorAll('.plot')].map(plot => Math.round(plot._fullLayout._size.w))"
    browser.window(1400, 900)
    assert browser.wide() == []
    before = browser.value(widths)
    browser.window(360, 900)
    assert browser.wide() == []
    browser.window(1400, 900)
    browser.until(f"({widths}).join() === '{','.join(map(str, before))}'")


def test_a_sweep_has_lines_and_of_two_keys_a_map() -> None:
    swept = found("two keys")
    page = Page(report.page(swept))
    drawn = page.embedded("charts")
    assert set(drawn) == {f"quantity-{place}{kind}" for place in range(3) for kind in ("", "-map")}
    lines = drawn["quantity-0"]["data"]
    assert [line["name"] for line in lines] == ["fcfs", "satf"]
    assert [line["x"] for line in lines] == [[1, 2, 16]] * 2
    means: dict[tuple[Any, ...], list[float]] = {}
    for point in swept.to_dict()["points"]:
        mean = point["result"]["response_ms"]["mean"]
        means.setdefault(tuple(point["values"].values()), []).append(mean)
    for line in lines:
        for depth, mean in zip(line["x"], line["y"], strict=True):
            exact = sum(means[line["name"], depth]) / 2
            assert mean == pytest.approx(exact, rel=1e-4)
    (cells,) = drawn["quantity-0-map"]["data"]
    assert (cells["x"], cells["y"]) == (["1", "2", "16"], ["fcfs", "satf"])
    assert cells["z"] == [line["y"] for line in lines]
    points = page.embedded("result")["points"]
    assert len(points) == 12
    assert "result" not in points[0]


def test_three_keys_have_lines_only() -> None:
    drawn = Page(report.page(found("three keys"))).embedded("charts")
    assert set(drawn) == {"quantity-0", "quantity-1", "quantity-2"}
    assert [line["name"] for line in drawn["quantity-0"]["data"]] == [
        "fcfs, 0.0",
        "fcfs, 1.0",
        "satf, 0.0",
        "satf, 1.0",
    ]


def test_a_comparison_of_two_keys_has_the_same() -> None:
    drawn = Page(report.page(found("comparison"))).embedded("charts")
    assert {"quantity-0", "quantity-0-map", "ratios"} <= set(drawn)


def test_the_page_of_a_trace_counts_its_requests() -> None:
    inspection = found("trace")
    page = Page(report.page(inspection))
    drawn = page.embedded("charts")
    assert set(drawn) == {"arrivals", "gaps", "sizes", "distances", "places"}
    cells = [count for row in drawn["places"]["data"][0]["customdata"] for count in row if count]
    assert sum(cells) == inspection.reads + inspection.writes
    assert page.embedded("result") == inspection.to_dict()
    picture = inspection.picture.to_dict()["arrivals"]
    assert sum(picture["reads"]) == inspection.reads
    assert sum(picture["write_blocks"]) == inspection.write_blocks
    # The picture is no part of what is told.
    assert "picture" not in inspection.to_dict()
    with pytest.raises(ValueError, match="picture=True"):
        report.page(diskwright.Inspection(inspection.to_dict()))


def test_the_verbs_write_their_pages(command: Command, spec: Path, trace: Path, tmp_path: Path) -> None:
    done = command(
        "sweep", spec, "--vary", f"{DEPTH}=1,4", "--seeds", "1", "--report", tmp_path / "sweep.html"
    )
    assert done.returncode == 0, done.stderr
    assert "spec.toml</h1>" in (tmp_path / "sweep.html").read_text()
    done = command("inspect", trace, "--report", tmp_path / "trace.html")
    assert done.returncode == 0, done.stderr
    assert "diskwright inspect" in (tmp_path / "trace.html").read_text()


def test_lines_go_along_the_numbers() -> None:
    points = [grid.Point((name, depth), depth * 2.0, None) for name in ("a", "b") for depth in (1, 2, 100)]
    lines, cells = grid.charts("q", "IOPS", grid.Grid(("policy", "depth"), points))
    assert lines.figure["layout"]["xaxis"]["type"] == "log"
    assert lines.figure["layout"]["yaxis"]["range"][0] == 0
    assert cells.figure["data"][0]["x"] == ["1", "2", "100"]
    words = [grid.Point((name,), None, None) for name in ("a", "b")]
    assert grid.charts("q", "IOPS", grid.Grid(("policy",), words)) == []
