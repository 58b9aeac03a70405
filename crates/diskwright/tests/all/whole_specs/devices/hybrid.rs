//! Hybrid drives of any two devices, and the flash-backed requests of hosts above them.

use serde_json::{Value, json};

use super::{Kind, device, judge, report};
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::schema::Hint;

/// A medium and an NV cache.
pub const KIND: Kind = Kind {
    name: "hybrid",
    weight: 2,
    is_branch: true,
    draw,
    hint,
    judge: check,
};

fn draw(draw: &mut Draw<'_>, depth: u32) -> (Value, u64) {
    let (media, blocks) = device(draw, depth - 1);
    let capacity = draw.capacity;
    let (nvcache, of_cache) = device(draw, depth - 1);
    let mut hybrid = json!({ "media": media, "nvcache": nvcache });
    if draw.chance(0.5) {
        hybrid["command"] = draw.time(0, 3_000);
    }
    if draw.chance(0.3) {
        hybrid["power_mode"] = json!(true);
        hybrid["high_power"] = draw.time(0, 3_000_000);
    }
    (draw.nv_cache, draw.capacity) = (of_cache, capacity);
    let region = blocks.min(draw.scaled(2_048..=100_000));
    (hybrid, if draw.chance(0.8) { region } else { blocks })
}

/// A host's flash-backed requests above a hybrid drive that was drawn last.
pub fn flash_backed(draw: &mut Draw<'_>, is_closed: bool) -> Value {
    let mut spec = draw.named("FlashBackedSpec");
    spec["fqueue"] = size(draw.scaled(1..=draw.nv_cache.min(3_000)));
    if is_closed && spec["next"] == "oracle" {
        spec["next"] = json!("never-redirect");
    }
    // Of some devices nothing is known.
    let mut flash = json!({ "write": draw.time(0, 20_000) });
    if draw.chance(0.5) {
        flash["rate"] = json!("9 MB/s");
    }
    spec["flash"] = flash;
    spec
}

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("HostSpec", "flash_backed") | ("FlashBackedSpec", "flash" | "fqueue") => Hint::Omit,
        ("FlashBackedSpec", "queue") => (*draw.pick(&["fcfs", "sstf", "c-look"])).into(),
        ("FlashBackedSpec", "high") => format!("{} %", draw.within(50..=100)).into(),
        ("FlashBackedSpec", "low") => format!("{} %", draw.within(0..=50)).into(),
        ("FlashBackedIdle", "delay") => draw.time(0, 200_000).into(),
        ("Learned", "memory") => draw.scaled(1..=1_000).into(),
        ("RedirectBySize", "most") => size(draw.scaled(0..=300)).into(),
        _ => Hint::Schema,
    }
}

/// Nothing is pinned beyond what there is room for, and the two devices are right themselves.
fn check(result: &Value, path: &str, spec: &Value) -> Result<(), String> {
    let told = report(result, path)?;
    let is_root = !path.contains('.');
    if let Some(scheduler) = result["devices"]
        .get("host.flash_backed")
        .filter(|_| is_root)
    {
        let may_fail = result["spec"].get("fault").is_some();
        scheduler_is_right(scheduler, told, may_fail)?;
    }
    for role in ["media", "nvcache"] {
        judge(result, &format!("{path}.{role}."), &spec[role])?;
    }
    Ok(())
}

fn scheduler_is_right(told: &Value, hybrid: &Value, may_fail: bool) -> Result<(), String> {
    let count = |key: &str| {
        told[key]
            .as_u64()
            .ok_or_else(|| format!("host.flash_backed: {key} is {}", told[key]))
    };
    for (part, whole) in [
        ("overwriting", "redirected"),
        ("fqueue_bytes_at_end", "fqueue_bytes_max"),
        ("fqueue_bytes_max", "fqueue_bytes"),
    ] {
        if count(part)? > count(whole)? {
            return Err(format!(
                "host.flash_backed: {part} is {}, {whole} {}",
                told[part], told[whole]
            ));
        }
    }
    // Unless something has failed, the NV cache holds what memory does.
    let pinned = hybrid["pinned_blocks"].as_u64().unwrap_or(u64::MAX);
    if !may_fail && pinned * 512 != count("fqueue_bytes_at_end")? {
        return Err(format!(
            "{pinned} blocks are pinned, {} bytes in memory",
            count("fqueue_bytes_at_end")?
        ));
    }
    Ok(())
}
