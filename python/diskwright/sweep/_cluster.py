"""Points on a cluster of Dask's: each goes there with all that it needs but the traces."""

import copy
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskwright import _engine, _toml
from diskwright._engine import InputError, SimulationError
from diskwright.sweep._job import CustomPolicies, Job, Point, points

if TYPE_CHECKING:
    from diskwright.sweep._runner import Task

# Points under way for each thread of the cluster: the next is there when one ends, and no more are held.
_AHEAD = 4
# Until an address is given up.
_PATIENCE_S = 15


@dataclass(frozen=True)
class Parcel:
    """A point on its way.

    point: with the whole spec: the drives' descriptions in it, and the trace by its path.
    """

    point: Point
    check: bool
    name: str
    custom: CustomPolicies
    build: tuple[str, str, str]


def build() -> tuple[str, str, str]:
    """Version, commit and sources of the engine that is here."""
    version, commit, _ = _engine.version()
    return version, commit, _engine.sources()


def run(
    cluster: str,
    tasks: "Sequence[Task]",
    custom: CustomPolicies,
    threads: int | None,
    finished: Callable[[int, Mapping[str, Any]], None],
    told: Callable[[int, int | None], None],
) -> None:
    """Runs tasks on a cluster; `finished` hears of each result, with the place of its task."""
    with _connected(cluster, threads) as (dask, client):
        waiting = iter(enumerate(tasks))
        places: dict[Any, int] = {}

        def sent() -> Iterator[Any]:
            for place, task in waiting:
                (point,) = points(task.job, [], custom, whole=True)
                parcel = Parcel(point, task.job.check, task.name, custom, build())
                future = client.submit(_attempt, parcel, pure=False)
                places[future] = place
                yield future

        sending = sent()
        threads_there = sum(client.nthreads().values())
        done = dask.as_completed(islice(sending, _AHEAD * max(threads_there, 1)))
        try:
            for future in done:
                answer = future.result()
                if isinstance(answer, Exception):
                    raise answer
                finished(places.pop(future), json.loads(answer))
                told(0, None)
                if (following := next(sending, None)) is not None:
                    done.add(following)
        finally:
            client.cancel(list(places))


@contextmanager
def _connected(cluster: str, threads: int | None) -> Iterator[tuple[Any, Any]]:
    """The library, which has no types that say much, and a client of the cluster."""
    try:
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError as error:
        message = "error: --cluster needs Dask, which is not installed"
        raise InputError(f"{message}\n  = help: pip install 'diskwright[cluster]'") from error
    if cluster == "local":
        with (
            # A process for each core: a run is one thread.
            distributed.LocalCluster(
                n_workers=threads, threads_per_worker=1, dashboard_address=None, silence_logs="ERROR"
            ) as workers,
            distributed.Client(workers) as client,
        ):
            yield distributed, client
        return
    try:
        client = distributed.Client(cluster, timeout=_PATIENCE_S)
    except (OSError, ValueError) as error:
        message = f"error: no scheduler of Dask's answers at {cluster}: {error}"
        raise InputError(f"{message}\n  = help: for example --cluster tcp://HOST:8786, or local") from error
    with client:
        yield distributed, client


def _attempt(parcel: Parcel) -> str | Exception:
    """What `work` returns, or raises: workers would print a traceback of an error that is raised."""
    try:
        return work(parcel)
    except (InputError, SimulationError) as error:
        return error


def work(parcel: Parcel) -> str:
    """Runs a point on a worker; returns as JSON the result that the sending machine would have got."""
    point = parcel.point
    if (here := build()) != parcel.build:
        raise InputError(
            f"error: the worker {_here()} runs another build of the engine: {_build_text(here)}, "
            f"not {_build_text(parcel.build)}\n"
            "  = help: install the same build of diskwright on all machines"
        )
    for trace in point.traces:
        _check(trace)
    with tempfile.TemporaryDirectory(prefix="diskwright-") as folder:
        spec = copy.deepcopy(dict(point.whole or {}))
        _unpack(spec, Path(folder), "drive")
        job = Job(None, _toml.document(spec), folder, check=parcel.check, notes=point.notes)
        (there,) = points(job, [], parcel.custom)
        if there.key != point.key:
            raise SimulationError(
                f"the worker {_here()} reads {parcel.name} differently from the machine that sent it"
            )
        texts: list[str] = []
        _engine.run_each([job], [parcel.name], 1, parcel.custom, lambda _, text: texts.append(text), None)
    result = json.loads(texts[0])
    # Warnings about the drives' own files do not apply to the copies here.
    result["warnings"] = [*point.warnings, *result["warnings"][len(there.warnings) :]]
    result["spec"] = point.spec
    return json.dumps(result)


def _check(trace: Mapping[str, Any]) -> None:
    path = trace["path"]
    try:
        found = _engine.digest_of(path)
    except InputError as error:
        raise InputError(
            f"error: the worker {_here()} cannot read a trace: {str(error).removeprefix('error: ')}\n"
            "  = help: traces are not sent: put the file into a folder that all machines share"
        ) from None
    if found != (trace["bytes"], trace["digest"]):
        raise InputError(
            f"error: on the worker {_here()}, {path} is a different file: {found[0]} bytes, xxh3 {found[1]}, "
            f"not {trace['bytes']} bytes, xxh3 {trace['digest']}\n"
            "  = help: copy the trace there, or share its folder"
        )


def _unpack(item: Any, folder: Path, name: str) -> None:
    """Writes the drives' descriptions to files, and names these in their place."""
    inner = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
    for _, value in list(inner):
        # Of whatever kind: the sender puts a description where a device of a spec names its drive.
        if isinstance(value, dict) and isinstance(value.get("drive"), dict):
            path = folder / f"{name}-{len(list(folder.iterdir()))}.toml"
            path.write_text(_toml.document(value["drive"]), encoding="utf-8")
            value["drive"] = path.name
        _unpack(value, folder, name)


def _here() -> str:
    import socket

    return socket.gethostname()


def _build_text(build: tuple[str, str, str]) -> str:
    version, commit, sources = build
    return f"{version} ({commit}, sources {sources[:12]})"
