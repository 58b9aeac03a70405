//! Cache tiers of any two devices, of which some fail or have blocks that cannot be read; and power cuts at random instants of others, under
//! every write policy: what was promised must be there afterwards, and nothing stale may have been read before.

use serde_json::json;

use super::case::Case;
use super::cuts::{Sight, check_cuts, cut_somewhere};
use super::draw::Draw;
use super::judge::judge;
use super::schema::Definitions;
use super::{check_cases, devices, load};

/// The write policies; every second case is of write-back.
const POLICIES: [&str; 8] = [
    "write-back",
    "write-through",
    "write-back",
    "write-around",
    "write-back",
    "read-only",
    "write-back",
    "pass-through",
];

/// The case of a number.
fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (mut device, blocks) = devices::a_tier(&mut draw);
    let policy = POLICIES[(number % POLICIES.len() as u64) as usize];
    device["tier"]["write_policy"] = json!(policy);
    match number % 5 {
        0 if policy == "write-back" => {
            device["tier"]["initial"] = json!({ "rank": { "fill": "90 %", "dirty": "50 %" } });
        }
        1 => device["tier"]["initial"] = json!({ "requests": 200 }),
        _ => drop(
            device["tier"]
                .as_object_mut()
                .expect("a table")
                .remove("initial"),
        ),
    }
    // Most keep metadata, under either rule and with intervals that runs reach.
    let tier = &mut device["tier"];
    match number / POLICIES.len() as u64 % 4 {
        0 => tier["metadata"] = json!("none"),
        1 => tier["metadata"] = json!({ "on-cache": { "commit": "writes" } }),
        2 => tier["metadata"] = json!({ "on-cache": { "commit": "flushes", "interval": "30 ms" } }),
        _ => drop(tier.as_object_mut().expect("a table").remove("metadata")),
    }
    cut_somewhere(draw, device, blocks)
}

/// A tier that something goes wrong in, once or twice.
fn with_faults(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (device, blocks) = devices::a_tier(&mut draw);
    let mut spec = load::spec_of(&mut draw, device, blocks);
    let faults = (0..draw.within(1..=2)).map(|_| draw.named("FaultSpec"));
    spec["fault"] = faults.collect::<Vec<_>>().into();
    Case { spec, ..draw.case }
}

#[test]
fn tiers_go_on_when_something_goes_wrong() {
    check_cases(0..150, with_faults, judge);
}

#[test]
#[ignore = "takes minutes"]
fn two_thousand_tiers_go_on_when_something_goes_wrong() {
    check_cases(150..2150, with_faults, judge);
}

/// What the runs that are cut have.
const SIGHTS: [Sight; 8] = [
    ("/requests/failed", 0.2, "with requests under way"),
    (
        "/devices/tier/dirty_blocks_at_end",
        0.1,
        "with dirty blocks",
    ),
    (
        "/devices/tier/write_backs/victims",
        0.05,
        "with dirty victims",
    ),
    (
        "/devices/tier/waited_for_place",
        0.03,
        "with writes that waited for a place",
    ),
    ("/devices/tier/promotions", 0.2, "with promotions"),
    (
        "/devices/tier/metadata_commits",
        0.1,
        "with commits of metadata",
    ),
    (
        "/devices/tier/waited_for_metadata",
        0.05,
        "with writes that waited for metadata",
    ),
    ("/devices/tier/recovery/s", 0.5, "and recovered"),
];

#[test]
fn random_power_cuts_of_tiers_lose_nothing_that_was_promised() {
    check_cuts(0..400, case, &SIGHTS);
}

#[test]
#[ignore = "takes minutes"]
fn two_thousand_power_cuts_of_tiers_lose_nothing_that_was_promised() {
    check_cuts(10_400..12_400, case, &SIGHTS);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_power_cuts_of_tiers_lose_nothing_that_was_promised() {
    check_cuts(400..10_400, case, &SIGHTS);
}
