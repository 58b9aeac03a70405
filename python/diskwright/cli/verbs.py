"""The verbs of the command. A verb's file is imported when the verb is asked for."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any, NamedTuple

import typer


class Verb(NamedTuple):
    """What the list of verbs says of one, which is the first paragraph of its help, and where it is."""

    summary: str
    needs_arguments: bool = True
    # The function, and the file that it is in where that has another name.
    function: str = ""
    file: str = ""


_VERBS = {
    "run": Verb("Simulate a spec and print what came out."),
    "compare": Verb(
        "Run the same workload with varied keys; print what they change, with confidence intervals."
    ),
    "sweep": Verb(
        "Run all combinations of what a spec's [sweep] varies; go on where an earlier try was stopped."
    ),
    "serve": Verb("Export a spec's device as a network block device."),
    "serve-ctl": Verb(
        "Let something go wrong in a device that is being served.", function="control", file="serve"
    ),
    "reproduce": Verb("Run what a paper's figures and statements need, and say which of them hold."),
    "inspect": Verb("Tell what a trace is: counts, sizes, mix, sequentiality, working set, arrivals."),
    "miss-ratio": Verb("Tell how often caches of many sizes and policies miss on a trace."),
    "probe": Verb(
        "Measure what a drive does: seek curve, access times, zones, random reads, caches; of an SSD "
        "latencies, bandwidth, mixed loads, the fall to its steady state, reads behind writes."
    ),
    "validate": Verb(
        "Replay a recording on a drive and tell how far the service times are from the recorded ones."
    ),
    "extract": Verb("Measure a drive by asking it: rotation, zones, skews, seeks, overheads, memory."),
    "fit": Verb("Estimate a drive's parameters from a recording of its service times."),
    "convert": Verb("Write a trace in another format, and tell what that format could not hold."),
    "import-disksim": Verb("Make a drive from DiskSim's parameter files, and tell what is done otherwise."),
    "drives": Verb("List the drives that come with diskwright, or show one.", needs_arguments=False),
    "formats": Verb("List the formats in which traces are read and written.", needs_arguments=False),
    "schema": Verb("Print the JSON schema of specs, or of drives, for editors.", needs_arguments=False),
}


def summaries() -> list[tuple[str, str]]:
    """The names of all verbs, and what the list of verbs says of each."""
    return [(name, verb.summary) for name, verb in _VERBS.items()]


class Commands(MutableMapping[str, Any]):
    """The commands of all verbs by their names, each made when it is asked for."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            verb = _VERBS[name]
            function = verb.function or name.replace("-", "_")
            file = import_module(f"diskwright.cli.{verb.file or function}")
            alone = typer.Typer(add_completion=False, rich_markup_mode=None)
            add = alone.command(name, no_args_is_help=verb.needs_arguments, short_help=verb.summary)
            add(getattr(file, function))
            self._made[name] = typer.main.get_command(alone)
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in _VERBS

    def __iter__(self) -> Iterator[str]:
        return iter(_VERBS)

    def __len__(self) -> int:
        return len(_VERBS)
