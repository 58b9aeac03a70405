//! The one way in which the tests build and make runs.

use std::path::{Path, PathBuf};

use diskwright::base::error::Error;
use serde_json::Value;

pub use diskwright::runs::simulation::{self, Outcome, Progress, RunOptions, SpecSource};

pub mod counting;
pub mod errors;
pub mod reference;
pub mod twins;

/// A spec's text; relative paths in it start at the current folder.
pub fn from_text(text: impl Into<String>) -> SpecSource {
    from_text_in(text, ".")
}

/// A spec's text; relative paths in it start at `base`.
pub fn from_text_in(text: impl Into<String>, base: impl Into<PathBuf>) -> SpecSource {
    SpecSource::Text {
        text: text.into(),
        base: base.into(),
    }
}

/// A spec's file.
pub fn from_file(path: impl Into<PathBuf>) -> SpecSource {
    SpecSource::File(path.into())
}

/// The options that turn the checker on.
pub fn checked() -> RunOptions {
    RunOptions {
        check: true,
        ..RunOptions::default()
    }
}

/// The options that override keys of the spec: `KEY=VALUE` each.
pub fn setting(assignments: &[&str]) -> RunOptions {
    RunOptions {
        set: assignments.iter().map(ToString::to_string).collect(),
        ..RunOptions::default()
    }
}

/// What comes of a spec, with the progress told to `progress`.
pub fn outcome_watched(
    spec: &SpecSource,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    simulation::run(spec, options, progress)
}

/// What comes of a spec.
pub fn outcome_of(spec: &SpecSource, options: &RunOptions) -> Result<Outcome, Error> {
    outcome_watched(spec, options, &mut ())
}

/// The result of a spec's text with these options.
pub fn try_run_with(spec: &str, options: &RunOptions) -> Result<Value, Error> {
    outcome_of(&from_text(spec), options).map(|outcome| outcome.json())
}

/// The result of a spec's text that runs with these options.
#[track_caller]
pub fn run_with(spec: &str, options: &RunOptions) -> Value {
    try_run_with(spec, options).unwrap_or_else(|error| panic!("{error}\n{spec}"))
}

/// The result of a spec's text with the checker on.
pub fn try_run(spec: &str) -> Result<Value, Error> {
    try_run_with(spec, &checked())
}

/// The result of a spec's text that runs with the checker on.
#[track_caller]
pub fn run(spec: &str) -> Value {
    run_with(spec, &checked())
}

/// The top of the checkout.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
