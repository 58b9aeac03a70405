//! What the benchmarks of whole runs share.

use std::path::PathBuf;

use diskwright::runs::simulation::{self, RunOptions, SpecSource};
use serde_json::Value;

/// The results of a spec.
pub fn results(text: String) -> Value {
    let source = SpecSource::Text {
        text,
        base: PathBuf::new(),
    };
    simulation::run(&source, &RunOptions::default(), &mut ())
        .expect("the benchmark's spec runs")
        .json()
}
