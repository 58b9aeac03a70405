"""The devices of the reproduction of Smart Response: a disk, SSDs of any size, and both together."""

from collections.abc import Mapping
from math import ceil
from typing import Any

Device = dict[str, Any]

DISK, SSD = "travelstar-5k160", "samsung-850-pro"
DISK_BLOCKS = 312_581_808
BLOCK = 512
GIB_BLOCKS = 2**30 // BLOCK

FIFO, LIFO, LRU = "fifo", "lifo", "lru"
SLRU: Mapping[str, Any] = {"slru": {"protected": 0.5}}
"""As in the paper: the protected segment is half of the cache."""
POLICIES: Mapping[str, str | Mapping[str, Any]] = {"FIFO": FIFO, "LIFO": LIFO, "S-LRU": SLRU, "LRU": LRU}
THROUGH, BACK = "write-through", "write-back"

# The SSD of the library, in what its dies and their pages are; a smaller drive has fewer of them.
_CHANNELS, _PACKAGES, _PLANES = 8, 6, 2
_PAGES, _UNITS, _UNIT_BLOCKS = 384, 4, 8
_SPARE, _BLOCKS = 0.075, 917
_SMALL_GB, _SMALL_PAGES = 4, 48
"""Below, a channel for each half of a GB, and smaller blocks, so that a plane has hundreds."""


def blocks(gb: float) -> int:
    """GB in blocks. The paper's sizes are powers of two."""
    return round(gb * GIB_BLOCKS)


def disk(**changes: Any) -> Device:
    """The disk as it is sold; each seed has another angle at the start."""
    return {"hdd": {"drive": DISK, "angle": "random", **changes}}


def ssd(size: int, **changes: Any) -> Device:
    """The library's SSD with `size` blocks in place of its own: fewer dies of the same flash, with its pages
    and times, and as much spare, but for less than a block of each plane. Below 4 GB its blocks are smaller.

    changes: keys of the device beside these, such as `initial`.
    """
    units = -(-size // _UNIT_BLOCKS)
    small = size < _SMALL_GB * GIB_BLOCKS
    channels = ceil(size / GIB_BLOCKS * 2) if small else _CHANNELS
    pages = _SMALL_PAGES if small else _PAGES
    block = _PLANES * channels * pages * _UNITS
    packages = 1 if small else max(1, min(_PACKAGES, ceil(units / (1 - _SPARE) / block / _BLOCKS)))
    of_plane = ceil(units / (1 - _SPARE) / (block * packages))
    flash = {
        "channels": channels,
        "packages": packages,
        "planes": _PLANES,
        "blocks": of_plane,
        "pages": pages,
        "page": "16 KiB",
        "unit": "4 KiB",
    }
    share = 1 - units / (block * packages * of_plane)
    spare = {"share": f"{100 * share:.9f} %", "reserved": 1}
    return {"ssd": {"drive": SSD, "flash": flash, "spare": spare, **changes}}


def empty(size: int) -> Device:
    """A new SSD."""
    return ssd(size, initial={"fill": "0 %"})


def filled(size: int, used: int | None = None, overwrite: float = 0.0) -> Device:
    """An SSD that has been written, as far as a load goes: what was never written takes no flash time."""
    fill: dict[str, Any] = {"fill": f"{min(100, ceil(100 * (used or size) / size))} %"}
    return ssd(size, initial={**fill, **({"overwrite": overwrite} if overwrite else {})})


def hybrid(size: int, fast: Device | None = None, slow: Device | None = None) -> Device:
    """A static hybrid: the first blocks on an SSD of this size, the rest on the disk."""
    return {"array": {"layout": "concat", "member": [fast or filled(size), slow or disk()]}}


def tier(
    size: int,
    policy: str | Mapping[str, Any] = FIFO,
    write_policy: str = THROUGH,
    *,
    cache: Device | None = None,
    backing: Device | None = None,
    **changes: Any,
) -> Device:
    """The SSD as a cache of the disk: a new one of the cache's size unless said.

    The paper's caches keep no metadata.
    changes: keys of the tier beside these.
    """
    return {
        "tier": {
            "size": f"{size} blocks",
            "policy": policy,
            "write_policy": write_policy,
            "metadata": "none",
            "cache": cache or empty(size),
            "backing": backing or disk(),
            **changes,
        }
    }
