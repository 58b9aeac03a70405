"""Runs the specs that are named: what a build that a profile guides is trained with.

python tools/training.py SPEC...
"""

import sys
import tomllib
from pathlib import Path

import diskwright

# A synthetic load makes as many requests as another, so that no spec is rare beside the rest.
REQUESTS = {"workload.synthetic.requests": 100_000}


def counts_requests(spec: Path) -> bool:
    """Whether a spec's synthetic load makes a number of requests."""
    workload = tomllib.loads(spec.read_text(encoding="utf-8"))["workload"]
    return "requests" in workload.get("synthetic", {})


def main() -> None:
    for spec in map(Path, sys.argv[1:]):
        diskwright.run(spec, set=REQUESTS if counts_requests(spec) else {})


if __name__ == "__main__":
    main()
