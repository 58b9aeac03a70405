"""What a sweep found."""

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, Self, TextIO, cast, overload

from diskwright import _compared, _engine
from diskwright._engine import InputError
from diskwright._files import replacing
from diskwright._frame import row, wanted
from diskwright._record import Record, Result
from diskwright.sweep._runner import Done

if TYPE_CHECKING:
    import pandas
    import polars

# The version of the object's form. Keys never change their meaning.
_SCHEMA = 1
# What tables show where nothing else is asked for: headers, by the names of quantities.
SHOWN = {"response_ms.mean": "response mean, ms", "response_ms.p99": "p99", "iops": "IOPS"}


ENDINGS = (".parquet", ".csv")


class Swept(Record):
    """What a sweep found: the object of the reference, page "sweep".

    `points` has an entry for each run, in the order of the grid, its last key changing fastest, and then
    of the seeds: `values`, by key, `seed`, `key` and `result`.
    """

    __slots__ = ()

    @classmethod
    def of(
        cls,
        varied: Sequence[str],
        seeds: Sequence[int],
        metrics: Sequence[str],
        rows: Sequence[tuple[Mapping[str, Any], int, str]],
        done: Done,
    ) -> Self:
        """A sweep of these runs, each with its values, seed and key; metrics: the quantities asked for."""
        points = []
        for values, seed, key in rows:
            result = done.results[key]
            asked = {"metrics": quantities(result, metrics)} if metrics else {}
            points.append({"values": values, "seed": seed, "key": key} | asked | {"result": result})
        return cls(
            {
                "schema": _SCHEMA,
                "varied": list(varied),
                "seeds": list(seeds),
                "metrics": list(metrics),
                "ran": done.ran,
                "reused": done.reused,
                "points": points,
                "notes": _messages(points, "notes", len(seeds)),
                "warnings": [*_damaged(done), *_messages(points, "warnings", len(seeds))],
            }
        )

    @property
    def results(self) -> list[Result]:
        """The results, one for each entry of `points`; without what it took to run them."""
        return [Result(point["result"]) for point in self._data["points"]]

    @overload
    def frame(self, *, kind: Literal["polars"] = "polars") -> "polars.DataFrame": ...
    @overload
    def frame(self, *, kind: Literal["pandas"]) -> "pandas.DataFrame": ...
    def frame(self, *, kind: Literal["polars", "pandas"] = "polars") -> Any:
        """One row for each run: varied keys, `seed`, metrics asked for, each number of the result, `digest`.

        A value that is a table is a text, as TOML has it.
        """
        if kind not in ("polars", "pandas"):
            raise ValueError(f'kind: expected "polars" or "pandas", not {kind!r}')
        rows = [self._row(point) for point in self._data["points"]]
        names = dict.fromkeys(name for found in rows for name in found)
        # The digest ends the row.
        names["digest"] = names.pop("digest", None)
        return columns({name: [found.get(name) for found in rows] for name in names}, kind)

    def write(self, target: str | os.PathLike[str]) -> None:
        """Writes the frame to a file, .parquet or .csv, which is whole or as it was before."""
        with opened(target) as write:
            write(self.frame())

    def _row(self, point: Mapping[str, Any]) -> dict[str, Any]:
        values = {key: _compared.in_frame(item) for key, item in point["values"].items()}
        result = {key: item for key, item in point["result"].items() if key not in ("schema", "spec")}
        return values | {"seed": point["seed"]} | dict(point.get("metrics", {})) | row(Record(result))

    def _repr_html_(self) -> str:
        from diskwright import _notebook

        return _notebook.sweep(self)

    def __repr__(self) -> str:
        varied = ", ".join(self._data["varied"]) or "nothing"
        return f"<diskwright.Swept: {len(self._data['points'])} runs, {varied} varied, {self.ran} run now>"


def columns(named: Mapping[str, Sequence[Any]], kind: str = "polars") -> Any:
    """A frame whose columns have the types of all their values; numbers where there is none."""
    library = wanted(kind)
    alike = {name: _alike(values) for name, values in named.items()}
    if kind == "pandas":
        return library.DataFrame({name: values for name, (values, _) in alike.items()})
    types = {float: library.Float64, int: library.Int64, bool: library.Boolean, str: library.String}
    series = [library.Series(name, values, dtype=types[of]) for name, (values, of) in alike.items()]
    return library.DataFrame(series)


def _alike(values: Sequence[Any]) -> tuple[list[Any], type]:
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {float, int} and kinds != {int}:
        return [None if value is None else float(value) for value in values], float
    if len(kinds) == 1:
        (kind,) = kinds
        if kind is int and any(value is not None and abs(value) >= 2**63 for value in values):
            return [None if value is None else str(value) for value in values], str
        return list(values), kind
    return [None if value is None else _compared.value(value) for value in values], str


def repeated(seeds: Sequence[int]) -> str:
    """The seeds of each point, for people."""
    return f"seeds {seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"seed {seeds[0]}"


def tables(data: Mapping[str, Any]) -> list[dict[str, str]]:
    """For each table the names of its quantities, with their headers: one for each quantity asked for."""
    if not data["metrics"]:
        return [SHOWN]
    # Of several points some may have what others have not.
    names = dict.fromkeys(name for point in data["points"] for name in point["metrics"])
    return [{name: _compared.label(name)} for name in names]


def of_point(point: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, float | None]:
    """Quantities of a run of a sweep's object, by name."""
    asked: Mapping[str, float | None] = point.get("metrics") or quantities(point["result"], names)
    return asked


def messages(found: Swept, kind: str) -> list[str]:
    """The warnings or notes; with the number of runs that they come from, unless that is all."""
    data = found.to_dict()
    runs = len(data["points"])
    return [
        item["text"] if item["runs"] == runs else f"{item['runs']} of {runs} runs: {item['text']}"
        for item in data[kind]
    ]


@contextmanager
def opened(target: str | os.PathLike[str] | None) -> Iterator[Callable[["polars.DataFrame"], None]]:
    """A function that writes a frame into a file, .parquet or .csv; none where there is no target.

    Opened before the work, so that a file that cannot be written is known at once.
    """
    if target is None:
        yield lambda frame: None
        return
    suffix = Path(target).suffix
    if suffix not in ENDINGS:
        raise InputError(
            f"error: cannot write a table into {os.fspath(target)}: expected a name in {', '.join(ENDINGS)}"
        )
    wanted("polars")
    with replacing(target) as stream:
        # Nothing is written as text.
        binary = cast(IO[bytes], cast(TextIO, stream).buffer)

        def write(frame: "polars.DataFrame") -> None:
            # In memory first: an error of the library's own writing names no file.
            content = io.BytesIO()
            if suffix == ".csv":
                frame.write_csv(content)
            else:
                # One group of rows, so that the bytes do not depend on how the library divides its work.
                frame.write_parquet(content, compression="zstd", row_group_size=max(len(frame), 1))
            binary.write(content.getbuffer())

        yield write


def _damaged(done: Done) -> list[dict[str, Any]]:
    what = "in the store is damaged, or no point of diskwright's: it has been run again"
    return [{"text": f"{name} {what}", "runs": 1} for name in done.damaged]


def _messages(points: Sequence[Mapping[str, Any]], kind: str, seeds: int) -> list[dict[str, Any]]:
    """Each warning or note once, with the number of runs that it comes from."""
    texts = [text for point in points for text in point["result"][kind]]
    return [{"text": text, "runs": runs} for text, runs in _engine.merged(texts, seeds > 1)]


def quantities(result: Mapping[str, Any], names: Sequence[str]) -> dict[str, float | None]:
    """Numbers of a result, by name; None for one that it has not."""
    found: dict[str, float | None] = json.loads(_engine.quantities(json.dumps(result), list(names)))
    return found
