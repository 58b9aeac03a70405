"""What is asked: a device that reads and writes sectors, and tells nothing but when it is done."""

import json
import mmap
import os
import socket
import stat
import struct
import time
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from diskwright import _engine, _toml
from diskwright._engine import InputError, SimulationError


class Target(Protocol):
    """A device with one request at a time.

    blocks: its size in blocks of 512 bytes.
    may_write: whether it may be written to.
    exact: whether times are those of a simulation, without noise.
    requests: that were issued.
    identity: what tells it from others, for an extraction that goes on.
    budget_from_ns: from which instant on a budget counts. away_ns: for how long nothing was asked in between.
    """

    blocks: int
    may_write: bool
    exact: bool
    requests: int
    identity: str

    @property
    def budget_from_ns(self) -> int: ...

    @property
    def away_ns(self) -> int: ...

    def mark(self) -> bool:
        """The angle of the platter is looked at next: whether it may have changed unseen."""

    @property
    def now_ns(self) -> int:
        """When the last request was complete, ns."""

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        """Issues a request `pause_ns` after the one before was complete; gives when it was issued and when it
        was complete, ns. A write `through` is complete when it is on the medium.
        """


class _Uninterrupted:
    """A target that is asked from the first request to the last."""

    @property
    def now_ns(self) -> int:
        raise NotImplementedError

    @property
    def budget_from_ns(self) -> int:
        return self.now_ns

    away_ns = 0

    def mark(self) -> bool:
        return False


class SimulatedTarget(_Uninterrupted):
    """A drive of the simulator; its time is simulated."""

    may_write = True
    exact = True

    def __init__(self, drive: str | os.PathLike[str]) -> None:
        kind = _kind(drive)
        spec = _toml.document({"device": {kind: {"drive": os.fsdecode(drive)}}})
        self.identity = _engine.drive(os.fsdecode(drive))
        self._session = _engine.Session(None, spec, os.fspath(Path.cwd()))
        self.blocks = self._session.blocks
        self.requests = 0

    @property
    def now_ns(self) -> int:
        return self._session.now_ns

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        issue = self._session.now_ns + pause_ns
        self.requests += 1
        return issue, self._session.ask(pause_ns, lbn, blocks, write, write and through)


def _kind(drive: str | os.PathLike[str]) -> str:
    """The kind of device that a drive's file describes."""
    return str(json.loads(_engine.drive(os.fsdecode(drive)))["kind"])


def waited(until_ns: int) -> int:
    """Waits until an instant of the clock; gives the present one, ns. The last stretch is not slept."""
    now = time.perf_counter_ns()
    if until_ns - now > 200_000:
        time.sleep((until_ns - now - 150_000) / 1e9)
        now = time.perf_counter_ns()
    while now < until_ns:
        now = time.perf_counter_ns()
    return now


class _Timed(_Uninterrupted):
    """A target of this machine, whose time is that of a clock, or runs at another speed.

    speed: its seconds in one of the clock's.
    """

    exact = False
    may_write = False

    def __init__(self, speed: float = 1.0) -> None:
        self.blocks = 0
        self.requests = 0
        self.speed = speed
        self._end = time.perf_counter_ns()
        self.identity = ""

    @property
    def now_ns(self) -> int:
        return round(self._end * self.speed)

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        issue = waited(self._end + round(pause_ns / self.speed))
        self._do(lbn * _BLOCK, blocks * _BLOCK, write, through)
        self._end = time.perf_counter_ns()
        self.requests += 1
        return round(issue * self.speed), self.now_ns

    def _do(self, offset: int, length: int, write: bool, through: bool) -> None:
        raise NotImplementedError


class FileTarget(_Timed):
    """A block device or a file, read past the memory of the operating system.

    Raises:
        InputError: It cannot be opened so, or it is mounted.
    """

    def __init__(self, path: str | os.PathLike[str], allow_writes: bool) -> None:
        super().__init__()
        name = os.fsdecode(path)
        self.identity = f"{name} since {_boot()}"
        mode = Path(path).stat().st_mode
        if stat.S_ISBLK(mode):
            mounted = _mounts(Path(path).stat().st_rdev)
            if mounted:
                raise InputError(
                    f"error: {name} is in use: {', '.join(mounted)}\n"
                    "  what else is read and written there would be measured, too; unmount it first"
                )
        flags = (os.O_RDWR if allow_writes else os.O_RDONLY) | os.O_DIRECT
        try:
            self._file = os.open(path, flags)
            self._through = os.open(path, flags | os.O_DSYNC) if allow_writes else self._file
        except OSError as error:
            raise InputError(f"error: cannot open {name} for direct access: {error.strerror}") from error
        self.may_write = allow_writes
        size = os.lseek(self._file, 0, os.SEEK_END)
        self.blocks = size // _BLOCK
        # Offsets and lengths of direct access are multiples of what the device reads at once.
        self._unit = _unit(self._file, size)
        self._memory = mmap.mmap(-1, _LONGEST)

    def _do(self, offset: int, length: int, write: bool, through: bool) -> None:
        begin = offset // self._unit * self._unit
        end = -(-(offset + length) // self._unit) * self._unit
        view = memoryview(self._memory)[: end - begin]
        if write:
            os.pwritev(self._through if through else self._file, [view], begin)
        else:
            os.preadv(self._file, [view], begin)


class NbdTarget(_Timed):
    """A network block device, such as `diskwright serve` exports.

    Raises:
        InputError: Nobody answers there, or not as a network block device.
    """

    def __init__(self, uri: str, allow_writes: bool, speed: float = 1.0) -> None:
        super().__init__(speed)
        self.identity = f"{uri} since {_boot()} at speed {speed:g}"
        try:
            self._socket = _connected(uri)
            self.blocks, is_read_only = self._handshake()
        except (OSError, ValueError, struct.error) as error:
            raise InputError(f"error: {uri}: no network block device: {error}") from error
        self.may_write = allow_writes and not is_read_only

    def _handshake(self) -> tuple[int, bool]:
        """Chooses the export without a name; gives its blocks, and whether it is read only."""
        if self._received(16) != b"NBDMAGICIHAVEOPT":
            raise ValueError("it begins otherwise")
        self._received(2)
        self._socket.sendall(struct.pack(">I", 3))
        self._socket.sendall(struct.pack(">QIIIH", 0x49484156454F5054, 7, 6, 0, 0))
        size, flags = 0, 0
        while True:
            _, _, kind, length = struct.unpack(">QIII", self._received(20))
            data = self._received(length)
            if kind == 1:
                return size // _BLOCK, bool(flags & 2)
            if kind == 3 and struct.unpack(">H", data[:2])[0] == 0:
                size, flags = struct.unpack(">QH", data[2:12])
            if kind & 0x8000_0000:
                raise ValueError(data.decode(errors="replace") or "it refuses")

    def _received(self, length: int) -> bytes:
        found = bytearray()
        while len(found) < length:
            part = self._socket.recv(length - len(found))
            if not part:
                raise ValueError("the connection ends")
            found += part
        return bytes(found)

    def _do(self, offset: int, length: int, write: bool, through: bool) -> None:
        request = struct.pack(
            ">IHHQQI",
            0x25609513,
            1 if write and through else 0,
            1 if write else 0,
            self.requests,
            offset,
            length,
        )
        self._socket.sendall(request + (bytes(length) if write else b""))
        _, error, _ = struct.unpack(">IIQ", self._received(16))
        if error:
            raise SimulationError(f"error: {length} bytes at {offset}: the device answers error {error}")
        if not write:
            self._received(length)


def opened(name: str | os.PathLike[str], allow_writes: bool, speed: float = 1.0) -> Target:
    """The target of a name: a drive of the library or a drive's file, a block device, another file, or a
    network block device, by URI or by the path of its socket.

    Raises:
        InputError: It cannot be opened; or a speed is given for one that is no network block device.
    """
    text = os.fsdecode(name)
    if text.startswith(("nbd://", "nbd+unix://")):
        return NbdTarget(text, allow_writes, speed)
    try:
        mode = Path(text).stat().st_mode
    except OSError as error:
        mode = 0
        # A drive's name is no path; a drive's file that is not there is the drive's own error.
        if os.sep in text and Path(text).suffix not in _DRIVES:
            raise InputError(
                f"error: {text}: {error.strerror}\n"
                "  = help: accepted: the name of a drive; the path of a drive's file, of a block device, of "
                "another file, or of the socket of a network block device; or its URI"
            ) from error
    if stat.S_ISSOCK(mode):
        return NbdTarget(f"nbd+unix:///?socket={text}", allow_writes, speed)
    if speed != 1.0:
        raise InputError(f"error: {text}: only what is served has a speed")
    if stat.S_ISBLK(mode) or (stat.S_ISREG(mode) and Path(text).suffix not in _DRIVES):
        return FileTarget(text, allow_writes)
    return SimulatedTarget(text)


def is_real(name: str | os.PathLike[str]) -> bool:
    """Whether a target has contents that writes would replace."""
    text = os.fsdecode(name)
    if text.startswith(("nbd://", "nbd+unix://")):
        return True
    try:
        mode = Path(text).stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) or Path(text).suffix not in _DRIVES


def _connected(uri: str) -> socket.socket:
    parts = urlsplit(uri)
    if parts.scheme == "nbd+unix":
        path = parse_qs(parts.query).get("socket", [""])[0]
        made = socket.socket(socket.AF_UNIX)
        made.connect(path)
        return made
    made = socket.create_connection((parts.hostname or "localhost", parts.port or 10809))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _boot() -> str:
    """The start of this machine, which its clock counts from."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _unit(file: int, size: int) -> int:
    """The smallest unit of direct access."""
    buffer = mmap.mmap(-1, 4096)
    for unit in (512, 1024, 2048, 4096):
        if unit > size:
            break
        try:
            os.preadv(file, [memoryview(buffer)[:unit]], 0)
        except OSError:
            continue
        return unit
    raise InputError("error: direct access is refused: the file system has none")


def _mounts(device: int) -> list[str]:
    """Where a block device, or a part of it, is mounted or otherwise in use."""
    names = {f"{os.major(device)}:{os.minor(device)}"}
    base = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")
    for part in base.glob("*/dev"):
        names.add(part.read_text().strip())
    found = [f"held by {holder.name}" for holder in [*base.glob("holders/*"), *base.glob("*/holders/*")]]
    with Path("/proc/self/mountinfo").open() as lines:
        for line in lines:
            fields = line.split()
            if fields[2] in names:
                found.append(f"mounted at {fields[4]}")
    with Path("/proc/swaps").open() as lines:
        for line in list(lines)[1:]:
            path = Path(line.split()[0])
            if path.exists() and stat.S_ISBLK(path.stat().st_mode):
                number = path.stat().st_rdev
                if f"{os.major(number)}:{os.minor(number)}" in names:
                    found.append("used for swapping")
    return found


_BLOCK = 512
# The longest request, bytes.
_LONGEST = 4 * 2**20
# Endings of the files that describe drives.
_DRIVES = (".toml", ".parv")
