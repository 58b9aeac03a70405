"""The functions of the package."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any, Protocol

from diskwright import _engine, _fio, _replacement, _toml
from diskwright._arguments import suggesting
from diskwright._extraction import Extraction
from diskwright._fitted import Fit
from diskwright._like import with_like
from diskwright._record import Comparison, Inspection, MissRatios, Probe, Record, Result
from diskwright._typed import Table, plain
from diskwright._validation import Validation

AnyPath = str | PathLike[str]
AnySpec = AnyPath | Mapping[str, Any] | Table

# Variants of a comparison that are drawn: curves that a page can tell apart.
_MOST_PICTURES = 24


# Moments that are known only after a run: the run is simulated once more for its picture.
MOMENTS = ("busiest", "slowest")


class Scheduler(Protocol):
    """A rule that chooses the next request: any object with such a method."""

    def pick(self, view: _engine.SchedulerView, /) -> int:
        """The index in the view of the request that is next."""
        ...


@suggesting
def run(
    spec: AnySpec,
    /,
    *,
    set: Mapping[str, Any] | None = None,
    drive: str | None = None,
    trace: AnyPath | None = None,
    check: bool = False,
    requests: AnyPath | bool | None = None,
    picture: bool = False,
    animate: str | None = None,
    schedulers: Mapping[str, Scheduler | type[Scheduler]] | None = None,
    replacements: _replacement.Replacements | None = None,
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
    picture: collects what a report is drawn from: `Result.picture`, and `diskwright.report.write`.
    animate: from when on the picture shows half a second of the disks at work, a millisecond of SSDs: such as
        "12.5 s" of simulated time; "busiest", the first moment after the warm-up with the most requests
        outstanding, or "slowest", when the device begins with the slowest request, for both of which the run
        is simulated twice; from the start of the first measured request where it is not given.
    schedulers: your own, which the spec names as it names the others: objects with a method
        `pick(view) -> int`, or classes, of which each run makes an object.
    replacements: your own replacement policies, which the spec names as it names the others: classes as
        `Replacement`, of which each cache gets an object, or functions that make one for a cache.
    progress: called with the requests done and the total (None where it is not known), some twenty times
        a second. An exception that it raises stops the run.
    overrides: as `set`, with two underscores for each dot: `device__hdd__queue__depth=4`.

    Relative paths in a spec file start at the file's folder; those in a dict and in arguments, at the
    current folder.
    """
    if animate is not None and not picture:
        raise ValueError("animate needs picture=True: a picture shows what is animated")
    path, text = _source(spec)
    settings = [*(set or {}).items(), *((name.replace("__", "."), item) for name, item in overrides.items())]
    answer, drawn, _, table = _engine.run(
        path,
        text,
        Path.cwd(),
        [f"{name}={_toml.value(_plain_value(item), name)}" for name, item in settings],
        drive,
        trace,
        check,
        None if isinstance(requests, bool) else requests,
        requests is True,
        picture,
        False,
        animate,
        [(name, _ready(scheduler, name)) for name, scheduler in (schedulers or {}).items()],
        _replacement.ready(replacements),
        progress,
    )
    return Result.of_run(answer, drawn, table)


def _plain_value(item: Any) -> Any:
    return item.to_dict() if isinstance(item, Table) else item


def _ready(scheduler: Any, name: str) -> Scheduler:
    instance = scheduler() if isinstance(scheduler, type) else scheduler
    if not callable(getattr(instance, "pick", None)):
        raise TypeError(f"schedulers: {name}: expected an object with a method pick(view), not {instance!r}")
    ready: Scheduler = instance
    return ready


def run_with_settings(
    source: tuple[str | None, str | None],
    settings: list[str],
    drive: str | None,
    trace: str | None,
    check: bool,
    requests: str | None,
    picture: bool,
    fio_report: bool,
    animate: str | None,
    progress: Callable[[int, int | None], object] | None,
) -> tuple[Result, dict[str, Any] | None]:
    """`run` for the command line: each setting is `KEY=VALUE` as the user typed it.

    source: the path of a spec, or its text.

    Returns the result, and, where `fio_report` asks for it, the same in the form of fio's JSON output.
    """
    answer, drawn, report, _ = _engine.run(
        *source,
        Path.cwd(),
        settings,
        drive,
        trace,
        check,
        requests,
        False,
        picture,
        fio_report,
        animate,
        [],
        [],
        progress,
    )
    return Result.of_run(answer, drawn), None if report is None else json.loads(report)


def _source(spec: AnySpec) -> tuple[str | None, str | None]:
    """The path of a spec, or its text."""
    if isinstance(spec, Mapping | Table):
        return None, _toml.document(plain(spec))
    return fsdecode(spec), None


def _settings(settings: Mapping[str, Any] | None) -> list[str]:
    return [f"{name}={_toml.value(_plain_value(item), name)}" for name, item in (settings or {}).items()]


@suggesting
def run_many(
    specs: Iterable[AnySpec | tuple[AnySpec, Mapping[str, Any]]],
    /,
    *,
    threads: int | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> list[Result]:
    """Simulates many specs side by side; the results come in the order of the specs.

    specs: each as for `run`, or a pair of it and the values to override, by dotted key.
    threads: runs at a time; one per core by default. They do not change the results.
    progress: called some twenty times a second with the requests done of all runs together and their total,
        which is an estimate until the last run has begun, and None where it is not known. An exception that
        it raises stops all runs.

    The first spec that fails, in their order, raises its error; those after it are stopped.
    """
    jobs = []
    for item in specs:
        spec, settings = item if isinstance(item, tuple) else (item, {})
        jobs.append((*_source(spec), _settings(settings)))
    answer = _engine.run_many(jobs, Path.cwd(), threads, progress)
    return [Result(result) for result in json.loads(answer)]


@suggesting
def compare(
    spec: AnySpec,
    /,
    vary: Mapping[str, Sequence[Any]],
    *,
    seeds: int = 5,
    baseline: Mapping[str, Any] | None = None,
    metrics: Sequence[str] = (),
    set: Mapping[str, Any] | None = None,
    drive: str | None = None,
    trace: AnyPath | None = None,
    check: bool = False,
    threads: int | None = None,
    picture: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
) -> Comparison:
    """Runs the same workload with varied keys, and tells what they change.

    spec, set, drive, trace, check: as for `run`.
    vary: the values of each key, by dotted key: `{"device.hdd.queue.scheduler": ["fcfs", "satf"]}`; all
        combinations are variants.
    seeds: runs of each variant, with seeds from the spec's on, the same for all variants. The seeds of a
        recorded trace vary where the platters stand at the start.
    baseline: the values, by key, of the variant that the others are compared with; the first by default.
    metrics: the numbers of the results to compare, by their keys with dots between them, such as
        "by_op.read.response_ms.p99" or "devices.hdd.utilisation", or by one of ten short names, such as
        "response_p99_ms"; these ten when empty.
    threads, progress: as for `run_many`.
    picture: collects what a page is drawn from, for `diskwright.report.write`: of the first seed's run of
        the baseline and of the first 23 other variants.
    """
    lists = {
        key: [_toml.value(value, key) for value in _choices(key, values)] for key, values in vary.items()
    }
    return _compared(
        _source(spec),
        [f"{key}={','.join(values)}" for key, values in lists.items()],
        _settings(baseline),
        seeds,
        _names(metrics, "metrics"),
        _settings(set),
        drive,
        trace,
        check,
        threads,
        picture,
        False,
        progress,
    )[0]


def _choices(key: str, values: Sequence[Any]) -> Sequence[Any]:
    # A string is a sequence of its letters.
    if isinstance(values, str):
        raise TypeError(f"vary: expected a list of values for {key}, not the string {values!r}")
    return values


def compare_with_settings(
    source: tuple[str | None, str | None], *arguments: Any
) -> tuple[Comparison, dict[str, Any] | None]:
    """`compare` for the command line: keys and values are as the user typed them.

    Returns the comparison, and, where it is asked for, its runs in the form of fio's JSON output.
    """
    return _compared(source, *arguments)


def _compared(
    source: tuple[str | None, str | None],
    vary: list[str],
    baseline: list[str],
    seeds: int,
    metrics: list[str],
    settings: list[str],
    drive: str | None,
    trace: AnyPath | None,
    check: bool,
    threads: int | None,
    picture: bool,
    fio_report: bool,
    progress: Callable[[int, int | None], object] | None,
) -> tuple[Comparison, dict[str, Any] | None]:
    answer = _engine.compare(
        *source,
        Path.cwd(),
        vary,
        baseline,
        seeds,
        metrics,
        settings,
        drive,
        trace,
        check,
        threads,
        _MOST_PICTURES if picture else 0,
        fio_report,
        progress,
    )
    found = json.loads(answer)
    comparison = Comparison(found["comparison"], found["runs"], found["pictures"])
    return comparison, _fio.together(comparison, found["fio_reports"]) if fio_report else None


@suggesting
def inspect(
    trace: AnyPath,
    /,
    *,
    format: str | None = None,
    csv: Mapping[str, Any] | None = None,
    event: str | None = None,
    sector_bytes: int | None = None,
    seed: int | None = None,
    device: int | None = None,
    threshold: int = 0,
    profile: AnyPath | None = None,
    picture: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
) -> Inspection:
    """What a trace is: counts, sizes, mix, sequentiality, working set, arrivals.

    format: the trace's format, if its content is ambiguous.
    csv: the columns and units of a CSV trace, as `workload.csv` of a spec.
    event: what is an arrival in a trace of blktrace or blkparse: "queue", the default, or "issue".
    sector_bytes: bytes in a sector of an HP trace, in place of what its header says.
    seed: what a synthetic clone is made from, besides its file; 1 where it is not given.
    device: only the requests of this device.
    threshold: a request is sequential when it begins at most this number of blocks after the end of the
        one before.
    profile: writes what the trace is to this TOML file, from which a synthetic clone can be made.
    picture: collects what a page is drawn from, for `diskwright.report.write`.
    progress: called now and then with the records read and None, for nobody knows how many there are. An
        exception that it raises stops the reading.
    """
    reader = reader_options(format, csv, event, sector_bytes, seed)
    answer, drawn = _engine.inspect(trace, reader, device, threshold, profile, picture, progress)
    return Inspection({"schema": 1} | json.loads(answer), None if drawn is None else json.loads(drawn))


@suggesting
def miss_ratio(
    trace: AnyPath,
    /,
    *,
    policies: Sequence[str | Mapping[str, Any]] = ("lru",),
    capacities: Sequence[int | str] = ("1%", "2%", "5%", "10%", "20%", "50%", "100%"),
    granularity: str = "block",
    block_size: str = "4 KiB",
    sample: float | None = None,
    sample_seeds: int = 10,
    seed: int = 1,
    format: str | None = None,
    csv: Mapping[str, Any] | None = None,
    event: str | None = None,
    sector_bytes: int | None = None,
    device: int | None = None,
    threads: int | None = None,
    replacements: _replacement.Replacements | None = None,
    plot: AnyPath | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> MissRatios:
    """How often caches of many sizes and policies miss on a trace, with no drive behind them.

    policies: each by its name, or as `{name: parameters}`; those of `replacements` by the names there.
    capacities: numbers of objects or cache blocks, percentages of the distinct ones such as "10%", and with
        blocks sizes such as "64 MiB".
    granularity: what a cache holds: "block", every block that requests overlap, or "object", one for each
        request, named by its first LBN.
    block_size: of a cache.
    sample: the share of the objects that are looked at; their misses are estimates, with an interval.
    sample_seeds: independent samples.
    seed: of the samples, and of what policies leave to chance.
    format, csv, event, sector_bytes: as for `inspect`.
    device: only the requests of this device.
    threads: caches at a time; one per core by default. They do not change the result.
    replacements: your own policies, as for `run`.
    plot: draws the miss ratios into this file, .png, .svg or .pdf.
    progress: called now and then with the records read and None, and where the accesses are gone through
        again, with how many and their number. An exception that it raises stops the work.
    """
    kept = [_toml.value(policy, "policies") for policy in _listed(policies, "policies")]
    sizes = [str(capacity) for capacity in _listed(capacities, "capacities")]
    return miss_ratio_as_written(
        trace,
        ",".join(kept),
        ",".join(sizes),
        granularity,
        block_size,
        sample,
        sample_seeds,
        seed,
        reader_options(format, csv, event, sector_bytes, None),
        device,
        threads,
        _replacement.ready(replacements),
        plot,
        progress,
    )


def _listed(items: Sequence[Any], argument: str) -> Sequence[Any]:
    # A string is a sequence of its letters.
    if isinstance(items, str):
        raise TypeError(f"{argument}: expected a list, not the string {items!r}")
    return items


def miss_ratio_as_written(
    trace: AnyPath,
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
    plot: AnyPath | None,
    progress: Callable[[int, int | None], object] | None,
) -> MissRatios:
    """`miss_ratio` for the command line: policies and capacities are as the user typed them."""
    with _plotting(plot, "_miss_ratio_plot") as draw:
        answer = _engine.miss_ratio(
            trace,
            policies,
            capacities,
            granularity,
            block_size,
            sample,
            sample_seeds,
            seed,
            reader,
            device,
            threads,
            replacements,
            progress,
        )
        found = MissRatios.parse(answer)
        draw(found)
    return found


@suggesting
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
    seed: int | None = None,
    device: int | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Record:
    """Writes a trace in another format; tells what was read, written, skipped and lost, in requests.

    to: the format to write; by the name of the output where it is not given. `formats` lists them.
    format, csv, event, sector_bytes, seed, progress: as for `inspect`.
    device: only the requests of this device.
    """
    reader = reader_options(format, csv, event, sector_bytes, seed)
    answer = _engine.convert(trace, output, reader, to, device, progress)
    return Record({"schema": 1} | json.loads(answer))


def formats() -> list[Record]:
    """The formats of traces: what they are called, which can be read and written, and what they hold."""
    return [Record(format) for format in json.loads(_engine.formats())]


def synthetic_clone_mixture(counts: AnyPath, /, **parameters: Any) -> Record:
    """The sizes in a synthetic clone of a table of counts: the requests of each mode, for each cell.

    counts: the TOML file with the table.
    parameters: override those in the file, as in `workload.synthetic-clone` of a spec: `small_share=0.6`.
    """
    return Record({"schema": 1} | json.loads(_engine.synthetic_clone_mixture(counts, json.dumps(parameters))))


def reader_options(
    format: str | None,
    csv: Mapping[str, Any] | None,
    event: str | None,
    sector_bytes: int | None,
    seed: int | None,
) -> str:
    """The options of a trace reader, by the names that they have in a spec's `[workload]`."""
    options = {
        "format": format,
        "csv": None if csv is None else dict(csv),
        "blktrace": None if event is None else {"event": event},
        "sector_bytes": sector_bytes,
        "synthetic-clone": None if seed is None else {"seed": seed},
    }
    return json.dumps({name: value for name, value in options.items() if value is not None})


@suggesting
def probe(
    drive: AnyPath,
    /,
    *,
    only: Sequence[str] = (),
    samples: int = 10_000,
    seed: int = 1,
    depths: Sequence[int] = (1, 2, 4, 8, 16, 32, 64, 128, 256),
    schedulers: Sequence[str] = ("shipped", "fcfs", "sstf", "c-look", "satf"),
    size: str = "4 KiB",
    reads: int = 30_000,
    stream_size: str = "64 KiB",
    write_depth: int = 16,
    plot: AnyPath | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Probe:
    """What a drive does, measured on the running simulator.

    drive: the name of one that comes with diskwright, or the path of a description.
    only: some of "seek", "access", "zones", "iops", "curve" (access times by distance in blocks, as a device
        of the kind `curve` takes them), "streams", "writes", "destage" (what the drive's memory does) and
        "rotation", which is always measured; the first four when empty. Of an SSD some of "latency", "depth",
        "bandwidth", "mixed", "cliff" and "behind"; all when empty.
    samples: random accesses at each distance.
    seed: of every random choice.
    depths, schedulers: the drive's queue under random reads; "shipped" is the scheduler that the drive
        ships with. SSDs have none.
    size: of a random read, and of a random write of an SSD.
    reads: random reads at each depth with each scheduler; requests at each depth of an SSD.
    stream_size: of a request of a sequential stream.
    write_depth: random writes outstanding over time.
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
            stream_size,
            write_depth,
            progress,
        )
        found = Probe.parse(answer)
        draw(found)
    return found


@suggesting
def validate(
    drive: AnyPath,
    trace: AnyPath,
    /,
    *,
    set: Mapping[str, Any] | None = None,
    format: str | None = None,
    picture: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
) -> Validation:
    """How far the service times of a simulated drive are from those recorded on the real one.

    drive: the name of one that comes with diskwright, or the path of a description. Its buffer is on.
    trace: a recording, with the service time of every request and the gap after it: the requests are replayed
        one at a time, each its predecessor's gap after the simulated completion of that.
    set: values to override in the drive's description, by dotted key: `{"buffer.segments": 7}`;
        `{"buffer": False}` takes the buffer away.
    format: the recording's format, if its content is ambiguous.
    picture: collects what a page is drawn from, for `diskwright.report.write`.
    progress: called now and then with the requests done and None, for nobody knows how many there are. An
        exception that it raises stops the replay.
    """
    return validate_with_settings(drive, trace, _settings(set), format, picture, progress)


def validate_with_settings(
    drive: AnyPath,
    trace: AnyPath,
    settings: list[str],
    format: str | None,
    picture: bool,
    progress: Callable[[int, int | None], object] | None,
) -> Validation:
    """`validate` for the command line: each setting is `KEY=VALUE` as the user typed it."""
    answer = _engine.validate(fsdecode(drive), trace, settings, format, picture, progress)
    return Validation.of_answer(*answer)


@suggesting
def fit(
    drive: AnyPath | None,
    trace: AnyPath,
    /,
    *,
    capacity: int | None = None,
    format: str | None = None,
    picture: bool = False,
    progress: Callable[[int, int | None], object] | None = None,
) -> Fit:
    """Estimates parameters of a drive from a recording of its service times.

    The first half of the recording is what the estimates are from, the second what they are judged by.

    drive: the name of one that comes with diskwright, or the path of a description, with a segmented
        buffer: where
        the estimates start. What the recording does not tell stays as it is. None makes a drive of the
        recording alone; what that does not tell is assumed, and named in `assumed`.
    trace: a recording, with the service time of every request, one of which is outstanding at a time.
    capacity: of a drive that is made of its recording, in blocks of 512 bytes; without it the drive ends
        where the last request does.
    format: the recording's format, if its content is ambiguous.
    picture: collects what a page is drawn from, for `diskwright.report.write`.
    progress: called now and then with the steps done and all steps. An exception that it raises stops the
        fit.
    """
    from diskwright.fitting import _answer

    if drive is None:
        return _answer.from_scratch(trace, format, capacity, picture, progress)
    if capacity is not None:
        raise TypeError("capacity: only a drive that is made of its recording needs one")
    return _answer.fit(drive, trace, format, picture, progress)


def extract(
    target: AnyPath,
    /,
    *,
    minutes: float | None = None,
    allow_writes: bool = False,
    speed: float = 1.0,
    resume: AnyPath | None = None,
    progress: Callable[[int, int | None], object] | None = None,
) -> Extraction:
    """Measures a drive by asking it, request after request.

    target: a drive of the simulator, by name or as the path of a description; a block device or another file,
        which is read past the operating system's memory; or a network block device, by its URI or the path of
        its socket.
    minutes: after so many, of simulated time for a drive of the simulator, what is not measured yet is left
        out.
    allow_writes: writes as well as reads, over what the target holds, to measure overheads and motions before
        writes and the write cache. A drive of the simulator is always written to.
    speed: of a network block device, its seconds in one of the clock's: what `diskwright serve --speed` was
        given. All times, and minutes, are then of the device.
    resume: a file that keeps what is measured. If it is there, of a measurement of the same target that was
        interrupted or whose budget was used up, this one goes on from there. It is removed once all is
        measured.
    progress: called now and then with what is done and all there is to do. An exception that it raises stops
        the measurement.
    """
    from diskwright.extracting._answer import extract as extracted
    from diskwright.extracting._target import opened

    return extracted(opened(target, allow_writes, speed), target, minutes, progress, resume)


def _names(names: Sequence[str], argument: str) -> list[str]:
    # A string is a sequence of its letters.
    if isinstance(names, str):
        raise TypeError(f"{argument}: expected a list of names, not the string {names!r}")
    return list(names)


@contextmanager
def _plotting(target: AnyPath | None, module: str = "_plot") -> Iterator[Callable[[Record], None]]:
    """A function that draws an answer into a file, with the function `figure` of a module of this package.

    A file that cannot be written is known before.
    """
    if target is None:
        yield lambda found: None
        return
    from importlib import import_module

    from diskwright import _plot

    with _plot.opened(target, import_module(f"diskwright.{module}").figure) as draw:
        yield draw


def spec_schema() -> dict[str, Any]:
    """The JSON schema of a spec (draft 7)."""
    schema: dict[str, Any] = json.loads(_engine.schema("spec"))
    return schema


def drive_schema() -> dict[str, Any]:
    """The JSON schema of a drive's file (draft 7): a whole description, or what it has otherwise than the
    drive that it is `like`.
    """
    return with_like(json.loads(_engine.schema("drive")))


@suggesting
def drives(search: str | None = None, *, kind: str | None = None) -> list[str]:
    """The names of the drives that come with diskwright: hard disks, then SSDs.

    search: words that a drive must have in its name, maker, model, class or year.
    kind: only drives of this kind, "hdd" or "ssd".

    Raises InputError where no drive has all the words; for a product with shingled tracks, which are not
    modelled, with a message that says so; and for an unknown kind.
    """
    if search is not None:
        return [drive.id for drive in search_drives(search, kind)[0]]
    if kind is not None and kind not in (kinds := _engine.drive_kinds()):
        raise _engine.InputError(f"error: kind {kind!r}: there are drives of the kinds {', '.join(kinds)}")
    return _engine.drives(kind)


def search_drives(words: str, kind: str | None = None) -> tuple[list[Record], list[str]]:
    """The drives that have all the words, and notes on products with shingled tracks that have them."""
    from diskwright import _search

    return _search.found(words, map(drive, drives(kind=kind)), has_disks=kind in (None, "hdd"))


def drive(name: AnyPath, /) -> Record:
    """The summary of a drive: the name of one that comes with diskwright, or the path of a description."""
    return Record.parse(_engine.drive(fsdecode(name)))


def drive_toml(name: str, /) -> str:
    """The description of a drive that comes with diskwright: copy it and change it to make your own."""
    return _engine.drive_text(name)
