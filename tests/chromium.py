"""A headless Chromium, driven through pipes by its DevTools protocol: no port, no library."""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PATIENCE_S = 60


def found() -> str | None:
    """The browser's path, where there is one."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One page of a running browser, with the network off.

    complaints: errors and warnings of the console.
    requested: the addresses of what the page asked for.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self._commands = commands
        self._answers = answers
        self._read = b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requested: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Does what a method of the protocol says, and returns its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result
            self._hear(answer)

    def open(self, page: Path) -> None:
        """Opens a file and waits until it has been drawn."""
        self.requested.clear()
        self.call("Page.navigate", url=page.as_uri())
        self.until("document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """What a JavaScript expression is, promises awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, condition: str) -> None:
        """Waits until an expression is true."""
        deadline = time.monotonic() + _PATIENCE_S
        while not self.value(condition):
            assert time.monotonic() < deadline, f"never: {condition}"
            time.sleep(0.02)

    def window(self, width: int, height: int, scheme: str = "light") -> None:
        """The page's size in CSS pixels, and whether the system is light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Presses the mouse, moves it in steps, and lets it go."""
        press = {"button": "left", "buttons": 1, "clickCount": 1}
        self._mouse("mouseMoved", start)
        self._mouse("mousePressed", start, **press)
        for step in range(1, 6):
            place = (start[0] + (end[0] - start[0]) * step / 5, start[1] + (end[1] - start[1]) * step / 5)
            self._mouse("mouseMoved", place, button="left", buttons=1)
        self._mouse("mouseReleased", end, **press)

    def point(self, x: float, y: float) -> None:
        """Moves the mouse to a place."""
        self._mouse("mouseMoved", (x - 2, y))
        self._mouse("mouseMoved", (x, y))

    def click(self, x: float, y: float) -> None:
        """Clicks once."""
        self._mouse("mouseMoved", (x, y))
        self._mouse("mousePressed", (x, y), button="left", buttons=1, clickCount=1)
        self._mouse("mouseReleased", (x, y), button="left", buttons=1, clickCount=1)

    def screenshot(self, path: Path) -> None:
        """Writes the whole page as PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed on A4."""
        printed = self.call(
            "Page.printToPDF",
            paperWidth=8.27,
            paperHeight=11.69,
            preferCSSPageSize=True,
            printBackground=True,
        )
        return base64.b64decode(printed["data"])

    def _mouse(self, kind: str, place: tuple[float, float], **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], **more)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._read:
            ready, _, _ = select.select([self._answers], [], [], _PATIENCE_S)
            assert ready, "the browser does not answer"
            more = os.read(self._answers, 1 << 20)
            assert more, "the browser has gone"
            self._read += more
        text, _, self._read = self._read.partition(b"\0")
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _hear(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled" if told["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(told["args"]))
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(told["exceptionDetails"]))
            case "Log.entryAdded" if told["entry"]["level"] in ("error", "warning"):
                self.complaints.append(told["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requested.append(told["request"]["url"])


@contextmanager
def browser(program: str, profile: Path) -> Iterator[Browser]:
    """A browser that keeps what it stores in a folder, and ends with the block."""
    commands_out, commands = os.pipe()
    answers, answers_in = os.pipe()

    def connect() -> None:
        # The browser reads from 3 and writes to 4; neither end may be overwritten by the other's move.
        reading, writing = os.dup(commands_out), os.dup(answers_in)
        os.dup2(reading, 3)
        os.dup2(writing, 4)

    options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-dev-shm-usage",
    ]
    process = subprocess.Popen(
        [program, *options, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=connect,
        close_fds=False,
    )
    os.close(commands_out)
    os.close(answers_in)
    try:
        yield Browser(commands, answers)
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(commands)
        os.close(answers)
