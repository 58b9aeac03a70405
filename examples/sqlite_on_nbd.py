"""SQLite on a device that `diskwright serve` exports, without a kernel's device, root or a guest.

A database, its journal and its log lie at fixed places of the device. What SQLite writes goes to the
device at once, and what it syncs becomes a flush. What was read or written once is not read again, as
with a kernel's page cache. It needs the package `apsw`.

    python sqlite_on_nbd.py write SOCKET [PRAGMA...]           transactions until the device is gone
    python sqlite_on_nbd.py write SOCKET --count 100 [PRAGMA...]
    python sqlite_on_nbd.py check IMAGE ACKNOWLEDGED RESULT.json

`write` prints the number of each transaction once SQLite has said that it is committed. `check` opens the
image that is left after a power cut as SQLite would, compares it with these numbers, and tells which
writes of the database and its journal are lost.
"""

import json
import os
import random
import socket
import struct
import sys
from pathlib import Path
from typing import Any, Protocol

import apsw

SECTOR = 4096
# The database, its journal, its log. Each has a sector that says where it is and how long, and two places, of
# which a new file takes the one that the last file has not had.
FILES = {"": "database", "-journal": "journal", "-wal": "log"}
START = 1 << 20
ROOM = 16 << 20
MAGIC = b"file"
# Rows that are changed by each transaction, and how many there are.
CHANGED, ROWS = 4, 400
# SQLite finds a file system by its name, but does not keep it.
_files: list["Files"] = []


class GoneError(Exception):
    """The device has closed the connection: its power is cut."""


class Disk(Protocol):
    """What files are kept on."""

    def read(self, offset: int, length: int) -> bytes: ...
    def write(self, offset: int, data: bytes) -> None: ...
    def flush(self) -> None: ...


class Nbd:
    """A client of the network block device protocol, with one request at a time, and what it knows."""

    READ, WRITE, DISCONNECT, FLUSH = 0, 1, 2, 3

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path)
        if self._take(18)[:16] != b"NBDMAGICIHAVEOPT":
            raise SystemExit(f"{path}: no server of the protocol in its fixed newstyle")
        # The client's flags, fixed newstyle and no zeros, and the choice of the export with the empty name.
        self._socket.sendall(struct.pack(">I", 3) + b"IHAVEOPT" + struct.pack(">II", 1, 0))
        self._take(10)
        self._known: dict[int, bytes] = {}

    def _take(self, count: int) -> bytes:
        taken = bytearray()
        while len(taken) < count:
            try:
                piece = self._socket.recv(count - len(taken))
            except ConnectionError:
                piece = b""
            if not piece:
                raise GoneError
            taken += piece
        return bytes(taken)

    def _ask(self, kind: int, offset: int = 0, length: int = 0, data: bytes = b"") -> None:
        request = struct.pack(">IHHQQI", 0x25609513, 0, kind, 0, offset, length)
        try:
            self._socket.sendall(request + data)
        except ConnectionError:
            raise GoneError from None
        _, error, _ = struct.unpack(">IIQ", self._take(16))
        if error:
            raise OSError(error, "the device says")

    def read(self, offset: int, length: int) -> bytes:
        for at in range(offset, offset + length, SECTOR):
            if at not in self._known:
                self._ask(self.READ, at, SECTOR)
                self._known[at] = self._take(SECTOR)
        return b"".join(self._known[at] for at in range(offset, offset + length, SECTOR))

    def write(self, offset: int, data: bytes) -> None:
        self._ask(self.WRITE, offset, len(data), data)
        for at in range(0, len(data), SECTOR):
            self._known[offset + at] = data[at : at + SECTOR]

    def flush(self) -> None:
        self._ask(self.FLUSH)

    def close(self) -> None:
        self._socket.sendall(struct.pack(">IHHQQI", 0x25609513, 0, self.DISCONNECT, 0, 0, 0))
        self._socket.close()


class Image:
    """The image of a device that is not served."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDWR)

    def read(self, offset: int, length: int) -> bytes:
        return os.pread(self._file, length, offset)

    def write(self, offset: int, data: bytes) -> None:
        os.pwrite(self._file, data, offset)

    def flush(self) -> None:
        pass


class Stored:
    """A file on a device.

    Its length is written when it is synced, behind its data, and what a deleted file had is not overwritten
    before the deletion is safe. File systems with a journal do the same: else a crash could show old data
    in a new file, or new data in one that has been deleted.
    """

    def __init__(self, disk: Disk, number: int) -> None:
        self._disk, self._number = disk, number
        entry = disk.read(number * SECTOR, SECTOR)
        self._place, self._size = int.from_bytes(entry[4:8]), int.from_bytes(entry[8:16])
        self.exists = self._is_noted = entry.startswith(MAGIC)
        self._is_changed = False

    @property
    def _start(self) -> int:
        return START + (2 * self._number + self._place) * ROOM

    def _note(self) -> None:
        entry = struct.pack(">4sIQ", MAGIC if self.exists else b"", self._place, self._size)
        self._disk.write(self._number * SECTOR, entry.ljust(SECTOR, b"\0"))
        self._is_noted, self._is_changed = self.exists, False

    def _resize(self, size: int) -> None:
        if size == 0:
            self._place = 1 - self._place
        self._size, self._is_changed = size, True

    def create(self) -> None:
        self.exists = True
        self._resize(0)

    def delete(self) -> None:
        self.exists = False
        if self._is_noted:
            self._note()

    # What SQLite calls.

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        first = offset // SECTOR * SECTOR
        length = -(-(offset + amount) // SECTOR) * SECTOR - first
        data = self._disk.read(self._start + first, length)[offset - first :]
        return data[: max(min(amount, self._size - offset), 0)]

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        end = offset + len(data)
        if end > ROOM:
            raise apsw.FullError("the file's place on the device is full")
        first, last = offset // SECTOR * SECTOR, -(-end // SECTOR) * SECTOR
        if (first, last) != (offset, end):
            # A part of a sector: the rest of it stays, as far as the file goes.
            whole = bytearray(last - first)
            if (kept := min(last, -(-self._size // SECTOR) * SECTOR) - first) > 0:
                whole[:kept] = self._disk.read(self._start + first, kept)
            whole[offset - first : end - first] = data
            data = bytes(whole)
        self._disk.write(self._start + first, data)
        if end > self._size:
            self._resize(end)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._resize(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.flush()
        if self._is_changed:
            self._note()
            self._disk.flush()

    def xFileSize(self) -> int:  # noqa: N802
        return self._size

    def xSectorSize(self) -> int:  # noqa: N802
        return SECTOR

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return 0

    def xFileControl(self, op: int, pointer: int) -> bool:  # noqa: N802
        return False

    def xLock(self, level: int) -> None:  # noqa: N802
        """One process has the device."""

    def xUnlock(self, level: int) -> None:  # noqa: N802
        """See `xLock`."""

    def xCheckReservedLock(self) -> bool:  # noqa: N802
        return False

    def xClose(self) -> None:  # noqa: N802
        pass


class Files(apsw.VFS):
    """The file system that SQLite sees: one database, its journal and its log."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._stored = {suffix: Stored(disk, number) for number, suffix in enumerate(FILES)}
        super().__init__("nbd", base="")

    def _file(self, name: str | apsw.URIFilename | None) -> Stored:
        text = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        suffix = next(suffix for suffix in sorted(FILES, reverse=True) if text.endswith(suffix))
        return self._stored[suffix]

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> Any:  # noqa: N802
        if name is None:
            return apsw.VFSFile("", None, flags)
        file = self._file(name)
        if not file.exists:
            file.create()
        flags[1] = flags[0]
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._file(filename).delete()
        if syncdir:
            self._disk.flush()

    def xAccess(self, pathname: str, flags: int) -> bool:  # noqa: N802
        return self._file(pathname).exists

    def xFullPathname(self, name: str) -> str:  # noqa: N802
        return name


def opened(disk: Disk) -> apsw.Connection:
    """The database on a disk."""
    _files.append(Files(disk))
    return apsw.Connection("database", vfs="nbd")


def changes(number: int) -> dict[int, bytes]:
    """What a transaction makes of which rows, by its number."""
    draw = random.Random(number)
    return {row: draw.randbytes(500) for row in draw.sample(range(ROWS), CHANGED)}


def write(path: str, count: int | None, pragmas: list[str]) -> None:
    """Makes transactions, each of which changes some rows and counts itself."""
    disk = Nbd(path)
    try:
        database = opened(disk)
        # How it is locked is said before anything is read: without shared memory a log needs it.
        for pragma in [pragma for pragma in pragmas if pragma.startswith("locking_mode")]:
            database.execute(f"pragma {pragma}")
        with database:
            database.execute("create table if not exists account (id integer primary key, body blob)")
            database.execute("create table if not exists done (number integer primary key)")
            rows = [(row, bytes(500)) for row in range(ROWS)]
            database.executemany("insert or ignore into account values (?, ?)", rows)
        for pragma in pragmas:
            database.execute(f"pragma {pragma}")
        last = database.execute("select coalesce(max(number), 0) from done").get
        number = last
        while count is None or number < last + count:
            number += 1
            with database:
                for row, body in changes(number).items():
                    database.execute("update account set body = ? where id = ?", (body, row))
                database.execute("insert into done values (?)", (number,))
            print(number, flush=True)
        database.close()
        disk.close()
    except (GoneError, apsw.Error) as error:
        if not isinstance(error, GoneError) and not isinstance(error.__context__, GoneError):
            raise
        print("the device is gone", file=sys.stderr)


def place(lbn: int) -> str:
    """What lies at a block of the device."""
    offset, names = lbn * 512, list(FILES.values())
    if offset < START:
        return f"place and length of the {names[offset // SECTOR]}"
    place, within = divmod(offset - START, ROOM)
    return f"{names[place // 2]}, byte {within:,}"


def check(image: str, acknowledged: str, result: str) -> None:
    """Tells what is left of the acknowledged transactions after a power cut."""
    numbers = [int(line) for line in Path(acknowledged).read_text().split()]
    cut = json.loads(Path(result).read_text())["served"]["power_cut"]
    print(f"{cut['lost_writes']} writes that the device had answered are lost")
    for lost in cut["first_lost"][:5]:
        print(f"  {lost['blocks']} blocks of the {place(lost['lbn'])}")
    try:
        database = opened(Image(image))
        # A log needs no memory that is shared where one process has the database.
        database.execute("pragma locking_mode = exclusive")
        state = str(database.execute("pragma integrity_check").get)
        found = {number for (number,) in database.execute("select number from done")}
        expected = {row: bytes(500) for row in range(ROWS)}
        for number in sorted(found):
            expected |= changes(number)
        if state == "ok" and dict(database.execute("select id, body from account")) != expected:
            state = "rows are not those of the transactions that are there"
    except apsw.Error as error:
        state, found = str(error), set()
    print(f"the database: {state.splitlines()[0]}")
    missing = [number for number in numbers if number not in found]
    print(f"{len(numbers)} transactions were committed, {len(missing)} of them are lost: {missing[-5:]}")
    if state != "ok" or missing:
        raise SystemExit(1)


def main(words: list[str]) -> None:
    match words:
        case ["write", path, "--count", count, *pragmas]:
            write(path, int(count), pragmas)
        case ["write", path, *pragmas]:
            write(path, None, pragmas)
        case ["check", image, acknowledged, result]:
            check(image, acknowledged, result)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
