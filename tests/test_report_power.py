"""Does the page of a run tell of the power of its devices, where it is known?"""

import re

import diskwright
from conftest import ROOT
from diskwright import report

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
