"""Does `diskwright probe` find what a drive's description says, and say it well?"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

import diskwright
from conftest import ROOT, Command, names, parsed, refused

# Enough to see everything once.
QUICK = ("--samples", "50", "--reads", "400", "--depths", "1,32")


def described(name: str) -> dict[str, Any]:
    return tomllib.loads(diskwright.drive_toml(name))


def keys(item: Any) -> set[str]:
    """All keys of an answer."""
    if isinstance(item, dict):
        return set(item).union(*map(keys, item.values()))
    return set().union(*map(keys, item)) if isinstance(item, list) else set()


@pytest.fixture
def probed(command: Command) -> dict[str, Any]:
    return parsed(command("probe", "ibm-18es", *QUICK, "--json", "-"))


def test_rotation_is_found_exactly(probed: dict[str, Any]) -> None:
    assert probed["rpm"] == 7200
    assert probed["revolution_ms"] == pytest.approx(60_000 / 7200, rel=1e-15)


def test_every_tabulated_seek_is_found(probed: dict[str, Any]) -> None:
    found = {seek["distance_cylinders"]: seek for seek in probed["seek"]}
    drive = described("ibm-18es")
    assert drive["heads"]["write_settle"] == "0.126 ms"
    for distance, ms in drive["seek"]["table"]["points_ms"]:
        assert found[distance]["read_ms"] == pytest.approx(ms, abs=1e-6)
        assert found[distance]["write_ms"] == pytest.approx(ms + 0.126, abs=1e-6)


def test_every_zone_has_its_bandwidth(probed: dict[str, Any]) -> None:
    layout = described("ibm-18es")["layout"]
    surfaces = layout["surfaces"]
    zones = layout["zone"]
    assert len(probed["zones"]) == len(zones)
    next_lbn = 0
    for found, zone in zip(probed["zones"], zones, strict=True):
        assert [found["first_cylinder"], found["last_cylinder"]] == zone["cylinders"]
        assert found["first_lbn"] == next_lbn
        next_lbn = found["last_lbn"] + 1
        track = zone["sectors_per_track"]
        skew = (surfaces - 1) * zone["track_skew"] + zone["cylinder_skew"]
        # A cylinder's tracks, and the turns of the skews between them.
        cylinder_s = (surfaces + skew / track) / 120
        assert found["sustained_mb_per_s"] == pytest.approx(
            surfaces * track * 512 / cylinder_s / 1e6, rel=0.005
        )
        assert found["media_mb_per_s"] == pytest.approx(track * 512 * 120 / 1e6, rel=0.005)
        # The interface takes 0.101 ms for a block.
        assert found["host_mb_per_s"] == pytest.approx(512 / 0.101e-3 / 1e6, rel=0.005)
    assert next_lbn == probed["capacity_blocks"]


def test_random_reads_and_accesses_are_plausible(probed: dict[str, Any]) -> None:
    points = {(point["scheduler"], point["depth"]): point for point in probed["random"]}
    assert list(points) == [(name, depth) for name in ("fcfs", "sstf", "c-look", "satf") for depth in (1, 32)]
    assert points["satf", 32]["iops"] > 1.5 * points["fcfs", 32]["iops"]
    for point in points.values():
        assert point["iops"] * point["response_mean_ms"] == pytest.approx(1e3 * point["depth"])
    assert probed["random_read_bytes"] == 4096
    for access in probed["access"]:
        assert access["p005_ms"] <= access["mean_ms"] <= access["p995_ms"]
        assert access["ci99_ms"][0] <= access["mean_ms"] <= access["ci99_ms"][1]
        assert access["samples"] == 50


def test_a_seed_decides_what_is_random(command: Command) -> None:
    def access(seed: str) -> Any:
        done = command("probe", "ibm-18es", *QUICK, "--only", "access", "--seed", seed, "--json", "-")
        return parsed(done)["access"]

    assert access("1") == access("1") != access("2")


def test_the_function_finds_what_the_command_finds(probed: dict[str, Any]) -> None:
    found = diskwright.probe("ibm-18es", samples=50, reads=400, depths=[1, 32])
    assert found.to_dict() == probed
    assert found.zones[0].sectors_per_track == 390


@pytest.mark.parametrize("name", diskwright.drives(kind="hdd"))
def test_every_drive_is_shown_in_eighty_columns(command: Command, name: str) -> None:
    done = command("probe", name, *QUICK)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in ("full stroke", "head switch", "sustained", "queue depth", "satf"):
        assert words in done.stdout
    # Of many zones the middle ones are left out, and counted.
    assert "…" not in re.sub(r"… \d+ more", "", done.stdout)
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_only_some_measurements(command: Command) -> None:
    for only in (["--only", "seek,zones"], ["--only", "seek", "--only", "zones"]):
        found = parsed(command("probe", "ibm-18es", *only, "--json", "-"))
        assert {"seek", "zones", "access", "random"} & set(found) == {"seek", "zones"}
    done = command("probe", "ibm-18es", "--only", "zones")
    assert "sustained" in done.stdout
    assert "full stroke" not in done.stdout


def test_a_drive_of_ones_own(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(diskwright.drive_toml("ibm-18es").replace("7200 rpm", "8400 rpm"))
    found = parsed(command("probe", "./mine.toml", *QUICK, "--json", "-"))
    assert found["rpm"] == 8400
    assert found["drive"] == "./mine.toml"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ibm-18s"], ["ibm-18s", "ibm-18es"]),
        (["./missing.toml"], ["missing.toml", "No such file"]),
        (["ibm-18es", "--only", "zone"], ['"zone"', "zones", "iops"]),
        (["ibm-18es", "--schedulers", "satf,fcsf"], ['"fcsf"', "fcfs", "c-look"]),
        (["ibm-18es", "--depths", "1,two"], ["--depths", "'two'"]),
        (["ibm-18es", "--depths", "0"], ["depth 0"]),
        (["ibm-18es", "--depths", "99999999999"], ["99999999999"]),
        (["ibm-18es", "--depths", ","], ["a depth and a scheduler"]),
        (["ibm-18es", "--reads", "100"], ["100", "2560"]),
        (["ibm-18es", "--reads", "-1"], ["--reads", "-1"]),
        (["ibm-18es", "--size", "4000 B"], ["4000 B", "multiple of 512"]),
        (["ibm-18es", "--size", "1 TB"], ["17916240"]),
        (["ibm-18es", "--samples", "0"], ["0 samples"]),
        (["exos-x20", "--only", "streams", "--stream-size", "1 B"], ["1 B", "multiple of 512"]),
        (["exos-x20", "--only", "writes", "--write-depth", "0"], ["depth of 0", "1 to"]),
        (["ibm-18es", "--only", "iops", "--schedulers", "shipped"], ["does not say", "fcfs"]),
        (["ibm-18es", "--plot", "out.jpg"], ["out.jpg", ".png"]),
        (["ibm-18es", "--plot", "no/such/folder.png"], ["no/such/folder.png"]),
    ],
)
def test_wrong_input_says_what_is_accepted(
    command: Command, tmp_path: Path, arguments: list[str], words: list[str]
) -> None:
    refused(command("probe", *arguments), *words)
    assert names(tmp_path) == []


def test_a_string_is_no_list_of_names() -> None:
    with pytest.raises(TypeError, match="only: expected a list"):
        diskwright.probe("ibm-18es", only="seek")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.png", b"\x89PNG\r\n\x1a\n"),
        pytest.param("a.svg", b"<?xml", marks=pytest.mark.long),
        pytest.param("a.pdf", b"%PDF-", marks=pytest.mark.long),
    ],
)
def test_a_plot_is_drawn(command: Command, tmp_path: Path, name: str, start: bytes) -> None:
    done = command("probe", "ibm-18es", *QUICK, "--plot", name)
    assert done.returncode == 0, done.stderr
    content = (tmp_path / name).read_bytes()
    assert content.startswith(start)
    assert names(tmp_path) == [name]
    if name.endswith(".png"):
        assert int.from_bytes(content[16:20]) == 1280
    # The same again is the same to the byte.
    command("probe", "ibm-18es", *QUICK, "--plot", name)
    assert (tmp_path / name).read_bytes() == content


def test_a_plot_shows_what_was_measured() -> None:
    from diskwright import _plot

    panels = _plot.figure(diskwright.probe("exos-x20", only=["zones"])).axes
    assert [panel.get_title() for panel in panels] == ["Bandwidth of long reads"]
    everything = diskwright.probe("exos-x20", samples=20, reads=400, depths=[4, 1])
    made = _plot.figure(everything)
    assert "Exos X20" in made.get_suptitle()
    assert all("," in panel.get_xlabel() for panel in made.axes)
    assert [tick.get_text() for tick in made.axes[3].get_xticklabels()] == ["1", "4"]


CACHES = ("--only", "streams,writes,destage")


@pytest.fixture
def of_caches(command: Command) -> dict[str, Any]:
    return parsed(command("probe", "cheetah-15k7", *CACHES, "--json", "-"))


def test_one_stream_has_the_rate_of_its_zone(of_caches: dict[str, Any]) -> None:
    (zone, *_) = diskwright.probe("cheetah-15k7", only=["zones"]).zones
    first = of_caches["streams"]["read"][0]
    assert first["streams"] == 1
    assert first["mb_per_s"] == pytest.approx(zone.sustained_mb_per_s, rel=0.01)


def test_a_burst_is_as_quick_as_memory(of_caches: dict[str, Any]) -> None:
    drive = described("cheetah-15k7")
    assert drive["interface"]["rate"] == "600 MB/s"
    hit_ms = float(drive["pool"]["hit_overhead"].removesuffix(" ms"))
    (state,) = of_caches["destage"]["states"]
    each = hit_ms + 4096 / 600e6 * 1e3
    assert state["burst_ms"] / state["writes"] == pytest.approx(each, rel=1e-4)
    assert state["idle_destage_ms"] > state["burst_ms"]


def test_the_page_documents_every_key_of_caches(of_caches: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "cli" / "probe.md").read_text()
    assert {key for key in keys(of_caches) if f"`{key}`" not in page} == set()


@pytest.mark.parametrize("name", ["cheetah-15k7", "ibm-18es", "hp-c3323a"])
def test_caches_are_shown_in_eighty_columns(command: Command, name: str) -> None:
    done = command("probe", name, *CACHES)
    assert done.returncode == 0, done.stderr
    for words in ("slowest", "steady", "flush at once", "as the drive ships", "is missing"):
        assert words in done.stdout
    assert "…" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_drive_without_memory_says_so(command: Command) -> None:
    done = command("probe", "hp-c2249a", *CACHES)
    assert done.returncode == 0, done.stderr
    assert "no memory" in done.stdout
    assert not any(word in done.stdout for word in ("slowest", "steady", "flush"))


def test_the_shipped_scheduler_is_marked(command: Command) -> None:
    done = command("probe", "exos-x20", "--only", "iops", "--depths", "1,32", "--reads", "400")
    assert "aged-satf *" in done.stdout
    weight = described("exos-x20")["ships"]["scheduler"]["aged-satf"]["weight"]
    assert f"aged-satf weight {weight}" in done.stdout


def test_the_shell_completes_measurements() -> None:
    from diskwright.cli.probe import _completed

    assert _completed("str") == ["streams"]
    assert _completed("seek,s") == ["seek,streams"]
    assert "writes" in _completed("")


def test_a_plot_of_caches_has_panels_for_them(of_caches: dict[str, Any]) -> None:
    from matplotlib.patches import Rectangle

    from diskwright import _plot

    panels = _plot.figure(diskwright.Record(of_caches)).axes
    titles = ["Sequential streams", "Random writes over time", "Time to destage"]
    # The fourth place of two rows is empty.
    assert [panel.get_title() for panel in panels] == [*titles, ""]
    assert [panel.axison for panel in panels] == [True, True, True, False]
    destage = panels[2]
    lengths = sorted(cast(Rectangle, bar).get_width() for bar in destage.patches)
    (state,) = of_caches["destage"]["states"]
    times = [state[f"{key}_ms"] / 1000 for key in ("burst", "idle_destage", "flush_at_once")]
    assert lengths == pytest.approx(sorted(times))


def test_only_a_plot_needs_the_plotting_library(tmp_path: Path) -> None:
    code = (
        "import sys; from diskwright.cli import app; sys.argv = ['diskwright', *sys.argv[1:]]\n"
        "try: app()\nexcept SystemExit: print('matplotlib' in sys.modules, file=sys.stderr)"
    )
    for arguments, loaded in (
        (["--help"], "False"),
        (["probe", "ibm-18es", "--only", "seek"], "False"),
        (["probe", "ibm-18es", "--only", "seek", "--plot", "a.svg"], "True"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.stderr.splitlines()[-1] == loaded


def test_progress_is_told_and_may_stop_the_probe() -> None:
    class EnoughError(Exception):
        pass

    told: list[tuple[int, int | None]] = []
    diskwright.probe(
        "ibm-18es", samples=20, reads=400, depths=[1], progress=lambda done, total: told.append((done, total))
    )
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]

    def stop(_done: int, _total: int | None) -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        diskwright.probe("ibm-18es", progress=stop)


def test_the_page_documents_every_key(probed: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "cli" / "probe.md").read_text()
    assert {key for key in keys(probed) if f"`{key}`" not in page} == set()
