"""Is a scheduler written in Python asked as the engine's own are, and are its errors told?"""

from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import SPEC, names
from diskwright.spec import Custom, Spec

# A queue that is never short of requests to choose from.
BUSY = SPEC.replace('{ poisson = "20 ms" }', "{ closed = { users = 12 } }").replace("2_000", "1_500")


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "busy.toml"
    path.write_text(BUSY)
    return path


class Fcfs:
    def pick(self, view: diskwright.SchedulerView) -> int:
        return 0


class Satf:
    def pick(self, view: diskwright.SchedulerView) -> int:
        return min(range(len(view)), key=view.positioning_ns)


class Sstf:
    def pick(self, view: diskwright.SchedulerView) -> int:
        def distance(index: int) -> int:
            request = view[index]
            assert request.cylinder is not None and view.cylinder is not None
            return abs(request.cylinder - view.cylinder)

        return min(range(len(view)), key=distance)


class Newest:
    """Starves whoever came first, for as long as others come."""

    def pick(self, view: diskwright.SchedulerView) -> int:
        return len(view) - 1


def run(spec: Any, scheduler: Any, **options: Any) -> diskwright.Result:
    return diskwright.run(
        spec, device__hdd__queue__scheduler="mine", schedulers={"mine": scheduler}, **options
    )


@pytest.mark.parametrize(("mine", "built_in"), [(Fcfs, "fcfs"), (Satf, "satf"), (Sstf, "sstf")])
def test_a_rule_in_python_is_the_rule_in_the_engine(spec: Path, mine: Any, built_in: str) -> None:
    expected = diskwright.run(spec, device__hdd__queue__scheduler=built_in, check=True)
    for scheduler in (mine, mine()):
        found = run(spec, scheduler, check=True)
        assert found.digest == expected.digest
        assert found.spec.device.hdd.queue.scheduler.to_dict() == {"custom": "mine"}
    assert expected.response_ms.mean > 0


def test_the_rules_differ_and_a_bad_one_starves(spec: Path) -> None:
    # The first eleven are starved.
    fair, newest = (run(spec, rule, measure__warmup=0) for rule in (Fcfs, Newest))
    assert fair.digest != newest.digest
    assert newest.response_ms.max > 10 * fair.response_ms.max
    assert newest.response_ms.p50 < fair.response_ms.p50


def test_a_typed_spec_names_it_too(spec: Path) -> None:
    typed = Spec.load(spec).replace(device__hdd__queue__scheduler=Custom("mine"))
    assert diskwright.run(typed, schedulers={"mine": Satf}).digest == run(spec, Satf).digest


def test_the_view_shows_what_there_is(spec: Path) -> None:
    seen: list[int] = []
    kept: list[diskwright.SchedulerView] = []

    class Curious:
        def pick(self, view: diskwright.SchedulerView) -> int:
            requests = list(view)  # type: ignore[call-overload]
            assert len(requests) == len(view) >= 1
            assert view.cylinders and view.cylinder is not None and 0 <= view.cylinder < view.cylinders
            assert view.blocks and view.head is not None and 0 <= view.last_lbn <= view.blocks
            entered = [request.entered_ns for request in requests]
            assert entered == sorted(entered) and entered[-1] <= view.now_ns
            for index, request in enumerate(requests):
                assert request.op in ("read", "write") and not request.fua and request.blocks == 8
                assert request.lbn + 8 <= view.blocks and request.head is not None
                assert 0 <= view.motion_ns(index) <= view.positioning_ns(index)
            assert view[-1].lbn == requests[-1].lbn and f"LBN {requests[-1].lbn}" in repr(view[-1])
            for index in (len(view), -len(view) - 1):
                with pytest.raises(IndexError, match="requests wait"):
                    view[index]
            seen.append(len(view))
            kept.append(view)
            return 0

    result = run(spec, Curious, workload__synthetic__requests=60)
    assert len(seen) == result.requests.completed == 60
    assert max(seen) == 12
    # A view that is kept shows what it showed.
    assert [len(view) for view in kept] == seen
    assert kept[0].positioning_ns(0) >= 0


def test_a_host_may_have_one_which_sees_no_drive(spec: Path) -> None:
    class Lowest:
        def pick(self, view: diskwright.SchedulerView) -> int:
            assert view.cylinder is view.head is view.cylinders is view.blocks is None
            assert view[0].cylinder is None
            with pytest.raises(ValueError, match="LBNs only"):
                view.positioning_ns(0)
            return min(range(len(view)), key=lambda index: view[index].lbn)

    settings = {"host.outstanding": 2, "host.scheduler": "mine"}
    found = diskwright.run(spec, set=settings, schedulers={"mine": Lowest}, check=True)
    fcfs = diskwright.run(spec, set=settings | {"host.scheduler": "fcfs"})
    assert found.requests.completed == fcfs.requests.completed
    assert found.digest != fcfs.digest


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (-1, r"pick returned -1: expected 0 to \d+"),
        (12, "pick returned 12: expected 0 to 11"),
        (10**30, "expected an index of the view"),
        (None, "pick returned None: expected an index"),
        ("0", "pick returned '0'"),
        (True, "pick returned True"),
        (0.0, "pick returned 0.0"),
    ],
)
def test_nonsense_ends_the_run(spec: Path, tmp_path: Path, answer: Any, words: str) -> None:
    class Nonsense:
        def pick(self, view: diskwright.SchedulerView) -> Any:
            # Late in the run, when as many wait as can.
            return answer if view.now_ns > 10**9 and len(view) == 12 else 0

    with pytest.raises(diskwright.SimulationError, match=f'the scheduler "mine" failed at .*{words}'):
        run(spec, Nonsense, requests=tmp_path / "log.parquet")
    assert names(tmp_path) == ["busy.toml"]


def test_an_exception_is_the_cause_of_the_error(spec: Path) -> None:
    calls = 0

    class Broken:
        def pick(self, view: diskwright.SchedulerView) -> int:
            nonlocal calls
            calls += 1
            return 1 // 0

    with pytest.raises(diskwright.SimulationError, match="ZeroDivisionError") as caught:
        run(spec, Broken())
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert cause.__traceback__ is not None and cause.__traceback__.tb_frame.f_code.co_name == "pick"
    assert calls == 1


def test_an_interruption_stays_one(spec: Path) -> None:
    class Interrupted:
        def pick(self, view: diskwright.SchedulerView) -> int:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(spec, Interrupted)


def test_what_cannot_be_plugged_in_is_told(spec: Path) -> None:
    with pytest.raises(diskwright.InputError, match="the program that runs the spec has not added it"):
        diskwright.run(spec, device__hdd__queue__scheduler={"custom": "mine"})
    with pytest.raises(diskwright.InputError, match='unknown scheduler "mine"'):
        diskwright.run(spec, device__hdd__queue__scheduler="mine")
    with pytest.raises(diskwright.InputError, match='did you mean "mine"'):
        diskwright.run(spec, device__hdd__queue__scheduler=Custom("mne"), schedulers={"mine": Fcfs})
    with pytest.raises(diskwright.InputError, match='cannot be called "satf"'):
        diskwright.run(spec, schedulers={"satf": Fcfs})
    with pytest.raises(TypeError, match="expected an object with a method pick"):
        diskwright.run(spec, schedulers={"mine": object()})  # type: ignore[dict-item]
