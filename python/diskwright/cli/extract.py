"""`diskwright extract`."""

import math
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from diskwright import InputError, _api
from diskwright._files import replacing
from diskwright.cli import completion, ending, options, output, outputs

if TYPE_CHECKING:
    from rich.console import RenderableType

    from diskwright import Extraction

# More rows than these say nothing more on a terminal.
_MOST_ROWS = 16


def extract(
    target: Annotated[
        str,
        typer.Argument(
            help="What is measured: a drive of the simulator (a name or a file), a block device, a file, or "
            "a network block device (a URI or its socket).",
            show_default=False,
            autocompletion=completion.drives,
        ),
    ],
    written: Annotated[
        str | None,
        typer.Option("--output", metavar="FILE.toml", help="Write the drive's file."),
    ] = None,
    json: output.JsonOption = None,
    report: options.ReportOption = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            help="Leave out what is not measured after so many, of simulated time in the simulator.",
            show_default="no limit",
        ),
    ] = None,
    allow_writes: Annotated[
        bool,
        typer.Option("--allow-writes", help="Write to the target as well: what it holds is lost."),
    ] = False,
    speed: Annotated[
        float,
        typer.Option("--speed", help="Of what `serve --speed` serves: its seconds in one of the clock's."),
    ] = 1.0,
    yes: Annotated[bool, typer.Option("--yes", help="Ask for no confirmation before writes.")] = False,
) -> None:
    """Measure a drive by asking it: rotation, zones, skews, seeks, overheads, memory.

    A block device must not be in use. Only reads are made unless writes are allowed.
    """
    outputs.check(outputs.json(json), outputs.page(report), outputs.drive(written), reads=lambda: [])
    if minutes is not None and not minutes > 0:
        raise InputError("error: --minutes: expected more than 0")
    if not 0 < speed < math.inf:
        raise InputError("error: --speed: expected more than 0")
    from diskwright.extracting._journal import beside
    from diskwright.extracting._target import is_real

    if (
        allow_writes
        and is_real(target)
        and not yes
        and not typer.confirm(f"All that {target} holds will be lost. Write to it?", err=True)
    ):
        raise typer.Exit(1)
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_report = stack.enter_context(output.page_to(report))
        drive_file = stack.enter_context(replacing(written)) if written is not None else None
        progress = stack.enter_context(output.progress("measured"))
        resume = None if written is None or outputs.is_stream(written) else beside(written)
        try:
            found = _api.extract(
                target,
                minutes=minutes,
                allow_writes=allow_writes,
                speed=speed,
                resume=resume,
                progress=progress,
            )
        except KeyboardInterrupt:
            if resume is not None:
                ending.complain(f"{resume} keeps what was measured: the same command goes on from there")
            raise
        if drive_file is not None and not found.toml:
            raise InputError(f"error: {target}: no drive's file is written\n  {_why(found)}")
        write_json(found)
        write_report(target, found)
        if drive_file is not None:
            drive_file.write(found.toml)
            drive_file.flush()
    output.remarks([], found.notes)
    if json != "-":
        output.show(*_report(found))


def _why(found: "Extraction") -> str:
    if "why_not" in found:
        return str(found.why_not)
    if not found.complete:
        return "too little was measured before the budget was used up; the same command goes on from there"
    return "too little of it could be measured"


def _report(found: "Extraction") -> Iterator["RenderableType"]:
    yield output.heading(f"{found.target}: {found.capacity_blocks * 512 / 1e9:,.1f} GB")
    if not found.rotates:
        yield from output.wrap(
            f"It does not rotate, or does not show it: {found.why_not}.", output.text_width()
        )
        return
    yield f"{found.requests:,} requests in {found.seconds:,.0f} s"
    if "rotation" not in found:
        return
    yield ""
    table = output.table("value", "measured", "±")
    turn = found.rotation
    table.add_row("turn, ms", f"{turn.turn_ms:.6f}", f"{turn.half_width_ms:.6f}")
    table.add_row("turns a minute", f"{turn.rpm:,.3f}", "")
    table.add_row("sector, bytes", output.plain(found.sector_bytes), "")
    if "noise_ms" in found and found.noise_ms > 1e-4:
        table.add_row("noise of a completion, ms", f"{found.noise_ms:.4f}", "")
    if "surfaces" in found and found.surfaces:
        table.add_row("tracks of a cylinder", output.plain(found.surfaces), "")
    for key, name in (("overhead_read", "overhead of a read, ms"), ("head_switch", "head switch, ms")):
        if key in found:
            table.add_row(name, f"{found[key].ms:.4f}", f"{found[key].half_width_ms:.4f}")
    for name, value in _of_memory(found):
        table.add_row(name, value, "")
    yield table
    if "zones" not in found:
        return
    yield ""
    table = output.table("zone", "from cylinder", "to", "sectors/track", "skew", "of cylinders", "skipped")
    zones = list(found.zones)
    for zone in zones[:_MOST_ROWS]:
        table.add_row(
            *(
                "-" if value is None else output.plain(value)
                for value in (
                    zone.zone,
                    zone.first_cylinder,
                    zone.last_cylinder,
                    zone.sectors_per_track,
                    zone.track_skew,
                    zone.cylinder_skew,
                    zone.sectors_skipped,
                )
            )
        )
    left = len(zones) - _MOST_ROWS
    yield output.captioned(table, f"and {left} more zones" if left > 0 else "")
    yield ""
    table = output.table("seek over cylinders", "ms", "±")
    seeks = list(found.seek)
    every = max(-(-len(seeks) // _MOST_ROWS), 1)
    for seek in seeks[::every]:
        table.add_row(f"{seek.distance_cylinders:,}", f"{seek.ms:.4f}", f"{seek.half_width_ms:.4f}")
    yield table


def _of_memory(found: "Extraction") -> Iterator[tuple[str, str]]:
    """What is known of the drive's memory, with names and units."""
    if "memory" not in found:
        return
    memory = found.memory
    names = {
        "hit_overhead_ms": "overhead of a hit, ms",
        "block_time_ms": "a block on the interface, ms",
        "segments": "segments of the memory",
        "segment_blocks": "blocks of a segment",
        "size_blocks": "blocks of the memory",
        "reads_ahead_blocks": "blocks that are read ahead",
        "absorbs_writes": "writes wait for the medium",
    }
    for key, name in names.items():
        value = memory.to_dict().get(key)
        if value is None:
            continue
        if isinstance(value, bool):
            yield name, "no" if value else "yes"
        elif isinstance(value, float):
            yield name, f"{value:.4f}"
        else:
            yield name, output.plain(value)
