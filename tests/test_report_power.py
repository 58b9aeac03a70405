"""Does the page of a run tell of the power of its devices, where it is known?"""

import re
from pathlib import Path

import pytest

import chromium
import diskwright
from conftest import ROOT, Look
from diskwright import report
from test_report_browser import wait_for_readable_labels

SPEC = ROOT / "examples" / "power.toml"
SHORT = {"workload.synthetic.requests": 300}


def test_the_states_of_a_disk_and_its_watts_over_time_are_shown() -> None:
    result = diskwright.run(SPEC, picture=True, set=SHORT)
    disk = result.devices.hdd
    page = report.page(result)
    table = re.search(r'<table class="numbers power-states">.*?</table>', page, re.DOTALL)
    assert table is not None
    shown = re.findall(r'<th scope="row">([a-z ]+)</th>', table[0])
    assert shown == [name.replace("_", " ") for name in disk.power_states]
    assert "hdd power" in page
    assert result.picture is not None
    watts = result.picture.to_dict()["devices"]["hdd"]["power"]
    widths = [watts["bin_s"]] * (len(watts["watts"]) - 1) + [watts["last_bin_s"]]
    energy = sum(watt * width for watt, width in zip(watts["watts"], widths, strict=True))
    # The picture is of the whole run, the warm-up included.
    assert energy >= disk.energy_j > 0


def test_without_figures_nothing_is_shown() -> None:
    plain = {"device.hdd.drive": "ibm-18es", "device.hdd.power": {}}
    result = diskwright.run(SPEC, picture=True, set=SHORT | plain)
    assert "power-states" not in report.page(result).split("<body")[1]
    assert "energy_j" not in result.devices.hdd.to_dict()


@chromium.in_windows(1280, 390)
def test_the_power_is_drawn_and_its_table_fits(look: Look, tmp_path: Path, width: int, scheme: str) -> None:
    result = diskwright.run(SPEC, picture=True, set=SHORT)
    file = tmp_path / "page.html"
    report.write(result, file)
    opened = look(file)
    opened.window(width, 900, scheme)
    opened.open(file)
    wait_for_readable_labels(opened)
    assert opened.value("document.documentElement.scrollWidth") <= width
    # The curve of the watts is in the chart over time, as high as the highest of them.
    assert result.picture is not None
    watts = result.picture.to_dict()["devices"]["hdd"]["power"]["watts"]
    drawn = "document.querySelector('#chart-time').data.filter(trace => trace.name === 'hdd power')"
    assert opened.value(f"{drawn}.length") == 1
    highest = opened.value(f"Math.max(...{drawn}[0].y.filter(watt => watt !== null))")
    assert highest == pytest.approx(max(watts), rel=1e-6)
    # Every state has its row, whose cells are on the page, or within reach of a box that scrolls.
    rows = opened.value(
        "[...document.querySelectorAll('.power-states tbody tr')].map(row => [...row.cells].map("
        "cell => cell.textContent))"
    )
    states = result.devices.hdd.power_states
    assert [row[0] for row in rows] == [name.replace("_", " ") for name in states]
    assert sum(float(row[1]) for row in rows) == pytest.approx(100, abs=0.5)
    reach = (
        "(() => { const table = document.querySelector('.power-states'); const box = table.parentElement;"
        " return [box.getBoundingClientRect().right, table.scrollWidth <= box.scrollWidth,"
        " getComputedStyle(box).overflowX]; })()"
    )
    right, is_within, overflow = opened.value(reach)
    assert right <= width
    assert is_within
    assert overflow == "auto"
