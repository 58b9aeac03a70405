"""A whole fit: which groups of parameters help requests that they were not estimated from, and the
judgement.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskwright.fitting._model import Model
from diskwright.fitting._steps import Estimate, Fitting, State, score

Progress = Callable[[int, int | None], object]

# The groups in their order. A later one is estimated with what the earlier ones found.
GROUPS: tuple[tuple[str, Callable[[Fitting, State], None]], ...] = (
    ("rotation", Fitting.rotation),
    ("times", Fitting.times),
    ("rotation again", Fitting.rotation),
    ("positioning", Fitting.positioning),
    ("switches", Fitting.switches),
    ("skews", Fitting.skews),
    ("times again", Fitting.times),
    ("positioning again", Fitting.positioning),
    ("late hits", Fitting.late_hits),
    ("calibration", Fitting.calibration),
)
# A group is kept as well that makes errors smaller than this share which do not hang on turns.
_AGREES = 0.9
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


def course(model: Model, progress: Progress | None = None) -> Fitted:
    """Fits the drive of a model to the first half of its recording and judges it on the second."""
    half = len(model.recording) // 2
    trained = int(TRAINED * half)
    steps = 2 * len(GROUPS)

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, steps)

    tell(0)
    fitting, state = Fitting(model, trained), State()
    best = score(model, state.changes, trained, half)
    agreed = fitting.disagreement(state, trained, half)
    kept: list[str] = []
    # What was kept after each group, the start first, with its score.
    stages: list[tuple[float, list[str], State]] = [(best, [], state)]
    for index, (name, estimate) in enumerate(GROUPS):
        tried = state.copy()
        estimate(fitting, tried)
        found = score(model, tried.changes, trained, half)
        agrees = fitting.disagreement(tried, trained, half)
        # A group whose times are right may make turns wrong that only a later group puts right.
        if tried.changes != state.changes and (found < best or agrees < _AGREES * agreed):
            state, best, agreed = tried, found, agrees
            kept = [*kept, name]
            stages.append((found, kept, state))
        else:
            state.untold |= tried.untold - set(state.estimates)
        tell(index + 1)
    best, kept, state = min(stages, key=lambda stage: stage[0])
    final, whole = State(), Fitting(model, half)
    for index, (name, estimate) in enumerate(GROUPS):
        if name in kept:
            estimate(whole, final)
        tell(len(GROUPS) + index + 1)
    # More requests to estimate from give better estimates, unless one of a few alternatives was lost by them.
    if score(model, final.changes, 0, half) > score(model, state.changes, 0, half):
        final = state
    if score(model, final.changes, 0, half) >= score(model, {}, 0, half):
        final, kept = State(untold=final.untold), []
    return Fitted(
        changes=final.changes,
        estimates=final.estimates,
        untold=tuple(sorted(final.untold - set(final.estimates))),
        kept=tuple(kept),
        dropped=tuple(name for name, _ in GROUPS if name not in kept),
        judged=judge(model, final.changes, half),
    )


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
