"""What is left where a write, a sync, a rename or an allocation fails, or the process is killed?

Each call of a command by which it writes fails once (tests/failing_calls.c, preloaded). Whatever is there
afterwards is whole or absent, and what is said names the file.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars
import pytest

from conftest import COMMAND, SPEC, environment, names

pytestmark = pytest.mark.long

TOY = Path(__file__).with_name("toy_system.py")
ERRNO = {"open": 28, "write": 28, "sync": 5, "rename": 5, "truncate": 28, "allocate": 12}
# Of calls that are more, as many are tried, spread over all of them.
MOST_TRIES = 12


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that lets calls fail."""
    path = tmp_path_factory.mktemp("failing") / "failing_calls.so"
    source = Path(__file__).with_name("failing_calls.c")
    line = [
        "cc",
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        str(path),
        str(source),
        "-ldl",
    ]
    try:
        subprocess.run(line, check=True)
    except FileNotFoundError:
        pytest.skip("there is no C compiler, cc, to build tests/failing_calls.c with")
    return path


def whole_json(path: Path) -> None:
    json.loads(path.read_text())


def whole_page(path: Path) -> None:
    assert path.read_text().rstrip().endswith("</html>")


def whole_parquet(path: Path) -> None:
    assert polars.read_parquet(path).height > 0


def whole_picture(path: Path) -> None:
    assert path.read_text().rstrip().endswith("</svg>")


def whole_trace(path: Path) -> None:
    # Rows of four numbers and a letter, the last one too.
    text = path.read_text()
    assert text.endswith("\n") and text.count("\n") == 2_000
    assert all(line.count(",") == 4 for line in text.splitlines())


@dataclass(frozen=True)
class Case:
    """A command, and how to tell of each of its outputs that it is whole."""

    arguments: tuple[str, ...]
    outputs: dict[str, Callable[[Path], None]]
    # Folders in which a command keeps what it goes on with.
    stores: tuple[str, ...] = field(default=())


CASES = {
    "run": Case(
        ("run", "spec.toml", "--requests", "a.parquet", "--json", "a.json", "--report", "a.html"),
        {"a.parquet": whole_parquet, "a.json": whole_json, "a.html": whole_page},
    ),
    "convert": Case(("convert", "in.parquet", "a.spc", "--to", "spc"), {"a.spc": whole_trace}),
    "compare": Case(
        (
            "compare",
            "spec.toml",
            "--vary",
            "device.hdd.queue.depth=1,4",
            "--json",
            "a.json",
            "--report",
            "a.html",
        ),
        {"a.json": whole_json, "a.html": whole_page},
    ),
    "sweep": Case(
        ("sweep", "sweep.toml", "--store", "store", "--json", "a.json"), {"a.json": whole_json}, ("store",)
    ),
    "inspect": Case(
        ("inspect", "in.parquet", "--json", "a.json", "--profile", "a.toml"),
        {"a.json": whole_json, "a.toml": lambda path: None},
    ),
    "reproduce": Case(
        ("reproduce", "toy.py", "--store", "store", "--out", "out", "--json", "a.json"),
        {
            "a.json": whole_json,
            "out/index.html": whole_page,
            "out/points.parquet": whole_parquet,
            "out/points.csv": lambda path: None,
            "out/fig-1.svg": whole_picture,
        },
        ("store", "out"),
    ),
}
# What JSON tells of the try: what was there already, how long it took, how much memory.
OF_THE_TRY = {"ran", "reused", "wall_s", "requests_per_wall_s", "peak_rss_mib"}


def surroundings() -> dict[str, str]:
    """The environment of a command. What Python keeps of a module beside it is no output."""
    return {**environment(), "PYTHONDONTWRITEBYTECODE": "1"}


def prepared(folder: Path) -> None:
    """The inputs of all cases."""
    (folder / "spec.toml").write_text(SPEC)
    (folder / "sweep.toml").write_text(SPEC + "[sweep]\nseeds = 3\n")
    shutil.copy(TOY, folder / "toy.py")
    subprocess.run(
        [COMMAND, "run", "spec.toml", "--requests", "in.parquet"],
        cwd=folder,
        env=surroundings(),
        check=True,
        capture_output=True,
    )


INPUTS = ["in.parquet", "spec.toml", "sweep.toml", "toy.py"]


def run(folder: Path, case: Case, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *case.arguments],
        cwd=folder,
        env={**surroundings(), **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )


def tried(count: int) -> list[int]:
    """Which of so many calls fail: all, or as many as are tried, the first and the last among them."""
    if count <= MOST_TRIES:
        return list(range(1, count + 1))
    return sorted({round(1 + at * (count - 1) / (MOST_TRIES - 1)) for at in range(MOST_TRIES)})


def check_outputs(folder: Path, case: Case, *, may_leave: bool) -> None:
    """Every output is whole or absent, and nothing else was left."""
    for name, check in case.outputs.items():
        if (folder / name).exists():
            check(folder / name)
    others = [name for name in names(folder) if name not in {*INPUTS, *case.outputs, *case.stores, "counts"}]
    assert may_leave or others == []


def written(folder: Path, case: Case) -> dict[str, Any]:
    """What is in every output, but for pages, which tell how long it took."""

    def lasting(told: Any) -> Any:
        if isinstance(told, dict):
            return {key: lasting(value) for key, value in told.items() if key not in OF_THE_TRY}
        return [lasting(one) for one in told] if isinstance(told, list) else told

    def content(path: Path) -> Any:
        return lasting(json.loads(path.read_text())) if path.suffix == ".json" else path.read_bytes()

    return {name: content(folder / name) for name in case.outputs if not name.endswith(".html")}


def clear(folder: Path, case: Case) -> None:
    for path in folder.iterdir():
        if path.name in INPUTS:
            continue
        if path.is_dir():
            for inside in path.rglob("*"):
                if inside.is_file():
                    inside.unlink()
        else:
            path.unlink()


@pytest.mark.parametrize("name", CASES)
def test_each_call_that_fails_leaves_what_is_whole(tmp_path: Path, library: Path, name: str) -> None:
    case = CASES[name]
    prepared(tmp_path)
    counts = tmp_path / "counts"
    done = run(tmp_path, case, LD_PRELOAD=str(library), FAILING_CALL_COUNTS=str(counts))
    assert done.returncode == 0, done.stderr
    undisturbed = written(tmp_path, case)
    made: dict[str, int] = {}
    for line in counts.read_text().splitlines():
        call, count = line.split()
        made[call] = max(made.get(call, 0), int(count))
    failed: dict[str, int] = {}
    for call, errno in ERRNO.items():
        for number in tried(made[call]):
            clear(tmp_path, case)
            done = run(tmp_path, case, LD_PRELOAD=str(library), FAILING_CALL=f"{call} {number} {errno}")
            what = f"{call} {number}: {done.returncode}, {done.stderr}"
            if done.returncode == 0:
                # It was none that matters.
                assert written(tmp_path, case) == undisturbed, what
            elif call != "allocate":
                failed[call] = failed.get(call, 0) + 1
                assert "Traceback" not in done.stderr and "panicked" not in done.stderr, what
                assert done.stderr.splitlines()[-1].startswith("error: cannot write "), what
            try:
                # An allocation that fails may end the process at once.
                check_outputs(tmp_path, case, may_leave=call == "allocate" and done.returncode < 0)
            except Exception as error:
                raise AssertionError(what) from error
            if case.stores:
                again = run(tmp_path, case)
                assert again.returncode == 0, f"{what}\n{again.stderr}"
                assert written(tmp_path, case) == undisturbed, what
    print(name, made, "failed:", failed)
    # The engine renames by a system call of its own, which no library sees.
    assert all(failed.get(call, 0) > 0 for call in ("open", "write", "sync"))


@pytest.mark.parametrize("name", CASES)
def test_a_kill_at_any_instant_leaves_what_is_whole(tmp_path: Path, name: str) -> None:
    case = CASES[name]
    prepared(tmp_path)
    began = time.monotonic()
    assert run(tmp_path, case).returncode == 0
    takes = time.monotonic() - began
    undisturbed = written(tmp_path, case)
    clear(tmp_path, case)
    chance = random.Random(name)
    killed = 0
    for _ in range(25):
        if not case.stores:
            clear(tmp_path, case)
        process = subprocess.Popen(
            [COMMAND, *case.arguments],
            cwd=tmp_path,
            env=surroundings(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            process.wait(chance.uniform(0.2, 1.0) * takes)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
        check_outputs(tmp_path, case, may_leave=True)
    assert killed > 3
    assert run(tmp_path, case).returncode == 0
    check_outputs(tmp_path, case, may_leave=True)
    assert written(tmp_path, case) == undisturbed
