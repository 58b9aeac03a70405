//! Runs with the checker on.

use diskwright::base::error::Error;
use diskwright::runs::simulation::{self, RunOptions, SpecSource};
use serde_json::Value;

/// The result of a spec, or what is wrong with it.
pub fn try_run(text: &str) -> Result<Value, Error> {
    let source = SpecSource::Text {
        text: text.to_owned(),
        base: ".".into(),
    };
    let options = RunOptions {
        check: true,
        ..RunOptions::default()
    };
    simulation::run(&source, &options, &mut ()).map(|outcome| outcome.json())
}

/// The result of a spec that runs.
#[track_caller]
pub fn run(text: &str) -> Value {
    try_run(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}
