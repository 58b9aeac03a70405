//! Power cuts at random instants of controllers with and without caches: what was promised must be there, and nothing stale may have been read
//! before. And controllers of which a device fails.

use serde_json::Value;

use super::case::Case;
use super::cuts::{Sight, check_cuts, cut_somewhere};
use super::draw::Draw;
use super::judge::judge;
use super::schema::Definitions;
use super::{check_cases, devices, load};
use crate::support::twins;

/// A controller; of three, two have a memory cache.
fn a_controller(draw: &mut Draw<'_>, number: u64) -> (Value, u64) {
    loop {
        draw.case = Case::default();
        let (device, blocks) = devices::a_controller(draw);
        if number.is_multiple_of(3) || device["controller"].get("memory").is_some() {
            return (device, blocks);
        }
    }
}

/// The case of a number.
pub fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (device, blocks) = a_controller(&mut draw, number);
    cut_somewhere(draw, device, blocks)
}

/// A controller that something goes wrong in.
pub fn with_faults(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (device, blocks) = a_controller(&mut draw, number);
    let mut spec = load::spec_of(&mut draw, device, blocks);
    let faults = (0..draw.within(1..=2)).map(|_| load::fault(&mut draw));
    spec["fault"] = faults.collect::<Vec<_>>().into();
    Case { spec, ..draw.case }
}

/// What the runs that are cut have.
const SIGHTS: [Sight; 5] = [
    ("/requests/failed", 0.2, "with requests under way"),
    (
        "/devices/controller/write_hits",
        0.15,
        "after writes to a cache",
    ),
    (
        "/devices/controller/dirty_blocks_at_end",
        0.1,
        "with dirty blocks",
    ),
    ("/devices/controller/write_backs", 0.1, "after write-backs"),
    (
        "/devices/controller/dirty_victims",
        0.03,
        "after dirty victims",
    ),
];

#[test]
fn random_power_cuts_of_controllers_lose_nothing_that_was_promised() {
    check_cuts(0..300, case, &SIGHTS);
}

/// All of them, or a part of them that DISKWRIGHT_SPECS names.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_power_cuts_of_controllers_lose_nothing_that_was_promised() {
    check_cuts(twins::chosen().unwrap_or(300..10_300), case, &SIGHTS);
}

#[test]
fn controllers_go_on_when_something_goes_wrong() {
    check_cases(0..150, with_faults, judge);
}

#[test]
#[ignore = "takes minutes"]
fn two_thousand_controllers_go_on_when_something_goes_wrong() {
    check_cases(150..2150, with_faults, judge);
}

#[test]
fn controllers_of_every_kind_are_drawn() {
    let definitions = Definitions::read();
    let all: Vec<Value> = (0..300)
        .map(|number| {
            a_controller(&mut Draw::new(&definitions, number), number).0["controller"].clone()
        })
        .collect();
    for (key, least) in [
        ("memory", 150),
        ("cache", 20),
        ("join", 60),
        ("message", 50),
    ] {
        let count = all.iter().filter(|spec| spec.get(key).is_some()).count();
        assert!(count >= least, "{count} with {key}");
    }
}
