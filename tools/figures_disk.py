"""Figures of the mechanics: zones, skew, seeks, rotation, accesses."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes

import diskwright
from diskwright import Record

DRIVE = "ibm-18es"
# Those whose curves are measured, or made from data sheets.
DRIVES = ("hp-c2249a", "hp-c3323a", "cheetah-9lp", "ibm-18es", "travelstar-5k160", "exos-x20")

_ONE_ZONE = """\
name = "a drive of one zone"
rotation = "7200 rpm"
[heads]
switch = "0.8 ms"
[seek.linear]
single = "1 ms"
full = "12 ms"
[layout]
surfaces = 4
cylinders = 3000
[[layout.zone]]
cylinders = [0, 2999]
sectors_per_track = {sectors}
track_skew = {skew}
cylinder_skew = {skew}
"""


def zones(axes: Axes) -> None:
    """Long reads by their place on the drive."""
    found = diskwright.probe(DRIVE, only=["zones"]).zones
    edges = [zone.first_lbn * 512 / 1e9 for zone in found] + [(found[-1].last_lbn + 1) * 512 / 1e9]
    for index, (key, label) in enumerate(
        (("media", "on a track"), ("sustained", "over whole cylinders, with skew and switches"))
    ):
        rates = [zone[f"{key}_mb_per_s"] for zone in found]
        axes.stairs(rates, edges, baseline=None, color=f"C{index}", linewidth=1.8, label=label)
    axes.set(xlabel="address, GB", ylabel="long reads, MB/s", xlim=(0, edges[-1]), ylim=(0, None))
    axes.set_title(
        f"{DRIVE}: {len(found)} zones, from {found[0].sectors_per_track} sectors a track "
        f"to {found[-1].sectors_per_track}"
    )
    axes.legend(loc="lower left")


def skew(axes: Axes) -> None:
    """What a long read reaches with tracks that begin later and later."""
    sectors = 400
    skews = range(0, 161, 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "one-zone.toml")
        rates = []
        for one in skews:
            path.write_text(_ONE_ZONE.format(sectors=sectors, skew=one), encoding="utf-8")
            rates.append(diskwright.probe(str(path), only=["zones"]).zones[0].sustained_mb_per_s)
    media = sectors * 512 * 120 / 1e6
    axes.axhline(media, color="C5", linestyle="--", linewidth=1, label="on a track")
    axes.plot(skews, rates, ".-", color="C0", markersize=4, label="long read")
    for index, text in zip(_jumps(rates), ("a head switch fits", "a seek fits as well"), strict=True):
        axes.annotate(
            f"{text}: {skews[index]}",
            (skews[index], rates[index]),
            xytext=(skews[index] + 5, rates[index] - 4),
            arrowprops={"arrowstyle": "-", "color": "C5"},
            va="center",
        )
    axes.set(xlabel=f"skew from track to track, sectors of {sectors}", ylabel="long reads, MB/s")
    axes.set(xlim=(0, skews[-1]), ylim=(0, media * 1.12))
    axes.set_title("7200 rpm, head switch 0.8 ms, seek to the next cylinder 1 ms")
    axes.legend(loc="lower right")


def _jumps(rates: Sequence[float]) -> list[int]:
    """Where a rate has risen by more than a tenth."""
    return [index for index in range(1, len(rates)) if rates[index] > 1.1 * rates[index - 1]]


def seek_curves(axes: Axes) -> None:
    """All distances, as parts of the longest."""
    for drive in DRIVES:
        found = diskwright.probe(drive, only=["seek"]).seek
        full = found[-1].distance_cylinders
        axes.plot(*_seeks(found, 100 / full), label=drive)
    axes.set(
        xlabel="distance, % of the full stroke", ylabel="seek for a read, ms", xlim=(0, 100), ylim=(0, 22)
    )
    axes.legend(loc="lower right", ncols=2)


def seek_short(axes: Axes) -> None:
    """The distances of which most seeks of a busy disk are."""
    for drive in DRIVES:
        found = [one for one in diskwright.probe(drive, only=["seek"]).seek if one.distance_cylinders > 0]
        axes.plot(*_seeks(found, 1), label=drive)
    axes.set(xlabel="distance, cylinders", ylabel="seek for a read, ms", xscale="log", ylim=(0, 22))
    axes.set_xlim(left=1)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="upper left")


def _seeks(found: Sequence[Record], unit: float) -> tuple[list[float], list[float]]:
    return [one.distance_cylinders * unit for one in found], [one.read_ms for one in found]


def rotation_edge(revolutions: Axes, edge: Axes) -> None:
    """How long a head waits for a sector, by the instant at which it is ready."""
    # Sector 0 is under the head at time 0; a second is 120 whole revolutions.
    turn = 60e9 / 7200
    instants = [round(index * turn / 60) for index in range(151)]
    waits = [wait / 1e6 for wait in _waits(instants)]
    revolutions.plot([instant / 1e6 for instant in instants], waits, ".", color="C0", markersize=3)
    revolutions.set(xlabel="head ready, ms", ylabel="wait for the sector, ms", xlim=(0, 2.5 * turn / 1e6))
    revolutions.set_ylim(0, 9)
    revolutions.set_title("two and a half revolutions")
    came = -(-60_000_000_000 // 7200)
    near = list(range(came - 8, came + 9))
    found = _waits(near)
    for short in (True, False):
        some = [
            (instant - came, wait) for instant, wait in zip(near, found, strict=True) if (wait < 100) is short
        ]
        edge.plot(
            *zip(*some, strict=True),
            "o",
            color="C0" if short else "C1",
            markersize=4,
            label="caught" if short else "missed: waits a revolution",
        )
    edge.set(xlabel="head ready, ns after the edge", ylabel="wait for the sector, ns", yscale="symlog")
    edge.set_title("around the edge of the sector")
    edge.set_ylim(-0.5, 1e8)
    edge.legend(loc="center left", bbox_to_anchor=(0, 0.6))


def _waits(instants: Sequence[int]) -> list[int]:
    """The waits, in ns, of reads of sector 0 that arrive then."""
    records = (f"{number * 1_000_000_000 + instant},0,1,r" for number, instant in enumerate(instants))
    log = _requests(list(records), "ibm-18es-linear")
    return [row["rotation_ns"] for row in log]


def access_parts(axes: Axes) -> None:
    """What some requests wait for, in order."""
    far = 9_000_000
    asked = {
        "read of 4 KiB, far away": f"{far},8,r",
        "the blocks behind it": f"{far + 8},8,r",
        "write of 4 KiB, far away": "1000000,8,w",
        "read of 32 KiB on two tracks": f"{far + 100_200},64,r",
    }
    records = [f"{number * 1_000_000_000},{place}" for number, place in enumerate(["0,8,r", *asked.values()])]
    log = _requests(records, DRIVE)[1:]
    parts = ("overhead", "seek", "settle", "head_switch", "rotation", "transfer", "bus")
    left = [0.0] * len(log)
    for index, part in enumerate(parts):
        lengths = [row[f"{part}_ns"] / 1e6 for row in log]
        axes.barh(
            list(asked), lengths, left=left, color=f"C{index}", height=0.6, label=part.replace("_", " ")
        )
        left = [begin + length for begin, length in zip(left, lengths, strict=True)]
    for row, end in zip(log, left, strict=True):
        assert round(end * 1e6) == row["completion_ns"] - row["start_ns"], "the parts add up"
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="time from start to completion, ms", xlim=(0, None))
    axes.legend(
        loc="upper center", bbox_to_anchor=(0.4, -0.2), ncols=len(parts), columnspacing=1, handlelength=1
    )


def _requests(records: Sequence[str], drive: str) -> list[dict[str, int]]:
    """What became of the records of a trace, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.csv")
        trace.write_text("\n".join(["time_ns,lbn,blocks,op", *records, ""]), encoding="utf-8")
        spec = {"workload": {"trace": str(trace)}, "device": {"hdd": {"drive": drive}}}
        log = diskwright.run(spec, requests=True).request_log
    rows: list[dict[str, int]] = log.to_polars().sort("sequence").to_dicts()
    return rows


def access_time(axes: Axes) -> None:
    """Accesses to random sectors by their distance."""
    found = diskwright.probe(DRIVE, only=["access"], samples=4_000).access
    distances = [point.distance_cylinders for point in found]
    low, high = [point.p005_ms for point in found], [point.p995_ms for point in found]
    axes.fill_between(distances, low, high, color="C0", alpha=0.25, linewidth=0, label="99 % of the accesses")
    axes.plot(distances, [point.mean_ms for point in found], ".-", color="C0", markersize=4, label="mean")
    seeks = _seeks(diskwright.probe(DRIVE, only=["seek"]).seek, 1)
    axes.plot(*seeks, color="C1", label="seek alone")
    axes.set(
        xlabel="distance, cylinders", ylabel="seek and rotation, ms", xlim=(0, distances[-1]), ylim=(0, 27)
    )
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title(f"{DRIVE}, reads of random sectors: a revolution is 8.33 ms")
    axes.legend(loc="upper left", ncols=3)
