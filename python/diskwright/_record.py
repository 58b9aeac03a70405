"""What the engine answers: JSON objects with attribute access."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, overload

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from diskwright._engine import RequestTable
    from diskwright._frame import RequestLog


class Record(Mapping[str, Any]):
    """A read-only mapping whose entries are attributes too: `record.response_ms.mean`."""

    __slots__ = ("_data",)

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = dict(data)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The record that a JSON object describes."""
        return cls(json.loads(text))

    def __getitem__(self, key: str) -> Any:
        return _wrapped(self._data[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __getattr__(self, name: str) -> Any:
        # While an instance is copied or unpickled it has no data yet: private names are never entries.
        if not name.startswith("_") and name in self._data:
            return self[name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}; it has {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        own = (name for name in super().__dir__() if name.startswith("__") or not name.startswith("_"))
        return [*own, *self._data]

    def _repr_html_(self) -> str:
        from diskwright import _notebook

        return _notebook.record(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._data!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._data,)

    def to_dict(self) -> dict[str, Any]:
        """A copy in plain dicts and lists."""
        copy: dict[str, Any] = json.loads(json.dumps(self._data))
        return copy

    def json(self, indent: int | None = 2) -> str:
        """The record as JSON."""
        return json.dumps(self._data, indent=indent, ensure_ascii=False)


class Result(Record):
    """What a run found: the `run` object of the reference, page "JSON".

    picture: what a report is drawn from, where the run was asked for it; not an entry of the result.
    """

    __slots__ = ("_picture", "_table")

    def __init__(
        self,
        data: Mapping[str, Any],
        picture: Mapping[str, Any] | None = None,
        table: "RequestTable | None" = None,
    ) -> None:
        super().__init__(data)
        self._picture = picture._data if isinstance(picture, Record) else picture
        self._table = table

    @classmethod
    def of_run(cls, text: str, picture: str | None, table: "RequestTable | None" = None) -> Self:
        """The result and the picture that JSON objects describe, and the requests."""
        return cls(json.loads(text), None if picture is None else json.loads(picture), table)

    @property
    def picture(self) -> Record | None:
        return None if self._picture is None else Record(self._picture)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self._data, self._picture)

    @property
    def request_log(self) -> "RequestLog":
        """Every completed request, of a run with `requests=True`. It is not part of a pickled result."""
        from diskwright._frame import RequestLog

        if self._table is None:
            raise LookupError("this result has no log of requests: run(…, requests=True) keeps one")
        return RequestLog(self._table)

    def _measured_ms(self) -> list[float] | None:
        """The response times of the measured requests, sorted, where they are kept."""
        return None if self._table is None else self._table.responses_ms(self.requests.measured)

    def plot_cdf(self, *, tail: bool = False, label: str = "", ax: "Axes | None" = None) -> "Figure":
        """Draws the distribution of response times, as `diskwright.plot_cdf` does for several results."""
        from diskwright._figures import plot_cdf

        return plot_cdf([self], labels=[label], tail=tail, ax=ax)

    def plot_parts(self, *, label: str = "", ax: "Axes | None" = None) -> "Figure":
        """Draws what a request's time goes to, as `diskwright.plot_parts` does for several results."""
        from diskwright._figures import plot_parts

        return plot_parts([self], labels=[label], ax=ax)

    @overload
    def frame(self, *, kind: Literal["polars"] = "polars") -> "polars.DataFrame": ...
    @overload
    def frame(self, *, kind: Literal["pandas"]) -> "pandas.DataFrame": ...
    def frame(self, *, kind: Literal["polars", "pandas"] = "polars") -> Any:
        """One row with a column for each number; `diskwright.frame` makes a row for each of many results."""
        from diskwright._frame import frame

        return frame([self], kind=kind)

    def _repr_html_(self) -> str:
        from diskwright import _notebook

        return _notebook.result(self)

    def __repr__(self) -> str:
        completed, response = self._data["requests"]["completed"], self._data["response_ms"]
        warned = len(self._data["warnings"])
        return (
            f"<diskwright.Result: {completed:,} requests, {_number(self._data['iops'])} IOPS, response "
            f"mean {_number(response['mean'])} p99 {_number(response['p99'])} ms"
            + (f", {warned} warning{'s' if warned > 1 else ''}" if warned else "")
            + ">"
        )


class Comparison(Record):
    """What a comparison found: the object of the reference, page "compare"; `results` has the runs."""

    __slots__ = ("_pictures", "_runs")

    def __init__(
        self,
        data: Mapping[str, Any],
        runs: list[list[dict[str, Any]]],
        pictures: Sequence[Mapping[str, Any] | None],
    ) -> None:
        super().__init__(data)
        self._runs = runs
        self._pictures = pictures

    @property
    def results(self) -> list[list[Result]]:
        """For each variant, the results of its runs in the order of the seeds.

        Where the comparison was asked for pictures, the first result of a variant has its own.
        """
        return [
            [Result(run, picture if index == 0 else None) for index, run in enumerate(runs)]
            for runs, picture in zip(self._runs, self._pictures, strict=True)
        ]

    @overload
    def frame(self, *, kind: Literal["polars"] = "polars") -> "polars.DataFrame": ...
    @overload
    def frame(self, *, kind: Literal["pandas"]) -> "pandas.DataFrame": ...
    def frame(self, *, kind: Literal["polars", "pandas"] = "polars") -> Any:
        """One row for each variant and quantity.

        The varied keys; `metric`; `mean` with its interval `mean_low`, `mean_high`; the `difference` from the
        baseline and the `ratio` to it, with theirs; `significant`. What there is not is null.
        """
        from diskwright._compared_frame import frame

        return frame(self, kind)

    def plot(self, metric: str = "response_mean_ms", *, ax: "Axes | None" = None) -> "Figure":
        """Draws a quantity of every variant, with its interval.

        metric: one of those that were compared.
        """
        from diskwright._figures import plot_comparison

        return plot_comparison(self, metric, ax=ax)

    def plot_cdf(self, *, tail: bool = False, ax: "Axes | None" = None) -> "Figure":
        """Draws the response times of each variant's first run, as `diskwright.plot_cdf` does."""
        from diskwright import _compared
        from diskwright._figures import plot_cdf

        return plot_cdf([runs[0] for runs in self.results], labels=_compared.names(self), tail=tail, ax=ax)

    def plot_parts(self, *, ax: "Axes | None" = None) -> "Figure":
        """Draws the parts of each variant's first run, as `diskwright.plot_parts` does."""
        from diskwright import _compared
        from diskwright._figures import plot_parts

        return plot_parts([runs[0] for runs in self.results], labels=_compared.names(self), ax=ax)

    def _repr_html_(self) -> str:
        from diskwright import _notebook

        return _notebook.comparison(self)

    def __repr__(self) -> str:
        varied, seeds = ", ".join(self._data["varied"]), len(self._data["seeds"])
        return f"<diskwright.Comparison: {len(self._runs)} variants of {varied}, {seeds} seeds>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._data, self._runs, self._pictures)


class Inspection(Record):
    """What a trace is: the object of the reference, page "inspect".

    picture: what a page is drawn from, where it was asked for; not an entry of the object.
    """

    __slots__ = ("_picture",)

    def __init__(self, data: Mapping[str, Any], picture: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self._picture = picture

    @property
    def picture(self) -> Record | None:
        """What a page is drawn from; None where it was not asked for."""
        return None if self._picture is None else Record(self._picture)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        return type(self), (self._data, self._picture)


class MissRatios(Record):
    """What caches of many sizes miss: the object of the reference, page "miss-ratio"."""

    __slots__ = ()

    def plot(self) -> "Figure":
        """Draws the miss ratios by capacity, a curve for each policy."""
        from diskwright._miss_ratio_plot import figure

        return figure(self)

    def _repr_html_(self) -> str:
        from diskwright import _notebook

        return _notebook.drawn(self, self.plot())


class Probe(Record):
    """What a drive does: the object of the reference, page "probe"."""

    __slots__ = ()

    def plot(self) -> "Figure":
        """Draws a panel for each thing that was measured."""
        from diskwright._plot import figure

        return figure(self)

    def _repr_html_(self) -> str:
        from diskwright import _notebook

        return _notebook.drawn(self, self.plot())

    def __repr__(self) -> str:
        return f"<diskwright.Probe: {self._data['name']}>"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3f}"


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value
