"""Takes the pictures of a report that the tutorial shows, `docs/figures/report-*.png`.

python tools/screenshots.py

Needs a Chromium, and Pillow, which comes with matplotlib. The report is that of `examples/laptop.toml`.
"""

import json
import sys
import tempfile
from pathlib import Path

from PIL import Image

import diskwright
from diskwright import report

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import chromium  # noqa: E402  it is among the tests, which are no package

FOLDER = ROOT / "docs" / "figures"
WIDTH = 1100
# By the name of the picture, the heading of the part that it shows.
PARTS = {
    "report-parts": "Parts of the time",
    "report-load": "Load, queue and latency",
}
_PLACES = """
JSON.stringify(Object.fromEntries([...document.querySelectorAll('h2')].map((found, index, all) =>
    [found.textContent.trim(), [found.getBoundingClientRect().top + scrollY,
        index + 1 < all.length ? all[index + 1].getBoundingClientRect().top + scrollY : null]])))
"""


def main() -> None:
    result = diskwright.run(ROOT / "examples" / "laptop.toml", picture=True)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        report.write(result, page)
        with chromium.browser() as browser:
            browser.window(WIDTH, 900)
            browser.open(page)
            whole = Path(folder, "whole.png")
            browser.until(
                "[...document.querySelectorAll('[data-chart]')].every(e => e.querySelector('.main-svg'))"
            )
            browser.screenshot(whole)
            places = json.loads(browser.value(_PLACES))
            with Image.open(whole) as picture:
                for name, heading in PARTS.items():
                    top, bottom = places[heading]
                    part = picture.crop((0, round(top) - 12, WIDTH, round(bottom) - 24)).convert("RGB")
                    part.quantize(128).save(FOLDER / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
