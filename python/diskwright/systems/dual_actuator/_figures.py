"""The figures on the dual-actuator logging disk that the paper has."""

from diskwright.reproduce import Figure, Lines
from diskwright.systems.dual_actuator._points import over
from diskwright.systems.dual_actuator._runs import (
    ARCHITECTURES,
    CHEETAH,
    DALD,
    ETAS,
    IBM,
    LOGGING,
    TIMES,
)

LATENCY = "mean latency (ms)"
OVER_W = Lines("w", "latency_ms", by=["architecture"], x_label="w, share of writes", y_label=LATENCY)
NO_NUMBERS = "Curves of which the text has no numbers. "


def over_w(number: int, drive: str, name: str, eta: float, paper: str, note: str = "") -> Figure:
    """A figure of all architectures over the share of writes."""
    return Figure(
        id=f"fig-{number}",
        title=f"Latency over the share of writes: {name}, η = {eta:g}",
        paper=NO_NUMBERS + paper,
        points=over(drive, ARCHITECTURES, etas=[eta]),
        measure=TIMES,
        drawn=OVER_W,
        note=note,
    )


def over_eta(number: int, w: float, paper: str, note: str = "") -> Figure:
    """A figure of both logs over the share of writes that are of new data."""
    return Figure(
        id=f"fig-{number}",
        title=f"Latency over the share of new data among writes: 18ES, w = {w:g}",
        paper=NO_NUMBERS + paper,
        points=over(IBM, (LOGGING, DALD), ws=[w], etas=ETAS),
        measure=TIMES,
        drawn=Lines(
            "eta",
            "latency_ms",
            by=["architecture"],
            x_label="η, share of new data among writes",
            y_label=LATENCY,
        ),
        note=note,
    )


FIGURES = [
    over_w(
        2,
        IBM,
        "18ES",
        0.0,
        "Both logs are the same; two arms are about half of one, and two striped drives as one.",
        "A logging disk takes what the first writes left free, and no other slot. adaptive is the "
        "controller that the paper's section 3 ends with, which is not in its figures.",
    ),
    over_w(
        3,
        IBM,
        "18ES",
        0.5,
        "Two arms are best for few writes, the two-armed log for many; the one-armed log breaks even later.",
    ),
    over_w(4, IBM, "18ES", 1.0, "As before, with a larger gap between both logs."),
    over_eta(5, 1.0, "No substantial difference: no reads move the arm."),
    over_eta(6, 0.7, "The second arm reduces the time substantially wherever η is not 0."),
    over_eta(7, 0.5, "As before."),
    over_eta(8, 0.3, "As before."),
    over_eta(
        9,
        0.0,
        "No substantial difference: all are reads.",
        "Nothing is written, so that one run stands for all η.",
    ),
    over_w(10, CHEETAH, "Cheetah 9LP", 0.0, "As on the 18ES."),
    over_w(
        11,
        CHEETAH,
        "Cheetah 9LP",
        0.5,
        "As on the 18ES, with a smaller gap between both logs, which is laid to fewer cylinders and more "
        "surfaces.",
        "beyond-exchanged and beyond-cylinders test that explanation.",
    ),
    over_w(12, CHEETAH, "Cheetah 9LP", 1.0, "As before."),
]
