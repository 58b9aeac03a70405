"""`diskwright miss-ratio`."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import typer

from diskwright import InputError, Record, _api
from diskwright._text import byte_size
from diskwright.cli import output, outputs, reading

if TYPE_CHECKING:
    from rich.console import RenderableType

# A policy with parameters that is longer has a letter at the head of its column.
_LONGEST = 12


def miss_ratio(
    trace: reading.TraceArgument,
    policies: Annotated[
        str,
        typer.Option(metavar="A,B", help="Replacement policies, by name or as '{ name = { … } }'."),
    ] = "lru",
    capacity: Annotated[
        str,
        typer.Option(
            metavar="A,B",
            help="How large the caches are: objects or blocks, 10% of the distinct ones, or 64MiB.",
        ),
    ] = "1%,2%,5%,10%,20%,50%,100%",
    granularity: Annotated[
        str,
        typer.Option(
            metavar="WHAT",
            help="What a cache holds: block, all that requests overlap, or object, one for each request, "
            "named by its first LBN.",
        ),
    ] = "block",
    block_size: Annotated[str, typer.Option(metavar="SIZE", help="Size of a cache's block.")] = "4 KiB",
    sample: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Simulate only this share of the objects, such as 0.01."),
    ] = None,
    sample_seeds: Annotated[
        int, typer.Option(metavar="N", help="Independent samples, whose spread gives the intervals.")
    ] = 10,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The seed of every random choice.")] = 1,
    json: output.JsonOption = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw it into a .png, .svg or .pdf file.")
    ] = None,
    format: reading.FormatOption = None,
    columns: reading.ColumnsOption = None,
    event: reading.EventOption = None,
    sector_bytes: reading.SectorBytesOption = None,
    device: reading.DeviceOption = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Caches at a time; one per core by default.")
    ] = None,
) -> None:
    """Tell how often caches of many sizes and policies miss on a trace.

    There is no drive behind them: requests go through the caches one after the other.
    """
    limits = (
        ("--seed", seed, 0, 2**64),
        ("--sample-seeds", sample_seeds, 1, 2**32),
        ("--threads", threads, 1, 2**32),
    )
    for option, value, low, limit in limits:
        if value is not None and not low <= value < limit:
            raise InputError(f"error: {option} {value}: expected {low} to {limit - 1}")
    outputs.check(outputs.json(json), outputs.plot(plot), reads=lambda: outputs.of_trace(trace))
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        progress = stack.enter_context(output.progress("records"))
        found = _api.miss_ratio_as_written(
            trace,
            policies,
            capacity,
            granularity,
            block_size,
            sample,
            sample_seeds,
            seed,
            _api.reader_options(**reading.options(format, columns, event, sector_bytes, None)),
            device,
            threads,
            [],
            plot,
            progress,
        )
        write_json(found)
    output.remarks(found.warnings, found.notes)
    if json != "-":
        output.show(*_report(found))


def _report(found: Record) -> Iterator["RenderableType"]:
    yield output.heading(found.trace)
    yield from output.wrap(_facts(found), output.text_width())
    labels = _labels([policy.policy for policy in found.policies])
    for some in _fitting(found, labels):
        yield ""
        yield _table(found, some)
    lettered = {label: policy for policy, label in labels.items() if label != policy}
    for label, policy in lettered.items():
        yield output.hanging(label, policy)


def _facts(found: Record) -> str:
    skipped = f", {found.skipped:,} records left out" if found.skipped else ""
    text = f"{found.requests:,} requests ({found.reads:,} reads, {found.writes:,} writes{skipped})"
    if "block_bytes" in found:
        text += f", {found.accesses:,} accesses to blocks of {byte_size(found.block_bytes)}"
    if found.distinct is not None:
        about = "about " if found.sample else ""
        what = "blocks" if "block_bytes" in found else "objects"
        text += f", {about}{found.distinct:,} distinct {what}"
    if found.sample:
        text += f"; {found.sample.seeds} samples of {100 * found.sample.rate:g} %"
    return text


def _labels(policies: list[str]) -> dict[str, str]:
    """What heads the columns."""
    labels: dict[str, str] = {}
    for policy in policies:
        long = sum(label != name for name, label in labels.items())
        labels[policy] = policy if len(policy) <= _LONGEST else f"({chr(ord('a') + long % 26)})"
    return labels


def _fitting(found: Record, labels: dict[str, str]) -> Iterator[dict[str, str]]:
    """The policies, as many at a time as fit beside the capacities."""
    room = output.width() - sum(
        2 + max(map(len, column)) for column in zip(*_capacities(found).values(), strict=True)
    )
    cells = {
        policy: 2 + max(len(label), *(len(_cell(point)) for point in found.points if point.policy == policy))
        for policy, label in labels.items()
    }
    some: dict[str, str] = {}
    for policy, label in labels.items():
        if some and sum(cells[other] for other in some) + cells[policy] > room:
            yield some
            some = {}
        some[policy] = label
    yield some


def _capacities(found: Record) -> dict[str, tuple[str, ...]]:
    """What is told of each capacity, as it was asked for; the first row are the headers."""
    blocks = "block_bytes" in found
    headers = ("capacity", "blocks", "size") if blocks else ("capacity", "objects")
    rows: dict[str, tuple[str, ...]] = {"": headers}
    for point in found.points:
        size = (byte_size(point.capacity_bytes),) if blocks else ()
        rows[point.asked] = (point.asked, f"{point.capacity:,}", *size)
    return rows


def _table(found: Record, policies: dict[str, str]) -> "RenderableType":
    points = {(point.policy, point.asked): point for point in found.points}
    rows = _capacities(found)
    table = output.table(*rows.pop(""), *policies.values())
    for asked, capacity in rows.items():
        table.add_row(*capacity, *(_cell(points[policy, asked]) for policy in policies))
    caption = "misses among all accesses" + (", ± 95 % confidence" if found.sample else "")
    return output.captioned(table, caption)


def _cell(point: Record) -> str:
    text = f"{point.miss_ratio:.4f}"
    if "miss_ratio_ci95" not in point:
        return text
    interval = point.miss_ratio_ci95
    # Where an end would be beyond 0 or 1, the interval is not symmetric.
    margin = "-" if interval is None else f"{max(abs(end - point.miss_ratio) for end in interval):.4f}"
    return f"{text} ± {margin:>6}"
