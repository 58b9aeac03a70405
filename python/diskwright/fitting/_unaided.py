"""A fit without a drive's file: a first drive from the recording alone, and then the fit of that one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from diskwright._engine import InputError
from diskwright.fitting import _scratch, _unknown
from diskwright.fitting._course import Fitted, Progress, course
from diskwright.fitting._model import Model
from diskwright.fitting._scratch import Scratch
from diskwright.fitting._steps import Estimate, Fitting


@dataclass(frozen=True)
class Unaided:
    """A drive that was made of a recording.

    estimates: of what the fit did not estimate once more. assumed: what the recording does not tell.
    """

    model: Model
    fitted: Fitted
    estimates: Mapping[str, Estimate]
    assumed: Mapping[str, str]
    notes: tuple[str, ...]


def unaided(
    trace: str | PathLike[str], format: str | None, capacity: int | None, progress: Progress | None
) -> Unaided:
    """Makes a drive of the first half of a recording and judges it on the second."""
    if progress is not None:
        progress(0, None)
    recording = _unknown.read(trace, format).recording
    half = len(recording) // 2
    try:
        firsts = _scratch.scratches(recording, half, capacity)
    except _scratch.CannotTellError as error:
        raise InputError(f"error: {error}") from None
    tried = [_with_buffer(first, trace, format, half) for first in firsts]
    first, model, _ = min(tried, key=lambda one: one[2])
    # The turn is told by phases or widths already: a layout that is not known exactly would pull it.
    fitted = course(model, progress, without=("rotation", "rotation again"))
    estimates = {
        name: estimate
        for name, estimate in first.estimates.items()
        # A fit that finds a curve's points has others.
        if not (name.startswith("seek[") and any(one.startswith("seek") for one in fitted.estimates))
    }
    assumed = {name: text for name, text in first.assumed.items() if name not in fitted.estimates}
    # What the fit could not tell either is what the first drive has.
    untold = tuple(name for name in fitted.untold if name not in estimates and name not in assumed)
    return Unaided(model, replace(fitted, untold=untold), estimates, assumed, tuple(first.notes))


def _with_buffer(
    first: Scratch, trace: str | PathLike[str], format: str | None, half: int
) -> tuple[Scratch, Model, float]:
    """The drive with the buffer that explains the first half best, its model, and the cost."""
    model = _unknown.opened(first.description, trace, format)
    fitting = Fitting(model, half)
    costs = [(fitting.cost(changes), changes) for changes in _scratch.alternatives(first.description)]
    cost, best = min(costs, key=lambda one: one[0])
    if not best:
        return first, model, cost
    description: dict[str, Any] = model.changed(best)
    # Sizes that differ by less than it takes to tell two models apart are as good.
    as_good = [changes for one, changes in costs if one < cost + _TOLD]
    for path in best:
        values = sorted({str(changes[path]) for changes in as_good}, key=lambda text: (len(text), text))
        if len(values) == 1:
            first.estimates[path] = Estimate(best[path], None)
        else:
            first.assumed[path] = f"{best[path]}, and {', '.join(values)} are as good"
    first.description["buffer"] = {
        key: value for key, value in description["buffer"].items() if value is not None
    }
    return first, _unknown.opened(first.description, trace, format), cost


# By how much of a log likelihood one model must be worse to be told from another.
_TOLD = 4.0
