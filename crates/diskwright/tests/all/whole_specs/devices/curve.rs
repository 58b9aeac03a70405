//! Devices of measured curves.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Kind, never_overbusy};
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::schema::Hint;

/// A device of a measured curve.
pub const KIND: Kind = Kind {
    name: "curve",
    weight: 1,
    is_branch: false,
    draw,
    hint,
    judge: never_overbusy,
};

fn draw(draw: &mut Draw<'_>, _depth: u32) -> (Value, u64) {
    let blocks = draw.scaled(1_000..=100_000_000);
    let mut curve = draw.named("CurveSpec");
    curve["capacity"] = size(blocks);
    (curve, blocks)
}

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        ("CurveSpec", "write") if draw.chance(0.5) => Hint::Omit,
        ("CurveSpec", "read" | "write") => {
            let text = table(draw);
            draw.case.add(".csv", json!({ "text": text })).into()
        }
        _ => Hint::Schema,
    }
}

/// A curve of a few points.
fn table(draw: &mut Draw<'_>) -> String {
    let mut text = "distance_blocks,mean_ms,low_ms,high_ms\n".to_owned();
    let mut distance = draw.scaled(0..=100);
    for _ in 0..draw.within(1..=6) {
        let low = draw.share(0.0, 10.0);
        let (mean, high) = (low + draw.share(0.0, 2.0), low + draw.share(2.0, 9.0));
        let _ = writeln!(text, "{distance},{mean},{low},{high}");
        distance += draw.scaled(1..=10_000_000);
    }
    text
}
