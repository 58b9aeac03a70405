"""The loads of flash-backed requests: recorded ones, and stand-ins for three that are not public."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskwright.reproduce import GeneratedFile, Trace, converted
from diskwright.systems._traces import GUEST, HP_WEEK

HP, OWN, ENG, WINPC, MAC = "HP", "Debian", "Eng*", "WinPC*", "Mac*"
"""The stars mark stand-ins."""
LOADS = (HP, OWN, ENG, WINPC, MAC)
DAYS = 7
_BLOCKS_PER_GIB = 2**30 // 512


@dataclass(frozen=True)
class Desktop:
    """A desktop's load: bursts of requests in the hours of work, from several sources.

    requests: of the week. reads: their share. burst: requests of one, on average. gap_ms: between these.
    log: the share of writes that goes to a log, a ring of `log_mib` MiB, written in order by writes of
    `log_kib` KiB.
    tables: the share of writes to places that are written again and again, by Zipf's law over `table_places`.
    files: the share that continues a file in order, in requests of `file_kib` KiB; other writes go
    anywhere in the disk's used part, of `gib` GiB. hours: of work, each day.
    """

    requests: int
    reads: float
    burst: float
    gap_ms: float
    log: float
    log_mib: int
    log_kib: tuple[int, ...]
    tables: float
    table_places: int
    files: float
    file_kib: int
    gib: int
    hours: tuple[float, float]


DESKTOPS: Mapping[str, Desktop] = {
    # ReiserFS: a journal of 32 MiB, written in order, a tree whose nodes are written again, compilers' files.
    ENG: Desktop(160_000, 0.35, 12, 6.0, 0.35, 32, (4, 8, 16, 32), 0.25, 6_000, 0.25, 64, 20, (9, 19)),
    # NTFS: a log of 64 MiB, the master file table and the registry, a browser's cache.
    WINPC: Desktop(200_000, 0.45, 20, 8.0, 0.20, 64, (4, 8), 0.35, 3_000, 0.20, 64, 40, (8, 23)),
    # HFS+: a journal of 16 MiB, the catalog's tree, large files of media.
    MAC: Desktop(120_000, 0.40, 16, 7.0, 0.25, 16, (4, 8, 16), 0.25, 2_000, 0.35, 128, 30, (8, 24)),
}
"""Estimates: no more is known of the paper's traces than the systems, and that each is a week of one."""


def desktop(target: Path, seed: int, name: str) -> None:
    """A week of a desktop that stands in for one of the paper's traces, as a Parquet file."""
    import numpy
    import polars

    kind = DESKTOPS[name]
    random = numpy.random.default_rng([seed, LOADS.index(name)])
    count = kind.requests
    starts = random.random(count) < 1 / kind.burst
    starts[0] = True
    bursts = int(starts.sum())
    first, last = kind.hours
    work = numpy.sort(random.random(bursts) * DAYS * (last - first))
    begins = (work // (last - first)) * 24 + first + work % (last - first)
    number = numpy.cumsum(starts) - 1
    gaps = random.exponential(kind.gap_ms * 1e6, count)
    since = numpy.cumsum(gaps)
    within = since - since[starts][number]
    arrival = (begins[number] * 3600e9 + within).astype(numpy.int64)
    is_read = random.random(count) < kind.reads
    source = random.random(count)
    lbn, blocks = _anywhere(random, kind, count)
    # Reads of files continue one another, too.
    in_file = numpy.where(is_read, source < 0.4, source >= 1 - kind.files)
    _in_order(random, kind, in_file, starts, lbn, blocks)
    _again(random, kind, ~is_read & (source >= kind.log) & (source < kind.log + kind.tables), lbn, blocks)
    _logged(random, kind, ~is_read & (source < kind.log), lbn, blocks)
    frame = polars.DataFrame(
        {
            "arrival_ns": arrival,
            "op": numpy.where(is_read, "read", "write"),
            "lbn": lbn,
            "blocks": blocks,
        }
    )
    frame.sort("arrival_ns", maintain_order=True).write_parquet(target)


def _anywhere(random: Any, kind: Desktop, count: int) -> tuple[Any, Any]:
    """Places near others, as file systems put files, in units of 4 KiB."""
    import numpy

    groups = kind.gib * 8
    size = kind.gib * _BLOCKS_PER_GIB // groups
    group = (groups * random.random(count) ** 2).astype(numpy.int64)
    inside = (random.random(count) * (size // 8)).astype(numpy.int64) * 8
    blocks = random.choice([8, 8, 8, 16, 32, 64], count).astype(numpy.int64)
    return group * size + inside, blocks


def _in_order(random: Any, kind: Desktop, chosen: Any, starts: Any, lbn: Any, blocks: Any) -> None:
    """Requests that continue the one of a file before them in their burst."""
    import numpy

    length = kind.file_kib * 2
    at = numpy.flatnonzero(chosen)
    burst = numpy.cumsum(starts)[at]
    opens = numpy.concatenate([[True], burst[1:] != burst[:-1]])
    place = numpy.arange(len(at)) - numpy.flatnonzero(opens)[numpy.cumsum(opens) - 1]
    lbn[at] = lbn[at[opens]][numpy.cumsum(opens) - 1] + place * length
    blocks[at] = length


def _again(random: Any, kind: Desktop, chosen: Any, lbn: Any, blocks: Any) -> None:
    """Writes to places that are written again and again."""
    import numpy

    places = numpy.sort(random.integers(0, kind.gib * _BLOCKS_PER_GIB // 64, kind.table_places)) * 8
    below = numpy.cumsum(1 / numpy.arange(1, kind.table_places + 1))
    rank = numpy.searchsorted(below, random.random(int(chosen.sum())) * below[-1])
    lbn[chosen] = random.permutation(places)[rank]
    blocks[chosen] = 8


def _logged(random: Any, kind: Desktop, chosen: Any, lbn: Any, blocks: Any) -> None:
    """Writes to a ring in the middle of what is used."""
    import numpy

    sizes = random.choice(kind.log_kib, int(chosen.sum())).astype(numpy.int64) * 2
    ring = kind.log_mib * 2048
    at = numpy.cumsum(sizes) - sizes
    place = at % (ring - max(kind.log_kib) * 2)
    lbn[chosen] = kind.gib * _BLOCKS_PER_GIB // 2 + place
    blocks[chosen] = sizes


def trace_of(load: str) -> Trace | GeneratedFile:
    """The file of a load."""
    if load == HP:
        return HP_WEEK
    return GUEST if load == OWN else GeneratedFile(desktop, {"name": load})


def workload(load: str) -> Mapping[str, Any]:
    """The `[workload]` of a load."""
    own = {"device": 0} if load == HP else {}
    return {"trace": trace_of(load), **own}


def as_table(load: str) -> Trace | GeneratedFile:
    """A load as a Parquet file."""
    if load in DESKTOPS:
        return trace_of(load)
    return converted(HP_WEEK, device=0) if load == HP else converted(GUEST)
