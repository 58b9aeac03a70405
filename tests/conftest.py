"""What the tests share: the command as a user runs it, and small inputs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

import pytest

import chromium
from starts import Starter

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(sys.executable).parent / "diskwright"

SPEC = """\
seed = 1
[workload.synthetic]
requests = 2_000
arrivals = { poisson = "20 ms" }
reads = 0.67
size = "8 blocks"
address = "uniform"
[measure]
warmup = "10 %"
[device.hdd]
drive = "ibm-18es"
"""

# A hundred thousand times more than a test waits for.
ENDLESS = SPEC.replace("2_000", "10_000_000_000")

Command = Callable[..., subprocess.CompletedProcess[str]]
Look = Callable[[Path], chromium.Browser]


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    """What forks for each command."""
    with Starter() as forking:
        yield forking


@pytest.fixture
def command(starter: Starter, tmp_path: Path) -> Command:
    """Runs `diskwright` with arguments in an empty folder."""

    def run(*arguments: str | Path, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        return starter.run([COMMAND, *arguments], cwd=cwd, env=environment(), timeout=120)

    return run


def reference_places() -> list[Path]:
    """Where the reference data may be: recordings of drives, results of other simulators."""
    if named := os.environ.get("DISKWRIGHT_REFERENCE"):
        return [Path(named)]
    return [place for place in (ROOT / "reference", *ROOT.parent.glob("*/reference")) if place.is_dir()]


def no_reference(missing: str) -> NoReturn:
    """Skips a test whose data is missing, or fails it under DISKWRIGHT_REQUIRE_REFERENCE=1."""
    reason = f"the reference data is missing: {missing} (name its folder in DISKWRIGHT_REFERENCE)"
    if os.environ.get("DISKWRIGHT_REQUIRE_REFERENCE") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def reference(name: str) -> Path:
    """A file of the reference data."""
    for place in reference_places():
        if (place / name).is_file():
            return place / name
    no_reference(name)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A small spec in the command's folder."""
    path = tmp_path / "spec.toml"
    path.write_text(SPEC)
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace of four requests, in DiskSim's ASCII format: ms, device, LBN, blocks, flags (1 is a read)."""
    path = tmp_path / "small.trace"
    path.write_text("0.0 0 0 8 1\n10.0 0 8 8 1\n20.0 0 1000 16 0\n30.0 0 16 8 1\n")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[chromium.Browser]:
    """A headless browser, one for the tests of a file."""
    with ExitStack() as stack:
        try:
            page = stack.enter_context(chromium.browser())
        except chromium.MissingError as missing:
            pytest.skip(str(missing))
        yield page


@pytest.fixture
def look(browser: chromium.Browser) -> Iterator[Look]:
    """Opens a page in a window of the usual size; its console may have nothing to complain of."""

    def opened(page: Path) -> chromium.Browser:
        browser.window(1280, 900)
        browser.open(page)
        return browser

    yield opened
    assert browser.complaints == []


def environment() -> dict[str, str]:
    """The environment without what changes how the output looks."""
    styling = {"COLUMNS", "FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS", "TERMINAL_WIDTH"}
    return {name: value for name, value in os.environ.items() if name not in styling}


def others_long(all_of: Iterable[str], *quick: str) -> list[pytest.ParameterSet]:
    """Parameters of a test: all but those that are named are left to the long tests."""
    return [pytest.param(one, marks=[] if one in quick else [pytest.mark.long]) for one in all_of]


def names(folder: Path) -> list[str]:
    """The names of all files in a folder."""
    return sorted(path.name for path in folder.iterdir())


def parsed(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON object that is all of standard output."""
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """The command said what is wrong with its input, to people."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr, done.stderr
