//! SSDs against what other simulators print and what theory says of cleaning.

mod cleaning;
mod disksim;
mod library;
mod mqsim;

use serde_json::Value;

use crate::support::{RunOptions, run_with};

/// The result of a spec; the checker has runs of its own, since these are long.
fn run(spec: &str) -> Value {
    run_with(spec, &RunOptions::default())
}

/// The mean response in milliseconds.
fn mean_ms(result: &Value) -> f64 {
    result["response_ms"]["mean"].as_f64().expect("a mean")
}

/// A figure of the drive.
fn of_drive(result: &Value, key: &str) -> f64 {
    let value = &result["devices"]["ssd"][key];
    value.as_f64().unwrap_or_else(|| panic!("{key} is {value}"))
}

/// Fails where a figure is not within `share` of what is expected.
#[track_caller]
fn near(what: &str, found: f64, expected: f64, share: f64) {
    let off = found / expected - 1.0;
    println!(
        "{what}: {found:.6} for {expected:.6}, {:+.2} %",
        off * 100.0
    );
    assert!(off.abs() < share, "{what}: {found} for {expected}");
}
