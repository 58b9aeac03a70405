//! Sizes and addresses that fit each other and the device.

use serde_json::{Value, json};

use super::hinted;
use crate::whole_specs::draw::{Draw, size};
use crate::whole_specs::schema::Hint;

/// Sizes: one, several with shares, exponential ones, or others for reads and writes. The largest is remembered.
pub fn sizes(draw: &mut Draw<'_>) -> Value {
    let most = (draw.region.1 / 8).clamp(1, 700);
    draw.largest = 1;
    let one = |draw: &mut Draw<'_>| {
        let blocks = if draw.chance(0.5) {
            8.min(most)
        } else {
            draw.scaled(1..=most)
        };
        draw.largest = draw.largest.max(blocks);
        size(blocks)
    };
    match draw.within(0..=6) {
        0 => json!([{ "size": one(draw), "share": 0.75 }, { "size": one(draw), "share": 0.25 }]),
        1 => json!({ "reads": one(draw), "writes": one(draw) }),
        2 => {
            json!({ "reads": one(draw), "writes": [{ "size": one(draw), "share": 0.5 }, { "size": one(draw), "share": 0.5 }], "trims": one(draw) })
        }
        3 => {
            let multiple = one(draw);
            let most = draw.largest * (most / draw.largest).clamp(1, 5);
            let mean = draw.scaled(1..=most);
            draw.largest = most;
            json!({ "exponential": size(mean), "multiple": multiple, "most": size(most) })
        }
        _ => one(draw),
    }
}

/// Where requests go.
pub fn address(draw: &mut Draw<'_>) -> Value {
    let whole = draw.region;
    loop {
        choose_region(draw);
        let definitions = draw.definitions;
        let drawn = draw.by(definitions.get("AddressSpec"), "AddressSpec");
        draw.region = whole;
        // A bare name stands for the defaults, which need room; of zones there are none by default.
        let needs_room = drawn == "streams" || drawn == "strided-zones";
        if !(drawn == "zones" || needs_room && whole.1 < LEAST_BY_DEFAULT) {
            return drawn;
        }
    }
}

/// Blocks that the defaults of every pattern fit into.
const LEAST_BY_DEFAULT: u64 = 8_192;

/// The part of the device that a pattern goes to: small, so that requests meet, or large.
fn choose_region(draw: &mut Draw<'_>) {
    let blocks = draw.region.1;
    let least = (4 * draw.largest).min(blocks);
    let length = match draw.within(0..=2) {
        0 => draw.scaled(least..=blocks.min(least.max(900))),
        1 => draw.scaled(least..=blocks),
        _ => blocks,
    };
    let from = draw.within(0..=blocks - length);
    draw.region = (from, length);
}

/// What is known of the keys of patterns beyond their schemas.
pub fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    let (from, length) = draw.region;
    let is_pattern = [
        "Uniform",
        "Sequential",
        "Zipf",
        "Fio",
        "HotCold",
        "Zones",
        "Streams",
        "Strided",
        "Local",
        "Growing",
        "PartlyRandom",
    ]
    .iter()
    .any(|name| owner.starts_with(name) && owner.ends_with("Params"));
    if !is_pattern {
        return Hint::Schema;
    }
    match (owner, key) {
        ("GrowingParams", "blocks") => (2 * draw.largest).min(length).max(length / 3).into(),
        (_, "from") => from.into(),
        (_, "blocks") => length.into(),
        // Multiples of the size, or anywhere.
        (_, "align") if draw.chance(0.3) => hinted(*draw.pick(&[1, 1, 2, 8])),
        (_, "align") => Hint::Omit,
        (_, "theta") => draw.share(0.0, 1.9).into(),
        ("FioParetoParams", "h") => draw.share(0.05, 0.95).into(),
        ("FioNormalParams", "deviation") => draw.share(0.0, 60.0).into(),
        ("ZonesParams", "zones") => {
            json!([{ "share": "70 %", "size": "50 %" }, { "share": "30 %", "size": "50 %" }]).into()
        }
        ("StreamsParams", "count") => draw.within(1..=6).into(),
        ("StreamsParams", "run") => {
            let largest = draw.largest;
            hinted(draw.scaled(largest..=length.max(largest)))
        }
        ("StridedZonesParams", "zone") => {
            let largest = draw.largest;
            hinted(draw.scaled(largest..=length.max(largest)))
        }
        ("StridedZonesParams", "transfer" | "skip") => hinted(draw.scaled(1..=length)),
        ("StridedParams", "stride") => hinted(draw.scaled(1..=length)),
        ("StridedParams", "shift") => Hint::Omit,
        ("LocalParams", "distance") => hinted(draw.scaled(1..=length)),
        _ => Hint::Schema,
    }
}
