"""A system as those of `diskwright.systems` are: two specs on a drive, a statement of each verdict."""

from collections.abc import Mapping
from typing import Any

from diskwright.reproduce import (
    Bars,
    Call,
    Figure,
    Inspect,
    Lines,
    Point,
    Run,
    Statement,
    System,
    Trace,
    above,
    below,
    near,
)

# What the tests write into a folder of data.
TRACE = Trace(
    "toy-trace",
    bytes=56,
    sha256="e8fcd9e081737800179ddb173d7f54c128cf8ae591881750bb956f30b52cffb3",
    source="written by the tests",
)
DEPTHS = (1, 4, 16)


def run(scheduler: str, depth: int = 16) -> Run:
    return Run(
        {
            "workload": {
                "synthetic": {
                    "requests": 3_000,
                    "arrivals": {"closed": {"users": 16}},
                    "size": "8 blocks",
                    "address": "uniform",
                }
            },
            "measure": {"warmup": "10 %"},
            "device": {"hdd": {"drive": "ibm-18es", "queue": {"depth": depth, "scheduler": scheduler}}},
        }
    )


def service_s(result: Any) -> float:
    total: float = result.service_ms.total
    return total / 1e3


def gain(results: Any) -> float:
    return 1 - service_s(results["satf"]) / service_s(results["fcfs"])


def draws(seed: int, scale: float) -> Mapping[str, Any]:
    """Numbers on both sides of zero, whatever the scale."""
    return {"value": scale * (-1) ** seed}


BOTH = {"fcfs": run("fcfs"), "satf": run("satf")}

SYSTEM = System(
    name="toy",
    title="A toy: two schedulers on a drive",
    paper="The tests, first edition",
    about=["Random reads of 4 KiB by sixteen users, in place of what the paper does not say."],
    traces=[TRACE],
    quick=1_000,
    figures=[
        Figure(
            id="fig-1",
            title="Throughput over the depth of the queue",
            paper="Throughput rises with the depth under SATF and hardly under FCFS.",
            points=[
                Point({"scheduler": scheduler, "depth": depth}, run(scheduler, depth))
                for scheduler in ("fcfs", "satf")
                for depth in DEPTHS
            ],
            measure={"iops": lambda run: run.iops, "p99_ms": lambda run: run.response_ms.p99},
            drawn=Lines("depth", "iops", by=["scheduler"], x_label="depth of the queue", x_log=True),
            published=[
                {"scheduler": "satf", "depth": depth, "iops": iops}
                for depth, iops in zip(DEPTHS, (90, 120, 170), strict=True)
            ],
            note="The paper's points are made up.",
        ),
        Figure(
            id="fig-2",
            title="Total service time",
            paper="SATF takes about half.",
            points=[Point({"scheduler": name}, work) for name, work in BOTH.items()],
            measure={"service_s": service_s},
            drawn=Bars("scheduler", "service_s", y_label="total service time (s)"),
            published=[{"scheduler": "fcfs", "service_s": 400}],
        ),
        Figure(
            id="table-1",
            title="The trace",
            paper="A table of counts.",
            points=[Point({"trace": TRACE.name}, Inspect(TRACE))],
            measure={"requests": lambda trace: trace.requests, "blocks": lambda trace: trace.blocks},
        ),
        Figure(
            id="beyond-pace",
            title="With the trace, and without",
            paper="Nothing.",
            points=[
                Point({"load": "synthetic"}, run("fcfs")),
                Point(
                    {"load": "recorded"},
                    Run({"workload": {"trace": TRACE}, "device": {"hdd": {"drive": "ibm-18es"}}}),
                ),
            ],
            measure={"response_ms": lambda run: run.response_ms.mean},
            drawn=Bars("load", "response_ms"),
            partial=True,
        ),
    ],
    statements=[
        Statement(
            id="gain",
            text="SATF takes less total service time than FCFS, by this share.",
            paper=near(0.45),
            work=BOTH,
            measure=gain,
        ),
        Statement(
            id="large-gain",
            text="It takes next to none.",
            paper=near(0.95),
            work=BOTH,
            measure=gain,
        ),
        Statement(
            id="slower",
            text="SATF is slower: the ratio of the total service times.",
            paper=above(1),
            work=BOTH,
            measure=lambda of: service_s(of["satf"]) / service_s(of["fcfs"]),
        ),
        Statement(
            id="noise",
            text="What is drawn is below zero.",
            paper=below(0),
            work=Call(draws, {"scale": 2.0}),
            measure=lambda drawn: drawn["value"],
        ),
        Statement(
            id="trace-requests",
            text="The number of the trace's requests.",
            paper=near(4),
            work=Inspect(TRACE),
            measure=lambda trace: trace.requests,
        ),
    ],
)
