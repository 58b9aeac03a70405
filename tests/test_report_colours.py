"""Are the colours of pages told apart by everybody?"""

import itertools
import re
from typing import Any

import pytest

from conftest import ROOT
from diskwright._palette import PARTS

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision deficiency",
# 2009, severity 1: what the linear RGB of a colour is for those who lack a kind of cone.
EYES = {
    "all": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "no red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}
# Linear RGB to XYZ, by the white of D65: IEC 61966-2-1.
XYZ = (
    (0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505),
    (0.2126, 0.7152, 0.0722),
    (0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089),
)


def times(matrix: Any, vector: Any) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def linear(colour: str) -> list[float]:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]


def lab(colour: str, eyes: Any) -> tuple[float, float, float]:
    """CIE L*a*b* of a colour as somebody sees it."""
    seen = [min(max(part, 0.0), 1.0) for part in times(eyes, linear(colour))]
    x, y, z = (
        t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29 for t in times(XYZ, seen)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_colour_blind_tell_colours_apart(theme: str) -> None:
    static = ROOT / "python" / "diskwright" / "report" / "static"
    script = (static / "report.js").read_text(encoding="utf-8")
    told = script[script.index(f"    {theme}: {{") :]
    ground = re.search(r'ground: "(#\w+)"', told)
    colours = re.search(r"colours: \[(.*?)\]", told)
    assert ground and colours
    found = re.findall(r"#[0-9a-f]{6}", colours[1])
    assert len(found) == 8
    for eyes in EYES.values():
        for one, other in itertools.combinations(found, 2):
            # A difference of some 2 is just seen side by side; curves lie apart.
            distance = sum((a - b) ** 2 for a, b in zip(lab(one, eyes), lab(other, eyes), strict=True)) ** 0.5
            assert distance > 15, (one, other)
    for colour in found:
        # WCAG 2.2, 1.4.11: what is drawn stands out 3 : 1.
        light, dark = sorted((times(XYZ, linear(each))[1] for each in (colour, ground[1])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 3, colour


# The parts that one device may have together.
COMMON = {"in the host", "in the drive's queue", "overhead", "bus", "wait", "wake"}
OF_A_DEVICE = [
    COMMON | {"seek", "head_switch", "settle", "rotation", "transfer"},
    COMMON | {"positioning", "transfer"},
    COMMON | {"mapping", "channel", "flash_read", "program", "erase"},
]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_parts_are_told_apart(theme: str) -> None:
    place = ["light", "dark"].index(theme)
    ground = {"light": "#ffffff", "dark": "#14171b"}[theme]
    for of_device in OF_A_DEVICE:
        for one, other in itertools.combinations(sorted(of_device), 2):
            for name, eyes in EYES.items():
                seen = (lab(PARTS[part][place], eyes) for part in (one, other))
                distance = sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5
                assert distance > (20 if name == "all" else 10), (one, other, name, distance)
    for part, colours in PARTS.items():
        light, dark = sorted((times(XYZ, linear(each))[1] for each in (colours[place], ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 3, part
