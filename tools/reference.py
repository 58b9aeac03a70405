"""Writes the pages of `docs/reference/` from the engine's own schemas and its list of trace formats.

python tools/reference.py            writes them
python tools/reference.py --check    fails where they are not what would be written

Every key and every named choice of a spec and of a drive's file is on one page: that of the longest path
below under which it is met first. What the engine learns lands there without a change here.
"""

import json
import sys
from pathlib import Path

import diskwright
from diskwright import _engine
from reference_formats import formats_page
from reference_schema import Document, Page

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"

SPEC_PAGES = {
    "": Page(
        "spec.md",
        "Specs",
        "The top of a spec, the host, what is measured, and faults. "
        "[Specs](../spec.md) explains how they are written.",
    ),
    "workload": Page(
        "workload.md",
        "Workloads",
        "Where requests come from, and what becomes of the records of a trace. "
        "[Trace formats](../formats/README.md) explains how records become requests.",
    ),
    "workload.processes": Page(
        "processes.md",
        "Processes",
        "Generators that make requests on simulated processors, and their distributions. "
        "[Processes](../processes.md) explains them.",
    ),
    "workload.synthetic": Page(
        "synthetic.md",
        "Synthetic load",
        "How many requests, when they arrive, what they ask and how large they are. "
        "[Synthetic load](../synthetic.md) explains them, with formulas.",
    ),
    "workload.synthetic.address": Page(
        "addresses.md",
        "Address patterns",
        "Where synthetic requests go. "
        "[Synthetic load](../synthetic.md#addresses) explains places and ranges.",
    ),
    "host.scheduler": Page(
        "schedulers.md",
        "Schedulers",
        "Which of the waiting requests is next. [Schedulers](../schedulers.md) says what to expect of them, "
        "and what each promises to a request that waits.",
    ),
    "device.hdd.cache.policy": Page(
        "replacement.md",
        "Replacement policies",
        "The rules by which caches choose, with their parameters. [Their page](../model/replacement.md) "
        "compares them and says what each is bad at.",
    ),
    "device": Page("devices.md", "Devices", "What takes the requests, and the parts that it is made of."),
}
DRIVE_PAGES = {
    "": Page(
        "drive.md",
        "Drives",
        "The keys of a drive's file. [Drives](../drives.md) shows a whole one, and "
        "[a media access](../model/access.md) what its times are for.",
    ),
    "seek": Page(
        "seek-curves.md",
        "Seek curves",
        "The forms in which a drive's file gives its seek curve. [Seek](../model/seek.md) draws them.",
    ),
    "layout": Page(
        "layout.md",
        "Layouts",
        "Surfaces, cylinders, zones, spare sectors and defects. "
        "[Geometry](../model/geometry.md) explains them.",
    ),
}
CONTENTS = """\
# Reference

Every key and every name that may stand in a spec or in a drive's file, with what it takes, what holds
where it is left out, and what it means. The engine's own [JSON schema](../cli/schema.md) has the same for
editors and programs.

| page | about |
|---|---|
"""
VALUES = Page(
    "values.md",
    "Values",
    "Times, sizes, shares and other values with units or limits. Those with units are texts: a number, "
    "perhaps a space, and the unit. Numbers are those of TOML, where `1_000_000` is a million.",
)


def pages() -> dict[str, str]:
    """The text of every page by its file name."""
    spec = Document(diskwright.spec_schema(), SPEC_PAGES)
    schedulers = SPEC_PAGES["host.scheduler"]
    known = [(name, section) for name, section in spec.sections.items() if section.page is schedulers]
    # That of whole descriptions: a file that is like another has keys of these.
    drive = Document(json.loads(_engine.schema("drive")), DRIVE_PAGES, known)
    made = spec.pages() | drive.pages()
    values = spec.values | drive.values
    made[VALUES.file] = "\n\n".join(
        [f"# {VALUES.title}", VALUES.intro, *map(values.__getitem__, sorted(values))]
    )
    made["formats.md"] = formats_page(diskwright.formats())
    titles = {file: text.partition("\n")[0].removeprefix("# ") for file, text in made.items()}
    intros = {file: text.split("\n\n")[1].partition(". ")[0].rstrip(".") for file, text in made.items()}
    rows = (f"| [{titles[file]}]({file}) | {intros[file][0].lower()}{intros[file][1:]} |" for file in made)
    made["README.md"] = CONTENTS + "\n".join(rows)
    return {file: text.rstrip() + "\n" for file, text in made.items()}


def main() -> None:
    made = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    if "--check" in sys.argv[1:]:
        wrong = sorted(name for name in made.keys() | there.keys() if made.get(name) != there.get(name))
        if wrong:
            files = ", ".join(str(FOLDER / name) for name in wrong)
            sys.exit(f"{files}: not what the engine's schemas make: run python tools/reference.py")
        return
    FOLDER.mkdir(exist_ok=True)
    for name in there.keys() - made.keys():
        (FOLDER / name).unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
