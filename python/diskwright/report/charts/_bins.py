"""The bins of the engine's logarithmic counts: exact up to 7, then four for every doubling."""

from collections.abc import Sequence
from itertools import pairwise

_BITS = 2


def between(first: int, last: int) -> list[int]:
    """The least numbers of all bins from that of one number to that of another, and of the one behind."""
    return [_least(number) for number in range(_bin(first), _bin(last) + 2)]


def named_bins(edges: Sequence[int]) -> list[str]:
    """The whole numbers of each bin between edges, such as 7 or 8-9."""
    return [f"{low:,}" if beyond - low == 1 else f"{low:,}-{beyond - 1:,}" for low, beyond in pairwise(edges)]


def _bin(number: int) -> int:
    if number < 1 << _BITS:
        return number
    doubling = number.bit_length() - 1 - _BITS
    return (doubling << _BITS) + (number >> doubling)


def _least(bin: int) -> int:
    if bin < 1 << _BITS:
        return bin
    doubling = (bin >> _BITS) - 1
    return (bin - (doubling << _BITS)) << doubling
