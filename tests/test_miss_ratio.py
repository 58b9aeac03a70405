"""Does `diskwright miss-ratio` tell how often caches miss?"""

from pathlib import Path

import pytest

import diskwright
from conftest import Command, names, parsed, reference, refused

# Of 113,872 requests, each for one object named by its first LBN, those that miss: counted by libCacheSim,
# whose readings of SLRU and S3-FIFO are not those of their papers.
CAPACITIES = [50, 500, 2_000, 8_000, 32_000]
KNOWN = {
    "lru": [102_640, 95_398, 94_189, 87_740, 67_182],
    "fifo": [103_684, 96_483, 94_588, 87_596, 71_931],
    '{ slru = { segments = 4, protected = 0.75, variant = "libcachesim" } }': [
        101_005,
        94_579,
        93_636,
        85_035,
        56_139,
    ],
    "arc": [99_723, 94_218, 92_829, 82_230, 63_222],
    '{ s3-fifo = { variant = "libcachesim" } }': [99_479, 94_551, 92_455, 80_658, 70_108],
    "sieve": [99_993, 94_379, 93_411, 84_794, 64_323],
    "lfu": [103_009, 96_651, 93_707, 84_794, 64_323],
    "2q": [98_826, 94_565, 93_075, 82_104, 71_835],
    "clock": [102_439, 95_293, 94_081, 87_731, 64_356],
}


@pytest.fixture
def loop(tmp_path: Path) -> Path:
    """Three turns over eight cache blocks of 4 KiB, in requests for two of them; the second turn writes."""
    path = tmp_path / "loop.csv"
    rows = [f"{at},0,{at % 4 * 16},16,{'w' if at // 4 == 1 else 'r'}\n" for at in range(12)]
    path.write_text("time_s,device,lbn,blocks,op\n" + "".join(rows))
    return path


@pytest.mark.parametrize("policy", KNOWN)
def test_libcachesim_counts_the_same_misses(command: Command, policy: str) -> None:
    trace = reference("libcachesim/cloudPhysicsIO.vscsi")
    capacity = ",".join(map(str, CAPACITIES))
    arguments = ("--policies", policy, "--capacity", capacity, "--granularity", "object", "--json", "-")
    done = command("miss-ratio", trace, *arguments)
    found = parsed(done)
    assert found["requests"] == 113_872
    assert [point["capacity"] for point in found["points"]] == CAPACITIES
    assert [point["misses"] for point in found["points"]] == KNOWN[policy]


def test_a_loop_is_counted_by_hand(command: Command, loop: Path) -> None:
    found = parsed(
        command("miss-ratio", loop, "--policies", "lru,fifo", "--capacity", "7,32KiB", "--json", "-")
    )
    assert (found["schema"], found["granularity"], found["block_bytes"]) == (1, "block", 4096)
    assert (found["requests"], found["reads"], found["writes"]) == (12, 8, 4)
    assert (found["accesses"], found["sample"], found["warnings"]) == (24, None, [])
    # A cache of one block less than the loop never hits; one that holds it misses the first turn only.
    for point, policy in zip(found["points"], ["lru", "lru", "fifo", "fifo"], strict=True):
        assert point["policy"] == policy
        small = point["capacity"] == 7
        assert point["capacity_bytes"] == point["capacity"] * 4096
        assert (point["read_misses"], point["write_misses"]) == ((16, 8) if small else (8, 0))
        assert point["misses"] == point["read_misses"] + point["write_misses"]
        assert point["miss_ratio"] == (1 if small else pytest.approx(8 / 24))
        assert point["write_miss_ratio"] == (1 if small else 0)
        assert "miss_ratio_ci95" not in point


def test_the_function_finds_what_the_command_finds(command: Command, loop: Path) -> None:
    found = diskwright.miss_ratio(
        loop, policies=["fifo", {"lru": {}}], capacities=[2, "50%"], granularity="object", sample=0.9, seed=3
    )
    arguments = ("--policies", "fifo,{ lru = {} }", "--capacity", "2,50%", "--granularity", "object")
    again = parsed(command("miss-ratio", loop, *arguments, "--sample", "0.9", "--seed", "3", "--json", "-"))
    assert found.to_dict() == again
    assert found.policies[1].effective == "lru"
    assert len(found.points[0].miss_ratio_ci95) == 2
    with pytest.raises(TypeError, match="expected a list"):
        diskwright.miss_ratio(loop, policies="lru")


def test_the_table_has_a_row_a_capacity_and_a_column_a_policy(command: Command, loop: Path) -> None:
    done = command("miss-ratio", loop, "--policies", "lru,{  fifo  =  {}  }", "--capacity", "7,100%")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    heads = next(line for line in lines if line.startswith("capacity"))
    assert heads.split() == ["capacity", "blocks", "size", "lru", "(a)"]
    assert any(line.split() == ["7", "7", "28", "KiB", "1.0000", "1.0000"] for line in lines)
    assert any(line.split() == ["100%", "8", "32", "KiB", "0.3333", "0.3333"] for line in lines)
    assert any(line.split() == ["(a)", "{", "fifo", "=", "{}", "}"] for line in lines)
    sampled = command(
        "miss-ratio", loop, "--sample", "0.9", "--sample-seeds", "3", "--capacity", "7,8"
    ).stdout
    assert sampled.count(" ± ") == 3 and ", ± 95 % confidence" in sampled
    assert "3 samples of 90 %" in " ".join(sampled.split())


def test_the_picture_shows_the_points(command: Command, loop: Path, tmp_path: Path) -> None:
    from diskwright import _miss_ratio_plot

    found = diskwright.miss_ratio(loop, policies=["lru", "fifo"], capacities=[8, 2, 4], sample=0.9)
    (axes,) = _miss_ratio_plot.figure(found).axes
    assert axes.get_xscale() == "log"
    for policy, drawn in zip(["lru", "fifo"], axes.containers, strict=True):
        points = [point for point in found.points if point.policy == policy]
        capacities, ratios = drawn[0].get_data()
        assert list(capacities) == [2, 4, 8]
        assert list(ratios) == [points[1].miss_ratio, points[2].miss_ratio, points[0].miss_ratio]
    done = command("miss-ratio", loop, "--plot", "loop.svg")
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "loop.svg").read_text()
    refused(command("miss-ratio", loop, "--plot", "loop.gif"), "loop.gif", ".svg")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--policies", "lru,lrv"), ("lrv", "did you mean", "--policies:1:5")),
        (("--capacity", "5,64MiB", "--granularity", "object"), ("64MiB", "--capacity:1:3", "no size")),
        (("--capacity", "120%"), ("120%", "up to 100%")),
        (("--block-size", "4 KB"), ("block size", "multiple of 512")),
        (("--granularity", "blok"), ("blok", "block, object")),
        (("--sample", "2"), ("expected a share",)),
        (("--threads", "0"), ("--threads 0",)),
        (("--device", "5"), ("device 5", "0 (12 requests)")),
        (("--json", "none/x.json"), ("none/x.json",)),
    ],
)
def test_wrong_input_is_told(
    command: Command, loop: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(command("miss-ratio", loop, *arguments), *words)
    assert names(loop.parent) == ["loop.csv"]
