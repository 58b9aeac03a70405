//! What devices draw, and when they go into low power states: times that are as short as those between requests.

use serde_json::{Map, Value, json};

use super::report;
use crate::whole_specs::draw::Draw;

/// Low power states of a hard disk, and of an SSD.
pub const OF_DISKS: &[&str] = &["idle_a", "idle_b", "idle_c", "standby_y", "standby_z"];
pub const OF_SSDS: &[&str] = &["slumber", "devsleep"];

/// The power of a device with some of these states.
pub fn power(draw: &mut Draw<'_>, states: &[&str]) -> Value {
    let states: Vec<&str> = states
        .iter()
        .copied()
        .filter(|_| draw.chance(0.7))
        .collect();
    let mut figures = Map::new();
    figures.insert("idle".into(), watts(draw, 5_000));
    for activity in ["seek", "read", "write"] {
        // An SSD has no arms.
        if draw.chance(0.7)
            && (activity != "seek" || !OF_SSDS.iter().any(|state| states.contains(state)))
        {
            figures.insert(activity.into(), watts(draw, 9_000));
        }
    }
    for state in &states {
        let mut of_state = Map::new();
        of_state.insert("power".into(), watts(draw, 3_000));
        for way in ["enter", "leave"] {
            if draw.chance(0.8) {
                of_state.insert(way.into(), transition(draw));
            }
        }
        figures.insert((*state).to_owned(), of_state.into());
    }
    if !states.iter().any(|state| OF_DISKS.contains(state)) {
        figures.remove("seek");
    }
    let mut power = json!({ "figures": figures });
    if draw.chance(0.9) {
        power["policy"] = policy(draw, &states);
    }
    power
}

fn policy(draw: &mut Draw<'_>, states: &[&str]) -> Value {
    match draw.within(0..=5) {
        0 => "oracle".into(),
        2 if !states.is_empty() => json!({ "apst": { "max_latency": "600 s" } }),
        1 if !states.is_empty() => json!({ "adaptive": {
            "state": *draw.pick(states), "experts": draw.scaled(2..=30), "share": draw.share(0.0, 0.9),
        } }),
        _ => {
            let given: Vec<&str> = states
                .iter()
                .copied()
                .filter(|_| draw.chance(0.8))
                .collect();
            let timeouts = given
                .into_iter()
                .map(|state| (state.to_owned(), draw.named("Time")));
            let timeouts: Map<String, Value> = timeouts.collect();
            json!({ "fixed": timeouts })
        }
    }
}

fn watts(draw: &mut Draw<'_>, most: u64) -> Value {
    format!("{} mW", draw.scaled(0..=most)).into()
}

fn transition(draw: &mut Draw<'_>) -> Value {
    let mut way = json!({ "time": draw.named("Time") });
    match draw.within(0..=2) {
        0 => way["power"] = watts(draw, 9_000),
        1 if way["time"] != "0 ms" => way["energy"] = format!("{} mJ", draw.scaled(0..=500)).into(),
        _ => {}
    }
    way
}

/// The times in the states, and their energies, add up; no state that a policy does not name is gone into.
pub fn check(result: &Value, path: &str, spec: &Value) -> Result<(), String> {
    let device = report(result, path)?;
    let Some(states) = device["power_states"].as_object() else {
        return match spec["power"].is_null() {
            true => Ok(()),
            false => Err(format!("{path}: no states of its power")),
        };
    };
    let sum = |key: &str| -> f64 {
        states
            .values()
            .filter_map(|state| state[key].as_f64())
            .sum()
    };
    let energy = device["energy_j"].as_f64().ok_or("no energy_j")?;
    if (sum("j") - energy).abs() > 1e-9 * energy.max(1e-3) {
        return Err(format!("{path}: states of {} J make {energy} J", sum("j")));
    }
    // What a device does of its own accord after the last request is its time too.
    let span = result["measured_s"].as_f64().ok_or("no measured_s")?;
    if sum("s") < span - 1e-9 {
        return Err(format!("{path}: states of {} s in {span} s", sum("s")));
    }
    let policy = &spec["power"]["policy"];
    let is_low =
        |name: &&String| OF_DISKS.contains(&name.as_str()) || OF_SSDS.contains(&name.as_str());
    let gone_into = states.keys().find(is_low);
    // A hybrid drive may ask its medium to stop, whatever the medium's policy.
    if path.contains("hybrid.media") {
        return Ok(());
    }
    match gone_into {
        Some(state) if policy.is_null() => Err(format!("{path}: in {state} without a policy")),
        Some(state) if !policy["fixed"].is_null() && policy["fixed"][state].is_null() => {
            Err(format!("{path}: in {state}, which has no timeout"))
        }
        _ => Ok(()),
    }
}
