"""What was asked and answered so far, in a file: an extraction that was interrupted goes on from there.

What is measured follows from the answers alone. So the file has the answers, one a line, behind a line that
says of which target they are; an interrupted extraction gets them from there, and then asks on. A line
that was not written whole is not believed.
"""

import json
import os
from collections import deque
from pathlib import Path
from typing import Any

from diskwright import __version__
from diskwright._engine import InputError
from diskwright._files import replacing
from diskwright.extracting._target import Target

_FORM = 1
# Answers after which the file is brought up to date.
_EVERY = 64
_MARK = "mark"


def beside(output: str | os.PathLike[str]) -> Path:
    """The file of what was measured so far, of an extraction that writes a file."""
    path = Path(output)
    return path.with_name(f"{path.name}.part")


class Journal:
    """A target whose answers are kept in a file, and taken from there as far as they are known.

    Raises:
        InputError: The file is that of another target, or of nothing like it.
    """

    def __init__(self, target: Target, path: Path) -> None:
        self._inner = target
        self.path = path
        self.blocks, self.may_write, self.exact = target.blocks, target.may_write, target.exact
        self.identity = target.identity
        self.requests = 0
        # Entries that are known and were not asked for yet, and those that are not in the file yet.
        self._known: deque[list[Any]] = deque()
        self._is_away = False
        self._opened_ns = target.now_ns
        self._now = target.now_ns
        kept = self._read()
        self.resumed = sum(1 for entry in kept if entry != [_MARK])
        self._known.extend(kept)
        self._now = next((entry[5] for entry in kept if entry != [_MARK]), self._now)
        # The file is made anew, so that half a line at its end does no harm.
        with replacing(path) as file:
            file.write(json.dumps(self._head()) + "\n")
            file.writelines(json.dumps(entry) + "\n" for entry in kept)
        self._file = path.open("a", encoding="utf-8")
        self._unwritten = 0

    def _head(self) -> dict[str, Any]:
        return {
            "diskwright": "extraction",
            "form": _FORM,
            "version": __version__,
            "target": self.identity,
            "blocks": self.blocks,
            "writes": self.may_write,
        }

    def _read(self) -> list[list[Any]]:
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return []
        head = _said(lines[0])
        if not isinstance(head, dict) or head.get("diskwright") != "extraction":
            raise InputError(
                f"error: {self.path} is there, and is no interrupted extraction: it is not replaced"
            )
        if head != self._head():
            raise InputError(
                f"error: {self.path} is of an interrupted extraction of something else, or of another version"
                "\n  remove it to begin anew"
            )
        found = []
        # What follows the last newline was not written whole.
        for line in lines[1:-1]:
            entry = _said(line)
            if entry != [_MARK] and not _is_answer(entry):
                break
            found.append(entry)
        if self.exact:
            return found
        # The platter has turned on meanwhile: it is looked at again where angles are, not within a look.
        while found and found[-1] != [_MARK]:
            found.pop()
        found = found[:-1]
        return found if sum(entry != [_MARK] for entry in found) else []

    @property
    def now_ns(self) -> int:
        return self._now

    @property
    def budget_from_ns(self) -> int:
        """The instant from which on a budget counts, of the time of `now_ns`."""
        if not self._known:
            return self._now
        return int(self._known[-1][6] if self.exact else self._opened_ns)

    @property
    def away_ns(self) -> int:
        """How long nothing was asked between the answers of the file and the present ones."""
        if self.exact or not self.resumed:
            return 0
        return max(self._opened_ns - self._last_known, 0)

    _last_known = 0

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        asked = [pause_ns, lbn, blocks, int(write), int(through)]
        self.requests += 1
        if self._known and self._known[0][:5] != asked:
            # The budget is another one, so something else is measured now.
            self._forget()
        if self._known:
            entry = self._known.popleft()
            issue, end = int(entry[5]), int(entry[6])
            if self.exact and self._inner.ask(pause_ns, lbn, blocks, write, through) != (issue, end):
                raise InputError(
                    f"error: {self.path}: the drive answers at other times now\n  remove it to begin anew"
                )
            self._now = self._last_known = end
            self._is_away = not self.exact
            return issue, end
        issue, end = self._inner.ask(pause_ns, lbn, blocks, write, through)
        self._now = end
        self._write([*asked, issue, end])
        return issue, end

    def mark(self) -> bool:
        if self._known:
            if self._known[0] == [_MARK]:
                self._known.popleft()
                return False
            self._forget()
        was_away, self._is_away = self._is_away, False
        self._write([_MARK])
        return was_away

    def _forget(self) -> None:
        """The answers that are left are of other questions."""
        left = len(self._known)
        self._known.clear()
        self._file.close()
        lines = self.path.read_text(encoding="utf-8").split("\n")[:-1]
        with replacing(self.path) as file:
            file.writelines(line + "\n" for line in lines[: len(lines) - left])
        self._file = self.path.open("a", encoding="utf-8")

    def _write(self, entry: list[Any]) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._unwritten += 1
        if self._unwritten >= _EVERY:
            self._file.flush()
            self._unwritten = 0

    def close(self, is_complete: bool) -> None:
        """Ends it; of a complete extraction nothing is left."""
        self._file.close()
        if is_complete:
            self.path.unlink(missing_ok=True)


def _said(line: str) -> Any:
    """What a line says; nothing where it is damaged."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_answer(entry: Any) -> bool:
    """Whether an entry has the seven numbers of a question and its answer, in 64 bits each."""
    if not isinstance(entry, list) or len(entry) != 7:
        return False
    return all(type(number) is int and abs(number) < 1 << 63 for number in entry)


__all__ = ["Journal", "beside"]
