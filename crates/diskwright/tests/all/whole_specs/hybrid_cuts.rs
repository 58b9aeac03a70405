//! Power cuts at random instants of hybrid drives under hosts with flash-backed requests: medium and NV cache together must hold what was promised,
//! and nothing stale may have been read before. And such drives of which a part fails.

use serde_json::json;

use super::case::Case;
use super::cuts::{Sight, check_cuts, cut_somewhere_with};
use super::draw::Draw;
use super::judge::judge;
use super::schema::Definitions;
use super::{check_cases, devices, load};
use crate::support::twins;

/// The case of a number.
pub fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (mut device, blocks) = devices::a_hybrid(&mut draw);
    // Of many the medium stops.
    if let Some(disk) = device["hybrid"]["media"].get_mut("hdd")
        && draw.chance(0.7)
    {
        disk["power"] = devices::power::power(&mut draw, &["standby_z"]);
    }
    cut_somewhere_with(draw, device, blocks, |draw, spec| {
        // Some hosts know nothing of the NV cache.
        if draw.chance(0.2) {
            let host = spec["host"].as_object_mut();
            host.map(|host| host.remove("flash_backed"));
            return;
        }
        spec["host"]["flash_backed"] = devices::flash_backed(draw, load::is_closed(spec));
        // The paper's order loses what it should lose.
        spec["host"]["flash_backed"]["order"] = json!("durable-first");
    })
}

/// A hybrid drive that something goes wrong in.
pub fn with_faults(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (device, blocks) = devices::a_hybrid(&mut draw);
    let mut spec = load::spec_of(&mut draw, device, blocks);
    spec["host"]["flash_backed"] = devices::flash_backed(&mut draw, load::is_closed(&spec));
    spec["host"]["flash_backed"]["order"] = json!("durable-first");
    let faults = (0..draw.within(1..=2)).map(|_| super::load::fault(&mut draw));
    spec["fault"] = faults.collect::<Vec<_>>().into();
    Case { spec, ..draw.case }
}

/// What the runs that are cut have.
const SIGHTS: [Sight; 8] = [
    ("/requests/failed", 0.2, "with requests under way"),
    (
        "/devices/host.flash_backed/fqueue_bytes_at_end",
        0.2,
        "with something in the FQueue",
    ),
    (
        "/devices/host.flash_backed/flushed_entries",
        0.2,
        "after flushes",
    ),
    (
        "/devices/host.flash_backed/coalesced",
        0.1,
        "after merged writes",
    ),
    (
        "/devices/host.flash_backed/overwriting",
        0.02,
        "after writes in the place of others",
    ),
    (
        "/devices/hybrid/unpinned_set/writes",
        0.1,
        "after writes that the unpinned set has taken",
    ),
    (
        "/devices/hybrid/unpinned_set/flushed_blocks",
        0.03,
        "after flushes of the unpinned set",
    ),
    (
        "/devices/hybrid.media.hdd/spin_ups",
        0.03,
        "after spin-ups of the medium",
    ),
];

#[test]
fn random_power_cuts_of_hybrid_drives_lose_nothing_that_was_promised() {
    check_cuts(0..300, case, &SIGHTS);
}

/// All of them, or a part of them that DISKWRIGHT_SPECS names.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_power_cuts_of_hybrid_drives_lose_nothing_that_was_promised() {
    check_cuts(twins::chosen().unwrap_or(300..10_300), case, &SIGHTS);
}

#[test]
fn hybrid_drives_go_on_when_something_goes_wrong() {
    check_cases(0..150, with_faults, judge);
}

#[test]
#[ignore = "takes minutes"]
fn two_thousand_hybrid_drives_go_on_when_something_goes_wrong() {
    check_cases(150..2150, with_faults, judge);
}
