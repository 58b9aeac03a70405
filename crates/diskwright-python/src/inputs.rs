//! The files that a command reads.

use std::path::PathBuf;

use diskwright::runs::inputs;
use diskwright::runs::simulation::{RunOptions, SpecSource};
use pyo3::prelude::*;

use super::raised;

/// The files that a spec reads, with what the command line adds to it; itself first.
#[pyfunction]
#[pyo3(signature = (path, set, vary, drive, trace))]
pub fn inputs_of_spec(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<String>,
    vary: Vec<String>,
    drive: Option<String>,
    trace: Option<PathBuf>,
) -> PyResult<Vec<PathBuf>> {
    let options = RunOptions {
        set,
        drive,
        trace,
        ..RunOptions::default()
    };
    py.detach(|| inputs::of_spec(&SpecSource::File(path), &options, &vary))
        .map_err(raised)
}

/// The files that a drive is read from.
#[pyfunction]
pub fn inputs_of_drive(py: Python<'_>, name: &str) -> Vec<PathBuf> {
    py.detach(|| inputs::of_drive(name))
}

/// The files that a trace is read from.
#[pyfunction]
pub fn inputs_of_trace(py: Python<'_>, path: PathBuf) -> Vec<PathBuf> {
    py.detach(|| inputs::of_trace(&path))
}
