"""Options that several verbs have."""

from typing import Annotated

import typer

SpecArgument = Annotated[
    str, typer.Argument(help="A spec: a TOML file, or a DiskSim .parv file.", show_default=False)
]

ReportOption = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE.html", help="Write a page with charts, which opens offline."),
]

SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a value of the spec; may be repeated."),
]

DriveOption = Annotated[
    str | None,
    typer.Option("--drive", metavar="NAME", help="Simulate this drive instead of the spec's."),
]

TraceOption = Annotated[
    str | None,
    typer.Option("--trace", metavar="FILE", help="Replay this trace instead of the spec's workload."),
]

SeedOption = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", min=0, max=2**63 - 1, help="The seed, instead of the spec's: as --set seed=N."
    ),
]

QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing unless something is wrong; files are written."),
]

CheckOption = Annotated[
    bool,
    typer.Option("--check", help="Follow every block's versions; fail if a promise is broken."),
]


def with_seed(settings: list[str] | None, seed: int | None) -> list[str]:
    """The settings, and over them what `--seed` says."""
    return [*(settings or []), *([] if seed is None else [f"seed={seed}"])]
