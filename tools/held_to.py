"""Says how close each drive of data sheets comes to what it is held to: the table of `docs/held-to.md`.

python tools/held_to.py              runs all of it, in a few minutes, and writes the table
python tools/held_to.py NAME …       prints the rows of some drives
python tools/held_to.py --check      fails where drives, figures or sources in the table are not those of
                                     `drive_figures.toml`; simulates nothing

The figures are those that makers print or others have measured, as `drive_figures.toml` has them with their
sources. What is simulated is seeded: the same engine writes the same table.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import diskwright
from drives import Table, drives

PAGE = Path(__file__).resolve().parent.parent / "docs" / "held-to.md"
BEGIN, END = "<!-- tools/held_to.py writes this table -->\n\n", "<!-- its end -->"
HEADER = "| drive | figure | held to | simulated | difference | from |\n|---|---|---|---|---|---|\n"
NOTHING = "nothing printed"

FIO_S = 60
"""The seconds that the user's fio ran."""


def spec(drive: str, load: Table, warmup: object, **device: object) -> Table:
    """A run of a synthetic load on a drive as it ships, but for what `device` says."""
    return {
        "workload": {"synthetic": load},
        "measure": {"warmup": warmup},
        "device": {"hdd": {"drive": drive} | device},
    }


def reads(name: str, outstanding: int) -> Any:
    """Random reads of 4 KiB."""
    load = {"requests": 60_000, "arrivals": {"closed": {"users": outstanding}}, "size": "4 KiB"}
    return diskwright.run(spec(name, load, "10 %"))


def writes(drive: str, outstanding: int, requests: int = 400_000) -> Any:
    """Random writes of 4 KiB with the write cache off, measured from the middle on."""
    load = {
        "requests": requests,
        "arrivals": {"closed": {"users": outstanding}},
        "size": "4 KiB",
        "reads": 0.0,
    }
    return diskwright.run(spec(drive, load, requests // 2, write_cache=False))


def long_reads(name: str, drive: Table, *, inside: bool) -> float:
    """MB/s of reads of 1 MiB, one after the other, of one actuator's LBNs each."""
    count, actuators = 1_500, drive["actuators"]
    each, read = drive["blocks"] // actuators, count * 2_048
    streams = [
        {
            "requests": count,
            "arrivals": {"closed": {"users": 1}},
            "size": "1 MiB",
            "address": {
                "sequential": {"from": each * number + (each - read if inside else 0), "blocks": read}
            },
        }
        for number in range(actuators)
    ]
    return float(diskwright.run(spec(name, {"stream": streams}, "10 %")).mb_per_s)


@cache
def synchronous(name: str, *, flushed: bool, log: bool = False) -> Any:
    """Synchronous random writes of 4 KiB, one outstanding, for as long as the user's fio ran.

    flushed: with the write cache on, and a flush after each.
    """
    # More than come to their turn.
    load: Table = {
        "requests": 60_000,
        "arrivals": {"closed": {"users": 1}},
        "size": "4 KiB",
        "reads": 0.0,
    }
    if flushed:
        load["flush_every"] = 1
    run = spec(name, load, 0, write_cache=flushed)
    run["measure"]["duration"] = f"{FIO_S} s"
    return diskwright.run(run, requests=log)


@dataclass(frozen=True)
class Held:
    """A kind of figure: its words in the table, its value from `drive_figures.toml`, how it is simulated."""

    words: str
    digits: int
    simulate: Callable[[str, Table], float]
    every_actuator: bool = False
    """`drive_figures.toml` has it of one actuator."""

    def wanted(self, drive: Table, figure: str) -> float:
        """What the drive as a whole is held to."""
        value = float(drive[figure])
        return value * drive["actuators"] if self.every_actuator else value


def _flushed(statistic: str) -> Callable[[str, Table], float]:
    """Of a write and its flush together; the write alone always takes the same time."""

    def simulate(name: str, _: Table) -> float:
        found = synchronous(name, flushed=True).by_op
        own = 0.0 if statistic == "std" else found["write"].response_ms.mean
        return float(found["flush"].response_ms[statistic] + own)

    return simulate


def _unflushed(statistic: str) -> Callable[[str, Table], float]:
    return lambda name, _: float(synchronous(name, flushed=False).response_ms[statistic])


def _shortest(name: str, _: Table) -> float:
    log = synchronous(name, flushed=False, log=True).request_log.to_polars()
    return float((log["completion_ns"] - log["arrival_ns"]).min() / 1e6)


HELD = {
    "outside_mb_s": Held(
        "long reads outside, MB/s", 1, lambda name, d: long_reads(name, d, inside=False), True
    ),
    "inside_mb_s": Held("long reads inside, MB/s", 1, lambda name, d: long_reads(name, d, inside=True), True),
    "tracks": Held("tracks of a surface", 0, lambda name, _: float(diskwright.drive(name).cylinders)),
    "read_iops": Held(
        "random reads a second, {outstanding} outstanding",
        1,
        lambda name, d: float(reads(name, d["outstanding"]).iops),
    ),
    "write_iops": Held(
        "random writes a second, {outstanding} outstanding, write cache off",
        1,
        lambda name, d: float(writes(name, d["outstanding"]).iops),
    ),
    "measured_read_ms": Held(
        "random reads, one outstanding, mean ms", 2, lambda name, _: float(reads(name, 1).response_ms.mean)
    ),
    "measured_read_iops_32": Held(
        "random reads a second, 32 outstanding", 1, lambda name, _: float(reads(name, 32).iops)
    ),
    "measured_write_ms": Held("synchronous random writes, write cache off, mean ms", 2, _unflushed("mean")),
    "measured_write_deviation_ms": Held("the same, standard deviation ms", 2, _unflushed("std")),
    "measured_write_least_ms": Held("the same, shortest ms", 2, _shortest),
    "measured_write_most_ms": Held("the same, longest ms", 1, _unflushed("max")),
    "measured_flushed_write_ms": Held(
        "synchronous random writes, write cache on, each flushed, mean ms", 2, _flushed("mean")
    ),
    "measured_flushed_write_deviation_ms": Held("the same, standard deviation ms", 2, _flushed("std")),
    "measured_flushed_write_most_ms": Held("the same, longest ms", 1, _flushed("max")),
}
"""What drives are held to, by its key in `drive_figures.toml`, in the order of the table."""


def held(drive: Table) -> Iterator[tuple[str, str]]:
    """The figures that this drive is held to, each with where it is from.

    They are printed or measured; of what is only remembered, the rates of random requests.
    """
    for figure in HELD:
        for why, figures in drive["sources"].items():
            if figure in figures:
                yield figure, why
        for why, figures in drive["estimates"].items():
            if figure in figures and figure in ("read_iops", "write_iops"):
                yield figure, why


def beginning(name: str, drive: Table, figure: str) -> str:
    """A row up to its simulated value."""
    kind = HELD[figure]
    wanted = f"{kind.wanted(drive, figure):.{kind.digits}f}"
    return f"| `{name}` | {kind.words.format_map(drive)} | {wanted} |"


def rows(name: str, drive: Table) -> Iterator[str]:
    """A drive's rows of the table."""
    figures = [*held(drive)]
    if not figures:
        yield f"| `{name}` | {NOTHING} | | | | |"
    for figure, why in figures:
        kind = HELD[figure]
        wanted, found = kind.wanted(drive, figure), kind.simulate(name, drive)
        difference = f"{(found / wanted - 1) * 100:+.1f} %"
        yield f"{beginning(name, drive, figure)} {found:.{kind.digits}f} | {difference} | {why} |"


def table_of(page: str) -> list[str]:
    """The rows of the table that a page has."""
    return page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()[2:]


def stale(page: str) -> list[str]:
    """What the table of a page lacks, or has otherwise than `drive_figures.toml`; nothing is simulated."""
    wanted = []
    for name, drive in drives().items():
        figures = [(beginning(name, drive, figure), f"| {why} |") for figure, why in held(drive)]
        wanted += figures or [(f"| `{name}` | {NOTHING} |", "|")]
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
            sys.exit(f"{PAGE}: run python tools/held_to.py: {wrong}")
    elif asked.names:
        for name in asked.names:
            print(*rows(name, known[name]), sep="\n")
    else:
        made = [row for name, drive in known.items() for row in rows(name, drive)]
        head, _, rest = page.partition(BEGIN)
        table = HEADER + "\n".join(made) + "\n\n"
        PAGE.write_text(head + BEGIN + table + END + rest.partition(END)[2], "utf-8")


if __name__ == "__main__":
    main()
