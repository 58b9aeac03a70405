//! Drivers before any device.

use serde_json::{Value, json};

use super::{Counted, Kind, device, judge, report};
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::load::lbn_scheduler;
use crate::whole_specs::schema::Hint;

/// An operating system's queue before one device.
pub const KIND: Kind = Kind {
    name: "driver",
    weight: 2,
    is_branch: true,
    draw,
    hint,
    judge: check,
};

fn draw(draw: &mut Draw<'_>, depth: u32) -> (Value, u64) {
    let (below, blocks) = device(draw, depth - 1);
    let mut driver = json!({ "scheduler": lbn_scheduler(draw), "device": below });
    if draw.chance(0.8) {
        driver["outstanding"] = match draw.chance(0.2) {
            true => json!("unlimited"),
            false => draw.scaled(1..=40).into(),
        };
    }
    if draw.chance(0.4) {
        driver["join"] = draw.named("JoinSpec");
    }
    if draw.chance(0.3) {
        driver["priority"] = json!({ "scheduler": lbn_scheduler(draw) });
    }
    if draw.chance(0.4) {
        let mut timeout =
            json!({ "after": draw.time(0, 300_000), "every": draw.time(1_000, 100_000) });
        if driver.get("priority").is_none() && draw.chance(0.5) {
            timeout["scheduler"] = lbn_scheduler(draw);
        }
        driver["timeout"] = timeout;
    }
    (driver, blocks)
}

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("JoinSpec", "most") => size(draw.scaled(2..=300)).into(),
        // One of them must be joined.
        ("JoinSpec", "reads") => true.into(),
        _ => Hint::Schema,
    }
}

/// What was sent and what was joined is what arrived, but for what still waits, and the device below is right itself.
fn check(result: &Value, path: &str, spec: &Value) -> Result<(), String> {
    let told = report(result, path)?;
    let count = |key: &str| {
        let count = told[key].as_u64();
        count.ok_or_else(|| format!("{path}: {key} is {}", told[key]))
    };
    let counted = Counted::of(result);
    let (sent, came) = (count("sent")? + count("joined")?, count("requests")?);
    if !counted.agree(sent, came) || !counted.agree(count("completed")?, came) {
        return Err(format!("{path}: {told}"));
    }
    if spec.get("join").is_none() && count("joined")? > 0 {
        return Err(format!("{path}: requests are joined that are not to be"));
    }
    let mean = |key: &str| told[key]["mean"].as_f64().unwrap_or(f64::NAN);
    if mean("physical_access_ms") > mean("response_ms") + 1e-9 {
        return Err(format!("{path}: the access takes longer than the response"));
    }
    judge(result, &format!("{path}.device."), &spec["device"])
}
