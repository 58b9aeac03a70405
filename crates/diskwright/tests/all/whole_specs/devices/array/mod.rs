//! Arrays of anything.

use serde_json::{Value, json};

use super::{Counted, Kind, device, judge, report};
use crate::whole_specs::draw::{Draw, size};
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
    let mut layout = draw.named("ArrayLayout");
    let spindles = draw.named("SpindlesSpec");
    let above = draw.rotation.clone();
    if above.is_none() && spindles.to_string().contains("synchronised") {
        draw.rotation = Some("7200 rpm".to_owned());
    }
    // Members without which there is no such layout, and those that have no data of their own.
    let text = layout.to_string();
    let (least_members, of_parity) = match () {
        () if ["raid-4", "raid-5", "parity-striping"]
            .iter()
            .any(|name| text.contains(name)) =>
        {
            (2, 1)
        }
        () if text.contains("raid-6") => (3, 2),
        () => (1, 0),
    };
    let count = draw.within(least_members..=least_members.max(3) + u64::from(of_parity > 0));
    let (mut members, mut blocks, mut capacities) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let (member, of_member) = device(draw, depth - 1);
        members.push(member);
        blocks.push(of_member);
        capacities.push(draw.capacity);
    }
    draw.capacity = capacities.iter().sum();
    draw.rotation = above;
    if let Some(parameters) = layout.get_mut("raid-5") {
        fit_parity_unit(draw, parameters);
    }
    let mut copies = 1;
    if let Some(parameters) = layout.get_mut("raid-10") {
        copies = if draw.chance(0.5) { count } else { 1 };
        parameters["copies"] = copies.into();
    }
    let least = *blocks.iter().min().expect("one member or more");
    let total = match () {
        () if text.contains("mirror") || text.contains("raid-1\"") => least,
        () if text.contains("concat") => blocks.iter().sum(),
        // Of each member whole units.
        () => {
            let data = (count - of_parity) / copies;
            data * least.saturating_sub(LARGEST_UNIT).max(1)
        }
    };
    let has_redundancy = ["raid-", "mirror", "parity-"]
        .iter()
        .any(|name| text.contains(name))
        && !text.contains("raid-0");
    let mut array = json!({ "layout": layout, "spindles": spindles, "member": members });
    if has_redundancy && draw.chance(0.3) {
        array["scrub"] = draw.named("ScrubRules");
        let members = array["member"].to_string();
        let has_elevators = ["\"hdd\"", "\"scheduler\""].map(|key| members.contains(key));
        if has_elevators.contains(&true) {
            // Between its steps there must be time for the host's requests: on its way to the next step an elevator passes those that begin inside this one.
            array["scrub"]["rate"] = "0.1 MB/s".into();
        }
    }
    let rebuilt = capacities.iter().min().expect("one member or more");
    if has_redundancy && *rebuilt < LARGEST_REBUILT && draw.chance(0.5) {
        let largest = (0..capacities.len()).max_by_key(|&member| capacities[member]);
        array["spare"] = json!([array["member"][largest.expect("a member")]]);
        array["rebuild"] = draw.named("RebuildRules");
    }
    (array, total)
}

/// A unit of parity is some units.
fn fit_parity_unit(draw: &mut Draw<'_>, parameters: &mut Value) {
    let Some(unit) = parameters["unit"]
        .as_str()
        .and_then(|unit| unit.split(' ').next())
    else {
        return;
    };
    let unit: u64 = unit.parse().expect("blocks");
    if draw.chance(0.3) {
        parameters["parity_unit"] = size(unit * draw.within(1..=4));
    }
}

/// Members with more blocks have no spares: to rebuild them takes long.
const LARGEST_REBUILT: u64 = 100_000;

/// The largest unit of a stripe, in blocks.
const LARGEST_UNIT: u64 = 300;

fn hint(draw: &mut Draw<'_>, owner: &str, key: &str) -> Hint {
    match (owner, key) {
        // What the number of members, or the unit, lets them be.
        ("Raid10", "copies") | ("Raid5", "parity_unit") => Hint::Omit,
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
        let count = |value: &Value| value.as_u64().ok_or("no number of pieces");
        let arrived = count(&report(result, &top)?["requests"])?;
        let pieces = count(&sent[format!("member[{index}]")]["pieces"])?;
        if !Counted::of(result).agree(arrived, pieces) {
            return Err(format!(
                "{pieces} pieces were sent to {top}, {arrived} arrived"
            ));
        }
    }
    Ok(())
}
