"""Does the animation of a disk play, step and slow down, and show the times of the log of requests?"""

import copy
import re
from collections import defaultdict
from math import dist
from pathlib import Path
from typing import Any

import pytest

import chromium
import diskwright
from conftest import SPEC, Command, Look, others_long, refused
from diskwright import report
from test_report import Page, spec_of
from test_report_browser import box, contrast, element, luminance
from test_report_colours import EYES, lab

PARTS = ("overhead", "bus", "seek", "head_switch", "settle", "rotation", "transfer", "wait")


def variant(**settings: Any) -> dict[str, Any]:
    spec = copy.deepcopy(spec_of(SPEC))
    for key, value in settings.items():
        table = spec
        *path, last = key.split("__")
        for step in path:
            table = table[step]
        table[last] = value
    return spec


def run(spec: dict[str, Any], animate: str | None = None) -> diskwright.Result:
    return diskwright.run(spec, picture=True, requests=True, animate=animate)


SPECS = {
    "without a buffer": variant(device__hdd__buffer=False),
    "with a buffer": variant(device__hdd__drive="cheetah-9lp"),
    "over several tracks": variant(
        device__hdd__buffer=False,
        workload__synthetic__size="700 blocks",
        workload__synthetic__arrivals={"poisson": "60 ms"},
    ),
}


@pytest.fixture(scope="module", params=others_long(SPECS, "with a buffer"))
def result(request: pytest.FixtureRequest) -> diskwright.Result:
    return run(SPECS[request.param])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("film") / "page.html"
    report.write(run(SPECS["without a buffer"]), path)
    return path


@pytest.fixture
def opened(look: Look, file: Path) -> chromium.Browser:
    browser = look(file)
    # Out of sight it would not go on playing.
    browser.value(f"{element('#film')}.scrollIntoView({{block: 'center'}})")
    browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return browser


def film(result: diskwright.Result) -> dict[str, Any]:
    assert result.picture is not None
    shown: dict[str, Any] = result.picture.to_dict()["devices"]["hdd"]["film"]
    return shown


def log(result: diskwright.Result) -> dict[int, dict[str, Any]]:
    return {row["sequence"]: row for row in result.request_log.to_polars().to_dicts()}


def part(name: str) -> str:
    return element(f"[data-film='{name}']")


def time(browser: chromium.Browser) -> float:
    found: float = browser.value(f"Number({element('#film')}.dataset.time)")
    return found


def click(browser: chromium.Browser, name: str) -> None:
    x, y, width, height = box(browser, f"[data-film='{name}']")
    browser.click(x + width / 2, y + height / 2)


def pixels(browser: chromium.Browser, name: str) -> str:
    found: str = browser.value(f"{part(name)}.toDataURL()")
    return found


def press(browser: chromium.Browser, key: str) -> None:
    browser.value(
        f"{part('slider')}.focus() || {part('slider')}"
        f".dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}))"
    )


def opened_to_fit(browser: chromium.Browser, file: Path, width: int, scheme: str) -> float:
    """Opens a page in a window: the film fits and its words are readable. The luminance of the ground."""
    browser.window(width, 900, scheme)
    browser.open(file)
    assert browser.value("document.documentElement.scrollWidth") <= width
    wide = browser.value(
        "[...document.querySelectorAll('#film, #film *')]"
        f".filter(part => part.getBoundingClientRect().right > {width} + 1)"
        ".map(part => part.outerHTML.slice(0, 99))"
    )
    assert wide == []
    ground = luminance(browser.value("getComputedStyle(document.body).backgroundColor"))
    for selector in (".film-now", ".film-clock"):
        colour = browser.value(f"getComputedStyle({element(selector)}).color")
        assert contrast(ground, luminance(colour)) > 7
    return ground


def table(text: str) -> list[dict[str, str]]:
    """The rows of the table of the animation's requests, by the names of their columns."""
    inner = text[text.index('class="numbers film-table"') :]
    inner = inner[: inner.index("</table>")]
    names = re.findall(r'<th scope="col">([^<]*)</th>', inner)
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", inner)
    return [dict(zip(names, re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row), strict=True)) for row in rows]


def ns(ms: str) -> int:
    whole, fraction = ms.replace(",", "").split(".")
    assert len(fraction) == 6
    return int(whole + fraction)


def test_the_table_is_the_log(result: diskwright.Result) -> None:
    rows, logged, shown = table(report.page(result)), log(result), film(result)
    assert len(rows) == len(shown["requests"]) > 0
    for row in rows:
        request = logged[int(row["request"])]
        assert (row[""], row["LBN"], row["blocks"]) == (
            request["op"],
            f"{request['lbn']:,}",
            f"{request['blocks']:,}",
        )
        for name in ("arrival", "start", "completion"):
            assert ns(row[name]) == request[f"{name}_ns"]
        assert {"seek", "head switch", "settle", "rotation", "transfer"} <= set(row)
        for name in PARTS:
            assert ns(row.get(name.replace("_", " "), "0.000000")) == request[f"{name}_ns"]


def test_every_step_that_is_animated_is_of_the_log(
    look: Look, result: diskwright.Result, tmp_path: Path
) -> None:
    report.write(result, tmp_path / "page.html")
    browser = look(tmp_path / "page.html")
    press(browser, "Home")
    browser.until(f"Number({element('#film')}.dataset.time) === 0")
    # Steps from event to event, and notes all that is said.
    lines = browser.value(
        """(async () => {
          const film = document.getElementById("film");
          const next = film.querySelector("[data-film=next]");
          const frame = () => new Promise(requestAnimationFrame);
          const found = [];
          for (let before = null; film.dataset.time !== before;) {
            before = film.dataset.time;
            const lines = [...film.querySelectorAll("[data-film=now] span")];
            found.push(...lines.map((line) => ({ ...line.dataset, text: line.textContent })));
            next.click();
            await frame(), await frame();
          }
          return found;
        })()"""
    )
    shown, logged = film(result), log(result)
    steps: dict[int, set[tuple[int, int, str]]] = defaultdict(set)
    for line in lines:
        if line.get("of"):
            start, end = int(line["start"]), int(line["end"])
            steps[int(line["of"])].add((start, end, line["part"]))
            assert re.search(rf": {line['part'].replace('_', ' ')}, [\d,.]+ of ([\d,.]+) ms$", line["text"])
            assert line["text"].endswith(f" of {(end - start) / 1e6:,.3f} ms")
    whole = 0
    for sequence, found in steps.items():
        row = logged[sequence]
        if row["start_ns"] < shown["from_ns"] or row["completion_ns"] > shown["to_ns"]:
            continue
        whole += 1
        assert min(start for start, _, _ in found) == row["start_ns"] - shown["from_ns"]
        assert max(end for _, end, _ in found) == row["completion_ns"] - shown["from_ns"]
        for name in PARTS:
            assert sum(end - start for start, end, is_in in found if is_in == name) == row[f"{name}_ns"]
    inside = [
        row
        for row in logged.values()
        if row["start_ns"] >= shown["from_ns"] and row["completion_ns"] <= shown["to_ns"]
    ]
    assert whole == len(inside) > 3


def test_sectors_pass_when_they_are_under_the_head(
    look: Look, result: diskwright.Result, tmp_path: Path
) -> None:
    report.write(result, tmp_path / "page.html")
    browser = look(tmp_path / "page.html")
    found = browser.value(
        """(() => {
          const model = filmModel(JSON.parse(document.getElementById("film-data").textContent).films[0]);
          const { film } = model;
          const found = { begins: [], seeks: 0, placed: true, monotone: true };
          for (const { legs } of film.work) {
            for (const { part, start, end, from, to, target } of legs) {
              const name = film.parts[part];
              if (name === "transfer") {
                const behind = model.turned(start) - target.from;
                found.begins.push((behind - Math.round(behind)) * film.turn);
              } else if (name === "seek") {
                found.seeks += 1;
                found.placed &&= model.arm(0, start).cylinder === from.cylinder;
                found.placed &&= Math.abs(model.arm(0, end - 1e-3).cylinder - to.cylinder) < 1e-6;
                const way = Math.sign(to.cylinder - from.cylinder);
                for (let share = 0; share < 1; share += 0.1) {
                  const at = (share) => model.arm(0, start + share * (end - start)).cylinder;
                  const [one, other] = [at(share), at(share + 0.05)];
                  found.monotone &&= way * (other - one) >= 0;
                }
              }
            }
          }
          return found;
        })()"""
    )
    # A sector's edge is rounded up to the nanosecond.
    assert found["begins"]
    assert all(-0.01 < behind < 2 for behind in found["begins"])
    assert found["seeks"] > 0
    assert found["placed"]
    assert found["monotone"]


def test_it_does_not_play_by_itself_and_asks_for_nothing(opened: chromium.Browser, file: Path) -> None:
    opens = time(opened)
    opened.page.wait_for_timeout(300)
    assert time(opened) == opens
    assert opened.value(f"{element('#film')}.dataset.playing") == "false"
    asked = [address for address in opened.requested if not address.startswith(("data:", "blob:"))]
    assert asked == [file.as_uri()]


def test_it_plays_and_pauses(opened: chromium.Browser) -> None:
    before = [pixels(opened, name) for name in ("platter", "overview", "rows")]
    click(opened, "play")
    opened.until(f"Number({element('#film')}.dataset.time) > 2e6")
    assert opened.value(f"{part('play')}.getAttribute('aria-pressed')") == "true"
    click(opened, "play")
    opened.until(f"{element('#film')}.dataset.playing === 'false'")
    stopped = time(opened)
    assert [pixels(opened, name) for name in ("platter", "overview", "rows")] != before
    opened.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert time(opened) == stopped


@pytest.mark.long
def test_it_plays_to_its_end_and_again(opened: chromium.Browser) -> None:
    press(opened, "End")
    opened.until(f"Number({element('#film')}.dataset.time) === 5e8")
    click(opened, "play")
    opened.until(f"{element('#film')}.dataset.playing === 'true'")
    assert time(opened) < 5e8


@pytest.mark.long
def test_slow_motion(opened: chromium.Browser) -> None:
    """The same frames take as many times longer as the speed says."""
    frames = """(async () => {
        const film = document.getElementById("film");
        const frame = () => new Promise(requestAnimationFrame);
        const play = film.querySelector("[data-film=play]");
        const speed = film.querySelector("[data-film=speed]");
        speed.value = SPEED;
        speed.dispatchEvent(new Event("change"));
        const from = Number(film.dataset.time);
        play.click();
        await frame();
        const first = await frame();
        const at = Number(film.dataset.time);
        let last = first;
        for (let count = 0; count < 10; count += 1) last = await frame();
        const to = Number(film.dataset.time);
        play.click();
        await frame(), await frame();
        return (to - at) / 1e6 / (last - first);
      })()"""
    for speed in (1000, 200, 50):
        shown = opened.value(frames.replace("SPEED", str(speed)))
        assert shown == pytest.approx(1 / speed, rel=1e-6)


def test_it_opens_at_the_busiest_moment_and_leads_to_the_slowest_requests(
    opened: chromium.Browser,
) -> None:
    result = run(SPECS["without a buffer"])
    assert result.picture is not None
    film = result.picture.to_dict()["devices"]["hdd"]["film"]
    start, served = film["from_ns"], film["requests"]
    everything = [*served, *film["waiting"]]

    def outstanding(at: float) -> int:
        ends = [request.get("completion_ns") for request in everything]
        starts = [request["arrival_ns"] for request in everything]
        pairs = zip(starts, ends, strict=True)
        return sum(arrival <= at and (end is None or at < end) for arrival, end in pairs)

    at = start + time(opened)
    most = max(outstanding(max(request["arrival_ns"], start)) for request in everything)
    assert outstanding(at) == most
    assert f"Busiest: {most} outstanding" in opened.value(f"{part('slowest')}.textContent")
    slow = max(served, key=lambda request: request["completion_ns"] - request["arrival_ns"])
    response = (slow["completion_ns"] - slow["arrival_ns"]) / 1e6
    jump = f"{part('slowest')}.querySelectorAll('button')[1]"
    assert opened.value(f"{jump}.textContent") == f"Slow: {slow['sequence']}, {response:.1f} ms"
    opened.value(f"{jump}.click()")
    opened.until(f"Number({element('#film')}.dataset.time) === {max(slow['start_ns'] - start, 0)}")
    title = "document.querySelector('#film-title').getBoundingClientRect().top"
    assert opened.value(f"{title} < document.querySelector('#facts-title').getBoundingClientRect().top")


def test_it_steps_both_ways_with_buttons_and_keys(opened: chromium.Browser) -> None:
    press(opened, "Home")
    opened.until(f"Number({element('#film')}.dataset.time) === 0")
    click(opened, "next")
    opened.until(f"Number({element('#film')}.dataset.time) > 0")
    first = time(opened)
    press(opened, "ArrowRight")
    opened.until(f"Number({element('#film')}.dataset.time) > {first}")
    press(opened, "ArrowLeft")
    opened.until(f"Number({element('#film')}.dataset.time) === {first}")
    click(opened, "previous")
    opened.until(f"Number({element('#film')}.dataset.time) === 0")
    press(opened, " ")
    opened.until(f"{element('#film')}.dataset.playing === 'true'")
    press(opened, " ")
    opened.until(f"{element('#film')}.dataset.playing === 'false'")


@pytest.mark.long
def test_the_time_line_is_dragged(opened: chromium.Browser) -> None:
    x, y, width, height = box(opened, "[data-film='overview']")
    opened.drag((x + 6, y + height / 3), (x + width / 2, y + height / 3))
    opened.until(f"Math.abs(Number({element('#film')}.dataset.time) - 2.5e8) < 1e6")
    words = opened.value(f"{part('slider')}.getAttribute('aria-valuetext')")
    assert opened.value(f"{part('clock')}.textContent") in words
    # In the rows, as far as they show.
    before = time(opened)
    x, y, width, height = box(opened, "[data-film='rows']")
    opened.drag((x + width / 2, y + height / 2), (x + width - 40, y + height / 2))
    opened.until(f"Number({element('#film')}.dataset.time) > {before}")
    assert time(opened) - before < 6e7


@chromium.in_windows(480, 1280, 1920)
def test_it_fits_and_is_readable(browser: chromium.Browser, file: Path, width: int, scheme: str) -> None:
    ground = opened_to_fit(browser, file, width, scheme)
    # Reads, writes and what is drawn of them stand out from the ground.
    read, write = browser.value(
        "[...document.querySelectorAll('#film [data-op-swatch]')]"
        ".map(one => getComputedStyle(one).backgroundColor)"
    )
    assert all(contrast(ground, luminance(colour)) > 2.5 for colour in (read, write))
    # And from each other, whoever looks.
    for eyes in EYES.values():
        assert dist(lab(digits(read), eyes), lab(digits(write), eyes)) > 30
    assert browser.complaints == []


def digits(colour: str) -> str:
    """`rgb(r, g, b)` as `#rrggbb`."""
    parts = colour.removeprefix("rgb(").removesuffix(")").split(",")
    return "#" + "".join(f"{int(part):02x}" for part in parts)


@pytest.mark.long
def test_parts_have_the_colours_of_their_chart(opened: chromium.Browser) -> None:
    bars = opened.value(
        f"Object.fromEntries({element('#chart-parts')}._fullData"
        ".map(trace => [trace.name, trace.marker.color]))"
    )
    swatches = opened.value(
        "Object.fromEntries([...document.querySelectorAll('[data-part-swatch]')].map(one =>"
        " [one.dataset.partSwatch.replace('_', ' '), getComputedStyle(one).backgroundColor]))"
    )
    assert len(bars) >= 5
    for name, colour in bars.items():
        assert digits(swatches[name]) == colour


def test_it_prints_one_still_frame_on_white(opened: chromium.Browser) -> None:
    opened.window(1280, 900, "dark")
    opened.value(
        "addEventListener('beforeprint', () => {"
        f" const swatch = {element('#film [data-op-swatch]')};"
        " window.printed = [swatch.closest('#film').dataset.playing, swatch.style.backgroundColor]; })"
    )
    click(opened, "play")
    opened.until(f"{element('#film')}.dataset.playing === 'true'")
    assert opened.pdf().startswith(b"%PDF")
    playing, colour = opened.value("window.printed")
    assert playing == "false"
    assert luminance(colour) < 0.3


def test_without_script_there_is_a_table(file: Path) -> None:
    page = Page(file.read_text())
    canvases = [attributes for tag, attributes in page.elements if tag == "canvas"]
    assert all("aria-label" in each or each.get("aria-hidden") == "true" for each in canvases)
    assert len(canvases) == 4


def test_why_there_is_nothing_to_see() -> None:
    late = run(SPECS["without a buffer"], animate="2 h")
    text = report.page(late)
    assert "before the animation was to begin at 7,200.000000 s" in text
    assert "<canvas" not in text
    cut = [{"at": "1 s", "kind": "power-cut"}]
    idle = variant(workload__synthetic__requests=1, measure__warmup="1 min", fault=cut)
    assert "No measured request was served" in report.page(run(idle))


@pytest.mark.long
def test_several_disks_share_the_clock(look: Look, tmp_path: Path) -> None:
    result = run(SPECS["without a buffer"])
    assert result.picture is not None
    picture = result.picture.to_dict()
    picture["devices"]["other"] = copy.deepcopy(picture["devices"]["hdd"])
    report.write(diskwright.Result(result.to_dict(), picture), tmp_path / "page.html")
    browser = look(tmp_path / "page.html")
    # Its first frame may be drawn at another instant than 0.
    browser.until(f"Number({element('#film')}.dataset.time) >= 0")
    before = time(browser)
    click(browser, "next")
    browser.until(f"Number({element('#film')}.dataset.time) !== {before}")
    at = time(browser)
    x, y, width, height = box(browser, "[data-disk='1']")
    browser.click(x + width / 2, y + height / 2)
    pressed = element("[data-disk='1']") + ".getAttribute('aria-pressed')"
    browser.until(f"{pressed} === 'true'")
    assert time(browser) == at


def test_the_command_line_chooses_the_half_second(command: Command, spec: Path, tmp_path: Path) -> None:
    done = command("run", spec, "--report", "page.html", "--animate", "12.5 s")
    assert done.returncode == 0, done.stderr
    rows = table((tmp_path / "page.html").read_text())
    assert rows
    for row in rows:
        assert ns(row["start"]) < 13_000_000_000
        assert ns(row["completion"]) > 12_500_000_000
    refused(command("run", spec, "--animate", "12.5 s"), "--animate", "--report")
    refused(command("run", spec, "--report", "page.html", "--animate", "soon"), "--animate", "soon", "20 ms")


def test_an_animation_is_part_of_a_picture() -> None:
    with pytest.raises(ValueError, match="picture=True"):
        diskwright.run(SPECS["without a buffer"], animate="1 s")


def several(**hdd: Any) -> dict[str, Any]:
    """A drive with several arms, or a log, under a load that is read and written over several tracks."""
    spec = variant(
        device__hdd__buffer=False,
        workload__synthetic__size="400 blocks",
        workload__synthetic__reads=0.5,
        workload__synthetic__arrivals={"poisson": "45 ms"},
        workload__synthetic__address={"uniform": {"from": 0, "blocks": 1_000_000}},
    )
    spec["device"]["hdd"] |= {"drive": "ibm-18es-linear", **hdd}
    return spec


LOG = {
    "eager": {
        "block": "64 blocks",
        "initial": {"write": "1_000_000 blocks"},
        "cleaner": {"watermark": {"low": 0.999, "high": 0.9995}},
    }
}
SEVERAL = {
    "two arms": several(arms={"arm": [{}, {"angle": 0.5}]}),
    "three arms": several(arms={"motion": "independent", "arm": [{}, {"angle": 0.2}, {"angle": 0.65}]}),
    "arms that read and write": several(
        arms={"motion": "independent", "arm": [{"writes": False}, {"angle": 0.5, "reads": False}]},
        placement=LOG,
    ),
    "arms with own surfaces": several(
        arms={"motion": "independent", "arm": [{"surfaces": [0, 1]}, {"surfaces": [2, 4]}]}
    ),
}


@pytest.fixture(scope="module", params=others_long(SEVERAL, "arms that read and write"))
def with_arms(request: pytest.FixtureRequest) -> diskwright.Result:
    return run(SEVERAL[request.param])


@pytest.mark.long
def test_several_arms_play(browser: chromium.Browser, with_arms: diskwright.Result, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    report.write(with_arms, file)
    for width, scheme in ((1280, "light"), (480, "dark")):
        browser.window(width, 900, scheme)
        browser.open(file)
        assert browser.value("document.documentElement.scrollWidth") <= width
        browser.value(f"{element('#film')}.scrollIntoView({{block: 'center'}})")
        browser.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        # Its first frame may be drawn at another instant than 0.
        browser.until(f"Number({element('#film')}.dataset.time) >= 0")
        begin = time(browser)
        before = [pixels(browser, name) for name in ("platter", "stack", "overview", "rows")]
        click(browser, "play")
        browser.until(f"Number({element('#film')}.dataset.time) > {begin + 2e6}")
        assert [pixels(browser, name) for name in ("platter", "stack", "overview", "rows")] != before
        click(browser, "play")
        browser.until(f"{element('#film')}.dataset.playing === 'false'")
    asked = [address for address in browser.requested if not address.startswith(("data:", "blob:"))]
    assert asked == [file.as_uri()]
    assert browser.complaints == []
    # Every arm says where it is.
    state = browser.value(f"{part('state')}.textContent")
    arms = film(with_arms)["arms"]
    assert all(f"arm {number}: cylinder" in state for number in range(len(arms)))


def test_the_table_of_several_arms_is_the_log(with_arms: diskwright.Result) -> None:
    rows, logged = table(report.page(with_arms)), log(with_arms)
    assert len(rows) == len(film(with_arms)["requests"]) > 3
    for row in rows:
        request = logged[int(row["request"])]
        for name in ("arrival", "start", "completion"):
            assert ns(row[name]) == request[f"{name}_ns"]
        for name in PARTS:
            assert ns(row.get(name.replace("_", " "), "0.000000")) == request[f"{name}_ns"]


# Draws a disk at the beginning and in the middle of every transfer, and notes on the canvas itself where
# the heads are, the discs of 6 pixels, and the first edges of the arcs, 6 pixels wide, and of what is left of
# them, 3 pixels wide: angles in turns, distances from the platter's middle.
DRAWN = """(() => {
  const { films } = JSON.parse(document.getElementById("film-data").textContent);
  const model = filmModel(films[0]);
  const canvas = document.querySelector("[data-film=platter]");
  const pen = canvas.getContext("2d");
  let [arcs, left, heads, middle, last] = [[], [], [], null, null];
  const at = (x, y) => pen.getTransform().transformPoint(new DOMPoint(x, y));
  const polar = (point) => ({
    angle: Math.atan2(point.y - middle.y, point.x - middle.x) / 2 / Math.PI,
    distance: Math.hypot(point.x - middle.x, point.y - middle.y),
  });
  const { arc, stroke, fill } = CanvasRenderingContext2D.prototype;
  pen.arc = (...args) => { last = args; arc.apply(pen, args); };
  pen.fill = (...args) => {
    if (last && last[2] === 6 && last[1] === 0) heads.push(polar(at(last[0], 0)));
    last = null;
    fill.apply(pen, args);
  };
  pen.stroke = (...args) => {
    const found = { 3: left, 6: arcs }[pen.lineWidth];
    if (last && found) {
      const [, , radius, start] = last;
      found.push(polar(at(radius * Math.cos(start), radius * Math.sin(start))));
    }
    last = null;
    stroke.apply(pen, args);
  };
  pen.translate = (...args) => {
    middle ??= at(...args);
    CanvasRenderingContext2D.prototype.translate.apply(pen, args);
  };
  const colours = { metal: ["#000", "#111"], parts: Array(40).fill("#222"), ops: ["#333", "#444"] };
  const look = new Proxy(colours, { get: (own, name) => own[name] ?? "#555" });
  const found = [];
  for (const { arm, legs } of model.film.work) {
    for (const { part, start, end, target } of legs) {
      if (model.film.parts[part] !== "transfer" || start < 0 || target.size < 0.05) continue;
      for (const t of [start + 1e-3, (start + end) / 2]) {
        [arcs, left, heads, middle] = [[], [], [], null];
        FilmDisk.platter(canvas, model, t, look);
        const aims = (_, number) => number < arm && model.arm(number, t).target;
        const before = model.film.arms.filter(aims).length;
        const drawn = { head: heads[arm], arc: arcs[before], left: left[before] };
        found.push({ arm, count: heads.length, begins: t < start + 1, ...drawn });
      }
    }
  }
  for (const name of ["arc", "fill", "stroke", "translate"]) delete pen[name];
  return found;
})()"""


@pytest.mark.long
def test_sectors_are_drawn_under_the_head_that_passes_them(
    look: Look, with_arms: diskwright.Result, tmp_path: Path
) -> None:
    report.write(with_arms, tmp_path / "page.html")
    browser = look(tmp_path / "page.html")
    arms = film(with_arms)["arms"]
    found = browser.value(DRAWN)
    assert {transfer["arm"] for transfer in found} == set(range(len(arms)))

    def turns(one: float, other: float) -> float:
        return abs((one - other + 0.5) % 1 - 0.5)

    for transfer in found:
        head, arc = transfer["head"], transfer["arc"]
        assert transfer["count"] == len(arms)
        # The platter turns against the angles of the canvas, and so stand the arms around it.
        assert turns(head["angle"], -arms[transfer["arm"]]["angle"]) < 1e-6
        if transfer["begins"]:
            assert turns(arc["angle"], head["angle"]) < 1e-5
        else:
            assert turns(arc["angle"], head["angle"]) > 0.02
        assert turns(transfer["left"]["angle"], head["angle"]) < 1e-5
        assert arc["distance"] == pytest.approx(head["distance"], abs=1e-3)


@pytest.mark.long
def test_what_a_cleaner_does_is_told(look: Look, tmp_path: Path) -> None:
    result = run(SEVERAL["arms that read and write"])
    report.write(result, tmp_path / "page.html")
    browser = look(tmp_path / "page.html")
    said = browser.value(
        """(() => {
          const model = filmModel(JSON.parse(document.getElementById("film-data").textContent).films[0]);
          const words = filmWords(model);
          return model.film.work.filter(({ purpose, start }) => purpose === "cleaning" && start >= 0)
            .map(({ start }) => words.now(start + 1).map(({ text }) => text).join("|"));
        })()"""
    )
    cleaning = [work for work in film(result)["work"] if work["purpose"] == "cleaning"]
    assert len(said) >= len(cleaning) - 1 > 0
    assert all("The cleaner moves a block, arm 1" in text or "empties, arm 0" in text for text in said)
    assert {work["op"] for work in cleaning} == {"read", "write"}


@pytest.mark.long
def test_a_write_into_a_log_is_marked_where_it_goes(look: Look, tmp_path: Path) -> None:
    result = run(SEVERAL["arms that read and write"])
    report.write(result, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert "has no place yet" in text
    browser = look(tmp_path / "page.html")
    places = browser.value(
        """(() => {
          const model = filmModel(JSON.parse(document.getElementById("film-data").textContent).films[0]);
          const found = [];
          for (const { request, legs, purpose, op } of model.film.work) {
            if (purpose !== "request" || op !== 1 || request === null) continue;
            const one = model.film.requests[request];
            for (const { start, target } of legs) {
              if (!target) continue;
              const { cylinder, head, from } = target;
              found.push([one.place, model.place(one, start + 1), [cylinder, head, from]]);
            }
          }
          return found;
        })()"""
    )
    assert places
    assert all(own is None and shown == target for own, shown, target in places)
    assert "has no place yet" not in report.page(run(SEVERAL["two arms"]))
