"""Do the intervals of `diskwright fit` have the truth of made-up drives as often as they say?"""

import os
import random
import re
import tomllib
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import diskwright
from diskwright.fitting import _unknown
from diskwright.fitting._model import Model
from diskwright.fitting._parameters import at, ms
from diskwright.fitting._steps import Fitting, State
from made_up import record

_DRIVE = "cheetah-9lp"
# What is hidden, and how far it is from the drive that the fit starts from, at least and at most, ms.
_HIDDEN_MS = {
    "overhead.read_after_read": (0.0, 0.5),
    "overhead.read_after_write": (0.0, 0.5),
    "overhead.write_after_read": (-0.25, 0.25),
    "overhead.write_after_write": (-0.25, 0.25),
    "overhead.completion_read": (0.0, 0.2),
    "buffer.read.hit_after_read": (0.0, 0.3),
    "buffer.read.hit_after_write": (0.0, 0.3),
    "buffer.write.buffered_after_read": (0.0, 0.3),
    "buffer.write.buffered_after_write": (0.0, 0.3),
    "heads.switch": (0.0, 0.5),
    "heads.write_settle": (0.0, 0.4),
}
# The same of a turn and of a block's time on the interface, as shares; of a seek curve, what all seeks take
# longer, ms, the share of each, and what seeks of each of some distances take longer by themselves, ms.
_TURN, _BLOCK, _SEEK_MS, _SEEK, _ALONE_MS, _DISTANCES = 5e-4, 0.15, 0.2, 0.04, 0.08, 8
_LOAD: Mapping[str, Any] = {
    "requests": 2_000,
    "arrivals": {"poisson": "60 ms"},
    "reads": 0.7,
    "size": [{"size": "4 blocks", "share": 0.6}, {"size": "16 blocks", "share": 0.4}],
    "address": {"streams": {"count": 4, "run": "16 blocks", "turns": "random"}},
}
_NOISE_US = 20


@dataclass(frozen=True)
class Interval:
    """An estimate's interval; `kind` is the parameter's name, that of all points of a seek curve `seek`."""

    kind: str
    low: float
    high: float
    truth: float

    @property
    def covers(self) -> bool:
        return self.low <= self.truth <= self.high


@dataclass(frozen=True)
class MadeUp:
    """A drive with hidden parameters, and its recording."""

    drive: Mapping[str, Any]
    trace: Path

    def intervals(self, ends: Mapping[str, tuple[float, float]]) -> Iterator[Interval]:
        """The intervals of hidden parameters beside the truth."""
        for name, (low, high) in ends.items():
            distance = re.fullmatch(r"seek\[(\d+)\]", name)
            if distance is not None:
                points = np.array(self.drive["seek"]["table"]["points_ms"])
                truth = float(np.interp(float(distance[1]), points[:, 0], points[:, 1]))
                yield Interval("seek", low, high, truth)
            elif name in _HIDDEN_MS or name in ("rotation", "interface.block_time"):
                yield Interval(name, low, high, ms(at(self.drive, name)))


def _made_up(folder: Path, seed: int) -> MadeUp:
    choice = random.Random(seed)
    drive = tomllib.loads(diskwright.drive_toml(_DRIVE))
    for path, off in _HIDDEN_MS.items():
        *tables, key = path.split(".")
        table = at(drive, ".".join(tables))
        table[key] = f"{ms(table[key]) + choice.uniform(*off):.6f} ms"
    drive["rotation"] = f"{ms(drive['rotation']) * (1 + choice.uniform(-_TURN, _TURN)):.9f} ms"
    interface = drive["interface"]
    block = ms(interface["block_time"]) * (1 + choice.uniform(-_BLOCK, _BLOCK))
    interface["block_time"] = f"{block:.6f} ms"
    longer, share = choice.uniform(-_SEEK_MS, _SEEK_MS), 1 + choice.uniform(-_SEEK, _SEEK)
    points = drive["seek"]["table"]["points_ms"]
    alone = [choice.uniform(-_ALONE_MS, _ALONE_MS) for _ in range(_DISTANCES)]
    roots = np.sqrt([distance for distance, _ in points])
    shape = np.interp(roots, np.linspace(0, roots.max(), _DISTANCES), alone)
    drive["seek"]["table"]["points_ms"] = [
        [distance, round(max(share * time + longer + float(off), 0.05), 6)]
        for (distance, time), off in zip(points, shape, strict=True)
    ]
    text = _unknown.text(drive)
    return MadeUp(drive, record(folder / f"hidden-{seed}", text, _LOAD, seed=seed, noise_us=_NOISE_US))


def _fitted(folder: Path, seed: int) -> list[Interval]:
    """The intervals of a whole fit."""
    made = _made_up(folder, seed)
    parameters = diskwright.fit(_DRIVE, made.trace).to_dict()["parameters"]
    ends = {name: tuple(one["ci95"]) for name, one in parameters.items() if one["ci95"] is not None}
    return list(made.intervals(ends))


def _by_kind(intervals: list[Interval]) -> dict[str, list[Interval]]:
    return {
        kind: [one for one in intervals if one.kind == kind]
        for kind in sorted({one.kind for one in intervals})
    }


def test_intervals_have_the_truth_of_a_few_drives(tmp_path: Path) -> None:
    """Each drive's steps once, without the choice of groups: seconds in place of minutes."""
    intervals = []
    for seed in range(1, 6):
        made = _made_up(tmp_path, seed)
        model, state = Model(_DRIVE, made.trace), State()
        fitting = Fitting(model, len(model.recording) // 2)
        for step in (fitting.rotation, fitting.times, fitting.positioning):
            step(state)
        known = {name: one.ci95 for name, one in state.estimates.items() if one.ci95 is not None}
        intervals += list(made.intervals(known))
    assert len(intervals) >= 50
    inside = sum(one.covers for one in intervals)
    # With 95 % each, so few would be inside once in a thousand times.
    assert inside >= binom.ppf(0.001, len(intervals), 0.95)
    _tell(intervals)


def _tell(intervals: list[Interval]) -> None:
    """Intervals are not so wide that anything is in them."""
    for kind, of_kind in _by_kind(intervals).items():
        width = np.mean([one.high - one.low for one in of_kind])
        assert width < _WIDEST_MS[kind.split(".")[0]], (kind, width)


# The mean width of intervals that tell something, ms, by the first part of their name.
_WIDEST_MS = {
    "overhead": 0.5,
    "seek": 0.6,
    "buffer": 0.2,
    "interface": 0.002,
    "rotation": 0.002,
    "heads": 0.8,
}


def _of_drives(folder: Path, seeds: range) -> dict[str, list[Interval]]:
    """The intervals of whole fits by kind, which tell something."""
    # A copy of this process would have the locks of threads that it has not.
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as processes:
        of_drives = list(processes.map(_fitted, [folder] * len(seeds), seeds))
    intervals = [one for of_drive in of_drives for one in of_drive]
    _tell(intervals)
    by_kind = _by_kind(intervals)
    assert {"overhead.completion_read", "overhead.read_after_read", "seek", "rotation"} <= set(by_kind)
    return by_kind


@pytest.mark.long
def test_intervals_have_the_truth_of_some_drives(tmp_path: Path) -> None:
    by_kind = _of_drives(tmp_path, range(1_000, 1_016))
    inside = {kind: sum(one.covers for one in ones) for kind, ones in by_kind.items()}
    for kind, ones in by_kind.items():
        # With 95 % each, so few would be inside once in a thousand times.
        assert inside[kind] >= binom.ppf(0.001, len(ones), 0.95), (kind, inside[kind], len(ones))


@pytest.mark.hours
def test_intervals_have_the_truth_of_two_hundred_drives(tmp_path: Path) -> None:
    by_kind = _of_drives(tmp_path, range(1_000, 1_200))
    shares = {kind: np.mean([one.covers for one in ones]) for kind, ones in by_kind.items()}
    print(shares)
    assert all(0.9 <= share <= 0.98 for share in shares.values()), shares
