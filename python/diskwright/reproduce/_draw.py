"""Figures as files, PNG and SVG, the same bytes every time."""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diskwright._figures import _COLOURS, _DASHES, _HATCHES
from diskwright.reproduce._series import Series, labels, places, series, ticks, written
from diskwright.reproduce._system import Bars, Figure, Lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("png", "svg")

_MARKERS = "os^DvPX*"
# The most columns of a legend, and the letters for which it is wide enough in all of them together.
_COLUMNS = 3
_LEGEND = 90
# The share of a place that its bars take.
_WIDTH = 0.8


def files(figure: Figure, points: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    """The figure in each format."""
    import matplotlib

    # Neither a display nor the moment of drawing may change the picture.
    style: Any = {"svg.hashsalt": "diskwright", "svg.fonttype": "path", "font.size": 10}
    metadata: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "png": {}}
    made = {}
    with matplotlib.rc_context(style):
        for form in FORMATS:
            buffer = io.BytesIO()
            _figure(figure, points).savefig(buffer, format=form, dpi=120, metadata=metadata[form])
            made[form] = buffer.getvalue()
    return made


def _figure(figure: Figure, points: Sequence[Mapping[str, Any]]) -> Any:
    from matplotlib.figure import Figure as Canvas

    drawn = figure.drawn
    assert drawn is not None, "only what is drawn has a file"
    curves = series(figure, points)
    canvas = Canvas(figsize=(6.8, 4.4), layout="constrained")
    axes = canvas.subplots()
    axes.grid(alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(figure.title, fontsize=11, loc="left", wrap=True)
    x_label, y_label = labels(drawn)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    if isinstance(drawn, Lines):
        _lines(axes, drawn, curves)
    else:
        _bars(axes, drawn, curves)
    if any(curve.name for curve in curves):
        columns = max(1, min(_COLUMNS, _LEGEND // max(len(curve.name) for curve in curves)))
        canvas.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=9)
    return canvas


def _lines(axes: "Axes", drawn: Lines, curves: Sequence[Series]) -> None:
    for curve in curves:
        axes.errorbar(
            curve.x,
            curve.y,
            yerr=None if curve.is_paper else [curve.below, curve.over],
            label=curve.name,
            color=_COLOURS[curve.tone % len(_COLOURS)],
            linestyle=":" if curve.is_paper else _DASHES[curve.tone // len(_COLOURS) % len(_DASHES)],
            marker=_MARKERS[curve.tone % len(_MARKERS)],
            markerfacecolor="white" if curve.is_paper else None,
            markersize=5,
            linewidth=1.4,
            capsize=3,
        )
    if drawn.x_log:
        axes.set_xscale("log")
        if few := ticks(curves):
            axes.set_xticks(few)
            axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter("{x:g}")
    if drawn.y_log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")


def _bars(axes: "Axes", drawn: Bars, curves: Sequence[Series]) -> None:
    at = {place: index for index, place in enumerate(places(curves))}
    width = _WIDTH / max(len(curves), 1)
    for order, curve in enumerate(curves):
        shift = width * (order + 0.5) - _WIDTH / 2
        axes.bar(
            [at[x] + shift for x in curve.x],
            curve.y,
            width * 0.94,
            yerr=None if curve.is_paper else [curve.below, curve.over],
            label=curve.name,
            color="white" if curve.is_paper else _COLOURS[curve.tone % len(_COLOURS)],
            edgecolor=_COLOURS[curve.tone % len(_COLOURS)],
            hatch="////" if curve.is_paper else _HATCHES[curve.tone // len(_COLOURS) % len(_HATCHES)],
            capsize=3,
            error_kw={"linewidth": 1.2},
        )
    axes.set_xticks(range(len(at)), [written(place) for place in at])
    axes.grid(visible=False, axis="x")
    axes.axhline(0, color="black", linewidth=0.8)
