"""Replacement policies of one's own."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from diskwright import _engine

_METHODS = ("hit", "evict", "insert", "remove")


class Replacement(ABC):
    """A rule that chooses which block leaves a cache; each cache has one of its own.

    A cache has frames, numbered from 0, each for one block. It calls `hit` for an access to a block that it
    holds. For one that it does not hold it calls `miss`, then, if no frame is free, `evict`, and then
    `insert`; a cache that does not keep the block leaves out the last two, or the last. A policy knows of a
    frame from `insert` to `evict` or `remove`. An object with these methods, of whatever class, does as well;
    `miss` and `paid` may be lacking.
    """

    def __init__(self, setting: _engine.CacheSetting, /) -> None:
        """Made for a cache with `setting.capacity` frames.

        What is left to chance comes from `random.Random(setting.seed)`, so that runs can be repeated.
        """
        self.setting = setting

    @abstractmethod
    def hit(self, frame: int, access: _engine.CacheAccess, /) -> None:
        """The block in `frame` is accessed."""

    def miss(self, access: _engine.CacheAccess, /) -> None:  # noqa: B027 - most do nothing
        """A block that the cache does not hold is accessed: for policies that remember what has left."""

    @abstractmethod
    def evict(self, pinned: frozenset[int], /) -> int | None:
        """Chooses the frame whose block leaves, and forgets it; none of `pinned`. None where all are."""

    @abstractmethod
    def insert(self, frame: int, access: _engine.CacheAccess, /) -> None:
        """The block of the last miss is put into `frame`."""

    def paid(self, frame: int, cost: _engine.CacheCost, /) -> None:  # noqa: B027 - most do nothing
        """The access to the medium that brought the block in `frame`, or wrote it, is over."""

    @abstractmethod
    def remove(self, frame: int, /) -> None:
        """The block in `frame` leaves for another reason: it was trimmed, or its data are no longer good."""


Replacements = Mapping[str, Callable[[_engine.CacheSetting], Replacement]]
"""Classes, or functions that make a policy for a cache, by the names that specs have for them."""


def ready(replacements: Replacements | None) -> list[tuple[str, Any]]:
    """The same for the engine; a class that lacks a method is told before a run begins."""
    for name, make in (replacements or {}).items():
        has = [callable(getattr(make, method, None)) for method in _METHODS]
        abstract = getattr(make, "__abstractmethods__", ())
        if abstract or not (all(has) if isinstance(make, type) else callable(make)):
            raise TypeError(
                f"replacements: {name}: expected a class with the methods {', '.join(_METHODS)}, or a "
                f"function that makes an object with them for a cache, not {make!r}"
            )
    return list((replacements or {}).items())
