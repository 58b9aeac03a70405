"""Charts of runs, as data for plotly.js: plain objects in, plain objects out.

Every chart takes a list of runs and lays them over each other, except the map, which shows one, and the
ratios, which are those of a comparison. Colours and fonts are the page's, which knows whether it is light or
dark; axes carry their units.
"""

from diskwright.report.charts._base import Chart, Run
from diskwright.report.charts.cache import at_risk, hits, of_caches, passed_by
from diskwright.report.charts.flash import of_flash, used, written
from diskwright.report.charts.flash_places import busy_map, shares, wear
from diskwright.report.charts.parts import at_work, of_operations, response_stages, tones
from diskwright.report.charts.place import lbn_map, seek_distances, sizes
from diskwright.report.charts.ratios import ratios
from diskwright.report.charts.response import cumulative, tail
from diskwright.report.charts.time import over_time

__all__ = [
    "Chart",
    "Run",
    "at_risk",
    "at_work",
    "busy_map",
    "cumulative",
    "hits",
    "lbn_map",
    "of_caches",
    "of_flash",
    "of_operations",
    "over_time",
    "passed_by",
    "ratios",
    "response_stages",
    "seek_distances",
    "shares",
    "sizes",
    "tail",
    "tones",
    "used",
    "wear",
    "written",
]
