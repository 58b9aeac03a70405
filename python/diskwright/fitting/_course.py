"""A whole fit: which groups of parameters help requests that they were not estimated from, and the
judgement.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskwright.fitting._model import Model
from diskwright.fitting._parameters import ms
from diskwright.fitting._steps import Estimate, Fitting, State

Progress = Callable[[int, int | None], object]

# The groups in their order. A later one is estimated with what the earlier ones found.
GROUPS: tuple[tuple[str, Callable[[Fitting, State], None]], ...] = (
    ("rotation", Fitting.rotation),
    ("times", Fitting.times),
    ("switches", Fitting.switches),
    ("positioning", Fitting.positioning),
    ("skews", Fitting.skews),
    ("rotation again", Fitting.rotation),
    ("times again", Fitting.times),
    ("switches again", Fitting.switches),
    ("positioning again", Fitting.positioning),
    ("likeliest", Fitting.likeliest),
    ("late hits", Fitting.late_hits),
)
# By how much of a log likelihood a group that is estimated once more may do worse with requests that it
# was not estimated from: where little changes, it does so by chance half of the time.
_AS_GOOD = {name: 2.0 for name, _ in GROUPS if name.endswith(" again")}
# A group that is kept whatever single requests say: which of two times a hit takes is drawn for each.
_DRAWN = "late hits"
# Of the first half, the share that groups are estimated from to see whether they help with the rest of it.
TRAINED = 0.7


@dataclass(frozen=True)
class Judgement:
    """How a drive does on requests that it was not fitted to; times in ms."""

    rms_demerit_ms: float
    start_rms_demerit_ms: float
    one_step_rms_ms: float
    start_one_step_rms_ms: float
    requests: int


@dataclass(frozen=True)
class Fitted:
    """What a fit found.

    kept: groups that help, in their order; dropped: those that do not.
    untold: parameters of which the recording tells nothing.
    """

    changes: Mapping[str, Any]
    estimates: Mapping[str, Estimate]
    untold: tuple[str, ...]
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    judged: Judgement


def one_step_rms(model: Model, changes: Mapping[str, Any], begin: int, end: int) -> float:
    """The root mean square of the errors one step ahead, ms."""
    errors = (model.recording.service - model.predict(changes).service)[begin:end]
    return float(np.sqrt(np.mean(errors**2)))


def course(model: Model, progress: Progress | None = None, without: Collection[str] = ()) -> Fitted:
    """Fits the drive of a model to the first half of its recording and judges it on the second.

    without: names of groups that are left as they are.
    """
    half = len(model.recording) // 2
    trained = int(TRAINED * half)
    groups_of_fit = [(name, estimate) for name, estimate in GROUPS if name not in without]
    steps = 2 * len(groups_of_fit)

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, steps)

    tell(0)
    fitting, state = Fitting(model, trained), State()
    best = fitting.cost(state.changes, trained, half)
    kept: list[str] = []
    for index, (name, estimate) in enumerate(groups_of_fit):
        tried = state.copy()
        estimate(fitting, tried)
        if tried.changes != state.changes:
            found = fitting.cost(tried.changes, trained, half)
            if found < best + _AS_GOOD.get(name, 0.0) or name == _DRAWN:
                state, best = tried, found
                kept.append(name)
        else:
            state.untold |= tried.untold - set(state.estimates)
        tell(index + 1)
    # More requests to estimate from give better estimates.
    final, whole = State(), Fitting(model, half)
    stages = [(score(model, final.changes, half), final.copy(), 0)]
    for index, (name, estimate) in enumerate(groups_of_fit):
        if name in kept:
            estimate(whole, final)
            stages.append((score(model, final.changes, half), final.copy(), kept.index(name) + 1))
        tell(len(groups_of_fit) + index + 1)
    _, final, groups = min(stages, key=lambda stage: stage[0])
    kept = kept[:groups]
    return Fitted(
        changes=final.changes,
        estimates=final.estimates,
        untold=tuple(sorted(final.untold - set(final.estimates))),
        kept=tuple(kept),
        dropped=tuple(name for name, _ in groups_of_fit if name not in kept),
        judged=judge(model, final.changes, half),
    )


def score(model: Model, changes: Mapping[str, Any], end: int) -> float:
    """How far the first requests are from their recording, ms: the demerit in replays, and the mean error.

    The replays turn a little faster and slower, so that what is compared is drives and not the angles at
    which a platter happened to be.
    """
    turn = ms({**model.description, **changes}["rotation"])
    demerits = [
        model.demerit_ms({**changes, "rotation": f"{turn * (1 + off):.9f} ms"}, 0, end) for off in _OFF
    ]
    errors = model.recording.service - model.predict(changes).service
    return float(np.mean(demerits)) + _WEIGHT * float(np.mean(np.abs(errors[:end])))


# By how much of itself a turn is longer in the replays of a score, and what an error of a request counts
# beside the distance of distributions: it is many times as large.
_OFF, _WEIGHT = (-1e-4, 0.0, 1e-4, 2e-4), 0.05


def judge(model: Model, changes: Mapping[str, Any], half: int) -> Judgement:
    """How a drive does from request `half` on."""
    end = len(model.recording)
    return Judgement(
        rms_demerit_ms=model.demerit_ms(changes, half, end),
        start_rms_demerit_ms=model.demerit_ms({}, half, end),
        one_step_rms_ms=one_step_rms(model, changes, half, end),
        start_one_step_rms_ms=one_step_rms(model, {}, half, end),
        requests=end - half,
    )
