"""Is a system reproduced: each piece of work once, its verdicts, its folder, and on after a kill?"""

import json
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import polars
import pytest

import diskwright
from conftest import COMMAND, Command, environment, names, parsed, refused
from diskwright import reproduce, systems
from diskwright.reproduce import Bars, Call, Figure, Lines, Point, Run, Statement, _page, near
from test_sweep import stored
from toy_system import SYSTEM, TRACE, draws, run, service_s

TOY = Path(__file__).parent / "toy_system.py"
NUMBER = {"type": "number"}
INTERVAL = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
# What is promised of the object.
SCHEMA = {
    "type": "object",
    "required": ["schema", "system", "figures", "statements"],
    "properties": {
        "schema": {"const": 1},
        "system": {"type": "string"},
        "figures": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "title", "points"],
                "properties": {
                    "id": {"pattern": "^(fig-[0-9]+[a-z]?|table-[0-9]+|beyond-[a-z0-9-]+)$"},
                    "title": {"type": "string"},
                    "skipped": {"type": "string"},
                    "incomplete": {"type": "string"},
                    "points": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "patternProperties": {"_ci95$": INTERVAL},
                            "additionalProperties": {"type": ["number", "string"]},
                        },
                    },
                },
                "additionalProperties": False,
            },
        },
        "statements": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "text", "paper", "measured", "verdict"],
                "properties": {
                    "id": {"type": "string"},
                    "text": {"type": "string"},
                    "paper": {"type": ["number", "string"]},
                    "measured": {
                        "type": "object",
                        "required": ["value", "ci95", "n"],
                        "properties": {
                            "value": {"type": ["number", "null"]},
                            "ci95": {"anyOf": [INTERVAL, {"type": "null"}]},
                            "n": {"type": "integer"},
                        },
                    },
                    "verdict": {"enum": ["holds", "sign only", "inconclusive", "fails", "not run"]},
                    "reason": {"type": "string"},
                },
                "additionalProperties": False,
            },
        },
    },
}


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISKWRIGHT_DATA", raising=False)


@pytest.fixture
def data(tmp_path: Path, trace: Path) -> Path:
    """A folder with the trace in it, under another name, beside one of the same size."""
    folder = tmp_path / "data"
    (folder / "deep").mkdir(parents=True)
    content = trace.read_bytes()
    assert len(content) == TRACE.bytes
    (folder / "a.trace").write_bytes(content[::-1])
    (folder / "deep" / "z.bin").write_bytes(content)
    return folder


def verdicts(found: Mapping[str, Any]) -> dict[str, str]:
    return {statement["id"]: statement["verdict"] for statement in found["statements"]}


def figure(found: Mapping[str, Any], id: str) -> dict[str, Any]:
    (one,) = [one for one in found["figures"] if one["id"] == id]
    return dict(one)


def test_every_verdict_is_reached_and_the_object_is_as_promised(
    command: Command, data: Path, tmp_path: Path
) -> None:
    found = parsed(command("reproduce", TOY, "--data", "data", "--json", "-"))
    jsonschema.validate(found, SCHEMA)
    assert found["system"] == "toy"
    assert verdicts(found) == {
        "gain": "holds",
        "large-gain": "sign only",
        "slower": "fails",
        "noise": "inconclusive",
        "trace-requests": "holds",
    }
    by_id = {statement["id"]: statement for statement in found["statements"]}
    assert by_id["trace-requests"]["measured"] == {"value": 4.0, "ci95": [4.0, 4.0], "n": 1}
    assert by_id["slower"]["paper"] == "above 1" and by_id["gain"]["paper"] == 0.45
    assert figure(found, "table-1")["points"][0]["requests"] == 4
    assert json.loads((tmp_path / "results" / "toy" / "result.json").read_text()) == found


def test_the_numbers_are_those_of_single_runs(data: Path) -> None:
    found = reproduce.reproduce(SYSTEM, data=data)
    totals: dict[str, list[float]] = {}
    for name in ("fcfs", "satf"):
        work = run(name)
        assert isinstance(work.spec, Mapping)
        runs = [diskwright.run(work.spec, set={"seed": seed}) for seed in range(1, 6)]
        totals[name] = [one.service_ms.total / 1e3 for one in runs]
    gains = [1 - satf / fcfs for fcfs, satf in zip(totals["fcfs"], totals["satf"], strict=True)]
    measured = found.statements[0].measured
    assert measured.value == pytest.approx(sum(gains) / 5)
    assert measured.ci95 == pytest.approx(diskwright._engine.ci95(gains))
    assert measured.n == 5
    points = figure(found.to_dict(), "fig-2")["points"]
    assert [point["service_s"] for point in points] == pytest.approx([sum(totals[n]) / 5 for n in totals])
    assert points[0]["service_s_ci95"] == pytest.approx(diskwright._engine.ci95(totals["fcfs"]))
    frame = found.frame()
    of_fcfs = frame.filter((polars.col("figure") == "fig-2") & (polars.col("scheduler") == "fcfs"))
    assert of_fcfs["service_s"].to_list() == totals["fcfs"]
    assert of_fcfs["seed"].to_list() == [1, 2, 3, 4, 5]


def test_each_piece_is_done_once(data: Path, tmp_path: Path) -> None:
    # Six runs of fig-1, two of which others need too, one of a trace; two pieces have no seed or no run.
    first = reproduce.reproduce(SYSTEM, data=data, store=tmp_path / "store")
    assert (first.ran, first.reused) == (7 * 5 + 5 + 1, 0)
    assert len(stored(tmp_path / "store")) == first.ran
    again = reproduce.reproduce(SYSTEM, data=data, store=tmp_path / "store")
    assert (again.ran, again.reused) == (0, first.ran)
    kept = {key: item for key, item in first.to_dict().items() if key not in ("ran", "reused")}
    assert kept == {key: item for key, item in again.to_dict().items() if key in kept}
    more = reproduce.reproduce(SYSTEM, data=data, store=tmp_path / "store", seeds=6)
    assert more.ran == 7 + 1
    users = [piece["used_by"] for piece in first.to_dict()["work"] if piece["kind"] == "run"]
    assert ["fig-1", "fig-2", "beyond-pace", "gain", "large-gain", "slower"] in users


def test_without_its_trace_a_figure_is_skipped_and_its_statements_are_not_run(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    for arguments, why in (
        ([], "--data DIR says where traces are"),
        (["--data", "other"], "is not in other"),
    ):
        found = parsed(command("reproduce", TOY, "--json", "-", *arguments))
        jsonschema.validate(found, SCHEMA)
        skipped = figure(found, "table-1")
        assert skipped["points"] == []
        assert "toy-trace" in skipped["skipped"] and why in skipped["skipped"]
        # One that is drawn without the points that are missing says so.
        partial = figure(found, "beyond-pace")
        assert [point["load"] for point in partial["points"]] == ["synthetic"]
        assert why in partial["incomplete"] and "skipped" not in partial
        (statement,) = [one for one in found["statements"] if one["id"] == "trace-requests"]
        assert (statement["verdict"], statement["measured"]["value"]) == ("not run", None)
        assert why in statement["reason"]
        page = (tmp_path / "results" / "toy" / "index.html").read_text()
        assert "Skipped: the trace toy-trace (56 bytes" in page
    shown = command("reproduce", TOY)
    assert shown.returncode == 0 and "table-1:  the trace toy-trace" in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_traces_are_found_by_what_they_hold(
    data: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("DISKWRIGHT_DATA", str(data))
    found = parsed(command("reproduce", TOY, "--json", "-"))
    assert found["traces"] == [{"name": "toy-trace", "found": str(data / "deep" / "z.bin")}]
    refused(command("reproduce", TOY, "--data", "nowhere"), "--data nowhere: expected a folder")


def test_the_folder_has_the_page_the_figures_and_the_values(data: Path, tmp_path: Path) -> None:
    found = reproduce.reproduce(SYSTEM, data=data)
    written = [reproduce.write(found, tmp_path / name) for name in ("one", "two")]
    drawn = [f"{id}.{form}" for id in ("beyond-pace", "fig-1", "fig-2") for form in ("png", "svg")]
    expected = sorted([*drawn, "index.html", "points.csv", "points.parquet", "result.json"])
    assert names(tmp_path / "one") == expected
    for one, two in zip(*written, strict=True):
        assert one.read_bytes() == two.read_bytes(), one.name
    assert (tmp_path / "one" / "fig-1.png").read_bytes().startswith(b"\x89PNG")
    frame = polars.read_parquet(tmp_path / "one" / "points.parquet")
    # With each seed six, two and two points; the table has none.
    assert frame.height == 5 * (6 + 2 + 2) + 1
    assert frame.columns[:4] == ["figure", "scheduler", "depth", "seed"]
    assert polars.read_csv(tmp_path / "one" / "points.csv").height == frame.height


def test_a_quick_try_does_less_and_says_so(data: Path, tmp_path: Path) -> None:
    whole = reproduce.reproduce(SYSTEM, data=data, store=tmp_path / "store")
    quick = reproduce.reproduce(SYSTEM, data=data, store=tmp_path / "store", quick=True)
    # Only runs are shorter; with as many seeds.
    assert (quick.ran, quick.reused, quick.seeds) == (7 * 5, 5 + 1, whole.seeds)
    specs = [piece["spec"] for piece in quick.to_dict()["work"] if piece["kind"] == "run"]
    assert [spec["measure"]["requests"] for spec in specs] == [1_000] * 7
    frame = quick.frame().filter(polars.col("figure") == "fig-1")
    assert frame["iops"].to_list() != whole.frame().filter(polars.col("figure") == "fig-1")["iops"].to_list()
    reproduce.write(quick, tmp_path / "out")
    assert "A quick try" in (tmp_path / "out" / "index.html").read_text()


def test_the_tables_of_the_page_have_intervals_only_where_something_varies() -> None:
    assert [_page.number(value) for value in (72_822.0, 0.12345, 12_345.67)] == [
        "72,822",
        "0.1235",
        "12,345.7",
    ]
    figure = replace(SYSTEM.figures[1], measure={"service_s": service_s, "same": len})
    points = [
        {
            "scheduler": name,
            "service_s": 2.0,
            "service_s_ci95": ends,
            "same": 0.1,
            "same_ci95": [0.1, 0.1 + 2e-17],
        }
        for name, ends in (("fcfs", [1.0, 3.0]), ("satf", [2.0, 2.0]))
    ]
    head, rows = _page._table(figure, {"points": points})
    assert head == ["scheduler", "service s", "95 % from", "to", "service s, paper", "same"]
    assert rows == [["fcfs", "2", "1", "3", "400", "0.1"], ["satf", "2", "", "", "", "0.1"]]


def test_a_killed_reproduction_goes_on_where_it_was(command: Command, data: Path, tmp_path: Path) -> None:
    arguments: list[str | Path] = ["reproduce", TOY, "--data", "data", "--threads", "1", "--store", "store"]
    process = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while len(stored(tmp_path / "store")) < 15:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stderr is not None
    process.stderr.close()
    kept = len(stored(tmp_path / "store"))
    assert 15 <= kept < 41
    assert not (tmp_path / "results" / "toy" / "index.html").exists()
    resumed = parsed(command(*arguments, "--json", "-"))
    assert (resumed["ran"], resumed["reused"]) == (41 - kept, kept)
    whole = parsed(
        command("reproduce", TOY, "--data", "data", "--store", "other", "--out", "whole", "--json", "-")
    )
    assert (whole["figures"], whole["statements"]) == (resumed["figures"], resumed["statements"])
    for name in ("points.csv", "points.parquet", "fig-1.svg", "fig-2.png"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "results" / "toy" / name).read_bytes()


def test_what_a_call_depends_on_is_in_its_key(data: Path) -> None:
    setting = reproduce._inputs.Setting({})
    key = Call(draws, {"scale": 1.0}).key(setting, 1)
    assert key == Call(draws, {"scale": 1.0}).key(setting, 1)
    assert (
        len({key, Call(draws, {"scale": 2.0}).key(setting, 1), Call(draws, {"scale": 1.0}).key(setting, 2)})
        == 3
    )
    assert Call(draws).is_seeded and not Call(len).is_seeded  # type: ignore[arg-type]


def test_a_value_that_is_not_there_is_no_verdict() -> None:
    statement = Statement(
        id="nothing",
        text="Nothing.",
        paper=near(1),
        work=Call(draws, {"scale": 1.0}),
        measure=lambda drawn: drawn["value"] if drawn["value"] > 0 else None,
    )
    (told,) = reproduce.reproduce(replace(SYSTEM, figures=[], statements=[statement])).to_dict()["statements"]
    assert told["verdict"] == "not run" and "no value with one of the seeds" in told["reason"]
    wrong = replace(statement, measure=lambda drawn: drawn["valve"])
    with pytest.raises(KeyError) as raised:
        reproduce.reproduce(replace(SYSTEM, figures=[], statements=[wrong]))
    assert raised.value.__notes__ == ["while measuring nothing"]


def test_a_wrong_spec_is_told_with_its_user() -> None:
    wrong = Figure(
        id="fig-9", title="", paper="", points=[Point({"x": 1}, Run({"device": {"hdd": {}}}))], measure={}
    )
    with pytest.raises(diskwright.InputError, match="this is a run of fig-9"):
        reproduce.reproduce(replace(SYSTEM, figures=[wrong], statements=[]))


def test_fewer_seeds_than_a_verdict_needs_are_refused(command: Command) -> None:
    refused(command("reproduce", TOY, "--seeds", "4"), "4 seeds", "5 or more")


def test_systems_are_known_by_name_or_file(command: Command, tmp_path: Path) -> None:
    refused(command("reproduce", "attca"), "unknown system 'attca'", "ends in .py")
    refused(command("reproduce", "no.py"), "no such file")
    (tmp_path / "empty.py").write_text("")
    refused(command("reproduce", "empty.py"), "has no SYSTEM")
    (tmp_path / "file").write_text("")
    refused(command("reproduce", TOY, "--out", "file"), "cannot write into file")
    for name in systems.SYSTEMS:
        assert systems.system(name).name == name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Toy"}, "'Toy' is no id"),
        ({"statements": [*SYSTEM.statements, SYSTEM.statements[0]]}, "'gain' is there twice"),
        ({"traces": []}, "'toy-trace' is not among the system's traces"),
        ({"figures": [replace(SYSTEM.figures[0], drawn=Lines("depht", "iops"))]}, "no coordinate 'depht'"),
        (
            {"figures": [replace(SYSTEM.figures[0], drawn=Bars("depth", "iop"))]},
            "'iop' is drawn and not measured",
        ),
        ({"figures": [replace(SYSTEM.figures[0], measure={"depth": len})]}, "a coordinate and a value"),
    ],
)
def test_a_system_that_contradicts_itself_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SYSTEM, **change)


def test_progress_counts_all_work(data: Path) -> None:
    heard: list[tuple[int, int]] = []
    reproduce.reproduce(SYSTEM, data=data, progress=lambda done, of, *_: heard.append((done, of)))
    assert heard[-1] == (41, 41) and heard == sorted(heard)
