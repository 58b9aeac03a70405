//! DiskSim's parameter files.

use std::path::PathBuf;

use diskwright::disksim::{self, Override};
use pyo3::prelude::*;
use serde_json::json;

use super::raised;

/// Reads a set-up of DiskSim's with values put over those of its files; returns its drive as TOML, and drive, settings and
/// warnings as JSON.
#[pyfunction]
#[pyo3(signature = (path, set))]
pub fn import_disksim(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<String>,
) -> PyResult<(String, String)> {
    let imported = py.detach(|| {
        let overrides = set
            .iter()
            .map(|text| Override::parse("--set", text))
            .collect::<Result<Vec<_>, _>>()?;
        disksim::import(&path, &overrides)
    });
    let import = imported.map_err(raised)?;
    let answer = json!({
        "drive": import.drive,
        "settings": import.settings,
        "warnings": import.warnings,
    });
    Ok((disksim::to_toml(&import), answer.to_string()))
}

/// What becomes of every parameter of DiskSim's; returns JSON.
#[pyfunction]
pub fn disksim_parameters() -> String {
    serde_json::to_string(&disksim::parameters()).expect("rows are plain data")
}
