"""Are the pages of the reference what the engine knows?"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import ROOT

FOLDER = ROOT / "docs" / "reference"
PAGES = sorted(FOLDER.glob("*.md"))
SCHEMAS = {which: json.loads(diskwright._engine.schema(which)) for which in ("spec", "drive")}
WRITER = ROOT / "tools" / "reference.py"


def cells() -> set[str]:
    """What is in code in the first or second cell of a row: keys, names, and other names."""
    rows = (line.split(" | ")[:2] for page in PAGES for line in page.read_text("utf-8").splitlines())
    return {name for row in rows for cell in row for name in re.findall(r"`([^`]+)`", cell)}


def names(schema: Any) -> Iterator[str]:
    """All keys and names of choices."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        if isinstance(schema.get("const"), str):
            yield schema["const"]
        for inner in schema.values():
            yield from names(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from names(inner)


def test_the_pages_are_what_the_schemas_make() -> None:
    done = subprocess.run([sys.executable, WRITER, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("which", SCHEMAS)
def test_every_key_and_name_is_there(which: str) -> None:
    shown = " ".join(cells())
    found = set(names(SCHEMAS[which]))
    assert len(found) > 40
    lacking = {name for name in found if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", shown)}
    assert not lacking


def test_every_description_is_there() -> None:
    pages = plain(" ".join(page.read_text("utf-8") for page in PAGES))
    seen = 0
    for schema in SCHEMAS.values():
        for definition in schema["definitions"].values():
            # The first sentence may be that of the key that takes it.
            assert plain(definition["description"]).partition(". ")[2] in pages
            for part in (*definition.get("oneOf", []), *definition.get("properties", {}).values()):
                if text := plain(part.get("description", "")):
                    assert text in pages
                    seen += 1
        for part in schema.get("properties", {}).values():
            assert plain(part["description"]) in pages
    assert seen > 150


def plain(text: str) -> str:
    """Words without their setting."""
    return " ".join(re.sub(r"[*\\]|^- ", "", text, flags=re.MULTILINE).split())


def test_every_format_has_its_row() -> None:
    page = (FOLDER / "formats.md").read_text("utf-8")
    for format in diskwright.formats():
        assert f"| [`{format.name}`](../formats/{format.name}.md) | " in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_are_there_and_differ(page: Path) -> None:
    # Of headings that are alike, the later ones are numbered.
    anchors = Counter(named(page) + list(set(headed(page))))
    assert max(anchors.values(), default=1) == 1
    for file, anchor in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", page.read_text("utf-8")):
        target = (page.parent / file).resolve() if file else page
        assert anchor in named(target) + headed(target), f"{file}#{anchor}"


def named(page: Path) -> list[str]:
    """The anchors that a page names."""
    return re.findall(r'<a id="([^"]+)"></a>', page.read_text("utf-8"))


def headed(page: Path) -> list[str]:
    """The anchors that a page's headings have by themselves."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    bare = (re.sub(r"<[^>]*>|[^\w\s-]", "", title).strip().lower() for title in titles)
    return [re.sub(r"\s+", "-", title) for title in bare]


def test_what_is_not_what_the_schemas_make_is_named(tmp_path: Path) -> None:
    for folder in ("tools", "docs"):
        (tmp_path / folder).mkdir()
    for source in WRITER.parent.glob("reference*.py"):
        (tmp_path / "tools" / source.name).write_bytes(source.read_bytes())
    command = [sys.executable, str(tmp_path / "tools" / WRITER.name)]
    assert "spec.md" in subprocess.run([*command, "--check"], capture_output=True, text=True).stderr
    subprocess.run(command, check=True)
    subprocess.run([*command, "--check"], check=True)
    made = tmp_path / "docs" / "reference"
    assert {page.name: page.read_bytes() for page in made.iterdir()} == {
        p.name: p.read_bytes() for p in PAGES
    }
    (made / "of-old.md").touch()
    assert "of-old.md" in subprocess.run([*command, "--check"], capture_output=True, text=True).stderr
