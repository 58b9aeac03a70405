"""Does a report say what the result says, in one page that needs nothing else?"""

import json
import pickle
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import ENDLESS, SPEC, Command, names, refused
from diskwright import _text, report

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """A page's elements; fails where they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.values: list[tuple[str, str]] = []
        self.texts: dict[str, str] = {}
        self._key: str | None = None
        self._id: str | None = None
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        assert len(told) == len(attrs), attrs
        self.elements.append((tag, told))
        self._key = told.get("data-value")
        if name := told.get("id"):
            self._id = name
            assert self._id not in self.texts, f"two elements are called {self._id}"
            self.texts[self._id] = ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> at line {self.getpos()[0]}"
        self._key = self._id = None

    def handle_data(self, data: str) -> None:
        if self._key:
            self.values.append((self._key, data.strip()))
            self._key = None
        if self._id:
            self.texts[self._id] += data

    def embedded(self, name: str) -> Any:
        return json.loads(self.texts[name])


def at(result: Mapping[str, Any], key: str) -> Any:
    for name in key.split("."):
        result = result[name]
    return result


def written(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else _text.number(value)


def checked(text: str, result: Mapping[str, Any]) -> Page:
    """The page, after what holds for every page."""
    page = Page(text)
    assert page.embedded("result") == result
    measured = result["requests"]["measured"]
    assert len(page.values) > (20 if measured else 5)
    assert ("response_ms.mean" in dict(page.values)) == (measured > 0)
    for key, shown in page.values:
        assert shown == written(at(result, key)), key
    for _, attributes in page.elements:
        assert not {"src", "href", "srcset", "action", "data", "poster"} & set(attributes), attributes
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    charts = page.embedded("charts")
    drawn = {attributes["data-chart"] for _, attributes in page.elements if "data-chart" in attributes}
    assert drawn == set(charts)
    return page


@pytest.fixture(scope="module")
def run() -> diskwright.Result:
    return diskwright.run(spec_of(SPEC), picture=True)


@pytest.fixture(scope="module")
def page(run: diskwright.Result) -> Page:
    return checked(report.page(run), run.to_dict())


def spec_of(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def test_the_numbers_are_the_results(page: Page, run: diskwright.Result) -> None:
    shown = {key for key, _ in page.values}
    assert {"response_ms.mean", "response_ms.p99", "service_ms.p50", "iops", "requests.measured"} <= shown
    assert {f"parts_ms.{name}" for name, mean in run.parts_ms.items() if mean} <= shown


def test_the_page_tells_what_the_drive_is_set_to(run: diskwright.Result) -> None:
    text = report.page(run)
    told = (
        "queue depth 32 (default), scheduler fcfs (default), buffer segmented (drive), write cache on (drive)"
    )
    assert "Settings of hdd" in text
    assert told in text
    assert ">settings" not in text


def test_the_bars_add_up_to_the_means(page: Page, run: diskwright.Result) -> None:
    charts = page.embedded("charts")
    stages = sum(trace["x"][0] for trace in charts["stages"]["data"])
    parts = sum(trace["x"][0] for trace in charts["parts"]["data"])
    assert stages == pytest.approx(run.response_ms.mean, rel=1e-12)
    assert parts == pytest.approx(sum(run.parts_ms.values()), rel=1e-12)


def test_every_axis_has_a_title(page: Page) -> None:
    bars = {"stages", "parts"}
    for name, chart in page.embedded("charts").items():
        axes = {key: axis for key, axis in chart["layout"].items() if re.fullmatch(r"[xy]axis\d*", key)}
        assert {"xaxis", "yaxis"} <= set(axes)
        for key, axis in axes.items():
            # The one name on the axis of bars is that of the run.
            assert axis.get("title", {}).get("text") or (name in bars and key == "yaxis"), (name, key)


def test_the_charts_say_what_the_picture_says(page: Page, run: diskwright.Result) -> None:
    picture = run.picture
    assert picture is not None
    charts = page.embedded("charts")
    tail = charts["tail"]["data"][0]
    assert tail["name"] == "response"
    assert len(tail["x"]) == len(picture.response.all.ms) - 1
    assert sum(charts["seeks"]["data"][0]["y"]) == pytest.approx(100, rel=1e-3)
    assert sum(charts["seek-doublings"]["data"][0]["y"]) == pytest.approx(100, rel=1e-3)
    cells = charts["map"]["data"][0]["customdata"]
    assert sum(count or 0 for row in cells for count in row) == run.requests.completed
    load = picture.load
    arrivals = next(trace for trace in charts["time"]["data"] if trace["name"] == "arrivals")
    assert arrivals["y"][0] == pytest.approx(load.arrivals[0] / load.bin_s, rel=1e-3)
    assert charts["time"]["layout"]["shapes"][0]["x1"] == pytest.approx(picture.measured_from_s, rel=1e-6)


def test_the_spec_of_the_page_is_a_spec_of_the_same_run(page: Page, run: diskwright.Result) -> None:
    again = diskwright.run(spec_of(page.texts["spec"]))
    assert again.digest == run.digest


def test_the_picture_is_beside_the_result(run: diskwright.Result) -> None:
    assert "picture" not in run
    assert "picture" not in json.loads(run.json())
    assert diskwright.run(spec_of(SPEC)).picture is None
    kept = pickle.loads(pickle.dumps(run))
    assert kept.picture == run.picture


def test_a_result_without_a_picture_is_refused(tmp_path: Path) -> None:
    result = diskwright.run(spec_of(SPEC))
    with pytest.raises(ValueError, match="picture=True"):
        report.write(result, tmp_path / "page.html")
    assert names(tmp_path) == []


ODD: dict[str, dict[str, Any]] = {
    "one request": {"workload": {"synthetic": {"requests": 1}}, "measure": {"warmup": 0}},
    "two requests": {"workload": {"synthetic": {"requests": 2}}, "measure": {"warmup": 0}},
    # With a cut after the last request: without a fault it is an error.
    "all of it warm-up": {"measure": {"warmup": 2_000}, "fault": [{"at": "1 h", "kind": "power-cut"}]},
    "no reads": {"workload": {"synthetic": {"reads": 0.0}}},
    "no writes": {"workload": {"synthetic": {"reads": 1.0}}},
    "trims and flushes": {"workload": {"synthetic": {"reads": 0.5, "trims": 0.3, "flushes": 0.2}}},
    "a power cut": {"fault": [{"at": "10 s", "kind": "power-cut"}]},
    "a power cut before anything": {"fault": [{"at": "0 ms", "kind": "power-cut"}]},
    "all failed": {
        "fault": [{"at": "1 ms", "kind": "power-cut"}],
        "workload": {"synthetic": {"arrivals": {"closed": {"users": 8, "think": "0 ms"}}}},
    },
}


def merged(spec: dict[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    for key, item in change.items():
        nested = isinstance(item, dict) and isinstance(spec.get(key), dict) and key != "arrivals"
        spec[key] = merged(spec[key], item) if nested else item
    return spec


@pytest.mark.parametrize("kind", ODD)
def test_odd_runs_have_a_page(kind: str) -> None:
    result = diskwright.run(merged(spec_of(SPEC), ODD[kind]), picture=True)
    page = checked(report.page(result), result.to_dict())
    charts = set(page.embedded("charts"))
    assert ("time" in charts) == (result.requests.completed > 0)
    assert ("cdf" in charts) == (result.requests.measured > 0)


def test_warnings_come_first_and_many_fold_away(run: diskwright.Result) -> None:
    many = [f"warning {number} of <many> & more" for number in range(3_000)]
    result = diskwright.Result(run.to_dict() | {"warnings": many}, run.picture)
    text = report.page(result)
    page = checked(text, result.to_dict())
    assert page.texts["warnings-title"] == "3000 warnings"
    assert "2,988 more" in text
    assert text.index("warnings-title") < text.index("figures-title")
    assert "<details>" in text


def test_names_from_outside_stay_text(run: diskwright.Result) -> None:
    evil = '</script><script>alert("&")</script><!--'
    changed = run.to_dict()
    changed["spec"]["workload"]["trace"] = evil
    result = diskwright.Result(changed, run.picture)
    text = report.page(result, title=evil)
    page = checked(text, changed)
    assert sum(tag == "script" for tag, _ in page.elements) == 7
    assert page.embedded("result")["spec"]["workload"]["trace"] == evil


def test_run_writes_a_page(command: Command, spec: Path, tmp_path: Path) -> None:
    done = command("run", spec, "--report", "page.html", "--json", "result.json")
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == ["page.html", "result.json", "spec.toml"]
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "spec.toml</h1>" in text
    checked(text, json.loads((tmp_path / "result.json").read_text()))


def test_the_same_run_gives_the_same_page() -> None:
    def page() -> str:
        result = diskwright.run(spec_of(SPEC), picture=True).to_dict()
        steady = result | {"wall_s": 1.0, "requests_per_wall_s": 1.0, "peak_rss_mib": 1.0}
        picture = diskwright.run(spec_of(SPEC), picture=True).picture
        return report.page(diskwright.Result(steady, picture))

    assert page() == page()


@pytest.mark.parametrize(
    ("target", "words"), [("-", ("--report -", "file")), ("no/such.html", ("no/such.html",))]
)
def test_a_page_that_cannot_be_written_is_told_before_the_run(
    command: Command, tmp_path: Path, target: str, words: tuple[str, ...]
) -> None:
    endless = tmp_path / "endless.toml"
    endless.write_text(ENDLESS)
    refused(command("run", endless, "--report", target), *words)


def test_a_failed_run_leaves_the_old_page(command: Command, spec: Path, tmp_path: Path) -> None:
    old = tmp_path / "page.html"
    old.write_text("old")
    refused(command("run", spec, "--drive", "no-such", "--report", old))
    assert old.read_text() == "old"
    assert names(tmp_path) == ["page.html", "spec.toml"]


def test_pages_are_imported_where_one_is_written() -> None:
    code = "import sys, diskwright.cli; print([n for n in sys.modules if 'jinja2' in n or '.report' in n])"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
