"""`diskwright validate`."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import _api
from diskwright.cli import completion, options, output, outputs, reading

if TYPE_CHECKING:
    from rich.console import RenderableType

    from diskwright import Validation

_TIMES = {"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p999": "p99.9", "max": "max"}
# Groupings that are printed; the others are in the JSON object and on the page.
_GROUPINGS = {"service_and_predecessor": "kind of request", "size": "size"}


def validate(
    drive: Annotated[
        str,
        typer.Argument(
            help="The drive: a name or a file.", show_default=False, autocompletion=completion.drives
        ),
    ],
    trace: Annotated[
        str,
        typer.Argument(
            help="A recording with service times and gaps; `-` is standard input.",
            show_default=False,
            callback=reading.named,
            autocompletion=completion.traces,
        ),
    ],
    json: output.JsonOption = None,
    report: options.ReportOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a value of the drive; may be repeated."),
    ] = None,
    format: reading.FormatOption = None,
) -> None:
    """Replay a recording on a drive and tell how far the service times are from the recorded ones.

    VALUE is TOML; a bare word is a string: --set buffer.write.complete=on-medium
    """
    outputs.check(
        outputs.json(json),
        outputs.page(report),
        reads=lambda: [*outputs.of_drive(drive), *outputs.of_trace(trace)],
    )
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_report = stack.enter_context(output.page_to(report))
        progress = stack.enter_context(output.progress("requests"))
        found = _api.validate_with_settings(
            drive, trace, settings or [], format, report is not None, progress
        )
        write_json(found)
        write_report(f"{drive}: {trace}", found)
    output.remarks(found.warnings, found.notes)
    if json != "-":
        output.show(*_report(found))


def _report(found: "Validation") -> Iterator["RenderableType"]:
    yield output.heading(f"{found.drive}: {found.name}")
    yield f"{found.requests:,} requests of {found.trace}, {output.number(found.simulated_s)} s"
    if found.set:
        yield f"with {', '.join(found.set)}"
    yield ""
    relative = found.relative_demerit
    share = "" if relative is None else f", {100 * relative:.2f} % of the recorded mean"
    yield f"demerit {found.rms_demerit_ms:.4f} ms{share}"
    yield f"{100 * found.share_within_0_1_ms:.1f} % of the requests are off by at most 0.1 ms"
    yield ""
    table = output.table("times in ms", "mean", *_TIMES.values())
    for name in ("recorded", "simulated"):
        times = found[f"{name}_ms"]
        table.add_row(name, *(output.number(times[key]) for key in ("mean", *_TIMES)))
    yield table
    for key, label in _GROUPINGS.items():
        yield ""
        yield _kinds(label, found.kinds[key])
    yield ""
    yield from output.wrap(
        "Error: simulated minus recorded service time of the same request; rms: its root mean square; share: "
        "of the sum of all squared errors. The demerit compares the distributions and not the requests.",
        output.text_width(),
    )


def _kinds(label: str, kinds: Sequence[Any]) -> "RenderableType":
    table = output.table(f"{label}, ms", "requests", "recorded", "simulated", "rms", "share %")
    for kind in kinds:
        table.add_row(
            kind.name,
            f"{kind.requests:,}",
            output.number(kind.recorded_mean_ms),
            output.number(kind.simulated_mean_ms),
            output.number(kind.error_rms_ms),
            f"{100 * kind.share_of_squared_error:.1f}",
        )
    return table
