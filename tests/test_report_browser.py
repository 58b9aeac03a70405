"""Does a report draw its charts in a browser without a network, zoom, print, and fit?"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import chromium
import diskwright
from conftest import SPEC, Look
from diskwright import report
from test_report import at, spec_of, written

CHARTS = {"time", "cdf", "tail", "stages", "parts", "sizes", "map", "seeks", "seek-doublings"}
CHARTS |= {"by-op", "slowest", "response-map", "outstanding-map", "depth"}


@pytest.fixture(scope="module")
def result() -> diskwright.Result:
    return diskwright.run(spec_of(SPEC), picture=True)


@pytest.fixture(scope="module")
def file(result: diskwright.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "page.html"
    report.write(result, path)
    return path


@pytest.fixture
def opened(look: Look, file: Path) -> chromium.Browser:
    return look(file)


def box(browser: chromium.Browser, selector: str) -> tuple[float, float, float, float]:
    """Where an element is: x, y, width, height, after it has been scrolled into view."""
    browser.value(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
    edges = (
        f"(({{x, y, width, height}}) => [x, y, width, height])({element(selector)}.getBoundingClientRect())"
    )
    x, y, width, height = browser.value(edges)
    return x, y, width, height


def element(selector: str) -> str:
    return f"document.querySelector({json.dumps(selector)})"


def shown_range(browser: chromium.Browser, chart: str, axis: str = "xaxis") -> list[float]:
    found: list[float] = browser.value(f"{element(f'#chart-{chart}')}._fullLayout.{axis}.range")
    return found


def wait_for_readable_labels(browser: chromium.Browser) -> None:
    """Waits until the charts have taken the page's colours, which they do a moment after it.

    Until then they may still be drawn anew, and what is set in one or clicked on is lost.
    """
    ground = luminance(browser.value("getComputedStyle(document.body).backgroundColor"))
    labels = (
        "[...document.querySelectorAll('.plot')].map(plot => plot.querySelector('.xtick text, .ytick text'))"
        ".filter(label => label).map(label => getComputedStyle(label).fill)"
    )
    patience = time.monotonic() + 30
    while any(contrast(ground, luminance(label)) <= 7 for label in browser.value(labels)):
        assert time.monotonic() < patience, "the labels of the axes cannot be read"
        time.sleep(0.02)


def test_every_chart_is_drawn_and_nothing_is_asked_for(opened: chromium.Browser, file: Path) -> None:
    drawn = opened.value(
        "Object.fromEntries([...document.querySelectorAll('.plot')].map(plot => [plot.dataset.chart,"
        " [...plot.querySelectorAll('.trace path, .points path, .hm image')].filter(mark =>"
        " { const box = mark.getBoundingClientRect(); return box.width + box.height > 0; }).length]))"
    )
    assert set(drawn) == CHARTS
    assert all(marks > 0 for marks in drawn.values()), drawn
    asked = [address for address in opened.requested if not address.startswith(("data:", "blob:"))]
    assert asked == [file.as_uri()]


@pytest.mark.long
def test_no_button_sends_data_away(opened: chromium.Browser) -> None:
    titles = opened.value(
        "[...document.querySelectorAll('.modebar-btn')].map(button => button.dataset.title)"
    )
    assert any("Zoom" in title for title in titles)
    assert not [title for title in titles if "hare" in title or "loud" in title or "dit" in title]


def test_the_numbers_are_the_results(opened: chromium.Browser, result: diskwright.Result) -> None:
    shown = opened.value(
        "[...document.querySelectorAll('[data-value]')].map(span => [span.dataset.value, span.textContent])"
    )
    assert len(shown) > 20
    for key, text in shown:
        assert text == written(at(result, key)), key
    bars = (
        "Plotly && [...document.querySelector('#chart-parts').data].reduce((sum, bar) => sum + bar.x[0], 0)"
    )
    assert opened.value(bars) == pytest.approx(sum(result.parts_ms.values()), rel=1e-12)


@contextmanager
def clock_stopped(browser: chromium.Browser) -> Iterator[None]:
    """Stops the page's dates a minute ahead, so that what follows each other there is soon after each other.

    On a busy machine two clicks may otherwise be too far apart to be a double one.
    """
    browser.value(
        "(() => { const { getTime } = Date.prototype; const stopped = Date.now() + 60_000;"
        " globalThis.startClock = () => { Date.prototype.getTime = getTime; };"
        " Date.prototype.getTime = () => stopped; })()"
    )
    yield
    browser.value("startClock()")


@pytest.mark.long
@pytest.mark.parametrize("chart", ["cdf", "time", "map", "seeks"])
def test_dragging_zooms_and_a_double_click_goes_back(opened: chromium.Browser, chart: str) -> None:
    before = shown_range(opened, chart)
    x, y, width, height = box(opened, f"#chart-{chart} .nsewdrag")
    opened.drag((x + 0.3 * width, y + 0.3 * height), (x + 0.6 * width, y + 0.7 * height))
    opened.until(f"{element(f'#chart-{chart}')}._fullLayout.xaxis.range[0] !== {before[0]!r}")
    low, high = shown_range(opened, chart)
    span = before[1] - before[0]
    assert low == pytest.approx(before[0] + 0.3 * span, abs=0.02 * span)
    assert high == pytest.approx(before[0] + 0.6 * span, abs=0.02 * span)
    # The zoom outlives a change between light and dark.
    opened.window(1280, 900, "dark")
    wait_for_readable_labels(opened)
    assert shown_range(opened, chart) == [low, high]
    x, y, width, height = box(opened, f"#chart-{chart} .nsewdrag")
    with clock_stopped(opened):
        for _ in range(2):
            opened.click(x + 0.5 * width, y + 0.5 * height)
    opened.until(f"{element(f'#chart-{chart}')}._fullLayout.xaxis.range[0] !== {low!r}")
    assert shown_range(opened, chart) == pytest.approx(before)


@pytest.mark.long
def test_pointing_shows_values(opened: chromium.Browser) -> None:
    x, y, width, height = box(opened, "#chart-time .nsewdrag")
    opened.point(x + width / 2, y + height / 2)
    opened.until(f"{element('#chart-time')}.querySelectorAll('.hovertext').length > 0")
    assert "arrivals/s" in opened.value(f"{element('#chart-time .hoverlayer')}.textContent")


@pytest.mark.long
def test_the_map_shows_counts_too(opened: chromium.Browser) -> None:
    visible = f"{element('#chart-map')}._fullData.map(trace => trace.visible)"
    assert opened.value(visible) == [True, False]
    x, y, width, height = box(opened, "[data-view='1']")
    opened.click(x + width / 2, y + height / 2)
    opened.until(f"{element('#chart-map')}._fullData[1].visible === true")
    assert opened.value(visible) == [False, True]
    assert opened.value(f"{element('[data-view]')}.getAttribute('aria-pressed')") == "false"


@pytest.mark.long
def test_the_spec_is_copied(opened: chromium.Browser) -> None:
    x, y, width, height = box(opened, "#copy")
    opened.click(x + width / 2, y + height / 2)
    opened.until("document.querySelector('#copied').textContent !== ''")


@chromium.in_windows(480, 1280, 1920)
def test_nothing_overflows_and_all_is_readable(opened: chromium.Browser, width: int, scheme: str) -> None:
    opened.window(width, 900, scheme)
    assert opened.wide() == []
    ground, text = (
        luminance(opened.value(f"getComputedStyle(document.body).{key}"))
        for key in ("backgroundColor", "color")
    )
    assert contrast(ground, text) > 7
    wait_for_readable_labels(opened)
    assert (ground < 0.1) == (scheme == "dark")


def contrast(one: float, other: float) -> float:
    """Contrast ratio of two luminances: WCAG 2.2, "contrast ratio"."""
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def luminance(colour: str) -> float:
    """Relative luminance of `rgb(r, g, b)`: WCAG 2.2, "relative luminance"."""
    channels = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.long
def test_it_prints_on_white_within_the_page(opened: chromium.Browser) -> None:
    opened.window(1280, 900, "dark")
    opened.value(
        "addEventListener('beforeprint', () => { window.printed ="
        " [...document.querySelectorAll('.plot')].map(plot => plot._fullLayout)"
        ".map(({width, font}) => [width, font.color]); })"
    )
    assert opened.pdf().startswith(b"%PDF")
    printed: list[list[Any]] = opened.value("window.printed")
    # A4 without margins of 14 mm, at 96 pixels an inch.
    assert len(printed) == len(CHARTS)
    assert all(width <= (210 - 28) / 25.4 * 96 for width, _ in printed)
    assert {colour for _, colour in printed} == {"#1b1f24"}
    opened.until("document.querySelector('#chart-cdf')._fullLayout.font.color === '#e4e8ed'")


def test_a_page_without_charts_has_no_errors(look: Look, tmp_path: Path) -> None:
    spec = spec_of(SPEC) | {"fault": [{"at": "0 ms", "kind": "power-cut"}]}
    report.write(diskwright.run(spec, picture=True), tmp_path / "page.html")
    assert look(tmp_path / "page.html").value("document.querySelectorAll('.plot').length") == 0
