"""`diskwright probe`."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import InputError, Record, _api, _files
from diskwright.cli import completion, output, outputs, probe_flash

if TYPE_CHECKING:
    from rich.console import RenderableType

# More rows of zones than these say nothing more on a terminal.
_ZONES = 16
# What can be measured of a hard disk.
_MEASUREMENTS = ["seek", "access", "zones", "iops", "curve", "streams", "writes", "destage", "rotation"]
# What is measured where nothing is named.
_USUAL = ["seek", "access", "zones", "iops"]
# The columns of a curve's file.
_COLUMNS = ("distance_blocks", "mean_ms", "low_ms", "high_ms")
# As many columns with margins fit.
_SCHEDULERS = 4


def _completed(incomplete: str) -> list[str]:
    """The measurements that the last one of a list may become."""
    before, comma, last = incomplete.rpartition(",")
    taken = _listed(before)
    names = [name for name in [*_MEASUREMENTS, *probe_flash.MEASUREMENTS] if name not in taken]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


def probe(
    drive: Annotated[
        str,
        typer.Argument(
            help="The drive: a name or a file.", show_default=False, autocompletion=completion.drives
        ),
    ],
    json: output.JsonOption = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw it into a .png, .svg or .pdf file.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help=f"Measure only some of {', '.join(_MEASUREMENTS)}, or of an SSD "
            f"{', '.join(probe_flash.MEASUREMENTS)}; may be repeated.",
            autocompletion=_completed,
        ),
    ] = None,
    curve: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write the access times of reads by distance, for a device of the kind curve.",
        ),
    ] = None,
    write_curve: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the same for writes.")
    ] = None,
    samples: Annotated[int, typer.Option(metavar="N", help="Random accesses at each distance.")] = 10_000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The seed of every random choice.")] = 1,
    depths: Annotated[
        str, typer.Option(metavar="A,B", help="Queue depths of random requests.")
    ] = "1,2,4,8,16,32,64,128,256",
    schedulers: Annotated[
        str, typer.Option(metavar="A,B", help="Schedulers of a hard disk's random reads.")
    ] = "shipped,fcfs,sstf,c-look,satf",
    size: Annotated[str, typer.Option(metavar="SIZE", help="Size of a random request.")] = "4 KiB",
    reads: Annotated[int, typer.Option(metavar="N", help="Random requests at each depth.")] = 30_000,
    stream_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Size of a request of a sequential stream.")
    ] = "64 KiB",
    write_depth: Annotated[int, typer.Option(metavar="N", help="Random writes outstanding.")] = 16,
) -> None:
    """Measure what a drive does: seek curve, access times, zones, random reads, caches; of an SSD latencies,
    bandwidth, mixed loads, the fall to its steady state, reads behind writes.

    The drive runs in the simulator and gets requests; nothing is copied from its description.
    """
    limits = (
        ("--samples", samples, 2**32),
        ("--seed", seed, 2**64),
        ("--reads", reads, 2**64),
        ("--write-depth", write_depth, 2**32),
    )
    for option, value, limit in limits:
        if not 0 <= value < limit:
            raise InputError(f"error: {option} {value}: expected 0 to {limit - 1}")
    curves = {"read": outputs.curve("--curve", curve), "write": outputs.curve("--write-curve", write_curve)}
    outputs.check(
        outputs.json(json), outputs.plot(plot), *curves.values(), reads=lambda: outputs.of_drive(drive)
    )
    measured = [name for names in only or [] for name in _listed(names)]
    if curve is not None or write_curve is not None:
        measured = [*(measured or _USUAL), "curve"]
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        progress = stack.enter_context(_progress())
        found = _api.probe(
            drive,
            only=measured,
            samples=samples,
            seed=seed,
            depths=_numbers(depths),
            schedulers=_listed(schedulers),
            size=size,
            reads=reads,
            stream_size=stream_size,
            write_depth=write_depth,
            plot=plot,
            progress=progress,
        )
        for operation, target in curves.items():
            if target.target is not None:
                _write_curve(found.curve[operation], target.target)
        write_json(found)
    if json != "-":
        report = probe_flash.report if found.get("kind") == "ssd" else _report
        output.show(*report(found))


def _write_curve(points: list[Record], target: str) -> None:
    """The file of a curve, as a device of the kind `curve` reads it."""
    rows = [_COLUMNS, *([point[column] for column in _COLUMNS] for point in points)]
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    with _files.replacing(target) as stream:
        stream.write(text)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    numbers = []
    for word in _listed(text):
        if not word.isascii() or not word.isdecimal() or not int(word) < 2**32:
            raise InputError(f"error: --depths {text}: {word!r} is not a depth; expected such as 1,8,32")
        numbers.append(int(word))
    return numbers


@contextmanager
def _progress() -> Iterator[Callable[[int, int | None], object] | None]:
    """A progress bar on standard error, where that is a terminal."""
    if not output.stderr_is_terminal():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("probing"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _report(found: Record) -> Iterator["RenderableType"]:
    yield output.heading(f"{found.drive}: {found.name}")
    yield (
        f"{found.capacity_blocks * 512 / 1e9:,.1f} GB, {found.rpm:,.10g} rpm, "
        f"a revolution in {found.revolution_ms:.6f} ms"
    )
    tables = (
        ("seek", _seek),
        ("access", _access),
        ("zones", _zones),
        ("random", _random),
        ("streams", _streams),
        ("writes", _writes),
        ("destage", _destage),
    )
    for key, table in tables:
        if key in found:
            yield ""
            yield table(found)
    if "memory" in found and found.memory.get("note"):
        yield ""
        yield found.memory.note


def _seek(found: Record) -> "RenderableType":
    table = output.table("motion in ms", "cylinders", "read", "write")
    if found.get("head_switch"):
        switch = found.head_switch
        table.add_row("head switch", "0", output.number(switch.read_ms), output.number(switch.write_ms))
    for name, seek in _strokes(found.seek):
        distance = output.plain(seek.distance_cylinders)
        table.add_row(name, distance, output.number(seek.read_ms), output.number(seek.write_ms))
    if "random_access" in found:
        random = found.random_access
        means = (random.read.motion_mean_ms, random.write.motion_mean_ms)
        table.add_row("mean between random sectors", "", *map(output.number, means))
    return table


def _access(found: Record) -> "RenderableType":
    table = output.table("access in ms", "cylinders", "mean", "± (99 %)", "0.5 %", "99.5 %")
    for name, point in _strokes(found.access):
        table.add_row(name, output.plain(point.distance_cylinders), *_spread(point))
    random = found.random_access
    table.add_row("reads of random sectors", "", *_spread(random.read))
    table.add_row("writes of random sectors", "", *_spread(random.write))
    return table


def _spread(times: Record) -> list[str]:
    interval = times.ci99_ms
    margin = None if interval is None else (interval[1] - interval[0]) / 2
    return [output.number(value) for value in (times.mean_ms, margin, times.p005_ms, times.p995_ms)]


def _strokes(points: list[Any]) -> Iterator[tuple[str, Record]]:
    """Of points by distance: none, one, a third of the longest and the longest, as far as there are such."""
    if not points:
        return
    full = points[-1].distance_cylinders
    wanted = {"same cylinder": 0, "single cylinder": 1, "about a third of it": full / 3, "full stroke": full}
    shown = set()
    for name, distance in wanted.items():
        near = min(points, key=lambda point: abs(point.distance_cylinders - distance))
        exact = near.distance_cylinders == distance or name.startswith("about")
        if exact and near.distance_cylinders not in shown:
            shown.add(near.distance_cylinders)
            yield name, near


def _zones(found: Record) -> "RenderableType":
    columns = ("cylinder", "GB", "sectors", "track", "sustained", "host", "to track", "to cyl.")
    table = output.table(*columns)
    groups = _alike(found.zones)
    left_out = len(groups) - _ZONES
    for index, group in enumerate(groups):
        if left_out > 0 and index == _ZONES // 2:
            table.add_row(f"… {left_out} more")
        if left_out > 0 and _ZONES // 2 <= index < len(groups) - _ZONES // 2:
            continue
        first = group[0]
        rates = [[zone[f"{key}_mb_per_s"] for zone in group] for key in ("media", "sustained", "host")]
        switches = [[zone[f"{key}_switch_ms"] for zone in group] for key in ("track", "cylinder")]
        table.add_row(
            output.plain(first.first_cylinder),
            _short(first.first_lbn * 512 / 1e9),
            output.plain(first.sectors_per_track),
            *(_short(sum(values) / len(values)) for values in rates),
            *(_known(values) for values in switches),
        )
    caption = "rates in MB/s; from a track to the next one or to the next cylinder in ms"
    return output.captioned(table, caption)


def _short(value: float) -> str:
    """Four digits or so."""
    return f"{value:,.{2 if value < 100 else 1 if value < 1000 else 0}f}"


def _known(values: list[float | None]) -> str:
    """The mean of the values that are there."""
    known = [value for value in values if value is not None]
    return output.number(sum(known) / len(known) if known else None)


def _alike(zones: list[Record]) -> list[list[Record]]:
    """Neighbours with tracks of the same length together: some descriptions divide them further."""
    groups: list[list[Record]] = []
    for zone in zones:
        if groups and groups[-1][0].sectors_per_track == zone.sectors_per_track:
            groups[-1].append(zone)
        else:
            groups.append([zone])
    return groups


def _random(found: Record) -> "RenderableType":
    series = list(dict.fromkeys((point.scheduler, point.ships) for point in found.random))
    depths = list(dict.fromkeys(point.depth for point in found.random))
    points = {(point.scheduler, point.ships, point.depth): point for point in found.random}
    marked = [f"{name} *" if ships else name for name, ships in series]
    table = output.table("queue depth", *marked)
    with_margins = len(series) <= _SCHEDULERS
    for depth in depths:
        row = (points[name, ships, depth] for name, ships in series)
        table.add_row(str(depth), *(_rate(point, with_margins) for point in row))
    caption = f"random reads of {found.random_read_bytes / 1024:,g} KiB a second"
    caption += ", ± 95 % confidence" if with_margins else _widest(found.random)
    if "shipped_scheduler" in found and any(ships for _, ships in series):
        caption += f"\n* as the drive ships: {_scheduler(found.shipped_scheduler)}"
    return output.captioned(table, caption)


def _widest(points: list[Record]) -> str:
    """The widest of the intervals, as a share of the rate."""
    known = [point for point in points if point.iops_ci95 is not None]
    if not known:
        return ""
    share = max((point.iops_ci95[1] - point.iops_ci95[0]) / 2 / point.iops for point in known)
    some = "" if len(known) == len(points) else " where it is known"
    return f", ± {share:.1%} at most{some} (95 % confidence)"


def _scheduler(choice: Any) -> str:
    """A scheduler with its parameters."""
    if isinstance(choice, str):
        return choice
    ((name, parameters),) = choice.to_dict().items()
    return " ".join([name, *(f"{key} {value}" for key, value in parameters.items())])


def _rate(point: Record, with_margin: bool) -> str:
    if not with_margin:
        return f"{point.iops:,.1f}"
    interval = point.iops_ci95
    margin = "-" if interval is None else f"{(interval[1] - interval[0]) / 2:.1f}"
    return f"{point.iops:,.1f} ± {margin:>4}"


def _streams(found: Record) -> "RenderableType":
    streams = found.streams
    table = output.table("streams", "read", "slowest", "mean", "99 %", "write", "slowest", "mean", "99 %")
    for read, write in zip(streams.read, streams.write, strict=True):
        row = []
        for point in (read, write):
            row += [point.mb_per_s, point.slowest_mb_per_s, point.response_mean_ms, point.response_p99_ms]
        table.add_row(str(read.streams), *map(_short, row))
    caption = (
        f"sequential requests of {streams.request_bytes / 1024:,g} KiB, one after another in each stream, "
        f"write cache {streams.write_cache} as the drive ships; MB/s of all streams together and of "
        "the slowest of them; response times in ms"
    )
    return output.captioned(table, caption)


def _writes(found: Record) -> "RenderableType":
    writes = found.writes
    table = output.table("up to", *map(_state, writes.states))
    spans = [{interval.to_s: interval for interval in state.intervals[:-1]} for state in writes.states]
    for end in sorted(set().union(*spans)):
        rates = (f"{span[end].iops:,.0f}" if end in span else "" for span in spans)
        table.add_row(f"{end:,.2f} s", *rates)
    table.add_row(
        "burst ends", *(_of_burst(state, lambda burst: f"{burst.end_s:,.3f} s") for state in writes.states)
    )
    table.add_row(
        "its writes", *(_of_burst(state, lambda burst: f"{burst.writes:,}") for state in writes.states)
    )
    table.add_row("steady", *(f"{state.steady.iops:,.1f}" for state in writes.states))
    table.add_row("mean of writes", *(f"{state.steady.writes:,}" for state in writes.states))
    caption = (
        f"random writes of {writes.request_bytes / 1024:,g} KiB a second by time, "
        f"{writes.depth} outstanding, from the empty memory on, by state of the write cache" + _notes(writes)
    )
    return output.captioned(table, caption)


def _of_burst(state: Record, text: Callable[[Record], str]) -> str:
    return "-" if state.burst is None else text(state.burst)


def _state(state: Record) -> str:
    return f"{state.write_cache} *" if state.ships else str(state.write_cache)


def _notes(measured: Record) -> str:
    """The state that is marked, and those that are not there."""
    shipped = ["* as the drive ships"] if any(state.ships for state in measured.states) else []
    missing = [f"{state.write_cache} is missing: {state.reason}" for state in measured.missing]
    return "".join(f"\n{note}" for note in [*shipped, *missing])


def _destage(found: Record) -> "RenderableType":
    destage = found.destage
    table = output.table("write cache", "writes", "MB", "burst", "destaged", "flush then", "flush at once")
    for state in destage.states:
        times = (
            state.burst_ms,
            state.idle_destage_ms,
            state.flush_after_idle_ms,
            state.flush_at_once_ms,
        )
        table.add_row(
            _state(state), output.plain(state.writes), _short(state.bytes / 1e6), *map(output.number, times)
        )
    caption = (
        f"writes of {destage.request_bytes / 1024:,g} KiB at random places until memory is full; "
        "times in ms: of the burst, from its end to the last destage in idle time, of a flush "
        "after that, of a flush at the burst's end" + _notes(destage)
    )
    return output.captioned(table, caption)
