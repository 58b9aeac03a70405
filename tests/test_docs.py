"""Does what the documentation shows work as shown?

Each page is a session in a copy of the repository's data: its `sh` and `python` blocks run in order. A
`text` block straight after one is what it prints, compared without wall-clock figures; a line `…` stands
for any lines. A comment `<!-- skip: reason -->` before a block leaves it out; one `<!-- needs: NAME -->`
leaves the page out where neither a program nor a package of that name is installed, or no host of that
name answers; `<!-- long -->` puts it among the tests that take minutes.

    DISKWRIGHT_UPDATE_DOCS=1 .venv/bin/python -m pytest tests/test_docs.py

writes what is printed now into the pages.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import ROOT, environment

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"(?P<skip><!-- skip: [^\n]* -->\n+)?^```(?P<kind>sh|python)\n(?P<code>.*?)^```$"
    r"(?:\n+```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
NEEDS = re.compile(r"^<!-- needs: (\S+) -->$", re.MULTILINE)
LONG = "<!-- long -->"
# Targets are looked up, not made: most of them run these tests.
PRELUDE = f"""\
set -euo pipefail
make() {{ command make --directory={ROOT} --dry-run "$@" >/dev/null; }}
"""
WALL_CLOCK = (
    (re.compile(r"in [\d.,]+ s \([\d,]+ requests/s\)"), "in … s (… requests/s)"),
    (re.compile(r'"(wall_s|requests_per_wall_s|peak_rss_mib)": [\d.e+-]+'), r'"\1": …'),
    (re.compile(r"^(diskwright \d+\.\d+\.\d+) \(\w+\)$", re.MULTILINE), r"\1 (…)"),
)


@dataclass
class Block:
    kind: str
    code: str
    output: str | None
    # Where the output stands in the page.
    start: int
    end: int


def blocks(text: str) -> list[Block]:
    """The blocks of a page that are run."""
    found = (match for match in BLOCK.finditer(text) if not match["skip"])
    return [Block(match["kind"], match["code"], match["output"], *match.span("output")) for match in found]


def steady(text: str) -> str:
    """An output without what differs from run to run."""
    for pattern, replacement in WALL_CLOCK:
        text = pattern.sub(replacement, text)
    return text.strip()


def as_shown(shown: str, printed: str) -> bool:
    """Whether an output is what a page shows."""
    lines = (r"(?:.*\n)*?" if line == "…" else re.escape(line) + r"\n" for line in steady(shown).splitlines())
    return re.fullmatch("".join(lines), steady(printed) + "\n") is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what the pages' commands name."""
    for name in ("examples", "drives"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    return tmp_path


def needs(name: str, path: str) -> None:
    """Skips a test without a program, a package, or a host."""
    if "." in name:
        try:
            socket.create_connection((name, 80), timeout=10).close()
        except OSError as error:
            pytest.skip(f"{name} does not answer: {error}")
    elif shutil.which(name, path=path) is None:
        pytest.importorskip(name, reason=f"not installed: {name}")


def page_parameter(page: Path) -> pytest.ParameterSet:
    is_long = LONG in page.read_text(encoding="utf-8")
    return pytest.param(page, marks=[pytest.mark.long] if is_long else [], id=str(page.relative_to(ROOT)))


@pytest.mark.parametrize("page", [page_parameter(page) for page in PAGES])
def test_the_page_shows_what_happens(page: Path, folder: Path) -> None:
    text = page.read_text(encoding="utf-8")
    # Programs of an administrator are not everyone's to find.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}:/usr/sbin:/sbin"
    for name in NEEDS.findall(text):
        needs(name, path)
    session = environment() | {"PATH": path}
    updates: list[tuple[Block, str]] = []
    for block in blocks(text):
        command = (
            ["bash", "-c", PRELUDE + block.code] if block.kind == "sh" else [sys.executable, "-c", block.code]
        )
        done = subprocess.run(
            command,
            cwd=folder,
            env=session,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=3000 if LONG in text else 300,
        )
        assert done.returncode == 0, f"{block.code}\n{done.stdout}{done.stderr}"
        if block.output is None or as_shown(block.output, done.stdout):
            continue
        if "DISKWRIGHT_UPDATE_DOCS" in os.environ and "\n…\n" not in f"\n{block.output}":
            updates.append((block, done.stdout.strip() + "\n"))
        else:
            assert steady(done.stdout) == steady(block.output), f"{page} shows something else: {__doc__}"
    for block, output in reversed(updates):
        text = text[: block.start] + output + text[block.end :]
    if updates:
        page.write_text(text, encoding="utf-8")


def test_every_verb_has_a_page_that_shows_it() -> None:
    verbs = re.findall(r"^  ([a-z-]+)  ", helped(), re.MULTILINE)
    assert verbs
    for verb in verbs:
        page = ROOT / "docs" / "cli" / f"{verb}.md"
        assert f"diskwright {verb} " in page.read_text(encoding="utf-8"), page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_the_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_contents_of_the_manual() -> None:
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        assert f" {page.relative_to(ROOT / 'docs')}\n" in contents, f"mkdocs.yml lacks {page}"


def test_a_shown_output_may_leave_lines_out() -> None:
    assert as_shown("a\n…\nd", "a\nb\nc\nd\n")
    assert as_shown("…\nin 1.5 s (10 requests/s)", "x\nin 2.5 s (20 requests/s)\n")
    assert not as_shown("a\n…\nd", "a\nb\nc\n")


def helped() -> str:
    """The command's help, from its list of verbs on."""
    command = Path(sys.executable).parent / "diskwright"
    done = subprocess.run([command, "--help"], capture_output=True, text=True, check=True, env=environment())
    return done.stdout.partition("Commands")[2]
