"""A device that is being served, for tests, and a client of the protocol that can do what no other does."""

import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest

from conftest import COMMAND, environment

SPEC = """\
seed = 3
[device.simple]
capacity = "64 MiB"
read = "0.2 ms"
write = "0.2 ms"
"""

READ, WRITE, DISCONNECT, FLUSH, TRIM, WRITE_ZEROES, BLOCK_STATUS = 0, 1, 2, 3, 4, 6, 7


def program(*names: str) -> None:
    """Skips a test for which a program is not installed."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (Debian: libnbd-bin, qemu-utils, fio)")


class Served:
    """A server in the background."""

    def __init__(self, process: subprocess.Popen[str], path: Path) -> None:
        self.process, self.path = process, path
        self.uri = f"nbd+unix:///?socket={path}"

    def end(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        """Ends it by a signal; gives its exit code and what it printed."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.ended()

    def ended(self) -> tuple[int, str, str]:
        """Waits until it has ended by itself; gives its exit code and what it printed."""
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def memory_mib(self) -> float:
        """What it holds in memory."""
        fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@contextmanager
def serving(folder: Path, *arguments: str, spec: str = SPEC, name: str = "disk.sock") -> Iterator[Served]:
    """Serves a spec at a socket in a folder until the block ends."""
    path = folder / name
    (folder / "served.toml").write_text(spec)
    process = subprocess.Popen(
        [COMMAND, "serve", "served.toml", "--socket", str(path), *arguments],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + 60
        while not path.exists():
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < until, "it does not begin to serve"
            time.sleep(0.02)
        yield Served(process, path)
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


class Client:
    """A client that speaks the protocol byte by byte."""

    def __init__(self, path: Path, *, transmits: bool = True) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(30)
        self.socket.connect(str(path))
        if transmits:
            assert self.take(18) == b"NBDMAGICIHAVEOPT\x00\x03"
            self.socket.sendall(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 1, 0))
            self.size, self.flags = struct.unpack(">QH", self.take(10))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def take(self, count: int) -> bytes:
        """So many bytes from the server; EOFError where it has closed."""
        taken = bytearray()
        while len(taken) < count:
            piece = self.socket.recv(count - len(taken))
            if not piece:
                raise EOFError
            taken += piece
        return bytes(taken)

    def is_closed(self) -> bool:
        """Whether the server closes, whatever it sends before."""
        try:
            while self.socket.recv(1 << 16):
                pass
        except ConnectionError:
            pass
        return True

    def send(
        self, kind: int, offset: int, length: int, *, cookie: int = 0, flags: int = 0, payload: bytes = b""
    ) -> None:
        """Sends a request."""
        head = struct.pack(">IHHQQI", 0x25609513, flags, kind, cookie, offset, length)
        self.socket.sendall(head + payload)

    def reply(self) -> tuple[int, int]:
        """The cookie and the error of the next reply, without its data."""
        magic, error, cookie = struct.unpack(">IIQ", self.take(16))
        assert magic == 0x67446698
        return cookie, error

    def ask(self, kind: int, offset: int, length: int, *, flags: int = 0, payload: bytes = b"") -> int:
        """Sends a request, waits for its end, and gives its error; of a read the data are in `data`."""
        self.send(kind, offset, length, cookie=7, flags=flags, payload=payload)
        cookie, error = self.reply()
        assert cookie == 7
        if kind == READ and error == 0:
            self.data = self.take(length)
        return error

    def read(self, offset: int, length: int) -> bytes:
        assert self.ask(READ, offset, length) == 0
        return self.data

    def write(self, offset: int, payload: bytes, flags: int = 0) -> None:
        assert self.ask(WRITE, offset, len(payload), flags=flags, payload=payload) == 0
