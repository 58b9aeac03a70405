"""Files that commands go on from, damaged at random: what is read of them is right, or there is a message."""

import random
from pathlib import Path

import pytest

from diskwright._engine import InputError
from diskwright.extracting._journal import Journal
from diskwright.sweep._store import Store

TOKENS = [b"[" * 20_000, b"{", b"]", b'"', b"\xff", b"\0", b"\n", b"9" * 5_000, b"-1", b"1e400", b"null"]


def damaged(sound: bytes, chance: random.Random) -> bytes:
    """With one to four places changed."""
    data = bytearray(sound)
    for _ in range(chance.randint(1, 4)):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.randint(0, 12))
        match chance.randint(0, 4):
            case 0 if at < len(data):
                data[at] ^= 1 << chance.randint(0, 7)
            case 1:
                del data[at:end]
            case 2:
                del data[at:]
            case 3:
                data[at:at] = data[chance.randint(0, len(data)) :][:40]
            case _:
                data[at:end] = chance.choice(TOKENS)
    return bytes(data)


class _Drive:
    """A target that answers every request within 10 ns."""

    blocks = 1_000
    requests = 0
    may_write = False
    now_ns = 0
    budget_from_ns = 0
    away_ns = 0

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.identity = "a drive"

    def ask(
        self, pause_ns: int, lbn: int, blocks: int, write: bool = False, through: bool = True
    ) -> tuple[int, int]:
        return self.now_ns + pause_ns, self.now_ns + pause_ns + 10

    def mark(self) -> bool:
        return False


@pytest.mark.parametrize("exact", [True, False])
def test_damaged_answers_are_not_believed(tmp_path: Path, exact: bool) -> None:
    path = tmp_path / "drive.toml.part"
    journal = Journal(_Drive(exact), path)
    for number in range(10):
        journal.ask(100 * number, 8 * number, 8)
        journal.mark()
    journal.close(is_complete=False)
    sound = path.read_bytes()
    assert Journal(_Drive(exact), path).resumed == 10
    refused = resumed = 0
    for seed in range(300):
        path.write_bytes(damaged(sound, random.Random(seed)))
        try:
            journal = Journal(_Drive(exact), path)
        except InputError as error:
            refused += 1
            assert str(path) in str(error)
            continue
        resumed += journal.resumed > 0
        # All that it knows has the form of an answer.
        while journal._known:
            pending = journal._known[0]
            if len(pending) == 1:
                journal.mark()
                continue
            pause, lbn, blocks, write, through, *answer = pending
            try:
                told = journal.ask(pause, lbn, blocks, bool(write), bool(through))
            except InputError:
                assert exact, "only an exact drive is asked again"
                break
            assert told == tuple(answer) or exact
        journal.close(is_complete=False)
    assert refused > 30 and resumed > 30


def test_damaged_points_are_run_again(tmp_path: Path) -> None:
    key = "0123456789abcdef0123456789abcdef"
    store = Store(tmp_path)
    result = {"iops": 1.5, "devices": {"hdd": {"requests": 7}}, "text": "\u00fc<b>"}
    store.put(key, result)
    (path,) = tmp_path.iterdir()
    sound = path.read_bytes()
    assert store.get(key) == result
    believed = 0
    for seed in range(300):
        path.write_bytes(damaged(sound, random.Random(seed)))
        found = store.get(key)
        # What the hash is not of, a version in the head for one, may be anything.
        assert found in (None, result)
        believed += found is not None
    assert believed < 30
