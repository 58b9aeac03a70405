"""Figures of caches."""

from pathlib import Path

from matplotlib.axes import Axes

import diskwright
from diskwright import _miss_ratio_plot

TRACE = Path(__file__).resolve().parent.parent / "examples" / "traces" / "debian-guest.csv.zst"


def miss_ratio(axes: Axes) -> None:
    """What howto/cache-size.md asks for."""
    found = diskwright.miss_ratio(TRACE, policies=["lru", "fifo"])
    _miss_ratio_plot.draw(axes, found, ["C0", "C1"])
    axes.legend()
