//! Layers that change nothing.

use diskwright::devices::drives;
use serde_json::{Value, json};

use super::{each_as, judge_changed, plain};
use crate::whole_specs::{Case, Definitions, Draw, Verdict, devices, is_closed};

/// What draws at random draws by the path of its device, which is another one below another device.
const RANDOM: [&str; 9] = [
    "random",
    "d-choices",
    "failures",
    "retries",
    "retry",
    "wear",
    "spread",
    "initial",
    "late_hits",
];

/// Any device in which no policy draws at random, nor the angle or the speed of a disk.
fn a_device(definitions: &Definitions, number: u64) -> Case {
    drawn(number, |number| {
        let mut draw = Draw::new(definitions, number);
        let (mut device, blocks) = devices::device(&mut draw, 1);
        let text = format!("{device}{:?}{}", draw.case.files, of_the_library(&device));
        let is_random = RANDOM.iter().any(|word| text.contains(word));
        (!is_random).then(|| {
            turn_evenly(&mut device);
            plain(draw, device, blocks)
        })
    })
}

/// The same under an open load: a request that the completion of another releases comes through a layer in the same instant, but after what else the
/// device below it begins then.
pub fn a_device_under_an_open_load(definitions: &Definitions, number: u64) -> Case {
    drawn(number, |number| {
        let case = a_device(definitions, number);
        let is_open = !is_closed(&case.spec) && case.spec["host"].get("outstanding").is_none();
        is_open.then_some(case)
    })
}

/// The same under Poisson arrivals: what arrives in the very instant in which something else is done comes through a layer behind that, and without
/// the layer, it may be, before it. Their instants are anywhere in the nanoseconds.
pub fn a_device_under_poisson_arrivals(definitions: &Definitions, number: u64) -> Case {
    drawn(number, |number| {
        let case = a_device_under_an_open_load(definitions, number);
        let arrivals = &case.spec["workload"]["synthetic"]["arrivals"];
        arrivals["poisson"].is_string().then_some(case)
    })
}

/// The first case of a number that fits: draws until one does.
fn drawn(number: u64, draw: impl Fn(u64) -> Option<Case>) -> Case {
    let mut numbers = (0..).map(|again| number * 1_000 + again);
    numbers.find_map(draw).expect("some are drawn")
}

/// The files of the drives that a device names.
fn of_the_library(device: &Value) -> String {
    match device {
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| match value.as_str() {
                Some(name) if key == "drive" => drives::text(name).unwrap_or_default().to_owned(),
                _ => of_the_library(value),
            })
            .collect(),
        Value::Array(items) => items.iter().map(of_the_library).collect(),
        _ => String::new(),
    }
}

/// Gives every disk an angle that has none, and lets the disks of arrays turn exactly as fast as they should.
fn turn_evenly(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            if let Some(Value::Object(disk)) = entries.get_mut("hdd")
                && !disk.contains_key("angle")
            {
                disk.insert("angle".to_owned(), json!(0.25));
            }
            if let Some(Value::Object(array)) = entries.get_mut("array") {
                array.insert("spindles".to_owned(), exact_spindles());
            }
            entries.values_mut().for_each(turn_evenly);
        }
        Value::Array(items) => items.iter_mut().for_each(turn_evenly),
        _ => {}
    }
}

fn exact_spindles() -> Value {
    json!({ "free": { "tolerance": "0 %" } })
}

/// An array of one device is this device: every request is complete in the same instant.
pub fn an_array_of_one_is_its_member(case: &Case) -> Verdict {
    let wrap = |case: &mut Case| {
        let member = case.spec["device"].take();
        case.spec["device"] = json!({ "array": { "layout": "concat", "spindles": exact_spindles(), "member": [member] } });
    };
    judge_changed(case, wrap, |one, other| {
        each_as(one, other, |one, other| one == other, "an array of one")
    })
}

/// A tier whose write policy passes all by is its backing device, unless two requests want the same blocks at the same time: a tier serves one
/// after the other.
pub fn what_passes_a_tier_by_is_not_delayed(case: &Case) -> Verdict {
    let wrap = |case: &mut Case| {
        let backing: Value = case.spec["device"].take();
        let cache = json!({ "simple": { "capacity": "1 MiB", "read": "1 us", "write": "1 us", "rate": "1 GB/s" } });
        case.spec["device"] = json!({ "tier": { "cache": cache, "backing": backing, "line": "4 KiB", "write_policy": "pass-through" } });
    };
    judge_changed(case, wrap, |one, other| {
        if other.result["devices"]["tier"]["conflicts"] != 0 {
            return Ok(());
        }
        each_as(
            one,
            other,
            |one, other| one == other,
            "a tier that is passed by",
        )
    })
}
