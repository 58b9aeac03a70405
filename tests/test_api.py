"""Does the Python package do what its functions promise?"""

import copy
import pickle
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import ENDLESS, SPEC


def test_a_spec_is_a_path_or_a_dict(spec: Path) -> None:
    results = [diskwright.run(spec), diskwright.run(str(spec)), diskwright.run(tomllib.loads(SPEC))]
    assert len({result.digest for result in results}) == 1


def test_a_result_has_attributes_and_items(spec: Path) -> None:
    result = diskwright.run(spec)
    assert result.response_ms.mean == result["response_ms"]["mean"] == result.to_dict()["response_ms"]["mean"]
    assert result.requests.completed == 2_000
    assert "2,000 requests" in repr(result)
    assert "response_ms" in dir(result)
    assert result.devices["hdd"]
    assert copy.deepcopy(result) == result
    assert pickle.loads(pickle.dumps(result)).digest == result.digest
    with pytest.raises(AttributeError, match=r"no 'respons_ms'; it has .*response_ms"):
        result.respons_ms  # noqa: B018


def test_overrides_reach_the_spec(spec: Path) -> None:
    by_keyword = diskwright.run(spec, workload__synthetic__requests=100, device__hdd__queue__depth=4)
    by_mapping = diskwright.run(
        spec, set={"workload.synthetic.requests": 100, "device.hdd.queue.depth": 4}, check=True
    )
    assert by_keyword.requests.completed == by_mapping.requests.completed == 100
    assert by_keyword.digest == by_mapping.digest
    assert by_keyword.spec.device.hdd.queue.depth == 4


def test_a_policy_with_parameters_is_a_dict(spec: Path) -> None:
    result = diskwright.run(spec, device__hdd__queue__scheduler={"ncq": {"timeout": "2 s"}})
    assert "ncq" in result.spec.device.hdd.queue.scheduler


def test_wrong_input_is_a_value_error_with_its_place(spec: Path) -> None:
    spec.write_text(SPEC.replace("reads", "raeds"))
    with pytest.raises(diskwright.InputError, match=r"spec\.toml:5:1") as caught:
        diskwright.run(spec)
    assert isinstance(caught.value, ValueError)
    assert issubclass(diskwright.SimulationError, RuntimeError)


def test_a_value_that_no_spec_holds_is_a_type_error(spec: Path) -> None:
    with pytest.raises(TypeError, match="seed: a spec cannot hold"):
        diskwright.run(spec, seed=object())


def test_progress_is_told_and_may_stop_the_run(tmp_path: Path) -> None:
    class EnoughError(Exception):
        pass

    told: list[tuple[int, int | None]] = []

    def progress(done: int, total: int | None) -> None:
        told.append((done, total))
        if len(told) == 3:
            raise EnoughError

    endless = tmp_path / "endless.toml"
    endless.write_text(ENDLESS)
    with pytest.raises(EnoughError):
        diskwright.run(endless, progress=progress)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][1] == 10_000_000_000


def test_other_threads_work_while_the_engine_does(spec: Path) -> None:
    results: list[diskwright.Result] = []
    threads = [threading.Thread(target=lambda: results.append(diskwright.run(spec))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len({result.digest for result in results}) == 1


def test_a_spec_of_a_dict_starts_its_paths_at_the_current_folder(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trace.parent)
    spec: dict[str, Any] = {"workload": {"trace": trace.name}, "device": {"hdd": {"drive": "ibm-18es"}}}
    assert diskwright.run(spec).requests.completed == 4


def test_a_drive_has_a_summary() -> None:
    assert diskwright.drive("ibm-18es").id == "ibm-18es"
    with pytest.raises(diskwright.InputError, match="did you mean"):
        diskwright.drive_toml("ibm-18e")
