//! Devices of constant times.

use serde_json::Value;

use super::{Kind, report};
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::schema::Hint;

/// A device of constant times.
pub const KIND: Kind = Kind {
    name: "simple",
    weight: 1,
    is_branch: false,
    draw,
    hint,
    judge: check,
};

fn draw(draw: &mut Draw<'_>, _depth: u32) -> (Value, u64) {
    let blocks = draw.scaled(1_000..=100_000_000);
    let mut simple = draw.named("SimpleSpec");
    simple["capacity"] = size(blocks);
    (simple, blocks)
}

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("SimpleSpec", "parallel") => draw.scaled(1..=40).into(),
        _ => Hint::Schema,
    }
}

/// It is never busier than it can be.
fn check(result: &Value, path: &str, _spec: &Value) -> Result<(), String> {
    match report(result, path)?["utilisation"].as_f64() {
        Some(utilisation) if utilisation <= 1.0 + 1e-9 => Ok(()),
        other => Err(format!("{path}: a utilisation of {other:?}")),
    }
}
