"""Do the package and the command's help start without what they do not need?"""

import re
import subprocess
import sys

import pytest

from conftest import COMMAND
from diskwright.cli import verbs

# What draws, what makes tables, what speaks to a cluster.
HEAVY = {"matplotlib", "plotly", "polars", "pandas", "pyarrow", "jinja2", "dask", "distributed", "numpy"}


def imported(*arguments: str) -> set[str]:
    """The modules that Python says it imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True
    )
    return set(re.findall(r"^import time: .*\| +(\S+)$", done.stderr, re.MULTILINE))


def top(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_importing_the_package_imports_nothing_heavy() -> None:
    modules = imported("-W", "ignore", "-c", "import diskwright")
    assert "diskwright._engine" in modules
    assert not top(modules) & (HEAVY | {"rich", "typer"})
    assert not modules & {"diskwright.spec", "diskwright.report", "diskwright.cli"}


@pytest.mark.parametrize(
    "arguments",
    [("--help",), *((verb, "--help") for verb in ("run", "compare", "sweep", "reproduce")), ("--version",)],
)
def test_help_imports_nothing_heavy(arguments: tuple[str, ...]) -> None:
    modules = imported("-W", "ignore", str(COMMAND), *arguments)
    assert "diskwright.cli" in modules
    # Help is plain: what formats it in colours would take longer than all the rest.
    assert not top(modules) & (HEAVY | {"rich"})


@pytest.mark.parametrize(
    ("arguments", "expected"), [(["--help"], set()), (["convert", "--help"], {"diskwright.cli.convert"})]
)
def test_a_verb_is_imported_when_it_is_asked_for(arguments: list[str], expected: set[str]) -> None:
    code = (
        "import sys; from diskwright.cli import app; sys.argv[0] = 'diskwright'\n"
        "try: app()\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    files = {f"diskwright.cli.{name.replace('-', '_')}" for name in verbs.Commands()}
    assert set(done.stderr.split()) & files == expected


def test_the_list_of_verbs_has_the_first_paragraphs_of_their_help() -> None:
    commands = verbs.Commands()
    helps = [(name, command.help.partition("\n\n")[0]) for name, command in commands.items()]
    assert [(name, " ".join(text.split())) for name, text in helps] == verbs.summaries()
    assert [command.name for command in commands.values()] == list(commands)


def test_what_is_imported_is_seen() -> None:
    assert "matplotlib" in top(imported("-c", "import matplotlib"))
