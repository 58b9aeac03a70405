"""Do the charts of latency and of requests outstanding say what the log of requests says?"""

import re
import tomllib
from typing import Any

import pytest

import diskwright
from conftest import ROOT, SPEC, Command, refused
from diskwright import report
from diskwright._palette import PARTS
from diskwright.report import charts
from diskwright.report.charts._bins import between, named_bins
from test_report import Page

MIXED = SPEC.replace('size = "8 blocks"', 'size = { reads = "4 KiB", writes = "64 KiB" }')


@pytest.fixture(scope="module")
def run() -> diskwright.Result:
    return diskwright.run(tomllib.loads(MIXED), picture=True, requests=True)


@pytest.fixture(scope="module")
def page(run: diskwright.Result) -> Page:
    return Page(report.page(run))


def measured(run: diskwright.Result) -> list[dict[str, Any]]:
    rows = run.request_log.to_polars().to_dicts()
    return [row for row in rows if row["sequence"] >= 200]


def response(row: dict[str, Any]) -> int:
    return int(row["completion_ns"] - row["arrival_ns"])


def test_the_slowest_are_those_of_the_log_and_their_waits_add_up(run: diskwright.Result) -> None:
    assert run.picture is not None
    found = run.picture.to_dict()["slowest"]
    rows = sorted(measured(run), key=response, reverse=True)[:20]
    assert [request["sequence"] for request in found] == [row["sequence"] for row in rows]
    for request, row in zip(found, rows, strict=True):
        assert sum(charts.waits(request).values()) == response(row)
        assert request["lbn"] == row["lbn"]


def test_queue_depth_is_that_of_the_log(run: diskwright.Result) -> None:
    assert run.picture is not None
    rows = run.request_log.to_polars().to_dicts()
    begins = min(row["arrival_ns"] for row in rows if row["sequence"] == 200)
    changes = sorted([(row["arrival_ns"], 1) for row in rows] + [(row["completion_ns"], -1) for row in rows])
    area, most, outstanding, before = 0, (0, 0), 0, 0
    for at, change in changes:
        area += outstanding * max(at - max(before, begins), 0)
        outstanding += change
        before = at
        if at >= begins and outstanding > most[0]:
            most = (outstanding, at)
    depth = run.picture.to_dict()["outstanding"]
    assert max(depth["from"]) < 16
    # Bins of numbers are exact up to 7.
    exact = sum(least * s for least, s in zip(depth["from"], depth["s"], strict=True) if least < 8)
    above = sum(s for least, s in zip(depth["from"], depth["s"], strict=True) if least >= 8)
    assert exact + 8 * above <= area / 1e9 <= exact + 16 * above + 1e-9
    assert run.picture.busiest.outstanding == most[0]
    assert run.picture.busiest.at_ns == most[1]


def test_each_size_has_its_latency(run: diskwright.Result, page: Page) -> None:
    drawn = page.embedded("charts")["by-size"]["data"]
    assert [trace["name"] for trace in drawn] == [
        "reads, median",
        "reads, p99",
        "writes, median",
        "writes, p99",
    ]
    assert [trace["x"] for trace in drawn] == [["4"], ["4"], ["64"], ["64"]]
    times = sorted(response(row) / 1e6 for row in measured(run) if row["op"] == "write")
    assert drawn[2]["y"][0] == pytest.approx(times[len(times) // 2], rel=0.05)
    assert drawn[3]["y"][0] == pytest.approx(times[int(len(times) * 0.99)], rel=0.08)


def test_each_operation_has_its_latency(run: diskwright.Result, page: Page) -> None:
    drawn = {trace["name"]: trace for trace in page.embedded("charts")["by-op"]["data"]}
    assert [name.split()[0] for name in drawn["p99"]["y"]] == ["read", "write"]
    assert drawn["slowest"]["x"][0] == pytest.approx(run.by_op.read.response_ms.max, rel=1e-4)


def test_the_maps_count_every_request(run: diskwright.Result, page: Page) -> None:
    drawn = page.embedded("charts")
    cells = [text for row in drawn["response-map"]["data"][0]["text"] for text in row if text]
    assert sum(int(text.replace(",", "")) for text in cells) == run.requests.completed
    shares = drawn["outstanding-map"]["data"][0]["z"]
    for column in zip(*shares, strict=True):
        assert sum(share or 0 for share in column) == pytest.approx(100, abs=0.1)
    bars = drawn["depth"]["data"][0]
    assert sum(bars["y"]) == pytest.approx(100, abs=0.01)


def test_one_size_and_one_operation_have_no_chart_of_them() -> None:
    spec = tomllib.loads(SPEC.replace("reads = 0.67", "reads = 1.0").replace("2_000", "300"))
    drawn = Page(report.page(diskwright.run(spec, picture=True))).embedded("charts")
    assert not {"by-size", "by-op"} & set(drawn)
    assert {"slowest", "response-map", "outstanding-map", "depth"} <= set(drawn)


def test_bins_are_those_of_the_engine() -> None:
    assert between(0, 20) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24]
    assert named_bins([6, 7, 8, 10]) == ["6", "7", "8-9"]


@pytest.mark.parametrize("moment", ["busiest", "slowest"])
def test_an_animation_begins_at_a_moment_of_the_whole_run(moment: str) -> None:
    spec = tomllib.loads(SPEC)
    result = diskwright.run(spec, picture=True, animate=moment)
    assert result.digest == diskwright.run(spec).digest
    assert result.picture is not None
    begins = result.picture.devices["hdd"].film.from_ns
    if moment == "busiest":
        assert begins == result.picture.busiest.at_ns
    else:
        assert begins == result.picture.to_dict()["slowest"][0]["start_ns"]


def test_other_moments_are_refused_and_a_pipe_is_read_once(command: Command) -> None:
    spec = ROOT / "examples" / "demo.toml"
    refused(command("run", spec, "--report", "a.html", "--animate", "soon"), "--animate", "busiest")
    once = command("run", spec, "--report", "a.html", "--animate", "busiest", "--trace", "-")
    refused(once, "--animate busiest", "only once")


def test_each_part_has_a_colour() -> None:
    source = (ROOT / "crates" / "diskwright" / "src" / "engine" / "request.rs").read_text(encoding="utf-8")
    parts = re.findall(r'^    \w+ = "(\w+)",$', source, re.MULTILINE)
    assert "seek" in parts
    assert set(parts) <= set(PARTS)


def test_a_part_has_the_same_colour_in_every_chart(page: Page) -> None:
    drawn = page.embedded("charts")
    for chart in ("stages", "parts", "slowest"):
        for trace in drawn[chart]["data"]:
            assert trace["part"].replace("_", " ") == trace["name"]
            assert trace["part"] in page.embedded("part-colours")
