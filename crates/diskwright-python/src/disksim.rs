//! DiskSim's parameter files.

use std::path::{Path, PathBuf};

use diskwright::base::error::Error;
use diskwright::disksim::{self, Imported, SetUpName};
use pyo3::prelude::*;
use serde_json::json;

use super::raised;

/// Reads a set-up of DiskSim's with values put over those of its files. Returns its drive as TOML, and drive, settings and warnings as
/// JSON; of a system of several devices, none of which is named, its spec as TOML, and what it is made of as JSON.
#[pyfunction]
#[pyo3(signature = (path, set))]
pub fn import_disksim(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<String>,
) -> PyResult<(String, String)> {
    py.detach(|| imported(&path, &set)).map_err(raised)
}

fn imported(path: &Path, set: &[String]) -> Result<(String, String), Error> {
    let named = SetUpName::read(path);
    let mut named = named.unwrap_or_else(|| Ok(SetUpName::of(path)))?;
    for text in set {
        named.put("--set", text)?;
    }
    if named.drive.is_none() && named.devices()?.len() > 1 {
        let folder = named.file.parent().unwrap_or(Path::new(""));
        let whole = named.whole(&folder.join(named.beside()?).to_string_lossy())?;
        let answer = serde_json::to_value(&whole).expect("a system is plain data");
        return Ok((disksim::to_spec(&whole), answer.to_string()));
    }
    let (text, answer) = match named.import()? {
        Imported::Disk(import) => (
            disksim::to_toml(&import),
            json!({
                "drive": import.drive,
                "settings": import.settings,
                "warnings": import.warnings,
            }),
        ),
        Imported::Ssd(import) => (
            disksim::ssd_to_toml(&import),
            json!({
                "drive": import.drive,
                "settings": import.settings,
                "warnings": import.warnings,
            }),
        ),
    };
    Ok((text, answer.to_string()))
}

/// What becomes of every parameter of DiskSim's; returns JSON.
#[pyfunction]
pub fn disksim_parameters() -> String {
    serde_json::to_string(&disksim::parameters()).expect("rows are plain data")
}
