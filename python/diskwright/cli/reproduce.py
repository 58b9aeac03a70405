"""`diskwright reproduce`."""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diskwright.cli import completion, output, outputs
from diskwright.cli.sweep import STORE, ClusterOption, StoreOption, ThreadsOption

if TYPE_CHECKING:
    from rich.console import RenderableType

    from diskwright.reproduce._reproduced import Reproduced


def reproduce(
    system: Annotated[
        str,
        typer.Argument(
            help="A system: its name, or a .py file with one.",
            show_default=False,
            autocompletion=completion.systems,
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Search for traces there, by content; default: DISKWRIGHT_DATA."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write the page and its figures there.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Try it with fewer requests: a hint, not a result.")
    ] = False,
    seeds: Annotated[int, typer.Option(metavar="N", help="Runs of everything that varies, 5 or more.")] = 5,
    json: output.JsonOption = None,
    store: StoreOption = STORE,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Run what a paper's figures and statements need, and say which of them hold.

    Writes a page with everything to results/SYSTEM/index.html; goes on where an earlier try was stopped.
    """
    from diskwright import systems
    from diskwright.reproduce import _data, _execute, _write

    wanted = systems.system(system)
    target = out or f"results/{wanted.name}"
    outputs.check(
        outputs.json(json),
        *(outputs.Output("--out", str(path)) for path in _write.files(wanted, target)),
        reads=lambda: [
            *([system] if system.endswith(".py") else []),
            *_data.candidates(wanted.traces, _data.folder(data)),
            store,
        ],
    )
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        # A folder that cannot be written is known before the runs.
        _write.folder(target)
        progress = stack.enter_context(output.progress_of_points())
        found = _execute.reproduce(
            wanted,
            data=data,
            seeds=seeds,
            quick=quick,
            store=store,
            threads=threads,
            cluster=cluster,
            progress=progress,
        )
        _write.write(found, target, _command(system, data, quick, seeds))
        write_json(found)
    output.remarks(list(found.warned))
    if json != "-":
        output.show(*_report(found, Path(target)))


def _command(system: str, data: str | None, quick: bool, seeds: int) -> str:
    """What repeats it, with what is not as it would be anyway."""
    parts = ["diskwright", "reproduce", system]
    parts += ["--data", data] if data else []
    parts += ["--quick"] if quick else []
    parts += ["--seeds", str(seeds)] if seeds != 5 else []
    return shlex.join(parts)


def _report(found: "Reproduced", target: Path) -> Iterator["RenderableType"]:
    from diskwright.reproduce._page import number

    yield output.heading(f"{found.system}: {found.title}")
    yield f"{found.ran:,} pieces of work done now, {found.reused:,} kept from before"
    if found.quick:
        yield "a quick try: a hint, not a result"
    yield ""
    table = output.table("statement", "paper", "measured", "from", "to", "verdict")
    for statement in found.statements:
        low, high = statement.measured.ci95 or (None, None)
        paper = statement.paper if isinstance(statement.paper, str) else number(statement.paper)
        measured = [number(value) for value in (statement.measured.value, low, high)]
        table.add_row(statement.id, paper, *measured, statement.verdict)
    yield table
    for part in [*found.figures, *found.statements]:
        for word in ("skipped", "incomplete", "reason"):
            if word in part:
                yield output.hanging(f"{part.id}:", part[word], style="")
    yield ""
    yield f"from and to: 95 % confidence over {len(found.seeds)} seeds"
    yield f"the page: {target / 'index.html'}"
