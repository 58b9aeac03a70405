"""Pictures in files, and that of a probe."""

import io
import os
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from diskwright import _plot_flash
from diskwright._engine import InputError
from diskwright._files import replacing
from diskwright._palette import COLOURS, DASHES, MARKERS
from diskwright._record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")


@contextmanager
def opened(
    target: str | os.PathLike[str], figure: "Callable[[Record], Figure]"
) -> Iterator[Callable[[Record], None]]:
    """A function that draws an answer into a file, which is whole or not there."""
    name = os.fsdecode(target)
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"error: cannot plot into {name}: expected a file name in {', '.join(FORMATS)}")
    with replacing(target) as stream:
        # Nothing is written as text.
        binary = cast(TextIO, stream).buffer
        yield lambda found: _save(lambda: figure(found), binary, suffix[1:])


def _save(draw: "Callable[[], Figure]", stream: IO[bytes], form: str) -> None:
    # Neither a display nor the moment of drawing may change the picture.
    import matplotlib

    style: Any = {"svg.hashsalt": "diskwright", "svg.fonttype": "path", "pdf.fonttype": 42, "font.size": 10}
    dates: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    with matplotlib.rc_context(style):
        buffer = io.BytesIO()
        draw().savefig(buffer, format=form, dpi=100, metadata=dates[form])
    stream.write(buffer.getvalue())


def figure(found: Record) -> "Figure":
    """A panel for each thing that was measured: seek curve, access times, bandwidth, random reads, caches."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    is_flash = found.get("kind") == "ssd"
    panels = [panel for panel in (_plot_flash.PANELS if is_flash else _PANELS) if found.get(panel[0])]
    columns = min(len(panels), 2) or 1
    rows = -(-len(panels) // columns) or 1
    made = Figure(figsize=(6.4 * columns, 4.5 * rows), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    gigabytes = found.capacity_blocks * 512 / 1e9
    size = f"{gigabytes:,.1f} GB" if gigabytes < 1000 else f"{gigabytes / 1000:,.1f} TB"
    title = f"{found.name}: {size}, " + ("flash" if is_flash else f"{found.rpm:,.0f} rpm")
    if is_flash and "simulated" in found:
        title += f"; as full a drive of {found.simulated.capacity_blocks * 512 / 1e9:,.3g} GB in its place"
    made.suptitle(textwrap.fill(title, 40 * columns), fontsize=14, fontweight="bold")
    places = made.subplots(rows, columns, squeeze=False).flat
    for axes, (_, title, draw) in zip(places, panels, strict=False):
        axes.set_title(title, fontsize=12)
        axes.grid(alpha=0.3, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        draw(axes, found)
    for axes in places[len(panels) :]:
        axes.set_axis_off()
    return made


def _seek(axes: "Axes", found: Record) -> None:
    distances = [seek.distance_cylinders for seek in found.seek]
    for kind, colour, dashes in (("write", COLOURS[1], "--"), ("read", COLOURS[0], "-")):
        times = [seek[f"{kind}_ms"] for seek in found.seek]
        axes.plot(distances, times, dashes, color=colour, linewidth=1.4, label=_kinds[kind])
    _by_distance(axes, "motion, ms")


_kinds = {"read": "reads", "write": "writes, with their settling"}


def _access(axes: "Axes", found: Record) -> None:
    access = found.access
    distances = [point.distance_cylinders for point in access]
    low, high = [point.p005_ms for point in access], [point.p995_ms for point in access]
    axes.fill_between(
        distances, low, high, color=COLOURS[5], alpha=0.35, linewidth=0, label="99 % of accesses"
    )
    means = [point.mean_ms for point in access]
    # Between the points nothing was measured.
    axes.plot(distances, means, ".-", color=COLOURS[0], linewidth=1.2, label="mean, seek and rotation")
    _by_distance(axes, "access time, ms")


def _by_distance(axes: "Axes", label: str) -> None:
    axes.set_xlabel("distance, cylinders")
    axes.set_ylabel(label)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="lower right", frameon=False, reverse=True)


def _zones(axes: "Axes", found: Record) -> None:
    edges = [zone.first_lbn * 512 / 1e9 for zone in found.zones]
    edges.append((found.zones[-1].last_lbn + 1) * 512 / 1e9)
    # The host's rate is often the sustained one: it lies below, and wider.
    for key, label, colour, dashes, width in (
        ("host", "at the host, through the interface", "#7FCEB9", "-", 5.0),
        ("media", "on a track", COLOURS[1], "--", 1.6),
        ("sustained", "sustained, with all switches", COLOURS[0], "-", 1.6),
    ):
        rates = [zone[f"{key}_mb_per_s"] for zone in found.zones]
        axes.stairs(rates, edges, baseline=None, color=colour, linestyle=dashes, linewidth=width, label=label)
    axes.set_xlabel("address, GB")
    axes.set_ylabel("bandwidth, MB/s")
    axes.set_xlim(0, edges[-1])
    # Room for the legend above what falls from left to right.
    axes.set_ylim(0, 1.32 * max(zone.media_mb_per_s for zone in found.zones))
    axes.xaxis.set_major_formatter("{x:,g}")
    handles, labels = axes.get_legend_handles_labels()
    order = (1, 2, 0)
    axes.legend(
        [handles[index] for index in order],
        [labels[index] for index in order],
        loc="upper right",
        frameon=False,
    )


def _random(axes: "Axes", found: Record) -> None:
    series = list(dict.fromkeys((point.scheduler, point.ships) for point in found.random))
    for index, (scheduler, ships) in enumerate(series):
        points = sorted(
            (point for point in found.random if (point.scheduler, point.ships) == (scheduler, ships)),
            key=lambda point: point.depth,
        )
        axes.errorbar(
            [point.depth for point in points],
            [point.iops for point in points],
            yerr=[[_margin(point, 0) for point in points], [_margin(point, 1) for point in points]],
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=DASHES[index % len(DASHES)],
            markersize=5,
            linewidth=1.4,
            capsize=3,
            label=f"{scheduler}, as shipped" if ships else scheduler,
        )
    depths = sorted({point.depth for point in found.random})
    axes.set_xscale("log", base=2)
    axes.set_xticks(depths, [str(depth) for depth in depths])
    axes.minorticks_off()
    axes.set_xlabel("queue depth, requests")
    size = found.random_read_bytes
    axes.set_ylabel(f"reads of {size / 1024:,g} KiB a second")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="upper left", frameon=False, title="scheduler", reverse=True)


def _margin(point: Record, end: int) -> float:
    """How far the interval reaches from the rate; none where it is not known."""
    interval = point.iops_ci95
    return 0.0 if interval is None else abs(float(interval[end] - point.iops))


def _streams(axes: "Axes", found: Record) -> None:
    for index, (kind, label) in enumerate((("read", "reads"), ("write", "writes"))):
        points = found.streams[kind]
        axes.plot(
            [point.streams for point in points],
            [point.mb_per_s for point in points],
            color=COLOURS[index],
            marker=MARKERS[index],
            linestyle=DASHES[index],
            markersize=5,
            linewidth=1.4,
            label=label,
        )
    numbers = [point.streams for point in found.streams.read]
    axes.set_xscale("log", base=2)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    axes.minorticks_off()
    axes.set_xlabel(f"streams, requests of {found.streams.request_bytes / 1024:,g} KiB")
    axes.set_ylabel("bandwidth of all, MB/s")
    axes.set_ylim(bottom=0)
    _legend_below(axes)


def _writes(axes: "Axes", found: Record) -> None:
    for index, state in enumerate(found.writes.states):
        edges = [0.0, *(interval.to_s for interval in state.intervals)]
        # Time begins at zero, which a logarithmic axis does not have.
        edges[0] = edges[1] / 2
        rates = [interval.iops for interval in state.intervals]
        label = f"write cache {state.write_cache}" + (", as shipped" if state.ships else "")
        style: dict[str, Any] = {"color": COLOURS[index], "linewidth": 1.4}
        axes.stairs(rates, edges, baseline=None, label=label, linestyle=DASHES[index], **style)
        if state.burst is not None:
            axes.axvline(state.burst.end_s, linestyle=":", **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(f"time, s; {found.writes.depth} outstanding; dotted: memory is full")
    axes.set_ylabel(f"writes of {found.writes.request_bytes / 1024:,g} KiB a second")
    _legend_below(axes)


def _legend_below(axes: "Axes") -> None:
    """A legend where no curve can be."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, frameon=False)


def _destage(axes: "Axes", found: Record) -> None:
    states = found.destage.states
    times = {
        "the burst": "burst_ms",
        "then in idle time": "idle_destage_ms",
        "or by a flush": "flush_at_once_ms",
    }
    height = 0.8 / len(times)
    for index, (label, key) in enumerate(times.items()):
        places = [place + index * height for place in range(len(states))]
        known = [
            (place, state[key] / 1000) for place, state in zip(places, states, strict=True) if state[key]
        ]
        if known:
            at, lengths = [place for place, _ in known], [seconds for _, seconds in known]
            axes.barh(at, lengths, height * 0.9, color=COLOURS[index], label=label)
            for place, seconds in known:
                axes.annotate(
                    f"{seconds:,.3g} s", (seconds, place), (3, 0), textcoords="offset points", va="center"
                )
    names = [f"{state.write_cache},\n{state.bytes / 1e6:,.3g} MB" for state in states]
    axes.set_yticks([place + height for place in range(len(states))], names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.2)
    axes.set_xlabel("s, of random writes until memory is full, by state of the write cache")
    _legend_below(axes)


_PANELS = (
    ("seek", "Seek curve", _seek),
    ("access", "Access time of random sectors", _access),
    ("zones", "Bandwidth of long reads", _zones),
    ("random", "Random reads", _random),
    ("streams", "Sequential streams", _streams),
    ("writes", "Random writes over time", _writes),
    ("destage", "Time to destage", _destage),
)
