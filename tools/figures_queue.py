"""Figures of queues and of what is measured of them."""

from typing import Any

import numpy
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

import diskwright
from diskwright import Record

_SEEDS = 5
# Student's t for 95 % and 4 degrees of freedom.
_T = 2.776


def queue_forms(response: Axes, difference: Axes) -> None:
    """Reads of one track: simulated, and both closed forms of model/closed-forms.md."""
    sectors, turn = 312, 60e3 / 7200
    tau = turn / sectors
    b0, m0 = turn / 2 + tau, turn**2 / 12 + (turn / 2 + tau) ** 2
    b, m = (sectors + 1) / 2 * tau, (sectors + 1) * (2 * sectors + 1) / 6 * tau**2
    loads = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    plain, edged = [], []
    for load in loads:
        rate = load / b0
        plain.append(b0 + rate * m0 / (2 * (1 - rate * b0)))
        f = 1 - rate * (b - b0)
        edged.append(b0 / f + rate * (m0 - m) / (2 * f) + rate * m / (2 * (1 - rate * b)))
    means, margins = zip(*(_replicated(b0, load, sectors) for load in loads), strict=True)
    response.plot(loads, plain, "--", color="C1", label="Pollaczek-Khinchine")
    response.plot(loads, edged, color="C2", label="with the sector's edge")
    response.errorbar(loads, means, margins, fmt="o", color="C0", markersize=4, capsize=2, label="simulated")
    response.set(xlabel="load", ylabel="mean response, ms", xlim=(0, 0.9), ylim=(0, None))
    response.legend(loc="upper left")

    def relative(values: "list[float] | tuple[float, ...]") -> list[float]:
        return [value / form - 1 for value, form in zip(values, edged, strict=True)]

    difference.axhline(0, color="C2")
    difference.plot(loads, relative(plain), "--", color="C1")
    margin = [one / form for one, form in zip(margins, edged, strict=True)]
    difference.errorbar(loads, relative(means), margin, fmt="o", color="C0", markersize=4, capsize=2)
    difference.yaxis.set_major_formatter(PercentFormatter(1, decimals=2))
    difference.set(xlabel="load", ylabel="from the form with the edge", xlim=(0, 0.9))


def _replicated(service_ms: float, load: float, sectors: int) -> tuple[float, float]:
    """The mean response in ms and its 95 % margin, over seeds."""
    # The busier, the longer requests are alike.
    requests = round(200_000 / (1 - load) ** 2)
    spec = {
        "workload": {
            "synthetic": {
                "requests": requests,
                "arrivals": {"poisson": f"{service_ms / load:.6f} ms"},
                "size": "1 block",
                "address": {"uniform": {"blocks": sectors}},
            }
        },
        "measure": {"warmup": "1 %"},
        "device": {"hdd": {"drive": "ibm-18es-linear"}},
    }
    found = diskwright.run_many([(spec, {"seed": seed}) for seed in range(1, _SEEDS + 1)])
    values = [result.response_ms.mean for result in found]
    mean = sum(values) / _SEEDS
    variance = sum((value - mean) ** 2 for value in values) / (_SEEDS - 1)
    return mean, float(_T * (variance / _SEEDS) ** 0.5)


def batches(axes: Axes) -> None:
    """The 95 % intervals of many short runs, and the mean of a long one."""
    spec = {
        "workload": {"synthetic": {"requests": 40_000, "arrivals": {"poisson": "18 ms"}, "size": "8 blocks"}},
        "measure": {"warmup": "10 %"},
        "device": {"hdd": {"drive": "ibm-18es"}},
    }
    truth = diskwright.run(spec, workload__synthetic__requests=6_000_000, seed=1_000).response_ms.mean
    results = diskwright.run_many([(spec, {"seed": seed}) for seed in range(1, 41)])
    known = [(seed, result.response_ms) for seed, result in enumerate(results, 1) if result.response_ms.ci95]
    for does_hold, colour, label in ((True, "C0", "hold it"), (False, "C1", "miss it")):
        some = [(seed, ms) for seed, ms in known if (ms.ci95[0] <= truth <= ms.ci95[1]) is does_hold]
        axes.errorbar(
            [seed for seed, _ in some],
            [ms.mean for _, ms in some],
            [[ms.mean - ms.ci95[0] for _, ms in some], [ms.ci95[1] - ms.mean for _, ms in some]],
            fmt="o",
            color=colour,
            markersize=3,
            capsize=2,
            linewidth=1.2,
            label=f"{len(some)} intervals {label}",
        )
    axes.axhline(truth, color="C2", label="mean of a run of 6,000,000 requests")
    axes.set(xlabel="seed of a run of 40,000 requests", ylabel="mean response, ms", xlim=(0, 41))
    axes.set_title(
        f"ibm-18es, a random read every 18 ms; {len(results) - len(known)} of 40 runs give no interval"
    )
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)


def warm_up(axes: Axes) -> None:
    """The mean response by the number of the request, over many runs that begin with an empty queue."""
    requests, runs, width = 400, 3_000, 10
    spec = {
        "workload": {
            "synthetic": {"requests": requests, "arrivals": {"poisson": "16 ms"}, "size": "8 blocks"}
        },
        "measure": {"warmup": 0},
        "device": {"hdd": {"drive": "ibm-18es"}},
    }
    sums = numpy.zeros(requests // width)
    for seed in range(1, runs + 1):
        log = diskwright.run(spec, seed=seed, requests=True).request_log.to_polars().sort("sequence")
        times = (log["completion_ns"] - log["arrival_ns"]).to_numpy() / 1e6
        sums += times.reshape(-1, width).mean(axis=1) / runs
    long = diskwright.run(
        spec, seed=1_000, measure__warmup="10 %", workload__synthetic__requests=3_000_000
    ).response_ms.mean
    axes.plot(
        [(place + 0.5) * width for place in range(len(sums))],
        sums,
        ".-",
        color="C0",
        markersize=4,
        label=f"mean of {runs:,} runs",
    )
    axes.axhline(long, color="C2", label="mean of a run of 3,000,000 requests")
    axes.set(
        xlabel="request, counted from the first",
        ylabel="mean response, ms",
        xlim=(0, requests),
        ylim=(0, None),
    )
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_title("ibm-18es, a random read every 16 ms: the queue is empty at first")
    axes.legend(loc="lower right")


def schedulers(rate: Axes, tail: Axes) -> None:
    """Random reads by the depth of the queue."""
    names = ["fcfs", "sstf", "c-look", "satf", "ncq", "batch-satf"]
    depths = [1, 2, 4, 8, 16, 32, 64, 128]
    found = diskwright.probe("ibm-18es", only=["iops"], schedulers=names, depths=depths, reads=20_000).random

    def points(name: str) -> list[Record]:
        return [point for point in found if point.scheduler == name]

    for index, name in enumerate(names):
        style: Any = {"color": f"C{index}", "marker": "os^Dvx"[index], "markersize": 4}
        rate.plot(depths, [point.iops for point in points(name)], **style, label=name)
        tail.plot(depths, [point.response_p99_ms for point in points(name)], **style)
    for axes in (rate, tail):
        axes.set_xscale("log", base=2)
        axes.set_xticks(depths, [str(depth) for depth in depths])
        axes.minorticks_off()
        axes.set_xlabel("requests in the queue")
    tail.set_yscale("log")
    tail.yaxis.set_major_formatter("{x:,.0f}")
    rate.set(ylabel="reads a second", ylim=(0, None))
    tail.set(ylabel="99th percentile of the response, ms")
    rate.legend(loc="upper left", ncols=2)
