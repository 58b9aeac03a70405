"""diskwright simulates storage drives, request by request.

>>> import diskwright
>>> result = diskwright.run("examples/demo.toml", device__hdd__queue__scheduler="satf")
>>> result.response_ms.mean  # doctest: +SKIP
"""

import warnings
from typing import TYPE_CHECKING, Any

from diskwright import _engine
from diskwright._api import (
    Scheduler,
    compare,
    convert,
    drive,
    drive_schema,
    drive_toml,
    drives,
    extract,
    fit,
    formats,
    inspect,
    miss_ratio,
    probe,
    run,
    run_many,
    spec_schema,
    synthetic_clone_mixture,
    validate,
)
from diskwright._engine import (
    CacheAccess,
    CacheCost,
    CacheSetting,
    InputError,
    SchedulerView,
    SimulationError,
    WaitingRequest,
)
from diskwright._extraction import Extraction
from diskwright._figures import plot_cdf, plot_parts
from diskwright._fitted import Fit
from diskwright._frame import RequestLog, frame
from diskwright._record import Comparison, Inspection, MissRatios, Probe, Record, Result
from diskwright._replacement import Replacement
from diskwright._validation import Validation
from diskwright.sweep import Store, Swept, sweep

if TYPE_CHECKING:
    from diskwright import spec as spec

__version__, __commit__, _profile = _engine.version()

if _profile == "debug":
    warnings.warn(
        "this build of diskwright's engine is not optimised and runs many times slower; "
        "install it with `make setup` or `maturin develop --release`",
        RuntimeWarning,
        stacklevel=2,
    )

__all__ = [
    "CacheAccess",
    "CacheCost",
    "CacheSetting",
    "Comparison",
    "Extraction",
    "Fit",
    "InputError",
    "Inspection",
    "MissRatios",
    "Probe",
    "Record",
    "Replacement",
    "RequestLog",
    "Result",
    "Scheduler",
    "SchedulerView",
    "SimulationError",
    "Store",
    "Swept",
    "Validation",
    "WaitingRequest",
    "__commit__",
    "__version__",
    "compare",
    "convert",
    "drive",
    "drive_schema",
    "drive_toml",
    "drives",
    "extract",
    "fit",
    "formats",
    "frame",
    "inspect",
    "miss_ratio",
    "plot_cdf",
    "plot_parts",
    "probe",
    "run",
    "run_many",
    "spec_schema",
    "sweep",
    "synthetic_clone_mixture",
    "validate",
]


def __dir__() -> list[str]:
    return [*__all__, "report", "reproduce", "spec", "systems"]


def __getattr__(name: str) -> Any:
    # The classes of specs are made when somebody wants them.
    if name == "spec":
        from importlib import import_module

        return import_module("diskwright.spec")
    raise AttributeError(f"module 'diskwright' has no attribute {name!r}")
