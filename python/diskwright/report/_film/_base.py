"""What films of all kinds have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """What all animations of a kind have in common.

    name: `of` in the data of a film.
    title: what is at work.
    explained: what a reader must know to read it.
    counted: what a row of its table is, and `numbers`, what must be known of them.
    scripts: the static files that draw and tell it, in the order in which they are run.
    key: what its key has besides the parts of requests: the class of a swatch, the operation whose colour it
        has, and its meaning.
    """

    name: str
    title: str
    explained: str
    counted: str
    numbers: str
    scripts: Sequence[str]
    key: Sequence[tuple[str, int | None, str]]


@dataclass(frozen=True)
class Film:
    """A device at work.

    id: of the elements that are its own.
    data: what is drawn; instants are ns since the window's start.
    columns, rows: the same in numbers.
    notes: what a reader must know to read it.
    why: why there is nothing to show; empty where there is.
    """

    kind: Kind
    id: str
    path: str
    data: Mapping[str, Any]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]
    why: str

    @classmethod
    def empty(cls, kind: Kind, id: str, path: str, why: str) -> "Film":
        """One that has nothing to show."""
        return cls(kind, id, path, {}, (), (), (), why)


def ms(ns: int) -> str:
    """Milliseconds, to the nanosecond."""
    return f"{ns // 1_000_000:,}.{ns % 1_000_000:06d}"


def seconds(ns: int) -> str:
    """Seconds, to the microsecond."""
    return f"{ns // 1_000_000_000:,}.{ns % 1_000_000_000 // 1_000:06d}"
