//! Power cuts at random instants of SSDs: geometries, policies, loads and trims at random, some blocks worn out in the run. What was promised
//! must be on flash afterwards, found by the spare areas of pages alone, or saved by a capacitor.

use super::case::Case;
use super::cuts::{Sight, check_cuts, cut_somewhere};
use super::devices;
use super::draw::Draw;
use super::schema::Definitions;

/// The case of a number.
pub fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (mut device, blocks) = devices::an_ssd(&mut draw);
    // Blocks of some drives wear out.
    if number.is_multiple_of(4) {
        let endurance = draw.within(1..=8);
        let wear = serde_json::json!({ "levelling": draw.chance(0.5), "endurance": endurance });
        let ssd = device["ssd"].as_object_mut().expect("a table");
        ssd.insert("wear".to_owned(), wear);
        // Not before the run, though.
        ssd.remove("initial");
    }
    // And often fail of others.
    if let Some(failures) = device.pointer_mut("/ssd/failures") {
        for key in ["program", "erase"] {
            if let Some(rate) = failures.get_mut(key) {
                rate["worn"] = format!("{} %", draw.share(0.0, 8.0)).into();
                rate["erases"] = draw.within(1..=3).into();
            }
        }
    }
    cut_somewhere(draw, device, blocks)
}

/// The case of a number, of a drive with a cached map: the first one that is drawn, with room for a few map units.
pub fn mapped(definitions: &Definitions, number: u64) -> Case {
    let mut drawn = (0..).map(|at| Draw::new(definitions, number * 1000 + at));
    let (mut draw, mut device, blocks) = drawn
        .find_map(|mut draw| {
            let (device, blocks) = devices::an_ssd(&mut draw);
            let is_mapped = device.pointer("/ssd/mapping/cache").is_some();
            is_mapped.then_some((draw, device, blocks))
        })
        .expect("one has it");
    let ssd = &mut device["ssd"];
    let unit = ssd["flash"]["unit"]
        .as_str()
        .and_then(|unit| unit.split(' ').next());
    let unit: u64 = unit.and_then(|unit| unit.parse().ok()).expect("blocks");
    ssd["mapping"]["cache"] = format!("{} blocks", unit * draw.within(1..=3)).into();
    cut_somewhere(draw, device, blocks)
}

/// The case of a number, of a drive with a map of blocks: the first one that is drawn.
pub fn logged(definitions: &Definitions, number: u64) -> Case {
    let mut drawn = (0..).map(|at| Draw::new(definitions, number * 1000 + at));
    let (draw, device, blocks) = drawn
        .find_map(|mut draw| {
            let (device, blocks) = devices::an_ssd(&mut draw);
            let is_logged = device.pointer("/ssd/mapping/log_blocks").is_some();
            is_logged.then_some((draw, device, blocks))
        })
        .expect("one has it");
    cut_somewhere(draw, device, blocks)
}

/// The case of a number, of a drive with parity over its dies.
pub fn striped(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (mut device, _) = devices::an_ssd(&mut draw);
    let blocks = devices::with_parity(&mut draw, &mut device["ssd"]);
    // Superblocks of some drives wear out, though not before the run.
    if number.is_multiple_of(4) {
        let ssd = device["ssd"].as_object_mut().expect("a table");
        let wear = serde_json::json!({ "endurance": draw.within(1..=2) });
        ssd.insert("wear".to_owned(), wear);
        ssd.remove("initial");
    }
    cut_somewhere(draw, device, blocks)
}

/// What their runs have.
const SIGHTS: [Sight; 10] = [
    ("/requests/failed", 0.2, "with requests under way"),
    (
        "/devices/ssd/dirty_units_at_end",
        0.1,
        "with something in the controller",
    ),
    ("/devices/ssd/moved_pages", 0.1, "with moved pages"),
    ("/devices/ssd/map_pages", 0.01, "with checkpoints"),
    ("/devices/ssd/slc/folded_pages", 0.01, "with folded pages"),
    (
        "/devices/ssd/mapping/written_units",
        0.01,
        "with written map units",
    ),
    (
        "/devices/ssd/suspensions/programs",
        0.01,
        "with suspended programs",
    ),
    ("/devices/ssd/read_only_since_s", 0.001, "read-only"),
    (
        "/devices/ssd/failures/programs",
        0.02,
        "with failed programs",
    ),
    (
        "/devices/ssd/failures/retired_blocks",
        0.02,
        "with retired blocks",
    ),
];

#[test]
fn random_power_cuts_of_ssds_lose_nothing_that_was_promised() {
    check_cuts(0..300, case, &SIGHTS);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_power_cuts_of_ssds_lose_nothing_that_was_promised() {
    check_cuts(300..10_300, case, &SIGHTS);
}

/// However full they are: cleaning that changes the map ends, and what was promised is found.
#[test]
fn cached_maps_run_to_their_ends_and_lose_nothing() {
    const SIGHTS: [Sight; 2] = [
        (
            "/devices/ssd/mapping/written_units",
            0.2,
            "with written map units",
        ),
        ("/devices/ssd/moved_pages", 0.1, "with moved pages"),
    ];
    check_cuts(0..300, mapped, &SIGHTS);
}

/// Maps of blocks: data, log blocks and what is being merged are found.
#[test]
fn maps_of_blocks_lose_nothing_that_was_promised() {
    const SIGHTS: [Sight; 4] = [
        (
            "/devices/ssd/mapping/merges/switch",
            0.02,
            "with switch merges",
        ),
        (
            "/devices/ssd/mapping/merges/partial",
            0.05,
            "with partial merges",
        ),
        ("/devices/ssd/mapping/merges/full", 0.05, "with full merges"),
        ("/requests/failed", 0.1, "with requests under way"),
    ];
    check_cuts(0..60, logged, &SIGHTS);
}

/// What runs of drives with parity have.
const WITH_PARITY: [Sight; 6] = [
    ("/requests/failed", 0.2, "with requests under way"),
    ("/devices/ssd/parity/pages", 0.5, "with parity"),
    ("/devices/ssd/moved_pages", 0.1, "with moved pages"),
    ("/devices/ssd/map_pages", 0.01, "with checkpoints"),
    (
        "/devices/ssd/suspensions/programs",
        0.01,
        "with suspended programs",
    ),
    ("/devices/ssd/read_only_since_s", 0.001, "read-only"),
];

/// Superblocks: what is in open ones, in those that are being moved and in those that are being erased is found.
#[test]
fn drives_with_parity_lose_nothing_that_was_promised() {
    check_cuts(0..600, striped, &WITH_PARITY);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_drives_with_parity_lose_nothing_that_was_promised() {
    check_cuts(600..10_600, striped, &WITH_PARITY);
}
