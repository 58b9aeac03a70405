"""Says how close each SSD comes to what its maker prints: the table of SSDs of `docs/held-to.md`.

python tools/held_to_ssd.py              runs all of it and writes the table
python tools/held_to_ssd.py NAME …       prints the rows of some drives
python tools/held_to_ssd.py --check      fails where drives, figures or sources in the table are not those of
                                         `ssd_figures.toml`; simulates nothing

What is simulated is seeded: the same engine writes the same table.
"""

import argparse
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import diskwright

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "held-to.md"
FIGURES = ROOT / "tools" / "ssd_figures.toml"
BEGIN, END = "<!-- tools/held_to_ssd.py writes this table -->\n\n", "<!-- its end, too -->"
HEADER = "| drive | figure | held to | simulated | difference | from |\n|---|---|---|---|---|---|\n"

BLOCKS = 256
"""Blocks of a plane, where the drive has more: rates are those of the whole drive, and runs are short."""
RANDOM = 100_000
"""Random requests of a run."""
LONG_MIB = 1_024
"""MiB that a sequential run reads or writes, an eighth of them before it is measured."""


@dataclass(frozen=True)
class Held:
    """A figure that a drive is held to."""

    reads: bool
    outstanding: int | None
    """Of random requests; sequential ones have none."""
    wanted: float
    source: str

    @property
    def words(self) -> str:
        what = "reads" if self.reads else "writes"
        if self.outstanding is None:
            return f"sequential {what}, MB/s"
        return f"random {what} of 4 KiB a second, {self.outstanding} outstanding"

    def simulate(self, name: str) -> float:
        """The figure of a run: of a drive that is full, or for writes new, as makers measure."""
        users = self.outstanding or LONG_OUTSTANDING
        size = "4 KiB" if self.outstanding else LONG
        requests = RANDOM if self.outstanding else LONG_MIB * 8
        load: dict[str, Any] = {
            "requests": requests,
            "arrivals": {"closed": {"users": users}},
            "size": size,
            "reads": float(self.reads),
        }
        if self.outstanding is None:
            load["address"] = "sequential"
        found = diskwright.run(
            {
                "workload": {"synthetic": load},
                "host": {"outstanding": users},
                "measure": {"warmup": requests // 8},
                "device": {
                    "ssd": {
                        "drive": name,
                        "flash": small(name),
                        "initial": {"fill": "100 %" if self.reads else "0 %"},
                    }
                },
            }
        )
        return float(found.mb_per_s if self.outstanding is None else found.iops)


LONG, LONG_OUTSTANDING = "128 KiB", 32
"""Size and number of outstanding requests of sequential runs."""


def small(name: str) -> dict[str, Any]:
    """The drive's flash with fewer blocks."""
    flash = dict(diskwright.drive(name).to_dict()["description"]["flash"])
    return flash | {"blocks": min(flash["blocks"], BLOCKS)}


def drives() -> dict[str, list[Held]]:
    """What each drive is held to, in the order of the table; drives of simulators are held to nothing."""
    known = tomllib.loads(FIGURES.read_text("utf-8"))
    unknown = set(known) - set(diskwright.drives(kind="ssd"))
    assert not unknown, f"no such drives: {unknown}"
    return {name: [*held(known[name])] for name in known}


def held(table: dict[str, Any]) -> Iterator[Held]:
    """The figures of a drive, then those of its further sources."""
    for key, reads in (("random_reads", True), ("random_writes", False)):
        for outstanding, wanted in table.get(key, {}).items():
            yield Held(reads, int(outstanding), wanted, table["source"])
    for key, wanted in table.get("sequential_mb_s", {}).items():
        yield Held(key == "reads", None, wanted, table["source"])
    for further in table.values():
        if isinstance(further, dict) and "source" in further:
            yield from held(further)


def beginning(name: str, figure: Held) -> str:
    """A row up to its simulated value."""
    return f"| `{name}` | {figure.words} | {figure.wanted:,.10g} |"


def rows(name: str, figures: list[Held]) -> Iterator[str]:
    """A drive's rows of the table."""
    for figure in figures:
        found = figure.simulate(name)
        shown = f"{found:,.1f}" if figure.wanted < 1_000 else f"{found:,.0f}"
        difference = f"{(found / figure.wanted - 1) * 100:+.1f} %"
        yield f"{beginning(name, figure)} {shown} | {difference} | {figure.source} |"


def table_of(page: str) -> list[str]:
    """The rows of the table that a page has."""
    return page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()[2:]


def stale(page: str) -> list[str]:
    """What the table of a page lacks, or has otherwise than `ssd_figures.toml`; nothing is simulated."""
    wanted = [
        (beginning(name, it), f"| {it.source} |") for name, figures in drives().items() for it in figures
    ]
    found = table_of(page)
    if len(found) != len(wanted):
        return [f"{len(found)} rows in place of {len(wanted)}"]
    return [
        begin
        for (begin, end), row in zip(wanted, found, strict=True)
        if not (row.startswith(begin) and row.endswith(end))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    known, page = drives(), PAGE.read_text("utf-8")
    if not page.partition(BEGIN)[2].partition(END)[1]:
        sys.exit(f"{PAGE} has no place for the table")
    if asked.check:
        if wrong := stale(page):
            sys.exit(f"{PAGE}: run python tools/held_to_ssd.py: {wrong}")
    elif asked.names:
        for name in asked.names:
            print(*rows(name, known[name]), sep="\n")
    else:
        made = [row for name, figures in known.items() for row in rows(name, figures)]
        head, _, rest = page.partition(BEGIN)
        table = HEADER + "\n".join(made) + "\n\n"
        PAGE.write_text(head + BEGIN + table + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
