"""Draws the figures of the manual, `docs/figures/*.svg`, from runs of the engine.

python tools/figures.py              draws all of them, in less than a minute
python tools/figures.py NAME …       draws some
python tools/figures.py --to FOLDER  draws elsewhere

Every number in a figure is simulated, or worked out from a formula that the figure names. The same engine
and the same matplotlib draw the same bytes. Text and axes are dark on light pages and light on dark ones.
"""

import argparse
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from figures_cache import miss_ratio
from figures_disk import access_parts, access_time, rotation_edge, seek_curves, seek_short, skew, zones
from figures_drives import sorted_set, synchronous_writes
from figures_queue import batches, queue_forms, schedulers, warm_up

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "figures"
SIZE = (7.2, 3.3)
"""Inches, of 100 pixels each."""

# A colour that nothing else has: it becomes that of the text around.
_INK = "#010203"
_STYLE: Any = {
    "svg.hashsalt": "diskwright",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.alpha": 0.22,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    # Between the contrasts of a light and of a dark page.
    "axes.prop_cycle": cycler(
        color=["#3483c8", "#d9662b", "#1fa37a", "#b36fb0", "#c08c1c", "#7f8c99", "#c94f6d", "#4aa9b8"]
    ),
} | dict.fromkeys(
    ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), _INK
)

DRAWINGS: dict[str, tuple[int, Callable[..., None]]] = {
    "zones": (1, zones),
    "skew": (1, skew),
    "seek-curves": (1, seek_curves),
    "seek-short": (1, seek_short),
    "rotation-edge": (2, rotation_edge),
    "access-parts": (1, access_parts),
    "access-time": (1, access_time),
    "queue-forms": (2, queue_forms),
    "intervals": (1, batches),
    "warm-up": (1, warm_up),
    "schedulers": (2, schedulers),
    "miss-ratio": (1, miss_ratio),
    "sorted-set": (1, sorted_set),
    "synchronous-writes": (2, synchronous_writes),
}
"""By name: how many panels side by side, and what draws into them."""


def draw(name: str) -> str:
    """A figure as SVG."""
    panels, drawing = DRAWINGS[name]
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=SIZE, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
        axes: list[Axes] = list(figure.subplots(1, panels, squeeze=False)[0])
        drawing(*axes)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    return themed(written.getvalue())


def themed(svg: str) -> str:
    """A picture whose ink follows the page."""
    style = "<style>svg{color:#24292f}@media(prefers-color-scheme:dark){svg{color:#d3d7dd}}</style>"
    svg = svg.replace(_INK, "currentColor")
    # Hundredths of a point are not seen.
    svg = re.sub(r'(?<=<path d=")M[^"]*', lambda path: re.sub(r"(?<=\.\d\d)\d+", "", path[0]), svg)
    return re.sub(r"(<svg [^>]*>)", rf"\1{style}", svg, count=1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    # No name at all is a choice, too: the empty list.
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*DRAWINGS, []])
    parser.add_argument("--to", type=Path, default=FOLDER, metavar="FOLDER")
    asked = parser.parse_args()
    asked.to.mkdir(parents=True, exist_ok=True)
    for name in asked.names or DRAWINGS:
        (asked.to / f"{name}.svg").write_text(draw(name), encoding="utf-8")


if __name__ == "__main__":
    main()
