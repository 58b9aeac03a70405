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
            help="The drive to start from: a name or a file.",
            show_default=False,
            autocompletion=completion.drives,
        ),
    ],
    trace: Annotated[
        str,
        typer.Argument(
            help="A recording with service times, one request at a time; `-` is standard input.",
            show_default=False,
            callback=reading.named,
            autocompletion=completion.traces,
        ),
    ],
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
    outputs.check(
        outputs.json(json),
        outputs.page(report),
        outputs.drive(written),
        reads=lambda: [*outputs.of_drive(drive), *outputs.of_trace(trace)],
    )
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_report = stack.enter_context(output.page_to(report))
        drive_file = stack.enter_context(replacing(written)) if written is not None else None
        progress = stack.enter_context(output.progress("steps"))
        found = _api.fit(drive, trace, format=format, picture=report is not None, progress=progress)
        write_json(found)
        write_report(f"{drive}: {trace}", found)
        if drive_file is not None:
            drive_file.write(found.toml)
            drive_file.flush()
    output.remarks(found.warnings, found.notes)
    if json != "-":
        output.show(*_report(found))


def _report(found: "Fit") -> Iterator["RenderableType"]:
    yield output.heading(f"{found.drive}: {found.name}")
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
