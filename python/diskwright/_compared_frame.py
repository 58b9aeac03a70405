"""A comparison as a table of other libraries."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from diskwright import _compared
from diskwright._frame import wanted
from diskwright._record import Comparison


def frame(found: Comparison, kind: Literal["polars", "pandas"]) -> Any:
    """One row for each variant and quantity of a comparison."""
    if kind not in ("polars", "pandas"):
        raise ValueError(f'kind: expected "polars" or "pandas", not {kind!r}')
    rows = list(_rows(found.to_dict()))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    library = wanted(kind)
    return library.DataFrame(columns) if kind == "pandas" else library.DataFrame(columns, strict=False)


def _rows(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for variant in data["variants"]:
        for metric, mean in variant["metrics"].items():
            beside = variant["difference"][metric]
            yield {
                **{key: _compared.in_frame(item) for key, item in variant["values"].items()},
                "metric": metric,
                **_with_interval("mean", mean["value"], mean["ci95"]),
                **_with_interval("difference", beside["value"], beside["ci95"]),
                **_with_interval("ratio", beside["ratio"], beside["ratio_ci95"]),
                "significant": beside["significant"],
            }


def _with_interval(name: str, value: float | None, interval: list[float] | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high}
