"""How long the requests of a trace made by hand take to access, by what they are."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskwright.systems.atca._hand_made import HOT_BLOCKS

_PARTS = ("seek_ns", "head_switch_ns", "settle_ns", "rotation_ns")


def access_times(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """The mean access times of hot reads and of the other requests, in ms; hits have none."""
    import polars

    import diskwright

    with tempfile.TemporaryDirectory(prefix="diskwright-") as folder:
        log = Path(folder, "requests.parquet")
        diskwright.run(spec, requests=log)
        requests = polars.read_parquet(log, columns=["blocks", *_PARTS])
    access = requests.select("blocks", ms=polars.sum_horizontal(_PARTS) / 1e6).filter(polars.col("ms") > 0)
    is_hot = polars.col("blocks") == HOT_BLOCKS
    return {"hot_ms": access.filter(is_hot)["ms"].mean(), "other_ms": access.filter(~is_hot)["ms"].mean()}
