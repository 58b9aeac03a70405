//! Arrays of anything.

use serde_json::{Value, json};

use super::{Kind, device, judge, report};
use crate::whole_specs::draw::Draw;
use crate::whole_specs::schema::Hint;

/// Several devices as one.
pub const KIND: Kind = Kind {
    name: "array",
    weight: 2,
    is_branch: true,
    draw,
    hint,
    judge: check,
};

fn draw(draw: &mut Draw<'_>, depth: u32) -> (Value, u64) {
    let layout = draw.named("ArrayLayout");
    let spindles = draw.named("SpindlesSpec");
    let above = draw.rotation.clone();
    if above.is_none() && spindles.to_string().contains("synchronised") {
        draw.rotation = Some("7200 rpm".to_owned());
    }
    let count = draw.within(1..=3);
    let (members, blocks): (Vec<Value>, Vec<u64>) =
        (0..count).map(|_| device(draw, depth - 1)).unzip();
    draw.rotation = above;
    let least = *blocks.iter().min().expect("one member or more");
    let total = match layout.to_string() {
        text if text.contains("mirror") || text.contains("raid-1") => least,
        text if text.contains("concat") => blocks.iter().sum(),
        // Of each member whole units.
        _ => count * least.saturating_sub(LARGEST_UNIT).max(1),
    };
    (
        json!({ "layout": layout, "spindles": spindles, "member": members }),
        total,
    )
}

/// The largest unit of a stripe, in blocks.
const LARGEST_UNIT: u64 = 300;

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("FreeParams", "tolerance") => format!("{} %", draw.share(0.0, 5.0)).into(),
        _ => Hint::Schema,
    }
}

/// Every piece that it sends arrives, and the members are right themselves.
fn check(result: &Value, path: &str, spec: &Value) -> Result<(), String> {
    let sent = report(result, path)?["members"].clone();
    for (index, member) in spec["member"]
        .as_array()
        .ok_or("no members")?
        .iter()
        .enumerate()
    {
        let below = format!("{path}.member[{index}].");
        judge(result, &below, member)?;
        let (kind, inner) = member
            .as_object()
            .and_then(|entries| entries.iter().next())
            .ok_or("no kind")?;
        // A cache in front of a disk counts what came to it.
        let top = if kind == "hdd" && inner.get("cache").is_some() {
            format!("{below}{kind}.cache")
        } else {
            format!("{below}{kind}")
        };
        let (arrived, pieces) = (
            &report(result, &top)?["requests"],
            &sent[format!("member[{index}]")]["pieces"],
        );
        // Pieces may be on their way in the instant in which the warm-up ends.
        let spec = &result["spec"];
        let all_count = spec.get("fault").is_none()
            && spec["measure"].get("warmup").is_none()
            && !spec["workload"].to_string().contains("\"warmup\":");
        if arrived != pieces && all_count {
            return Err(format!(
                "{pieces} pieces were sent to {top}, {arrived} arrived"
            ));
        }
    }
    Ok(())
}
