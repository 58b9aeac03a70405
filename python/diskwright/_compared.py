"""How a comparison is written for people: the same words and figures on the terminal and on pages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from diskwright import _text, _toml

if TYPE_CHECKING:
    from diskwright._record import Comparison

# What is shown where nothing else is asked for.
SHOWN = ("response_mean_ms", "response_p95_ms", "response_p99_ms", "iops")

_VARY = {
    "workload": "the random choices of the load",
    "angle": "where the platters stand at the start",
}

_REPEATED = ("mean", "±", "difference", "±", "ratio", "from", "to")
_ONCE = ("", "difference", "ratio")

INTERVALS = "± and to: 95 % confidence over the seeds, of differences and ratios by pairs"
MARKED = "*: the interval of the difference excludes zero"


@dataclass(frozen=True)
class Cell:
    """A figure as it is shown, with the key of the variant that it was written from."""

    text: str
    key: tuple[str, ...] = ()
    mark: str = ""


def names(found: "Comparison") -> list[str]:
    """What the variants are called: by their values."""
    varied = [variant["values"].values() for variant in found.to_dict()["variants"]]
    called = [", ".join(map(brief, values)) for values in varied]
    if len(set(called)) == len(called):
        return called
    return [", ".join(map(value, values)) for values in varied]


def in_frame(item: Any) -> Any:
    """A value of a varied key in a table: as it is, or a text where it is a table or a list itself."""
    return value(item) if isinstance(item, Mapping | list) else item


def brief(item: Any) -> str:
    """A value of a varied key without TOML's signs: a policy as its name and its parameters."""
    if not isinstance(item, Mapping):
        return value(item)
    parts = []
    for name, inner in item.items():
        if isinstance(inner, Mapping) and inner:
            parts.append(f"{name} ({brief(inner)})")
        else:
            parts.append(f"{name} {brief(inner)}".rstrip())
    return ", ".join(parts)


def numbers(places: Sequence[int]) -> str:
    """Variants by their numbers, which count from 1: `variants 1 to 3, 5`."""
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    told = []
    for run in runs:
        first, last = run[0] + 1, run[-1] + 1
        told.append(f"{first}" if first == last else f"{first}{', ' if last == first + 1 else ' to '}{last}")
    return f"{'variant' if len(places) == 1 else 'variants'} {', '.join(told)}"


def value(item: Any) -> str:
    """A value of a varied key: TOML, but for the quotes of a string."""
    return item if isinstance(item, str) else _toml.value(item)


def warnings(found: "Comparison", names: Sequence[str] | None) -> list[str]:
    """The warnings; those that do not concern all runs, with the variants that they do concern.

    names: what the variants are called; None where they are known by their numbers.
    """
    return _messages(found, found.warnings, names)


def notes(found: "Comparison", names: Sequence[str] | None) -> list[str]:
    """The notes, in the same way."""
    return _messages(found, found.notes, names)


def _messages(found: "Comparison", messages: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    whole = len(found.seeds) * len(found.variants)

    def concerned(places: Sequence[int]) -> str:
        return numbers(places) if names is None else "; ".join(names[place] for place in places)

    return [
        message.text if message.runs == whole else f"{concerned(message.variants)}: {message.text}"
        for message in messages
    ]


def seeds(found: "Comparison") -> str:
    """How often each variant ran, and what its runs differ in."""
    seeds = found.seeds
    if len(seeds) == 1:
        return f"one run of each, with seed {seeds[0]}"
    varied = " and ".join(_VARY[what] for what in found.seeds_vary)
    return f"{len(seeds)} runs of each, with seeds {seeds[0]} to {seeds[-1]}, which vary {varied}"


def label(metric: str) -> str:
    """What a quantity is called, with its unit."""
    name, unit = _text.unit(metric)
    return f"{name}, {unit}" if unit else name


def columns(found: "Comparison") -> tuple[str, ...]:
    """The columns of figures that a quantity has."""
    return _REPEATED if len(found.seeds) > 1 else _ONCE


def is_marked(found: "Comparison", metric: str) -> bool:
    """Whether a difference of this quantity is marked."""
    return any(variant.difference[metric].significant for variant in found.variants)


def rows(found: "Comparison", metric: str) -> Iterator[list[Cell]]:
    """The figures of a quantity, for each variant; the baseline has no more than its own."""
    data = found.to_dict()
    for index, variant in enumerate(data["variants"]):
        yield list(_row(variant, metric, index == data["baseline"], len(data["seeds"]) > 1))


def _row(variant: Mapping[str, Any], metric: str, is_baseline: bool, is_repeated: bool) -> Iterator[Cell]:
    mean, difference = variant["metrics"][metric], variant["difference"][metric]
    yield Cell(_text.number(mean["value"]), ("metrics", metric, "value"))
    if is_repeated:
        yield Cell(margin(mean["ci95"]), ("metrics", metric, "ci95"))
    if is_baseline:
        yield Cell("baseline")
        return
    mark = "*" if difference["significant"] else " " if is_repeated else ""
    yield Cell(signed(difference["value"]), ("difference", metric, "value"), mark)
    if is_repeated:
        yield Cell(margin(difference["ci95"]), ("difference", metric, "ci95"))
    yield Cell(ratio(difference["ratio"]), ("difference", metric, "ratio"))
    if is_repeated:
        for place, edge in enumerate(difference["ratio_ci95"] or (None, None)):
            key = ("difference", metric, "ratio_ci95", str(place)) if edge is not None else ()
            yield Cell(ratio(edge), key)


def signed(value: float | None) -> str:
    """A difference."""
    text = _text.number(value)
    if not any(digit in text for digit in "123456789"):
        return text.removeprefix("-") or "-"
    return text if text.startswith("-") else f"+{text}"


def margin(interval: Sequence[float] | None) -> str:
    """Half of an interval."""
    return _text.number(None if interval is None else (interval[1] - interval[0]) / 2)


def ratio(value: float | None) -> str:
    """A ratio; one that three decimals would show as next to nothing, with two digits."""
    if value is None:
        return "-"
    return f"{value:.2g}" if 0 < abs(value) < 0.01 else f"{value:,.3f}"
