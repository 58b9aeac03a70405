"""Grids of runs, of which those that are finished are kept."""

from diskwright.sweep._grid import sweep
from diskwright.sweep._store import Store
from diskwright.sweep._swept import Swept

__all__ = ["Store", "Swept", "sweep"]
