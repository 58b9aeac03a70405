"""Does the page of a reproduction draw its figures in a browser without a network, and fit?"""

import json
from pathlib import Path

import pytest

import chromium
from conftest import Look
from diskwright import reproduce
from test_report_browser import luminance
from toy_system import SYSTEM


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reproduced")
    reproduce.write(reproduce.reproduce(SYSTEM), path)
    return path


@pytest.fixture
def opened(look: Look, folder: Path) -> chromium.Browser:
    browser = look(folder / "index.html")
    browser.until(
        "[...document.querySelectorAll('[data-chart]')].every(plot => plot.querySelector('.main-svg'))"
    )
    return browser


def test_every_figure_is_drawn_with_what_the_paper_has(opened: chromium.Browser, folder: Path) -> None:
    drawn = opened.value(
        "Object.fromEntries([...document.querySelectorAll('.plot')].map(plot =>"
        " [plot.dataset.chart, plot.data.map(trace => trace.name)]))"
    )
    assert drawn == {
        "fig-1": ["fcfs", "satf", "satf, paper"],
        "fig-2": ["measured", "paper"],
        "beyond-pace": [""],
    }
    asked = [address for address in opened.requested if not address.startswith(("data:", "blob:"))]
    assert asked == [(folder / "index.html").as_uri()]
    found = json.loads((folder / "result.json").read_text())
    points = found["figures"][0]["points"]
    heights = opened.value("document.querySelector('#chart-fig-1').data.map(trace => trace.y)")
    assert [heights[0], heights[1]] == [
        [point["iops"] for point in points if point["scheduler"] == name] for name in ("fcfs", "satf")
    ]
    reach = opened.value("document.querySelector('#chart-fig-1').data[0].error_y.array")
    ends = [point["iops_ci95"][1] - point["iops"] for point in points if point["scheduler"] == "fcfs"]
    assert reach == pytest.approx(ends)


def test_the_verdicts_come_first_and_the_work_last(opened: chromium.Browser) -> None:
    headings = opened.value("[...document.querySelectorAll('h2')].map(found => found.textContent.trim())")
    assert headings[-3:] == ["What the paper says, and what was measured", "Figures", "How it was run"]
    shown = opened.value("[...document.querySelectorAll('.verdicts .verdict')].map(found => found.className)")
    assert shown == [
        "verdict holds",
        "verdict sign-only",
        "verdict fails",
        "verdict inconclusive",
        "verdict not-run",
    ]


def test_links_lead_to_files_beside_the_page(opened: chromium.Browser, folder: Path) -> None:
    links = opened.value("[...document.querySelectorAll('main a')].map(link => link.getAttribute('href'))")
    assert len(links) == 2 * 3 + 3
    assert all((folder / link).is_file() for link in links)


@chromium.in_windows(480, 1280)
def test_nothing_overflows_and_all_is_readable(opened: chromium.Browser, width: int, scheme: str) -> None:
    opened.window(width, 900, scheme)
    opened.until(
        "[...document.querySelectorAll('.plot')].every(plot =>"
        " plot._fullLayout.width <= plot.clientWidth + 1)"
    )
    assert opened.value("document.documentElement.scrollWidth") <= width
    ground = luminance(opened.value("getComputedStyle(document.body).backgroundColor"))
    colours = "[...document.querySelectorAll('.verdict')].map(one => getComputedStyle(one).color)"
    for colour in opened.value(colours):
        text = luminance(colour)
        # WCAG 2.2, contrast of text, level AA.
        assert (max(ground, text) + 0.05) / (min(ground, text) + 0.05) > 4.5


def test_it_prints(opened: chromium.Browser) -> None:
    assert opened.pdf().startswith(b"%PDF")
