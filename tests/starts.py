"""Starts the command in forks of one process that has imported it, so that no test waits for imports.

A fork gets arguments, folder, environment and standard files of its own, runs the entry point and ends as a
Python process does. The start itself is tried by the tests that start the installed command.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

# Bytes of a message to the forking process: the arguments and the environment of one command.
_LONGEST = 1 << 20


class Starter:
    """A process that forks for each command. One command runs at a time."""

    def __init__(self) -> None:
        self._connection, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with other:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(other.fileno())],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._process.wait()

    def run(
        self, command: Sequence[str | Path], *, cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """As `subprocess.run` with captured text and an empty standard input; `timeout` in seconds."""
        words = [os.fspath(word) for word in command]
        message = json.dumps({"words": words, "folder": str(cwd), "environment": dict(env)}).encode()
        with (
            Path(os.devnull).open() as nothing,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            files = [file.fileno() for file in (nothing, output, errors)]
            socket.send_fds(self._connection, [message], files)
            pid = int(self._connection.recv(_LONGEST))
            self._connection.settimeout(timeout)
            try:
                code = int(self._connection.recv(_LONGEST))
            except TimeoutError:
                os.kill(pid, 9)
                self._connection.settimeout(None)
                self._connection.recv(_LONGEST)
                raise subprocess.TimeoutExpired(words, timeout) from None
            self._connection.settimeout(None)
            texts = []
            for file in (output, errors):
                file.seek(0)
                # As a text file is read: line ends of all kinds become one.
                texts.append(file.read().decode().replace("\r\n", "\n").replace("\r", "\n"))
        return subprocess.CompletedProcess(words, code, *texts)


def _become_a_command(connection: socket.socket) -> bool:
    """Forks at each message. True in the fork, which is to run the command; false when the tests end."""
    while True:
        message, files, _, _ = socket.recv_fds(connection, _LONGEST, 3)
        if not message:
            return False
        pid = os.fork()
        if pid == 0:
            connection.close()
            asked = json.loads(message)
            for number, file in enumerate(files):
                os.dup2(file, number)
                os.close(file)
            os.chdir(asked["folder"])
            os.environ.clear()
            os.environ.update(asked["environment"])
            sys.argv = asked["words"]
            return True
        for file in files:
            os.close(file)
        connection.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        connection.send(str(os.waitstatus_to_exitcode(status)).encode())


if __name__ == "__main__":
    # Most commands print tables.
    import rich.table  # noqa: F401

    from diskwright.cli import main
    from diskwright.cli.verbs import Commands

    # A verb is imported when its command is asked for.
    list(Commands().values())
    if _become_a_command(socket.socket(fileno=int(sys.argv[1]))):
        main()
