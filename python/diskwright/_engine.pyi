"""The engine: arguments in, JSON out. `diskwright.run` and its neighbours are what people call."""

from collections.abc import Callable, Sequence
from os import PathLike

__all__ = [
    "InputError",
    "SimulationError",
    "compare",
    "convert",
    "drive",
    "drive_text",
    "drives",
    "formats",
    "inspect",
    "probe",
    "run",
    "run_many",
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
    picture: bool,
    progress: Callable[[int, int | None], object] | None,
) -> tuple[str, str | None]: ...
def run_many(
    specs: Sequence[tuple[str | PathLike[str] | None, str | None, list[str]]],
    base: str | PathLike[str],
    threads: int | None,
    progress: Callable[[int, int | None], object] | None,
) -> str: ...
def compare(
    spec_path: str | PathLike[str] | None,
    spec_text: str | None,
    base: str | PathLike[str],
    vary: list[str],
    baseline: list[str],
    seeds: int,
    metrics: list[str],
    set: list[str],
    drive: str | None,
    trace: str | PathLike[str] | None,
    check: bool,
    threads: int | None,
    progress: Callable[[int, int | None], object] | None,
) -> str: ...
def inspect(
    path: str | PathLike[str],
    reader: str,
    device: int | None,
    threshold: int,
    profile: str | PathLike[str] | None,
    progress: Callable[[int, int | None], object] | None,
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
def convert(
    input: str | PathLike[str],
    output: str | PathLike[str],
    reader: str,
    to: str | None,
    device: int | None,
    progress: Callable[[int, int | None], object] | None,
) -> str: ...
def formats() -> str: ...
def drives() -> list[str]: ...
def drive(name: str) -> str: ...
def drive_text(name: str) -> str: ...
def version() -> tuple[str, str, str]: ...
