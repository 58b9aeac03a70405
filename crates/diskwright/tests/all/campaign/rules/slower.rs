//! Time has no scale of its own: where every time of a device and of its load is twice as long, so is every response.

use serde_json::{Value, json};

use super::{each_as, judge_changed, plain};
use crate::whole_specs::{Case, Definitions, Draw, Verdict, devices};

/// Rates at which a block, and each multiple of it, takes a whole number of nanoseconds, at half the rate too, MB/s.
const RATES: [u64; 10] = [512, 256, 128, 64, 32, 16, 8, 4, 2, 1];

/// A tree of devices of constant times under a trace.
pub fn devices_of_constant_times(definitions: &Definitions, number: u64) -> Case {
    for again in 0.. {
        let mut draw = Draw::new(definitions, number * 1_000 + again);
        let (mut device, blocks) = devices::device(&mut draw, 2);
        let text = device.to_string();
        if ["\"hdd\"", "\"ssd\"", "\"curve\""]
            .iter()
            .any(|kind| text.contains(kind))
        {
            continue;
        }
        whole_rates(&mut draw, &mut device);
        let mut case = plain(draw, device, blocks);
        // Gaps that are drawn are rounded.
        let mut draw = Draw::new(definitions, number);
        let mut now = 0;
        let rows: Vec<Value> = (0..draw.within(40..=300))
            .map(|_| {
                now += draw.scaled(0..=20_000_000);
                let size = draw.scaled(1..=200.min(blocks));
                let from = draw.within(0..=blocks - size);
                let op = *draw.pick(&["read", "write", "read", "write", "read", "flush"]);
                json!([now, op, from, size, draw.chance(0.1)])
            })
            .collect();
        case.files.clear();
        case.add(".trace", json!({ "format": "csv", "rows": rows }));
        case.spec["workload"] = json!({ "trace": "file0.trace", "format": "csv" });
        let keys = case.spec.as_object_mut().expect("a table");
        keys.remove("measure");
        return case;
    }
    unreachable!("some are drawn")
}

/// Replaces rates by such as divide evenly.
fn whole_rates(draw: &mut Draw<'_>, value: &mut Value) {
    match value {
        Value::Object(entries) => entries
            .values_mut()
            .for_each(|value| whole_rates(draw, value)),
        Value::Array(items) => items.iter_mut().for_each(|value| whole_rates(draw, value)),
        Value::String(text) if text.ends_with("B/s") => {
            *text = format!("{} MB/s", draw.pick(&RATES));
        }
        _ => {}
    }
}

/// Doubles every time and halves every rate.
fn slow_down(value: &mut Value) {
    match value {
        Value::Object(entries) => entries.values_mut().for_each(slow_down),
        Value::Array(items) => items.iter_mut().for_each(slow_down),
        Value::String(text) => {
            let Some((number, unit)) = text.split_once(' ') else {
                return;
            };
            let Ok(number) = number.parse::<f64>() else {
                return;
            };
            let factor = match unit {
                "ns" | "us" | "ms" | "s" | "min" | "h" => 2.0,
                "kB/s" | "MB/s" | "GB/s" => 0.5,
                _ => return,
            };
            *text = format!("{} {unit}", number * factor);
        }
        _ => {}
    }
}

/// Judges a case by one in which everything takes twice as long.
pub fn twice_the_times_are_twice_as_long(case: &Case) -> Verdict {
    let change = |case: &mut Case| {
        slow_down(&mut case.spec);
        for file in case.files.values_mut() {
            let rows = file["rows"].as_array_mut().into_iter().flatten();
            for row in rows {
                row[0] = (2 * row[0].as_u64().expect("a time")).into();
            }
        }
    };
    judge_changed(case, change, |one, other| {
        let holds = |one: super::Time, other: super::Time| other.ns() == 2 * one.ns();
        each_as(one, other, holds, "twice as long")
    })
}
