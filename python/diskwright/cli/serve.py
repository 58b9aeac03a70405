"""`diskwright serve`."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskwright import InputError, Result, _engine, _text
from diskwright._serving import Served
from diskwright.cli import ending, options, output, outputs
from diskwright.cli import run as run_verb

if TYPE_CHECKING:
    from rich.console import RenderableType

# Where faults are asked for, beside a socket.
CONTROL = ".control"
# Seconds between two lines of progress, and between two of its columns' means.
_EVERY_S = 0.5

# simulated s, answered, bytes, sum of response times in ms, in flight, clients.
_Progress = Callable[[float, int, int, float, int, int], object]


def serve(
    spec: options.SpecArgument,
    socket: Annotated[
        str | None, typer.Option("--socket", metavar="PATH", help="Serve at this Unix socket.")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="ADDRESS:PORT", help="Serve by TCP; port 0 takes one that is free."),
    ] = None,
    remote: Annotated[
        bool,
        typer.Option("--remote", help="Let --listen take an address that other machines reach."),
    ] = False,
    memory: Annotated[
        bool, typer.Option("--memory", help="Keep what is written in memory. The usual.")
    ] = False,
    image: Annotated[
        str | None,
        typer.Option("--image", metavar="FILE", help="Keep what is written in a raw, sparse image."),
    ] = None,
    discard: Annotated[
        bool,
        typer.Option("--discard-contents", help="Keep nothing: everything reads as zeros."),
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Let no client write.")] = False,
    speed: Annotated[
        float | None,
        typer.Option("--speed", metavar="N", help="Simulated seconds in a second; 1 where it is not given."),
    ] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--as-fast-as-possible",
            help="Answer at once: simulated time follows the requests, not the clock.",
        ),
    ] = False,
    depth: Annotated[
        int | None,
        typer.Option(
            "--depth",
            metavar="N",
            min=1,
            help="With --as-fast-as-possible, let time move on when N requests are in flight.",
        ),
    ] = None,
    busy_wait: Annotated[
        bool, typer.Option("--busy-wait", help="Never sleep while a client is there: answers are less late.")
    ] = False,
    power_cuts: Annotated[
        bool,
        typer.Option(
            "--power-cuts", help="Let a power cut take what the device would lose; takes memory and time."
        ),
    ] = False,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync", help="With --image, a client's flush waits for the disk of this machine as well."
        ),
    ] = False,
    new_drive: Annotated[
        bool,
        typer.Option(
            "--new-drive", help="With --image, leave out FILE.state: begin with the device of the spec."
        ),
    ] = False,
    block_size: Annotated[
        int,
        typer.Option(
            "--block-size", metavar="BYTES", help="What requests are multiples of: 4096 makes a 4Kn drive."
        ),
    ] = 512,
    command: Annotated[
        str | None,
        typer.Option(
            "--run",
            metavar="COMMAND",
            help="Run a command with $uri and $socket, and end with it.",
        ),
    ] = None,
    json: output.JsonOption = None,
    report: options.ReportOption = None,
    requests: Annotated[
        str | None, typer.Option(metavar="FILE.parquet", help="Write one row per request to a Parquet file.")
    ] = None,
    check: options.CheckOption = False,
    seed: options.SeedOption = None,
    quiet: options.QuietOption = False,
    settings: options.SetOption = None,
    drive: options.DriveOption = None,
) -> None:
    """Export a spec's device as a network block device.

    Of the spec count the device, the faults, the seed and a warm-up; its load is left out. Ctrl-C ends it.
    """
    if sum((memory, image is not None, discard)) > 1:
        raise InputError("error: --memory, --image and --discard-contents: expected one of them at most")
    if fast and speed is not None:
        raise InputError("error: --as-fast-as-possible and --speed: expected one of them")
    if depth is not None and not fast:
        raise InputError("error: --depth needs --as-fast-as-possible")
    for name, given in (("--sync", sync), ("--new-drive", new_drive)):
        if given and image is None:
            raise InputError(f"error: {name} needs --image")
    settings = options.with_seed(settings, seed)
    outputs.check(
        outputs.json(json),
        outputs.page(report),
        outputs.Output("--requests", requests, (".parquet",)),
        reads=lambda: [*outputs.of_spec(spec, settings, drive), *([Path(image)] if image else [])],
    )
    served = Served(
        socket=socket,
        listen=listen,
        remote=remote,
        control=None if socket is None else socket + CONTROL,
        speed=1.0 if speed is None else speed,
        depth=(depth or 1) if fast else None,
        image=image,
        discard=discard,
        read_only=read_only,
        block=block_size,
        busy=busy_wait,
        power_cuts=power_cuts,
        syncs=sync,
        new_drive=new_drive,
    )
    source = options.source(spec, None)
    with ExitStack() as stack:
        write_json = stack.enter_context(output.json_to(json))
        write_report = stack.enter_context(output.page_to(report))
        line = stack.enter_context(_line(quiet))
        child = _Child(command, socket)
        stack.callback(child.stop)

        def ready(uri: str, size: int, notes: list[str]) -> None:
            if not quiet:
                output.remarks([], notes)
                ending.complain(f"serving {size:,} bytes at {uri}")
            child.start(uri)

        def progress(*status: Any) -> None:
            child.look()
            if line is not None:
                line(*status)

        answer, drawn = _engine.serve(
            *source,
            Path.cwd(),
            settings,
            drive,
            check,
            requests,
            report is not None,
            served,
            ready,
            progress,
        )
        result = Result.of_run(answer, drawn)
        write_json(result)
        write_report(options.title(spec), result)
    if not quiet:
        output.remarks(result.warnings, [] if line is None else result.notes)
        if json != "-":
            output.show(*_report(spec, result))
    if child.code:
        raise typer.Exit(child.code)


class _Child:
    """A command that the device is served for; the serving ends with it."""

    def __init__(self, command: str | None, socket: str | None) -> None:
        self._command, self._socket = command, socket
        self._process: subprocess.Popen[bytes] | None = None
        self.code = 0

    def start(self, uri: str) -> None:
        if self._command is not None:
            names = {"uri": uri, "socket": self._socket or ""}
            self._process = subprocess.Popen(self._command, shell=True, env={**os.environ, **names})

    def look(self) -> None:
        """Ends the serving where the command has ended."""
        if self._process is not None and (code := self._process.poll()) is not None:
            self.code = code if code >= 0 else 128 - code
            raise SystemExit

    def stop(self) -> None:
        """Ends the command, if it is still there."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait()


@contextmanager
def _line(quiet: bool) -> Iterator[_Progress | None]:
    """A line of what goes on, on standard error, where that is a terminal."""
    if quiet or not output.stderr_is_terminal():
        yield None
        return
    last: tuple[float, tuple[float, int, int, float]] = (time.monotonic(), (0.0, 0, 0, 0.0))

    def update(
        simulated: float, answered: int, moved: int, response: float, in_flight: int, clients: int
    ) -> None:
        nonlocal last
        now = time.monotonic()
        then, before = last
        if now - then < _EVERY_S:
            return
        last = now, (simulated, answered, moved, response)
        passed, requests = simulated - before[0], answered - before[1]
        rate = requests / passed if passed > 0 else 0.0
        mb_per_s = (moved - before[2]) / passed / 1e6 if passed > 0 else 0.0
        latency = f"{(response - before[3]) / requests:.3g} ms" if requests else "-"
        text = (
            f"{simulated:,.1f} s  {rate:,.0f} IOPS  {mb_per_s:,.1f} MB/s  {latency}  "
            f"queue {in_flight}  clients {clients}"
        )
        print(f"\r\x1b[K{text[: output.width(is_error=True) - 1]}", end="", file=sys.stderr, flush=True)

    yield update
    print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _report(spec: str, result: Result) -> Iterator["RenderableType"]:
    served = result.served
    device = _text.subject(result.spec)
    yield output.heading(f"{options.title(spec)}: {device}, served")
    yield f"{served.connections:,} connections in {output.number(result.wall_s)} s"
    if not result.requests.measured:
        yield "no request"
        return
    yield from run_verb.times_and_devices(result)
    if (late := served.get("lateness_ms")) is not None:
        table = output.table("answers late by, in ms", "mean", "p99", "max", "host", "engine", "timer")
        causes = late.mean_by_cause
        values = (late["mean"], late.p99, late["max"], causes.host, causes.engine, causes.timer)
        table.add_row("", *map(output.number, values))
        yield table
        yield ""
    yield f"digest {result.digest}"


def control(
    socket: Annotated[str, typer.Argument(help="The socket that a device is served at.", show_default=False)],
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="FAULT",
            help="`power-cut`, `fail DEVICE`, or `media-error DEVICE FROM BLOCKS`.",
            show_default=False,
        ),
    ],
) -> None:
    """Let something go wrong in a device that is being served.

    Devices have the paths of results, such as array.member[1]; blocks are of 512 bytes. A power cut needs a
    server with --power-cuts, and ends it.
    """
    answer = _asked(Path(socket + CONTROL), "\t".join(words))
    if answer != "ok":
        raise InputError(answer)


def _asked(path: Path, command: str) -> str:
    """What a server answers to a command."""
    import socket as sockets
    import tempfile

    with (
        tempfile.TemporaryDirectory() as folder,
        sockets.socket(sockets.AF_UNIX, sockets.SOCK_DGRAM) as asking,
    ):
        asking.bind(str(Path(folder) / "answer"))
        asking.settimeout(5)
        try:
            asking.sendto(command.encode(), str(path))
            return asking.recv(4096).decode()
        except TimeoutError:
            raise InputError(f"error: the server at {path} does not answer") from None
        except OSError as error:
            raise InputError(
                f"error: no server hears commands at {path}: {error.strerror}\n"
                "  = help: the argument is the path of --socket"
            ) from None
