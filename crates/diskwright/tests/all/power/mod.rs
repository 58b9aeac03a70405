//! What devices draw, and their low power states.

mod commands;
mod disks;
mod edges;
mod hybrids;
mod memory;
mod refusals;
mod ssds;

use serde_json::Value;

use crate::support::{checked, run_with};

/// Figures of a disk with an idle_b and a standby_z: round numbers.
pub const FIGURES: &str = r#"
    [device.hdd.power.figures]
    idle = "1 W"
    seek = "2 W"
    read = "1.5 W"
    write = "1.7 W"
    idle_b = { power = "700 mW", enter = { time = "500 ms" }, leave = { time = "300 ms", power = "1.2 W" } }
    standby_z = { power = "200 mW", enter = { time = "1 s", energy = "2 J" }, leave = { time = "3 s", power = "4.5 W", peak = "5 W" } }
"#;

/// Single blocks, read from one disk with a queue and no memory.
pub fn spec(requests: u32, arrivals: &str, policy: &str) -> String {
    format!(
        r#"
        seed = 1
        [workload.synthetic]
        requests = {requests}
        arrivals = {arrivals}
        reads = 1.0
        size = "1 block"
        [measure]
        warmup = 0
        [device.hdd]
        drive = "ibm-18es-linear"
        buffer = false
        queue = {{ scheduler = "fcfs" }}
        [device.hdd.power]
        {policy}
        {FIGURES}
        "#
    )
}

/// The result of a disk under these timeouts.
pub fn run_policy(requests: u32, arrivals: &str, policy: &str) -> Value {
    run_with(&spec(requests, arrivals, policy), &checked())
}

/// A number of the disk's report.
pub fn of_disk(result: &Value, key: &str) -> f64 {
    result["devices"]["hdd"][key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key}: {}", result["devices"]))
}

/// Seconds, joules and entries of a state; none where the disk was never in it.
pub fn of_state(device: &Value, state: &str) -> (f64, f64, u64) {
    let state = &device["power_states"][state];
    let number = |key: &str| state[key].as_f64().unwrap_or(0.0);
    (
        number("s"),
        number("j"),
        state["entries"].as_u64().unwrap_or(0),
    )
}

/// The states' times and energies add up to those of the device.
#[track_caller]
pub fn assert_adds_up(device: &Value, span_s: f64) {
    let states = device["power_states"]
        .as_object()
        .expect("a device with figures");
    let sum = |key: &str| -> f64 {
        states
            .values()
            .filter_map(|state| state[key].as_f64())
            .sum()
    };
    let energy = device["energy_j"].as_f64().expect("an energy");
    assert!(
        (sum("j") - energy).abs() <= 1e-9 * energy.max(1.0),
        "{device}"
    );
    assert!(
        (sum("s") - span_s).abs() <= 1e-9 * span_s.max(1.0),
        "{} of {span_s}: {device}",
        sum("s")
    );
}

#[track_caller]
pub fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{found} is not {expected}"
    );
}
