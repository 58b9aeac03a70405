"""What the verbs may write: nothing over what they read, nothing twice, all under names that fit."""

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from diskwright import InputError, _engine
from diskwright._files import open_number

# The options whose file may be the standard output, "-".
_TO_STDOUT = ("--json", "--fio-json")


@dataclass(frozen=True, slots=True)
class Output:
    """A file that a command is to write.

    option: what the user gave it with, as a message names it.
    target: the file; None where there is none to be written.
    endings: those of the names that fit what is written, in lower case; any where there are none.
    """

    option: str
    target: str | None
    endings: tuple[str, ...] = ()

    @property
    def is_file(self) -> bool:
        """Whether it replaces a file, and is not written to a stream."""
        if self.target is None or (self.target == "-" and self.option in _TO_STDOUT):
            return False
        return not is_stream(self.target)


def json(target: str | None) -> Output:
    """The file of `--json`."""
    return Output("--json", target, (".json",))


def fio_json(target: str | None) -> Output:
    """The file of `--fio-json`."""
    return Output("--fio-json", target, (".json",))


def page(target: str | None) -> Output:
    """The file of `--report`."""
    return Output("--report", target, (".html", ".htm"))


def drive(target: str | None) -> Output:
    """The file of a drive."""
    return Output("--output", target, (".toml",))


def plot(target: str | None) -> Output:
    """The file of `--plot`."""
    return Output("--plot", target, (".png", ".svg", ".pdf"))


def curve(option: str, target: str | None) -> Output:
    """The file of a curve of access times."""
    return Output(option, target, (".csv",))


def is_stream(target: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a stream, such as a pipe or /dev/stdout, which is written to as it is."""
    if open_number(target) is not None:
        return True
    try:
        mode = Path(target).stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def check(*outputs: Output, reads: Callable[[], Iterable[str | os.PathLike[str]]]) -> None:
    """Refuses an output in the place of an input, or of another output, or whose name does not fit.

    reads: tells what the command reads: files, and folders of its own in which nothing else belongs. Asked
        only where a file is to be written.
    """
    files = [output for output in outputs if output.is_file]
    if not files:
        return
    read = [Path(path) for path in reads()]
    for index, output in enumerate(files):
        target = Path(output.target or "")
        for path in read:
            if _is_same(target, path):
                raise _refused(output, "is", path)
            if _is_same(target.parent, path):
                raise _refused(output, "is in", path)
        for other in files[:index]:
            if _is_same(target, Path(other.target or "")):
                raise InputError(f"error: {output.option} {target}: {other.option} writes the same file")
        if output.endings and not target.is_dir() and target.suffix.lower() not in output.endings:
            accepted = " or ".join(output.endings)
            raise InputError(
                f"error: {output.option} {target}: expected the name of a file that ends in {accepted}"
            )


def _refused(output: Output, relation: str, path: Path) -> InputError:
    what = f"this {relation} {path}, which" if str(path) != output.target else "this is a file that"
    return InputError(
        f"error: {output.option} {output.target}: {what} the command reads: "
        "no output takes the place of an input\n  = help: write another file"
    )


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are of one file, through links, or would be if it were there."""
    try:
        return one.samefile(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def of_spec(
    spec: str,
    settings: list[str] | None = None,
    drive: str | None = None,
    trace: str | None = None,
    vary: list[str] | None = None,
) -> list[Path]:
    """The files that a spec reads, with what the command line adds to it."""
    if spec == "-" or is_stream(spec):
        # It can be read only once, and what it names is not known before.
        return [Path(path) for path in (spec, drive, trace) if path is not None and path != "-"]
    return list(map(Path, _engine.inputs_of_spec(spec, settings or [], vary or [], drive, trace)))


def of_drive(drive: str) -> list[Path]:
    """The files that a drive is read from."""
    return list(map(Path, _engine.inputs_of_drive(drive)))


def of_trace(trace: str) -> list[Path]:
    """The files that a trace is read from."""
    return list(map(Path, _engine.inputs_of_trace(trace)))
