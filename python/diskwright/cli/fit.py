"""`diskwright fit`."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import _api
from diskwright._files import replacing
from diskwright.cli import completion, options, output, outputs, reading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from diskwright import Fit


def fit(
    drive: Annotated[
        str,
        typer.Argument(
            help="The drive to start from: a name or a file; left out with `--from-scratch`.",
            show_default=False,
            autocompletion=completion.drives_unless_from_scratch,
        ),
    ],
    trace: Annotated[
        str | None,
        typer.Argument(
            help="A recording with service times, one request at a time; `-` is standard input.",
            show_default=False,
            callback=reading.named,
            autocompletion=completion.traces,
        ),
    ] = None,
    from_scratch: Annotated[
        bool,
        typer.Option("--from-scratch", help="Make a drive of the recording alone."),
    ] = False,
    capacity: Annotated[
        int | None,
        typer.Option(
            metavar="BLOCKS",
            min=1,
            help="The 512-byte blocks of a drive from scratch; those up to the last request if left out.",
        ),
    ] = None,
    written: Annotated[
        str | None,
        typer.Option("--output", metavar="FILE.toml", help="Write the fitted drive's file."),
    ] = None,
    json: output.JsonOption = None,
    report: options.ReportOption = None,
    format: reading.FormatOption = None,
) -> None:
    """Estimate a drive's parameters from a recording of its service times.

    The first half of the recording is what they are estimated from, the second what they are judged by.
    """
    start, recording = _read(drive, trace, from_scratch)
    if capacity is not None and start is not None:
        raise typer.BadParameter("only a drive made with --from-scratch needs one", param_hint="--capacity")
    outputs.check(
        outputs.json(json),
        outputs.page(report),
        outputs.drive(written),
        reads=lambda: [
            *(outputs.of_drive(start) if start is not None else []),
            *outputs.of_trace(recording),
        ],
    )
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_report = stack.enter_context(output.page_to(report))
        drive_file = stack.enter_context(replacing(written)) if written is not None else None
        progress = stack.enter_context(output.progress("steps"))
        found = _api.fit(
            start,
            recording,
            capacity=capacity,
            format=format,
            picture=report is not None,
            progress=progress,
        )
        write_json(found)
        write_report(f"{start or 'from scratch'}: {recording}", found)
        if drive_file is not None:
            drive_file.write(found.toml)
            drive_file.flush()
    output.remarks(found.warnings, found.notes)
    if json != "-":
        output.show(*_report(found))


def _read(first: str, second: str | None, from_scratch: bool) -> tuple[str | None, str]:
    """The drive to start from, if any, and the recording."""
    if from_scratch:
        if second is not None:
            raise typer.BadParameter("a drive from scratch has none to start from", param_hint="DRIVE")
        return None, reading.named(first) or first
    if second is None:
        raise typer.BadParameter("missing: after the drive, or alone with --from-scratch", param_hint="TRACE")
    return first, second


def _report(found: "Fit") -> Iterator["RenderableType"]:
    yield output.heading(f"{found.drive or 'from scratch'}: {found.name}")
    yield f"{found.requests:,} requests of {found.trace}; judged by the last {found.judged.requests:,}"
    yield ""
    table = output.table("ms", "before", "after")
    judged = found.judged
    table.add_row("demerit", f"{judged.start_rms_demerit_ms:.4f}", f"{judged.rms_demerit_ms:.4f}")
    table.add_row(
        "error of a request (rms)", f"{found.start_one_step_rms_ms:.4f}", f"{judged.one_step_rms_ms:.4f}"
    )
    yield table
    yield ""
    if found.parameters:
        table = output.table("parameter", "before", "after", "95 % from", "to")
        for name, parameter in found.parameters.items():
            interval = parameter.ci95 or ("", "")
            table.add_row(name, *(_shown(value) for value in (parameter.start, parameter.value, *interval)))
        yield table
    else:
        yield "No change of the drive helps with requests that it was not estimated from: it stays as it is."
    if found.drive is None and found.assumed:
        yield ""
        table = output.table("not told by this recording", "taken")
        for name, taken in found.assumed.items():
            table.add_row(name, taken)
        yield table
    if found.untold:
        yield ""
        text = f"Not told by this recording, and left as they were: {', '.join(found.untold)}."
        yield from output.wrap(text, output.text_width())
    yield ""
    text = (
        "Times are in ms, rotation is the time of a turn; seek[N] is a seek over N cylinders. The drive was "
        "fitted to the first half of the recording and is judged on the second."
    )
    yield from output.wrap(text, output.text_width())


def _shown(value: Any) -> str:
    """A value of a parameter, with as many digits as matter."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.4f}" if isinstance(value, float) else str(value)
