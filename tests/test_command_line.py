"""Does the command answer, and does it say what is wrong with how it was called?"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import diskwright
from conftest import Command, refused

VERBS = ("run", "inspect", "convert", "probe", "drives", "formats")


def test_version_names_build_and_commit(command: Command) -> None:
    done = command("--version")
    assert done.returncode == 0
    assert re.fullmatch(r"diskwright \d+\.\d+\.\d+ \(([0-9a-f]{10}|unknown)\)\n", done.stdout)
    assert diskwright.__version__ in done.stdout


def test_help_names_every_verb_and_fits_a_terminal(command: Command) -> None:
    done = command("--help")
    assert done.returncode == 0
    for verb in VERBS:
        assert verb in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(command: Command, verb: str) -> None:
    done = command(verb, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout


def test_a_misspelt_verb_is_wrong_input_with_a_suggestion(command: Command) -> None:
    refused(command("rnu", "spec.toml"), "rnu", "Did you mean 'run'")


def test_a_misspelt_option_is_wrong_input_with_a_suggestion(command: Command) -> None:
    refused(command("run", "spec.toml", "--jsn", "-"), "--jsn", "--json")


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "diskwright", "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("diskwright ")


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("rich", "typer", "matplotlib", "polars", "numpy", "pandas", "pyarrow", "dask", "diskwright.spec")
    code = f"import diskwright, sys; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_help_loads_no_library_for_plots_or_frames() -> None:
    heavy = ("matplotlib", "polars", "numpy", "pandas", "pyarrow", "dask", "diskwright.spec")
    code = (
        "import sys; from diskwright.cli import app; sys.argv = ['diskwright', '--help']\n"
        "try: app()\n"
        f"except SystemExit: print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_json_to_standard_output_needs_no_table_library(tmp_path: Path) -> None:
    # The command's memory is part of what it reports: what only draws tables stays out.
    code = (
        "import sys; from diskwright.cli import app; sys.argv = ['diskwright', 'drives', '--json', '-']\n"
        "try: app()\nexcept SystemExit: print('rich.table' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr == "False\n"


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    shell = f"'{sys.executable}' -m diskwright drives --json - | head -c 1 >/dev/null"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd=tmp_path)
    assert "Traceback" not in done.stderr
