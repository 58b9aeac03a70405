"""Does a report draw what the cache of a tier does, and do its charts say what the result says?"""

from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import SPEC, Look
from diskwright import report
from test_report import Page, checked, spec_of
from test_report_browser import wait_for_readable_labels

CHARTS = {"cache-0-hits", "cache-0-risk", "cache-0-passed"}


def tier_spec(tier: dict[str, Any], reads: float = 0.6, warmup: str = "0 %") -> dict[str, Any]:
    synthetic = {"requests": 6_000, "arrivals": {"poisson": "5 ms"}, "reads": reads, "size": "16 KiB"}
    device = {"read": "0.1 ms", "write": "0.2 ms"}
    devices = {
        "cache": {"simple": device | {"capacity": "1 MiB"}},
        "backing": {"simple": device | {"capacity": "64 MiB", "read": "2 ms", "write": "2 ms"}},
    }
    return {
        "seed": 5,
        "workload": {"synthetic": synthetic | {"address": {"zipf": {"theta": 1.0}}}},
        "measure": {"warmup": warmup},
        "device": {"tier": tier | devices},
    }


BACK = {"write_policy": "write-back", "admission": {"after": {"accesses": 2}}, "cleaning": "none"}


@pytest.fixture(scope="module")
def result() -> diskwright.Result:
    return diskwright.run(tier_spec(BACK), picture=True)


def over_time(result: diskwright.Result) -> Any:
    assert result.picture is not None
    return result.picture.to_dict()["devices"]["tier"]["cache"]["over_time"]


def test_the_bins_add_up_to_the_counters(result: diskwright.Result) -> None:
    over, tier = over_time(result), result.to_dict()["devices"]["tier"]
    for op in ("read", "write"):
        sums = {key: sum(values) for key, values in over[op].items()}
        assert sums == {
            "requests": tier[f"{op}s"],
            "hits": tier[f"{op}_hits"],
            "partial_hits": tier[f"partial_{op}_hits"],
            "blocks": tier[f"{op}_blocks"],
            "hit_blocks": tier[f"{op}_hit_blocks"],
        }
    assert {name: sum(counts) for name, counts in over["bypassed"].items()} == tier["bypassed"]
    assert sum(over["evictions"]) == tier["evictions"] > 0
    assert sum(over["promoted_bytes"]) == 512 * tier["promoted_blocks"] > 0
    assert sum(over["written_back_bytes"]) == 512 * tier["written_back_blocks"] > 0
    assert max(over["dirty_bytes"]["most"]) == 512 * tier["dirty_blocks_max"]
    widths = [over["bin_s"]] * (len(over["evictions"]) - 1) + [over["last_bin_s"]]
    means = over["dirty_bytes"]["mean"]
    mean = sum(value * width for value, width in zip(means, widths, strict=True) if value) / sum(widths)
    assert mean == pytest.approx(512 * tier["dirty_blocks_mean"], rel=0.01)
    assert over["lines_held"][-1] == pytest.approx(tier["lines_held"], rel=0.01)


def test_the_warm_up_is_drawn_but_not_counted(result: diskwright.Result) -> None:
    warmed = diskwright.run(tier_spec(BACK, warmup="50 %"), picture=True)
    whole, part = over_time(result), over_time(warmed)
    assert whole["read"] == part["read"] and whole["bypassed"] == part["bypassed"]
    assert warmed.to_dict()["devices"]["tier"]["reads"] < result.to_dict()["devices"]["tier"]["reads"]
    text = report.page(warmed)
    (note,) = [each["text"] for each in layout(text, "cache-0-hits")["annotations"]]
    assert note == "warm-up"


def layout(text: str, chart: str) -> Any:
    return Page(text).embedded("charts")[chart]["layout"]


def test_each_chart_says_what_there_is(result: diskwright.Result) -> None:
    charts = checked(report.page(result), result.to_dict()).embedded("charts")
    assert {name for name in charts if name.startswith("cache")} == CHARTS
    names = [trace["name"] for trace in charts["cache-0-hits"]["data"]]
    assert names == [
        "reads, by requests",
        "reads, by blocks",
        "writes, by requests",
        "writes, by blocks",
        "lines held",
    ]
    filled = charts["cache-0-hits"]["data"][-1]["y"]
    assert filled[0] < filled[-1] == pytest.approx(100)
    (reason,) = charts["cache-0-passed"]["data"]
    assert reason["name"] == "not admitted yet"


def test_what_there_is_not_has_no_chart() -> None:
    # Nothing is dirty and nothing written, and every line gets a place.
    through = diskwright.run(tier_spec({"write_policy": "write-through"}, reads=1.0), picture=True)
    charts = Page(report.page(through)).embedded("charts")
    assert {name for name in charts if name.startswith("cache")} == {"cache-0-hits", "cache-0-risk"}
    assert [trace["name"] for trace in charts["cache-0-risk"]["data"]] == ["promoted"]
    text = report.page(diskwright.run(spec_of(SPEC), picture=True))
    assert "cache-title" not in text


def test_every_chart_is_drawn_and_fits(look: Look, result: diskwright.Result, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    report.write(result, file)
    opened = look(file)
    for width, scheme in ((500, "light"), (1280, "dark")):
        opened.window(width, 900, scheme)
        opened.open(file)
        assert opened.value("document.documentElement.scrollWidth") <= width
        wait_for_readable_labels(opened)
    shown = opened.value("[...document.querySelectorAll('[data-chart^=cache] .trace')].length")
    assert shown >= 8
