"""Executes a system: collects its work, does each piece once, measures, and judges."""

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from diskwright._engine import InputError
from diskwright.reproduce import _data
from diskwright.reproduce._claims import LEAST_SEEDS
from diskwright.reproduce._inputs import FileCache, Setting
from diskwright.reproduce._reproduced import Measured, Reproduced, measured
from diskwright.reproduce._system import Figure, Point, Statement, System, Works, works
from diskwright.reproduce._work import Run, Work
from diskwright.sweep import _runner
from diskwright.sweep._job import Job, points
from diskwright.sweep._job import Point as RunPoint
from diskwright.sweep._store import Store

# The version of the object's form. Keys never change their meaning.
_SCHEMA = 1


@dataclass
class _Plan:
    """All work of a system, each piece once."""

    setting: Setting
    seeds: Sequence[int]
    tasks: dict[str, _runner.Task] = field(default_factory=dict)
    others: dict[str, tuple[Work, int | None]] = field(default_factory=dict)
    # By the keys of each piece (one for each seed, or one alone): the piece, and what needs it.
    pieces: dict[tuple[str, ...], tuple[Work, list[str]]] = field(default_factory=dict)
    _keys: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _points: dict[Job, list[RunPoint]] = field(default_factory=dict)

    def add(self, work: Work, user: str) -> tuple[str, ...]:
        """Adds a piece of work, and returns its keys."""
        keys = self._keys.get(id(work))
        if keys is None:
            keys = self._keys[id(work)] = (
                self._of_run(work, user) if isinstance(work, Run) else self._of(work)
            )
        users = self.pieces.setdefault(keys, (work, []))[1]
        if user not in users:
            users.append(user)
        return keys

    def _of_run(self, work: Run, user: str) -> tuple[str, ...]:
        keys = []
        for job, seeds in work.jobs(self.setting, self.seeds):
            if job not in self._points:
                try:
                    self._points[job] = points(job, seeds)
                except InputError as error:
                    raise InputError(f"{error}\n  = help: this is a run of {user}") from error
            for seed, point in zip(seeds, self._points[job], strict=True):
                task = _runner.Task(point, job.with_seed(seed), f"{user} with seed {seed}")
                self.tasks.setdefault(point.key, task)
                keys.append(point.key)
        return tuple(keys)

    def _of(self, work: Work) -> tuple[str, ...]:
        seeds: Sequence[int | None] = self.seeds if work.is_seeded else [None]
        keys = [work.key(self.setting, seed) for seed in seeds]
        self.others |= {key: (work, seed) for key, seed in zip(keys, seeds, strict=True)}
        return tuple(keys)


def reproduce(
    system: System,
    /,
    *,
    data: str | PathLike[str] | None = None,
    seeds: int = LEAST_SEEDS,
    quick: bool = False,
    store: str | PathLike[str] | Store | None = None,
    threads: int | None = None,
    cluster: str | None = None,
    progress: _runner.Progress | None = None,
) -> Reproduced:
    """Runs what a system's figures and statements need, measures, and judges.

    data: a folder in which recorded traces are searched by what they hold; DISKWRIGHT_DATA unless given.
    seeds: runs of everything that varies, 5 or more; 1 is the first of them.
    quick: with the fewer requests that the system has for a quick try.
    store, threads, cluster, progress: as for `diskwright.sweep`.
    """
    if seeds < LEAST_SEEDS:
        raise InputError(
            f"error: {seeds} seeds: expected {LEAST_SEEDS} or more, for the intervals that verdicts need"
        )
    folder = _data.folder(data)
    recorded = _data.found(system.traces, folder)
    kept = store if isinstance(store, Store) else Store(store)
    files = FileCache(None if kept.folder is None else kept.folder / "made")
    plan = _Plan(Setting(recorded, system.quick if quick else None, files), range(1, seeds + 1))
    reasons: dict[str, str] = {}
    shown: dict[str, list[tuple[Point, dict[str, tuple[str, ...]]]]] = {}
    needed: dict[str, dict[str, tuple[str, ...]]] = {}
    for figure in system.figures:
        there = [point for point in figure.points if not _missing(point, recorded, folder)]
        lost = next((why for point in figure.points if (why := _missing(point, recorded, folder))), "")
        if lost:
            reasons[figure.id] = lost
        if there and (figure.partial or not lost):
            shown[figure.id] = [(point, _added(plan, point.work, figure.id)) for point in there]
    for statement in system.statements:
        if lost := _missing(statement, recorded, folder):
            reasons[statement.id] = lost
        else:
            needed[statement.id] = _added(plan, statement.work, statement.id)
    results, done = _done(plan, kept, threads, cluster, progress)
    rows: list[dict[str, Any]] = []
    figures = [
        _figure(figure, shown.get(figure.id, []), reasons.get(figure.id, ""), results, plan.seeds, rows)
        for figure in system.figures
    ]
    statements = [
        _statement(statement, needed.get(statement.id), reasons.get(statement.id, ""), results)
        for statement in system.statements
    ]
    found = {
        "schema": _SCHEMA,
        "system": system.name,
        "title": system.title,
        "paper": system.paper,
        "quick": quick,
        "seeds": list(plan.seeds),
        "figures": figures,
        "statements": statements,
        "traces": [_trace(trace.name, recorded.get(trace.name)) for trace in system.traces],
        "work": [
            _piece(work, keys, users, results, plan.setting) for keys, (work, users) in plan.pieces.items()
        ],
        "ran": done.ran,
        "reused": done.reused,
    }
    damaged = [f"{name} in the store was damaged: it has been done again" for name in done.damaged]
    return Reproduced(found, system, rows, [*damaged, *_warnings(results[key] for key in plan.tasks)])


def _missing(part: Point | Statement, files: Mapping[str, Path], folder: Path | None) -> str:
    wanted = list(dict.fromkeys(trace for work in works(part) for trace in work.traces()))
    return _data.missing(wanted, dict(files), folder)


def _added(plan: _Plan, work: Works, user: str) -> dict[str, tuple[str, ...]]:
    """The keys of the pieces by their names; one piece alone has none."""
    named = {"": work} if isinstance(work, Work) else work
    return {name: plan.add(piece, user) for name, piece in named.items()}


def _done(
    plan: _Plan,
    store: Store,
    threads: int | None,
    cluster: str | None,
    progress: _runner.Progress | None,
) -> tuple[dict[str, Mapping[str, Any]], _runner.Done]:
    """All results by key."""
    before = len(store.damaged)
    known = {
        key: found
        for key, (work, _) in plan.others.items()
        if (found := store.get(key, work.kind)) is not None
    }
    whole = len(plan.tasks) + len(plan.others)
    begun: dict[Future[dict[str, Any]], str] = {}

    def report(done: int, _: int, requests: int, of: int | None) -> None:
        # The failure of one ends the others.
        others = sum(future.result() is not None for future in begun if future.done())
        if progress is not None:
            progress(len(known) + others + done, whole, requests, of)

    # Runs have threads of their own; other work goes on beside them.
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        try:
            for key, (work, seed) in plan.others.items():
                if key not in known:
                    begun[pool.submit(_one, work, plan.setting, seed, key, store)] = key
            tasks = list(plan.tasks.values())
            done = _runner.run(tasks, store, threads=threads, cluster=cluster, progress=report)
            for _ in as_completed(begun):
                report(len(tasks), len(tasks), 0, None)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    results = {**known, **{key: future.result() for future, key in begun.items()}, **done.results}
    ran = done.ran + len(begun)
    return results, _runner.Done(results, ran, whole - ran, store.damaged[before:])


def _one(work: Work, setting: Setting, seed: int | None, key: str, store: Store) -> dict[str, Any]:
    """Does a piece that is not a run, and stores its result."""
    # In the form in which it will be read back.
    found: dict[str, Any] = json.loads(json.dumps(dict(work.result(setting, seed))))
    store.put(key, found, work.kind)
    return found


def _by_seed(
    keys: Mapping[str, tuple[str, ...]], results: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Mapping[str, Any]]]:
    """The results by name, for each seed; one without seeds is the same for all."""
    count = max(map(len, keys.values()))
    return [
        {name: results[of[place] if len(of) > 1 else of[0]] for name, of in keys.items()}
        for place in range(count)
    ]


def _figure(
    figure: Figure,
    shown: Sequence[tuple[Point, dict[str, tuple[str, ...]]]],
    lost: str,
    results: Mapping[str, Mapping[str, Any]],
    seeds: Sequence[int],
    rows: list[dict[str, Any]],
) -> dict[str, Any]:
    found = []
    for point, keys in shown:
        of_seeds = _by_seed(keys, results)
        values = {
            name: measured(measure, point.work, of_seeds, f"{name} of {figure.id}")
            for name, measure in figure.measure.items()
        }
        entry: dict[str, Any] = dict(point.coordinates)
        for name, value in values.items():
            # What has no value at a point is left out of it.
            if value.mean is not None:
                entry[name] = value.mean
            if value.ci95 is not None:
                entry[f"{name}_ci95"] = list(value.ci95)
        found.append(entry)
        for place in range(len(of_seeds)):
            seed = None if len(of_seeds) == 1 else seeds[place]
            of_one = {name: value.values[place] for name, value in values.items()}
            rows.append({"figure": figure.id, **point.coordinates, "seed": seed, **of_one})
    result: dict[str, Any] = {"id": figure.id, "title": figure.title, "points": found}
    if lost:
        result["incomplete" if found else "skipped"] = lost
    return result


def _statement(
    statement: Statement,
    keys: dict[str, tuple[str, ...]] | None,
    lost: str,
    results: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    value = Measured([], False)
    if keys is not None:
        value = measured(statement.measure, statement.work, _by_seed(keys, results), statement.id)
        if value.ci95 is None:
            lost = "it has no value with one of the seeds"
    result = {
        "id": statement.id,
        "text": statement.text,
        "paper": statement.paper.in_results(),
        "measured": {
            "value": value.mean,
            "ci95": None if value.ci95 is None else list(value.ci95),
            "n": len(value.values),
        },
        "verdict": "not run" if value.ci95 is None else statement.paper.verdict(value.ci95),
    }
    return result | ({"reason": lost} if lost else {})


def _trace(name: str, file: Path | None) -> dict[str, Any]:
    return {"name": name, "found": None if file is None else str(file)}


def _piece(
    work: Work,
    keys: tuple[str, ...],
    users: Sequence[str],
    results: Mapping[str, Mapping[str, Any]],
    setting: Setting,
) -> dict[str, Any]:
    entry: dict[str, Any] = {"kind": work.kind, "used_by": list(users), "keys": list(keys)}
    if isinstance(work, Run):
        return entry | {"spec": results[keys[0]]["spec"]}
    return entry | {"what": work.described()}


def _warnings(results: Any) -> list[str]:
    """The warnings of runs, each once, with the number of runs that have it."""
    from diskwright import _engine

    runs = list(results)
    return [
        text if count == len(runs) else f"{count:,} of {len(runs):,} runs: {text}"
        for text, count in _engine.merged([text for run in runs for text in run["warnings"]], False)
    ]
