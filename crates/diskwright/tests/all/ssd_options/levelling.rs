//! Static wear levelling: the spread of erases under a load of which nine tenths go to a tenth of the drive.

use serde_json::Value;

use super::Plane;

const PAGES: u64 = 16;
const BLOCKS: u64 = 48;

/// Writes of a drive that is full, nine of ten of them in a tenth of it.
fn worn(levelling: &str) -> Value {
    let plane = Plane {
        blocks: BLOCKS as u32,
        pages: PAGES as u32,
        spare: "20 %",
        more: &format!("[cleaning]\nbegin = 3\n{levelling}"),
    };
    let pages = BLOCKS * PAGES * 8 / 10;
    let mut at_random = 7_u64;
    let mut below = |most: u64| {
        at_random = at_random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (at_random >> 33) % most
    };
    let requests: Vec<_> = (0..30_000)
        .map(|number| {
            let page = match below(10) {
                0 => pages / 10 + below(pages - pages / 10),
                _ => below(pages / 10),
            };
            (number * 10_000_000, "write", page)
        })
        .collect();
    plane.times(&requests).1
}

/// The erases of a drive, and how far its blocks differ in them.
fn erases(ssd: &Value) -> (u64, u64) {
    let of = |key: &str| ssd["erases"][key].as_u64().expect("a count");
    (of("total"), of("max") - of("min"))
}

#[test]
fn blocks_differ_by_the_spread_and_not_much_more_at_the_cost_of_one_erase_in_so_many() {
    let (total, without) = erases(&worn(""));
    println!("without: {total} erases, {without} between the blocks");
    for (spread, every) in [(4, 8), (8, 8), (8, 20)] {
        let ssd = worn(&format!(
            "[wear.static]\nspread = {spread}\nevery = {every}"
        ));
        let (all, with) = erases(&ssd);
        let levelled = ssd["levelled_blocks"].as_u64().expect("a count");
        println!(
            "spread {spread}, every {every}: {all} erases, {levelled} of them for it, {with} between the blocks"
        );
        // While a block waits for its turn, others are erased.
        assert!(with <= spread + every, "{with}");
        assert!(with * 3 < without, "{with} with, {without} without");
        assert!(
            levelled > 0 && levelled * every <= all,
            "{levelled} of {all}"
        );
        // What it costs is what it moves, and what that leaves to clean.
        assert!(
            all < total + 2 * levelled,
            "{all} erases with, {total} without"
        );
    }
}

/// With a spread that no blocks have, nothing is moved and nothing differs.
#[test]
fn nothing_is_moved_up_to_the_spread() {
    let plain = worn("");
    let (total, spread) = erases(&plain);
    let never = worn(&format!("[wear.static]\nspread = {spread}\nevery = 2"));
    assert_eq!(never["levelled_blocks"], 0);
    assert_eq!(erases(&never), (total, spread));
    assert_eq!(never["moved_pages"], plain["moved_pages"]);
    let half = worn(&format!(
        "[wear.static]\nspread = {}\nevery = 2",
        spread / 2
    ));
    assert!(half["levelled_blocks"].as_u64() > Some(0));
}
