"""Do tables stay readable at any width? Do messages of many runs tell their range?"""

import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, SPEC, environment

LONG = '{ ncq = { timeout = "2 s" } }'
VARIED = (
    "--vary",
    f"device.hdd.queue.scheduler=fcfs,{LONG}",
    "--vary",
    "device.hdd.drive=ibm-18es,cheetah-9lp",
)


def printed(folder: Path, verb: str, *arguments: str, columns: str | None = None) -> tuple[list[str], str]:
    """Lines of standard output, and standard error with its lines joined."""
    (folder / "spec.toml").write_text(SPEC.replace('poisson = "20 ms"', 'poisson = "9 ms"'))
    said = environment() | ({} if columns is None else {"COLUMNS": columns})
    done = subprocess.run(
        [COMMAND, verb, "spec.toml", "--seeds", "2", *arguments],
        cwd=folder,
        env=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.splitlines(), " ".join(done.stderr.split())


@pytest.mark.parametrize("verb", ["compare", "sweep"])
def test_long_names_are_numbers_with_a_legend(verb: str, tmp_path: Path) -> None:
    lines, _ = printed(tmp_path, verb, *VARIED)
    assert max(map(len, lines)) <= 80
    keys = ["device.hdd.queue.scheduler", "device.hdd.drive"]
    legend = next(at for at, line in enumerate(lines) if line.split() == ["#", *keys])
    assert [line.split()[0] for line in lines[legend + 2 : legend + 6]] == ["1", "2", "3", "4"]
    assert lines[legend + 5].split() == ["4", "ncq", "(timeout", "2", "s)", "cheetah-9lp"]
    # Every figure of a variant stands on the line of its number.
    assert not any("timeout" in line for line in lines[legend + 6 :])


@pytest.mark.parametrize("verb", ["compare", "sweep"])
def test_a_wide_pipe_has_the_names_in_the_tables(verb: str, tmp_path: Path) -> None:
    lines, _ = printed(tmp_path, verb, *VARIED, columns="160")
    assert 80 < max(map(len, lines)) <= 160
    assert not any(line.startswith("#") for line in lines)
    rows = [line for line in lines if line.startswith("ncq (timeout 2 s), cheetah-9lp ")]
    assert len(rows) == (4 if verb == "compare" else 1)


@pytest.mark.parametrize("columns", ["", "0", "-5", "wide"])
def test_a_width_that_is_none_is_80(columns: str, tmp_path: Path) -> None:
    usual, _ = printed(tmp_path, "compare", *VARIED)
    found, _ = printed(tmp_path, "compare", *VARIED, columns=columns)
    assert found == usual


def test_a_narrow_terminal_fills_its_prose(tmp_path: Path) -> None:
    _, narrow = printed(tmp_path, "compare", *VARIED, columns="50")
    _, usual = printed(tmp_path, "compare", *VARIED)
    assert narrow == usual != ""


def test_messages_have_the_range_of_their_figures_and_the_numbers_of_their_variants(tmp_path: Path) -> None:
    _, remarks = printed(tmp_path, "compare", *VARIED)
    backlog = remarks[remarks.index("the queue only grows") :]
    first, second = backlog.split("mean backlog ")[1].split(" in the first quarter")[0].split(" to ")
    assert int(first.replace(",", "")) < int(second.replace(",", ""))
    assert "warning: variants 1, 2: the queue only grows" in remarks


@pytest.mark.parametrize("verb", ["compare", "sweep"])
def test_runs_with_several_seeds_do_not_miss_the_interval_of_one(verb: str, tmp_path: Path) -> None:
    _, repeated = printed(tmp_path, verb, *VARIED)
    _, single = printed(tmp_path, verb, *VARIED, "--seeds", "1")
    assert "no confidence interval" not in repeated
    assert "no confidence interval" in single
