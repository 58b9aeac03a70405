"""Are typed specs what the engine reads, and does the type checker see what is wrong with them?"""

import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import diskwright
from conftest import ROOT, SPEC
from diskwright.spec import (
    Closed,
    Custom,
    Fail,
    Fault,
    Hdd,
    Host,
    Measure,
    MediaError,
    Ncq,
    Poisson,
    Queue,
    Several,
    SizeByOperation,
    SizeShare,
    Spec,
    Synthetic,
    Uniform,
    Workload,
)

TYPED = Spec(
    seed=1,
    workload=Workload(
        synthetic=Synthetic(
            requests=2_000, arrivals=Poisson("20 ms"), reads=0.67, size="8 blocks", address="uniform"
        )
    ),
    measure=Measure(warmup="10 %"),
    device=Hdd(drive="ibm-18es"),
)


def test_the_classes_are_what_the_schema_makes() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "spec_classes.py", "--check"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_typed_spec_is_the_dict_and_the_file(tmp_path: Path) -> None:
    assert TYPED.to_dict() == tomllib.loads(SPEC)
    assert Spec.from_dict(tomllib.loads(SPEC)) == TYPED
    path = tmp_path / "typed.toml"
    path.write_text(TYPED.toml())
    assert Spec.load(path) == TYPED
    runs = [diskwright.run(spec) for spec in (TYPED, TYPED.to_dict(), path)]
    assert len({run.digest for run in runs}) == 1
    assert pickle.loads(pickle.dumps(TYPED)) == TYPED


def test_the_effective_spec_of_a_run_is_a_typed_spec_of_the_same_run() -> None:
    run = diskwright.run(TYPED)
    effective = Spec.from_dict(run.spec)
    assert effective.to_dict() == run.spec.to_dict()
    assert diskwright.run(effective).digest == run.digest


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.name)
def test_every_example_is_read_and_written(path: Path) -> None:
    table = tomllib.loads(path.read_text())
    spec = Spec.load(path)
    if "trace" in table["workload"]:
        table["workload"]["trace"] = str(path.parent / table["workload"]["trace"])
    assert spec.to_dict() == table
    assert tomllib.loads(spec.toml()) == table


def test_paths_in_a_file_start_at_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    path = tmp_path / "there" / "spec.toml"
    for drive, loaded in (("mine.toml", str(tmp_path / "there" / "mine.toml")), ("ibm-18es", "ibm-18es")):
        path.write_text(f'workload = {{ fio = {{ file = "a.fio" }} }}\ndevice.hdd.drive = "{drive}"\n')
        monkeypatch.chdir(tmp_path)
        spec = Spec.load("there/spec.toml")
        assert isinstance(spec.device, Hdd)
        assert spec.device.drive == loaded
        assert spec.to_dict()["workload"]["fio"]["file"] == str(tmp_path / "there" / "a.fio")


def test_choices_are_written_as_the_engine_writes_them() -> None:
    for typed, plain in (
        (Ncq(), "ncq"),
        (Ncq(timeout="1 s"), {"ncq": {"timeout": "1 s"}}),
        (Custom("mine"), {"custom": "mine"}),
        (Poisson("1 ms"), {"poisson": "1 ms"}),
        (Closed(users=4), {"closed": {"users": 4}}),
        (Uniform(from_=8), {"uniform": {"from": 8}}),
    ):
        assert typed.to_dict() == plain
    sizes = SizeByOperation(reads="8 blocks", writes=[SizeShare(size="4 KiB", share=1.0)])
    load = Synthetic(requests=10, arrivals=Closed(users=2), size=sizes, reads=0.5)
    spec = TYPED.replace(workload=Workload(synthetic=Several(stream=[load, load])), fault=[])
    assert Spec.from_dict(spec.to_dict()) == spec
    assert diskwright.run(spec).requests.completed == 20


def test_a_spec_with_other_values_is_another_spec() -> None:
    changed = TYPED.replace(
        {"device.hdd.queue.depth": 4},
        seed=7,
        host__scheduler="look",
        fault=[Fault(at="1 s", kind="power-cut")],
    )
    assert changed.seed == 7 and TYPED.seed == 1
    assert changed.host == Host(scheduler="look")
    assert changed.device == Hdd(drive="ibm-18es", queue=Queue(depth=4))
    assert changed.fault == [Fault(at="1 s", kind="power-cut")]
    tuned = TYPED.replace(device__hdd__queue__scheduler="ncq")
    tuned = tuned.replace({"device.hdd.queue.scheduler.ncq.timeout": "1 s"})
    assert tuned.to_dict()["device"]["hdd"]["queue"]["scheduler"] == {"ncq": {"timeout": "1 s"}}
    assert changed.replace({"fault[0].at": "2 s"}).fault == [Fault(at="2 s", kind="power-cut")]
    spoilt = Fault(at="1 ms", kind=MediaError(device="hdd", from_=0, blocks=8))
    broken = TYPED.replace(fault=[Fault(at="2 ms", kind=Fail("hdd")), spoilt])
    assert broken.to_dict()["fault"] == [
        {"at": "2 ms", "kind": {"fail": "hdd"}},
        {"at": "1 ms", "kind": {"media-error": {"device": "hdd", "from": 0, "blocks": 8}}},
    ]
    assert Spec.from_dict(broken.to_dict()) == broken
    assert diskwright.run(broken).requests.failed > 0
    result = diskwright.run(TYPED, device__hdd__queue__scheduler=Ncq(timeout="1 s"))
    assert result.spec.device.hdd.queue.scheduler.ncq.timeout == "1 s"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sead": 1}, r"sead: unknown key 'sead': did you mean 'seed'\?"),
        ({"device.hdd.queue.dept": 1}, r"device\.hdd\.queue\.dept: .*'depth'"),
        ({"device.hdd.queue.scheduler": {"nqc": {}}}, "'ncq'"),
        ({"device": {}}, "expected one key, of hdd, array.*; found 0"),
        ({"workload.synthetic": {"requests": 1}}, r"workload\.synthetic: the key 'arrivals' is missing"),
        ({"seed.x": 1}, "1 stands above 'x'"),
        ({"fault[0].at": "1 s"}, "there is no 0"),
        ({"fault[a].at": "1 s"}, "is not a key"),
        ({"seed": {"x": 1}}, "seed: expected no table"),
        ({"host": 1}, "found the integer 1, expected a table"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(changes: dict[str, object], words: str) -> None:
    with pytest.raises(diskwright.InputError, match=words):
        diskwright.run(TYPED.replace(changes))


def test_a_file_that_is_no_spec_is_wrong_input(tmp_path: Path) -> None:
    for text in (None, "a = ", "seed = 1"):
        path = tmp_path / "bad.toml"
        if text is not None:
            path.write_text(text)
        with pytest.raises(diskwright.InputError):
            Spec.load(path)


RIGHT = """\
import diskwright
from diskwright.spec import Hdd, Ncq, Poisson, Queue, Satf, Spec, Synthetic, Uniform, Workload

load = Synthetic(requests=1_000, arrivals=Poisson("20 ms"), reads=0.67, address=Uniform(from_=0))
queue = Queue(depth=32, scheduler=Ncq(timeout="2 s"))
spec = Spec(workload=Workload(synthetic=load), device=Hdd(drive="ibm-18es", queue=queue))
other: Spec = spec.replace(seed=2, device__hdd__queue__scheduler="satf")
Queue(scheduler="c-look")
Queue(scheduler=Satf())
result = diskwright.run(other, requests=True)
frame = result.frame()
print(frame.height, result.request_log.to_polars().height, diskwright.frame([result]).columns)


class Mine:
    def pick(self, view: diskwright.SchedulerView) -> int:
        return min(range(len(view)), key=view.positioning_ns)


diskwright.run(spec, schedulers={"mine": Mine(), "other": Mine})
"""
WRONG = (
    ("Queue(dept=32)", "call-arg"),
    ('Queue(scheduler="nqc")', "arg-type"),
    ("Queue(scheduler=Poisson('1 ms'))", "arg-type"),
    ("Queue(depth='32')", "arg-type"),
    ("Synthetic(requests=1)", "call-arg"),
    ("Spec(workload=Workload())", "call-arg"),
    ("spec.seed = 3", "misc"),
    ("spec.sede", "attr-defined"),
    ('diskwright.run(spec, schedulers={"mine": object()})', "dict-item"),
    ("result.frame(kind='dask')", "call-overload"),
)


def test_the_type_checker_accepts_typical_use_and_refuses_what_is_wrong(tmp_path: Path) -> None:
    first = RIGHT.count("\n") + 1
    text = RIGHT + "".join(f"{line}\n" for line, _ in WRONG)
    (tmp_path / "snippet.py").write_text(text)
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--no-error-summary",
            "--hide-error-context",
            "snippet.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    found = {
        int(line.split(":")[1]): line
        for line in done.stdout.splitlines()
        if line.startswith("snippet.py:") and "error:" in line
    }
    assert sorted(found) == [first + index for index in range(len(WRONG))], done.stdout + done.stderr
    for index, (_, code) in enumerate(WRONG):
        assert f"[{code}]" in found[first + index], found[first + index]


def test_former_names_are_read_as_the_present_ones() -> None:
    mirror: dict[str, Any] = {"mirror": {"read": {"soonest-idle": {}}}}
    disk = {"drive": "ibm-18es", "cache": {"size": "1 MiB", "policy": {"slru": {"reading": "libcachesim"}}}}
    former = {
        "workload": {"look-alike": str(ROOT / "examples/synthetic-clone/pcfat32.toml"), "limit": 100},
        "device": {"array": {"layout": mirror, "member": [{"hdd": disk}]}},
    }
    present = Spec.from_dict(former).to_dict()
    assert set(present["workload"]) == {"synthetic-clone", "limit"}
    array = present["device"]["array"]
    assert array["layout"] == {"mirror": {"read": "least-outstanding"}}
    assert array["member"][0]["hdd"]["cache"]["policy"] == {"slru": {"variant": "libcachesim"}}
    old, new = diskwright.run(former), diskwright.run(present)
    assert old.spec == new.spec and old.digest == new.digest
