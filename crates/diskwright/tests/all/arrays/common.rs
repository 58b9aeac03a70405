//! What runs an array, and what it is made of.

use serde_json::Value;

/// Requests to a device, each when the one before is complete.
pub fn alone(requests: u32, size: u32, keys: &str, device: &str) -> String {
    format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ closed = {{ users = 1 }} }}\nsize = \"{size} blocks\"\n{keys}\n\
         [measure]\nwarmup = 0\n[device]\n{device}\n"
    )
}

/// An array of two disks of a kind.
pub fn two(layout: &str, spindles: &str, hdd: &str) -> String {
    let member = format!("{{ hdd = {{ {hdd} }} }}");
    format!("array = {{ layout = {layout}, spindles = {spindles}, member = [{member}, {member}] }}")
}

pub fn number(result: &Value, path: &str) -> f64 {
    let path = format!("/{}", path.replace('.', "/"));
    result
        .pointer(&path)
        .and_then(Value::as_f64)
        .expect("a number")
}

/// A disk with a linear seek curve and no buffer.
pub const LINEAR: &str = "drive = \"ibm-18es-linear\"";
/// Milliseconds of a turn of it.
pub const TURN: f64 = 60_000.0 / 7_200.0;
