"""The picture of miss ratios."""

from typing import TYPE_CHECKING

from diskwright._plot import COLOURS, DASHES, MARKERS
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
    for index, policy in enumerate(found.policies):
        points = sorted(
            (point for point in found.points if point.policy == policy.policy),
            key=lambda point: point.capacity,
        )
        ratios = [point.miss_ratio for point in points]
        axes.errorbar(
            [point.capacity for point in points],
            ratios,
            yerr=_margins(points),
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=DASHES[index % len(DASHES)],
            markersize=5,
            linewidth=1.4,
            capsize=3,
            label=policy.policy,
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylabel("miss ratio")
    _name_capacities(axes, found)
    axes.legend(frameon=False, title="policy", loc="best")
    return made


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
    axes.xaxis.set_major_formatter("{x:,g}")
    if "block_bytes" not in found:
        axes.set_xlabel("capacity, objects")
        return
    axes.set_xlabel(f"capacity, blocks of {byte_size(found.block_bytes)}")
    block = found.block_bytes
    above = axes.secondary_xaxis("top", functions=(lambda x: x * block, lambda x: x / block))
    above.xaxis.set_major_formatter(lambda value, _: byte_size(value))
    above.set_xlabel("capacity")
