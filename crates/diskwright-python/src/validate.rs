//! `validate`: arguments in, JSON out.

use std::path::PathBuf;

use diskwright::runs::validate::ValidateOptions;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::heard;

/// Replays a recording on a drive and compares the service times; returns the result and what a picture is drawn from, each as
/// JSON, the latter where it is asked for.
#[pyfunction]
#[pyo3(signature = (drive, trace, set, format, picture, progress))]
pub fn validate(
    py: Python<'_>,
    drive: &str,
    trace: PathBuf,
    set: Vec<String>,
    format: Option<String>,
    picture: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let options = ValidateOptions {
        set,
        format,
        picture,
    };
    heard(py, progress, Failure::default(), |listener| {
        let found = diskwright::runs::validate::validate(drive, &trace, &options, listener)?;
        let picture = found.picture().map(ToString::to_string);
        Ok((found.json().to_string(), picture))
    })
}
