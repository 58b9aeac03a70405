"""Are answers readable in a notebook? Are comparisons tables and figures? Is what is misspelt told?"""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import diskwright
from diskwright import _notebook

SPEC: dict[str, Any] = {
    "workload": {
        "synthetic": {"requests": 600, "arrivals": {"closed": {"users": 8, "think": "0 ms"}}, "size": "4 KiB"}
    },
    "device": {"hdd": {"drive": "ibm-18es"}},
}
SCHEDULER = "device.hdd.queue.scheduler"


class Tables(HTMLParser):
    """The tables of a page, as lists of rows of cells; refuses what does not close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        if tag != "img":
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.tables[-1][-1][-1] += data


def tables(answer: Any) -> list[list[list[str]]]:
    found = Tables(answer._repr_html_()).tables
    for rows in found:
        assert len({len(row) for row in rows}) == 1, rows
    return found


@pytest.fixture(scope="module")
def compared() -> diskwright.Comparison:
    return diskwright.compare(SPEC, {SCHEDULER: ["fcfs", {"ncq": {"timeout": "2 s"}}, "satf"]}, seeds=3)


def test_a_result_has_its_times_and_parts() -> None:
    result = diskwright.run(SPEC)
    times, parts = tables(result)
    assert [row[0] for row in times] == ["times in ms", "response", "service", "access"]
    assert times[1][1] == f"{result.response_ms.mean:,.3f}"
    assert "rotation" in [row[0] for row in parts]
    assert "warning" in result._repr_html_()


def test_names_with_markup_stay_names() -> None:
    assert "<b>" not in _notebook.table(("<b>",), [["<script>alert(1)</script>"]])
    assert "<b>" not in _notebook.messages(["<b>"], ["<b>"])
    assert "<b>" not in diskwright.Record({"<b>": "<b>"})._repr_html_()


def test_a_comparison_is_tables_a_frame_and_figures(compared: diskwright.Comparison) -> None:
    shown = tables(compared)
    assert [rows[0][0] for rows in shown] == [
        "response mean, ms",
        "response p95, ms",
        "response p99, ms",
        "iops",
    ]
    assert [row[0] for row in shown[0][1:]] == ["fcfs", "ncq (timeout 2 s)", "satf"]
    frame = compared.frame()
    assert frame.height == 3 * len(compared.variants[0].metrics)
    row = frame.filter((frame[SCHEDULER] == "satf") & (frame["metric"] == "iops")).to_dicts()[0]
    satf = compared.variants[2]
    assert row["mean"] == satf.metrics.iops.value
    assert row["ratio_low"] < row["ratio"] < row["ratio_high"]
    assert row["significant"] is satf.difference.iops.significant
    pandas = compared.frame(kind="pandas")
    assert list(pandas.columns) == frame.columns
    assert len(compared.plot("iops").axes[0].get_yticklabels()) == 3
    assert [text.get_text() for text in compared.plot_parts().axes[0].get_yticklabels()] == [
        "fcfs",
        "ncq (timeout 2 s)",
        "satf",
    ]
    assert len(compared.plot_cdf(tail=True).axes[0].lines) == 3
    with pytest.raises(ValueError, match="response_mean_ms"):
        compared.plot("response")


def test_a_comparison_with_one_seed_has_no_intervals() -> None:
    found = diskwright.compare(SPEC, {SCHEDULER: ["fcfs", "satf"]}, seeds=1)
    assert found.frame()["mean_low"].null_count() == found.frame().height
    tables(found)
    found.plot()


def test_sweeps_probes_and_miss_ratios(tmp_path: Path) -> None:
    swept = diskwright.sweep(SPEC, {"device.hdd.queue.depth": [1, 8]}, seeds=2)
    (rows,) = tables(swept)
    assert rows[0] == ["device.hdd.queue.depth", "seed", "response mean, ms", "p99", "IOPS"]
    assert len(rows) == 5
    (tmp_path / "small.trace").write_text("".join(f"{n}.5 0 {n % 50 * 8} 8 1\n" for n in range(400)))
    missed = diskwright.miss_ratio(tmp_path / "small.trace", policies=["lru", "fifo"])
    assert isinstance(missed, diskwright.Record)
    assert "data:image/png;base64," in missed._repr_html_()
    probed = diskwright.probe("ibm-18es", only=["seek"], samples=10)
    assert "data:image/png;base64," in probed._repr_html_()
    assert repr(probed) == "<diskwright.Probe: IBM Ultrastar 18ES (DNES-309170W)>"
    (inspected,) = tables(diskwright.inspect(tmp_path / "small.trace"))
    assert ["requests", "400"] in inspected


def test_long_tables_end() -> None:
    text = _notebook.table(("n",), ([str(n)] for n in range(1000)))
    (rows,) = Tables(text).tables
    assert len(rows) == 61
    assert "and 940 more rows" in text


def test_nothing_private_is_listed(compared: diskwright.Comparison) -> None:
    from diskwright.spec import Spec

    for named in (diskwright, compared, compared.results[0][0], diskwright.Record({}), Spec.from_dict(SPEC)):
        private = [name for name in dir(named) if name.startswith("_") and not name.startswith("__")]
        assert private == [], named
    assert {"run", "spec", "report"} <= set(dir(diskwright))
    assert "iops" in dir(compared.results[0][0])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: diskwright.compare(SPEC, {SCHEDULER: ["fcfs"]}, seed=3), "'seed': did you mean 'seeds'"),  # type: ignore[call-arg]
        (lambda: diskwright.run(SPEC, chek=True), "run() has no argument 'chek': did you mean 'check'"),
        (lambda: diskwright.run_many([SPEC], thread=1), "did you mean 'threads'"),  # type: ignore[call-arg]
        (lambda: diskwright.inspect("x", zzz=1), "has no argument 'zzz': it has format, csv"),  # type: ignore[call-arg]
        (lambda: diskwright.sweep(SPEC, stor="x"), "did you mean 'store'"),  # type: ignore[call-arg]
    ],
)
def test_a_misspelt_argument_is_told(call: Any, words: str) -> None:
    with pytest.raises(TypeError) as told:
        call()
    assert words in str(told.value)


def test_a_misspelt_override_is_told_by_the_spec() -> None:
    with pytest.raises(diskwright.InputError, match='did you mean "depth"'):
        diskwright.run(SPEC, device__hdd__queue__dept=3)
