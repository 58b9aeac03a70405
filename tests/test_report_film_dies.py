"""Does the animation of an SSD play and step, and does it show what the operations of its dies take?"""

from collections import defaultdict
from math import dist
from pathlib import Path
from typing import Any

import pytest

import chromium
import diskwright
from conftest import Command, Look
from diskwright import report
from test_report import Page
from test_report_browser import box, contrast, element, luminance
from test_report_colours import EYES, lab
from test_report_film import click, digits, log, opened_to_fit, part, pixels, press, table, time
from test_report_flash import SMALL, ssd_spec

CANVASES = ("plan", "overview", "rows")


def run(
    device: dict[str, Any], reads: float = 0.5, animate: str | None = None, **more: Any
) -> diskwright.Result:
    return diskwright.run(ssd_spec(device, reads, **more), picture=True, requests=True, animate=animate)


def dies(result: diskwright.Result) -> dict[str, Any]:
    assert result.picture is not None
    shown: dict[str, Any] = result.picture.to_dict()["devices"]["ssd"]["film"]
    return shown


@pytest.fixture(scope="module")
def result() -> diskwright.Result:
    return run(SMALL)


@pytest.fixture(scope="module")
def file(result: diskwright.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dies") / "page.html"
    report.write(result, path)
    return path


@pytest.fixture
def opened(look: Look, file: Path) -> chromium.Browser:
    return shown(look(file))


def shown(browser: chromium.Browser) -> chromium.Browser:
    """The browser with the animation in sight: out of it it would not go on playing."""
    browser.value(f"{element('#film')}.scrollIntoView({{block: 'center'}})")
    browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return browser


def us(text: str) -> int:
    whole, fraction = text.replace(",", "").split(".")
    assert len(fraction) == 3
    return int(whole + fraction)


def sums(film: dict[str, Any], operation: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for leg, ns in operation["steps"]:
        found[film["legs"][leg]["name"]] += ns
    return found


def test_the_table_is_of_the_operations(result: diskwright.Result) -> None:
    rows, film = table(report.page(result)), dies(result)
    assert len(rows) == len(film["operations"]) > 8
    for row, operation in zip(rows, film["operations"], strict=True):
        assert (row["operation"], row["for"]) == (operation["action"], operation["cause"])
        assert (row["channel"], row["die"]) == (str(operation["channel"]), str(operation["worker"]))
        for name, ns in sums(film, operation).items():
            assert us(row[name]) == ns


def test_operations_are_the_parts_of_the_log() -> None:
    """What a request of one page waited for is its operation."""
    fresh = SMALL | {"initial": {"fill": "100 %"}, "cleaning": {"begin": 1}, "spare": {"share": "50 %"}}
    result = run(fresh, requests=400)
    film, logged = dies(result), log(result)
    compared = set()
    for operation in film["operations"]:
        if operation["request"] is None:
            continue
        row, legs = logged[operation["request"]], sums(film, operation)
        compared.add(row["op"])
        assert legs["command"] + legs["data in"] + legs["data out"] == row["channel_ns"]
        assert (legs["read"], legs["program"]) == (row["flash_read_ns"], row["program_ns"])
        assert row["start_ns"] <= operation["start_ns"] < row["completion_ns"]
    assert compared == {"read", "write"}


def test_it_does_not_play_by_itself_and_asks_for_nothing(opened: chromium.Browser, file: Path) -> None:
    assert time(opened) == 0
    assert opened.value(f"{element('#film')}.dataset.playing") == "false"
    asked = [address for address in opened.requested if not address.startswith(("data:", "blob:"))]
    assert asked == [file.as_uri()]


def test_it_plays_and_pauses(opened: chromium.Browser) -> None:
    before = [pixels(opened, name) for name in CANVASES]
    click(opened, "play")
    opened.until(f"Number({element('#film')}.dataset.time) > 2e4")
    click(opened, "play")
    opened.until(f"{element('#film')}.dataset.playing === 'false'")
    stopped = time(opened)
    after = [pixels(opened, name) for name in CANVASES]
    assert all(one != other for one, other in zip(before, after, strict=True))
    opened.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert time(opened) == stopped < 1e6


@pytest.mark.long
def test_it_steps_both_ways_with_buttons_and_keys(opened: chromium.Browser) -> None:
    click(opened, "next")
    opened.until(f"Number({element('#film')}.dataset.time) > 0")
    first = time(opened)
    press(opened, "ArrowRight")
    opened.until(f"Number({element('#film')}.dataset.time) > {first}")
    press(opened, "ArrowLeft")
    opened.until(f"Number({element('#film')}.dataset.time) === {first}")
    click(opened, "previous")
    opened.until(f"Number({element('#film')}.dataset.time) === 0")
    press(opened, "End")
    opened.until(f"Number({element('#film')}.dataset.time) === 1e6")
    press(opened, "Home")
    opened.until(f"Number({element('#film')}.dataset.time) === 0")
    press(opened, " ")
    opened.until(f"{element('#film')}.dataset.playing === 'true'")
    press(opened, " ")
    opened.until(f"{element('#film')}.dataset.playing === 'false'")


@pytest.mark.long
def test_slow_motion(opened: chromium.Browser) -> None:
    """The speeds are those of a millisecond, and a frame takes as many times longer as they say."""
    speeds = opened.value(f"[...{part('speed')}.options].map(option => Number(option.value))")
    assert speeds == sorted(speeds)
    assert speeds[-1] >= 100_000
    frames = """(async () => {
        const film = document.getElementById("film");
        const frame = () => new Promise(requestAnimationFrame);
        const play = film.querySelector("[data-film=play]");
        const speed = film.querySelector("[data-film=speed]");
        speed.value = SPEED;
        speed.dispatchEvent(new Event("change"));
        play.click();
        await frame();
        const first = await frame();
        const at = Number(film.dataset.time);
        let last = first;
        for (let count = 0; count < 5; count += 1) last = await frame();
        const to = Number(film.dataset.time);
        play.click();
        await frame(), await frame();
        return (to - at) / 1e6 / (last - first);
      })()"""
    for speed in (200_000, 50_000, 20_000):
        found = opened.value(frames.replace("SPEED", str(speed)))
        assert found == pytest.approx(1 / speed, rel=1e-6)


def test_every_step_that_is_told_is_of_an_operation(
    opened: chromium.Browser, result: diskwright.Result
) -> None:
    # Steps from event to event, and notes what is said.
    lines = opened.value(
        """(async () => {
          const film = document.getElementById("film");
          const next = film.querySelector("[data-film=next]");
          const frame = () => new Promise(requestAnimationFrame);
          const found = [];
          for (let before = null; film.dataset.time !== before;) {
            before = film.dataset.time;
            const lines = [...film.querySelectorAll("[data-film=now] span")];
            found.push(...lines.map((line) => ({ ...line.dataset, text: line.textContent, t: before })));
            next.click();
            await frame(), await frame();
          }
          return found;
        })()"""
    )
    film = dies(result)
    legs = set()
    for operation in film["operations"]:
        at = operation["start_ns"] - film["from_ns"]
        for leg, ns in operation["steps"]:
            legs.add((operation["channel"], operation["worker"], film["legs"][leg]["name"], at, at + ns))
            at += ns
    told = set()
    for line in lines:
        if "channel" not in line:
            continue
        leg = (int(line["channel"]), int(line["worker"]), line["leg"], int(line["start"]), int(line["end"]))
        assert leg in legs
        assert leg[3] <= float(line["t"]) < leg[4]
        assert line["text"].startswith(f"Channel {leg[0]}, die {leg[1]} ")
        assert line["text"].endswith(f" of {(leg[4] - leg[3]) / 1e3:,.3f} µs")
        told.add(leg)
    # What begins within the film is told, unless more than three things begin at once.
    inside = {leg for leg in legs if 0 <= leg[3] < 1e6}
    assert len(told & inside) > 0.9 * len(inside) > 10


@pytest.mark.long
def test_bars_are_drawn_where_their_times_are(opened: chromium.Browser, result: diskwright.Result) -> None:
    """A bar begins and ends in the rows as its leg does in time, in the row of its channel and of its die."""
    drawn = opened.value(
        """(() => {
          const { films } = JSON.parse(document.getElementById("film-data").textContent);
          const model = diesModel(films[0]);
          const canvas = document.querySelector("[data-film=rows]");
          const pen = canvas.getContext("2d");
          const found = [];
          pen.fillRect = (...box) => found.push([pen.fillStyle, ...box]);
          const look = { part: (name) => ({ program: "#010101", channel: "#020202" })[name] ?? "#030303" };
          const other = new Proxy(look, { get: (own, name) => own[name] ?? "#777777" });
          FilmDies.rows(canvas, model, 0, other, { from: 0, span: model.film.length, height: 400 });
          delete pen.fillRect;
          return { found, width: canvas.clientWidth, label: FilmDies.LABEL };
        })()"""
    )
    film = dies(result)
    left, wide = drawn["label"], drawn["width"] - drawn["label"] - 6
    for part_of, colour, rows in (("program", "#010101", 1), ("channel", "#020202", 2)):
        expected = []
        for operation in film["operations"]:
            at = operation["start_ns"] - film["from_ns"]
            for leg, ns in operation["steps"]:
                start, end, at = max(at, 0), min(at + ns, 1e6), at + ns
                if film["legs"][leg]["part"] == part_of and end > start:
                    place = (left + start / 1e6 * wide, max((end - start) / 1e6 * wide, 0.7))
                    expected += [place] * rows
        found = [(x, width) for style, x, _, width, _ in drawn["found"] if style == colour]
        assert len(found) == len(expected) > 4
        for one, other in zip(sorted(found), sorted(expected), strict=True):
            assert one == pytest.approx(other, abs=1e-6)
    # No bar is over another one of its row.
    boxes = [each[1:] for each in drawn["found"] if each[0] in ("#010101", "#020202", "#030303")]
    for index, (x, y, width, height) in enumerate(boxes):
        for x2, y2, width2, height2 in boxes[index + 1 :]:
            across = min(x + width, x2 + width2) - max(x, x2)
            down = min(y + height, y2 + height2) - max(y, y2)
            assert across <= 0.71 or down <= 1e-6


@chromium.in_windows(480, 1280, 1920)
def test_it_fits_and_is_readable(browser: chromium.Browser, file: Path, width: int, scheme: str) -> None:
    ground = opened_to_fit(browser, file, width, scheme)
    swatches = browser.value(
        "[...document.querySelectorAll('#film [data-part-swatch]')].filter(one => one.offsetParent)"
        ".map(one => getComputedStyle(one).backgroundColor)"
    )
    assert len(swatches) == 5
    assert all(contrast(ground, luminance(colour)) > 2.5 for colour in swatches)
    for eyes in EYES.values():
        colours = [lab(digits(colour), eyes) for colour in swatches]
        assert all(dist(one, other) > 15 for one in colours for other in colours if one is not other)
    assert browser.complaints == []


@pytest.mark.long
def test_parts_have_the_colours_of_their_charts(opened: chromium.Browser) -> None:
    swatches = opened.value(
        "Object.fromEntries([...document.querySelectorAll('[data-part-swatch]')].map(one =>"
        " [one.dataset.partSwatch.replace('_', ' '), getComputedStyle(one).backgroundColor]))"
    )
    for chart in ("parts", "flash-0-latency"):
        bars = opened.value(
            f"Object.fromEntries({element(f'#chart-{chart}')}._fullData"
            ".map(trace => [trace.name, trace.marker.color]))"
        )
        # The film has the parts of dies only, and the chart the drive's own overhead, too.
        shared = swatches.keys() & bars.keys()
        assert shared >= {"wait", "channel", "flash read", "program"}
        for name in shared:
            assert digits(swatches[name]) == bars[name]


@pytest.mark.long
def test_it_prints_one_still_frame(opened: chromium.Browser) -> None:
    click(opened, "play")
    opened.until(f"{element('#film')}.dataset.playing === 'true'")
    assert opened.pdf().startswith(b"%PDF")
    opened.until(f"{element('#film')}.dataset.playing === 'false'")


@pytest.mark.long
def test_a_large_drive_says_what_is_left_out(look: Look, tmp_path: Path) -> None:
    large = SMALL | {
        "flash": {
            "channels": 32,
            "packages": 4,
            "dies": 4,
            "planes": 2,
            "blocks": 8,
            "pages": 8,
            "page": "4 KiB",
        },
        "timing": {"read": ["500 ns"], "program": ["500 ns"], "erase": "1 us", "block": "1 ns"},
        "interface": {},
        "cleaning": {"begin": 1},
        "initial": {"fill": "100 %"},
        "spare": {"share": "60 %"},
    }
    spec = ssd_spec(large, reads=1.0, requests=40_000)
    spec["workload"]["synthetic"]["arrivals"] = {"closed": {"users": 1_000, "think": "0 ms"}}
    spec["host"]["outstanding"] = 1_000
    result = diskwright.run(spec, picture=True)
    text = report.page(result)
    assert "The first 4 of 32 channels are shown." in text
    assert "The run has more operations than the animation shows: it ends after" in text
    assert 1_500 < len(dies(result)["operations"]) <= 2_000
    report.write(result, tmp_path / "page.html")
    opened = shown(look(tmp_path / "page.html"))
    # As high as the rows are, all of them are seen.
    assert box(opened, "[data-film='rows']")[3] < 800
    assert len(text) < 4_000_000


def test_why_there_is_nothing_to_see() -> None:
    late = report.page(run(SMALL, animate="2 h", requests=200))
    assert "before the animation was to begin at 7,200.000000 s" in late
    assert "<canvas" not in late
    spec = ssd_spec(SMALL, requests=1)
    spec["measure"]["warmup"] = "1 min"
    spec["fault"] = [{"at": "1 s", "kind": "power-cut"}]
    assert "No measured request was served by this drive" in report.page(diskwright.run(spec, picture=True))


@pytest.mark.long
def test_a_disk_and_an_ssd_share_the_player(look: Look, tmp_path: Path) -> None:
    spec = ssd_spec(SMALL, requests=300)
    members = [{"ssd": SMALL}, {"hdd": {"drive": "ibm-18es", "buffer": False}}]
    spec["device"] = {"array": {"layout": "concat", "member": members}}
    # Some of the last blocks of the SSD, and of the first ones of the disk.
    spec["workload"]["synthetic"]["address"] = {"uniform": {"from": 95_000, "blocks": 20_000}}
    result = diskwright.run(spec, picture=True)
    report.write(result, tmp_path / "page.html")
    assert "The devices at work" in (tmp_path / "page.html").read_text()
    opened = shown(look(tmp_path / "page.html"))
    state = f"{part('state')}.textContent"
    # Each part has a colour.
    colours = Page((tmp_path / "page.html").read_text()).embedded("part-colours")
    for device in result.to_dict()["devices"].values():
        assert set(device.get("busy_ms", ())) <= set(colours)
    canvases = "[...document.querySelectorAll('#film canvas')].filter(one => one.offsetParent)"
    seen = f"{canvases}.map(one => one.dataset.film).join()"
    for disk, says, parts, usual in (
        (1, "cylinder", "platter,stack,overview,rows", "50"),
        (0, "dies at work", "plan,overview,rows", "20000"),
    ):
        x, y, width, height = box(opened, f"[data-disk='{disk}']")
        opened.click(x + width / 2, y + height / 2)
        opened.until(f"{state}.includes('{says}')")
        assert opened.value(seen) == parts
        assert opened.value(f"{part('speed')}.value") == usual


def test_the_command_line_chooses_the_millisecond(command: Command, tmp_path: Path) -> None:
    (tmp_path / "ssd.toml").write_text(
        '[workload.synthetic]\nrequests = 500\narrivals = { poisson = "100 us" }\nreads = 0.5\n'
        'size = "4 KiB"\naddress = "uniform"\n[device.ssd]\ndrive = "mqsim-clean"\n'
    )
    done = command("run", "ssd.toml", "--report", "page.html", "--animate", "20 ms")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text()
    rows = table(text)
    assert rows
    films = Page(text).embedded("film-data")["films"]
    assert (films[0]["from"], films[0]["length"]) == (20_000_000, 1_000_000)
