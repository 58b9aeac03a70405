"""`diskwright.sweep`."""

import json
from collections.abc import Mapping, Sequence
from os import PathLike, fsdecode
from typing import Any

from diskwright import _compared, _engine, _replacement, _toml
from diskwright._api import (
    AnyPath,
    AnySpec,
    Scheduler,
    _choices,
    _names,
    _plain_value,
    _ready,
    _settings,
    _source,
)
from diskwright._arguments import suggesting
from diskwright._engine import InputError
from diskwright.sweep import _runner
from diskwright.sweep._job import CustomPolicies, Job
from diskwright.sweep._store import Store
from diskwright.sweep._swept import Swept


@suggesting
def sweep(
    spec: AnySpec,
    /,
    vary: Mapping[str, Sequence[Any]] | None = None,
    *,
    seeds: int | None = None,
    metrics: Sequence[str] = (),
    set: Mapping[str, Any] | None = None,
    drive: str | None = None,
    trace: AnyPath | None = None,
    check: bool = False,
    store: str | PathLike[str] | Store | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    schedulers: Mapping[str, Scheduler | type[Scheduler]] | None = None,
    replacements: _replacement.Replacements | None = None,
    progress: _runner.Progress | None = None,
) -> Swept:
    """Runs a grid: all combinations of the values of some keys, each with several seeds.

    spec, set, drive, trace, check, schedulers, replacements: as for `run`. What the spec's table `[sweep]`
        says is done.
    vary: more keys with their values, or other values for those of the spec.
    seeds: runs of each point, with seeds from the spec's on; what the spec says, or 5. The seeds of a
        recorded trace vary where the platters stand at the start.
    metrics: the numbers of the results that the table of the command and columns of their own show, by their
        keys with dots between them, such as "by_op.read.response_ms.p99"; what the spec says where there are
        none.
    store: a folder in which each finished point is kept; points that are there are not run again.
    threads: runs at a time; one per core by default.
    cluster: the address of a scheduler of Dask's, or "local", for processes on this machine. Neither changes
        the results.
    progress: called with the points done and their number, and with the requests done in this process and
        their number, None where it is not known. An exception that it raises stops the sweep.

    The first point that fails, in the order of the grid, raises its error; what has finished is in the store.
    """
    path, text = _source(spec)
    lists = {
        key: [_toml.value(_plain_value(value), key) for value in _choices(key, of)]
        for key, of in (vary or {}).items()
    }
    job = Job(
        path,
        text,
        set=_settings(set),
        drive=drive,
        trace=trace,
        check=check,
        vary=[f"{key}={','.join(written)}" for key, written in lists.items()],
    )
    ready = {name: _ready(scheduler, name) for name, scheduler in (schedulers or {}).items()}
    custom = CustomPolicies.of(ready, dict(_replacement.ready(replacements)))
    kept = store if isinstance(store, Store) else Store(None if store is None else fsdecode(store))
    return of_job(job, seeds, _names(metrics, "metrics"), kept, custom, threads, cluster, progress)


def of_job(
    job: Job,
    seeds: int | None,
    metrics: list[str],
    store: Store,
    custom: CustomPolicies,
    threads: int | None,
    cluster: str | None,
    progress: _runner.Progress | None,
) -> Swept:
    """`sweep` for the command line: what the job says is as the user typed it."""
    if seeds is not None and not 1 <= seeds < 2**32:
        raise InputError(f"error: {seeds} seeds: expected 1 or more")
    grid = json.loads(_engine.sweep(job, seeds, metrics, custom))
    rows, tasks = [], []
    for point in grid["points"]:
        chosen = Job(
            job.path,
            job.text,
            job.base,
            job.set,
            job.drive,
            job.trace,
            job.check,
            job.vary,
            point["choice"],
        )
        named = ", ".join(f"{key}={_compared.value(item)}" for key, item in point["values"].items())
        for seed, task in zip(
            grid["seeds"], _runner.tasks(chosen, grid["seeds"], named, custom), strict=True
        ):
            rows.append((point["values"], seed, task.point.key))
            tasks.append(task)
    done = _runner.run(tasks, store, custom=custom, threads=threads, cluster=cluster, progress=progress)
    return Swept.of(grid["varied"], grid["seeds"], grid["metrics"], rows, done)
