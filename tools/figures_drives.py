"""Figures of what drives are held to."""

import re
import tempfile
from pathlib import Path

import numpy
from matplotlib.axes import Axes

import diskwright
from drives import drives
from held_to import synchronous, writes

_SIZES_KIB = [128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384]
# How many of a drive's writes are simulated, and up to which size.
_SORTED = {"exos-x24": (160_000, 16_384), "exos-m-30": (120_000, 4_096), "exos-2x18": (60_000, 2_048)}


def sorted_set(axes: Axes) -> None:
    """Random writes a second by the size of the persistent memory, and where the drives are."""
    known = drives()
    for index, (name, (requests, most)) in enumerate(_SORTED.items()):
        drive, colour = known[name], f"C{index}"
        sizes = [size for size in _SIZES_KIB if size <= most]
        rates = [_writes_with(name, size, drive["outstanding"], requests) for size in sizes]
        axes.plot(sizes, rates, ".-", color=colour, markersize=4, label=name)
        fitted = drive["persistent_kib"]
        axes.plot([fitted], [rates[sizes.index(fitted)]], "o", color=colour, markersize=8, fillstyle="none")
        axes.plot([fitted], [drive["write_iops"]], "x", color=colour, markersize=7, markeredgewidth=1.8)
    axes.plot([], [], "o", color="C5", fillstyle="none", label="size in the description")
    axes.plot([], [], "x", color="C5", markeredgewidth=1.8, label="printed")
    axes.set_xscale("log", base=2)
    axes.set_xticks(_SIZES_KIB[::2], [f"{size / 1024:g}" for size in _SIZES_KIB[::2]])
    axes.minorticks_off()
    axes.set(xlabel="writes that are sorted, MiB", ylabel="writes a second", ylim=(0, None))
    axes.set_title("random writes of 4 KiB, 16 outstanding, write cache off")
    axes.legend(loc="upper left")


def _writes_with(name: str, size_kib: int, outstanding: int, requests: int) -> float:
    """The rate of a drive with another size of its persistent memory."""
    text, count = re.subn(
        r'(?<=\[pool\.persistent\]\nmemory = ")[^"]*', f"{size_kib} KiB", diskwright.drive_toml(name)
    )
    assert count == 1
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.toml"
        file.write_text(text, encoding="utf-8")
        return float(writes(str(file), outstanding, requests).iops)


def synchronous_writes(off: Axes, flushed: Axes) -> None:
    """How many synchronous writes take longer, beside what a user's fio says of a real drive."""
    name = "ultrastar-7k6000"
    drive = drives()[name]
    for axes, is_flushed, key, title in (
        (off, False, "measured_write", "write cache off"),
        (flushed, True, "measured_flushed_write", "write cache on, each write flushed"),
    ):
        log = synchronous(name, flushed=is_flushed, log=True).request_log.to_polars().sort("sequence")
        times = (log["completion_ns"] - log["arrival_ns"]).to_numpy() / 1e6
        if is_flushed:
            # A write, and then its flush.
            times = times[: len(times) // 2 * 2].reshape(-1, 2).sum(axis=1)
        times = numpy.sort(times)
        shares = 1 - numpy.arange(len(times)) / len(times)
        axes.step(times, shares, where="post", color="C0", label=f"simulated, mean {times.mean():.2f} ms")
        axes.axvline(times.mean(), color="C0", linestyle=":")
        mean, most = drive[f"{key}_ms"], drive[f"{key}_most_ms"]
        axes.axvline(mean, color="C1", linestyle="--", label=f"measured, mean {mean:g} ms")
        # fio's run had about as many writes.
        share = mean / 60e3
        axes.plot(
            [most], [share], "x", color="C1", markeredgewidth=1.8, label=f"measured, longest {most:g} ms"
        )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set(xlabel="response, ms", xlim=(0.3, 150), ylim=(4e-5, 1.3))
        axes.set_title(title)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2))
    off.set_ylabel("share that takes longer")
