"""The engine: arguments in, JSON out. `diskwright.run` and its neighbours are what people call."""

from collections.abc import Callable
from os import PathLike

__all__ = [
    "InputError",
    "SimulationError",
    "drive",
    "drive_text",
    "drives",
    "inspect",
    "probe",
    "run",
    "version",
]

class InputError(ValueError):
    """A spec, a trace, a drive or an argument is wrong; the message says where, and what is accepted."""

class SimulationError(RuntimeError):
    """A simulation failed, or its check found a fault."""

def run(
    spec_path: str | PathLike[str] | None,
    spec_text: str | None,
    base: str | PathLike[str],
    set: list[str],
    drive: str | None,
    trace: str | PathLike[str] | None,
    check: bool,
    requests: str | PathLike[str] | None,
    progress: Callable[[int, int | None], object] | None,
) -> str: ...
def inspect(
    path: str | PathLike[str],
    format: str | None,
    csv: str,
    sector_bytes: int | None,
    device: int | None,
    threshold: int,
) -> str: ...
def probe(
    drive: str,
    only: list[str],
    samples: int,
    seed: int,
    depths: list[int],
    schedulers: list[str],
    size: str,
    reads: int,
    progress: Callable[[int, int | None], object] | None,
) -> str: ...
def drives() -> list[str]: ...
def drive(name: str) -> str: ...
def drive_text(name: str) -> str: ...
def version() -> tuple[str, str, str]: ...
