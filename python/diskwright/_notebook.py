"""How answers look in a notebook: tables in plain HTML, with the colours of the page around them."""

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from diskwright import _text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from diskwright._record import Comparison, Record, Result
    from diskwright._validation import Validation
    from diskwright.sweep import Swept

# Rows of a table; a notebook is no place for more.
_MOST = 60


def heading(text: str) -> str:
    """A line that stands out."""
    return f"<p><strong>{escape(text)}</strong></p>"


def paragraph(text: str) -> str:
    """A line of prose."""
    return f"<p>{escape(text)}</p>"


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """A table of columns of names, and of columns of numbers."""
    listed = list(rows)

    def line(tag: str, cells: Sequence[str]) -> str:
        sides = ("left" if place < names else "right" for place in range(len(cells)))
        return "".join(
            f'<{tag} style="text-align: {side}; padding: 0.1em 0.6em">{escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in listed[:_MOST])
    head = f"<thead><tr>{line('th', headers)}</tr></thead>" if any(headers) else ""
    left = len(listed) - _MOST
    more = paragraph(f"and {left:,} more rows") if left > 0 else ""
    return f"<table>{head}<tbody>{body}</tbody></table>{more}"


def messages(warnings: Iterable[str], notes: Iterable[str]) -> str:
    """What makes results doubtful, and what else there is to know."""
    said = [("warning", text) for text in warnings] + [("note", text) for text in notes]
    lines = "".join(f"<li>{kind}: {escape(text)}</li>" for kind, text in said)
    return f"<ul>{lines}</ul>" if lines else ""


def picture(drawn: "Figure") -> str:
    """A figure, as part of the page."""
    stream = io.BytesIO()
    drawn.savefig(stream, format="png", dpi=80)
    coded = base64.b64encode(stream.getvalue()).decode()
    return f'<img alt="" style="max-width: 100%" src="data:image/png;base64,{coded}">'


def drawn(found: "Record", figure: "Figure") -> str:
    """A figure of an answer, with what it should not be trusted for."""
    data = found.to_dict()
    return picture(figure) + messages(data.get("warnings", ()), data.get("notes", ()))


def record(found: "Record") -> str:
    """Every entry of a record, one below the other; lists by their length."""
    entries = _text.flat({key: _brief(item) for key, item in found.to_dict().items() if key != "schema"})
    return table(("", ""), entries.items(), names=2)


def _brief(item: Any) -> Any:
    if isinstance(item, Mapping):
        return {key: _brief(inner) for key, inner in item.items()}
    if isinstance(item, list) and any(isinstance(inner, list | Mapping) for inner in item):
        return f"{len(item):,} entries"
    return item


def result(found: "Result") -> str:
    """The times of a run, what its time goes to, and what its devices counted."""
    data = found.to_dict()
    columns = ("mean", "p50", "p95", "p99", "max")
    times = [
        [name, *(_text.number(data[f"{name}_ms"][column]) for column in columns)]
        for name in _text.times(data)
    ]
    whole = sum(data["parts_ms"].values())
    parts = [
        [name.replace("_", " "), _text.number(mean), f"{100 * mean / whole:.1f}"]
        for name, mean in data["parts_ms"].items()
        if mean
    ]
    counts = data["requests"]
    return "".join(
        (
            heading(_text.subject(data["spec"])),
            paragraph(
                f"{counts['measured']:,} of {counts['completed']:,} requests measured: "
                f"{_text.number(data['iops'])} IOPS, {_text.number(data['mb_per_s'])} MB/s"
            ),
            table(("times in ms", *columns), times),
            table(("parts of a request", "mean ms", "share %"), parts) if parts else "",
            messages(data["warnings"], data["notes"]),
        )
    )


def comparison(found: "Comparison") -> str:
    """The means of the variants and what they differ by, for each quantity that the command prints."""
    from diskwright import _compared

    names = _compared.names(found)
    metrics = list(found.variants[0].metrics)
    shown = [metric for metric in metrics if metric in _compared.SHOWN] or metrics
    tables = [
        table(
            (_compared.label(metric), *_compared.columns(found)),
            (
                _filled([name, *(cell.text + cell.mark.strip() for cell in cells)], found)
                for name, cells in zip(names, _compared.rows(found, metric), strict=True)
            ),
        )
        for metric in shown
    ]
    return "".join(
        (
            heading(", ".join(found.varied)),
            paragraph(_compared.seeds(found)),
            *tables,
            paragraph(f"{_compared.INTERVALS}; {_compared.MARKED}") if len(found.seeds) > 1 else "",
            messages(_compared.warnings(found, names), _compared.notes(found, names)),
        )
    )


def _filled(cells: list[str], found: "Comparison") -> list[str]:
    from diskwright import _compared

    return cells + [""] * (1 + len(_compared.columns(found)) - len(cells))


def sweep(found: "Swept") -> str:
    """The first points, with their values and what the command prints of them."""
    from diskwright import _compared
    from diskwright.sweep._swept import SHOWN, quantities

    data = found.to_dict()
    asked = data["metrics"] or list(SHOWN)
    headers = [*data["varied"], "seed", *(SHOWN.get(name) or _compared.label(name) for name in asked)]

    def row(point: Mapping[str, Any]) -> list[str]:
        measured = point.get("metrics") or quantities(point["result"], asked)
        values = [_compared.brief(value) for value in point["values"].values()]
        return [*values, str(point["seed"]), *(_text.number(measured.get(name)) for name in asked)]

    rows = [row(point) if place < _MOST else [] for place, point in enumerate(data["points"])]
    texts = ([item["text"] for item in data[kind]] for kind in ("warnings", "notes"))
    return table(headers, rows, names=len(data["varied"])) + messages(*texts)


def validation(found: "Validation") -> str:
    """How far a drive is from a recording."""
    data = found.to_dict()
    plain = {key: item for key, item in data.items() if isinstance(item, int | float | str)}
    facts = {key: item for key, item in plain.items() if key != "schema"}
    told = ([str(text) for text in data.get(kind, ())] for kind in ("warnings", "notes"))
    return (
        heading(f"{data['drive']}: demerit {data['rms_demerit_ms']:.4f} ms")
        + table(("", ""), _text.flat(facts).items(), names=2)
        + messages(*told)
    )
