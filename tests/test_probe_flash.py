"""Does `diskwright probe` find of an SSD what its description says, and say it well?"""

from pathlib import Path

import pytest

import diskwright
from conftest import Command, names, parsed, refused

# Enough to see everything once.
QUICK = ("--reads", "400", "--depths", "1,32")

# Of slc-classic: the array, 512 bytes on the pins and on the link to the host, ms.
READ, BLOCK = 0.025, 0.0132
LINK = 512 / 2_147_651


def test_one_read_takes_what_its_parts_take(command: Command) -> None:
    found = parsed(command("probe", "slc-classic", *QUICK, "--only", "latency,depth", "--json", "-"))
    assert found["kind"] == "ssd"
    assert "rpm" not in found
    points = {point["bytes"]: point["read"] for point in found["latency"]}
    for size in (512, 1024, 2048, 4096):
        blocks = size // 512
        assert points[size]["mean_ms"] == pytest.approx(READ + blocks * (BLOCK + LINK), abs=2e-6)
    alone = found["depth"][0]
    assert alone["depth"] == 1
    assert alone["read"]["iops"] * alone["read"]["mean_ms"] == pytest.approx(1e3, rel=1e-6)


def test_the_function_finds_what_the_command_finds(command: Command) -> None:
    done = parsed(command("probe", "slc-classic", *QUICK, "--only", "mixed", "--json", "-"))
    found = diskwright.probe("slc-classic", only=["mixed"], reads=400, depths=[1, 32])
    assert found.to_dict() == done
    assert [point.reads for point in found.mixed] == [0, 0.3, 0.5, 0.7, 1]


def drive_parameter(name: str) -> pytest.ParameterSet:
    """A drive of the library; of the one that computes for half a minute only with the long tests."""
    return pytest.param(name, marks=pytest.mark.long if name == "mqsim-default" else [])


@pytest.mark.parametrize("name", [drive_parameter(name) for name in diskwright.drives(kind="ssd")])
def test_every_drive_is_shown_in_eighty_columns(command: Command, name: str) -> None:
    done = command("probe", name, *QUICK, "--only", "latency,depth,bandwidth,mixed,behind")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for words in ("512 B", "queue depth", "sequential read", "nothing"):
        assert words in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…" not in done.stdout
    summary = diskwright.drive(name)
    assert ("measured on a drive of the same channels" in done.stdout) == (
        summary["capacity_blocks"] > 20_000_000 or name == "slc-classic"
    )


@pytest.mark.long
def test_a_plot_is_drawn(command: Command, tmp_path: Path) -> None:
    done = command("probe", "sandisk-extreme-iii", *QUICK, "--plot", "card.png")
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == ["card.png"]
    assert "capacities written" in done.stdout
    assert "write amplification" in done.stdout
    assert (tmp_path / "card.png").read_bytes().startswith(b"\x89PNG")


def test_a_measurement_of_the_other_kind_is_refused(command: Command) -> None:
    refused(command("probe", "slc-classic", "--only", "seek"), '"seek"', "latency", "cliff")
    refused(command("probe", "ibm-18es", "--only", "cliff"), '"cliff"', "seek", "zones")
    refused(command("probe", "slc-classic", "--depths", "0"), "depth 0")
