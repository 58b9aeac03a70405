"""Is a replacement policy written in Python asked as the engine's own are, and is what it answers checked?"""

import random
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import SPEC, names
from diskwright import CacheAccess, CacheCost, CacheSetting, Replacement
from diskwright.sweep._job import CustomPolicies


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Popular blocks of 4 KiB and others, read and written."""
    path = tmp_path / "random.csv"
    chance = random.Random(7)
    rows = ["time_s,device,lbn,blocks,op"]
    for at in range(6_000):
        block = min(chance.randrange(400), chance.randrange(400))
        rows.append(f"{at},0,{block * 8},8,{'w' if chance.random() < 0.3 else 'r'}")
    path.write_text("\n".join(rows) + "\n")
    return path


class Fifo:
    """Duck-typed, and without what is not needed."""

    def __init__(self, setting: CacheSetting, weight: Any = 0) -> None:
        self.frames: OrderedDict[int, None] = OrderedDict()
        self.setting = setting

    def hit(self, frame: int, access: CacheAccess) -> None:
        assert frame in self.frames

    def evict(self, pinned: frozenset[int]) -> Any:
        assert len(self.frames) == self.setting.capacity and pinned == frozenset()
        frame = next(iter(self.frames))
        del self.frames[frame]
        return frame

    def insert(self, frame: int, access: CacheAccess) -> None:
        assert frame not in self.frames and 0 <= frame < self.setting.capacity
        self.frames[frame] = None

    def remove(self, frame: int) -> None:
        del self.frames[frame]


class Lru(Fifo):
    def hit(self, frame: int, access: CacheAccess) -> None:
        self.frames.move_to_end(frame)


# What has the methods but another base is as good to the engine, if not to a type checker.
MINE: dict[str, Any] = {"mine": Lru}


class Derived(Replacement):
    """As Fifo, of the class that is there for it."""

    def __init__(self, setting: CacheSetting) -> None:
        super().__init__(setting)
        self.inner = Fifo(setting)

    def hit(self, frame: int, access: CacheAccess) -> None:
        self.inner.hit(frame, access)

    def evict(self, pinned: frozenset[int]) -> int | None:
        assert self.setting.capacity == self.inner.setting.capacity
        return int(self.inner.evict(pinned))

    def insert(self, frame: int, access: CacheAccess) -> None:
        self.inner.insert(frame, access)

    def remove(self, frame: int) -> None:
        self.inner.remove(frame)


def measured(trace: Path, mine: Any, *beside: str, **options: Any) -> diskwright.Record:
    options = {"capacities": [10, 64, "25%"]} | options
    return diskwright.miss_ratio(trace, policies=["mine", *beside], replacements={"mine": mine}, **options)


def counts(found: diskwright.Record, policy: str) -> list[tuple[int, int, int]]:
    points = (point for point in found.points if point.policy == policy)
    return [(point.capacity, point.read_misses, point.write_misses) for point in points]


@pytest.mark.parametrize(("mine", "built_in"), [(Lru, "lru"), (Fifo, "fifo"), (Derived, "fifo")])
@pytest.mark.parametrize("options", [{}, {"threads": 1}, {"sample": 0.5, "sample_seeds": 3}])
def test_a_rule_in_python_misses_as_often_as_in_the_engine(
    trace: Path, mine: Any, built_in: str, options: dict[str, Any]
) -> None:
    # An offline policy beside it changes nothing.
    found = measured(trace, mine, built_in, "belady", **options)
    assert counts(found, "mine") == counts(found, built_in)
    assert all(reads > 0 and writes > 0 for _, reads, writes in counts(found, "mine"))
    assert counts(found, "mine") != counts(found, "belady")
    assert found.policies[0].effective.to_dict() == {"custom": "mine"}


def test_it_is_written_as_others_are(trace: Path) -> None:
    as_table = diskwright.miss_ratio(trace, policies=[{"custom": "mine"}], capacities=[64], replacements=MINE)
    assert as_table.points[0].misses == measured(trace, Lru, capacities=[64]).points[0].misses


def test_what_it_is_told_is_what_happens(trace: Path) -> None:
    told: list[tuple[str, int, bool]] = []

    class Listening(Fifo):
        def hit(self, frame: int, access: CacheAccess) -> None:
            super().hit(frame, access)
            told.append(("hit", access.key, access.write))

        def miss(self, access: CacheAccess) -> None:
            told.append(("miss", access.key, access.write))
            assert repr(access) == f"<{'write' if access.write else 'read'} of block {access.key}>"

        def insert(self, frame: int, access: CacheAccess) -> None:
            super().insert(frame, access)
            # It is the block of the last miss.
            assert told[-1] == ("miss", access.key, access.write)

    found = measured(trace, Listening, capacities=[64])
    rows = [row.split(",") for row in trace.read_text().splitlines()[1:]]
    assert [(key, write) for _, key, write in told] == [(int(row[2]) // 8, row[4] == "w") for row in rows]
    assert sum(what == "miss" for what, _, _ in told) == found.points[0].misses


def test_each_cache_has_one_of_its_own_made_from_a_class_or_by_a_function(trace: Path) -> None:
    made: list[tuple[int, int]] = []

    def make(setting: CacheSetting, weight: int = 0) -> Fifo:
        made.append((setting.capacity, setting.seed))
        assert repr(setting) == f"<a cache of {setting.capacity} frames>"
        return Lru(setting) if weight else Fifo(setting)

    first = measured(trace, make, capacities=[64, 10])
    assert [capacity for capacity, _ in made] == [64, 10]
    weighed = measured(trace, partial(make, weight=1), "lru", capacities=[64, 10])
    assert counts(weighed, "mine") == counts(weighed, "lru") != counts(first, "mine")
    # What is left to chance can be repeated, and depends on the run's seed.
    measured(trace, make, capacities=[64, 10], seed=2)
    seeds = [seed for _, seed in made]
    assert seeds[:2] == seeds[2:4] and set(seeds[4:]).isdisjoint(seeds[:4])


def answering(answer: Any, late: int = 100) -> type[Fifo]:
    """A policy that gives a wrong answer when a cache of four frames has been full for a while."""

    class Answering(Fifo):
        calls = 0

        def evict(self, pinned: frozenset[int]) -> Any:
            self.calls += 1
            frame = super().evict(pinned)
            return frame if self.calls < late else answer() if callable(answer) else answer

    return Answering


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "evict returned None, though 4 of 4 frames are not pinned"),
        (4, "evict returned 4, and no block is in such a frame"),
        (-1, "evict returned -1, and no block is in such a frame"),
        (2**32, "evict returned 4294967296, and no block is in such a frame"),
        (10**40, "evict returned 10+, and no block is in such a frame"),
        (True, "evict returned True: expected a frame that was inserted, .* an int"),
        ("1", "evict returned '1': expected"),
        (1.0, r"evict returned 1\.0: expected"),
        (object, "evict returned <object .*: expected"),
        (lambda: 1 // 0, "ZeroDivisionError"),
    ],
)
def test_nonsense_ends_the_work(trace: Path, answer: Any, words: str) -> None:
    with pytest.raises(diskwright.SimulationError, match=f'the replacement policy "mine" failed.*{words}'):
        measured(trace, answering(answer), capacities=[4])


METHODS: list[tuple[str, Callable[..., Any]]] = [
    ("hit", lambda self, frame, access: 1 // 0),
    ("miss", lambda self, access: 1 // 0),
    ("insert", lambda self, frame, access: 1 // 0),
    ("evict", lambda self, pinned: 1 // 0),
]


@pytest.mark.parametrize(("method", "body"), METHODS)
def test_an_exception_is_the_cause_of_the_error(trace: Path, method: str, body: Callable[..., Any]) -> None:
    broken = type("Broken", (Fifo,), {method: body})
    words = f'the replacement policy "mine" failed in {method}: ZeroDivisionError'
    with pytest.raises(diskwright.SimulationError, match=words) as caught:
        measured(trace, broken)
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError) and cause.__traceback__ is not None


def test_after_a_failure_nothing_is_asked(trace: Path) -> None:
    calls = 0

    class Broken(Fifo):
        def evict(self, pinned: frozenset[int]) -> Any:
            nonlocal calls
            calls += 1
            raise ValueError("once")

    with pytest.raises(diskwright.SimulationError, match="once"):
        measured(trace, Broken, capacities=[2])
    assert calls == 1


def test_one_that_cannot_be_made_ends_the_work(trace: Path) -> None:
    def make(setting: CacheSetting) -> Any:
        raise RuntimeError("not today")

    with pytest.raises(
        diskwright.SimulationError, match=r'policy "mine" cannot be made: .*not today'
    ) as caught:
        measured(trace, make)
    assert isinstance(caught.value.__cause__, RuntimeError)
    with pytest.raises(diskwright.SimulationError, match=r"<object .*> has no method hit"):
        measured(trace, lambda setting: object())


def test_an_interruption_stays_one(trace: Path) -> None:
    class Interrupted(Fifo):
        def hit(self, frame: int, access: CacheAccess) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measured(trace, Interrupted)


def lacking(method: str) -> type:
    methods = dict.fromkeys({"hit", "evict", "insert", "remove"} - {method}, lambda *_: None)
    return type("Lacking", (), methods)


@pytest.mark.parametrize(
    "wrong",
    [object(), Fifo, "lru", Replacement, *map(lacking, ("hit", "evict", "insert", "remove"))],
    ids=["an object", "a class", "a name", "the base", "no hit", "no evict", "no insert", "no remove"],
)
def test_what_cannot_be_plugged_in_is_told(trace: Path, tmp_path: Path, wrong: Any) -> None:
    # Each cache needs one of its own: an object will not do.
    if wrong is Fifo:
        wrong = object.__new__(Fifo)
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    for call in (partial(diskwright.run, spec), partial(diskwright.sweep, spec)):
        with pytest.raises(
            TypeError, match="replacements: mine: expected a class with the methods hit, evict"
        ):
            call(replacements={"mine": wrong})
    with pytest.raises(TypeError, match="replacements: mine"):
        measured(trace, wrong)
    assert names(tmp_path) == ["random.csv", "spec.toml"]


def test_names_are_the_registrys_or_the_programs(trace: Path, tmp_path: Path) -> None:
    with pytest.raises(diskwright.InputError, match='did you mean "mine"'):
        diskwright.miss_ratio(trace, policies=["mne"], replacements=MINE)
    with pytest.raises(diskwright.InputError, match="the program that runs the spec has not added it"):
        diskwright.miss_ratio(trace, policies=[{"custom": "mine"}])
    for taken in ("lru", "min", "custom", ""):
        with pytest.raises(diskwright.InputError, match="cannot be called"):
            diskwright.miss_ratio(trace, replacements={taken: MINE["mine"]})
    with pytest.raises(diskwright.InputError, match='cannot be called "arc"'):
        (tmp_path / "spec.toml").write_text(SPEC)
        diskwright.run(tmp_path / "spec.toml", replacements={"arc": MINE["mine"]})


def test_the_base_class_does_nothing_of_itself() -> None:
    made = Derived.__new__(Derived)
    Replacement.miss(made, None)  # type: ignore[arg-type]
    Replacement.paid(made, 0, None)  # type: ignore[arg-type]
    assert not vars(made)


def weighted(weight: Any) -> Callable[[CacheSetting], Fifo]:
    return lambda setting: Fifo(setting) if weight else Lru(setting)


class Factory:
    def __init__(self, weight: Any) -> None:
        self.weight = weight

    def __call__(self, setting: CacheSetting) -> Fifo:
        return Fifo(setting)


def sources() -> Iterator[Any]:
    yield Lru
    yield Fifo
    yield partial(Lru)
    yield partial(Lru, weight=1)
    yield partial(Lru, weight=2)
    yield weighted(1)
    yield weighted(2)
    yield weighted(Lru)
    yield Factory(1)
    yield Factory(2)
    yield Factory(1).__call__


def test_the_key_of_a_point_knows_what_a_policy_does() -> None:
    def hashes() -> list[str]:
        return [CustomPolicies.of({}, {"mine": make}).replacement_sources["mine"] for make in sources()]

    assert hashes() == hashes()
    assert len(set(hashes())) == len(hashes())
    for unknown in (weighted(object()), Factory(object()), partial(Lru, weight={1, 2})):
        with pytest.raises(
            diskwright.InputError, match=r"replacements: mine: .* cannot be determined from its source"
        ):
            CustomPolicies.of({}, {"mine": unknown})


class Paid:
    """As LRU, but it passes over what is pinned, and notes what accesses to the medium took."""

    costs: list[tuple[int, int]]
    pinned_most = 0

    def __init__(self, setting: CacheSetting) -> None:
        self.frames: OrderedDict[int, None] = OrderedDict()
        type(self).costs = []
        type(self).pinned_most = 0

    def hit(self, frame: int, access: CacheAccess) -> None:
        self.frames.move_to_end(frame)

    def evict(self, pinned: frozenset[int]) -> int | None:
        type(self).pinned_most = max(type(self).pinned_most, len(pinned))
        frame = next((frame for frame in self.frames if frame not in pinned), None)
        if frame is not None:
            del self.frames[frame]
        return frame

    def insert(self, frame: int, access: CacheAccess) -> None:
        self.frames[frame] = None

    def paid(self, frame: int, cost: CacheCost) -> None:
        assert frame in self.frames
        self.costs.append((cost.access_ns, cost.blocks))

    def remove(self, frame: int) -> None:
        del self.frames[frame]


def cached(policy: Any, trace: Path, **replacements: Any) -> diskwright.Result:
    spec = {
        "workload": {"trace": str(trace), "pace": "closed"},
        "host": {"outstanding": 24},
        "device": {
            "hdd": {
                "drive": "ibm-18es",
                "cache": {"size": "128 KiB", "policy": policy, "write_policy": "write-back"},
            }
        },
    }
    return diskwright.run(spec, check=True, **replacements)


def test_in_a_drives_cache_it_decides_as_the_engines_own_and_hears_what_accesses_took(trace: Path) -> None:
    own = cached("lru", trace)
    mine = cached("mine", trace, replacements={"mine": Paid})
    assert mine.digest == own.digest
    assert mine.devices["hdd.cache"] == own.devices["hdd.cache"]
    assert mine.digest != cached("fifo", trace).digest
    assert Paid.pinned_most > 1
    # Reads were paid for; a write that the cache took was not.
    reads = own.devices["hdd.cache"]["reads"] - own.devices["hdd.cache"]["read_hits"]
    assert len(Paid.costs) == reads
    assert all(0 < access_ns < 40e6 and blocks == 1 for access_ns, blocks in Paid.costs)


def test_in_a_drives_cache_a_frame_that_is_pinned_may_not_leave(trace: Path) -> None:
    class Careless(Paid):
        def evict(self, pinned: frozenset[int]) -> int | None:
            frame = next(iter(pinned or self.frames))
            del self.frames[frame]
            return frame

    with pytest.raises(diskwright.SimulationError, match="pinned"):
        cached("mine", trace, replacements={"mine": Careless})
