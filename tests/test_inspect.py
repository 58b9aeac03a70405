"""Does `diskwright inspect` describe a trace?"""

import tomllib
from pathlib import Path

import pytest

import diskwright
from conftest import Command, names, parsed, refused


def test_the_counts_of_a_small_trace(command: Command, trace: Path) -> None:
    found = parsed(command("inspect", trace, "--json", "-"))
    expected = {
        "requests": 4,
        "reads": 3,
        "writes": 1,
        "blocks": 40,
        "read_blocks": 24,
        "write_blocks": 16,
        # Only the second begins where the one before it ended.
        "sequential_requests": 1,
        "sequential_blocks": 8,
        "random_requests": 3,
        "random_blocks": 32,
    }
    assert {key: found[key] for key in expected} == expected
    assert found["duration_s"] == pytest.approx(0.03)


def test_the_function_finds_what_the_command_finds(command: Command, trace: Path) -> None:
    assert diskwright.inspect(trace).to_dict() == parsed(command("inspect", trace.name, "--json", "-"))


def test_the_profile_is_of_the_same_trace(command: Command, trace: Path) -> None:
    found = parsed(command("inspect", trace, "--profile", "profile.toml", "--json", "-"))
    profile = tomllib.loads((trace.parent / "profile.toml").read_text(encoding="utf-8"))
    assert profile["schema"] == 2
    same = ("format", "requests", "flushes", "trims", "duration_s", "end_lbn", "working_set_blocks")
    assert {key: profile[key] for key in same} == {key: found[key] for key in same}
    assert profile["classes"]["random_writes"] == {"requests": 1, "blocks": 16}
    assert profile["run_requests"] == {"from": [1, 2], "count": [2, 1]}
    assert profile["sizes"]["random_reads"]["exact"] == [{"blocks": 8, "requests": 2}]


def test_a_profile_is_written_whole_or_not_at_all(command: Command, trace: Path) -> None:
    refused(command("inspect", trace, "--profile", "none/profile.toml"), "none/profile.toml")
    several = trace.parent / "several.trace"
    several.write_text("0.0 0 0 8 1\n1.0 1 0 8 1\n")
    refused(command("inspect", several, "--profile", "profile.toml"), "--device", "several.trace:2")
    assert names(trace.parent) == ["several.trace", "small.trace"]
    assert command("inspect", several, "--profile", "profile.toml", "--device", "1").returncode == 0


def test_the_table_is_plain_text(command: Command, trace: Path) -> None:
    done = command("inspect", trace)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "sequential" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_trace_that_is_not_there_is_wrong_input(command: Command) -> None:
    refused(command("inspect", "not-there.srt"), "not-there.srt", "No such file")


def test_an_unknown_format_is_wrong_input_with_a_suggestion(command: Command, trace: Path) -> None:
    refused(command("inspect", trace, "--format", "acsii"), "acsii")


def test_a_file_that_is_no_trace_is_wrong_input(command: Command, tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("Dear reader,\nthis is not a trace.\n")
    refused(command("inspect", "letter.txt"), "letter.txt")
