"""Do figures of results show their numbers?"""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import diskwright


def data(line: Any) -> list[list[float]]:
    return [[float(value) for value in values] for values in line.get_data()]


@pytest.fixture
def result(spec: Path) -> diskwright.Result:
    return diskwright.run(spec, requests=True)


def test_the_distribution_is_that_of_the_measured_requests(result: diskwright.Result) -> None:
    for tail in (False, True):
        (axes,) = result.plot_cdf(tail=tail).axes
        (line,) = axes.lines
        times, shares = data(line)
        assert len(times) == result.requests.measured == 1_800
        assert times == sorted(times)
        assert times[-1] == pytest.approx(result.response_ms.max)
        assert sum(times) / len(times) == pytest.approx(result.response_ms.mean)
        assert times[899] == pytest.approx(result.response_ms.p50, rel=2e-3)
        assert shares[899] == pytest.approx(0.5) and shares[-1] == (0 if tail else 1)
        assert "ms" in axes.get_xlabel()
        assert axes.get_yscale() == ("log" if tail else "linear")


def test_without_requests_the_percentiles_are_drawn(spec: Path) -> None:
    result = diskwright.run(spec)
    (line,) = result.plot_cdf().axes[0].lines
    times, shares = data(line)
    response = result.response_ms
    assert times == [response.p50, response.p90, response.p95, response.p99, response.p999]
    assert shares == [0.5, 0.9, 0.95, 0.99, 0.999]


def test_several_results_share_axes_and_have_labels(result: diskwright.Result, spec: Path) -> None:
    other = diskwright.run(spec, device__hdd__queue__scheduler="satf", requests=True)
    for drawn, labels in (
        (diskwright.plot_cdf([result, other]), ["run 1", "run 2"]),
        (diskwright.plot_cdf({"a": result, "b": other}), ["a", "b"]),
        (diskwright.plot_cdf([result, other], labels=["a", "c"], tail=True), ["a", "c"]),
    ):
        legend = drawn.axes[0].get_legend()
        assert legend is not None and [text.get_text() for text in legend.get_texts()] == labels
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert diskwright.plot_cdf([result], ax=left) is figure
    assert other.plot_parts(ax=right) is figure
    assert left.lines and right.patches


def test_the_parts_add_up(result: diskwright.Result) -> None:
    (axes,) = diskwright.plot_parts({"fcfs": result, "again": result}).axes
    bars: list[Any] = list(axes.patches)
    widths = [bar.get_width() for bar in bars]
    assert sum(widths) == pytest.approx(2 * sum(result.parts_ms.values()))
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["fcfs", "again"]
    legend = axes.get_legend()
    assert legend is not None
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == [part.replace("_", " ") for part, mean in result.parts_ms.items() if mean > 0]


def test_what_cannot_be_drawn_is_told(result: diskwright.Result) -> None:
    with pytest.raises(ValueError, match="there is none"):
        diskwright.plot_cdf([])
    with pytest.raises(ValueError, match="expected 1, one for each result; found 2"):
        diskwright.plot_parts([result], labels=["a", "b"])
    with pytest.raises(TypeError, match="expected a list of texts"):
        diskwright.plot_cdf([result], labels="a")


def test_devices_with_other_parts_stand_side_by_side(result: diskwright.Result) -> None:
    constant = diskwright.run(
        {
            "workload": {"synthetic": {"requests": 100, "arrivals": {"closed": {"users": 1}}}},
            "measure": {"warmup": 0},
            "device": {"simple": {"capacity": "1 GB", "read": "2 ms", "write": "2 ms"}},
        }
    )
    assert set(constant.parts_ms) != set(result.parts_ms)
    (axes,) = diskwright.plot_parts({"disk": result, "constant": constant}).axes
    bars: list[Any] = list(axes.patches)
    widths = [bar.get_width() for bar in bars]
    assert sum(widths) == pytest.approx(sum(result.parts_ms.values()) + sum(constant.parts_ms.values()))
