"""The steps of a fit: each estimates a group of parameters with the others as they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from diskwright.fitting import _parameters, _positioning, _skews, _switches
from diskwright.fitting._least_squares import minimise
from diskwright.fitting._likelihood import log_likelihood
from diskwright.fitting._model import GATE, Model, Prediction
from diskwright.fitting._parameters import Parameter, ms
from diskwright.fitting._posterior import root
from diskwright.fitting._seek import SeekNumbers

Floats = NDArray[np.float64]
# The size of an error up to which its square counts, ms: of requests that the buffer serves, which may take
# either of two times, and of those that the medium serves, some of which were predicted for another place of
# the platter.
_BUFFER_MS, _MEDIUM_MS = 0.25, 0.1
# The spread of the time of a seek, ms, before anything is known.
_SPREAD_MS = 0.15
_Z95 = 1.959964
# What is before the medium comes by, but for the seek.
BEFORE = (
    "overhead.read_after_read",
    "overhead.read_after_write",
    "overhead.write_after_read",
    "overhead.write_after_write",
    "heads.switch",
    "heads.write_settle",
)
# Those that may be less than 0.
_SIGNED = ("heads.write_settle",)
# What a derivative is taken over; the share of it by which a request counts as affected, and that from which
# on the drive does something else; the root mean square effect above which an uncertainty matters.
_NUDGE_MS, _AFFECTED, _STEEPEST, _MATTERS_MS = 0.01, 0.5, 2.5, 0.002
# How often positioning is made linear anew, at most, and the correction that ends it.
_PASSES, _SETTLED_MS = 3, 0.01


@dataclass
class Estimate:
    """A parameter's value with its interval, and what it was."""

    value: float | str | bool | int
    start: float | str | bool | int | None
    ci95: tuple[float, float] | None = None


# A change of a description, and by how much of its unit a number is changed.
Nudge = tuple[Mapping[str, Any], float]


@dataclass(frozen=True)
class Times:
    """What least squares found: the covariance of some parameters."""

    parameters: tuple[Parameter, ...]
    covariance: Floats

    def nudges(self, now: Mapping[str, Any]) -> list[Nudge]:
        steps = [(one, 2 * one.step) for one in self.parameters]
        return [({one.name: one.text(_parameters.value_of(now, one.name) + by)}, by) for one, by in steps]


@dataclass(frozen=True)
class Positions:
    """What positioning found: the covariance of overheads and times of the heads, then of a seek curve's
    numbers, with the knots of corrections of a table.
    """

    knots: Floats | None
    covariance: Floats


@dataclass(frozen=True)
class _Place:
    """What positioning is estimated from, linear about a drive.

    numbers: of each number its change that moves heads by 1 ms, its value and that at the start.
    """

    problem: _positioning.Problem
    now: Mapping[str, Any]
    seek: SeekNumbers
    numbers: tuple[tuple[float, float, float], ...]

    @property
    def names(self) -> list[str]:
        return [*BEFORE, *(number.name for number in self.seek.numbers)]

    @property
    def knots(self) -> Floats | None:
        """Those of a table's corrections."""
        return self.seek.knots if len(self.seek.knots) else None

    @property
    def prior_ms(self) -> Floats:
        return np.sqrt(np.diag(self.problem.expected))

    @property
    def affected(self) -> NDArray[np.int64]:
        """How many requests each number makes later."""
        found: NDArray[np.int64] = (np.abs(self.problem.design) > _AFFECTED).sum(axis=0)
        return found

    def changes(self, moved: Floats) -> dict[str, Any]:
        """The numbers moved by so many ms."""
        found: dict[str, Any] = {}
        for index, name in enumerate(BEFORE):
            _, value, _ = self.numbers[index]
            value += float(moved[index])
            found[name] = f"{value if name in _SIGNED else max(value, 0.0):.6f} ms"
        return {**found, **self.seek.changes(self.now, moved[len(BEFORE) :])}


def _expected(seek: SeekNumbers) -> Floats:
    """The covariance of the numbers of positioning before anything is estimated, ms²."""
    return _positioning.expected(len(BEFORE), seek.values_ms)


def _nudges(now: Mapping[str, Any], seek: SeekNumbers) -> list[Nudge]:
    """Nudges of the numbers of positioning."""
    found: list[Nudge] = [
        ({name: f"{_parameters.value_of(now, name) + _NUDGE_MS:.6f} ms"}, _NUDGE_MS) for name in BEFORE
    ]
    each = np.eye(len(seek.numbers)) * _NUDGE_MS
    return [*found, *((seek.changes(now, one), _NUDGE_MS) for one in each)]


@dataclass
class State:
    """A drive on its way: the changes of its description, and what they were estimated to be."""

    changes: dict[str, Any] = field(default_factory=dict)
    estimates: dict[str, Estimate] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)
    spread: float = _SPREAD_MS
    times: Times | None = None
    positioning: Positions | None = None

    def copy(self) -> "State":
        return replace(
            self, changes=dict(self.changes), estimates=dict(self.estimates), untold=set(self.untold)
        )


class Fitting:
    """A model whose drive is fitted to the first `end` requests of its recording."""

    def __init__(self, model: Model, end: int) -> None:
        self.model, self.end = model, end
        self.start = model.description

    def turn(self, state: State) -> float:
        return ms(state.changes.get("rotation", self.start["rotation"]))

    def cost(self, changes: Mapping[str, Any], begin: int = 0, end: int | None = None) -> float:
        """The negative log likelihood of requests, of those of the fit where none are named."""
        turn = ms(changes.get("rotation", self.start["rotation"]))
        likely = log_likelihood(self.model.recording, self.model.predict(changes), turn)
        return -float(np.sum(likely[begin : self.end if end is None else end]))

    def followed(self, state: State) -> NDArray[np.bool_]:
        """Requests that the medium served and before which the platter's phase is known."""
        prediction, turn = self.model.predict(state.changes, gain=1.0, gate=1.0), self.turn(state)
        errors = self.model.recording.service - prediction.service
        fresh = prediction.on_medium & ~prediction.buffered
        after_medium = fresh & np.concatenate(([False], fresh[:-1]))
        # At the start the platter is anywhere.
        after_medium &= np.cumsum(fresh) > _UNTIL_KNOWN
        among = np.arange(len(errors)) < self.end
        phase = np.exp(2j * np.pi * errors / turn)
        best = np.zeros(len(errors), dtype=bool)
        for farthest in (0, 1, 4, 1 << 30):
            near = after_medium & (prediction.distance <= farthest)
            if (near & among).sum() < _FEWEST or abs(phase[near & among].mean()) < _FOLLOWED:
                continue
            best = near
        return best

    def chosen(self, state: State, gain: float) -> NDArray[np.bool_]:
        """Requests whose times are compared: those from the buffer, and those whose phase is known."""
        prediction = self.model.predict(state.changes, gain=gain)
        return ~prediction.on_medium | self.followed(state)

    # The steps. Each changes the state.

    def rotation(self, state: State) -> None:
        """The time of a turn, from how the platter's phase drifts: from one request to the next, and ever
        further where none of them loses it.
        """
        parameter = _parameters.rotation(self.start)
        followed = self.followed(state)[: self.end]
        if not followed.any():
            state.untold.add(parameter.name)
            return
        medium = self.model.predict(state.changes).on_medium[: self.end]
        is_whole = followed.sum() > _ALWAYS * medium.sum()
        for gain in (0.5, 0.1, 0.02) if is_whole else (1.0,):
            self._least_squares(state, [parameter], gain=gain)

    def times(self, state: State) -> None:
        """Overheads, and the interface."""
        is_followed = bool(self.followed(state).any())
        parameters = _parameters.times(self.start, is_followed)
        state.times = Times(tuple(parameters), self._least_squares(state, parameters))

    def _least_squares(self, state: State, parameters: list[Parameter], *, gain: float = 0.5) -> Floats:
        """Estimates parameters. Returns their covariance, with that of those that are not told."""
        now = self.model.changed(state.changes)
        start = np.array([_parameters.value_of(now, parameter.name) for parameter in parameters])

        def changes(values: Floats) -> dict[str, Any]:
            texts = (parameter.text(value) for parameter, value in zip(parameters, values, strict=True))
            return dict(zip((parameter.name for parameter in parameters), texts, strict=True))

        chosen = self.chosen(state, gain)

        def residuals(values: Floats, further: Mapping[str, Any] | None = None) -> Floats:
            tried = {**state.changes, **changes(values), **(further or {})}
            prediction = self.model.predict(tried, gain=gain)
            errors = self.model.recording.service - prediction.service
            turn = ms({**self.start, **tried}["rotation"])
            of_turn = errors - turn * np.round(errors / turn)
            # What waits for what is still written may miss a turn as well.
            waits = prediction.on_medium | (np.abs(of_turn) < GATE * turn)
            errors = np.where(waits, of_turn, errors)
            scaled = errors / np.where(prediction.on_medium, _MEDIUM_MS, _BUFFER_MS)
            return np.where(chosen, scaled, 0.0)[: self.end]

        def uncertain(values: Floats) -> Floats:
            """How errors change for each standard deviation of what is estimated apart from these."""
            tried, before = {**state.changes, **changes(values)}, residuals(values)
            columns = []
            for nudges, covariance in self._apart(state, tried, parameters):
                moved = [(residuals(values, further) - before) / by for further, by in nudges]
                columns.append(np.stack(moved, axis=1) @ root(covariance))
            return np.concatenate(columns, axis=1)

        found = minimise(parameters, start, residuals, uncertain=uncertain)
        half = _Z95 * np.sqrt(np.diag(found.covariance))
        priors = np.array([parameter.prior for parameter in parameters])
        told = (half > 0) & (half <= _TOO_WIDE * _Z95 * priors)
        values = found.values.copy()
        if told.any() and not told.all():
            # What is not told stays as it is, and the others are estimated with it so; their intervals are
            # those with all that it may be.
            def of_told(some: Floats) -> Floats:
                whole = start.copy()
                whole[told] = some
                return residuals(whole)

            among = [parameter for parameter, is_told in zip(parameters, told, strict=True) if is_told]
            values[told] = minimise(among, start[told], of_told).values
        for index, parameter in enumerate(parameters):
            name, value = parameter.name, float(values[index])
            if not told[index]:
                state.untold.add(name)
                continue
            state.untold.discard(name)
            state.changes[name] = parameter.text(value)
            self._estimated(state, name, value, float(half[index]))
        return found.covariance

    def _apart(
        self, state: State, changes: Mapping[str, Any], parameters: list[Parameter]
    ) -> Iterator[tuple[list[Nudge], Floats]]:
        """What is estimated apart from some parameters: nudges of it, and its covariance."""
        now = self.model.changed(changes)
        if state.times is not None and parameters[0] not in state.times.parameters:
            yield state.times.nudges(now), state.times.covariance
        prediction = self.model.predict(changes)
        distance = prediction.distance[: self.end][prediction.on_medium[: self.end]]
        known = state.positioning
        seek = SeekNumbers.of(now, distance, None if known is None else known.knots)
        if known is None:
            yield _nudges(now, seek), _expected(seek)
        else:
            yield _nudges(now, seek), known.covariance

    def _estimated(
        self, state: State, name: str, value: float, half: float, start: float | None = None
    ) -> None:
        if start is None:
            start = _parameters.value_of(self.start, name)
        state.estimates[name] = Estimate(value, start, (value - half, value + half))

    def _from_buffer(self, state: State) -> Floats:
        """How long reads take that the buffer serves; of writes nothing is known."""
        now, recording = self.model.changed(state.changes), self.model.recording
        hit = _parameters.at(now, "buffer.read.hit_after_read")
        block = _parameters.at(now, "interface.block_time") or "0 ms"
        of_reads = ms(hit) + ms(block) * recording.blocks
        return np.where(recording.write, 0.0, of_reads)

    def positioning(self, state: State) -> None:
        """Overheads before the medium, head switch, settling and seek curve, from turns that were caught
        or missed.
        """
        # Which requests wait for what the drive still does, while an overhead passes, changes with what is
        # found: the search is linear about one place after another.
        tried = state.copy()
        first = at = self._place(tried, None)
        for _ in range(_PASSES):
            if first is None or at is None:
                return
            moved = _positioning.likeliest(at.problem)[0][: len(at.names)]
            tried.changes.update(at.changes(moved))
            at = self._place(tried, first.knots)
            if np.abs(moved).max() < _SETTLED_MS:
                break
        if first is None or at is None:
            return
        whole = _positioning.corrections(at.problem)
        low, high = whole.interval()
        # What the recording does not tell is left as it was, and the others are estimated with it as it is;
        # their intervals are those with all that it may be.
        told = (high - low < 2 * _TOLD * _Z95 * at.prior_ms) & (at.affected >= _FEWEST)
        if not told.any():
            state.untold.update(at.names)
            return
        state.spread = whole.spread
        state.positioning = Positions(at.knots, whole.covariance)
        found = whole.given(~told, (first.problem.moved - at.problem.moved)[~told])
        # A time is not below 0.
        found = np.maximum(found, at.problem.least)
        low, high = np.minimum(low, found), np.maximum(high, found)
        # The knots are where the requests of this estimate are.
        state.estimates = {name: known for name, known in state.estimates.items() if "seek[" not in name}
        state.untold = {name for name in state.untold if "seek[" not in name}
        changes = at.changes(found)
        for index, name in enumerate(at.names):
            if not told[index]:
                state.untold.add(name)
                continue
            state.untold.discard(name)
            per_ms, value, start = at.numbers[index]
            ends = value + per_ms * float(low[index]), value + per_ms * float(high[index])
            interval = min(ends), max(ends)
            state.estimates[name] = Estimate(value + per_ms * float(found[index]), start, interval)
            if index < len(BEFORE):
                state.changes[name] = changes[name]
        if told[len(BEFORE) :].any():
            state.changes["seek"] = changes["seek"]

    def _place(self, state: State, knots: Floats | None) -> "_Place | None":
        """What positioning is estimated from, linear about a drive; none where there is nothing."""
        recording, turn = self.model.recording, self.turn(state)
        prediction = self.model.predict(state.changes)
        seen = _positioning.arrivals(recording, prediction, turn, self._from_buffer(state), self.end)
        if len(seen.rows) < _FEWEST:
            return None
        now = self.model.changed(state.changes)
        distance = prediction.distance[seen.rows]
        seek = SeekNumbers.of(now, distance, knots)
        original = SeekNumbers.of(self.start, distance, seek.knots if len(seek.knots) else None)
        numbers = [
            (1.0, _parameters.value_of(now, name), _parameters.value_of(self.start, name)) for name in BEFORE
        ]
        numbers += [
            (number.per_ms, number.start, first.start)
            for number, first in zip(seek.numbers, original.numbers, strict=True)
        ]
        design, is_smooth = self._later(state, seen, _nudges(now, seek), prediction)
        uncertain, is_sure = self._later_by_times(state, seen, prediction)
        tells = is_smooth & is_sure & (np.abs(design) < _STEEPEST).all(axis=1)
        if tells.sum() < _FEWEST:
            return None
        least = [-np.inf if name in _SIGNED else -_parameters.value_of(now, name) for name in BEFORE]
        has_points = "table" in now["seek"]
        problem = _positioning.Problem(
            seen.chosen(tells),
            design[tells],
            np.array([(value - start) / per_ms for per_ms, value, start in numbers]),
            np.array([*least, *(-number.start if has_points else -np.inf for number in seek.numbers)]),
            _expected(original),
            uncertain[tells],
            state.spread,
        )
        return _Place(problem, now, seek, tuple(numbers))

    def _later(
        self,
        state: State,
        seen: _positioning.Arrivals,
        nudges: Sequence[Nudge],
        prediction: Prediction,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """How much later heads arrive for 1 ms of each change, and of which requests that tells: not of those
        that then find the drive doing something else.

        The arrival is all of the time but the wait for the first sector; a turn more is none.
        """
        before = (prediction.service - prediction.first_wait)[seen.rows]
        columns = np.zeros((len(before), len(nudges)))
        for index, (changes, by) in enumerate(nudges):
            moved = self.model.predict({**state.changes, **changes})
            off = (moved.service - moved.first_wait)[seen.rows] - before
            columns[:, index] = (off - seen.turn * np.round(off / seen.turn)) / by
        is_smooth = np.asarray(np.isfinite(columns).all(axis=1), dtype=np.bool_)
        return np.where(is_smooth[:, None], columns, 0.0), is_smooth

    def _later_by_times(
        self, state: State, seen: _positioning.Arrivals, prediction: Prediction
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """How much later heads arrive for a standard deviation of each independent combination of the times
        that were estimated before, of those that matter.
        """
        known = state.times
        if known is None:
            return np.zeros((len(seen.rows), 0)), np.ones(len(seen.rows), dtype=bool)
        nudges = known.nudges(self.model.changed(state.changes))
        columns, is_smooth = self._later(state, seen, nudges, prediction)
        apart = columns @ root(known.covariance)
        left, sizes, _ = np.linalg.svd(np.where(is_smooth[:, None], apart, 0.0), full_matrices=False)
        matters = sizes > _MATTERS_MS * np.sqrt(len(columns))
        return left[:, matters] * sizes[matters], is_smooth

    def likeliest(self, state: State) -> None:
        """Overheads before the medium and times of the heads once more, by the likelihood itself: where the
        phase is known it tells to a fraction of a turn which requests catch theirs.
        """
        names = [name for name in BEFORE if name in state.estimates]
        if not names:
            return
        now = self.model.changed(state.changes)
        start = np.array([_parameters.value_of(now, name) for name in names])

        def changes(moved: Floats) -> dict[str, Any]:
            values = np.maximum(start + moved, 0.0)
            return {name: f"{value:.6f} ms" for name, value in zip(names, values, strict=True)}

        def unlikely(moved: Floats) -> float:
            prior = 0.5 * float(np.sum((moved / _positioning.OVERHEAD_PRIOR_MS) ** 2))
            return self.cost({**state.changes, **changes(moved)}) + prior

        found = minimize(
            unlikely,
            np.zeros(len(names)),
            method="Powell",
            bounds=[(-_FARTHEST_MS, _FARTHEST_MS)] * len(names),
            options={"maxfev": 60 * len(names), "xtol": 0.01, "ftol": 1e-5},
        )
        if found.fun >= unlikely(np.zeros(len(names))):
            return
        best = changes(found.x)
        for name, was in zip(names, start, strict=True):
            value = ms(best[name])
            low, high = state.estimates[name].ci95 or (was, was)
            at_start = _parameters.value_of(self.start, name)
            state.changes[name] = best[name]
            # The likelihood's edges tell no interval: it is the posterior distribution's, with the value.
            state.estimates[name] = Estimate(value, at_start, (min(low, value), max(high, value)))

    def switches(self, state: State) -> None:
        """The buffer's switches, the best one first, as long as one more pays its penalty."""
        best = self.cost(state.changes)
        for _ in range(_MOST_SWITCHES):
            description = self.model.changed(state.changes)
            found: tuple[float, str, Any] | None = None
            for path, value in _switches.alternatives(description):
                try:
                    tried = self.cost({**state.changes, path: value})
                except ValueError:
                    continue
                if found is None or tried < found[0]:
                    found = tried, path, value
            if found is None or best - found[0] < _SWITCH_PENALTY * np.log(self.end):
                return
            best, path, value = found
            state.changes[path] = value
            state.estimates[path] = Estimate(value, _parameters.at(self.start, path))

    def late_hits(self, state: State) -> None:
        """Hits that take either of two times, as some controllers need a moment longer now and then."""
        if _parameters.at(self.start, "buffer.read.late_hits") is not None:
            return
        prediction = self.model.predict(state.changes)
        errors = (self.model.recording.service - prediction.service)[: self.end]
        hits = (prediction.buffered & ~self.model.recording.write)[: self.end]
        hits &= np.abs(errors) < 1.0
        if hits.sum() < 5 * _FEWEST:
            return
        found = errors[hits]
        split = _two_values(found)
        if split is None:
            return
        share, by, base = split
        now = self.model.changed(state.changes)
        state.changes["buffer.read.late_hits"] = {"share": round(share, 4), "by": f"{by:.6f} ms"}
        half = _Z95 * np.sqrt(share * (1 - share) / len(found))
        state.estimates["buffer.read.late_hits.share"] = Estimate(share, 0.0, (share - half, share + half))
        wide = _Z95 * float(found.std()) / np.sqrt(len(found))
        state.estimates["buffer.read.late_hits.by"] = Estimate(by, 0.0, (by - wide, by + wide))
        for name in ("buffer.read.hit_after_read", "buffer.read.hit_after_write"):
            value = max(_parameters.value_of(now, name) + base, 0.0)
            state.changes[name] = f"{value:.6f} ms"
            self._estimated(state, name, value, wide)

    def skews(self, state: State) -> None:
        """Skews of zones, where the platter is followed at least over short distances."""
        if not self.followed(state).any():
            return
        found = _skews.skews(self.model, state.changes, self.turn(state), self.end)
        for path, (value, interval) in found.items():
            state.changes[path] = value
            state.estimates[path] = Estimate(
                value, _parameters.at(self.start, path), (float(interval[0]), float(interval[1]))
            )


def _two_values(errors: Floats) -> tuple[float, float, float] | None:
    """The share of the later of two values, how much later it is, and the earlier one, where errors are at
    two values.
    """
    ordered = np.sort(errors)
    count = len(ordered)
    sums, squares = np.cumsum(ordered), np.cumsum(ordered**2)
    below = np.arange(1, count)
    above = count - below
    mean_below, mean_above = sums[:-1] / below, (sums[-1] - sums[:-1]) / above
    within = squares[-1] - below * mean_below**2 - above * mean_above**2
    whole = squares[-1] - sums[-1] ** 2 / count
    best = int(np.argmin(within))
    share = float(above[best] / count)
    if whole <= 0 or within[best] > 0.4 * whole or not 0.02 < share < 0.98:
        return None
    return share, float(mean_above[best] - mean_below[best]), float(mean_below[best])


# A parameter whose interval is not narrower than this share of what was expected without the recording is
# not told.
_TOO_WIDE, _TOLD = 0.9, 0.8
_FEWEST = 40
# The mean of the phases' errors as points of the unit circle, above which the platter counts as followed.
_FOLLOWED = 0.6
# The requests on the medium after which the platter's phase is that of the recording.
_UNTIL_KNOWN = 8
# The share of requests on the medium that are followed above which none loses the phase for long.
_ALWAYS = 0.8
# How far the likelihood itself may take each from the estimate before, ms.
_FARTHEST_MS = 1.0
# An alternative is taken that explains the recording better by this multiple of the logarithm of the number
# of requests: several are tried, and requests err together.
_MOST_SWITCHES, _SWITCH_PENALTY = 6, 4.0
