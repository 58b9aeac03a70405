"""What the verbs print and write. Everything fits 80 columns, and has no colours where it is piped."""

import csv
import json
import os
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import InputError
from diskwright._files import replacing
from diskwright._record import Record
from diskwright._text import flat as flat
from diskwright._text import number as number
from diskwright._text import plain as plain
from diskwright._text import unit as unit

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from diskwright import Result
    from diskwright.report import Found

JsonOption = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write one JSON object to a file; `-` is standard output."),
]

# Columns where nothing else is known, the fewest that can be read, and the most that lines of prose have.
_USUAL, _LEAST, _MOST = 80, 40, 100


def width(*, is_error: bool = False) -> int:
    """Columns that there are to print in: those of the terminal, or what COLUMNS says, or 80."""
    stream = sys.stderr if is_error else sys.stdout
    if stream is not None and stream.isatty():
        return max(shutil.get_terminal_size((_USUAL, 24)).columns, _LEAST)
    said = os.environ.get("COLUMNS", "")
    return max(int(said), _LEAST) if said.isdecimal() and int(said) > 0 else _USUAL


def text_width(*, is_error: bool = False) -> int:
    """Columns that prose is filled to."""
    return min(width(is_error=is_error), _MOST)


@contextmanager
def json_to(target: str | None) -> Iterator[Callable[[Record], None]]:
    """A function that writes a record where `--json` says; a file is whole or not there."""
    if target is None:
        yield lambda record: None
    elif target == "-":
        yield lambda record: print(record.json())
    else:
        with replacing(target) as stream:
            # A full disk is known before any other output takes its name.
            yield lambda record: print(record.json(), file=stream, flush=True)


@contextmanager
def fio_json_to(target: str | None) -> Iterator[Callable[[dict[str, Any] | None], None]]:
    """A function that writes a report in fio's form, with the time of day, where `--fio-json` says."""
    if target is None:
        yield lambda report: None
        return

    def text(report: dict[str, Any] | None) -> str:
        now = time.time()
        of_day = {
            "timestamp": int(now),
            "timestamp_ms": int(now * 1000),
            "time": time.strftime("%a %b %d %H:%M:%S %Y", time.localtime(now)),
        }
        (version, name), *rest = (report or {}).items()
        return json.dumps({version: name, **of_day, **dict(rest)}, indent=2)

    if target == "-":
        yield lambda report: print(text(report))
    else:
        with replacing(target) as stream:
            yield lambda report: print(text(report), file=stream, flush=True)


@contextmanager
def disksim_output_to(target: str | None) -> Iterator[Callable[["Result"], None]]:
    """A function that writes the statistics in DiskSim's form where `--disksim-output` says."""
    if target is None:
        yield lambda result: None
        return
    from diskwright import _disksim_output

    with replacing(target) as stream:
        # A full disk is known before any other output takes its name.
        yield lambda result: print(_disksim_output.text(result), end="", file=stream, flush=True)


@contextmanager
def csv_to(target: str | None) -> Iterator[Callable[["Result"], None]]:
    """A function that writes every number of a result, in one row, where `--csv` says."""
    if target is None:
        yield lambda result: None
        return
    from diskwright._frame import row

    with replacing(target) as stream:

        def write(result: "Result") -> None:
            numbers = row(result)
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerows([numbers.keys(), numbers.values()])
            # A full disk is known before any other output takes its name.
            stream.flush()

        yield write


@contextmanager
def page_to(target: str | None) -> Iterator[Callable[[str, "Found"], None]]:
    """A function that writes a page, with its title, where `--report` says.

    A file that cannot be written is known before.
    """
    if target is None:
        yield lambda title, found: None
        return
    if target == "-":
        raise InputError("error: --report -: expected the name of a file")
    from diskwright import report

    with report.opened(target) as write:
        yield write


def wrap(text: str, width: int) -> list[str]:
    """The lines of a text."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def stderr_is_terminal() -> bool:
    """Whether somebody watches standard error."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[Callable[[int, int | None], object] | None]:
    """A progress bar that counts `what`, on standard error, where that is a terminal."""
    if quiet or not stderr_is_terminal():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def progress_of_points(
    quiet: bool = False,
) -> Iterator[Callable[[int, int, int, int | None], object] | None]:
    """Bars that count points, and the requests of those that run here, as `progress` shows them."""
    if quiet or not stderr_is_terminal():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        points, requests = bars.add_task("points", total=None), bars.add_task("requests", total=None)

        def update(done: int, of: int, handled: int, expected: int | None) -> None:
            bars.update(points, completed=done, total=of)
            bars.update(requests, completed=handled, total=expected)

        yield update


def remarks(warnings: Sequence[str], notes: Sequence[str] = ()) -> None:
    """Prints to standard error what makes results doubtful, and then what else there is to know."""
    columns = text_width(is_error=True)
    lines = [_hanging("warning:", text, "yellow", columns) for text in warnings]
    lines += [_hanging("note:", text, "bold", columns) for text in notes]
    if lines and sys.stderr is not None:
        _print(lines, is_error=True)


def show(*parts: "RenderableType") -> None:
    """Prints to standard output."""
    _print(parts)


def _print(parts: Iterable["RenderableType"], *, is_error: bool = False) -> None:
    from rich.console import Console

    stream = sys.stderr if is_error else sys.stdout
    # There is none where it was closed.
    if stream is None:
        return
    columns = width(is_error=is_error)
    console = Console(highlight=False, markup=False, emoji=False, width=columns, stderr=is_error)
    for part in parts:
        console.print(part)


def heading(text: str) -> "RenderableType":
    """A line that stands out."""
    from rich.text import Text

    return Text(text, style="bold")


def hanging(label: str, text: str, style: str = "bold") -> "RenderableType":
    """A label and a text beside it, whose further lines start below the first."""
    return _hanging(label, text, style, text_width())


def _hanging(label: str, text: str, style: str, columns: int) -> "RenderableType":
    return _beside(label, wrap(text, columns - len(label) - 2), style)


def table(*headers: str, names: int = 1) -> "Table":
    """A table of columns of names, usually one, and columns of numbers, with the units in the headers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1), header_style="bold", show_edge=False)
    for index, header in enumerate(headers):
        # Where there is no room, names are folded: a number without its end is another one.
        made.add_column(header, justify="left" if index < names else "right", no_wrap=index >= names)
    return made


def called(names: Sequence[str], *tables: "Table") -> list[str] | None:
    """The names of the rows of tables, where they have room before their columns of numbers, else None.

    tables: without the column of names. Rows without room are known by their numbers, with a legend.
    """
    from rich.console import Console

    # Wide enough for whatever they want.
    console = Console(width=10_000)
    gap = 3
    taken = max((console.measure(made).maximum for made in tables), default=0) + gap
    return list(names) if max(map(len, names), default=0) + taken <= width() else None


# The header of a column of numbers that stand for names.
NUMBERS = "#"


def legend(keys: Sequence[str], rows: Iterable[Sequence[str]]) -> "Table":
    """What numbered rows stand for: the values of keys."""
    made = table(NUMBERS, *keys, names=1 + len(keys))
    for place, values in enumerate(rows, 1):
        made.add_row(str(place), *values)
    return made


def captioned(table: "Table", caption: str) -> "RenderableType":
    """A table and text below it as wide as the terminal: a table's own caption is as narrow as the table."""
    from rich.console import Group
    from rich.text import Text

    return Group(table, Text(caption, style="table.caption"))


def pairs(label: str, entries: Mapping[str, str]) -> "RenderableType":
    """A label, and names with values side by side."""
    return _beside(label, _filled(entries, text_width() - len(label) - 2), "bold")


def sections(record: Record) -> Iterator["RenderableType"]:
    """A record as a list: plain entries one a line, nested ones side by side."""
    rows: dict[str, Any] = {}
    for name, item in record.items():
        label, of = unit(name)
        if isinstance(item, Record):
            rows[f"{label}, {of}" if of else label] = flat(item)
        elif name != "schema":
            rows[label] = f"{plain(item)} {of}".rstrip()
    column = max(map(len, rows), default=0)
    for label, item in rows.items():
        fill = wrap if isinstance(item, str) else _filled
        yield _beside(label.ljust(column), fill(item, text_width() - column - 2), "")


def _filled(entries: Mapping[str, str], width: int) -> list[str]:
    """Lines of `name value, name value`, broken only after commas."""
    lines = [""]
    last = len(entries) - 1
    for index, (name, item) in enumerate(entries.items()):
        entry = f"{name} {item}" + ("," if index < last else "")
        if lines[-1] and len(lines[-1]) + 1 + len(entry) > width:
            lines.append("")
        lines[-1] += f" {entry}" if lines[-1] else entry
    return lines


def _beside(label: str, lines: list[str], style: str) -> "RenderableType":
    from rich.text import Text

    indent = "\n" + " " * (len(label) + 2)
    return Text.assemble((label, style), "  ", indent.join(lines))
