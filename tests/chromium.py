"""A headless Chromium, driven by Playwright: one page, with the network off."""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import ConsoleMessage, Page, Playwright, ViewportSize, sync_playwright
from playwright.sync_api import Error as PlaywrightError

# Those of the system, in the order in which they are tried; after them Playwright's own.
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_OPTIONS = ("--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage")
_PATIENCE_S = 60


def in_windows(*widths: int) -> pytest.MarkDecorator:
    """Lets a test have a `width`, CSS pixels, and a `scheme`, light or dark.

    The normal tests take the narrowest one in the dark, where most goes wrong; the long ones every pair.
    """
    pairs = [
        pytest.param(
            width, scheme, marks=[] if (width, scheme) == (min(widths), "dark") else [pytest.mark.long]
        )
        for width in sorted(widths)
        for scheme in ("dark", "light")
    ]
    return pytest.mark.parametrize(("width", "scheme"), pairs)


class MissingError(Exception):
    """There is no Chromium that starts; the message says what was tried."""


class Browser:
    """One page of a running browser.

    page: Playwright's, for what is not here.
    complaints: errors and warnings of the console, and exceptions that nobody caught.
    requested: the addresses of what the page asked for.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requested: list[str] = []
        page.set_default_timeout(1_000 * _PATIENCE_S)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requested.append(request.url))

    def open(self, page: Path) -> None:
        """Opens a file and waits until it has been drawn."""
        self.requested.clear()
        self.page.goto(page.as_uri(), wait_until="load")

    def value(self, expression: str) -> Any:
        """What a JavaScript expression is, promises awaited."""
        return self.page.evaluate(f"async () => ({expression})")

    def until(self, condition: str) -> None:
        """Waits until an expression is true."""
        deadline = time.monotonic() + _PATIENCE_S
        while not self.value(condition):
            assert time.monotonic() < deadline, f"never: {condition}"
            self.page.wait_for_timeout(20)

    def window(self, width: int, height: int, scheme: str = "light") -> None:
        """The page's size in CSS pixels, and whether the system is light or dark."""
        self.page.set_viewport_size(ViewportSize(width=width, height=height))
        self.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")

    def wide(self) -> list[str]:
        """What is wider than the window, once the charts have followed it: the beginnings of elements.

        What scrolls by itself may be wider than the window.
        """
        fit = "plot => plot._fullLayout.width <= plot.clientWidth + 1"
        self.until(f"[...document.querySelectorAll('.plot')].every({fit})")
        found: list[str] = self.value(
            "[...document.querySelectorAll('main *')].filter(part => !part.closest('.scroll, .plot, pre'))"
            ".filter(part => part.getBoundingClientRect().right > innerWidth + 1)"
            ".map(part => part.outerHTML.slice(0, 99))"
        )
        page: int = self.value("document.documentElement.scrollWidth - innerWidth")
        return found + ([f"the page, by {page} pixels"] if page > 0 else [])

    def media(self, media: Literal["print", "screen"]) -> None:
        """Whether the page is shown as on paper."""
        self.page.emulate_media(media=media)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Presses the mouse, moves it in steps, and lets it go."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=5)
        self.page.mouse.up()

    def point(self, x: float, y: float) -> None:
        """Moves the mouse to a place."""
        self.page.mouse.move(x - 2, y)
        self.page.mouse.move(x, y)

    def click(self, x: float, y: float) -> None:
        """Clicks once."""
        self.page.mouse.click(x, y)

    def screenshot(self, path: Path) -> None:
        """Writes the whole page as PNG."""
        self.page.screenshot(path=path, full_page=True)

    def pdf(self) -> bytes:
        """The page as it is printed on A4."""
        return self.page.pdf(format="A4", prefer_css_page_size=True, print_background=True)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(json.dumps({"type": message.type, "text": message.text}))


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that ends with the block.

    Raises MissingError where none starts.
    """
    with sync_playwright() as playwright:
        running = _started(playwright)
        try:
            yield Browser(running.new_context(offline=True, device_scale_factor=1).new_page())
        finally:
            running.close()


def _started(playwright: Playwright) -> Chromium:
    tried = []
    for program in [*filter(None, map(shutil.which, _NAMES)), None]:
        try:
            return playwright.chromium.launch(executable_path=program, args=_OPTIONS)
        except PlaywrightError as error:
            tried.append(f"{program or 'of Playwright'}: {error.message.splitlines()[0]}")
    raise MissingError("no Chromium starts here: " + "; ".join(tried))
