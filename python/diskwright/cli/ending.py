"""How the command ends: after a failed write, at a closed pipe, by a signal; no file is left half-written."""

import errno
import io
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, NoReturn

from diskwright import _engine, _files

# How long a signal may take to be heard, s: the engine asks 20 times a second.
_PATIENCE_S = 0.5
# What the disk says, not the user's input.
_OF_THE_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE}


class StandardOutputError(Exception):
    """A failed write to standard output; no OSError, which libraries that print would take for their own."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write to standard output: {error.strerror}")
        self.closed = isinstance(error, BrokenPipeError)


def code_of(error: OSError) -> int:
    """The exit code where a file cannot be written: 2 for a wrong name, 1 for a full or broken disk."""
    return 1 if error.errno in _OF_THE_DISK else 2


class _Standard(io.FileIO):
    """Standard output, whose failed writes are stream apart from those of files."""

    def write(self, written: Any, /) -> int:
        try:
            return super().write(written)
        except BlockingIOError:
            raise
        except OSError as error:
            raise StandardOutputError(error) from error


def guard_standard_output() -> None:
    """Lets failed writes to standard output raise StandardOutputError."""
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        return
    raw = _Standard(stream.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
    )


def after_standard_output(failed: StandardOutputError) -> NoReturn:
    """Ends the process: silently as SIGPIPE would where nobody reads any more, else with a message."""
    # What is still held back is written nowhere.
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if failed.closed:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    complain(f"error: {failed}")
    sys.exit(1)


def complain(message: str) -> None:
    """Prints to standard error, as far as that can be written to."""
    with suppress(OSError):
        print(message, file=sys.stderr)


def listen_to_signals() -> None:
    """Lets SIGTERM end the command as Ctrl-C does, and both of them also where it waits for a file.

    A handler of Python's runs between two of its instructions: while the engine opens a pipe that nobody
    writes to, there is none. Then a thread that waits for signals ends the process, and removes the files
    that are not whole.
    """
    heard = threading.Event()

    def terminated(number: int, _frame: object) -> NoReturn:
        heard.set()
        sys.exit(128 + number)

    def interrupted(_number: int, _frame: object) -> NoReturn:
        heard.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, terminated)
    # A shell without job control has its background jobs ignore Ctrl-C.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupted)
    arrived, signalled = os.pipe()
    os.set_blocking(signalled, False)
    signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
    watching = threading.Thread(target=_watch, args=(arrived, heard), name="signals", daemon=True)
    watching.start()


def _watch(arrived: int, heard: threading.Event) -> None:
    first = True
    while True:
        number = os.read(arrived, 1)[0]
        if number not in (signal.SIGINT, signal.SIGTERM):
            continue
        # A second signal says that what heard of the first takes too long to end.
        if not first or not heard.wait(_PATIENCE_S):
            _end(number)
        first = False


def _end(number: int) -> NoReturn:
    _engine.discard_unfinished()
    _files.discard_unfinished()
    if number == signal.SIGINT:
        complain("interrupted")
    os._exit(128 + number)
