"""Are results and requests the same numbers in every library that reads them?"""

import pickle
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import diskwright
from conftest import SPEC

MANY = SPEC.replace("2_000", "10_000").replace('{ poisson = "20 ms" }', "{ closed = { users = 4 } }")


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[diskwright.Result, Path]:
    folder = tmp_path_factory.mktemp("logged")
    spec, log = folder / "spec.toml", folder / "log.parquet"
    spec.write_text(MANY)
    diskwright.run(spec, requests=log)
    return diskwright.run(spec, requests=True), log


def test_the_log_in_memory_is_the_log_in_a_file(logged: tuple[diskwright.Result, Path]) -> None:
    result, path = logged
    log = result.request_log
    assert len(log) == result.requests.completed == 10_000
    from_file = pyarrow.parquet.read_table(path)
    table = log.to_pyarrow()
    assert log.columns == table.column_names == from_file.column_names
    table.validate(full=True)
    assert table.to_pylist() == from_file.to_pylist()
    assert "10,000 requests" in repr(log) and "arrival_ns" in repr(log)


def test_every_library_reads_the_same_columns(logged: tuple[diskwright.Result, Path]) -> None:
    log = logged[0].request_log
    result = logged[0]
    frame = log.to_polars()
    assert frame.shape == (10_000, len(log.columns))
    assert frame["op"].cast(polars.String).unique().sort().to_list() == ["read", "write"]
    response = (frame["completion_ns"] - frame["arrival_ns"]) / 1e6
    assert frame["sequence"].sort().to_list() == list(range(10_000))
    assert response.max() == pytest.approx(result.response_ms.max)
    parts = [name for name in frame.columns if name.endswith("_ns")][5:]
    service = frame["completion_ns"] - frame["start_ns"]
    assert (frame.select(polars.sum_horizontal(parts)).to_series() == service).all()
    in_pandas = log.to_pandas()
    assert in_pandas["lbn"].tolist() == frame["lbn"].to_list()
    assert in_pandas["op"].tolist() == frame["op"].cast(polars.String).to_list()
    read = pyarrow.table(log)
    answer = duckdb.query("select sum(blocks) from read")
    assert answer is not None
    (total,) = answer.fetchall()[0]
    assert total == result.requests.blocks == read["blocks"].to_pandas().sum()


def test_nothing_is_copied_and_the_memory_outlives_the_result(spec: Path) -> None:
    first, second = (pyarrow.table(log) for log in [diskwright.run(spec, requests=True).request_log] * 2)
    assert first.num_rows == 2_000
    for one, other in zip(first["lbn"].chunks, second["lbn"].chunks, strict=True):
        assert one.buffers()[1].address == other.buffers()[1].address


def test_an_empty_run_has_the_columns(spec: Path) -> None:
    cut = [{"at": "0 ms", "kind": "power-cut"}]
    log = diskwright.run(spec, fault=cut, requests=True).request_log
    assert len(log) == 0 and log.to_polars().columns == log.columns


def test_a_result_without_a_log_says_so(spec: Path) -> None:
    result = diskwright.run(spec, requests=True)
    for without in (
        diskwright.run(spec),
        pickle.loads(pickle.dumps(result)),
        diskwright.run(spec, requests=False),
    ):
        assert without == result or without.digest == result.digest
        with pytest.raises(LookupError, match="requests=True"):
            _ = without.request_log


def test_a_frame_has_a_row_for_each_result_and_a_column_for_each_number(spec: Path) -> None:
    schedulers = {"fcfs": "fcfs", "ncq": {"ncq": {"timeout": "1 s"}}}
    results = {
        name: diskwright.run(spec, device__hdd__queue__scheduler=item) for name, item in schedulers.items()
    }
    frame = diskwright.frame(results)
    assert isinstance(frame, polars.DataFrame)
    assert frame["run"].to_list() == ["fcfs", "ncq"]
    fcfs, ncq = results.values()
    assert frame["response_ms.mean"].to_list() == [fcfs.response_ms.mean, ncq.response_ms.mean]
    assert frame["devices.hdd.utilisation"].to_list() == [
        run.devices["hdd"].utilisation for run in (fcfs, ncq)
    ]
    low = [None if run.response_ms.ci95 is None else run.response_ms.ci95[0] for run in (fcfs, ncq)]
    assert frame["response_ms.ci95.low"].to_list() == low
    assert frame["spec.device.hdd.queue.scheduler"].to_list() == ["fcfs", '{ ncq = { timeout = "1 s" } }']
    assert frame["spec.workload.synthetic.requests"].to_list() == [2_000, 2_000]
    assert frame["warnings"].to_list() == [len(fcfs.warnings), len(ncq.warnings)]
    in_pandas = diskwright.frame(list(results.values()), kind="pandas")
    assert isinstance(in_pandas, pandas.DataFrame)
    assert in_pandas["response_ms.mean"].tolist() == frame["response_ms.mean"].to_list()
    assert fcfs.frame().row(0) == diskwright.frame([fcfs]).row(0)
    assert fcfs.frame(kind="pandas").shape == (1, len(frame.columns) - 1)
    assert diskwright.frame([]).is_empty()
    with pytest.raises(ValueError, match="polars"):
        diskwright.frame([fcfs], kind="dask")  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["polars", "pandas", "pyarrow"])
def test_a_library_that_is_not_there_is_named(spec: Path, name: str) -> None:
    code = f"""
import sys, warnings
warnings.simplefilter("ignore")
sys.modules[{name!r}] = None
import diskwright
log = diskwright.run({str(spec)!r}, requests=True).request_log
try:
    log.to_{name}()
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install {name}" in done.stdout, done.stderr
