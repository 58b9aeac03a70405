"""diskwright simulates storage drives, request by request.

>>> import diskwright
>>> result = diskwright.run("examples/demo.toml", device__hdd__queue__scheduler="satf")
>>> result.response_ms.mean  # doctest: +SKIP
"""

import warnings

from diskwright import _engine
from diskwright._api import (
    compare,
    convert,
    drive,
    drive_toml,
    drives,
    formats,
    inspect,
    probe,
    run,
    run_many,
)
from diskwright._engine import InputError, SimulationError
from diskwright._record import Comparison, Record, Result

__version__, __commit__, _profile = _engine.version()

if _profile == "debug":
    warnings.warn(
        "this build of diskwright's engine is not optimised and runs many times slower; "
        "install it with `make setup` or `maturin develop --release`",
        RuntimeWarning,
        stacklevel=2,
    )

__all__ = [
    "Comparison",
    "InputError",
    "Record",
    "Result",
    "SimulationError",
    "__commit__",
    "__version__",
    "compare",
    "convert",
    "drive",
    "drive_toml",
    "drives",
    "formats",
    "inspect",
    "probe",
    "run",
    "run_many",
]
