"""Are the figures of the manual there, light, and still drawn by the engine?"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from conftest import ROOT

FOLDER = ROOT / "docs" / "figures"
SCRIPT = ROOT / "tools" / "figures.py"
DRAWN = sorted(path.stem for path in FOLDER.glob("*.svg"))
# These simulate for seconds.
LONG = {"intervals", "queue-forms", "schedulers", "sorted-set", "synchronous-writes", "warm-up"}
SVG = "{http://www.w3.org/2000/svg}"


def shown() -> set[str]:
    """The names of the pictures on the pages."""
    pages = ((page, page.read_text(encoding="utf-8")) for page in (ROOT / "docs").rglob("*.md"))
    targets = ((page.parent / target).resolve() for page, text in pages for target in images(text))
    return {str(target.relative_to(FOLDER)) for target in targets}


def images(text: str) -> list[str]:
    return re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)


def test_the_pages_show_every_picture_that_there_is() -> None:
    assert shown() == {path.name for path in FOLDER.iterdir()}


def test_every_picture_says_in_words_what_it_shows() -> None:
    for page in (ROOT / "docs").rglob("*.md"):
        assert "![](" not in page.read_text(encoding="utf-8"), page


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_no_picture_is_heavy(path: Path) -> None:
    assert path.stat().st_size < (200 if path.suffix == ".png" else 150) * 1024


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in LONG else name for name in DRAWN]
)
def test_a_figure_is_drawn(name: str, tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, name, "--to", tmp_path], check=True, timeout=300)
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.svg"]
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / f"{name}.svg", FOLDER / f"{name}.svg")]
    # Another matplotlib may place a letter elsewhere, but there are as many curves and axes.
    made, kept = (marks(text) for text in texts)
    assert made == kept
    assert made["axes"] >= 1
    for text in texts:
        assert "prefers-color-scheme" in text and "#010203" not in text


def marks(svg: str) -> dict[str, int]:
    """How many axes and lines a figure has."""
    root = ElementTree.fromstring(svg)
    names = [str(group.get("id", "")) for group in root.iter(f"{SVG}g")]
    return {
        kind: sum(re.fullmatch(rf"{kind}_\d+", name) is not None for name in names)
        for kind in ("axes", "line2d", "patch", "LineCollection")
    }


def test_the_script_knows_the_figures_that_there_are() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "no-such"], capture_output=True, text=True)
    assert done.returncode == 2
    assert set(re.findall(r"'([a-z-]+)'", done.stderr.partition("choose from")[2])) == set(DRAWN)
