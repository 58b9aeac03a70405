"""Does the page of a comparison say what the comparison says?"""

import json
import pickle
import re
import tomllib
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import ENDLESS, Command, names, refused
from diskwright import _compared, _text, report
from diskwright.report.charts._series import widened
from test_compare import SCHEDULER, small
from test_report import Page

DEPTH = "device.hdd.queue.depth"
TWO = {SCHEDULER: ["fcfs", {"ncq": {"timeout": "2 s"}}]}
MANY = {SCHEDULER: ["fcfs", "c-look", "satf"], DEPTH: [1, 2, 4, 16]}
CHARTS = {"ratios", "cdf", "tail", "stages", "parts", "time", "seeks", "seek-doublings"}


def compared(vary: dict[str, Any] = TWO, **arguments: Any) -> diskwright.Comparison:
    return diskwright.compare(small(), vary, seeds=2, picture=True, **arguments)


@pytest.fixture(scope="module")
def found() -> diskwright.Comparison:
    return compared()


@pytest.fixture(scope="module")
def many() -> diskwright.Comparison:
    return compared(MANY, baseline={DEPTH: 4})


def pointed(data: Any, pointer: str) -> Any:
    """What a JSON pointer leads to."""
    for key in pointer.split("/")[1:]:
        data = data[int(key) if isinstance(data, list) else key.replace("~1", "/").replace("~0", "~")]
    return data


def written(pointer: str, value: Any) -> str:
    """A value as a page has it."""
    if value is None:
        return "-"
    if pointer.endswith("/ci95"):
        return _compared.margin(value)
    if "/ratio" in pointer:
        return _compared.ratio(value)
    return _compared.signed(value) if "/difference/" in pointer else _text.number(value)


def checked(found: diskwright.Comparison) -> Page:
    """The page, after what holds for every page of a comparison."""
    text = report.page(found)
    page = Page(text)
    data = found.to_dict()
    assert page.embedded("result") == data
    assert len(page.values) >= len(data["variants"]) * len(data["variants"][0]["metrics"])
    for pointer, shown in page.values:
        assert shown == written(pointer, pointed(data, pointer)), pointer
    charts = page.embedded("charts")
    assert {told["data-chart"] for _, told in page.elements if "data-chart" in told} == set(charts)
    for _, told in page.elements:
        assert not {"src", "href", "srcset", "action", "data", "poster"} & set(told), told
    return page


def test_every_figure_of_the_json_is_on_the_page(found: diskwright.Comparison) -> None:
    page = checked(found)
    shown = {pointer for pointer, _ in page.values}
    for place, variant in enumerate(found.to_dict()["variants"]):
        for metric in variant["metrics"]:
            assert {f"/variants/{place}/metrics/{metric}/{key}" for key in ("value", "ci95")} <= shown
            if place != found.baseline:
                assert {f"/variants/{place}/difference/{metric}/{key}" for key in ("value", "ratio")} <= shown
    assert set(page.embedded("charts")) == CHARTS


def test_the_charts_are_those_of_the_first_runs(many: diskwright.Comparison) -> None:
    charts = checked(many).embedded("charts")
    for place, (first, second) in enumerate(many.results):
        assert second.picture is None
        assert first.picture is not None
        tail, seeks = (
            next(trace for trace in charts[name]["data"] if trace["variant"] == place)
            for name in ("tail", "seeks")
        )
        assert tail["name"] == _compared.names(many)[place]
        assert max(tail["x"]) == pytest.approx(max(first.picture.response.all.ms[:-1]), rel=1e-4)
        # The last value is drawn twice: it has two edges.
        assert sum(seeks["y"][:-1]) == pytest.approx(100, rel=1e-3)
        bars = sum(trace["x"][place] for trace in charts["parts"]["data"])
        assert bars == pytest.approx(sum(first.parts_ms.values()), rel=1e-12)
        stages = sum(trace["x"][place] for trace in charts["stages"]["data"])
        assert stages == pytest.approx(first.response_ms.mean, rel=1e-12)
    assert {trace["variant"] for trace in charts["time"]["data"]} == set(range(12))


@pytest.mark.parametrize("most", [1, 2, 7, 100, 299, 300, 477, 600])
def test_wider_bins_hold_what_the_narrow_ones_hold(most: int) -> None:
    spec = small(fault=[{"at": "4 s", "kind": "power-cut"}])
    spec["workload"]["synthetic"]["arrivals"] = {"poisson": "10 ms"}
    spec["workload"]["synthetic"]["requests"] = 5_000
    picture = diskwright.run(spec, picture=True).picture
    assert picture is not None
    load, use = picture.load.to_dict(), picture.devices["hdd"].use.to_dict()
    for narrow, weights in ((load, {"response_mean_ms"}), (use, set())):
        wide = widened(narrow, most)
        keys = set(wide) - {"start_s", "bin_s", "last_bin_s"}
        assert "utilisation" in keys or {"completions", "outstanding_mean", "response_mean_ms"} <= keys
        for key in keys:
            assert len(wide[key]) <= most
            assert whole(wide, key, key in weights) == pytest.approx(whole(narrow, key, key in weights))
        assert span(wide, keys) == pytest.approx(span(narrow, keys))


def span(series: Mapping[str, Any], keys: Iterable[str]) -> float:
    """When the last bin ends."""
    bins = max(len(series[key]) for key in keys)
    return float(series["start_s"] + (bins - 1) * series["bin_s"] + series["last_bin_s"])


def whole(series: Mapping[str, Any], key: str, of_requests: bool) -> float:
    """A count, or a mean multiplied by what it is a mean over, in all bins together."""
    values = series[key]
    if key in ("arrivals", "completions", "failed"):
        return float(sum(values))
    weights = [series["bin_s"]] * (len(values) - 1) + [series["last_bin_s"]]
    if of_requests:
        answered = zip(series["completions"], series["failed"], strict=True)
        weights = [all - failed for all, failed in answered]
    return float(sum((value or 0.0) * weight for value, weight in zip(values, weights, strict=True)))


def test_the_ratios_are_those_of_the_json(many: diskwright.Comparison) -> None:
    chart = checked(many).embedded("charts")["ratios"]
    others = [place for place in range(12) if place != many.baseline]
    assert [trace["variant"] for trace in chart["data"]] == others
    for trace in chart["data"]:
        difference = many.variants[trace["variant"]].difference
        shown = [difference[metric] for metric in _compared.SHOWN]
        assert trace["x"] == [value.ratio for value in shown]
        edges = trace["error_x"]
        for value, up, down in zip(shown, edges["array"], edges["arrayminus"], strict=True):
            low, high = value.ratio_ci95
            # Where the interval reaches below zero, the mark goes on to the end of the axis.
            assert [max(low, 1e-9 * value.ratio), high] == pytest.approx(
                [value.ratio - down, value.ratio + up]
            )
    low, high = (10**edge for edge in chart["layout"]["xaxis"]["range"])
    assert low < min(min(trace["x"]) for trace in chart["data"])
    assert high > max(max(trace["x"]) for trace in chart["data"])


def test_every_axis_has_a_title(found: diskwright.Comparison) -> None:
    for name, chart in checked(found).embedded("charts").items():
        for key, axis in chart["layout"].items():
            if re.fullmatch(r"[xy]axis\d*", key):
                named = name in {"stages", "parts", "ratios"} and key == "yaxis"
                assert axis.get("title", {}).get("text") or named, (name, key)


def test_the_spec_of_the_page_repeats_the_baseline(many: diskwright.Comparison) -> None:
    again = diskwright.run(tomllib.loads(checked(many).texts["spec"]))
    assert again.digest == many.variants[many.baseline].runs[0]


def test_warnings_come_first(many: diskwright.Comparison) -> None:
    text = report.page(many)
    told = _compared.warnings(many, _compared.names(many))
    assert told
    assert all(escape(warning, quote=False) in text.replace("&#34;", '"') for warning in told)
    assert text.index("warnings-title") < text.index("facts-title") < text.index("differences-title")


def test_more_variants_than_can_be_told_apart_have_their_figures() -> None:
    found = compared({DEPTH: list(range(1, 31))}, baseline={DEPTH: 30}, metrics=["iops"])
    drawn = [place for place, runs in enumerate(found.results) if runs[0].picture is not None]
    assert drawn == [*range(23), 29]
    page = checked(found)
    assert {trace["variant"] for trace in page.embedded("charts")["cdf"]["data"]} == set(drawn)
    assert "the first 23 other variants of 30" in report.page(found)


@pytest.mark.parametrize(
    "change",
    [
        {"measure": {"warmup": 400}, "fault": [{"at": "1 h", "kind": "power-cut"}]},
        {"fault": [{"at": "0 ms", "kind": "power-cut"}]},
        {"fault": [{"at": "1 ms", "kind": "power-cut"}]},
    ],
    ids=["all of it warm-up", "nothing ran", "all failed"],
)
def test_odd_comparisons_have_a_page(change: dict[str, Any]) -> None:
    checked(diskwright.compare(small(**change), TWO, seeds=2, picture=True))


def test_one_seed_has_no_intervals() -> None:
    found = diskwright.compare(small(), TWO, seeds=1, metrics=["iops"], picture=True)
    page = checked(found)
    assert not [pointer for pointer, _ in page.values if "ci95" in pointer]
    assert "± and to" not in report.page(found)


def test_a_checked_comparison_says_so() -> None:
    assert "no fault" in report.page(compared(check=True))
    assert "no fault" not in report.page(compared())


def test_without_pictures_there_is_no_page(tmp_path: Path) -> None:
    found = diskwright.compare(small(), TWO, seeds=1)
    assert [runs[0].picture for runs in found.results] == [None, None]
    with pytest.raises(ValueError, match="picture=True"):
        report.write(found, tmp_path / "page.html")
    assert names(tmp_path) == []


def test_pictures_are_kept_and_are_no_part_of_the_json(found: diskwright.Comparison) -> None:
    again = pickle.loads(pickle.dumps(found))
    assert report.page(again) == report.page(found)
    assert "picture" not in found.json()
    assert found.to_dict() == diskwright.compare(small(), TWO, seeds=2).to_dict()


def test_names_from_outside_stay_text(found: diskwright.Comparison) -> None:
    evil = '</script><script>alert("&")</script><!--'
    data = found.to_dict()
    data["variants"][1]["values"][SCHEDULER] = evil
    data["warnings"].append({"text": evil, "variants": [1], "runs": 1})
    pictures = [runs[0].picture.to_dict() for runs in found.results if runs[0].picture]
    runs = [[run.to_dict() for run in runs] for runs in found.results]
    text = report.page(diskwright.Comparison(data, runs, pictures), title=evil)
    page = Page(text)
    assert sum(tag == "script" for tag, _ in page.elements) == 5
    # Labels of axes may hold markup of their own: there it is only text too.
    labels = page.embedded("charts")["stages"]["data"][0]["y"]
    assert "<script" not in labels[1] and "&lt;script&gt;" in labels[1].replace("<br>", "")


def test_compare_writes_a_page(command: Command, spec: Path, tmp_path: Path) -> None:
    vary = ("--vary", f"{SCHEDULER}=fcfs,satf", "--seeds", "2")
    done = command("compare", spec, *vary, "--report", "page.html", "--json", "found.json")
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == ["found.json", "page.html", "spec.toml"]
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "spec.toml</h1>" in text
    assert Page(text).embedded("result") == json.loads((tmp_path / "found.json").read_text())
    assert done.stdout == command("compare", spec, *vary).stdout


@pytest.mark.parametrize(
    ("target", "words"), [("-", ("--report -", "file")), ("no/such.html", ("no/such.html",))]
)
def test_a_page_that_cannot_be_written_is_told_before_the_runs(
    command: Command, tmp_path: Path, target: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    vary = f"{SCHEDULER}=fcfs,satf"
    refused(command("compare", "endless.toml", "--vary", vary, "--report", target), *words)


def test_a_failed_comparison_leaves_the_old_page(command: Command, spec: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("old")
    vary = "device.hdd.drive=ibm-18es,ibm-18e"
    refused(command("compare", spec, "--vary", vary, "--report", "page.html"))
    assert (tmp_path / "page.html").read_text() == "old"
    assert names(tmp_path) == ["page.html", "spec.toml"]
