"""Results and requests as tables of other libraries, which are imported when they are asked for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from diskwright import _toml
from diskwright._engine import RequestTable
from diskwright._record import Record, Result

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Kind = Literal["polars", "pandas"]


class RequestLog:
    """Every completed request of a run, in the order of completion, as Arrow columns in memory.

    Whatever speaks Arrow's PyCapsule protocol reads it without copying: `pyarrow.table(log)`,
    `polars.DataFrame(log)`, DuckDB. The columns are those of the file that `run(…, requests="log.parquet")`
    writes.
    """

    __slots__ = ("_table",)

    def __init__(self, table: RequestTable) -> None:
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"<diskwright.RequestLog: {len(self):,} requests; columns {', '.join(self.columns)}>"

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._table.columns()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def to_polars(self) -> "polars.DataFrame":
        """As a polars frame."""
        frame: polars.DataFrame = wanted("polars").DataFrame(self)
        return frame

    def to_pandas(self) -> "pandas.DataFrame":
        """As a pandas frame; pandas reads Arrow through pyarrow."""
        wanted("pandas")
        return self.to_pyarrow().to_pandas()

    def to_pyarrow(self) -> "pyarrow.Table":
        """As a pyarrow table."""
        return wanted("pyarrow").table(self)


def wanted(name: str) -> Any:
    """A library that diskwright does not need itself."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"{name} is not installed: pip install {name}, or pip install 'diskwright[frames]'"
        raise ModuleNotFoundError(message, name=name) from None


@overload
def frame(
    results: Iterable[Result] | Mapping[str, Result], /, *, kind: Literal["polars"] = "polars"
) -> "polars.DataFrame": ...
@overload
def frame(
    results: Iterable[Result] | Mapping[str, Result], /, *, kind: Literal["pandas"]
) -> "pandas.DataFrame": ...
def frame(results: Iterable[Result] | Mapping[str, Result], /, *, kind: Kind = "polars") -> Any:
    """One row for each result, one column for each number: `response_ms.mean`, `devices.hdd.utilisation`, ….

    results: a list of results, or a dict, whose keys become the column `run`.
    kind: "polars" or "pandas".

    The effective spec is there too, as `spec.seed`, `spec.device.hdd.queue.scheduler`, …: a policy with its
    parameters is one text, as TOML has it. What a result does not have is null.
    """
    if kind not in ("polars", "pandas"):
        raise ValueError(f'kind: expected "polars" or "pandas", not {kind!r}')
    named = isinstance(results, Mapping)
    pairs = results.items() if isinstance(results, Mapping) else (("", result) for result in results)
    rows = [({"run": name} if named else {}) | row(result) for name, result in pairs]
    names = list(dict.fromkeys(name for found in rows for name in found))
    columns = {name: [found.get(name) for found in rows] for name in names}
    library = wanted(kind)
    if kind == "pandas":
        return library.DataFrame(columns)
    return library.DataFrame(columns, strict=False)


def row(result: Record) -> dict[str, Any]:
    """All numbers and texts of a result, by dotted key."""
    data = result.to_dict()
    spec = data.pop("spec", None)
    messages = {kind: data.pop(kind) for kind in ("notes", "warnings") if kind in data}
    found = dict(_leaves(data, "")) | {kind: len(texts) for kind, texts in messages.items()}
    if spec is not None:
        found |= dict(_settings(spec))
    return found


def _leaves(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{prefix}{key}"
        if key == "ci95":
            low, high = value or (None, None)
            yield from ((f"{name}.low", low), (f"{name}.high", high))
        elif key == "value" and isinstance(value, Mapping):
            # A setting that is a policy with parameters is one text, as in the spec.
            yield name, _toml.value(value)
        elif isinstance(value, Mapping):
            yield from _leaves(value, f"{name}.")
        elif not isinstance(value, Sequence) or isinstance(value, str):
            yield name, value


def _settings(spec: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The values of a spec; a choice is one text, but for devices, which have parts of their own."""
    from diskwright._typed import Table
    from diskwright.spec import Spec

    def walk(table: Table, prefix: str) -> Iterator[tuple[str, Any]]:
        for name in table._fields():
            value = getattr(table, name)
            path = f"{prefix}.{name.rstrip('_')}"
            if isinstance(value, Table) and (not value._names or path.endswith(".device")):
                inner = f"{path}.{value._names[0]}" if value._names else path
                yield from walk(value, inner)
            elif isinstance(value, Table | list | Mapping):
                bare = [plain(item) for item in value] if isinstance(value, list) else plain(value)
                yield path, bare if isinstance(bare, str) else _toml.value(bare)
            elif value is not None:
                yield path, value

    def plain(item: Any) -> Any:
        return item.to_dict() if isinstance(item, Table) else item

    yield from walk(Spec.from_dict(spec), "spec")
