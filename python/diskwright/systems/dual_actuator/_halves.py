"""Two arms at work at the same time, each with half of the addresses: a drive of today beside others."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import diskwright
from diskwright import _toml
from diskwright.reproduce import Figure, GeneratedFile, Lines, Point, Run
from diskwright.systems.dual_actuator._drives import described
from diskwright.systems.dual_actuator._runs import Drive, response_ms

DUAL = "exos-2x18"
UNIT = "1 MiB"
"""Of the stripe: much more than a small request, as much as a long one."""
USERS = (1, 4, 16, 64)
RANDOM_REQUESTS = 40_000
STREAM_REQUESTS = 4_000
QUICK_STREAM_REQUESTS = 200

LOADS: Mapping[str, Mapping[str, Any]] = {
    "reads": {"reads": 1.0, "size": "4 KiB"},
    "reads and writes": {"reads": 0.5, "size": "4 KiB"},
    "reads of the first half": {"reads": 1.0, "size": "4 KiB"},
    "streams": {"reads": 1.0, "size": "1 MiB"},
}
"""What is asked for, without its addresses."""


def without_arms(surfaces: int) -> GeneratedFile:
    """The drive with a single arm and the first `surfaces` of its surfaces, each as it is."""
    return GeneratedFile(_write, {"surfaces": surfaces}, suffix=".toml")


def _write(target: Path, surfaces: int) -> None:
    found = described(DUAL)
    del found["arms"]
    layout = found["layout"]
    each = layout["surfaces"] // layout.pop("access_ranges")
    layout["surfaces"] = surfaces
    for zone in layout["zone"]:
        # A zone has spares on the surfaces of each actuator.
        zone["spares"]["sectors"] *= surfaces // each
    found["name"] += f", one actuator with {surfaces} surfaces"
    target.write_text(_toml.document(found), encoding="utf-8")


@cache
def size() -> tuple[int, int]:
    """The surfaces of the drive, and the blocks of half of it."""
    summary = diskwright.drive(DUAL)
    return summary.surfaces, summary.capacity_blocks // 2


def device(way: str, users: int) -> dict[str, Any]:
    """The tree of devices of one of the ways."""
    surfaces, _ = size()
    queue = {"depth": users, "scheduler": "satf"}

    def hdd(drive: Drive) -> dict[str, Any]:
        return {"hdd": {"drive": drive, "buffer": False, "queue": queue}}

    if way == "two actuators":
        return hdd(DUAL)
    if way == "one actuator":
        return hdd(without_arms(surfaces))
    layout = {"two drives, striped": {"stripe": {"unit": UNIT}}, "two drives, in turn": "concat"}[way]
    return {"array": {"layout": layout, "member": [hdd(without_arms(surfaces // 2))] * 2}}


WAYS = ("two actuators", "two drives, striped", "two drives, in turn", "one actuator")


def work(way: str, load: str, users: int) -> Run:
    """A load with `users` requests outstanding all the time."""
    _, half = size()
    address: Any = "uniform"
    if load == "reads of the first half":
        address = {"uniform": {"from": 0, "blocks": half}}
    elif load == "streams":
        # One for each of those outstanding, which does not end.
        address = {"streams": {"count": users, "run": "64 GiB"}}
    is_random = load != "streams"
    synthetic = {
        "requests": RANDOM_REQUESTS if is_random else STREAM_REQUESTS,
        "arrivals": {"closed": {"users": users}},
        "address": address,
        **LOADS[load],
    }
    return Run(
        {
            "workload": {"synthetic": synthetic},
            "measure": {"warmup": 0},
            "device": device(way, users),
        },
        quick=None if is_random else QUICK_STREAM_REQUESTS,
    )


def mb_per_s(run: Any) -> float:
    """MB of 10⁶ bytes a second."""
    return float(run.iops * run.requests.blocks / run.requests.completed * 512 / 1e6)


def points(load: str) -> list[Point]:
    """All ways under a load."""
    return [
        Point({"load": load, "way": way, "users": users}, work(way, load, users))
        for way in WAYS
        for users in USERS
    ]


MEASURE = {"iops": lambda run: float(run.iops), "mb_per_s": mb_per_s, "response_ms": response_ms}
OUTSTANDING = "requests outstanding"
NOTE = (
    f"The {DUAL}, whose actuators have half of the addresses each; two drives that each have the surfaces of "
    f"one of its actuators, striped in units of {UNIT} or one behind the other; and one arm for all "
    "surfaces. All choose the shortest positioning time from as many requests as are outstanding, and none "
    "has a buffer. "
)


def figure(
    id: str, load: str, what: str, found: str, drawn: tuple[str, str] = ("iops", "requests a second")
) -> Figure:
    """All ways under a load over what is outstanding: the value that is drawn, and its unit."""
    value, unit = drawn
    return Figure(
        id=f"beyond-two-actuators{id}",
        title=f"Two actuators, two drives of half the size, and one actuator: {what}",
        paper="Its arms reach all surfaces.",
        points=points(load),
        measure=MEASURE,
        drawn=Lines("users", value, by=["way"], x_label=OUTSTANDING, y_label=unit, x_log=True),
        note=NOTE + found,
    )


FIGURES = [
    figure(
        "",
        "reads",
        "random reads of 4 KiB",
        "Found: from 4 outstanding on two actuators serve half as many again as one, at 64 six tenths more, "
        "and as many as the two drives.",
    ),
    figure(
        "-writes",
        "reads and writes",
        "random reads and writes of 4 KiB",
        "Half are writes, and each settles. Found: what two actuators gain is as much as with reads alone.",
    ),
    figure(
        "-first-half",
        "reads of the first half",
        "random reads of 4 KiB in the first half",
        "Found: requests that all go to the first half have one actuator, and that is slower than a single "
        "arm for all surfaces, to which they are the outer half of its cylinders; on a stripe they are "
        "spread over both drives.",
    ),
    figure(
        "-streams",
        "streams",
        "sequential streams",
        "As many streams as requests outstanding, each with reads of 1 MiB from a random place on.",
        ("mb_per_s", "MB/s"),
    ),
]
