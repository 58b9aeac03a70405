//! Controllers of a few devices of any kind, with caches of so few lines that they are soon full, or with a cache device, or without.

use serde_json::{Value, json};

use super::{Kind, device, judge, report};
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::schema::Hint;

/// One or more devices behind a controller.
pub const KIND: Kind = Kind {
    name: "controller",
    weight: 2,
    is_branch: true,
    draw,
    hint,
    judge: check,
};

/// The fewest blocks that a load goes to, if the devices have them: its requests fit.
const LEAST_BLOCKS: u64 = 2048;

fn draw(draw: &mut Draw<'_>, depth: u32) -> (Value, u64) {
    let count = draw.scaled(1..=3);
    let (mut devices, mut blocks, mut capacity) = (Vec::new(), 0, 0);
    for _ in 0..count {
        let (one, of_one) = device(draw, depth - 1);
        devices.push(one);
        blocks += of_one;
        capacity += draw.capacity;
    }
    let mut controller = json!({ "device": devices });
    if draw.chance(0.4) {
        controller["queue"] = draw.scaled(1..=8).into();
    }
    if draw.chance(0.3) {
        controller["message"] = draw.time(1, 2_000);
        controller["one_message"] = draw.chance(0.5).into();
    }
    if draw.chance(0.3) {
        controller["block"] = draw.time(1, 200);
    }
    if draw.chance(0.3) {
        controller["max_request"] = size(draw.scaled(32..=600));
    }
    if draw.chance(0.5) {
        let schedulers = ["fcfs", "sstf", "look", "c-look", "deadline"];
        controller["scheduler"] = (*draw.pick(&schedulers)).into();
    }
    if draw.chance(0.5) {
        controller["outstanding"] = draw.scaled(1..=8).into();
    }
    if draw.chance(0.4) {
        controller["join"] =
            json!({ "most": size(draw.scaled(1..=400)), "reads": draw.chance(0.7) });
    }
    let mut region = blocks;
    match draw.within(0..=5) {
        0..=2 => {
            let (memory, held) = memory(draw);
            controller["memory"] = memory;
            region = (held * draw.scaled(1..=20)).max(LEAST_BLOCKS);
        }
        3 | 4 => {
            let (cache, held) = device(draw, depth - 1);
            let used = draw.scaled(1..=held.min(blocks));
            controller["cache"] = json!({ "device": cache, "size": size(used) });
            for (key, definition) in [("writes", "ControllerWrites"), ("idle_flush", "Time")] {
                if draw.chance(0.7) {
                    controller["cache"][key] = draw.named(definition);
                }
            }
            region = (used * draw.scaled(1..=4)).max(LEAST_BLOCKS);
        }
        _ => {}
    }
    draw.capacity = capacity;
    let region = if draw.chance(0.8) { region } else { blocks };
    (controller, region.min(blocks))
}

/// A memory cache, and how many blocks it holds.
fn memory(draw: &mut Draw<'_>) -> (Value, u64) {
    let grain = *draw.pick(&[1, 1, 2, 3, 8]);
    let line = grain * draw.scaled(4..=32);
    let lines = draw.scaled(1..=40);
    let mut memory = json!({ "size": size(lines * line), "line": size(line) });
    if draw.chance(0.5) || grain > 1 {
        memory["grain"] = size(grain);
    }
    for (key, definition) in [
        ("policy", "Replacement"),
        ("victims", "ControllerVictims"),
        ("writes", "ControllerWrites"),
        ("read_prefetch", "ControllerPrefetch"),
        ("write_prefetch", "ControllerPrefetch"),
        ("idle_flush", "Time"),
    ] {
        if draw.chance(0.6) {
            memory[key] = draw.named(definition);
        }
    }
    for key in ["shared_reads", "line_by_line"] {
        if draw.chance(0.5) {
            memory[key] = draw.chance(0.5).into();
        }
    }
    for key in ["gather", "cluster"] {
        if draw.chance(0.5) {
            memory[key] = draw.scaled(1..=10).into();
        }
    }
    if draw.chance(0.4) {
        memory["lock"] = size(draw.scaled(1..=3 * line));
    }
    if draw.chance(0.3) {
        memory["flush_period"] = draw.time(1_000, 2_000_000);
    }
    (memory, lines * line)
}

fn hint(_draw: &mut Draw<'_>, _owner: &str, _key: &str) -> Hint {
    Hint::Schema
}

/// No more is counted than came, and the devices are right themselves.
fn check(result: &Value, path: &str, spec: &Value) -> Result<(), String> {
    let told = report(result, path)?;
    for (part, whole) in [
        ("reads", "requests"),
        ("writes", "requests"),
        ("read_hits", "reads"),
        ("write_hits", "writes"),
    ] {
        let count = |key: &str| told[key].as_u64();
        if spec.get("memory").is_some() && count(part) > count(whole) {
            return Err(format!(
                "{path}: {part} is {}, {whole} {}",
                told[part], told[whole]
            ));
        }
    }
    for (index, device) in spec["device"].as_array().into_iter().flatten().enumerate() {
        judge(result, &format!("{path}.device[{index}]."), device)?;
    }
    match spec.get("cache").filter(|cache| cache.is_object()) {
        Some(cache) => judge(result, &format!("{path}.cache.device."), &cache["device"]),
        None => Ok(()),
    }
}
