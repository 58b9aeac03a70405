"""Is a served device a block device to those who use it, and does it stand what they do?"""

import json
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import polars
import pytest

from conftest import Command, environment
from served import (
    BLOCK_STATUS,
    DISCONNECT,
    FLUSH,
    READ,
    TRIM,
    WRITE,
    WRITE_ZEROES,
    Client,
    Served,
    program,
    serving,
)

SIZE = 64 << 20
FAST = "--as-fast-as-possible"
SMALL = '[device.simple]\ncapacity = "1 MiB"\nread = "1 ms"\nwrite = "1 ms"\n'


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path) as server:
        yield server


def run(*words: str, folder: Path) -> str:
    """What a program prints that ends well."""
    done = subprocess.run(
        words, cwd=folder, env=environment(), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_written_is_read(served: Served) -> None:
    with Client(served.path) as one, Client(served.path) as other:
        assert one.size == SIZE
        one.write(4096, b"a" * 4096)
        one.write(6144, b"b" * 512)
        assert one.ask(FLUSH, 0, 0) == 0
        assert other.read(4096, 4096) == b"a" * 2048 + b"b" * 512 + b"a" * 1536
        assert one.ask(TRIM, 4096, 2048) == 0
        assert one.ask(WRITE_ZEROES, 6144, 512) == 0
        assert other.read(4096, 4096) == bytes(2560) + b"a" * 1536
        other.write(SIZE - 512, b"z" * 512, flags=1)
        assert one.read(SIZE - 512, 512) == b"z" * 512


def test_256_requests_are_in_flight_and_end_out_of_order(tmp_path: Path) -> None:
    spec = '[device.hdd]\ndrive = "exos-x20"\nqueue = { depth = 256, scheduler = "satf" }\n'
    with serving(tmp_path, FAST, "--depth", "256", spec=spec) as server, Client(server.path) as client:
        for cookie in range(256):
            client.send(READ, cookie * 7919 % 1000 * 10**9 // 512 * 512, 512, cookie=cookie)
        order = []
        for _ in range(256):
            order.append(client.reply()[0])
            client.take(512)
    assert sorted(order) == list(range(256))
    assert order != sorted(order)


def test_answers_come_when_they_are_due(tmp_path: Path) -> None:
    for speed, expected in (("1", 0.2), ("10", 0.02)):
        spec = '[device.simple]\ncapacity = "1 GiB"\nread = "200 ms"\nwrite = "0.2 ms"\n'
        with (
            serving(tmp_path, "--speed", speed, spec=spec, name=f"{speed}.sock") as server,
            Client(server.path) as client,
        ):
            before = time.monotonic()
            client.read(0, 4096)
            taken = time.monotonic() - before
        assert expected <= taken < expected + 0.15


def test_two_runs_at_depth_one_are_the_same(tmp_path: Path) -> None:
    digests = []
    for number in range(2):
        spec = '[device.hdd]\ndrive = "ibm-18es"\n'
        name = f"{number}.json"
        with serving(tmp_path, FAST, "--json", name, spec=spec, name=f"{number}.sock") as server:
            with Client(server.path) as client:
                for at in range(50):
                    client.read(at * 7_654_321 // 512 * 512, 4096)
                    time.sleep(0.001 * number)
            assert server.end()[0] == 0
        digests.append(json.loads((tmp_path / name).read_text())["digest"])
    assert digests[0] == digests[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_everything_written(tmp_path: Path, number: int) -> None:
    arguments = ["--image", "disk.img", "--json", "found.json", "--requests", "log.parquet"]
    with serving(tmp_path, *arguments, "--report", "page.html") as server:
        with Client(server.path) as client:
            client.write(8192, b"kept" * 128)
            client.read(0, 512)
        code, out, err = server.end(number)
    assert code == 0, err
    assert "simple, served" in out
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["requests"]["writes"] == found["requests"]["reads"] == 1
    assert found["served"]["connections"] == 1
    assert set(found["served"]["lateness_ms"]["mean_by_cause"]) == {"host", "engine", "timer"}
    assert (tmp_path / "disk.img").read_bytes()[8192:8704] == b"kept" * 128
    assert (tmp_path / "disk.img").stat().st_blocks * 512 < 1 << 20
    assert polars.read_parquet(tmp_path / "log.parquet")["op"].to_list() == ["write", "read"]
    page = (tmp_path / "page.html").read_text()
    assert "diskwright serve</p>" in page
    assert "<dd>1 connection, by the clock</dd>" in page
    assert "<dt>Answers late by</dt>" in page
    assert not server.path.exists()
    assert not Path(f"{server.path}.control").exists()


def test_the_log_replays_with_the_same_service_times(tmp_path: Path, command: Command) -> None:
    spec = '[device.hdd]\ndrive = "ibm-18es"\n'
    with serving(tmp_path, FAST, "--requests", "log.parquet", spec=spec) as server:
        with Client(server.path) as client:
            for at in range(60):
                client.read(at * 99_999_999 // 512 * 512 % client.size // 512 * 512, 4096)
        assert server.end()[0] == 0
    done = command("run", "served.toml", "--trace", "log.parquet", "--requests", "again.parquet")
    assert done.returncode == 0, done.stderr
    columns = ["lbn", "arrival_ns", "acceptance_ns", "start_ns", "completion_ns"]
    first, again = (
        polars.read_parquet(tmp_path / name)[columns] for name in ("log.parquet", "again.parquet")
    )
    services = [log["completion_ns"] - log["acceptance_ns"] for log in (first, again)]
    assert services[0].to_list() == services[1].to_list()


def test_an_image_is_served_once_and_kept(tmp_path: Path, command: Command) -> None:
    with serving(tmp_path, FAST, "--image", "disk.img") as server:
        with Client(server.path) as client:
            client.write(0, b"x" * 512)
        again = command("serve", "served.toml", "--socket", "other.sock", "--image", "disk.img")
        assert again.returncode == 2
        assert "another server has this image" in again.stderr
        again = command("serve", "served.toml", "--socket", str(server.path))
        assert again.returncode == 2
        assert "another server listens" in again.stderr
        server.end()
    read_only = (FAST, "--image", "disk.img", "--read-only")
    with serving(tmp_path, *read_only) as server, Client(server.path) as client:
        assert client.flags & 2
        assert client.read(0, 512) == b"x" * 512
        assert client.ask(WRITE, 0, 512, payload=bytes(512)) == 1


def test_discarded_contents_are_zeros(tmp_path: Path) -> None:
    with serving(tmp_path, FAST, "--discard-contents") as server, Client(server.path) as client:
        client.write(0, b"x" * 4096)
        assert client.read(0, 4096) == bytes(4096)


def test_a_large_block_is_asked_for(tmp_path: Path) -> None:
    with serving(tmp_path, FAST, "--block-size", "4096") as server, Client(server.path) as client:
        assert client.ask(READ, 512, 4096) == 22
        assert client.ask(READ, 4096, 512) == 22
        assert client.ask(READ, 4096, 4096) == 0


def test_by_tcp_on_the_loopback(tmp_path: Path, command: Command) -> None:
    program("nbdinfo")
    (tmp_path / "spec.toml").write_text(SMALL)
    where = ["spec.toml", "--listen", "127.0.0.1:0", FAST]
    done = command("serve", *where, "--run", 'nbdinfo --size "$uri"')
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == str(1 << 20)
    assert "nbd://127.0.0.1:" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "--socket PATH"),
        (["--socket", "a", "--listen", "127.0.0.1:0"], "--socket PATH"),
        (["--listen", "here"], "127.0.0.1:10809"),
        (["--listen", "0.0.0.0:0"], "--remote"),
        (["--socket", "a", "--speed", "0"], "--speed"),
        (["--socket", "a", "--depth", "4"], "--as-fast-as-possible"),
        (["--socket", "a", FAST, "--speed", "2"], "--speed"),
        (["--socket", "a", "--memory", "--discard-contents"], "one of them"),
        (["--socket", "a", "--block-size", "1000"], "powers of two"),
        (["--socket", "served.toml"], "no socket"),
        (["--socket", "no/where"], "no/where"),
    ],
)
def test_what_is_wrong_is_said(command: Command, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "served.toml").write_text(SMALL)
    done = command("serve", "served.toml", *arguments)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_ends_the_serving_with_its_code(command: Command, tmp_path: Path) -> None:
    (tmp_path / "served.toml").write_text(SMALL)
    done = command("serve", "served.toml", "--socket", "s", "--run", 'test -S "$socket" && exit 3')
    assert done.returncode == 3
    assert "no request" in done.stdout


def test_the_load_is_left_out_with_a_note(command: Command, tmp_path: Path) -> None:
    text = '[workload]\ntrace = "none.srt"\n[host]\noutstanding = 3\n' + SMALL
    (tmp_path / "served.toml").write_text(text)
    done = command("serve", "served.toml", "--socket", "s", "--run", "true")
    assert done.returncode == 0, done.stderr
    assert "left out of the spec: workload, host" in " ".join(done.stderr.split())


def test_faults_come_while_it_runs(tmp_path: Path, command: Command) -> None:
    spec = (
        'device.array.layout = "mirror"\n'
        + '[[device.array.member]]\nsimple = { capacity = "1 MiB", read = "1 ms", write = "1 ms" }\n' * 2
    )
    with serving(tmp_path, FAST, spec=spec) as server, Client(server.path) as client:

        def ask(*words: str) -> subprocess.CompletedProcess[str]:
            return command("serve-ctl", str(server.path), *words)

        client.write(0, b"m" * 4096)
        assert ask("fail", "array.member[0]").returncode == 0
        assert client.read(0, 4096) == b"m" * 4096
        assert ask("media-error", "array.member[1].simple", "2", "1").returncode == 0
        assert client.ask(READ, 0, 4096) == 5
        assert client.ask(READ, 4096, 4096) == 0
        wrong = ask("fail", "array.member[7]")
        assert wrong.returncode == 2
        assert "array.member[1]" in wrong.stderr
        assert ask("burn", "array").returncode == 2
        assert ask("fail", "array.member[1]").returncode == 0
        assert client.ask(READ, 8192, 512) == 5
    assert command("serve-ctl", "nothing.sock", "fail", "array").returncode == 2


# Other people's clients.


def test_nbdinfo_tells_what_it_is(served: Served, tmp_path: Path) -> None:
    program("nbdinfo")
    found = json.loads(run("nbdinfo", "--json", served.uri, folder=tmp_path))
    export = found["exports"][0]
    assert found["structured"]
    assert export["export-size"] == SIZE
    assert export["is_rotational"] is False
    announced = ("can_flush", "can_fua", "can_multi_conn", "can_trim", "can_zero", "can_df")
    assert all(export[name] for name in announced)
    assert export["block_size_minimum"] == 512
    assert export["contexts"] == ["base:allocation"]


def test_nbdcopy_out_and_in(tmp_path: Path) -> None:
    program("nbdcopy", "nbdinfo")
    pattern = bytes(range(256)) * 4096
    (tmp_path / "in.raw").write_bytes(pattern + bytes(SIZE - 2 * len(pattern)) + pattern)
    with serving(tmp_path, FAST) as server:
        run("nbdcopy", "in.raw", server.uri, folder=tmp_path)
        spans = [
            line.split()[-1] for line in run("nbdinfo", "--map", server.uri, folder=tmp_path).splitlines()
        ]
        assert spans == ["data", "hole,zero", "data"]
        run("nbdcopy", server.uri, "out.raw", folder=tmp_path)
    assert (tmp_path / "in.raw").read_bytes() == (tmp_path / "out.raw").read_bytes()


def test_qemu_img_checks_and_measures(tmp_path: Path) -> None:
    program("qemu-img")
    with serving(tmp_path, FAST) as server:
        uri = server.uri
        for writes in ([], ["-w"]):
            words = ["qemu-img", "bench", "-f", "raw", "-c", "500", "-d", "64", *writes, uri]
            assert "Run completed" in run(*words, folder=tmp_path)
        run("qemu-img", "create", "-f", "qcow2", uri, "16M", folder=tmp_path)
        assert "No errors" in run("qemu-img", "check", "-f", "qcow2", uri, folder=tmp_path)


# Hostile clients.


def is_undisturbed(server: Served) -> bool:
    """Whether another client is served, and soon."""
    before = time.monotonic()
    with Client(server.path) as client:
        client.write(0, b"u" * 512)
        return client.read(0, 512) == b"u" * 512 and time.monotonic() - before < 5


def test_half_a_handshake_and_garbage(served: Served) -> None:
    held = []
    for sent in (
        b"",
        b"\x00",
        b"\x00\x00\x00\x03IHAVE",
        b"\x00\x00\x00\x03IHAVEOPT\x00\x00\x00\x07\x00\x00\x00\x40ab",
    ):
        client = Client(served.path, transmits=False)
        client.socket.sendall(sent)
        held.append(client)
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 1000, bytes(1000)):
        with Client(served.path, transmits=False) as client:
            client.socket.sendall(garbage)
            assert client.is_closed()
    with Client(served.path) as client:
        client.socket.sendall(b"garbage" * 10)
        assert client.is_closed()
    assert is_undisturbed(served)
    for client in held:
        client.socket.close()


def test_past_the_end_and_4_gib(served: Served) -> None:
    with Client(served.path) as client:
        assert client.ask(READ, SIZE, 512) == 22
        assert client.ask(READ, 2**64 - 512, 1024) == 22
        assert client.ask(READ, 0, 2**32 - 512) == 22
        assert client.ask(TRIM, SIZE - 512, 1024) == 28
        assert client.ask(WRITE, SIZE, 512, payload=bytes(512)) == 28
        assert client.ask(BLOCK_STATUS, 0, 512) == 22
        assert client.read(0, 512) == bytes(512)
        client.send(WRITE, 0, 2**32 - 512)
        assert client.reply()[1] == 75
        assert client.is_closed()
    assert is_undisturbed(served)


def test_a_thousand_connections(served: Served) -> None:
    before = served.memory_mib()
    clients = []
    closed = 0
    for _ in range(1000):
        client = Client(served.path, transmits=False)
        clients.append(client)
        if len(clients) == 400:
            assert is_undisturbed(served)
    for client in clients:
        client.socket.settimeout(5)
        try:
            client.take(18)
        except (EOFError, ConnectionError):
            closed += 1
    assert 400 <= closed <= 600
    assert served.memory_mib() - before < 32
    for client in clients:
        client.socket.close()
    time.sleep(0.3)
    assert is_undisturbed(served)


def test_a_client_that_stops_reading(tmp_path: Path) -> None:
    with serving(tmp_path, FAST, "--depth", "1") as server:
        before = server.memory_mib()
        stuck = Client(server.path)

        def flood() -> None:
            try:
                for cookie in range(5000):
                    stuck.send(READ, 0, 1 << 20, cookie=cookie)
            except OSError:
                pass

        flooding = threading.Thread(target=flood, daemon=True)
        flooding.start()
        time.sleep(1)
        assert is_undisturbed(server)
        assert server.memory_mib() - before < 150
        stuck.socket.close()
        flooding.join(10)
        assert is_undisturbed(server)


def test_a_client_that_dies_harms_nothing(served: Served) -> None:
    with Client(served.path) as client:
        for cookie in range(200):
            client.send(WRITE, 512 * cookie, 512, cookie=cookie, payload=b"d" * 512)
    with Client(served.path) as client:
        client.send(DISCONNECT, 0, 0)
        assert client.is_closed()
    assert is_undisturbed(served)
