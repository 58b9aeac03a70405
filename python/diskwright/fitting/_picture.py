"""The errors of a fit by circumstances of the requests: what a page draws."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskwright.fitting._course import Fitted
from diskwright.fitting._model import Model, Prediction, Recording

_FEWEST = 5
_KINDS = ("read", "write")


def picture(model: Model, found: Fitted) -> dict[str, Any]:
    """Errors one step ahead of the judged half, before and after, by kind, distance, angle and size."""
    before, after = model.predict({}), model.predict(found.changes)
    judged = slice(len(model.recording) // 2, None)
    return {
        grouping: [
            _row(label, rows, model.recording, {"before": before, "after": after})
            for label, rows in groups
            if rows.sum() >= _FEWEST
        ]
        for grouping, groups in _groupings(model.recording, after, judged)
    }


def _row(
    label: str,
    rows: NDArray[np.bool_],
    recording: Recording,
    predictions: Mapping[str, Prediction],
) -> dict[str, Any]:
    row: dict[str, Any] = {"name": label, "requests": int(rows.sum())}
    for side, prediction in predictions.items():
        errors = (prediction.service - recording.service)[rows]
        low, middle, high = np.percentile(errors, (10, 50, 90))
        row[side] = {
            "rms_ms": float(np.sqrt(np.mean(errors**2))),
            "median_ms": float(middle),
            "low_ms": float(low),
            "high_ms": float(high),
        }
    return row


def _groupings(
    recording: Recording, prediction: Prediction, judged: slice
) -> Iterator[tuple[str, list[tuple[str, NDArray[np.bool_]]]]]:
    """The ways to sort requests, each with its groups: a label, and which requests are in it."""
    among = np.zeros(len(recording), dtype=bool)
    among[judged] = True
    medium = among & prediction.on_medium
    kinds = []
    for write in (False, True):
        for served, of_medium in (("buffer", False), ("medium", True)):
            for following in (False, True):
                rows = among & (recording.write == write) & (prediction.on_medium == of_medium)
                rows &= prediction.after_write == following
                label = f"{_KINDS[write]} from the {served} after a {_KINDS[following]}"
                kinds.append((label.replace("write from", "write to"), rows))
    kinds.append(("sequential", among & recording.sequential))
    yield "kinds", kinds
    yield "distance", list(_bins(prediction.distance, medium, _edges(prediction.distance[medium])))
    turns = np.floor(prediction.angle * 10) / 10
    yield (
        "angle",
        [(f"{turn:.1f} to {turn + 0.1:.1f}", medium & (turns == turn)) for turn in np.unique(turns)],
    )
    blocks = recording.blocks.astype(np.int64)
    yield "size", list(_bins(blocks, among, _edges(blocks[among])))


def _edges(values: NDArray[np.int64], most: int = 12) -> NDArray[np.int64]:
    """Lower edges of groups of about as many values each."""
    if not len(values):
        return np.zeros(1, dtype=np.int64)
    return np.unique(np.quantile(values, np.linspace(0, 1, most + 1)[:-1], method="lower").astype(np.int64))


def _bins(
    values: NDArray[np.int64], among: NDArray[np.bool_], edges: NDArray[np.int64]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    for place, edge in enumerate(edges):
        behind = int(edges[place + 1]) if place + 1 < len(edges) else int(values.max()) + 1
        label = f"{edge}" if behind == edge + 1 else f"{edge} to {behind - 1}"
        yield label, among & (values >= edge) & (values < behind)
