"""What is left after the power of a served device is cut: what was promised, and what the device has."""

import json
import random
from pathlib import Path

import pytest

from conftest import Command
from served import FLUSH, Client, serving

FAST = "--as-fast-as-possible"
# A drive with a write cache that loses it.
VOLATILE = '[device.hdd]\ndrive = "ibm-18es"\n'
DURABLE = '[device.simple]\ncapacity = "64 MiB"\nread = "0.2 ms"\nwrite = "0.2 ms"\n'


def cut(command: Command, path: Path) -> None:
    done = command("serve-ctl", str(path), "power-cut")
    assert done.returncode == 0, done.stderr


def served(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "found.json").read_text())["served"]["power_cut"]
    return found


ARGUMENTS = [FAST, "--image", "disk.img", "--power-cuts", "--json", "found.json"]


def test_what_is_not_flushed_is_gone_and_named(tmp_path: Path, command: Command) -> None:
    with serving(tmp_path, *ARGUMENTS, spec=VOLATILE) as server:
        with Client(server.path) as client:
            client.write(0, b"old" * 1024 + bytes(1024))
            assert client.ask(FLUSH, 0, 0) == 0
            client.write(8192, b"fua!" * 128, flags=1)
            client.write(4096, b"lost" * 128)
            cut(command, server.path)
            with pytest.raises(EOFError):
                client.take(1)
        code, _, err = server.ended()
    assert code == 0, err
    with (tmp_path / "disk.img").open("rb") as image:
        assert image.read(4096) == b"old" * 1024 + bytes(1024)
        assert image.read(512) == bytes(512)
        image.seek(8192)
        assert image.read(512) == b"fua!" * 128
    found = served(tmp_path)
    assert found["lost_writes"] == 1
    lost = [(write["lbn"], write["blocks"]) for write in found["first_lost"]]  # type: ignore[attr-defined]
    assert lost == [(8, 1)]


def test_a_durable_device_loses_nothing(tmp_path: Path, command: Command) -> None:
    with serving(tmp_path, *ARGUMENTS, spec=DURABLE) as server:
        with Client(server.path) as client:
            for block in range(100):
                client.write(512 * (block % 40), bytes([block]) * 512)
            cut(command, server.path)
        assert server.ended()[0] == 0
    image = (tmp_path / "disk.img").read_bytes()
    assert [image[512 * block] for block in range(40)] == [*range(80, 100), *range(60, 80)]
    assert served(tmp_path)["lost_writes"] == 0


def test_a_cut_of_the_spec_takes_the_same(tmp_path: Path) -> None:
    spec = VOLATILE + '[[fault]]\nat = "1 s"\nkind = "power-cut"\n'
    arguments = [argument for argument in ARGUMENTS if argument not in ("--power-cuts", FAST)]
    with serving(tmp_path, *arguments, spec=spec) as server:
        with Client(server.path) as client:
            client.write(0, b"lost" * 128)
        code, _, err = server.ended()
    assert code == 0, err
    assert served(tmp_path)["lost_writes"] in (0, 1)


def test_a_server_that_keeps_no_versions_refuses(tmp_path: Path, command: Command) -> None:
    with serving(tmp_path, FAST) as server:
        done = command("serve-ctl", str(server.path), "power-cut")
        assert done.returncode == 2
        assert "--power-cuts" in done.stderr
        assert server.process.poll() is None


@pytest.mark.parametrize("seed", range(4))
def test_flushed_is_there_and_the_rest_is_old_or_new(tmp_path: Path, command: Command, seed: int) -> None:
    draw = random.Random(seed)
    safe: dict[int, int] = {}
    maybe: dict[int, set[int]] = {}
    with serving(tmp_path, *ARGUMENTS, spec=VOLATILE) as server:
        with Client(server.path) as client:
            for number in range(1, 200):
                if draw.random() < 0.1:
                    assert client.ask(FLUSH, 0, 0) == 0
                    safe.update({block: max(values) for block, values in maybe.items()})
                    maybe.clear()
                    continue
                block, is_safe = draw.randrange(30), draw.random() < 0.1
                client.write(block * 512, bytes([number]) * 512, flags=int(is_safe))
                if is_safe:
                    safe[block] = number
                    maybe.pop(block, None)
                else:
                    maybe.setdefault(block, set()).add(number)
            cut(command, server.path)
        assert server.ended()[0] == 0
    with (tmp_path / "disk.img").open("rb") as file:
        image = file.read(30 * 512)
    for block in range(30):
        found = image[block * 512 : block * 512 + 512]
        assert len(set(found)) == 1, "a block is torn"
        assert found[0] in {safe.get(block, 0), *maybe.get(block, set())}
