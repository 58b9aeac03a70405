"""The course of a fit: what is estimated after what, what of it is kept, and how the result is judged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr

from diskwright.fitting import _parameters, _positioning, _switches
from diskwright.fitting._least_squares import minimise
from diskwright.fitting._model import Model, Prediction
from diskwright.fitting._parameters import Parameter, ms
from diskwright.fitting._seek import SeekNumbers

Floats = NDArray[np.float64]
Progress = Callable[[int, int | None], object]

# Of the first half, the share that groups of parameters are estimated on; they are kept if they help with
# the rest.
_TRAINED = 0.7
# The size of error up to which squares count, ms, and the spread of a seek's time, ms, before anything is
# known.
_SCALE_MS, _SPREAD_MS = 0.25, 0.15
_Z95 = 1.959964


@dataclass
class Estimate:
    """A parameter's value with its interval, and what it was."""

    value: float | str | bool | int
    start: float | str | bool | int | None
    ci95: tuple[float, float] | None = None


@dataclass
class State:
    """A drive on its way: the changes of its description, and what they were estimated to be."""

    changes: dict[str, Any] = field(default_factory=dict)
    estimates: dict[str, Estimate] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)
    spread: float = _SPREAD_MS

    def copy(self) -> "State":
        return State(dict(self.changes), dict(self.estimates), set(self.untold), self.spread)


def score(model: Model, changes: Mapping[str, Any], begin: int, end: int) -> float:
    """What is to be small: the demerit in a replay and the typical error one step ahead, of some requests,
    ms.
    """
    return model.demerit_ms(changes, begin, end) + _WEIGHT * typical_error(model, changes, begin, end)


def typical_error(model: Model, changes: Mapping[str, Any], begin: int, end: int) -> float:
    """The mean size of the errors one step ahead, ms."""
    errors = (model.recording.service - model.predict(changes).service)[begin:end]
    return float(np.mean(np.abs(errors)))


# What an error of a request counts beside the distance of the distributions: it is many times as large.
_WEIGHT = 0.05


class Fitting:
    """A model whose drive is fitted to the first `end` requests of its recording."""

    def __init__(self, model: Model, end: int) -> None:
        self.model, self.end = model, end
        self.start = model.description

    def turn(self, state: State) -> float:
        return ms(state.changes.get("rotation", self.start["rotation"]))

    def smooth_errors(self, prediction: Prediction, turn: float, spread: float) -> Floats:
        """Recorded less expected times: of a request that may catch or miss a turn, expected are both by
        their chances.
        """
        wait = np.where(np.isfinite(prediction.first_wait), prediction.first_wait, turn / 2)
        wait = np.clip(wait, 0.0, turn)
        chances = ndtr(-wait / spread) - ndtr((wait - turn) / spread)
        fresh = prediction.on_medium & np.isfinite(prediction.first_wait)
        expected = prediction.service + turn * np.where(fresh, chances, 0.0)
        return self.model.recording.service - expected

    def cost(self, state: State, changes: Mapping[str, Any], begin: int, end: int) -> float:
        """The mean of robust squares of errors, in units of the scale."""
        prediction = self.model.predict({**state.changes, **changes})
        turn = ms({**self.start, **state.changes, **changes}["rotation"])
        errors = self.smooth_errors(prediction, turn, state.spread)[begin:end] / _SCALE_MS
        return float(np.mean(2 * (np.sqrt(1 + errors**2) - 1)))

    def followed(self, state: State) -> NDArray[np.bool_]:
        """Requests that the medium served and before which the platter's phase is known."""
        prediction, turn = self.model.predict(state.changes, gain=1.0, gate=1.0), self.turn(state)
        errors = self.model.recording.service - prediction.service
        fresh = prediction.on_medium & ~prediction.buffered
        after_medium = fresh & np.concatenate(([False], fresh[:-1]))
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

    def disagreement(self, state: State, begin: int, end: int) -> float:
        """How far the times are off that do not hang on which turn a request caught, of some requests: the
        mean error, ms.
        """
        prediction, turn = self.model.predict(state.changes), self.turn(state)
        errors = self.model.recording.service - prediction.service
        errors = np.where(prediction.on_medium, errors - turn * np.round(errors / turn), errors)
        rows = self.chosen(state, 0.5)[begin:end]
        return float(np.mean(np.minimum(np.abs(errors[begin:end][rows]), 0.5))) if rows.any() else 0.0

    # The steps. Each changes the state.

    def rotation(self, state: State) -> None:
        """The time of a turn, from how the platter's phase drifts: ever more gently followed, it drifts
        ever further.
        """
        parameter = _parameters.rotation(self.start)
        if not self.followed(state).any():
            state.untold.add(parameter.name)
            return
        for gain in (0.5, 0.1, 0.02):
            self._least_squares(state, [parameter], gain=gain, wrapped=True)

    def times(self, state: State) -> None:
        """Overheads, and the interface."""
        is_followed = bool(self.followed(state).any())
        self._least_squares(state, _parameters.times(self.start, is_followed), wrapped=True)

    def _least_squares(
        self, state: State, parameters: list[Parameter], *, gain: float = 0.5, wrapped: bool
    ) -> None:
        now = self.model.changed(state.changes)
        start = np.array([_parameters.value_of(now, parameter.name) for parameter in parameters])

        def changes(values: Floats) -> dict[str, Any]:
            texts = (parameter.text(value) for parameter, value in zip(parameters, values, strict=True))
            return dict(zip((parameter.name for parameter in parameters), texts, strict=True))

        chosen = self.chosen(state, gain)

        def residuals(values: Floats) -> Floats:
            tried = {**state.changes, **changes(values)}
            prediction = self.model.predict(tried, gain=gain)
            errors = self.model.recording.service - prediction.service
            if wrapped:
                turn = ms({**self.start, **tried}["rotation"])
                whole = turn * np.round(errors / turn)
                errors = np.where(prediction.on_medium, errors - whole, errors)
            return np.where(chosen, errors, 0.0)[: self.end]

        found = minimise(parameters, start, residuals, _SCALE_MS)
        spread = np.sqrt(np.diag(found.covariance))
        for index, parameter in enumerate(parameters):
            name, value = parameter.name, float(found.values[index])
            half = _Z95 * float(spread[index])
            if half == 0 or half > _TOO_WIDE * _Z95 * parameter.prior:
                state.untold.add(name)
                continue
            state.untold.discard(name)
            state.changes[name] = parameter.text(value)
            self._estimated(state, name, value, half)

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
        recording, turn = self.model.recording, self.turn(state)
        prediction = self.model.predict(state.changes)
        seen = _positioning.arrivals(recording, prediction, turn, self._from_buffer(state), self.end)
        # What a read on the arm's own track takes longer is neither its overhead nor a seek.
        seen = seen.among((prediction.distance > 0) | prediction.switches)
        rows = seen.rows
        if len(rows) < _FEWEST:
            return
        now = self.model.changed(state.changes)
        write, after = recording.write[rows], prediction.after_write[rows]
        distance = prediction.distance[rows]
        columns: dict[str, Floats] = {}
        for name, chosen in (
            ("overhead.read_after_read", ~write & ~after),
            ("overhead.read_after_write", ~write & after),
            ("overhead.write_after_read", write & ~after),
            ("overhead.write_after_write", write & after),
            ("heads.switch", (distance == 0) & prediction.switches[rows]),
            ("heads.write_settle", write),
        ):
            if chosen.sum() >= _FEWEST:
                columns[name] = chosen.astype(np.float64)
            else:
                state.untold.add(name)
        seek = SeekNumbers.of(now, distance)
        original = SeekNumbers.of(self.start, distance, seek.knots if len(seek.knots) else None)
        design = np.stack([*columns.values(), *(number.column for number in seek.numbers)], axis=1)
        of_overheads = [
            _parameters.value_of(now, name) - _parameters.value_of(self.start, name) for name in columns
        ]
        of_seeks = [
            (number.start - first.start) / number.per_ms
            for number, first in zip(seek.numbers, original.numbers, strict=True)
        ]
        moved = np.array([*of_overheads, *of_seeks])
        priors = np.array(
            [_positioning.OVERHEAD_PRIOR_MS] * len(of_overheads)
            + [_positioning.SEEK_PRIOR_MS] * len(of_seeks)
        )
        found, covariance, state.spread = _positioning.corrections(seen, design, state.spread, moved, priors)
        half = _Z95 * np.sqrt(np.diag(covariance))
        # What the recording does not tell is left as it was, and the others are estimated without it.
        told = half < _TOLD * _Z95 * priors
        if not told.any():
            return
        if not told.all():
            found[~told] = 0.0
            part, covariance, state.spread = _positioning.corrections(
                seen, design[:, told], state.spread, moved[told], priors[told]
            )
            found[told] = part
            half[told] = _Z95 * np.sqrt(np.diag(covariance))
        for index, name in enumerate(columns):
            if not told[index]:
                state.untold.add(name)
                continue
            value = _parameters.value_of(now, name) + float(found[index])
            if name != "heads.write_settle":
                value = max(value, 0.0)
            state.untold.discard(name)
            state.changes[name] = f"{value:.6f} ms"
            self._estimated(state, name, value, float(half[index]))
        # The knots are where the requests of this estimate are.
        state.estimates = {name: known for name, known in state.estimates.items() if "seek[" not in name}
        state.untold = {name for name in state.untold if "seek[" not in name}
        of_seek = slice(len(columns), None)
        state.changes.update(seek.changes(now, found[of_seek]))
        for number, first, correction, wide, is_told in zip(
            seek.numbers, original.numbers, found[of_seek], half[of_seek], told[of_seek], strict=True
        ):
            if is_told:
                value = number.start + float(correction) * number.per_ms
                state.untold.discard(number.name)
                self._estimated(state, number.name, value, float(wide) * number.per_ms, first.start)
            else:
                state.untold.add(number.name)

    def switches(self, state: State) -> None:
        """The buffer's switches, the best one first, as long as one more pays its penalty."""
        best = self.score(state.changes)
        for _ in range(_MOST_SWITCHES):
            description = self.model.changed(state.changes)
            found: tuple[float, str, Any] | None = None
            for path, value in _switches.alternatives(description):
                try:
                    tried = self.score({**state.changes, path: value})
                except ValueError:
                    continue
                if found is None or tried < found[0]:
                    found = tried, path, value
            if found is None or not self._pays(best, found[0]):
                return
            best, path, value = found
            state.changes[path] = value
            state.estimates[path] = Estimate(value, _parameters.at(self.start, path))

    def score(self, changes: Mapping[str, Any]) -> float:
        """What alternatives are compared by: the demerit, and the typical error one step ahead, ms."""
        return score(self.model, changes, 0, self.end)

    def _pays(self, before: float, after: float) -> bool:
        """Whether a further parameter is worth its penalty (BIC), with the score as the spread of errors."""
        penalty = np.log(self.end) / self.end
        return bool(np.log(before) - np.log(max(after, 1e-12)) > max(penalty, _LEAST_GAIN))

    def _unit(self, state: State, parameter: Parameter) -> float:
        """How far a parameter is moved lightly by its effect on distributions: what is told well hardly at
        all.
        """
        estimate = state.estimates.get(parameter.name)
        usual = 20 * parameter.step
        if estimate is None or estimate.ci95 is None:
            return usual
        return float(np.clip((estimate.ci95[1] - estimate.ci95[0]) / 2, 0.1 * usual, usual))

    def calibration(self, state: State) -> None:
        """Times once more, by the score: what the medium does behind what was measured is in the
        distribution, too.
        """
        now = self.model.changed(state.changes)
        parameters = _parameters.calibrated(now)
        start = np.array([_parameters.value_of(now, parameter.name) for parameter in parameters])
        least = np.array([parameter.least for parameter in parameters])
        most = np.array([parameter.most for parameter in parameters])
        units = np.array([self._unit(state, parameter) for parameter in parameters])

        def changes(moved: Floats) -> dict[str, Any]:
            values = np.clip(start + moved * units, least, most)
            texts = (parameter.text(value) for parameter, value in zip(parameters, values, strict=True))
            return dict(zip((parameter.name for parameter in parameters), texts, strict=True))

        def of(moved: Floats) -> float:
            # What was measured is left where the score hardly tells anything.
            return self.score({**state.changes, **changes(moved)}) * (1 + _RELUCTANCE * float(moved @ moved))

        bounds = [(-10.0, 10.0)] * len(parameters)
        found = minimize(
            of,
            np.zeros(len(parameters)),
            method="Powell",
            bounds=bounds,
            options={"maxfev": 400, "xtol": 0.05, "ftol": 1e-3},
        )
        best = changes(found.x)
        for index, parameter in enumerate(parameters):
            if abs(found.x[index]) < 0.05:
                continue
            name = parameter.name
            state.changes[name] = best[name]
            state.untold.discard(name)
            earlier = state.estimates.get(name)
            half = 0.0 if earlier is None or earlier.ci95 is None else (earlier.ci95[1] - earlier.ci95[0]) / 2
            # What the two ways to estimate differ by is uncertainty as well.
            half = float(np.hypot(half, abs(found.x[index] * units[index])))
            self._estimated(state, name, ms(best[name]), half)

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
        """Skews and where zones begin, a sector or two more or less, where that pays its penalty."""
        if not self.followed(state).any():
            return
        penalty = np.log(self.end) / self.end
        zones = len(_parameters.at(self.start, "layout.zone"))
        cost = self.cost(state, {}, 0, self.end)
        for zone in range(zones):
            for key in ("track_skew", "cylinder_skew"):
                path = f"layout.zone[{zone}].{key}"
                now = _parameters.at(self.model.changed(state.changes), path)
                for other in (now - 2, now - 1, now + 1, now + 2):
                    if other < 0:
                        continue
                    try:
                        tried = self.cost(state, {path: other}, 0, self.end)
                    except ValueError:
                        continue
                    if np.log(cost) - np.log(tried) > max(2 * penalty, _LEAST_GAIN):
                        cost = tried
                        state.changes[path] = other
                        state.estimates[path] = Estimate(other, _parameters.at(self.start, path))


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
_MOST_SWITCHES, _LEAST_GAIN, _RELUCTANCE = 3, 0.05, 0.002
