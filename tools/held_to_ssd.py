"""Says how close each SSD comes to what its maker prints: the table of SSDs of `docs/held-to.md`.

python tools/held_to_ssd.py              runs all of it and writes the table
python tools/held_to_ssd.py NAME …       prints the rows of some drives
python tools/held_to_ssd.py --check      fails where drives, figures or sources in the table are not those of
                                         `ssd_figures.toml`; simulates nothing

What is simulated is seeded: the same engine writes the same table.
"""

import argparse
import sys
import tempfile
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
PAGES = 48
"""Pages of a block, where the drive has more and is overwritten before a run."""


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
                    "ssd": small(name)
                    | {"drive": name, "initial": {"fill": "100 %" if self.reads else "0 %"}}
                },
            }
        )
        return float(found.mb_per_s if self.outstanding is None else found.iops)


@dataclass(frozen=True)
class Sustained:
    """Random writes a second of a drive that is full and has been overwritten twice."""

    outstanding: int
    wanted: float
    source: str

    @property
    def words(self) -> str:
        return f"sustained random writes of 4 KiB a second, {self.outstanding} outstanding"

    def simulate(self, name: str) -> float:
        """The rate of a drive with fewer and smaller blocks, as large a part of them reserved."""
        drive = description(name)
        flash, reserved = drive["flash"], drive["spare"]["reserved"]
        device = smaller(name, min(flash["blocks"], BLOCKS), min(flash["pages"], PAGES)) | {
            "initial": {"fill": "100 %", "overwrite": 2.0}
        }
        device["spare"] = drive["spare"] | {"reserved": max(1, reserved * BLOCKS // flash["blocks"])}
        load = {
            "requests": RANDOM,
            "arrivals": {"closed": {"users": self.outstanding}},
            "size": "4 KiB",
            "reads": 0.0,
        }
        found = diskwright.run(
            {
                "workload": {"synthetic": load},
                "host": {"outstanding": self.outstanding},
                "measure": {"warmup": RANDOM // 4},
                "device": {"ssd": device},
            }
        )
        return float(found.iops)


@dataclass(frozen=True)
class Cached:
    """The rate of sequential writes into the SLC cache of a new drive, behind it, or again after a pause."""

    what: str
    wanted: float
    source: str

    @property
    def words(self) -> str:
        place = {
            "into": "into the SLC cache",
            "behind": "when it is full",
            "after_pause": "again after a pause",
        }
        return f"sequential writes {place[self.what]}, MB/s"

    def simulate(self, name: str) -> float:
        """The rate of a drive with fewer blocks, and smaller ones, the cache's, too."""
        drive = description(name)
        flash, slc = drive["flash"], drive["slc"]
        blocks, pages = min(flash["blocks"], CACHED_BLOCKS), flash["pages"] // 12
        device = smaller(name, blocks, pages)
        device["flash"]["unit"] = flash["page"]
        device["slc"] = slc | {
            "pages": slc["pages"] // 12,
            "fixed": slc["fixed"] * blocks // flash["blocks"],
            "dynamic": slc["dynamic"] * blocks // flash["blocks"],
            "erase": f"{ns(slc['erase']) // 12} ns",
        }
        device["buffer"] = {"size": "2 MiB"}
        device["recovery"] = {"checkpoint": "128 MiB"}
        device["spare"] = drive["spare"] | {"reserved": 1}
        planes = flash["channels"] * flash.get("packages", 1) * flash.get("dies", 1) * flash.get("planes", 1)
        cache = device["slc"]
        held = (cache["fixed"] + cache["dynamic"]) * cache["pages"] * planes * kib(flash["page"]) // 1024
        device["initial"] = {"fill": "0 %"}
        if self.what == "into":
            return rate(held // 2, ended_ms(device, 0, held // 2))
        if self.what == "after_pause":
            return rate(held // 2, ended_ms(device, held, held // 2))
        took = ended_ms(device, 0, held * 2) - ended_ms(device, 0, held * 3 // 2)
        return rate(held * 2 - held * 3 // 2, took)


def rate(mib: int, ms: float) -> float:
    """MB/s."""
    return mib * 1.048576e3 / ms


def ended_ms(device: dict[str, Any], before: int, count: int) -> float:
    """The time from the arrival of `count` 1 MiB writes to their end. `before` came a minute earlier."""
    arrivals = [0] * before + [MINUTE_NS if before else 0] * count
    lines = [f"{at},write,{number * 2048},2048" for number, at in enumerate(arrivals)]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        trace.write("\n".join(["time_ns,op,lbn,blocks", *lines]) + "\n")
        trace.flush()
        found = diskwright.run(
            {
                "workload": {"trace": trace.name, "format": "csv", "pace": "recorded"},
                "host": {"outstanding": 1},
                "measure": {"warmup": before},
                "device": {"ssd": device},
            }
        )
    return float(found.to_dict()["response_ms"]["max"])


def description(name: str) -> dict[str, Any]:
    """What a drive's file says."""
    return dict(diskwright.drive(name).to_dict()["description"])


def smaller(name: str, blocks: int, pages: int) -> dict[str, Any]:
    """A drive with fewer blocks and pages: an erase takes as long for each page."""
    drive = description(name)
    flash, timing = dict(drive["flash"]), dict(drive["timing"])
    timing["erase"] = f"{ns(timing['erase']) * pages // flash['pages']} ns"
    return {"drive": name, "flash": flash | {"blocks": blocks, "pages": pages}, "timing": timing}


def ns(time: str) -> int:
    """A time as a drive's file has it, in nanoseconds."""
    number, unit = time.split()
    return round(float(number) * {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}[unit])


def kib(size: str) -> int:
    """A size as a drive's file has it, in KiB."""
    number, unit = size.split()
    return round(float(number) * {"blocks": 0.5, "KiB": 1, "MiB": 1_024}[unit])


CACHED_BLOCKS = 182
"""Blocks of a plane of a drive of which the SLC cache is filled."""
MINUTE_NS = 60_000_000_000

LONG, LONG_OUTSTANDING = "128 KiB", 32
"""Size and number of outstanding requests of sequential runs."""


def small(name: str) -> dict[str, Any]:
    """The drive's flash with fewer blocks, and of these as many in the SLC cache or reserved."""
    drive = description(name)
    flash, slc = drive["flash"], drive.get("slc")
    blocks = min(flash["blocks"], BLOCKS)
    made: dict[str, Any] = {"flash": flash | {"blocks": blocks}}
    if slc:
        scaled = {key: slc[key] * blocks // flash["blocks"] for key in ("fixed", "dynamic")}
        made["slc"] = slc | scaled
    reserved = drive["spare"].get("reserved", 0)
    if slc or reserved > blocks // 8:
        reserved = max(1, reserved * blocks // flash["blocks"])
        made["spare"] = drive["spare"] | {"reserved": reserved}
    return made


Figure = Held | Sustained | Cached


def drives() -> dict[str, list[Figure]]:
    """What each drive is held to, in the order of the table; drives of simulators are held to nothing."""
    known = tomllib.loads(FIGURES.read_text("utf-8"))
    unknown = set(known) - set(diskwright.drives(kind="ssd"))
    assert not unknown, f"no such drives: {unknown}"
    return {name: [*held(known[name])] for name in known}


def held(table: dict[str, Any]) -> Iterator[Figure]:
    """The figures of a drive, then those of its further sources."""
    for key, reads in (("random_reads", True), ("random_writes", False)):
        for outstanding, wanted in table.get(key, {}).items():
            yield Held(reads, int(outstanding), wanted, table["source"])
    for outstanding, wanted in table.get("sustained_writes", {}).items():
        yield Sustained(int(outstanding), wanted, table["source"])
    for key, wanted in table.get("sequential_mb_s", {}).items():
        yield Held(key == "reads", None, wanted, table["source"])
    for key, wanted in table.get("cache_mb_s", {}).items():
        yield Cached(key, wanted, table["source"])
    for further in table.values():
        if isinstance(further, dict) and "source" in further:
            yield from held(further)


def beginning(name: str, figure: Figure) -> str:
    """A row up to its simulated value."""
    return f"| `{name}` | {figure.words} | {figure.wanted:,.10g} |"


def rows(name: str, figures: list[Figure]) -> Iterator[str]:
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
