"""Runs the points that are not there yet, and keeps each when it ends."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diskwright import _engine
from diskwright.sweep._job import CustomPolicies, Job, Point
from diskwright.sweep._store import Store

Progress = Callable[[int, int, int, int | None], object]
"""Hears of the points done, of all points, of the requests done in this process, and of all requests."""


@dataclass(frozen=True, slots=True)
class Task:
    """A point to run. name: what errors call it."""

    point: Point
    job: Job
    name: str


@dataclass(frozen=True, slots=True)
class Done:
    """The results by key, and what it took. damaged: files of the store that were not believed."""

    results: Mapping[str, Mapping[str, Any]]
    ran: int
    reused: int
    damaged: Sequence[str]


def run(
    tasks: Sequence[Task],
    store: Store,
    *,
    custom: CustomPolicies | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Done:
    """The results of all tasks; those that the store has are not run again.

    cluster: the address of a scheduler of Dask's, or "local", for processes on this machine.

    The first task that fails raises its error; what has ended is in the store.
    """
    by_key = {task.point.key: task for task in tasks}
    before = len(store.damaged)
    results = {key: found for key in by_key if (found := store.get(key)) is not None}
    missing = [task for key, task in by_key.items() if key not in results]
    reused = len(results)

    def finished(place: int, result: Mapping[str, Any]) -> None:
        point = missing[place].point
        # What is known before the run is said of where the files lie now: it is not kept.
        kept = {**result, "warnings": result["warnings"][len(point.warnings) :]}
        store.put(point.key, kept)
        results[point.key] = kept

    def told(requests: int, of: int | None) -> None:
        if progress is not None:
            progress(len(results), len(by_key), requests, of)

    told(0, None)
    if missing:
        along = custom or CustomPolicies()
        if cluster is None:
            _locally(missing, along, threads, finished, told)
        else:
            from diskwright.sweep import _cluster

            _cluster.run(cluster, missing, along, threads, finished, told)
    told(0, None)
    damaged = store.damaged[before:]
    ordered = {key: _of_now(results[key], task.point) for key, task in by_key.items()}
    return Done(ordered, len(missing), reused, damaged)


def _locally(
    tasks: Sequence[Task],
    custom: CustomPolicies,
    threads: int | None,
    finished: Callable[[int, Mapping[str, Any]], None],
    told: Callable[[int, int | None], None],
) -> None:
    _engine.run_each(
        [task.job for task in tasks],
        [task.name for task in tasks],
        threads,
        custom,
        lambda place, text: finished(place, json.loads(text)),
        told,
    )


def _of_now(result: Mapping[str, Any], point: Point) -> dict[str, Any]:
    """The paths in it are those of now: the point may have run where its files lay elsewhere."""
    return {**result, "spec": point.spec, "warnings": [*point.warnings, *result["warnings"]]}


def tasks(job: Job, seeds: Sequence[int], name: str, custom: CustomPolicies | None = None) -> Iterator[Task]:
    """A task for each seed."""
    from diskwright.sweep._job import points

    for seed, point in zip(seeds, points(job, seeds, custom), strict=True):
        yield Task(point, job.with_seed(seed), f"{name} with seed {seed}" if name else f"seed {seed}")
