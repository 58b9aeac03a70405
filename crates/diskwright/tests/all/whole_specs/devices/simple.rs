//! Devices of constant times.

use serde_json::Value;

use super::{Kind, never_overbusy};
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::schema::Hint;

/// A device of constant times.
pub const KIND: Kind = Kind {
    name: "simple",
    weight: 1,
    is_branch: false,
    draw,
    hint,
    judge: never_overbusy,
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
