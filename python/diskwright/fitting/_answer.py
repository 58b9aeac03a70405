"""What `diskwright.fit` answers, from what a fit found."""

from collections.abc import Mapping
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

import numpy as np

from diskwright import __version__
from diskwright._fitted import Fit
from diskwright.fitting import _output
from diskwright.fitting._course import Fitted, Progress, course
from diskwright.fitting._model import Model
from diskwright.fitting._picture import picture as picture_of
from diskwright.fitting._steps import Estimate

_SCHEMA = 1


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
    parameters = {
        name: {
            "value": _plain(estimate.value),
            "ci95": None if estimate.ci95 is None else [float(end) for end in estimate.ci95],
            "start": _plain(estimate.start),
        }
        for name, estimate in found.estimates.items()
    }
    data = {
        "schema": _SCHEMA,
        "drive": fsdecode(drive),
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
    return Fit(data, _file(model, found, trace), picture_of(model, found) if picture else None)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    return value


def _file(model: Model, found: Fitted, trace: str | PathLike[str]) -> str:
    """The fitted drive's file."""
    name = Path(fsdecode(trace)).name
    half = len(model.recording) // 2
    source = (
        f"diskwright {__version__}, fit to {name}: {half:,} requests to estimate from, "
        f"{found.judged.requests:,} to judge by; demerit {found.judged.start_rms_demerit_ms:.4f} ms before, "
        f"{found.judged.rms_demerit_ms:.4f} ms after"
    )
    return _output.text(model.changed(found.changes), source, _estimated(found.estimates, name))


def _estimated(estimates: Mapping[str, Estimate], name: str) -> str:
    """The line of a drive's file that says which values are estimates."""
    keys = sorted({"seek" if key.startswith("seek") else key for key in estimates})
    if not keys:
        return f"nothing: no change of a value helped with {name}"
    return f"from the service times in {name}: {', '.join(keys)}"
