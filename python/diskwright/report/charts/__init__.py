"""Charts of runs, as data for plotly.js: plain objects in, plain objects out.

Charts that take a list of runs lay them over each other; maps, and what only the page of a run has, show one;
the ratios are those of a comparison. Colours and fonts are the page's, which knows whether it is light or
dark; axes carry their units.
"""

from diskwright.report.charts._base import Chart, Run
from diskwright.report.charts.cache import at_risk, hits, of_caches, passed_by
from diskwright.report.charts.flash import of_flash, used, written
from diskwright.report.charts.flash_places import busy_map, shares, wear
from diskwright.report.charts.latency import (
    by_operation,
    by_size,
    depth,
    outstanding_map,
    response_map,
    slowest,
    waits,
)
from diskwright.report.charts.parts import at_work, of_operations, response_stages
from diskwright.report.charts.place import lbn_map, seek_distances, sizes
from diskwright.report.charts.ratios import ratios
from diskwright.report.charts.response import cumulative, tail
from diskwright.report.charts.time import over_time
from diskwright.report.charts.trace import arrivals, distances, gaps, places, trace_sizes

__all__ = [
    "Chart",
    "Run",
    "arrivals",
    "at_risk",
    "at_work",
    "busy_map",
    "by_operation",
    "by_size",
    "cumulative",
    "depth",
    "distances",
    "gaps",
    "hits",
    "lbn_map",
    "of_caches",
    "of_flash",
    "of_operations",
    "outstanding_map",
    "over_time",
    "passed_by",
    "places",
    "ratios",
    "response_map",
    "response_stages",
    "seek_distances",
    "shares",
    "sizes",
    "slowest",
    "tail",
    "trace_sizes",
    "used",
    "waits",
    "wear",
    "written",
]
