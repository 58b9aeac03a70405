"""A whole extraction: what is measured, in which order."""

from collections.abc import Callable
from dataclasses import dataclass, field

from diskwright.extracting._memory import Memory, measure_memory
from diskwright.extracting._motion import Arm, Motion, Time, UnmeasuredError
from diskwright.extracting._noise import open_noisy
from diskwright.extracting._noisy_motion import NoisyMotion
from diskwright.extracting._noisy_zones import HiddenError, NoisyLayout
from diskwright.extracting._platter import ExhaustedError, NoRotationError, Platter, open_platter
from diskwright.extracting._target import Target
from diskwright.extracting._zones import Layout, UnclearError

Progress = Callable[[int, int | None], object]

# The part of a budget that the survey of zones may use up where times have noise.
_OF_ZONES = 0.6
# Shares of the work by step, in thousandths: where each begins.
_STEPS = {"rotation": 0, "zones": 20, "cylinders": 500, "seek": 700, "memory": 930, "end": 1000}


@dataclass
class Extracted:
    """What was measured.

    why_not: why nothing was, for something that does not rotate.
    is_complete: whether all was measured that was to be, before a budget was used up.
    """

    platter: Platter | None = None
    layout: Layout | None = None
    arm: Arm | None = None
    memory: Memory | None = None
    why_not: str | None = None
    is_complete: bool = True
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    requests: int = 0


def course(target: Target, budget_s: float | None, per_octave: int, progress: Progress | None) -> Extracted:
    """Measures a target."""
    found = Extracted()
    began = target.now_ns
    deadline = None if budget_s is None else target.budget_from_ns + int(budget_s * 1e9)

    def step(name: str) -> Callable[[float], None]:
        names = list(_STEPS)
        first, last = _STEPS[name], _STEPS[names[names.index(name) + 1]]

        def tell(share: float) -> None:
            if progress is not None:
                progress(round(first + share * (last - first)), _STEPS["end"])

        tell(0.0)
        return tell

    try:
        _measure(target, found, deadline, per_octave, step)
    except NoRotationError as error:
        found.why_not = str(error)
    except ExhaustedError:
        found.is_complete = False
        found.notes.append("the budget was used up before all was measured")
    found.seconds = (target.now_ns - began - target.away_ns) / 1e9
    return found


def _measure(
    target: Target,
    found: Extracted,
    deadline: int | None,
    per_octave: int,
    step: Callable[[str], Callable[[float], None]],
) -> None:
    step("rotation")
    platter: Platter
    layout: Layout
    motion: Motion
    if target.exact:
        platter = open_platter(target, deadline)
        layout = Layout(platter, step("zones"))
        motion = Motion(platter, layout)
        resolution = max(platter.turn / 2**16, 4 * platter.noise)
    else:
        noisy = platter = open_noisy(target, deadline)
        ends = None if deadline is None else target.now_ns + round(_OF_ZONES * (deadline - target.now_ns))
        layout = NoisyLayout(noisy, step("zones"), ends)
        motion = NoisyMotion(platter, layout)
        resolution = platter.noise / 2
    found.platter = platter
    try:
        layout.survey()
    except UnclearError as error:
        found.notes.append(f"sectors from {error.args[0]} on are at no even spaces")
        if not layout.zones:
            return
    except HiddenError as error:
        noise, sector = error.args
        found.notes.append(
            f"noise of {noise / 1e3:.0f} µs hides the zones, whose sectors pass in {sector / 1e3:.0f} µs"
        )
        return
    found.layout = layout
    if platter.hit:
        # What a drive reads ahead would move the arm.
        motion.by = "write" if target.may_write else "read"
        motion.rest_turns = 0 if target.may_write or not target.exact else 3
    arm = found.arm = Arm(motion, resolution, lambda share: None)
    try:
        arm.measure_base()
        if layout.tracks is None:
            arm.find_cylinders()
        arm.measure_switch()
        arm.tell = step("cylinders")
        arm.number_cylinders()
        arm.tell = step("seek")
        arm.measure_curve(per_octave)
        arm.find_arms()
    except UnmeasuredError:
        found.notes.append("requests do not take the times that the angles of their sectors give them")
    if arm.base is not None:
        found.memory = measure_memory(platter, arm, step("memory"))
        found.notes += found.memory.notes


__all__ = ["Extracted", "Time", "course"]
