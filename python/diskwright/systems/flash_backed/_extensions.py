"""The figures on flash-backed requests that the paper does not have."""

from typing import Any

from diskwright.reproduce import Bars, Figure, Lines
from diskwright.systems.flash_backed._devices import CURVE, MECHANICAL
from diskwright.systems.flash_backed._energy import FIGURES as ENERGY
from diskwright.systems.flash_backed._points import (
    larger,
    paces,
    readings,
    rules,
    small_sizes,
    smaller,
)
from diskwright.systems.flash_backed._runs import (
    WITH,
    counts,
    flash_mb,
    flush_share,
    idle_share,
    overwrites,
    ratio,
    ratio_with_idle,
    write_ms,
)

RULES = {
    "never": "never",
    "paper": "paper",
    "head-only": "head-only",
    "always": "always",
    "by-size": "by-size",
    "learned": "learned",
}


def fits(value: float, low: float, high: float) -> float:
    """1 where a value is in a range, else 0."""
    return float(low <= value <= high)


READING_VALUES: dict[str, Any] = {
    "write_time_80mb": lambda runs: ratio(larger(runs)),
    "idle_share_10mb": lambda runs: idle_share(smaller(runs)),
    "write_time_with_idle": lambda runs: ratio_with_idle(larger(runs)),
    "overwrites_most": lambda runs: max(overwrites(runs[name]) for name in ("small", "large", "most")),
}
RANGES = {
    "write_time_80mb": (0.225, 0.375),
    "idle_share_10mb": (0.675, 1.125),
    "write_time_with_idle": (0.5, 0.7),
    "overwrites_most": (0.0, 0.15),
}
"""The paper's statements: 0.3 and 0.9 within a quarter, 30 to 50 % less, at most 15 %."""


def fitted(name: str) -> Any:
    """Whether a reading fits a statement."""
    return lambda runs: fits(READING_VALUES[name](runs), *RANGES[name])


def all_fitted(runs: Any) -> float:
    """How many of the four statements a reading fits."""
    return sum(fits(measure(runs), *RANGES[name]) for name, measure in READING_VALUES.items())


def reading_figure(medium: str) -> Figure:
    """The table of readings against statements."""
    ending = "" if medium == CURVE else f"-{medium}"
    return Figure(
        id=f"beyond-readings{ending}",
        title=f"What the paper may have meant, and which of its statements follow ({medium})",
        paper="Four statements on the HP week: 70 % less at 80 MB (0.3), 90 % in idle time at 10 MB, 30 "
        "to 50 % less with "
        "idle time (0.5 to 0.7), overwrites of at most 15 %.",
        points=readings(medium),
        measure={
            **READING_VALUES,
            **{f"fits_{name}": fitted(name) for name in READING_VALUES},
            "fits": all_fitted,
        },
        drawn=Bars(
            "idle", "fits", by=["next", "overlap", "order"], x_label="purging", y_label="statements of four"
        ),
        note="HP week, C-LOOK. fits_ is 1 where a reading has the statement's value: within a quarter for "
        "0.3 and 0.9, in "
        "the range for the others. The overwrites are the most of 10, 80 and 250 MB.",
    )


def response(op: str, key: str) -> Any:
    """A response time of one operation, ms."""
    return lambda runs: float(runs[WITH].by_op[op].response_ms[key])


EXTENSIONS = [
    reading_figure(CURVE),
    reading_figure(MECHANICAL),
    Figure(
        id="beyond-small",
        title="FQueues that fill",
        paper="From 10 MB on.",
        points=small_sizes(),
        measure={
            "flush_share": lambda runs: flush_share(runs[WITH]),
            "write_time": ratio,
            "overwrites": lambda runs: overwrites(runs[WITH]),
        },
        drawn=Lines(
            "size_mb",
            "flush_share",
            by=["medium"],
            x_label="FQueue (MB)",
            y_label="share of accesses",
            x_log=True,
        ),
        note="HP week, C-LOOK, purged at the watermark alone. From 8 MB on nothing is flushed at all.",
    ),
    Figure(
        id="beyond-look-ahead",
        title="Looking ahead where requests wait",
        paper="Without looking one request ahead the FQueue is polluted.",
        points=paces(),
        measure={
            "flash_mb": lambda runs: flash_mb(runs["paper"]),
            "flash_mb_head_only": lambda runs: flash_mb(runs["head-only"]),
            "write_time": lambda runs: write_ms(runs["paper"]) / write_ms(runs["never"]),
            "write_time_head_only": lambda runs: write_ms(runs["head-only"]) / write_ms(runs["never"]),
            "read_response_ms": lambda runs: float(runs["paper"].by_op.read.response_ms.mean),
            "read_response_ms_head_only": lambda runs: float(runs["head-only"].by_op.read.response_ms.mean),
        },
        drawn=Lines("faster", "flash_mb", x_label="times as fast", y_label="MB to flash", x_log=True),
        note="HP week, replayed faster, 80 MB, C-LOOK. As it was recorded hardly a request waits, "
        "and there is nothing "
        "to look ahead to.",
    ),
    Figure(
        id="beyond-rules",
        title="Other rules",
        paper="Not looked at but for that of the head alone, in words.",
        points=rules(RULES),
        measure={
            "write_time": ratio,
            "write_time_with_idle": ratio_with_idle,
            "flash_mb": lambda runs: flash_mb(runs[WITH]),
            "redirected": lambda runs: float(counts(runs[WITH]).redirected),
            "write_response_ms": response("write", "mean"),
            "write_p99_ms": response("write", "p99"),
            "read_response_ms": response("read", "mean"),
            "read_p99_ms": response("read", "p99"),
        },
        drawn=Bars(
            "rule", "write_time", by=["workload", "medium"], x_label="", y_label="write time, to that without"
        ),
        note="80 MB, C-LOOK, eager purging. The response times have waiting in them.",
        partial=True,
    ),
    *ENERGY,
]
