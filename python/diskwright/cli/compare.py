"""`diskwright compare`."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import InputError, _api, _toml
from diskwright.cli import output

if TYPE_CHECKING:
    from rich.console import RenderableType

    from diskwright import Comparison, Record

# What is shown where nothing else is asked for.
_SHOWN = ("response_mean_ms", "response_p95_ms", "response_p99_ms", "iops")

_VARY = {
    "workload": "the random choices of the load",
    "angle": "where the platters stand at the start",
}


def compare(
    spec: Annotated[str, typer.Argument(help="A spec: a TOML file.", show_default=False)],
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=A,B,…", help="A key and its values; may be repeated: all combinations."),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", help="Runs of each variant, with seeds from the spec's on.")
    ] = 5,
    baseline: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="Compare with this value, not the first; KEY=VALUE of several."),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME", help="Compare this quantity; may be repeated."),
    ] = None,
    json: output.JsonOption = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a value of the spec; may be repeated."),
    ] = None,
    drive: Annotated[
        str | None, typer.Option(metavar="NAME", help="Simulate this drive in place of the spec's.")
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE", help="Replay this trace in place of the spec's workload.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Follow every block's versions; fail where a promise is broken.")
    ] = False,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Runs at a time; one for each core unless said.")
    ] = None,
) -> None:
    """Run the same workload with varied keys; print what they change, with confidence intervals.

    The first value is what the others are compared with: --vary device.hdd.queue.scheduler=fcfs,satf
    """
    for option, number in (("--seeds", seeds), ("--threads", threads)):
        if number is not None and not 1 <= number < 2**32:
            raise InputError(f"error: {option} {number}: expected 1 or more")
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        progress = stack.enter_context(output.progress("requests"))
        found = _api.compare_with_settings(
            spec,
            vary or [],
            baseline or [],
            seeds,
            metrics or [],
            settings or [],
            drive,
            trace,
            check,
            threads,
            progress,
        )
        write_json(found)
    if json != "-":
        output.show(*_report(spec, found, metrics))


def _report(spec: str, found: "Comparison", metrics: list[str] | None) -> Iterator["RenderableType"]:
    names = [_name(variant) for variant in found.variants]
    yield from output.warnings(list(_warnings(found, names)))
    yield output.heading(f"{spec}: {', '.join(found.varied)}")
    yield from output.wrap(_seeds(found), output.WIDTH)
    marked = False
    for metric in found.variants[0].metrics:
        if metrics or metric in _SHOWN:
            yield ""
            yield _table(found, names, metric)
            marked |= any(variant.difference[metric].significant for variant in found.variants)
    if len(found.seeds) > 1:
        yield ""
        yield "± and to: 95 % confidence over the seeds, of differences and ratios by pairs"
    if marked:
        yield "*: the interval of the difference excludes zero"


def _name(variant: "Record") -> str:
    return ", ".join(_text(value) for value in variant.to_dict()["values"].values())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _toml.value(value)


def _warnings(found: "Comparison", names: list[str]) -> Iterator[str]:
    runs = len(found.seeds)
    for warning in found.warnings:
        concerned = "; ".join(names[index] for index in warning.variants)
        everywhere = warning.runs == runs * len(names)
        yield warning.text if everywhere else f"{concerned}: {warning.text}"


def _seeds(found: "Comparison") -> str:
    seeds = found.seeds
    if len(seeds) == 1:
        return f"one run of each, with seed {seeds[0]}"
    varied = " and ".join(_VARY[what] for what in found.seeds_vary)
    return f"{len(seeds)} runs of each, with seeds {seeds[0]} to {seeds[-1]}, which vary {varied}"


def _table(found: "Comparison", names: list[str], metric: str) -> "RenderableType":
    label, unit = output.unit(metric)
    title = f"{label}, {unit}" if unit else label
    repeated = len(found.seeds) > 1
    columns = (
        ("mean", "±", "difference", "±", "ratio", "from", "to") if repeated else ("", "difference", "ratio")
    )
    table = output.table(title, *columns)
    for index, (name, variant) in enumerate(zip(names, found.variants, strict=True)):
        mean, difference = variant.metrics[metric], variant.difference[metric]
        cells = [output.number(mean.value)]
        cells += [_margin(mean.ci95)] if repeated else []
        if index == found.baseline:
            table.add_row(name, *cells, "baseline")
            continue
        mark = "*" if difference.significant else " " if repeated else ""
        cells += [_signed(difference.value) + mark]
        cells += [_margin(difference.ci95)] if repeated else []
        cells += [_ratio(difference.ratio)]
        cells += [_ratio(edge) for edge in difference.ratio_ci95 or [None, None]] if repeated else []
        table.add_row(name, *cells)
    return table


def _signed(value: float | None) -> str:
    text = output.number(value)
    if not any(digit in text for digit in "123456789"):
        return text.removeprefix("-") or "-"
    return text if text.startswith("-") else f"+{text}"


def _margin(interval: list[float] | None) -> str:
    return output.number(None if interval is None else (interval[1] - interval[0]) / 2)


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3f}"
