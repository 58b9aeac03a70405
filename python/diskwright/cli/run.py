"""`diskwright run`."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import InputError, _api, _text
from diskwright._text import subject
from diskwright.cli import options, output, outputs, reading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from diskwright import Record, Result


def run(
    spec: options.SpecArgument,
    json: output.JsonOption = None,
    csv: Annotated[
        str | None,
        typer.Option(metavar="FILE.csv", help="Write every number of the results to a CSV file, in one row."),
    ] = None,
    fio_json: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.json",
            help="Write the results by job in the form of fio's JSON output, for tools that read it; `-` is "
            "standard output.",
        ),
    ] = None,
    disksim_output: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the statistics as lines of a DiskSim output file, for scripts that search for those.",
        ),
    ] = None,
    report: options.ReportOption = None,
    animate: Annotated[
        str | None,
        typer.Option(
            metavar="FROM",
            help="Show the disks at work for half a second, SSDs for a millisecond, from this simulated time "
            'on, such as "12.5 s", from the `busiest` moment on, or from the start of the `slowest` request; '
            "from the first measured request where it is not given.",
        ),
    ] = None,
    requests: Annotated[
        str | None, typer.Option(metavar="FILE.parquet", help="Write one row per request to a Parquet file.")
    ] = None,
    check: options.CheckOption = False,
    seed: options.SeedOption = None,
    quiet: options.QuietOption = False,
    settings: options.SetOption = None,
    drive: options.DriveOption = None,
    trace: options.TraceOption = None,
    format: reading.FormatOption = None,
    columns: reading.SpecColumnsOption = None,
    event: reading.EventOption = None,
    sector_bytes: reading.SectorBytesOption = None,
    device: reading.DeviceOption = None,
) -> None:
    """Simulate a spec and print what came out.

    VALUE is TOML; a bare word is a string: --set device.hdd.queue.scheduler=satf
    """
    if animate is not None and report is None:
        raise InputError("error: --animate needs --report FILE.html: the page shows what is animated")
    if animate in _api.MOMENTS and trace is not None and outputs.is_stream(trace):
        raise InputError(
            f"error: --animate {animate}: the run is simulated twice, and {trace} can be read only once"
        )
    if json == fio_json == "-":
        raise InputError("error: --json and --fio-json: one of them only can be the standard output")
    settings = options.with_seed(settings, seed)
    settings = reading.settings(settings, format, columns, event, sector_bytes, device)
    source = options.source(spec, trace)
    outputs.check(
        outputs.json(json),
        outputs.Output("--csv", csv, (".csv",)),
        outputs.fio_json(fio_json),
        outputs.Output("--disksim-output", disksim_output),
        outputs.page(report),
        outputs.Output("--requests", requests, (".parquet",)),
        reads=lambda: outputs.of_spec(spec, settings, drive, trace),
    )
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_csv = stack.enter_context(output.csv_to(csv))
        write_fio_json = stack.enter_context(output.fio_json_to(fio_json))
        write_disksim_output = stack.enter_context(output.disksim_output_to(disksim_output))
        write_report = stack.enter_context(output.page_to(report))
        progress = stack.enter_context(output.progress("requests", quiet))
        result, of_fio = _api.run_with_settings(
            source,
            settings,
            drive,
            trace,
            check,
            requests,
            report is not None,
            fio_json is not None,
            animate,
            progress,
        )
        write_json(result)
        write_csv(result)
        write_fio_json(of_fio)
        write_disksim_output(result)
        write_report(options.title(spec), result)
    if quiet:
        return
    output.remarks(result.warnings, result.notes)
    if "-" not in (json, fio_json):
        output.show(*_report(spec, result))


def _report(spec: str, result: "Result") -> Iterator["RenderableType"]:
    yield output.heading(f"{options.title(spec)}: {subject(result.spec)}")
    yield from times_and_devices(result)
    yield f"digest {result.digest}"
    if "checked" in result:
        yield f"checked {result.checked:,} requests: no fault"


def times_and_devices(result: "Result") -> Iterator["RenderableType"]:
    """The counts, times and parts of a run's requests, and what its devices did."""
    requests = result.requests
    yield (
        f"simulated {output.number(result.simulated_s)} s at {output.number(result.iops)} IOPS and "
        f"{output.number(result.mb_per_s)} MB/s"
    )
    yield f"in {output.number(result.wall_s)} s ({result.requests_per_wall_s:,.0f} requests/s)"
    yield ""
    yield output.pairs(
        "requests", {name: f"{count:,}" for name, count in requests.items() if count or name in _ALWAYS}
    )
    yield ""
    yield _times(result)
    yield ""
    for name, groups in (("operation", result.by_op), ("stream", result.get("by_stream", {}))):
        if len(groups) > 1 or (name == "stream" and groups):
            yield _groups(name, groups)
            yield ""
    yield _parts(result.parts_ms)
    yield ""
    for path, device in result.devices.items():
        counted = {key: item for key, item in device.items() if item and not _holds_records(item)}
        yield output.pairs(path, output.flat(counted))
        for name, record in _records(device):
            yield output.pairs(f"{path}.{name}", output.flat(record, inherited=_text.unit(name)[1]))
        if settings := _text.settings(device):
            yield output.pairs(f"{path} settings", settings)
    yield ""


_ALWAYS = {"issued", "completed", "measured"}


def _holds_records(item: object) -> bool:
    return isinstance(item, Mapping) or (
        isinstance(item, list) and any(isinstance(of, Mapping) for of in item)
    )


def _records(device: "Record") -> Iterator[tuple[str, "Mapping[str, Any]"]]:
    """What a device counts apart, such as its arms, without zeros, each with its path; not nested ones."""
    for key, item in device.items():
        # The table of parts tells as much of what kept the device busy.
        if key == "busy_ms" or not _holds_records(item):
            continue
        if isinstance(item, Mapping):
            named = [(key, item)]
        else:
            named = [(f"{key}[{number}]", record) for number, record in enumerate(item)]
        for name, record in named:
            counted = {of: value for of, value in record.items() if value or value is False}
            if counted and not any(map(_holds_records, record.values())):
                yield name, counted


def _times(result: "Result") -> "RenderableType":
    table = output.table("times in ms", "mean", "± (95 %)", "p50", "p95", "p99", "max")
    for name in _text.times(result):
        times = result[f"{name}_ms"]
        interval = times["ci95"]
        margin = None if interval is None else (interval[1] - interval[0]) / 2
        values = [times["mean"], margin, times["p50"], times["p95"], times["p99"], times["max"]]
        table.add_row(name, *map(output.number, values))
    return table


def _groups(name: str, groups: "Mapping[str, Record]") -> "RenderableType":
    """The requests of each operation, or of each stream."""
    table = output.table(name, "requests", "IOPS", "MB/s", "response mean, ms", "p99", "max")
    for key, group in groups.items():
        times = group.response_ms
        values = [group.iops, group.mb_per_s, times["mean"], times["p99"], times["max"]]
        table.add_row(key, f"{group['count']:,}", *map(output.number, values))
    return table


def _parts(parts: "Record") -> "RenderableType":
    whole = sum(parts.values())
    table = output.table("parts of a request", "mean ms", "share %")
    for name, mean in parts.items():
        if mean == 0:
            continue
        table.add_row(
            name.replace("_", " "), output.number(mean), f"{100 * mean / whole:.1f}" if whole else "-"
        )
    return table
