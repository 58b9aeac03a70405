"""Figures of results: distributions of response times, and what a request's time goes to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from diskwright._palette import PARTS
from diskwright._record import Comparison, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# As in the picture of a probe: told apart by everybody, and by dashes in black and white.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
_DASHES = ("-", "--", "-.", ":")
_HATCHES = ("", "//", "..", "\\\\", "xx", "--", "++", "oo")

# The percentiles that every result has.
_PERCENTILES = (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999))

Results = Result | Iterable[Result] | Mapping[str, Result]


def plot_cdf(
    results: Results,
    /,
    *,
    labels: Sequence[str] | None = None,
    tail: bool = False,
    ax: "Axes | None" = None,
) -> "Figure":
    """Draws the distribution of response times, of one result or several.

    results: a result, a list of them, or a dict, whose keys are the labels.
    labels: what the results are called in the legend.
    tail: draws the share of slower requests on a logarithmic scale, which shows the tail.
    ax: draws into these axes in place of a new figure.

    A result that has its requests (`run(…, requests=True)`) gives the exact curve of all requests that were
    measured; of others the known percentiles are drawn, joined by straight lines.
    """
    from matplotlib.ticker import LogFormatter

    named = _named(results, labels)

    def draw(axes: "Axes") -> None:
        for index, (label, result) in enumerate(named):
            times, shares, is_exact = _distribution(result)
            axes.plot(
                times,
                [1 - share for share in shares] if tail else shares,
                linestyle=_DASHES[index % len(_DASHES)],
                drawstyle="steps-post" if is_exact else "default",
                marker="" if is_exact else "o",
                markersize=4,
                color=_COLOURS[index % len(_COLOURS)],
                linewidth=1.4,
                label=label,
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        # Where less than a decade is shown, plain numbers too.
        axes.xaxis.set_minor_formatter(LogFormatter())
        axes.set_xlabel("response time, ms")
        if tail:
            axes.set_yscale("log")
            axes.set_ylim(top=1)
            axes.set_ylabel("share of requests that take longer")
        else:
            axes.set_ylim(0, 1.02)
            axes.set_ylabel("share of requests")
        if any(label for label, _ in named):
            axes.legend(loc="lower left" if tail else "lower right", frameon=False)

    return _drawn(draw, ax, (6.4, 4.4))


def plot_parts(
    results: Results, /, *, labels: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Figure":
    """Draws what the mean request's time from start to completion goes to, a bar for each result.

    results, labels, ax: as for `plot_cdf`.
    """
    named = _named(results, labels)
    parts = list(dict.fromkeys(part for _, result in named for part in result.parts_ms))
    # Devices of different kinds have different parts.
    shown = [part for part in parts if any(result.parts_ms.get(part, 0) > 0 for _, result in named)]

    def draw(axes: "Axes") -> None:
        places = range(len(named))
        left = [0.0] * len(named)
        for index, part in enumerate(shown):
            widths = [float(result.parts_ms.get(part, 0)) for _, result in named]
            axes.barh(
                places,
                widths,
                left=left,
                height=0.6,
                color=PARTS[part][0],
                edgecolor="white",
                hatch=_HATCHES[index % len(_HATCHES)],
                linewidth=0.5,
                label=part.replace("_", " "),
            )
            left = [start + width for start, width in zip(left, widths, strict=True)]
        axes.set_yticks(places, [label for label, _ in named])
        axes.tick_params(axis="y", length=0)
        # The first result on top.
        axes.invert_yaxis()
        axes.set_xlabel("mean time of a request, ms")
        axes.grid(visible=False, axis="y")
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False)

    return _drawn(draw, ax, (6.4, 1.7 + 0.45 * len(named)))


def plot_comparison(found: Comparison, metric: str, *, ax: "Axes | None" = None) -> "Figure":
    """Draws a quantity of every variant of a comparison, with its interval."""
    from diskwright import _compared

    data = found.to_dict()
    known = list(data["variants"][0]["metrics"])
    if metric not in known:
        raise ValueError(f"metric: expected one of those compared, {', '.join(known)}; not {metric!r}")
    means = [variant["metrics"][metric] for variant in data["variants"]]
    names = _compared.names(found)

    def draw(axes: "Axes") -> None:
        for place, mean in enumerate(means):
            if mean["value"] is None:
                continue
            low, high = mean["ci95"] or (mean["value"], mean["value"])
            axes.errorbar(
                mean["value"],
                place,
                xerr=[[mean["value"] - low], [high - mean["value"]]],
                fmt="o" if place != data["baseline"] else "s",
                color=_COLOURS[0] if place != data["baseline"] else _COLOURS[1],
                capsize=4,
            )
        axes.set_yticks(range(len(names)), names)
        # The first variant on top.
        axes.invert_yaxis()
        axes.margins(y=0.5 / max(len(names), 1))
        axes.set_xlabel(_compared.label(metric))

    return _drawn(draw, ax, (6.4, 1.4 + 0.4 * len(names)))


def _drawn(draw: Callable[["Axes"], None], ax: "Axes | None", size: tuple[float, float]) -> "Figure":
    """Draws into the axes, or into a figure of its own; no window and no global state are involved."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=size, layout="constrained").subplots() if ax is None else ax
    axes.grid(alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    draw(axes)
    figure: Any = axes.get_figure(root=True)
    assert isinstance(figure, Figure)
    return figure


def _named(results: Results, labels: Sequence[str] | None) -> list[tuple[str, Result]]:
    if isinstance(results, Result):
        found, names = [results], [""]
    elif isinstance(results, Mapping):
        found, names = list(results.values()), list(results)
    else:
        found = list(results)
        names = [f"run {number}" for number in range(1, len(found) + 1)]
    if labels is not None:
        if isinstance(labels, str):
            raise TypeError(f"labels: expected a list of texts, not the string {labels!r}")
        names = list(labels)
    if not found:
        raise ValueError("results: there is none to draw")
    if len(names) != len(found):
        raise ValueError(f"labels: expected {len(found)}, one for each result; found {len(names)}")
    return list(zip(names, found, strict=True))


def _distribution(result: Result) -> tuple[list[float], list[float], bool]:
    """Response times in ms, the share of requests up to each, and whether all requests are in it."""
    if times := result._measured_ms():
        return times, [rank / len(times) for rank in range(1, len(times) + 1)], True
    response = result.response_ms
    return [response[name] for name, _ in _PERCENTILES], [share for _, share in _PERCENTILES], False
