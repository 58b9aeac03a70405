"""Does the page of a comparison draw its charts without a network, with two variants and with twelve?"""

from pathlib import Path
from typing import Any

import pytest

import chromium
import diskwright
from conftest import Look, others_long
from diskwright import _compared, report
from test_comparison_page import CHARTS, MANY, TWO, compared, pointed, written
from test_report_browser import box, element, luminance, shown_range


@pytest.fixture(scope="module", params=others_long(["two", "twelve"], "twelve"))
def found(request: pytest.FixtureRequest) -> diskwright.Comparison:
    return compared(TWO if request.param == "two" else MANY)


@pytest.fixture(scope="module")
def file(found: diskwright.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("comparison") / "page.html"
    report.write(found, path)
    return path


@pytest.fixture
def opened(look: Look, file: Path) -> chromium.Browser:
    return look(file)


def test_every_chart_is_drawn_and_nothing_is_asked_for(
    opened: chromium.Browser, file: Path, found: diskwright.Comparison
) -> None:
    drawn = opened.value(
        "Object.fromEntries([...document.querySelectorAll('.plot')].map(plot => [plot.dataset.chart,"
        " [...plot.querySelectorAll('.js-line, .point path, .points path')].filter(mark =>"
        " { const box = mark.getBoundingClientRect(); return box.width + box.height > 0; }).length]))"
    )
    by_key = {name for name in drawn if name.startswith("quantity-")}
    assert set(drawn) - by_key == CHARTS
    # Of two varied keys lines and a map for each of the four quantities shown.
    assert len(by_key) in (0, 8)
    variants = len(found.variants)
    # A curve for each variant; of bars and marks more; the baseline has no ratio.
    for chart, marks in drawn.items():
        if chart in by_key:
            assert marks > 0 or chart.endswith("-map")
            continue
        assert marks >= variants - (chart == "ratios"), (chart, marks)
    asked = [address for address in opened.requested if not address.startswith(("data:", "blob:"))]
    assert asked == [file.as_uri()]


def test_the_numbers_are_those_of_the_json(opened: chromium.Browser, found: diskwright.Comparison) -> None:
    shown = opened.value(
        "[...document.querySelectorAll('[data-value]')].map(span => [span.dataset.value, span.textContent])"
    )
    assert len(shown) >= 10 * len(found.variants)
    for pointer, text in shown:
        assert text == written(pointer, pointed(found.to_dict(), pointer)), pointer


@pytest.mark.long
@pytest.mark.parametrize("chart", ["ratios", "cdf", "time", "seeks"])
def test_dragging_zooms(opened: chromium.Browser, chart: str) -> None:
    before = shown_range(opened, chart)
    x, y, width, height = box(opened, f"#chart-{chart} .nsewdrag")
    opened.drag((x + 0.3 * width, y + 0.3 * height), (x + 0.6 * width, y + 0.7 * height))
    opened.until(f"{element(f'#chart-{chart}')}._fullLayout.xaxis.range[0] !== {before[0]!r}")
    low, high = shown_range(opened, chart)
    span = before[1] - before[0]
    assert low == pytest.approx(before[0] + 0.3 * span, abs=0.02 * span)
    assert high == pytest.approx(before[0] + 0.6 * span, abs=0.02 * span)
    # The zoom outlives a hidden variant.
    opened.value(f"{element('button[data-variant]')}.click()")
    assert shown_range(opened, chart) == [low, high]


@pytest.mark.long
def test_pointing_names_the_variant(opened: chromium.Browser, found: diskwright.Comparison) -> None:
    x, y, width, height = box(opened, "#chart-seek-doublings .nsewdrag")
    for step in range(1, 20):
        opened.point(x + width * step / 20, y + 0.9 * height)
        text = opened.value(f"{element('#chart-seek-doublings .hoverlayer')}.textContent")
        if "% of the accesses" in text:
            break
    assert any(name in text for name in _compared.names(found)), text


@pytest.mark.long
def test_a_key_hides_a_variant_in_all_charts(opened: chromium.Browser) -> None:
    def hidden() -> list[Any]:
        answer: list[Any] = opened.value(
            "[...document.querySelectorAll('.plot')].flatMap(plot => plot._fullData"
            ".filter(trace => trace.type === 'scatter' && trace.visible !== true)"
            ".map(trace => [plot.dataset.chart, trace.name]))"
        )
        return answer

    assert hidden() == []
    x, y, width, height = box(opened, "#times-title ~ .key [data-variant='1']")
    opened.click(x + width / 2, y + height / 2)
    opened.until("document.querySelectorAll('.key [aria-pressed=false]').length > 0")
    charts = {chart for chart, _ in hidden()}
    assert charts == CHARTS - {"stages", "parts"}
    assert len({name for _, name in hidden()}) == 1
    pressed = "[...document.querySelectorAll(\".key [data-variant='1']\")].map(key => key.ariaPressed)"
    assert set(opened.value(pressed)) == {"false"}
    opened.click(x + width / 2, y + height / 2)
    opened.until("document.querySelectorAll('.key [aria-pressed=false]').length === 0")
    assert hidden() == []


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_variant_has_a_look_of_its_own(
    opened: chromium.Browser, found: diskwright.Comparison, scheme: str
) -> None:
    opened.window(1280, 900, scheme)
    text = {"light": "#1b1f24", "dark": "#e4e8ed"}[scheme]
    opened.until(f"{element('#chart-seek-doublings')}._fullLayout.font.color === '{text}'")
    keys = opened.value(
        "[...document.querySelectorAll('#times-title ~ .key line')].map(line =>"
        " [line.getAttribute('stroke'), line.getAttribute('stroke-dasharray') !== ''])"
    )
    assert len({tuple(look) for look in keys}) == len(keys) == len(found.variants)
    for chart in ("cdf", "tail", "seeks"):
        curves = opened.value(
            f"{element(f'#chart-{chart}')}._fullData"
            ".map(trace => [trace.line.color, trace.line.dash !== 'solid'])"
        )
        assert curves == keys


@chromium.in_windows(700, 1280, 1920)
def test_nothing_overflows_or_overlaps(opened: chromium.Browser, width: int, scheme: str) -> None:
    opened.window(width, 900, scheme)
    assert opened.wide() == []
    if width >= 1280:
        is_cut = "part => part.scrollWidth > part.clientWidth + 1"
        assert opened.value(f"[...document.querySelectorAll('.scroll')].filter({is_cut}).length") == 0
    # Labels of ticks that stand upright do not touch; turned ones are set apart by the library.
    touching = opened.value(
        "[...document.querySelectorAll('.plot')].flatMap(plot => ['.xtick', '.ytick'].flatMap(kind => {"
        " const boxes = [...plot.querySelectorAll(kind + ' text')]"
        ".filter(text => !/rotate\\((?!0)/.test(text.getAttribute('transform') || ''))"
        ".map(text => [text.textContent, text.getBoundingClientRect()]);"
        " return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) => a.left < b.right"
        " && b.left < a.right && a.top < b.bottom && b.top < a.bottom)"
        ".map(([other]) => [plot.dataset.chart, one, other])); }))"
    )
    assert touching == []
    ground, text = (
        luminance(opened.value(f"getComputedStyle({element(part)}).{key}"))
        for part, key in (("body", "backgroundColor"), (".key button", "color"))
    )
    assert (max(ground, text) + 0.05) / (min(ground, text) + 0.05) > 7
    assert (ground < 0.1) == (scheme == "dark")


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
    assert len(printed) == opened.value("document.querySelectorAll('.plot').length")
    # A4 without margins of 14 mm, at 96 pixels an inch.
    assert all(width <= (210 - 28) / 25.4 * 96 for width, _ in printed)
    assert {colour for _, colour in printed} == {"#1b1f24"}
    # The tables too; the window takes the place of the sheet.
    opened.window(687, 900)
    opened.media("print")
    opened.value("dispatchEvent(new Event('beforeprint'))")
    assert opened.value("document.documentElement.scrollWidth") <= 687
    opened.media("screen")
