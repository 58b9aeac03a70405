"""Does `diskwright validate` tell how far a drive is from its recording, in words, JSON and pictures?"""

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import chromium
import diskwright
from conftest import ROOT, Command, Look, names, parsed, reference, refused
from diskwright import _text, report
from diskwright.report import charts
from test_report import Page
from test_report_browser import luminance

DRIVE = "cheetah-9lp"
CHARTS = {"cdf", "tail", "quantiles", "tenths", "means", "shares", "places"}
RECORDED = {
    "cheetah-9lp": ("cheetah9LP", 0.1071),
    "ibm-18es": ("ibm18es", 0.1361),
    "hp-c3323a": ("hp_c3323a", 0.3057),
}


def recorded(drive: str, requests: int = 400, **settings: Any) -> str:
    """A recording of a simulated drive: requests that follow each other with pauses, in DiskSim's form."""
    spec = {
        "workload": {
            "synthetic": {
                "requests": requests,
                "arrivals": {"constant": "90 ms"},
                "reads": 0.6,
                "size": "4 blocks",
                "address": "uniform",
            }
        },
        "device": {"hdd": {"drive": drive, "buffer": True}},
    }
    log = diskwright.run(spec, set=settings, requests=True).request_log.to_polars()
    rows = list(log.sort("arrival_ns").iter_rows(named=True))
    ends = [row["arrival_ns"] for row in rows[1:]] + [rows[-1]["completion_ns"]]
    return "".join(
        f"{row['op'][0].upper()} Hit {row['lbn']} {row['blocks']} "
        f"{(row['completion_ns'] - row['arrival_ns']) / 1e3:.3f} {(end - row['completion_ns']) / 1e3:.3f}\n"
        for row, end in zip(rows, ends, strict=True)
    )


@pytest.fixture(scope="module")
def text() -> str:
    return recorded(DRIVE)


@pytest.fixture
def recording(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "recorded.trace"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def found(text: str, tmp_path_factory: pytest.TempPathFactory) -> diskwright.Validation:
    path = tmp_path_factory.mktemp("recording") / "recorded.trace"
    path.write_text(text)
    return diskwright.validate(DRIVE, path, set={"interface.block_time": "0.2 ms"}, picture=True)


def test_what_plays_its_own_recording_has_no_demerit(command: Command, recording: Path) -> None:
    answer = parsed(command("validate", DRIVE, recording.name, "--json", "-"))
    assert answer["schema"] == 1
    assert answer["requests"] == 400
    assert answer["rms_demerit_ms"] == 0
    assert answer["relative_demerit"] == 0
    assert answer["share_within_0_1_ms"] == 1
    assert answer["recorded_mean_ms"] == answer["simulated_mean_ms"] > 1
    assert answer["recorded_ms"]["max"] == pytest.approx(answer["simulated_ms"]["max"])
    kinds = answer["kinds"]
    assert {kind["name"] for kind in kinds["service"]} >= {"read miss", "buffered write"}
    for grouping in kinds.values():
        assert sum(kind["requests"] for kind in grouping) == 400


def test_changes_of_the_drive_are_told_by_the_demerit(command: Command, recording: Path) -> None:
    def demerit(*settings: str) -> float:
        words = [word for setting in settings for word in ("--set", setting)]
        answer = parsed(command("validate", DRIVE, recording.name, *words, "--json", "-"))
        assert answer["set"] == list(settings)
        return float(answer["rms_demerit_ms"])

    # Four blocks take 0.38 ms longer, each in every request.
    slower = demerit("interface.block_time=0.2 ms")
    assert slower == pytest.approx(4 * (0.2 - 0.105), rel=0.15)
    # Writes that were complete once buffered now wait for the medium.
    assert demerit("buffer.write.complete=on-medium") > 3
    assert demerit("buffer=false") > 3
    assert demerit("interface.block_time=0.2 ms", "interface.block_time=0.105 ms") == 0


def test_the_function_finds_what_the_command_finds(command: Command, recording: Path) -> None:
    answer = parsed(command("validate", DRIVE, recording, "--set", "buffer.segments=1", "--json", "-"))
    found = diskwright.validate(DRIVE, recording, set={"buffer.segments": 1})
    assert found.to_dict() == answer
    assert isinstance(found, diskwright.Validation)
    assert found.picture is None
    assert f"{answer['rms_demerit_ms']:.4f} ms" in repr(found)
    with pytest.raises(ValueError, match="picture=True"):
        report.page(found)


def test_the_table_fits_eighty_columns(command: Command, recording: Path) -> None:
    done = command("validate", DRIVE, recording.name, "--set", "interface.block_time=0.2 ms")
    assert done.returncode == 0, done.stderr
    assert all(line.startswith(("warning:  ", "          ")) for line in done.stderr.splitlines())
    for words in (
        "demerit",
        "% of the recorded mean",
        "recorded",
        "p99.9",
        "read miss after",
        "3 to 4 blocks",
    ):
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…" not in done.stdout


def test_a_drive_of_ones_own(command: Command, recording: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(diskwright.drive_toml(DRIVE).replace("10045 rpm", "9000 rpm"))
    answer = parsed(command("validate", "mine.toml", recording.name, "--json", "-"))
    assert answer["drive"] == "mine.toml"
    assert answer["rms_demerit_ms"] > 0.1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cheetah-9l", "recorded.trace"], ["cheetah-9l", "cheetah-9lp"]),
        ([DRIVE, "missing.trace"], ["missing.trace", "No such file"]),
        ([DRIVE, "empty.trace"], ["empty.trace", "empty"]),
        ([DRIVE, "damaged.trace"], ["damaged.trace:3:10", "service time", "expected"]),
        ([DRIVE, "beyond.trace"], ["beyond.trace", "2 requests", "17783240"]),
        ([DRIVE, "other.trace"], ["disksim-ascii", "disksim-recording"]),
        ([DRIVE, "recorded.trace", "--format", "disksim-recoding"], ["disksim-recording"]),
        ([DRIVE, "recorded.trace", "--set", "buffer.segmnts=7"], ["segmnts", "--set"]),
        ([DRIVE, "recorded.trace", "--set", "buffer.segments"], ["KEY=VALUE", "buffer.segments=7"]),
        ([DRIVE, "recorded.trace", "--report", "no/such/page.html"], ["no/such/page.html"]),
    ],
)
def test_wrong_input_says_what_is_accepted(
    command: Command, recording: Path, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    line = "R Hit 0 4 1000 1000\n"
    (tmp_path / "empty.trace").write_text("")
    (tmp_path / "damaged.trace").write_text(f"{line}{line}R Hit 0 4\n")
    (tmp_path / "beyond.trace").write_text(2 * "R Hit 17783239 2 1000 1000\n")
    (tmp_path / "other.trace").write_text("0.0 0 0 8 1\n10.0 0 8 8 1\n")
    before = names(tmp_path)
    refused(command("validate", *arguments), *words)
    assert names(tmp_path) == before


def test_what_does_not_fit_is_warned_of(command: Command, tmp_path: Path) -> None:
    (tmp_path / "some.trace").write_text("R Hit 0 4 1000 1000\nR Hit 17783239 2 1000 1000\n")
    answer = parsed(command("validate", DRIVE, "some.trace", "--json", "-"))
    assert (answer["requests"], answer["beyond_the_end"]) == (1, 1)
    assert any("1 of 2 requests" in warning and "line 2" in warning for warning in answer["warnings"])
    answer = parsed(command("validate", "exos-x20", "some.trace", "--json", "-"))
    assert answer["sector_bytes"] == 4096
    assert any("sectors of 4096 bytes" in warning for warning in answer["warnings"])


def test_progress_may_stop_it(recording: Path) -> None:
    class EnoughError(Exception):
        pass

    told: list[int] = []
    diskwright.validate(DRIVE, recording, progress=lambda done, total: told.append(done))
    assert told[-1] == 400

    def stop(_done: int, _total: int | None) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        diskwright.validate(DRIVE, recording, progress=stop)


def at(result: Any, key: str) -> Any:
    for name in key.split("."):
        result = result[int(name)] if isinstance(result, list) else result[name]
    return result


def written(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else _text.number(value)


def test_the_page_says_what_the_result_says(found: diskwright.Validation) -> None:
    text = report.page(found)
    page = Page(text)
    data = found.to_dict()
    assert page.embedded("result") == data
    for key, shown in page.values:
        if key:
            assert shown == written(at(data, key)), key
    keys = {key for key, _ in page.values}
    assert {"rms_demerit_ms", "recorded_mean_ms", "simulated_ms.p99", "error_rms_ms"} <= keys
    for grouping, kinds in data["kinds"].items():
        for place in range(len(kinds)):
            assert f"kinds.{grouping}.{place}.error_rms_ms" in keys
    for _, attributes in page.elements:
        assert not {"src", "href", "srcset", "action", "data", "poster"} & set(attributes), attributes
    drawn = set(page.embedded("charts"))
    assert {told["data-chart"] for _, told in page.elements if "data-chart" in told} == drawn == CHARTS
    assert page.texts["spec"].startswith(f"diskwright validate {DRIVE} ")
    assert "'interface.block_time=0.2 ms'" in page.texts["spec"].replace('"', "")
    # It says that errors of requests are not what the demerit is made of.
    assert "cannot be divided among requests" in text


def test_the_charts_are_the_pictures(found: diskwright.Validation) -> None:
    drawn = Page(report.page(found)).embedded("charts")
    data = found.to_dict()
    picture = found.picture
    assert picture is not None
    assert [trace["name"] for trace in drawn["cdf"]["data"]] == ["recorded", "simulated"]
    for trace, side in zip(drawn["cdf"]["data"], ("recorded", "simulated"), strict=True):
        assert max(trace["x"]) == pytest.approx(data[f"{side}_ms"]["max"], rel=1e-4)
    # Each point stands for the share of requests since the one before it.
    points = drawn["quantiles"]["data"][0]
    widths = [end - start for start, end in pairwise([0, *points["x"]])]
    squares = sum(width * distance**2 for width, distance in zip(widths, points["y"], strict=True))
    assert (squares / 100) ** 0.5 == pytest.approx(data["rms_demerit_ms"], rel=0.05)
    assert sum(drawn["tenths"]["data"][0]["y"]) == pytest.approx(100, rel=1e-3)
    assert sum(drawn["shares"]["data"][0]["x"]) == pytest.approx(100, rel=1e-3)
    assert sum(picture.places.requests) == data["requests"]
    for chart in drawn.values():
        for axis in ("xaxis", "yaxis"):
            title = chart["layout"][axis].get("title")
            assert title is None or "(" in title["text"]


def test_a_few_of_the_slowest_do_not_press_the_others_flat() -> None:
    def drawn(last_ms: float) -> charts.Chart:
        shares = [step / 1000 for step in range(1, 1001)]
        times = [1.0] * 1000
        quantiles = {"share": shares, "recorded_ms": times, "simulated_ms": [1.25] * 999 + [1 + last_ms]}
        return charts.validation.quantiles({"quantiles": quantiles})

    near, far = drawn(0.25), drawn(-30.0)
    for chart in (near, far):
        low, high = chart.figure["layout"]["yaxis"]["range"]
        assert -0.05 < low < 0 < 0.25 < high < 0.3
    assert "out of the frame" not in near.note
    assert "The slowest 0.5 % reach out of the frame, to -30 ms" in far.note


def test_a_validation_survives_pickling(found: diskwright.Validation) -> None:
    again = pickle.loads(pickle.dumps(found))
    assert again.to_dict() == found.to_dict()
    assert report.page(again) == report.page(found)


def test_the_command_writes_the_page(command: Command, recording: Path, tmp_path: Path) -> None:
    done = command("validate", DRIVE, recording.name, "--report", "page.html", "--json", "result.json")
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == ["page.html", "recorded.trace", "result.json"]
    title = f"<h1>{DRIVE}: recorded.trace</h1>"
    assert title in (tmp_path / "page.html").read_text()


@pytest.fixture
def opened(look: Look, found: diskwright.Validation, tmp_path: Path) -> tuple[chromium.Browser, Path]:
    file = tmp_path / "page.html"
    report.write(found, file)
    return look(file), file


def test_every_chart_is_drawn_and_nothing_is_asked_for(opened: tuple[chromium.Browser, Path]) -> None:
    browser, file = opened
    drawn = browser.value(
        "Object.fromEntries([...document.querySelectorAll('.plot')].map(plot => [plot.dataset.chart,"
        " [...plot.querySelectorAll('.trace path, .points path')].filter(mark =>"
        " { const box = mark.getBoundingClientRect(); return box.width + box.height > 0; }).length]))"
    )
    assert set(drawn) == CHARTS
    assert all(marks > 0 for marks in drawn.values()), drawn
    asked = [address for address in browser.requested if not address.startswith(("data:", "blob:"))]
    assert asked == [file.as_uri()]


@chromium.in_windows(480, 1280, 1920)
def test_nothing_overflows_and_all_is_readable(
    opened: tuple[chromium.Browser, Path], width: int, scheme: str
) -> None:
    browser, _ = opened
    browser.window(width, 900, scheme)
    fit = "plot => plot._fullLayout.width <= plot.clientWidth + 1"
    browser.until(f"[...document.querySelectorAll('.plot')].every({fit})")
    assert browser.value("document.documentElement.scrollWidth") <= width
    ground, text = (
        luminance(browser.value(f"getComputedStyle(document.body).{key}"))
        for key in ("backgroundColor", "color")
    )
    assert (max(ground, text) + 0.05) / (min(ground, text) + 0.05) > 7
    assert (ground < 0.1) == (scheme == "dark")


def test_the_command_is_copied_and_the_page_prints(opened: tuple[chromium.Browser, Path]) -> None:
    browser, _ = opened
    browser.value("document.querySelector('#copy').click()")
    browser.until("document.querySelector('#copied').textContent !== ''")
    assert browser.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("drive", RECORDED)
def test_the_recordings_of_real_drives_are_met(drive: str) -> None:
    file, demerit = RECORDED[drive]
    found = diskwright.validate(drive, reference(f"disksim/{file}.trace"))
    assert found.rms_demerit_ms <= 1.01 * demerit
    assert found.beyond_the_end == 0


def test_the_page_documents_every_key(found: diskwright.Validation) -> None:
    page = (ROOT / "docs" / "cli" / "validate.md").read_text()

    def keys(item: Any) -> set[str]:
        if isinstance(item, dict):
            return set(item).union(*map(keys, item.values()))
        return set().union(*map(keys, item)) if isinstance(item, list) else set()

    assert {key for key in keys(found.to_dict()) if f"`{key}`" not in page} == set()
