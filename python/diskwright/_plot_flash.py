"""The picture of a probe of an SSD: a panel for each measurement."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from diskwright._palette import COLOURS, DASHES, MARKERS
from diskwright._record import Record
from diskwright._text import byte_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _line(axes: "Axes", index: int, label: str, points: Iterable[tuple[float, float]], **more: Any) -> None:
    xs, ys = zip(*points, strict=True)
    style: dict[str, Any] = {
        "color": COLOURS[index],
        "marker": MARKERS[index],
        "linestyle": DASHES[index % len(DASHES)],
        "markersize": 5,
        "linewidth": 1.4,
    }
    axes.plot(xs, ys, label=label, **(style | more))


def _powers(axes: "Axes", values: Sequence[int], labels: Sequence[str]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(values, labels)
    axes.minorticks_off()


def _by_size(axes: "Axes", points: Sequence[Record]) -> None:
    sizes = [point.bytes for point in points]
    names = [f"{size}" if size < 1024 else f"{size // 1024}K" for size in sizes]
    _powers(axes, sizes, [name if name != "1024K" else "1M" for name in names])
    axes.set_xlabel("size of a request, bytes")


def _latency(axes: "Axes", found: Record) -> None:
    for index, (kind, label) in enumerate((("read", "reads"), ("write", "writes"))):
        means = [(point.bytes, point[kind].mean_ms) for point in found.latency]
        ends = [(point.bytes, point[kind].p99_ms) for point in found.latency]
        _line(axes, index, f"{label}, mean", means)
        _line(axes, index, f"{label}, 99th percentile", ends, marker="", linestyle=":", linewidth=1.2)
    _by_size(axes, found.latency)
    axes.set_yscale("log")
    axes.set_ylabel("response time, ms, one outstanding")
    axes.legend(loc="upper left", frameon=False)


def _depth(axes: "Axes", found: Record) -> None:
    for index, (kind, label) in enumerate((("read", "reads"), ("write", "writes"))):
        _line(axes, index, label, [(point.depth, point[kind].iops) for point in found.depth])
    points = sorted({point.depth for point in found.depth})
    _powers(axes, points, [str(depth) for depth in points])
    axes.set_xlabel("queue depth, requests")
    axes.set_ylabel(f"random requests of {byte_size(found.request_bytes)} a second")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="upper left", frameon=False)


def _bandwidth(axes: "Axes", found: Record) -> None:
    kinds = ("sequential_read", "random_read", "sequential_write", "random_write")
    for index, kind in enumerate(kinds):
        rates = [(point.bytes, point[f"{kind}_mb_per_s"]) for point in found.bandwidth]
        _line(axes, index, kind.replace("_", " ") + "s", rates)
    _by_size(axes, found.bandwidth)
    axes.set_ylabel(f"bandwidth, MB/s, {found.bandwidth[0].outstanding} outstanding")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="best", frameon=False)


def _mixed(axes: "Axes", found: Record) -> None:
    shares = [100 * point.reads for point in found.mixed]
    _line(axes, 2, "requests a second", zip(shares, (point.iops for point in found.mixed), strict=True))
    axes.set_xticks(shares, [f"{share:.0f} %" for share in shares])
    axes.set_xlabel("share of reads")
    axes.set_ylabel(
        f"requests of {byte_size(found.request_bytes)} a second, {found.mixed[0].outstanding} outstanding"
    )
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _cliff(axes: "Axes", found: Record) -> None:
    cliff = found.cliff
    edges = [0.0, *(interval.drive_writes for interval in cliff.intervals)]
    rates = [interval.iops for interval in cliff.intervals]
    axes.stairs(rates, edges, baseline=None, color=COLOURS[1], linewidth=1.6, label="writes a second")
    axes.set_xlabel(f"written, capacities of the drive; {cliff.outstanding} outstanding")
    axes.set_ylabel(f"random writes of {byte_size(found.request_bytes)} a second")
    axes.set_xlim(0, edges[-1])
    axes.set_ylim(0, 1.25 * max(rates))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    beside = axes.twinx()
    amplification = [interval.write_amplification for interval in cliff.intervals]
    beside.stairs(
        amplification,
        edges,
        baseline=None,
        color=COLOURS[0],
        linestyle="--",
        linewidth=1.4,
        label="write amplification (right)",
    )
    beside.set_ylim(0, 1.25 * max(amplification))
    beside.set_ylabel("bytes programmed for each written")
    beside.spines["top"].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    more = beside.get_legend_handles_labels()
    axes.legend([*handles, *more[0]], [*labels, *more[1]], loc="upper center", ncols=2, frameon=False)


def _behind(axes: "Axes", found: Record) -> None:
    names = {"alone": "alone", "writes": "beside 4 writes", "cleaning": "beside 4 writes\nand cleaning"}
    columns = (
        ("median", "p50_ms"),
        ("90 %", "p90_ms"),
        ("99 %", "p99_ms"),
        ("99.9 %", "p999_ms"),
    )
    height = 0.8 / len(columns)
    for index, (label, key) in enumerate(columns):
        places = [place + index * height for place in range(len(found.behind))]
        axes.barh(
            places, [point[key] for point in found.behind], height * 0.9, color=COLOURS[index], label=label
        )
    axes.set_yticks(
        [place + 1.5 * height for place in range(len(found.behind))],
        [names[point.beside] for point in found.behind],
    )
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(f"response time, ms, of reads of {byte_size(found.request_bytes)}, one at a time")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=4, frameon=False)


PANELS = (
    ("latency", "Latency by size", _latency),
    ("depth", "Requests by depth", _depth),
    ("bandwidth", "Bandwidth by size", _bandwidth),
    ("mixed", "Reads and writes together", _mixed),
    ("cliff", "From a new drive to its steady state", _cliff),
    ("behind", "Reads behind programs and erases", _behind),
)
