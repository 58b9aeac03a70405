"""The steps of a fit: each estimates a group of parameters with the others as they are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from diskwright.fitting import _parameters, _positioning, _skews, _switches
from diskwright.fitting._least_squares import minimise
from diskwright.fitting._likelihood import log_likelihood
from diskwright.fitting._model import Model
from diskwright.fitting._parameters import Parameter, ms
from diskwright.fitting._seek import SeekNumbers

Floats = NDArray[np.float64]
# The size of an error up to which its square counts, ms: of requests that the buffer serves, which may take
# either of two times, and of those that the medium serves, some of which were predicted for another place of
# the platter.
_BUFFER_MS, _MEDIUM_MS = 0.25, 0.1
# The spread of the time of a seek, ms, before anything is known.
_SPREAD_MS = 0.15
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
            scaled = errors / np.where(prediction.on_medium, _MEDIUM_MS, _BUFFER_MS)
            return np.where(chosen, scaled, 0.0)[: self.end]

        found = minimise(parameters, start, residuals)
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
            ("heads.write_settle", write & ((distance > 0) | prediction.switches[rows])),
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
        prior_ms = np.array(
            [_positioning.OVERHEAD_PRIOR_MS] * len(of_overheads)
            + [_positioning.SEEK_PRIOR_MS] * len(of_seeks)
        )
        priors = _positioning.priors(len(of_overheads), len(of_seeks))
        found, covariance, state.spread = _positioning.corrections(seen, design, state.spread, moved, priors)
        half = _Z95 * np.sqrt(np.diag(covariance))
        # What the recording does not tell is left as it was, and the others are estimated without it.
        told = half < _TOLD * _Z95 * prior_ms
        if not told.any():
            return
        if not told.all():
            found[~told] = 0.0
            of_told = _positioning.priors(
                int(told[: len(of_overheads)].sum()), int(told[len(of_overheads) :].sum())
            )
            part, covariance, state.spread = _positioning.corrections(
                seen, design[:, told], state.spread, moved[told], of_told
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

    def likeliest(self, state: State) -> None:
        """Overheads before the medium and times of the heads once more, by the likelihood itself: where the
        phase is known it tells to a fraction of a turn which requests catch theirs.
        """
        names = [name for name in _LIKELIEST if name in state.estimates]
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
            # What two ways to estimate differ by is uncertainty as well.
            half = float(np.hypot((high - low) / 2, value - was))
            state.changes[name] = best[name]
            self._estimated(state, name, value, half)

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
# The share of requests on the medium that are followed above which none loses the phase for long.
_ALWAYS = 0.8
# What the likelihood itself is maximised by, and how far it may take each from the estimate before, ms.
_LIKELIEST = (
    "overhead.read_after_read",
    "overhead.read_after_write",
    "overhead.write_after_read",
    "overhead.write_after_write",
    "heads.switch",
    "heads.write_settle",
)
_FARTHEST_MS = 1.0
# An alternative is taken that explains the recording better by this multiple of the logarithm of the number
# of requests: several are tried, and requests err together.
_MOST_SWITCHES, _SWITCH_PENALTY = 6, 4.0
