//! Cache tiers of any two devices, of which some fail or have blocks that cannot be read; and power cuts at random instants of others, under
//! every write policy: what was promised must be there afterwards, and nothing stale may have been read before.

use serde_json::{Map, Value, json};

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
pub fn case(definitions: &Definitions, number: u64) -> Case {
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
    let tier = device["tier"].as_object_mut().expect("a table");
    keep_metadata(tier, number / POLICIES.len() as u64);
    cut_somewhere(draw, device, blocks)
}

/// The same of a tier whose cache is an SSD that wears out soon. Every write policy comes up, most cases are of write-back.
pub fn worn(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (mut device, blocks) = loop {
        draw.case = Case::default();
        let (device, blocks) = devices::a_tier(&mut draw);
        if device["tier"]["cache"].get("ssd").is_some() {
            break (device, blocks);
        }
    };
    let tier = device["tier"].as_object_mut().expect("a table");
    let policy = match number % 8 {
        7 => POLICIES[(number / 8 % POLICIES.len() as u64) as usize],
        _ => "write-back",
    };
    tier.insert("write_policy".to_owned(), json!(policy));
    tier.remove("initial");
    keep_metadata(tier, number / 8);
    // Of so little flash that a few hundred writes wear it out, but not before the run.
    let ssd = tier["cache"]["ssd"].as_object_mut().expect("a table");
    let (of_flash, pages) = (draw.within(16..=24), draw.within(8..=12));
    let reserved = u64::from(ssd.contains_key("recovery"));
    let flash = json!({
        "channels": 1, "packages": 1, "dies": 1, "planes": 1,
        "blocks": of_flash, "pages": pages, "page": "8 blocks", "unit": "8 blocks",
    });
    ssd.insert("flash".to_owned(), flash);
    // These fit another flash.
    ssd.remove("slc");
    ssd.remove("failures");
    ssd.remove("mapping");
    let size = ssd
        .get_mut("buffer")
        .and_then(|buffer| buffer.get_mut("size"));
    if let Some(size) = size
        && let Some(blocks) = size.as_str().and_then(|size| size.strip_suffix(" blocks"))
        && let Ok(blocks) = blocks.parse::<u64>()
    {
        *size = json!(format!("{} blocks", blocks.next_multiple_of(8)));
    }
    let spare = json!({ "share": "45 %", "reserved": reserved });
    ssd.insert("spare".to_owned(), spare);
    let wear = json!({ "levelling": draw.chance(0.5), "endurance": draw.scaled(1..=3) });
    ssd.insert("wear".to_owned(), wear);
    ssd.insert("initial".to_owned(), json!({ "fill": "0 %" }));
    // A superblock and the table take up to 4 pages. The backing device may be smaller.
    let lines = draw.scaled(1..=(of_flash * pages / 2 - 4).min(blocks / 8));
    tier.insert("line".to_owned(), json!("8 blocks"));
    tier.insert("size".to_owned(), json!(format!("{} blocks", 8 * lines)));
    tier.remove("event");
    // A small drive that never has the 10 free blocks of a plane which this one cleans for is busy for hours.
    if tier["backing"]["ssd"]["drive"] == "mqsim-clean" {
        tier["backing"]["ssd"]["drive"] = json!("slc-classic");
    }
    cut_somewhere(draw, device, blocks)
}

/// Most tiers keep metadata, under either rule and with intervals that runs reach.
fn keep_metadata(tier: &mut Map<String, Value>, number: u64) {
    let metadata = match number % 4 {
        0 => json!("none"),
        1 => json!({ "on-cache": { "commit": "writes" } }),
        2 => json!({ "on-cache": { "commit": "flushes", "interval": "30 ms" } }),
        _ => return drop(tier.remove("metadata")),
    };
    tier.insert("metadata".to_owned(), metadata);
}

/// A tier that something goes wrong in, once or twice.
pub fn with_faults(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (device, blocks) = devices::a_tier(&mut draw);
    let mut spec = load::spec_of(&mut draw, device, blocks);
    let faults = (0..draw.within(1..=2)).map(|_| super::load::fault(&mut draw));
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

/// What the runs have whose cache device wears out.
const WORN_SIGHTS: [Sight; 4] = [
    (
        "/devices/tier/failed_cache_writes",
        0.02,
        "with a cache device that took no more writes",
    ),
    (
        "/devices/tier/write_backs/retirement",
        0.005,
        "with dirty blocks that were written back for that",
    ),
    (
        "/devices/tier/retirement_s",
        0.005,
        "after the table was retired",
    ),
    ("/devices/tier/recovery/s", 0.3, "and recovered"),
];

#[test]
fn power_cuts_of_tiers_whose_caches_wear_out_lose_nothing_that_was_promised() {
    check_cuts(0..200, worn, &WORN_SIGHTS);
}

#[test]
#[ignore = "takes minutes"]
fn five_thousand_power_cuts_of_tiers_whose_caches_wear_out_lose_nothing_that_was_promised() {
    check_cuts(200..5200, worn, &WORN_SIGHTS);
}
