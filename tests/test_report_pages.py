"""Do pages of all kinds fit a window, with axes that can be read and without what says nothing?"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import chromium
import diskwright
from conftest import SPEC, Look, others_long
from diskwright import report
from diskwright.report._facts import device, facts
from diskwright.report.charts import _coinciding

EXAMPLES = Path(__file__).parents[1] / "examples"
SCHEDULER, DEPTH = "device.hdd.queue.scheduler", "device.hdd.queue.depth"
TWENTY: dict[str, list[Any]] = {SCHEDULER: ["fcfs", "sstf", "c-look", "satf"], DEPTH: [1, 2, 4, 8, 16]}
KINDS = others_long(
    ["run", "twenty variants", "array", "ssd", "tier", "arms"], "run", "twenty variants", "tier"
)

# Axes of numbers, with how many of their ticks have a label.
TICKS = (
    "[...document.querySelectorAll('.plot')].flatMap(plot => Object.entries(plot._fullLayout)"
    ".filter(([key, axis]) => /^[xy]axis/.test(key) && ['linear', 'log'].includes(axis.type))"
    ".filter(([, axis]) => axis.showticklabels)"
    ".map(([key, axis]) => [plot.dataset.chart, key,"
    " [...plot.querySelectorAll(`.${axis._id}tick text`)].filter(text => text.textContent).length]))"
)


def example(name: str, requests: int) -> dict[str, Any]:
    spec = tomllib.loads((EXAMPLES / f"{name}.toml").read_text())
    spec["workload"]["synthetic"]["requests"] = requests
    return spec


def found(kind: str) -> diskwright.Result | diskwright.Comparison:
    if kind == "twenty variants":
        spec = example("demo", 300)
        return diskwright.compare(spec, TWENTY, seeds=2, picture=True)
    specs: Mapping[str, tuple[str, int]] = {
        "run": ("demo", 1_000),
        "array": ("stripe", 500),
        "ssd": ("ssd", 2_000),
        "tier": ("tier", 2_000),
        "arms": ("logging", 300),
    }
    return diskwright.run(example(*specs[kind]), picture=True)


@pytest.fixture(scope="module", params=KINDS)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "page.html"
    report.write(found(request.param), path)
    return path


@chromium.in_windows(390, 1280)
def test_it_fits_the_window_and_its_axes_have_a_scale(
    look: Look, file: Path, width: int, scheme: str
) -> None:
    browser = look(file)
    browser.window(width, 900, scheme)
    assert browser.wide() == []
    assert len(browser.value(TICKS)) > 8
    browser.until(f"{TICKS}.every(([, , ticks]) => ticks >= 2)")
    # Panels keep most of the width for what they show.
    shares = browser.value(
        "[...document.querySelectorAll('.plot')].filter(plot => plot._fullLayout.xaxis)"
        ".map(plot => [plot.dataset.chart, plot._fullLayout.xaxis._length / plot.clientWidth])"
    )
    assert [chart for chart, share in shares if share < 0.4] == []
    assert "{'" not in browser.value("document.querySelector('main').innerText")


def test_an_axis_has_two_ticks_after_a_zoom_too(look: Look, tmp_path: Path) -> None:
    report.write(diskwright.run(example("demo", 1_000), picture=True), tmp_path / "page.html")
    browser = look(tmp_path / "page.html")
    chart = "document.querySelector('#chart-tail')"
    browser.value(f"Plotly.relayout({chart}, {{'yaxis.range': [0.31, 0.62]}})")
    # 10 ** 0.31 to 10 ** 0.62 is 2.04 to 4.17: no power of ten.
    labels = f"[...{chart}.querySelectorAll('.ytick text')].map(text => text.textContent)"
    browser.until(f"{labels}.join() === '3,4'")


def test_counters_that_are_zero_are_only_named() -> None:
    page = device({"reads": 3, "writes": 0, "busy_ms": {"seek": 1.5, "wait": 0.0}, "tiny_ms": 1e-9})
    assert page.single == [("reads", "3"), ("tiny", "0.000 ms")]
    assert page.rows == [("busy", "seek", "1.500 ms")]
    assert page.zeros == ["writes"]


def test_settings_without_values_leave_no_gap() -> None:
    spec = {"device": {"hdd": {"drive": "mine", "angle": 0.5, "queue": {}, "buffer": True}}}
    assert dict(facts(spec))["Device hdd"] == "mine; angle 0.5, buffer true"


def test_a_single_curve_is_named_at_its_axis() -> None:
    run = diskwright.run(example("tier", 2_000), picture=True)
    charts = re.search(r'id="charts"[^>]*>(.*?)</script>', report.page(run), re.S)
    assert charts is not None
    (risk,) = [chart for name, chart in json.loads(charts[1]).items() if name.endswith("-risk")]
    assert [trace["name"] for trace in risk["data"]] == ["promoted"]
    assert risk["layout"]["yaxis"]["title"]["text"] == "promoted (MB/s)"


def test_members_and_arms_are_tables() -> None:
    members = {"member[0]": {"pieces": 5, "lost": 0}, "member[1]": {"pieces": 0, "lost": 0}}
    arms = [{"angle": 0.0, "seek_distance_mean_cylinders": 7.5}, {"angle": 0.5}]
    page = device({"members": members, "arms": arms})
    assert not (page.single or page.rows or page.zeros)
    first, second = page.tables
    assert (first.title, first.columns) == ("members", ["pieces"])
    assert first.rows == [("member[0]", ["5"]), ("member[1]", ["0"])]
    assert second.columns == ["angle", "seek distance mean, cylinders"]
    assert second.rows == [("0", ["0", "7.500"]), ("1", ["0.500", "-"])]


def test_a_comparison_leaves_out_what_is_zero_in_all_variants() -> None:
    spec = tomllib.loads(SPEC.replace("2_000", "200"))
    text = report.page(diskwright.compare(spec, {DEPTH: [1, 4]}, seeds=1, picture=True))
    assert '<th scope="row">media accesses</th>' in text
    assert '<th scope="row">travels</th>' not in text


def test_curves_on_each_other_are_named_and_differ_in_width() -> None:
    times: dict[str, Any] = {"x": [1.0, 10.0, 100.0], "y": [0.0, 50.0, 100.0]}
    later: dict[str, Any] = {"x": [1.0, 10.1, 100.0], "y": [0.0, 50.0, 100.0]}
    curves = [times | {"name": "a"}, later | {"name": "b"}, times | {"x": [1.0, 20.0, 100.0], "name": "c"}]
    drawn, names = _coinciding.distributions(curves)
    assert names == "a and b"
    assert [curve.get("line", {}).get("width") for curve in drawn] == [7.0, 1.5, None]
    assert _coinciding.distributions(curves[1:]) == (curves[1:], "")


def test_a_bin_that_differs_keeps_curves_over_time_apart() -> None:
    one: dict[str, Any] = {"x": [0, 1, 2], "y": [1.0, None, 1.0]}
    curves = [one | {"name": "a"}, one | {"y": [1.0, None, 1.2], "name": "b"}, one | {"name": "c"}]
    drawn, names = _coinciding.steps(curves)
    assert names == "a and c"
    assert drawn[1] == curves[1]
    assert _coinciding.steps([one | {"name": "a"}, one | {"y": [1.0, 1.0, 1.0], "name": "b"}])[1] == ""


def test_variants_that_coincide_are_named_on_the_page() -> None:
    # With one request at a time no scheduler has a choice.
    spec = tomllib.loads(SPEC.replace("2_000", "200"))
    spec["workload"]["synthetic"]["arrivals"] = {"closed": {"users": 1}}
    text = report.page(diskwright.compare(spec, {SCHEDULER: ["fcfs", "satf"]}, seeds=1, picture=True))
    assert text.count("Curves that coincide: fcfs and satf.") == 2
    assert "of completions/s: fcfs and satf" in text
