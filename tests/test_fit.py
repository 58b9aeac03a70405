"""`diskwright fit`: parameters of a drive from a recording of it."""

import json
import random
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import diskwright
from conftest import reference
from diskwright.fitting import _parameters
from made_up import record

# What a made-up drive has otherwise than the drive that the fit starts from.
_HIDDEN = {
    'rotation = "10045 rpm"': 'rotation = "10041 rpm"',
    'hit_after_read = "0.066 ms"': 'hit_after_read = "0.250 ms"',
    'hit_after_write = "0.273 ms"': 'hit_after_write = "0.35 ms"',
    'block_time = "0.105 ms"': 'block_time = "0.095 ms"',
    'buffered_after_read = "0.748 ms"': 'buffered_after_read = "0.6 ms"',
    'buffered_after_write = "0.5 ms"': 'buffered_after_write = "0.62 ms"',
    'read_after_read = "0.28362 ms"': 'read_after_read = "0.6 ms"',
}
_NAMES = {
    "buffer.read.hit_after_read": 0.25,
    "buffer.read.hit_after_write": 0.35,
    "buffer.write.buffered_after_read": 0.6,
    "buffer.write.buffered_after_write": 0.62,
    "interface.block_time": 0.095,
    "rotation": 60_000 / 10_041,
}


def _record(folder: Path, hidden: Mapping[str, str], requests: int, seed: int) -> Path:
    """The recording of a made-up drive, measured with a spread of 20 µs."""
    text = diskwright.drive_toml("cheetah-9lp")
    for before, after in hidden.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    load = {
        "requests": requests,
        "arrivals": {"poisson": "60 ms"},
        "reads": 0.7,
        "size": [{"size": "4 blocks", "share": 0.6}, {"size": "16 blocks", "share": 0.4}],
        "address": {"streams": {"count": 4, "run": "16 blocks", "turns": "random"}},
    }
    return record(folder / f"hidden-{seed}", text, load, seed=seed, noise_us=20)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _record(tmp_path_factory.mktemp("fit"), _HIDDEN, 2_000, 1)


@pytest.fixture(scope="module")
def found(trace: Path) -> diskwright.Fit:
    return diskwright.fit("cheetah-9lp", trace, picture=True)


def test_hidden_parameters_are_found(found: diskwright.Fit) -> None:
    judged = found.judged
    assert judged.requests == 1_000
    assert judged.rms_demerit_ms < 0.8 * judged.start_rms_demerit_ms
    # The true drive itself is off by a turn in one request of a thousand: the times are recorded to 20 µs.
    assert judged.one_step_rms_ms < found.start_one_step_rms_ms / 2
    for name, truth in _NAMES.items():
        parameter = found.to_dict()["parameters"][name]
        low, high = parameter["ci95"]
        assert low <= parameter["value"] <= high
        # Twice the interval: of one drive one of twenty may lie outside it.
        assert abs(parameter["value"] - truth) < (high - low) + 1e-4, (name, parameter, truth)


def test_the_fitted_drive_is_a_drive(found: diskwright.Fit, trace: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(found.toml)
    drive = tomllib.loads(found.toml)
    assert trace.name in drive["source"][-1] and trace.name in drive["estimated"][-1]
    assert "interface.block_time" in drive["estimated"][-1]
    before = diskwright.validate("cheetah-9lp", trace).rms_demerit_ms
    assert diskwright.validate(file, trace).rms_demerit_ms < 0.7 * before
    again = diskwright.fit(file, trace)
    assert again.judged.rms_demerit_ms <= again.judged.start_rms_demerit_ms * 1.05


def test_a_drive_that_needs_no_change_is_not_made_worse(tmp_path: Path) -> None:
    trace = _record(tmp_path, {}, 1_200, 2)
    found = diskwright.fit("cheetah-9lp", trace)
    assert found.judged.rms_demerit_ms < found.judged.start_rms_demerit_ms + 0.01


def test_the_page_has_the_errors(found: diskwright.Fit) -> None:
    from diskwright import report

    page = report.page(found)
    for text in ("Errors by kind", "Errors by seek distance", "Errors by angle", "Errors by size"):
        assert text in page
    with pytest.raises(ValueError, match="picture=True"):
        report.page(diskwright.Fit(found.to_dict()))


def test_times_of_descriptions() -> None:
    for text, ms in (
        ("283.62 us", 0.28362),
        ("2 s", 2000.0),
        ("0 ms", 0.0),
        ("-5 ns", -5e-6),
        ("6000 rpm", 10.0),
    ):
        assert _parameters.ms(text) == pytest.approx(ms)
    with pytest.raises(ValueError, match="not a time"):
        _parameters.ms("long")


def test_json_has_its_keys(found: diskwright.Fit) -> None:
    data = json.loads(found.json())
    assert set(data["judged"]) == {
        "rms_demerit_ms",
        "start_rms_demerit_ms",
        "one_step_rms_ms",
        "requests",
    }
    for parameter in data["parameters"].values():
        assert set(parameter) == {"value", "ci95", "start"}


def test_a_recording_without_service_times_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "times.trace"
    trace.write_text("0.0 0 100 4 1\n10.0 0 200 4 1\n")
    with pytest.raises(diskwright.InputError, match="service time"):
        diskwright.fit("cheetah-9lp", trace, format="disksim-ascii")


@pytest.mark.long
def test_intervals_cover_the_truth(tmp_path: Path) -> None:
    inside, all_of_them = 0, 0
    for seed in range(10, 30):
        choice = random.Random(seed)
        read, write = choice.uniform(0.03, 0.6), choice.uniform(0.3, 0.9)
        block = choice.uniform(0.08, 0.13)
        hidden = {
            'hit_after_read = "0.066 ms"': f'hit_after_read = "{read:.6f} ms"',
            'buffered_after_write = "0.5 ms"': f'buffered_after_write = "{write:.6f} ms"',
            'block_time = "0.105 ms"': f'block_time = "{block:.6f} ms"',
        }
        trace = _record(tmp_path, hidden, 2_000, seed)
        parameters = diskwright.fit("cheetah-9lp", trace).to_dict()["parameters"]
        for name, truth in (
            ("buffer.read.hit_after_read", read),
            ("buffer.write.buffered_after_write", write),
            ("interface.block_time", block),
        ):
            if name in parameters:
                low, high = parameters[name]["ci95"]
                inside += low <= truth <= high
                all_of_them += 1
    assert all_of_them >= 40
    assert inside >= 0.85 * all_of_them


@pytest.mark.parametrize(
    ("drive", "trace", "bound"),
    [
        ("cheetah-9lp", "cheetah9LP.trace", 0.09),
        ("ibm-18es", "ibm18es.trace", 0.08),
        ("hp-c3323a", "hp_c3323a.trace", 0.2),
    ],
)
def test_the_tuned_drives_are_closer_to_their_recordings(drive: str, trace: str, bound: float) -> None:
    recording = reference(f"disksim/{trace}")
    tuned = diskwright.validate(f"{drive}-tuned", recording).rms_demerit_ms
    assert tuned < bound < diskwright.validate(drive, recording).rms_demerit_ms
