"""What a reproduction found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from statistics import fmean
from typing import Any

from diskwright import _engine
from diskwright._record import Record
from diskwright.reproduce._system import Figure, Measure, System, Works, Worst
from diskwright.reproduce._work import Work


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with each seed; of work without a seed there is one, which is exact."""

    values: Sequence[float | None]
    is_exact: bool

    @property
    def mean(self) -> float | None:
        """None where one of them is missing: the mean of the others would be of something else."""
        known = [value for value in self.values if value is not None]
        return fmean(known) if known and len(known) == len(self.values) else None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """By Student's t over the seeds; a point where nothing varies with them."""
        if self.mean is None:
            return None
        if self.is_exact:
            return self.mean, self.mean
        return _engine.ci95([value for value in self.values if value is not None])


def measured(measure: Measure, work: Works, results: Sequence[Mapping[str, Any]], what: str) -> Measured:
    """What a function makes of the results of each seed."""
    is_exact = not any(piece.is_seeded for piece in _pieces(work))
    found: list[float | Worst | None] = []
    for of_seed in results:
        records = {name: Record(result) for name, result in of_seed.items()}
        try:
            found.append(measure(records[""] if isinstance(work, Work) else records))
        except Exception as error:
            error.add_note(f"while measuring {what}")
            raise
    return Measured([_finite(value) for value in _chosen(found)], is_exact)


def _finite(value: float | None) -> float | None:
    """None for what is no number."""
    return float(value) if value is not None and isfinite(value) else None


def _chosen(found: Sequence[float | Worst | None]) -> list[float | None]:
    """The number of each seed: where there are several, all of the same place."""
    several = [value for value in found if isinstance(value, Worst)]
    if not several:
        return [value for value in found if not isinstance(value, Worst)]
    worst = max(
        several[0].places, key=lambda place: several[0].key(fmean(value.places[place] for value in several))
    )
    return [value.places[worst] if isinstance(value, Worst) else None for value in found]


def _pieces(work: Works) -> list[Work]:
    return [work] if isinstance(work, Work) else list(work.values())


class Reproduced(Record):
    """What a reproduction found: the object of the reference, page "reproduce".

    system: what was reproduced. rows: every value of every point with every seed. warnings: of its runs.
    """

    __slots__ = ("rows", "source", "warned")

    def __init__(
        self,
        data: Mapping[str, Any],
        source: System,
        rows: Sequence[Mapping[str, Any]],
        warned: Sequence[str],
    ) -> None:
        super().__init__(data)
        self.source = source
        self.rows = rows
        self.warned = warned

    def __reduce__(self) -> tuple[Any, ...]:
        # What measures is a function of the system's file, and stays there.
        return Record, (self._data,)

    def drawn(self) -> list[tuple[Figure, Mapping[str, Any]]]:
        """The figures that have points, each with what was measured."""
        pairs = zip(self.source.figures, self._data["figures"], strict=True)
        return [(figure, found) for figure, found in pairs if found["points"]]

    def frame(self) -> Any:
        """One row for each point and seed: `figure`, its coordinates, `seed`, its values; a polars frame."""
        from diskwright.sweep._swept import columns

        names = dict.fromkeys(name for row in self.rows for name in row)
        return columns({name: [row.get(name) for row in self.rows] for name in ("figure", *names)})

    def __repr__(self) -> str:
        verdicts = [statement["verdict"] for statement in self._data["statements"]]
        said = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
        return f"<diskwright.reproduce.Reproduced: {self.source.name}: {said}>"
