"""The parameters of a drive that a fit may change: where they are in its description, and what values they
may have.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_UNITS_MS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "s": 1e3}
_TIME = re.compile(r"\s*(-?[0-9.]+)\s*([a-zµ]+)\s*")


@dataclass(frozen=True)
class Parameter:
    """A number of a drive's description, in ms where it is a time.

    name: its path in the description.
    step: what a derivative is taken over, and the unit in which an optimiser counts it.
    least, most: what it may be.
    prior: how far off the start is expected to be (standard deviation).
    """

    name: str
    step: float
    least: float
    most: float
    digits: int = 6
    prior: float = 0.3

    def text(self, value: float) -> str:
        """The value as a description has it."""
        return f"{value:.{self.digits}f} ms"


def ms(text: object) -> float:
    """A time of a description, or a speed of rotation as the time of a turn, in ms."""
    if text == 0:
        return 0.0
    found = _TIME.fullmatch(str(text))
    if found is None:
        raise ValueError(f"not a time: {text!r}")
    number, unit = float(found[1]), found[2]
    return 60_000 / number if unit == "rpm" else number * _UNITS_MS[unit]


def at(description: Mapping[str, Any], path: str) -> Any:
    """What is at a path of a description; None where nothing is."""
    found: Any = description
    for step in path.split("."):
        key, _, position = step.partition("[")
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
        if position:
            found = found[int(position.rstrip("]"))]
    return found


def rotation(description: Mapping[str, Any]) -> Parameter:
    """The time of a turn, which may be off by 1 %."""
    turn = ms(description["rotation"])
    return Parameter("rotation", 1e-6, 0.99 * turn, 1.01 * turn, digits=9, prior=0.001 * turn)


def value_of(description: Mapping[str, Any], name: str) -> float:
    """A time of a description, in ms; what it is where the description does not say."""
    found = at(description, name)
    if found is None and name == "interface.write_block_time":
        found = at(description, "interface.block_time")
    return 0.0 if found is None else ms(found)


def _time(description: Mapping[str, Any], name: str) -> Parameter:
    """A time of the controller, which may be off by 1.2 ms: more is another thing that is not modelled."""
    now = value_of(description, name)
    return Parameter(name, 0.005, max(now - 1.2, 0.0), now + 1.2)


def _bus(description: Mapping[str, Any], *names: str) -> list[Parameter]:
    """Times of a block on the interface; none where the description has a rate."""
    if at(description, "interface.rate") is not None:
        return []
    most = max(4 * value_of(description, "interface.block_time"), 0.05)
    return [Parameter(f"interface.{name}", 0.0005, 0.0, most, prior=0.1 * most) for name in names]


def times(description: Mapping[str, Any], is_followed: bool) -> list[Parameter]:
    """Times of the controller and the interface; those of completions only where the platter is followed."""
    is_buffered = description["buffer"]["write"]["complete"] != "on-medium"
    names = [
        "buffer.read.hit_after_read",
        "buffer.read.hit_after_write",
        *(_BUFFERED if is_buffered else ()),
        *(["overhead.completion_read"] if is_followed else []),
        *(["overhead.completion_write"] if is_followed and not is_buffered else []),
    ]
    return [*(_time(description, name) for name in names), *_bus(description, "block_time")]


def calibrated(description: Mapping[str, Any]) -> list[Parameter]:
    """Times that move the distribution of service times."""
    is_buffered = description["buffer"]["write"]["complete"] != "on-medium"
    names = [
        "overhead.read_after_read",
        "overhead.read_after_write",
        "heads.switch",
        "buffer.read.hit_after_read",
        "buffer.read.hit_after_write",
        *(_BUFFERED if is_buffered else _ON_MEDIUM),
    ]
    bus = _bus(description, "block_time", *([] if is_buffered else ["write_block_time"]))
    return [*(_time(description, name) for name in names), *bus]


_BUFFERED = ("buffer.write.buffered_after_read", "buffer.write.buffered_after_write")
_ON_MEDIUM = (
    "overhead.write_after_read",
    "overhead.write_after_write",
    "overhead.completion_read",
    "overhead.completion_write",
    "buffer.bus.reselect",
)
