"""A drive's description beside a recording: the engine's predictions as arrays."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fsdecode
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from diskwright import _engine

Changes = Mapping[str, Any]

# By how much of the error of one request the platter is put right, and the error, as a share of a turn,
# above which it
# is left alone: what a request was predicted wrongly for then is not the platter's phase.
GAIN, GATE = 0.5, 0.1


@dataclass(frozen=True)
class Recording:
    """The requests of a recording; times in ms."""

    write: NDArray[np.bool_]
    lbn: NDArray[np.int64]
    blocks: NDArray[np.float64]
    service: NDArray[np.float64]
    wait: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.service)

    @property
    def sequential(self) -> NDArray[np.bool_]:
        """Whether a request begins where the one before it ends."""
        follows = self.lbn[1:] == self.lbn[:-1] + self.blocks[:-1].astype(np.int64)
        return np.concatenate(([False], follows))


@dataclass(frozen=True)
class Prediction:
    """What a drive is predicted to do with the requests; times in ms.

    first_wait: until the first sector came by; NaN where nothing was waited for.
    angle: how far the platter had to turn from the arrival of the request to its first sector, in turns.
    """

    service: NDArray[np.float64]
    first_wait: NDArray[np.float64]
    angle: NDArray[np.float64]
    buffered: NDArray[np.bool_]
    on_medium: NDArray[np.bool_]
    after_write: NDArray[np.bool_]
    switches: NDArray[np.bool_]
    distance: NDArray[np.int64]
    zone: NDArray[np.int64]
    tracks: NDArray[np.int64]


class Model:
    """A drive and a recording, read once and compared many times."""

    def __init__(
        self, drive: str | PathLike[str], trace: str | PathLike[str], format: str | None = None
    ) -> None:
        self._engine = _engine.RecordedDrive(fsdecode(drive), trace, format)
        facts = json.loads(self._engine.facts())
        self.description: dict[str, Any] = facts["description"]
        self.warnings: list[str] = facts["warnings"]
        self.format: str = facts["format"]
        self.left_out: int = facts["left_out"]
        frame = polars.DataFrame(self._engine.recorded())
        self.recording = Recording(
            write=frame["write"].to_numpy(),
            lbn=frame["lbn"].to_numpy(),
            blocks=frame["blocks"].to_numpy().astype(np.float64),
            service=frame["service_ms"].to_numpy(),
            wait=frame["wait_ms"].to_numpy(),
        )

    def predict(self, changes: Changes, *, gain: float | None = GAIN, gate: float = GATE) -> Prediction:
        """The requests, each predicted from the one before it; with no gain as in a replay."""
        frame = polars.DataFrame(self._engine.predict(json.dumps(changes), gain, gate))
        columns = {name: frame[name].to_numpy() for name in frame.columns}
        return Prediction(
            service=columns["predicted_ms"],
            first_wait=columns["first_wait_ms"],
            angle=columns["angle"],
            buffered=columns["buffered"],
            on_medium=columns["on_medium"],
            after_write=columns["after_write"],
            switches=columns["switches"],
            distance=columns["distance"].astype(np.int64),
            zone=columns["zone"].astype(np.int64),
            tracks=columns["tracks"].astype(np.int64),
        )

    def demerit_ms(self, changes: Changes, begin: int, end: int) -> float:
        """The demerit of requests `begin` to `end`, where the whole recording is replayed."""
        return self._engine.demerit_ms(json.dumps(changes), begin, end)

    def changed(self, changes: Changes) -> dict[str, Any]:
        """The description with changes."""
        description: dict[str, Any] = json.loads(self._engine.changed(json.dumps(changes)))
        return description
