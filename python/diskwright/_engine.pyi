"""The engine: arguments in, JSON out. `diskwright.run` and its neighbours are what people call."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, final

from diskwright._serving import Served
from diskwright.sweep._job import CustomPolicies, Job

__all__ = [
    "CacheAccess",
    "CacheCost",
    "CacheSetting",
    "InputError",
    "RecordedDrive",
    "RequestTable",
    "SchedulerView",
    "Session",
    "SimulationError",
    "WaitingRequest",
    "ci95",
    "compare",
    "convert",
    "digest_of",
    "discard_unfinished",
    "disksim_parameters",
    "drive",
    "drive_kinds",
    "drive_text",
    "drives",
    "formats",
    "import_disksim",
    "inputs_of_drive",
    "inputs_of_spec",
    "inputs_of_trace",
    "inspect",
    "merged",
    "miss_ratio",
    "points",
    "probe",
    "quantities",
    "run",
    "run_each",
    "run_many",
    "schema",
    "serve",
    "sources",
    "sweep",
    "synthetic_clone_mixture",
    "validate",
    "version",
]

class InputError(ValueError):
    """A spec, a trace, a drive or an argument is wrong; the message says where, and what is accepted."""

class SimulationError(RuntimeError):
    """A simulation failed, or its check found a fault."""

@final
class CacheSetting:
    """What a replacement policy is made for."""

    @property
    def capacity(self) -> int:
        """Frames of the cache, at least 1: they are numbered from 0."""
    @property
    def seed(self) -> int:
        """A seed for what is left to chance; it follows from that of the run."""

@final
class CacheAccess:
    """An access to a block."""

    @property
    def key(self) -> int:
        """Which block: its number on the device below, in blocks of the cache; or an object's name."""
    @property
    def write(self) -> bool:
        """Whether it is written."""

@final
class CacheCost:
    """What an access to the medium took."""

    @property
    def media_ns(self) -> int:
        """What it kept the medium for, ns, for all its blocks together: of a hard disk seek, switch, settle
        and rotation.
        """
    @property
    def access_ns(self) -> int:
        """The same as `media_ns`, by its older name."""
    @property
    def blocks(self) -> int:
        """How many blocks of the cache it brought or wrote."""

@final
class RecordedDrive:
    """A drive's description and a recording of it, read once."""

    def __new__(cls, drive: str, trace: str | PathLike[str], format: str | None = None) -> RecordedDrive: ...
    def __len__(self) -> int: ...
    def facts(self) -> str: ...
    def changed(self, changes: str) -> str: ...
    def recorded(self) -> RequestTable: ...
    def demerit_ms(self, changes: str, begin: int, end: int) -> float: ...
    def predict(self, changes: str, gain: float | None = None, gate: float = 0.1) -> RequestTable: ...

@final
class RequestTable:
    """A row for every request of a run, in Arrow's columns."""

    def __len__(self) -> int: ...
    def columns(self) -> list[str]: ...
    def responses_ms(self, measured: int) -> list[float]: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Session:
    """A spec's device that is asked one request at a time; it tells only its size and when it is done."""

    def __new__(
        cls, spec_path: str | PathLike[str] | None, spec_text: str | None, base: str | PathLike[str]
    ) -> Session: ...
    @property
    def blocks(self) -> int:
        """Blocks of 512 bytes."""
    @property
    def now_ns(self) -> int:
        """When the last request was complete, ns of simulated time."""
    def ask(self, pause_ns: int, lbn: int, blocks: int, write: bool = False, fua: bool = False) -> int:
        """Issues a request `pause_ns` after the one before was complete; gives when it is complete, ns."""

@final
class WaitingRequest:
    """A request that waits."""

    @property
    def op(self) -> Literal["read", "write", "flush", "trim"]:
        """What it asks for."""
    @property
    def fua(self) -> bool:
        """Whether it goes to the medium at once."""
    @property
    def lbn(self) -> int:
        """The first block."""
    @property
    def blocks(self) -> int:
        """How many blocks of 512 bytes."""
    @property
    def entered_ns(self) -> int:
        """When it came into this queue, ns of simulated time."""
    @property
    def cylinder(self) -> int | None:
        """The cylinder of its first block; None in a host's queue."""
    @property
    def head(self) -> int | None:
        """The head of its first block; None in a host's queue."""

@final
class SchedulerView:
    """What a scheduler sees: the requests that wait, the oldest first, and the arm, when it is asked."""

    @property
    def now_ns(self) -> int:
        """The present instant, ns of simulated time."""
    @property
    def last_lbn(self) -> int:
        """The block after the previous request."""
    @property
    def cylinder(self) -> int | None:
        """The cylinder that the arm is at; None in a host's queue."""
    @property
    def head(self) -> int | None:
        """The active head; None in a host's queue."""
    @property
    def cylinders(self) -> int | None:
        """The drive's cylinders; None in a host's queue."""
    @property
    def blocks(self) -> int | None:
        """The drive's capacity in blocks of 512 bytes; None in a host's queue."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> WaitingRequest: ...
    def positioning_ns(self, index: int) -> int:
        """The positioning time if it is picked now, ns: seek, head switch, settling and rotation."""
    def motion_ns(self, index: int) -> int:
        """The motion alone, ns: seek, head switch and settling."""

def run(
    spec_path: str | PathLike[str] | None,
    spec_text: str | None,
    base: str | PathLike[str],
    set: list[str],
    drive: str | None,
    trace: str | PathLike[str] | None,
    check: bool,
    requests: str | PathLike[str] | None,
    keep_requests: bool,
    picture: bool,
    fio_report: bool,
    animate: str | None,
    schedulers: list[tuple[str, Any]],
    replacements: list[tuple[str, Any]],
    progress: Callable[[int, int | None], object] | None,
) -> tuple[str, str | None, str | None, RequestTable | None]: ...
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
    pictures: int,
    fio_report: bool,
    progress: Callable[[int, int | None], object] | None,
) -> str: ...
def sweep(job: Job, seeds: int | None, metrics: list[str], custom: CustomPolicies) -> str: ...
def quantities(result: str, names: list[str]) -> str: ...
def merged(texts: list[str], are_repeated: bool) -> list[tuple[str, int]]: ...
def points(job: Job, seeds: list[int], custom: CustomPolicies, whole: bool) -> str: ...
def run_each(
    jobs: Sequence[Job],
    names: list[str],
    threads: int | None,
    custom: CustomPolicies,
    finished: Callable[[int, str], object],
    progress: Callable[[int, int | None], object] | None,
) -> None: ...
def digest_of(path: str | PathLike[str]) -> tuple[int, str]: ...
def ci95(values: Sequence[float]) -> tuple[float, float] | None: ...
def sources() -> str: ...
def inspect(
    path: str | PathLike[str],
    reader: str,
    device: int | None,
    threshold: int,
    profile: str | PathLike[str] | None,
    picture: bool,
    progress: Callable[[int, int | None], object] | None,
) -> tuple[str, str | None]: ...
def probe(
    drive: str,
    only: list[str],
    samples: int,
    seed: int,
    depths: list[int],
    schedulers: list[str],
    size: str,
    reads: int,
    stream_size: str,
    write_depth: int,
    progress: Callable[[int, int | None], object] | None,
) -> str: ...
def validate(
    drive: str,
    trace: str | PathLike[str],
    set: list[str],
    format: str | None,
    picture: bool,
    progress: Callable[[int, int | None], object] | None,
) -> tuple[str, str | None]: ...
def miss_ratio(
    path: str | PathLike[str],
    policies: str,
    capacities: str,
    granularity: str,
    block_size: str,
    sample: float | None,
    sample_seeds: int,
    seed: int,
    reader: str,
    device: int | None,
    threads: int | None,
    replacements: list[tuple[str, Any]],
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
def synthetic_clone_mixture(path: str | PathLike[str], parameters: str) -> str: ...
def discard_unfinished() -> None: ...
def inputs_of_spec(
    path: str | PathLike[str],
    set: Sequence[str],
    vary: Sequence[str],
    drive: str | None,
    trace: str | PathLike[str] | None,
) -> list[PathLike[str]]: ...
def inputs_of_drive(name: str) -> list[PathLike[str]]: ...
def inputs_of_trace(path: str | PathLike[str]) -> list[PathLike[str]]: ...
def import_disksim(path: str | PathLike[str], set: list[str]) -> tuple[str, str]: ...
def disksim_parameters() -> str: ...
def serve(
    spec_path: str | PathLike[str] | None,
    spec_text: str | None,
    base: str | PathLike[str],
    set: Sequence[str],
    drive: str | None,
    check: bool,
    requests: str | PathLike[str] | None,
    picture: bool,
    served: Served,
    ready: Callable[[str, int, list[str]], object],
    progress: Callable[[float, int, int, float, int, int], object] | None,
) -> tuple[str, str | None]:
    """Serves a spec's device until a signal ends it; gives the result and what a picture is drawn from, each
    as JSON.

    ready: called with the URI that clients connect to, the size in bytes, and notes.
    progress: called some twenty times a second with the simulated instant in s, the requests answered, their
        bytes, the sum of their response times in ms, the requests in flight, and the clients. SystemExit and
        KeyboardInterrupt that it raises end the serving.
    """

def schema(of: str) -> str: ...
def drives(kind: str | None = None) -> list[str]: ...
def drive_kinds() -> list[str]: ...
def drive(name: str) -> str: ...
def drive_text(name: str) -> str: ...
def version() -> tuple[str, str, str]: ...
