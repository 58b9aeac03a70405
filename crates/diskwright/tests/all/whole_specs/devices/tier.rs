//! Cache tiers of any two devices, with caches of so few lines that they are soon full.

use serde_json::{Value, json};

use super::{Kind, device, judge, report};
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::schema::Hint;

/// A device as the cache of another one.
pub const KIND: Kind = Kind {
    name: "tier",
    weight: 2,
    is_branch: true,
    draw,
    hint,
    judge: check,
};

/// Sizes of lines, in blocks.
const LINES: [u64; 7] = [1, 3, 8, 8, 16, 64, 2048];

fn draw(draw: &mut Draw<'_>, depth: u32) -> (Value, u64) {
    let (cache, of_cache) = device(draw, depth - 1);
    let (backing, of_backing) = device(draw, depth - 1);
    // `draw.capacity` stays that of the backing device.
    let (mut tier, held) = keys(draw, of_cache.min(of_backing));
    (tier["cache"], tier["backing"]) = (cache, backing);
    // Most loads go to not much more than the cache holds.
    let region = (held * draw.scaled(1..=20)).max(LEAST_BLOCKS);
    let region = if draw.chance(0.8) { region } else { of_backing };
    (tier, region.min(of_backing))
}

/// The fewest blocks that a load goes to, if the device has them: its requests fit.
const LEAST_BLOCKS: u64 = 2048;

/// More blocks than the metadata of 200 lines take: each entry is below 600 bytes, and a superblock and an end stand beside them.
const TABLE_BLOCKS: u64 = 300;

/// What stands beside the two devices, of which the smaller one has at least `most` blocks, and how many the cache holds.
fn keys(draw: &mut Draw<'_>, most: u64) -> (Value, u64) {
    // Behind the lines there is room for metadata.
    let room = most.saturating_sub(TABLE_BLOCKS).max(1);
    let line = (*draw.pick(&LINES)).min(room);
    let lines = draw.scaled(1..=(room / line).min(200));
    let mut tier = json!({ "size": size(lines * line), "line": size(line) });
    for (key, definition) in [
        ("policy", "Replacement"),
        ("write_policy", "TierWritePolicy"),
        ("admission", "TierAdmission"),
        ("promotion", "TierPromotion"),
        ("cleaning", "TierCleaning"),
        ("metadata", "TierMetadata"),
        ("bypass", "BypassSpec"),
    ] {
        if draw.chance(0.7) {
            tier[key] = draw.named(definition);
        }
    }
    if draw.chance(0.25) {
        let events = (0..draw.within(1..=3)).map(|_| {
            let kind = match draw.within(0..=3) {
                0 => json!("remove"),
                1 => json!("attach"),
                _ => json!({ "resize": size(draw.scaled(1..=(room / line).min(200)) * line) }),
            };
            json!({ "at": draw.time(0, 2_000_000), "kind": kind })
        });
        tier["event"] = events.collect::<Vec<_>>().into();
    }
    if draw.chance(0.3) {
        // Dirty lines come with write-back only.
        let is_back = tier["write_policy"].to_string().contains("write-back");
        let dirty = if is_back { draw.scaled(0..=100) } else { 0 };
        let fill = draw.scaled(0..=100);
        let ranked = json!({ "fill": format!("{fill} %"), "dirty": format!("{dirty} %") });
        tier["initial"] = json!({ "rank": ranked });
    }
    // The low mark is below the high one.
    let rules = tier.get_mut("cleaning").and_then(Value::as_object_mut);
    let rules = rules.and_then(|cleaning| cleaning.values_mut().next());
    if let Some(rules) = rules.and_then(Value::as_object_mut)
        && rules.contains_key("high")
    {
        rules.insert("low".to_owned(), json!("0 %"));
    }
    (tier, lines * line)
}

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("OldestFirst", "low") => Hint::Omit,
        ("OldestFirst", "high") => format!("{} %", draw.scaled(0..=100)).into(),
        ("OldestFirst" | "AggressiveCleaning", "merge") => size(draw.scaled(1..=4000)).into(),
        ("OldestFirst", "idle") => draw.time(0, 100_000).into(),
        ("MetadataOnCache", "interval") => draw.time(0, 1_000_000).into(),
        ("OldestFirst" | "AggressiveCleaning", "pause") => draw.time(0, 20_000).into(),
        ("After", "accesses") => draw.scaled(1..=4).into(),
        ("After", "remembered") => draw.scaled(1..=300).into(),
        ("BypassSpec", "streams") => draw.scaled(1..=20).into(),
        ("BypassSpec", "sequential") => size(draw.scaled(0..=1000)).into(),
        _ => Hint::Schema,
    }
}

/// Nothing is counted twice, no more is held than there is place, and the two devices are right themselves.
fn check(result: &Value, path: &str, spec: &Value) -> Result<(), String> {
    let told = report(result, path)?;
    let count = |key: &str| {
        told[key]
            .as_u64()
            .ok_or_else(|| format!("{path}: {key} is {}", told[key]))
    };
    for (part, whole) in [
        ("read_hits", "reads"),
        ("write_hits", "writes"),
        ("read_hit_blocks", "read_blocks"),
        ("write_hit_blocks", "write_blocks"),
        ("lines_held", "lines"),
        ("dirty_blocks_at_end", "dirty_blocks_max"),
    ] {
        if count(part)? > count(whole)? {
            return Err(format!(
                "{path}: {part} is {}, {whole} {}",
                told[part], told[whole]
            ));
        }
    }
    let mean = told["dirty_blocks_mean"].as_f64().unwrap_or(f64::NAN);
    if !(0.0..=count("dirty_blocks_max")? as f64 + 1e-6).contains(&mean) {
        return Err(format!("{path}: {mean} dirty blocks on average"));
    }
    for role in ["cache", "backing"] {
        judge(result, &format!("{path}.{role}."), &spec[role])?;
    }
    Ok(())
}
