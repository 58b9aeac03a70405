"""Recordings of drives that are made up."""

import itertools
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import diskwright


def record(place: Path, drive: str, load: Mapping[str, Any], *, seed: int, noise_us: float = 0.0) -> Path:
    """The recording of a drive, a description's text, under a synthetic load, one request at a time.

    place: the recording's path without its ending; the drive's file is beside it.
    noise_us: the spread with which completions are seen.
    """
    file = place.with_suffix(".toml")
    file.write_text(drive)
    spec = {
        "seed": seed,
        "workload": {"synthetic": dict(load)},
        "host": {"outstanding": 1},
        "device": {"hdd": {"drive": str(file)}},
    }
    run = diskwright.run(spec, requests=True)
    assert run.request_log is not None
    log = run.request_log.to_polars().sort("issue_ns").to_dicts()
    noise = random.Random(seed)
    trace = place.with_suffix(".trace")
    with trace.open("w") as written:
        for request, following in itertools.pairwise(log):
            op = "R" if request["op"] == "read" else "W"
            gap = (following["issue_ns"] - request["completion_ns"]) / 1000
            # A completion that is seen late is followed by a shorter gap, and is not seen after that; none is
            # seen sooner by more, so that the noise is 0 on average.
            off = max(-gap, min(noise.gauss(0, noise_us), gap))
            service = (request["completion_ns"] - request["issue_ns"]) / 1000 + off
            lbn, blocks = request["lbn"], request["blocks"]
            print(op, "Hit", lbn, blocks, f"{service:.3f} {gap - off:.3f}", file=written)
    return trace
