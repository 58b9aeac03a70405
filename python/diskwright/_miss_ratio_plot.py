"""The picture of miss ratios."""

from collections.abc import Sequence
from math import ceil, floor, log2
from typing import TYPE_CHECKING

from diskwright._palette import COLOURS, DASHES, MARKERS
from diskwright._record import Record
from diskwright._text import byte_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure(found: Record) -> "Figure":
    """Miss ratio against capacity, a curve a policy, with the intervals of samples."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(7.2, 4.8), layout="constrained")
    axes = made.subplots()
    axes.grid(alpha=0.3, linewidth=0.6)
    draw(axes, found, COLOURS)
    axes.legend(frameon=False, title="policy")
    return made


def draw(axes: "Axes", found: Record, colours: Sequence[str]) -> None:
    """The curves, and what the axes say."""
    for index, policy in enumerate(found.policies):
        points = [point for point in found.points if point.policy == policy.policy]
        points.sort(key=lambda point: point.capacity)
        axes.errorbar(
            [point.capacity for point in points],
            [point.miss_ratio for point in points],
            yerr=_margins(points),
            color=colours[index % len(colours)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=DASHES[index % len(DASHES)],
            markersize=5,
            linewidth=1.4,
            capsize=3,
            label=policy.policy,
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.set_ylabel("miss ratio")
    axes.spines[["top", "right"]].set_visible(False)
    _name_capacities(axes, found)


def _margins(points: list[Record]) -> list[list[float]] | None:
    """How far the intervals reach below and above the points; none where all objects were looked at."""
    intervals = [point.get("miss_ratio_ci95") for point in points]
    if not any(intervals):
        return None
    ends = [interval or [point.miss_ratio] * 2 for point, interval in zip(points, intervals, strict=True)]
    below = [point.miss_ratio - low for point, (low, _) in zip(points, ends, strict=True)]
    above = [high - point.miss_ratio for point, (_, high) in zip(points, ends, strict=True)]
    return [below, above]


def _name_capacities(axes: "Axes", found: Record) -> None:
    """Objects, or blocks and above them what they are in bytes."""
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_minor_formatter("")
    if "block_bytes" not in found:
        axes.set_xlabel("capacity, objects")
        return
    axes.set_xlabel(f"capacity, blocks of {byte_size(found.block_bytes)}")
    block = found.block_bytes
    above = axes.secondary_xaxis("top", functions=(lambda x: x * block, lambda x: x / block))
    low, high = (end * block for end in axes.get_xlim())
    powers = range(ceil(log2(low)), floor(log2(high)) + 1)
    # Every few powers of two: the ticks of a decimal scale would be odd sizes.
    shown = [2.0**power for power in powers][:: max(1, len(powers) // 6)]
    above.set_xticks(shown, [byte_size(size) for size in shown])
    above.set_xticks([], minor=True)
    above.set_xlabel("capacity")
