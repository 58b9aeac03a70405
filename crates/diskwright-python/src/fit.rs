//! `RecordedDrive`: a drive's model beside a recording, asked for predictions over and over.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, UInt32Array};
use diskwright::engine::request::{Op, ServedBy};
use diskwright::runs::fit::{self, Changes, Follow, PredictedRequest};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::raised;
use crate::table::RequestTable;

/// A drive's description and a recording of it, read once.
#[pyclass(frozen, name = "RecordedDrive", module = "diskwright._engine")]
pub struct Comparison(fit::Comparison);

#[pymethods]
impl Comparison {
    /// Reads the drive, a name or a path, and the recording.
    #[new]
    #[pyo3(signature = (drive, trace, format=None))]
    fn new(drive: &str, trace: PathBuf, format: Option<&str>) -> PyResult<Comparison> {
        fit::Comparison::open(drive, &trace, format)
            .map(Comparison)
            .map_err(raised)
    }

    /// Requests that are compared.
    fn __len__(&self) -> usize {
        self.0.requests().len()
    }

    /// What was read: the drive's description, the recording's format, requests left out and warnings, as JSON.
    fn facts(&self) -> String {
        serde_json::json!({
            "description": self.0.description(),
            "format": self.0.format(),
            "left_out": self.0.left_out(),
            "warnings": self.0.warnings(),
        })
        .to_string()
    }

    /// The drive's description with changes, a JSON object of values by their paths; JSON.
    fn changed(&self, changes: &str) -> PyResult<String> {
        let description = self.0.changed(&parsed(changes)?).map_err(raised)?;
        Ok(serde_json::to_string(&description).expect("plain data"))
    }

    /// What was recorded, a row for every request.
    fn recorded(&self) -> RequestTable {
        let requests = self.0.requests();
        let ms = |ns: u64| ns as f64 / 1e6;
        let each_ms = |of: &dyn Fn(&fit::RecordedRequest) -> u64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(
                requests.iter().map(|request| ms(of(request))),
            ))
        };
        let columns: [(&str, ArrayRef); 5] = [
            (
                "write",
                booleans(requests, |request| request.command.op == Op::Write),
            ),
            (
                "lbn",
                Arc::new(Int64Array::from_iter_values(
                    requests.iter().map(|request| request.command.lbn.0 as i64),
                )),
            ),
            (
                "blocks",
                numbers(requests, |request| request.command.blocks),
            ),
            ("service_ms", each_ms(&|request| request.service.ns())),
            ("wait_ms", each_ms(&|request| request.wait.ns())),
        ];
        table(columns)
    }

    /// The demerit, ms, of the drive with `changes` in a replay of the whole recording, of requests from `begin` up to `end`.
    fn demerit_ms(&self, py: Python<'_>, changes: &str, begin: usize, end: usize) -> PyResult<f64> {
        let changes = parsed(changes)?;
        let demerit = py.detach(|| self.0.demerit_ms(&changes, begin..end));
        demerit.map_err(raised)
    }

    /// What the drive with `changes`, a JSON object, is predicted to do, a row for every request: one step ahead of the recording,
    /// where `gain` and `gate` are given, or else replayed as in a validation.
    #[pyo3(signature = (changes, gain=None, gate=0.1))]
    fn predict(
        &self,
        py: Python<'_>,
        changes: &str,
        gain: Option<f64>,
        gate: f64,
    ) -> PyResult<RequestTable> {
        let changes = parsed(changes)?;
        let follow = match gain {
            None => Follow::Simulated,
            Some(gain) => Follow::Recorded { gain, gate },
        };
        let predicted = py.detach(|| self.0.predict(&changes, follow));
        let requests = predicted.map_err(raised)?;
        let times = |of: &dyn Fn(&PredictedRequest) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(requests.iter().map(of)))
        };
        let wait_ms = |request: &PredictedRequest| request.first_wait.map(|wait| wait.ms());
        let columns: [(&str, ArrayRef); 10] = [
            ("predicted_ms", times(&|request| request.predicted.ms())),
            (
                "first_wait_ms",
                Arc::new(Float64Array::from_iter(requests.iter().map(wait_ms))),
            ),
            ("angle", times(&|request| request.angle)),
            (
                "buffered",
                booleans(&requests, |request| request.by == ServedBy::Buffer),
            ),
            (
                "on_medium",
                booleans(&requests, |request| request.on_medium),
            ),
            (
                "after_write",
                booleans(&requests, |request| request.after_write),
            ),
            ("switches", booleans(&requests, |request| request.switches)),
            ("distance", numbers(&requests, |request| request.distance)),
            ("zone", numbers(&requests, |request| request.zone)),
            ("tracks", numbers(&requests, |request| request.tracks)),
        ];
        Ok(table(columns))
    }
}

fn parsed(changes: &str) -> PyResult<Changes> {
    serde_json::from_str(changes).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn booleans<T>(requests: &[T], of: impl Fn(&T) -> bool) -> ArrayRef {
    let values = requests.iter().map(|request| Some(of(request)));
    Arc::new(BooleanArray::from_iter(values))
}

fn numbers<T>(requests: &[T], of: impl Fn(&T) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(requests.iter().map(of)))
}

fn table<const COLUMNS: usize>(columns: [(&str, ArrayRef); COLUMNS]) -> RequestTable {
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    RequestTable::from(batch)
}
