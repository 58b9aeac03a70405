"""Does a build that a profile guides run its steps in order, and say what it lacks?"""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, environment

SCRIPT = ROOT / "tools" / "profile-guided"
HOST = "x86_64-unknown-linux-gnu"
GOLDEN = ROOT / "crates" / "diskwright" / "tests" / "golden"


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def rust(tmp_path: Path) -> Path:
    """A folder with a compiler that knows where it is, and nothing else."""
    sysroot = tmp_path / "rust"
    program(
        sysroot / "bin" / "rustc",
        f'case $1 in --print) echo "{sysroot}" ;; *) echo "host: {HOST}" ;; esac',
    )
    return sysroot


def guided(rust: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    variables = environment()
    variables |= {"PATH": f"{rust / 'bin'}:{variables['PATH']}", "RUSTFLAGS": "-Cdebuginfo=0"}
    return subprocess.run(
        ["bash", SCRIPT, *arguments],
        cwd=rust.parent,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_its_merger_nothing_is_built(rust: Path) -> None:
    done = guided(rust, "touch built", "touch", "built")
    assert done.returncode == 1
    assert "rustup component add llvm-tools" in done.stderr
    assert not (rust.parent / "built").exists()


def test_a_build_is_guided_by_what_training_recorded(rust: Path) -> None:
    merger = rust / "lib" / "rustlib" / HOST / "bin" / "llvm-profdata"
    program(merger, 'cat "${@: -1}"/*.profraw >"${2#--output=}"')
    profile = rust.parent / "target" / "profile"
    # What an earlier build left behind is no part of this one.
    profile.mkdir(parents=True)
    (profile / "old.profraw").write_text("old\n", encoding="utf-8")
    training = 'echo "$RUSTFLAGS" >flags; echo ran >"${RUSTFLAGS##*=}/new.profraw"'
    done = guided(rust, training, "bash", "-c", 'echo "$RUSTFLAGS" >>flags; cat "${RUSTFLAGS##*=}" >built')
    assert done.returncode == 0, done.stderr
    flags = (rust.parent / "flags").read_text(encoding="utf-8").splitlines()
    assert flags == [
        f"-Cdebuginfo=0 -Cprofile-generate={profile}",
        f"-Cdebuginfo=0 -Cprofile-use={profile}/merged.profdata",
    ]
    assert (rust.parent / "built").read_text(encoding="utf-8") == "ran\n"


def test_nothing_is_built_after_a_training_that_fails(rust: Path) -> None:
    program(rust / "lib" / "rustlib" / HOST / "bin" / "llvm-profdata", "touch merged")
    done = guided(rust, "false; true", "touch", "built")
    assert done.returncode == 1
    assert not (rust.parent / "merged").exists()
    assert not (rust.parent / "built").exists()


def test_the_specs_of_the_training_run() -> None:
    """One with a synthetic load, of which it makes many requests, and one with a trace."""
    specs = [GOLDEN / "simple" / "parallel.toml", GOLDEN / "traces" / "csv.toml"]
    training = [sys.executable, str(ROOT / "tools" / "training.py"), *map(str, specs)]
    done = subprocess.run(training, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("target", ["setup", "bench"])
def test_make_trains_with_specs_that_there_are(target: str) -> None:
    make = ["make", "--dry-run", "--always-make", target, "PGO=1"]
    done = subprocess.run(make, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if "tools/profile-guided" in line]
    assert len(lines) == 1
    specs = [word.strip("'") for word in lines[0].split() if word.strip("'").endswith(".toml")]
    assert len(specs) > 200
    assert all((ROOT / spec).is_file() for spec in specs)
    # Without PGO=1 nothing is trained.
    plain = subprocess.run(make[:-1], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    assert "profile-guided" not in plain.stdout
