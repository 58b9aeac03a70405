"""The functions of the package."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any, Protocol

from diskwright import _engine, _toml
from diskwright._record import Record, Result
from diskwright._typed import Table, plain

AnyPath = str | PathLike[str]


class Scheduler(Protocol):
    """A rule that chooses the next request: any object with such a method."""

    def pick(self, view: _engine.SchedulerView, /) -> int:
        """The index in the view of the request that is next."""
        ...


def run(
    spec: AnyPath | Mapping[str, Any] | Table,
    /,
    *,
    set: Mapping[str, Any] | None = None,
    drive: str | None = None,
    trace: AnyPath | None = None,
    check: bool = False,
    requests: AnyPath | bool | None = None,
    schedulers: Mapping[str, Scheduler | type[Scheduler]] | None = None,
    progress: Callable[[int, int | None], object] | None = None,
    **overrides: Any,
) -> Result:
    """Simulates a spec.

    spec: the path of a TOML file, or the spec itself, a `diskwright.spec.Spec` or a dict.
    set: values to override, by dotted key: `{"device.hdd.queue.depth": 4}`.
    drive, trace: another drive or trace than the spec's.
    check: follow every version of every block, and fail where a promise is broken.
    requests: writes one row per request to this Parquet file; True keeps them in memory, as
        `result.request_log`.
    schedulers: your own, which the spec names as it names the others: objects with a method
        `pick(view) -> int`, or classes, of which each run makes an object.
    progress: called with the requests done and the total (None where it is not known), some twenty times
        a second. An exception that it raises stops the run.
    overrides: as `set`, with two underscores for each dot: `device__hdd__queue__depth=4`.

    Relative paths in a spec file start at the file's folder; those in a dict and in arguments, at the
    current folder.
    """
    if isinstance(spec, Mapping | Table):
        path, text = None, _toml.document(plain(spec))
    else:
        path, text = fsdecode(spec), None
    settings = [*(set or {}).items(), *((name.replace("__", "."), item) for name, item in overrides.items())]
    answer, table = _engine.run(
        path,
        text,
        Path.cwd(),
        [f"{name}={_toml.value(_said(item), name)}" for name, item in settings],
        drive,
        trace,
        check,
        None if isinstance(requests, bool) else requests,
        requests is True,
        [(name, _ready(scheduler, name)) for name, scheduler in (schedulers or {}).items()],
        progress,
    )
    return Result(json.loads(answer), table)


def _said(item: Any) -> Any:
    return item.to_dict() if isinstance(item, Table) else item


def _ready(scheduler: Any, name: str) -> Scheduler:
    made = scheduler() if isinstance(scheduler, type) else scheduler
    if not callable(getattr(made, "pick", None)):
        raise TypeError(f"schedulers: {name}: expected an object with a method pick(view), not {made!r}")
    ready: Scheduler = made
    return ready


def run_with_settings(
    spec: str,
    settings: list[str],
    drive: str | None,
    trace: str | None,
    check: bool,
    requests: str | None,
    progress: Callable[[int, int | None], object] | None,
) -> Result:
    """`run` for the command line: each setting is `KEY=VALUE` as the user typed it."""
    answer, _ = _engine.run(
        spec, None, Path.cwd(), settings, drive, trace, check, requests, False, [], progress
    )
    return Result.parse(answer)


def inspect(
    trace: AnyPath,
    /,
    *,
    format: str | None = None,
    csv: Mapping[str, Any] | None = None,
    event: str | None = None,
    sector_bytes: int | None = None,
    device: int | None = None,
    threshold: int = 0,
    profile: AnyPath | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Record:
    """What a trace is: counts, sizes, mix, sequentiality, working set, arrivals.

    format: the trace's format, where its content does not tell.
    csv: the columns and units of a CSV trace, as `workload.csv` of a spec.
    event: what is an arrival in a trace of blktrace or blkparse: "queue", the default, or "issue".
    sector_bytes: bytes in a sector of an HP trace, in place of what its header says.
    device: only the requests of this device.
    threshold: a request is sequential when it begins at most so many blocks after the end of the one before.
    profile: writes what the trace is to this TOML file, from which a look-alike can be made.
    progress: called now and then with the records read and None, for nobody knows how many there are. An
        exception that it raises stops the reading.
    """
    reader = _reader_options(format, csv, event, sector_bytes)
    answer = _engine.inspect(trace, reader, device, threshold, profile, progress)
    return Record({"schema": 1} | json.loads(answer))


def convert(
    trace: AnyPath,
    output: AnyPath,
    /,
    *,
    to: str | None = None,
    format: str | None = None,
    csv: Mapping[str, Any] | None = None,
    event: str | None = None,
    sector_bytes: int | None = None,
    device: int | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Record:
    """Writes a trace in another format; tells what was read, written, skipped and lost, in requests.

    to: the format to write; by the name of the output where it is not given. `formats` lists them.
    format, csv, event, sector_bytes, progress: as for `inspect`.
    device: only the requests of this device.
    """
    reader = _reader_options(format, csv, event, sector_bytes)
    answer = _engine.convert(trace, output, reader, to, device, progress)
    return Record({"schema": 1} | json.loads(answer))


def formats() -> list[Record]:
    """The formats of traces: what they are called, which can be read and written, and what they hold."""
    return [Record(format) for format in json.loads(_engine.formats())]


def _reader_options(
    format: str | None, csv: Mapping[str, Any] | None, event: str | None, sector_bytes: int | None
) -> str:
    """What a reader of traces is told, with the names that a spec's `[workload]` has for it."""
    told = {
        "format": format,
        "csv": None if csv is None else dict(csv),
        "blktrace": None if event is None else {"event": event},
        "sector_bytes": sector_bytes,
    }
    return json.dumps({name: value for name, value in told.items() if value is not None})


def probe(
    drive: AnyPath,
    /,
    *,
    only: Sequence[str] = (),
    samples: int = 10_000,
    seed: int = 1,
    depths: Sequence[int] = (1, 2, 4, 8, 16, 32, 64, 128, 256),
    schedulers: Sequence[str] = ("fcfs", "sstf", "c-look", "satf"),
    size: str = "4 KiB",
    reads: int = 30_000,
    plot: AnyPath | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Record:
    """What a drive does, measured on the running simulator.

    drive: the name of one that comes with diskwright, or the path of a description.
    only: some of "seek", "access", "zones" and "iops"; all of them when empty.
    samples: random accesses at each distance.
    seed: of every random choice.
    depths, schedulers: the drive's queue under random reads.
    size: of a random read.
    reads: random reads at each depth with each scheduler.
    plot: draws what was found into this file, .png, .svg or .pdf.
    progress: called with the steps done and their number. An exception that it raises stops the measurement.
    """
    with _plotting(plot) as draw:
        answer = _engine.probe(
            fsdecode(drive),
            _names(only, "only"),
            samples,
            seed,
            list(depths),
            _names(schedulers, "schedulers"),
            size,
            reads,
            progress,
        )
        found = Record.parse(answer)
        draw(found)
    return found


def _names(names: Sequence[str], argument: str) -> list[str]:
    # A string is a sequence of its letters.
    if isinstance(names, str):
        raise TypeError(f"{argument}: expected a list of names, not the string {names!r}")
    return list(names)


@contextmanager
def _plotting(target: AnyPath | None) -> Iterator[Callable[[Record], None]]:
    """A function that draws a probe into a file; a file that cannot be written is known before."""
    if target is None:
        yield lambda found: None
        return
    from diskwright import _plot

    with _plot.opened(target) as draw:
        yield draw


def spec_schema() -> dict[str, Any]:
    """The JSON schema of a spec (draft 7)."""
    schema: dict[str, Any] = json.loads(_engine.schema("spec"))
    return schema


def drive_schema() -> dict[str, Any]:
    """The JSON schema of a drive's description (draft 7)."""
    schema: dict[str, Any] = json.loads(_engine.schema("drive"))
    return schema


def drives() -> list[str]:
    """The names of the drives that come with diskwright."""
    return _engine.drives()


def drive(name: AnyPath, /) -> Record:
    """The summary of a drive: the name of one that comes with diskwright, or the path of a description."""
    return Record.parse(_engine.drive(fsdecode(name)))


def drive_toml(name: str, /) -> str:
    """The description of a drive that comes with diskwright: copy it and change it to make your own."""
    return _engine.drive_text(name)
