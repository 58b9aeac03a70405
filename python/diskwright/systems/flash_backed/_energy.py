"""What stopping the medium saves, and what it costs, with an NV cache and without."""

from collections.abc import Mapping
from typing import Any

from diskwright.reproduce import Figure, Lines, Point, Run
from diskwright.systems.flash_backed._devices import MECHANICAL, card, medium
from diskwright.systems.flash_backed._loads import DAYS, HP, workload
from diskwright.systems.flash_backed._runs import WEEKS_PER_YEAR

TIMEOUTS_S = (1, 2, 5, 10, 30, 60, 300, 1_800)
STATE = "standby_z"
RATED = 600_000
"""Load/unload cycles that the makers of 2.5-inch drives of those years rate them for; a stop is one."""

DISK, CACHED, MODE = "disk", "NV cache", "NV cache, power mode"
ADAPTIVE, ORACLE = "disk, adaptive", "disk, oracle"


def _disk(policy: Any) -> dict[str, Any]:
    """The drive with all its mechanics, under a policy, or always on."""
    hdd = dict(medium(MECHANICAL)["hdd"])
    return {"hdd": {**hdd, "power": {} if policy is None else {"policy": policy}}}


def _run(device: Mapping[str, Any]) -> Run:
    return Run({"workload": workload(HP), "measure": {"warmup": 0}, "device": device})


def on_disk(policy: Any) -> Run:
    """The HP week on the disk alone."""
    return _run(_disk(policy))


def on_hybrid(policy: Any, **settings: Any) -> Run:
    """The same on the disk with an NV cache, which takes writes while it is down."""
    return _run({"hybrid": {"media": _disk(policy), "nvcache": card(1.0), **settings}})


def _fixed(seconds: float) -> dict[str, Any]:
    return {"fixed": {STATE: f"{seconds} s"}}


def points() -> list[Point]:
    """Each drive with each timeout; what has no timeout is the same at all of them."""
    found = []
    for seconds in TIMEOUTS_S:
        runs = {
            DISK: on_disk(_fixed(seconds)),
            CACHED: on_hybrid(_fixed(seconds)),
            MODE: on_hybrid(None, power_mode=True, high_power=f"{seconds} s"),
            ADAPTIVE: on_disk({"adaptive": {"state": STATE}}),
            ORACLE: on_disk("oracle"),
        }
        found += [
            Point({"drive": drive, "timeout_s": seconds}, {"run": run, "on": on_disk(None)})
            for drive, run in runs.items()
        ]
    return found


def _report(run: Any) -> Any:
    """What the results say of the disk."""
    devices = run.devices
    return devices["hdd"] if "hdd" in devices else devices["hybrid.media.hdd"]


def energy_kj(runs: Mapping[str, Any]) -> float:
    """The disk's energy, kJ."""
    return float(_report(runs["run"]).energy_j) / 1e3


def spin_ups(runs: Mapping[str, Any]) -> float:
    """How often it has started."""
    return float(_report(runs["run"]).spin_ups)


def years(runs: Mapping[str, Any]) -> float | None:
    """How many years of such weeks its rated cycles last; None where it never starts."""
    starts = spin_ups(runs)
    return RATED / (starts * WEEKS_PER_YEAR) if starts else None


def added_ms(runs: Mapping[str, Any]) -> float:
    """By how much the mean response time is above that of a disk that is always on."""
    return float(runs["run"].response_ms.mean) - float(runs["on"].response_ms.mean)


_MEASURED = {
    "energy_kj": energy_kj,
    "to_always_on": lambda runs: energy_kj(runs) / (float(_report(runs["on"]).energy_j) / 1e3),
    "spin_ups": spin_ups,
    "years_of_rated_cycles": years,
    "added_ms": added_ms,
    "response_p99_ms": lambda runs: float(runs["run"].response_ms.p99),
}
_NOTE = (
    f"HP week, {DAYS} days, the full model of travelstar-5k160; the NV cache's own energy is not "
    "in it. NV cache: the same timeouts, and what is written while the disk is down goes to the NV cache. "
    "Power mode: NV cache power mode, with the timeout as the minimum high-power time. Adaptive and oracle "
    "have no timeout; the oracle is the least energy at which no request waits, without an NV cache: with "
    "one the disk rests for longer, because writes do not end its rest. added_ms: the mean response time "
    "above that of a disk that is always on. years_of_rated_cycles: until "
    f"{RATED:,} cycles, each start being one."
)


def _figure(id: str, title: str, drawn: Lines) -> Figure:
    return Figure(
        id=id,
        title=title,
        paper="Not measured. It cites the authors' NVCache (MASCOTS 2006), in which writes go to flash while "
        "the disk is stopped.",
        points=points(),
        measure=_MEASURED,
        drawn=drawn,
        note=_NOTE,
        partial=True,
    )


_TIMEOUT, _DRIVE = "timeout (s)", ("drive",)
FIGURES = [
    _figure(
        "beyond-energy",
        "What stopping the medium saves",
        Lines("timeout_s", "energy_kj", by=_DRIVE, x_label=_TIMEOUT, y_label="kJ", x_log=True, y_log=True),
    ),
    _figure(
        "beyond-energy-starts",
        "How often the medium starts",
        Lines("timeout_s", "spin_ups", by=_DRIVE, x_label=_TIMEOUT, y_label="starts", x_log=True),
    ),
    _figure(
        "beyond-energy-delay",
        "What stopping the medium saves, and how long requests wait for it",
        Lines("added_ms", "energy_kj", by=_DRIVE, x_label="added to the mean response (ms)", y_label="kJ"),
    ),
]
