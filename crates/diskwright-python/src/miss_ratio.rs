//! `miss_ratio`: arguments in, JSON out.

use std::path::PathBuf;

use diskwright::base::units::UnitError;
use diskwright::runs::miss_ratio::MissRatioOptions;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::{InputError, custom_replacements, format_options, heard, thread_count};

/// Tells how often caches miss on a trace; `reader` is what the reader is told, as JSON. Returns JSON.
#[pyfunction]
#[pyo3(signature = (
    path, policies, capacities, granularity, block_size, sample, sample_seeds, seed, reader, device, threads, replacements,
    progress
))]
#[expect(clippy::too_many_arguments, reason = "Python's facade names them")]
pub fn miss_ratio(
    py: Python<'_>,
    path: PathBuf,
    policies: String,
    capacities: String,
    granularity: String,
    block_size: &str,
    sample: Option<f64>,
    sample_seeds: u32,
    seed: u64,
    reader: &str,
    device: Option<u32>,
    threads: Option<usize>,
    replacements: Vec<(String, Py<PyAny>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let block_size = block_size
        .parse()
        .map_err(|error: UnitError| InputError::new_err(format!("error: block size: {error}")))?;
    let failure = Failure::default();
    let options = MissRatioOptions {
        format: format_options(reader)?,
        device,
        policies,
        capacities,
        granularity,
        block_size,
        sample,
        sample_seeds,
        seed,
        threads: thread_count(threads)?,
        replacements: custom_replacements(replacements, &failure)?,
    };
    heard(py, progress, failure, |listener| {
        let found = diskwright::runs::miss_ratio::miss_ratio(&path, &options, listener)?;
        Ok(serde_json::to_string(&found).expect("an answer is plain data"))
    })
}
