#!/usr/bin/env python3
"""Turns qemu's log of SCSI commands into a trace, and the guest's marks into a table of phases.

    to_csv.py REQUESTS CONSOLE TRACE PHASES

REQUESTS is what `-trace scsi_disk_new_request -msg timestamp=on` wrote, one command a line as it reached
the disk; CONSOLE is the guest's serial line, each line behind the seconds of the same clock. TRACE becomes
a table for diskwright's csv format, PHASES one of begin, end, requests and MiB.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

EVENT = re.compile(
    r"\d+@(\d+)\.(\d{6}):scsi_disk_new_request Command: lun=0 tag=0x[0-9a-f]+ data=((?: 0x[0-9a-f]{2})+)"
)
MARK = re.compile(r"(\d+)\.(\d{6}) .*?\bMARK (begin|failed) (.*)")

# Operation codes of SBC-3, by the length of their command.
READS = {0x08: 6, 0x28: 10, 0xA8: 12, 0x88: 16}
WRITES = {0x0A: 6, 0x2A: 10, 0xAA: 12, 0x8A: 16}
SYNCHRONIZE_CACHES = {0x35, 0x91}
WRITE_SAMES = {0x41: 10, 0x93: 16}
UNMAP = 0x42
# TEST UNIT READY, REQUEST SENSE, INQUIRY, MODE SELECT and SENSE, START STOP UNIT, PREVENT REMOVAL, READ
# CAPACITY, LOG SENSE, SERVICE ACTION IN, REPORT LUNS, MAINTENANCE IN: they name no blocks.
OTHERS = {0x00, 0x03, 0x12, 0x15, 0x1A, 0x1B, 0x1E, 0x25, 0x4D, 0x55, 0x5A, 0x9E, 0xA0, 0xA3}


class Request(NamedTuple):
    """A command for the medium; microseconds of the day's clock, 512-byte blocks."""

    time_us: int
    op: str
    fua: bool
    lbn: int
    blocks: int


class NotUnderstoodError(Exception):
    """A line that cannot be understood."""


def run_of_blocks(command: bytes, length: int) -> tuple[int, int]:
    """The first block and the blocks of a command of 6, 10, 12 or 16 bytes."""
    if length == 6:
        return int.from_bytes(command[1:4]) & 0x1FFFFF, command[4] or 256
    if length == 10:
        return int.from_bytes(command[2:6]), int.from_bytes(command[7:9])
    if length == 12:
        return int.from_bytes(command[2:6]), int.from_bytes(command[6:10])
    return int.from_bytes(command[2:10]), int.from_bytes(command[10:14])


def request(time_us: int, command: bytes) -> Request | None:
    """The request that a command is, or None for one that names no blocks."""
    code = command[0]
    length = READS.get(code) or WRITES.get(code) or WRITE_SAMES.get(code)
    if length is not None:
        if len(command) != length:
            raise NotUnderstoodError(f"command {code:#04x} has {len(command)} bytes, not {length}")
        lbn, blocks = run_of_blocks(command, length)
        if code in WRITE_SAMES:
            if blocks == 0:
                raise NotUnderstoodError("a WRITE SAME up to the end of the disk")
            # With the bit UNMAP a trim; without it a write, whatever it repeats.
            return Request(time_us, "d" if command[1] & 0x08 else "w", False, lbn, blocks)
        return Request(
            time_us, "r" if code in READS else "w", length > 6 and bool(command[1] & 0x08), lbn, blocks
        )
    if code in SYNCHRONIZE_CACHES:
        return Request(time_us, "f", False, 0, 0)
    if code == UNMAP:
        raise NotUnderstoodError(
            "an UNMAP, whose blocks are not in the log: set provisioning_mode to writesame_16"
        )
    if code in OTHERS:
        return None
    raise NotUnderstoodError(f"unknown command {code:#04x}")


def requests(path: Path) -> Iterator[Request]:
    """All requests of a log, in its order; ends the program at a line that cannot be understood."""
    last = 0
    with path.open() as log:
        for number, line in enumerate(log, 1):
            found = EVENT.fullmatch(line.strip())
            try:
                if found is None:
                    raise NotUnderstoodError(
                        "not a scsi_disk_new_request of lun 0 with a time: is -msg timestamp=on given?"
                    )
                time_us = int(found[1]) * 1_000_000 + int(found[2])
                if time_us < last:
                    raise NotUnderstoodError(
                        f"{last - time_us} us before the line in front of it: the clock was set"
                    )
                last = time_us
                one = request(time_us, bytes(int(byte, 16) for byte in found[3].split()))
            except NotUnderstoodError as error:
                sys.exit(f"{path}:{number}: {error}")
            # A read or write of no blocks is allowed, and does nothing.
            if one is not None and (one.op == "f" or one.blocks > 0):
                yield one


def beginnings(path: Path) -> list[tuple[int, str]]:
    """When each phase began, and its name; warns of tasks that failed."""
    found = []
    for line in path.read_text(errors="replace").splitlines():
        mark = MARK.match(line)
        if mark is None:
            continue
        name = mark[4].strip()
        if mark[3] == "begin":
            found.append((int(mark[1]) * 1_000_000 + int(mark[2]), name))
        else:
            print(f"warning: the guest's task {name} failed: see its /var/log/workload.log", file=sys.stderr)
    return found


def main(log: Path, console: Path, trace: Path, phases: Path) -> None:
    trail = list(requests(log))
    if not trail:
        sys.exit(f"{log}: no requests")
    zero = trail[0].time_us
    with trace.open("w") as out:
        out.write("time_ns,device,op,fua,lbn,blocks\n")
        for one in trail:
            out.write(f"{(one.time_us - zero) * 1000},0,{one.op},{int(one.fua)},{one.lbn},{one.blocks}\n")

    edges = [(zero, "boot"), *beginnings(console), (trail[-1].time_us + 1, "")]
    with phases.open("w") as out:
        out.write("phase,begin_s,end_s,reads,writes,fua,flushes,trims,read_mib,written_mib\n")
        for (begin, name), (end, _) in pairwise(edges):
            inside = [one for one in trail if begin <= one.time_us < end]
            count = Counter(one.op for one in inside)
            read, written = (sum(one.blocks for one in inside if one.op == op) / 2048 for op in "rw")
            fua = sum(one.fua for one in inside)
            out.write(
                f"{name},{(begin - zero) / 1e6:.1f},{(end - zero) / 1e6:.1f},{count['r']},{count['w']},{fua},"
                f"{count['f']},{count['d']},{read:.1f},{written:.1f}\n"
            )


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
