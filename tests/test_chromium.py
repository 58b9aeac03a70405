"""Does the browser of the tests notice what a page complains of, asks for, and is told?"""

from pathlib import Path

import chromium

PAGE = """<!doctype html>
<button id="one" style="position: absolute; left: 10px; top: 10px; width: 50px; height: 20px">1</button>
<script>
  document.querySelector("#one").addEventListener("click", () => { globalThis.clicked = true; });
  console.warn("be warned");
  fetch("https://example.invalid/data").catch(() => { globalThis.offline = true; });
  throw new Error("not caught");
</script>
"""


def test_complaints_and_requests_are_noticed(browser: chromium.Browser, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE)
    browser.window(640, 480, "dark")
    browser.open(tmp_path / "page.html")
    browser.until("globalThis.offline")
    assert browser.requested == [(tmp_path / "page.html").as_uri(), "https://example.invalid/data"]
    for words in ("be warned", "not caught"):
        assert any(words in complaint for complaint in browser.complaints), browser.complaints
    browser.click(20, 20)
    browser.until("globalThis.clicked")
    assert browser.value("[innerWidth, innerHeight]") == [640, 480]
    assert browser.value("matchMedia('(prefers-color-scheme: dark)').matches")
    browser.media("print")
    assert browser.value("matchMedia('print').matches")
    assert browser.pdf().startswith(b"%PDF")
