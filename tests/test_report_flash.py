"""Does a report draw what the flash of an SSD does, and do its charts say what the result says?"""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import SPEC, Look
from diskwright import report
from test_report import Page, checked, spec_of
from test_report_browser import box, element, wait_for_readable_labels

SMALL = {
    "drive": "mqsim-clean",
    "flash": {
        "channels": 2,
        "packages": 2,
        "dies": 2,
        "planes": 2,
        "blocks": 32,
        "pages": 32,
        "page": "4 KiB",
    },
    "timing": {
        "read": ["25 us"],
        "program": ["100 us"],
        "erase": "500 us",
        "read_command": "290 ns",
        "program_command": "361 ns",
        "erase_command": "220 ns",
        "block": "1536 ns",
    },
    "parallel": "dies",
    "spare": {"share": "20 %", "reserved": 1},
    "cleaning": {"begin": 4},
    "initial": {"overwrite": 1.0},
}
CHARTS = {f"flash-0-{name}" for name in ("writes", "use", "latency", "channels", "dies", "busy", "wear")}


def ssd_spec(device: dict[str, Any], reads: float = 0.5, requests: int = 4_000) -> dict[str, Any]:
    synthetic = {"requests": requests, "arrivals": {"closed": {"users": 8, "think": "0 ms"}}, "reads": reads}
    return {
        "seed": 3,
        "workload": {"synthetic": synthetic | {"size": "4 KiB", "address": "uniform"}},
        "host": {"outstanding": 8},
        "measure": {"warmup": "10 %"},
        "device": {"ssd": device},
    }


@pytest.fixture(scope="module")
def result() -> diskwright.Result:
    return diskwright.run(ssd_spec(SMALL), picture=True)


@pytest.fixture(scope="module")
def file(result: diskwright.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("flash") / "page.html"
    report.write(result, path)
    return path


@pytest.fixture(scope="module")
def charts(result: diskwright.Result) -> dict[str, Any]:
    drawn: dict[str, Any] = checked(report.page(result), result.to_dict()).embedded("charts")
    return drawn


def ssd(result: diskwright.Result) -> Any:
    return result.to_dict()["devices"]["ssd"]


def named(chart: dict[str, Any]) -> dict[str, Any]:
    return {trace["name"]: trace for trace in chart["data"]}


def test_every_chart_is_drawn_and_fits(look: Look, file: Path) -> None:
    opened = look(file)
    drawn = opened.value(
        "Object.fromEntries([...document.querySelectorAll('[data-chart^=flash]')].map(plot => "
        "[plot.dataset.chart, [...plot.querySelectorAll('.trace path, .points path, .hm image, "
        ".scatterlayer path')].filter(mark => "
        "{ const box = mark.getBoundingClientRect(); return box.width + box.height > 0; }).length]))"
    )
    assert set(drawn) == CHARTS
    assert all(marks > 0 for marks in drawn.values()), drawn
    for width, scheme in ((500, "light"), (1280, "dark")):
        opened.window(width, 900, scheme)
        opened.open(file)
        assert opened.value("document.documentElement.scrollWidth") <= width
        wait_for_readable_labels(opened)


def test_writes_over_time_end_at_the_counters(charts: dict[str, Any], result: diskwright.Result) -> None:
    curves = named(charts["flash-0-writes"])
    # The first arrival after the warm-up is within the curve, which ends where the result does.
    so_far = curves["since the warm-up"]["y"]
    assert so_far[0] is None
    assert so_far[-1] == pytest.approx(ssd(result)["write_amplification"], rel=1e-4)
    assert result.picture is not None
    over = result.picture.to_dict()["devices"]["ssd"]["flash"]["over_time"]
    assert over["free_blocks"]["at_end"] == ssd(result)["free_blocks"]
    assert curves["some plane is cleaned below"]["y"] == [4 * 16] * 2
    fewest = [value for value in curves["free, fewest"]["y"] if value is not None]
    assert 16 < min(fewest) <= max(fewest) < 16 * 31
    # What is programmed: what the host writes, and as much again as is moved.
    rates = {
        name: sum(filter(None, curves[name]["y"]))
        for name in curves
        if "MB/s" in curves[name]["hovertemplate"]
    }
    assert rates["moved by cleaning"] > 0
    assert rates["programmed for the host"] == pytest.approx(rates["written by the host"], rel=0.05)


def test_shares_of_channels_and_dies_are_those_of_the_result(
    charts: dict[str, Any], result: diskwright.Result
) -> None:
    for chart, key, count in (("dies", "utilisation", 8), ("channels", "channel_utilisation", 2)):
        bars = charts[f"flash-0-{chart}"]["data"]
        assert all(len(bar["x"]) == count for bar in bars)
        mean = sum(sum(bar["x"]) for bar in bars) / count / 100
        # The last operations are under way when the run ends.
        assert mean == pytest.approx(ssd(result)[key], rel=0.02)
    names = charts["flash-0-dies"]["data"][0]["y"]
    assert names[3] == "channel 0, package 1, die 1"
    stacked = named(charts["flash-0-use"])
    assert {"reading", "programming", "moving, for cleaning", "erasing", "for cleaning"} <= set(stacked)


def test_reads_and_writes_have_their_own_parts(charts: dict[str, Any], result: diskwright.Result) -> None:
    bars = named(charts["flash-0-latency"])
    reads, writes = bars["flash read"]["y"]
    assert reads.endswith(" reads") and writes.endswith(" writes")
    assert bars["program"]["x"][0] == 0 < bars["program"]["x"][1]
    assert bars["flash read"]["x"][0] == pytest.approx(0.025, rel=1e-6)
    for place, op in enumerate(("read", "write")):
        whole = sum(bar["x"][place] for bar in bars.values())
        assert whole == pytest.approx(result.to_dict()["by_op"][op]["service_ms"]["mean"], rel=0.02)


def test_a_chart_of_places_shows_one_kind_at_a_time(look: Look, file: Path) -> None:
    opened = look(file)
    shown = f"{element('#chart-flash-0-busy')}._fullData.map(trace => trace.visible)"
    assert opened.value(shown) == [True, False]
    x, y, width, height = box(opened, "[data-of='flash-0-busy'][data-view='1']")
    opened.click(x + width / 2, y + height / 2)
    opened.until(f"String({shown}) === 'false,true'")


def test_the_wear_map_has_every_block(charts: dict[str, Any], result: diskwright.Result) -> None:
    (trace,) = charts["flash-0-wear"]["data"]
    erases = [value for row in trace["z"] for value in row if value is not None]
    assert len(erases) == 16 * 31
    assert sum(erases) == ssd(result)["erases"]["total"] > 0
    assert trace["y"][5] == "channel 0, package 1, die 0, plane 1"


def test_what_there_is_not_has_no_chart() -> None:
    # Nothing is written: no block is erased, and free blocks stay as they are.
    fresh = SMALL | {"initial": {"fill": "100 %"}}
    page = Page(report.page(diskwright.run(ssd_spec(fresh, reads=1.0, requests=300), picture=True)))
    assert {name for name in page.embedded("charts") if name.startswith("flash")} == CHARTS - {
        "flash-0-writes",
        "flash-0-wear",
    }
    # A hard disk has no flash.
    text = report.page(diskwright.run(spec_of(SPEC), picture=True))
    assert "flash-title" not in text
    assert not [name for name in Page(text).embedded("charts") if name.startswith("flash")]


def test_a_large_drive_is_binned() -> None:
    large = SMALL | {
        "flash": {
            "channels": 32,
            "packages": 4,
            "dies": 2,
            "planes": 2,
            "blocks": 300,
            "pages": 4,
            "page": "4 KiB",
        }
    }
    result = diskwright.run(ssd_spec(large, reads=0.3, requests=1_000), picture=True)
    charts = Page(report.page(result)).embedded("charts")
    wear = charts["flash-0-wear"]["data"]
    assert [len(wear), len(wear[0]["z"]), len(wear[0]["z"][0])] == [2, 128, 100]
    # 16 planes of a channel are 4 rows, each of both planes of two dies.
    assert wear[0]["y"][1] == "channel 0, package 1, die 0, plane 0 to channel 0, package 1, die 1, plane 1"
    busy = charts["flash-0-busy"]["data"]
    assert len(busy[0]["z"]) == 64
    assert all(len(row) <= 200 for row in busy[0]["z"])
    assert len(charts["flash-0-dies"]["data"][0]["y"]) == 64
    assert len(json.dumps({name: charts[name] for name in CHARTS})) < 1_000_000


def test_of_many_ssds_the_first_are_drawn(result: diskwright.Result) -> None:
    assert result.picture is not None
    picture = result.picture.to_dict()
    for number in range(5):
        picture["devices"][f"other[{number}]"] = copy.deepcopy(picture["devices"]["ssd"])
    text = report.page(diskwright.Result(result.to_dict(), picture))
    assert "Of 6 such devices the first 4 are drawn" in text
    drawn = {name.split("-")[1] for name in Page(text).embedded("charts") if name.startswith("flash")}
    assert drawn == {"0", "1", "2", "3"}


def test_its_use_is_in_the_charts_of_all_devices() -> None:
    spec = ssd_spec(SMALL) | {"measure": {"warmup": 0}}
    result = diskwright.run(spec, picture=True)
    curves = named(Page(report.page(result)).embedded("charts")["time"])
    busy, queue = curves["ssd busy"]["y"][:-2], curves["ssd queue, mean"]["y"][:-2]
    assert sum(busy) / len(busy) == pytest.approx(100 * ssd(result)["utilisation"], rel=0.02)
    # Eight users without a pause: as many requests are in service, until the last ones are left.
    assert queue[: len(queue) // 2] == pytest.approx([8] * (len(queue) // 2), rel=1e-4)
