"""What `diskwright.fit` answers, from what a fit found."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

import numpy as np

from diskwright import __version__
from diskwright._fitted import Fit
from diskwright.fitting import _output, _unaided
from diskwright.fitting._course import Fitted, Progress, course
from diskwright.fitting._model import Model
from diskwright.fitting._picture import picture as picture_of
from diskwright.fitting._steps import Estimate

_SCHEMA = 1
_STANDARD_INPUT = "/dev/stdin"


def fit(
    drive: str | PathLike[str],
    trace: str | PathLike[str],
    format: str | None,
    picture: bool,
    progress: Progress | None,
) -> Fit:
    """Fits a drive to a recording."""
    model = Model(drive, trace, format)
    found = course(model, progress)
    data = _data(model, found, fsdecode(drive), trace)
    text = _file(model, found, trace, _estimated(found.estimates, _name(trace)))
    return Fit(data, text, picture_of(model, found) if picture else None)


def from_scratch(
    trace: str | PathLike[str],
    format: str | None,
    capacity: int | None,
    picture: bool,
    progress: Progress | None,
) -> Fit:
    """Makes a drive of a recording alone."""
    with _kept(trace) as file:
        found = _unaided.unaided(file, format, capacity, progress)
    data = _data(found.model, found.fitted, None, trace)
    data["assumed"] = dict(sorted(found.assumed.items()))
    data["notes"] = list(found.notes)
    # What nothing was known of before has no start.
    of_scratch = {name: _parameter(one) for name, one in found.estimates.items()}
    fitted = {name: parameter | {"start": None} for name, parameter in data["parameters"].items()}
    data["parameters"] = dict(sorted({**of_scratch, **fitted}.items()))
    name = _name(trace)
    told = _estimated({**found.estimates, **found.fitted.estimates}, name)
    taken = [f"assumed, {name} does not tell it: {path}: {what}" for path, what in data["assumed"].items()]
    text = _file(found.model, found.fitted, trace, told, *taken)
    return Fit(data, text, picture_of(found.model, found.fitted) if picture else None)


@contextmanager
def _kept(trace: str | PathLike[str]) -> Iterator[str | PathLike[str]]:
    """The recording as a file that can be read more than once."""
    if fsdecode(trace) != _STANDARD_INPUT:
        yield trace
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording"
        with Path(_STANDARD_INPUT).open("rb") as source, file.open("wb") as target:
            shutil.copyfileobj(source, target)
        yield file


def _data(model: Model, found: Fitted, drive: str | None, trace: str | PathLike[str]) -> dict[str, Any]:
    """What a fit found, as its result has it."""
    parameters = {name: _parameter(estimate) for name, estimate in found.estimates.items()}
    return {
        "schema": _SCHEMA,
        "drive": drive,
        "name": model.description["name"],
        "trace": fsdecode(trace),
        "format": model.format,
        "requests": len(model.recording),
        "left_out": model.left_out,
        "parameters": dict(sorted(parameters.items())),
        "judged": {
            "rms_demerit_ms": found.judged.rms_demerit_ms,
            "start_rms_demerit_ms": found.judged.start_rms_demerit_ms,
            "one_step_rms_ms": found.judged.one_step_rms_ms,
            "requests": found.judged.requests,
        },
        "start_one_step_rms_ms": found.judged.start_one_step_rms_ms,
        "kept": list(found.kept),
        "dropped": list(found.dropped),
        "untold": list(found.untold),
        "notes": [],
        "warnings": list(model.warnings),
    }


def _parameter(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": _plain(estimate.value),
        "ci95": None if estimate.ci95 is None else [float(end) for end in estimate.ci95],
        "start": _plain(estimate.start),
    }


def _name(trace: str | PathLike[str]) -> str:
    return Path(fsdecode(trace)).name


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def _file(model: Model, found: Fitted, trace: str | PathLike[str], *estimated: str) -> str:
    """The fitted drive's file, with lines on what is estimated."""
    name = _name(trace)
    half = len(model.recording) // 2
    source = (
        f"diskwright {__version__}, fit to {name}: {half:,} requests to estimate from, "
        f"{found.judged.requests:,} to judge by; demerit {found.judged.start_rms_demerit_ms:.4f} ms before, "
        f"{found.judged.rms_demerit_ms:.4f} ms after"
    )
    return _output.text(model.changed(found.changes), source, *estimated)


def _estimated(estimates: Mapping[str, Estimate], name: str) -> str:
    """The line of a drive's file that says which values are estimates."""
    keys = sorted({key.partition("[")[0] if "[" in key else key for key in estimates})
    if not keys:
        return f"nothing: no change of a value helped with {name}"
    return f"from the service times in {name}: {', '.join(keys)}"
