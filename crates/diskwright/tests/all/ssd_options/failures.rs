//! Programs and erases that fail: against closed forms, what they cost, and the end of the spare blocks.

use diskwright::base::random::Stream;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{PAGE, PROGRAM, Plane, READ, times_with};
use crate::support::try_run;

/// A page that is written, alone.
const WRITE: u64 = PAGE + PROGRAM;
/// The time from one write to the next, in which all that failed is put right.
const APART: u64 = 200_000_000;
/// Blocks and pages of the plane, and the pages that the host sees.
pub const BLOCKS: u32 = 16;
const PAGES: u32 = 8;
const SHARE: &str = "60 %";
const HOST_PAGES: u64 = 51;

/// A drive of one plane, with nothing on it.
pub fn drive(failures: &str) -> String {
    let more = format!("[cleaning]\nbegin = 2\n[initial]\nfill = '0 %'\n[failures]\n{failures}\n");
    let plane = Plane {
        blocks: BLOCKS,
        pages: PAGES,
        spare: SHARE,
        more: &more,
    };
    plane.text()
}

/// The same probability for new and for worn blocks, percent.
pub fn always(key: &str, percent: f64) -> String {
    format!("{key} = {{ new = '{percent} %', worn = '{percent} %', erases = 1 }}")
}

#[track_caller]
fn run(failures: &str, seed: u64, requests: &[(u64, &str, u64)]) -> (Vec<u64>, Value) {
    times_with(&drive(failures), &format!("seed = {seed}"), requests)
}

/// Whether the program of a page of a block that was never erased fails, by the definition.
pub fn fails(seed: u64, share: f64, block: u32, page: u32) -> bool {
    let words = [block, 0, page];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let key = Stream::new(seed, "ssd.failures").bits();
    ((xxh3_64_with_seed(&bytes, key) >> 11) as f64 / (1u64 << 53) as f64) < share
}

/// A page that is written alone takes so many programs as there are blocks whose first page fails, and one.
#[test]
fn a_page_is_written_again_until_it_is() {
    let mut most = 0;
    for seed in 0..40 {
        let again = (0..)
            .take_while(|&block| fails(seed, 0.3, block, 0))
            .count() as u64;
        // Six are more than the drive has spare blocks for.
        assert!(again < 6, "seed {seed}");
        let (times, result) = run(&always("program", 30.0), seed, &[(0, "write", 3)]);
        assert_eq!(times, [(again + 1) * WRITE], "seed {seed}");
        let ssd = &result["devices"]["ssd"];
        assert_eq!(ssd["failures"]["programs"], again);
        assert_eq!(ssd["host_pages"], 1);
        assert_eq!(ssd["flash_pages"], again + 1);
        assert_eq!(ssd["write_amplification"], json!((again + 1) as f64));
        most = most.max(again);
    }
    assert!(most >= 2, "{most}");
}

/// A seed, and the page of the first block that fails with it, while nothing else does that is written behind it: by the host in the second
/// block, by cleaning in the third one.
pub fn one_that_fails(share: f64, page: u32) -> u64 {
    let is_it = |&seed: &u64| {
        let first = (0..PAGES).find(|&page| fails(seed, share, 0, page));
        let others = [1, 2]
            .iter()
            .any(|&block| (0..PAGES).any(|page| fails(seed, share, block, page)));
        first == Some(page) && !others
    };
    (0..).find(is_it).expect("one of all")
}

#[test]
fn what_a_block_that_failed_holds_is_moved_and_the_block_is_retired() {
    for page in 0..PAGES {
        let seed = one_that_fails(0.05, page);
        let count = u64::from(page) + 1;
        let mut requests: Vec<_> = (0..count)
            .map(|number| (number * APART, "write", number))
            .collect();
        requests.extend((0..count).map(|number| ((count + number) * APART, "read", number)));
        let (times, result) = run(&always("program", 5.0), seed, &requests);
        let mut expected = vec![WRITE; count as usize];
        // The last one is written twice.
        expected[page as usize] = 2 * WRITE;
        expected.extend(vec![READ + PAGE; count as usize]);
        assert_eq!(times, expected, "page {page}");
        let ssd = &result["devices"]["ssd"];
        let failures =
            json!({ "programs": 1, "erases": 0, "retiring_blocks_at_end": 0, "retired_blocks": 1 });
        assert_eq!(ssd["failures"], failures);
        assert_eq!(ssd["moved_pages"], page);
        assert_eq!(ssd["flash_pages"], count + u64::from(page) + 1);
        assert_eq!(
            (&ssd["bad_blocks"], &ssd["erases"]["total"]),
            (&json!(1), &json!(0))
        );
        // The open blocks of the host and, where it moved something, of cleaning.
        let open = 1 + u32::from(page > 0);
        assert_eq!(ssd["free_blocks"], BLOCKS - 1 - open);
    }
}

/// The units that a plane with so many blocks may hold with a reserve of one block.
fn limit(usable: u32) -> u64 {
    let kept = 1 + 2 + 1;
    u64::from(usable - kept) * u64::from(PAGES - 1 + 1) - 1
}

/// Failures until the drive can only be read: one more than it has spare blocks.
fn failures_until_the_end() -> u64 {
    let left = (0..BLOCKS - 4).take_while(|&lost| limit(BLOCKS - lost) >= HOST_PAGES);
    left.count() as u64
}

#[test]
fn a_drive_without_spare_blocks_can_only_be_read() {
    let end = failures_until_the_end();
    assert_eq!(end, 6, "six blocks fewer hold too little");
    let requests = [
        (0, "write", 3),
        (APART, "write", 4),
        (APART, "trim", 5),
        (2 * APART, "read", 3),
    ];
    let (times, result) = run(&always("program", 100.0), 1, &requests);
    assert_eq!(times[..3], [end * WRITE, 0, 0]);
    let ssd = &result["devices"]["ssd"];
    assert_eq!(ssd["failures"]["programs"], end);
    let at = ssd["read_only_since_s"].as_f64().expect("it is");
    assert!((at - (end * WRITE) as f64 / 1e9).abs() < 1e-12, "{at}");
    assert_eq!(result["requests"]["failed"], 3);
    let warnings = result["warnings"].to_string();
    assert!(
        warnings.contains("there was no spare block left, with 6 blocks bad, failed or worn out"),
        "{warnings}"
    );
    // One failure less, and it is written.
    let rate = "program = { new = '100 %', worn = '0 %', erases = 1 }";
    let (_, worn) = run(rate, 1, &requests);
    assert_eq!(
        worn["devices"]["ssd"]["failures"]["programs"], end,
        "no block is erased"
    );
}

/// Every erase fails: blocks of which nothing is valid are lost one after another, and no data.
#[test]
fn blocks_whose_erase_fails_are_lost() {
    let end = failures_until_the_end();
    // All are written once, then one page over and over.
    let mut requests: Vec<_> = (0..HOST_PAGES)
        .map(|page| (page * 5_000_000, "write", page))
        .collect();
    let from = HOST_PAGES * 5_000_000;
    requests.extend((0..400).map(|number| (from + number * 5_000_000, "write", 7)));
    let after = from + 500 * 5_000_000;
    requests.extend((0..HOST_PAGES).map(|page| (after + page * 5_000_000, "read", page)));
    let (times, result) = run(&always("erase", 100.0), 1, &requests);
    let ssd = &result["devices"]["ssd"];
    assert_eq!(
        ssd["failures"],
        json!({ "programs": 0, "erases": end, "retiring_blocks_at_end": 0, "retired_blocks": end })
    );
    assert_eq!(
        (&ssd["erases"]["total"], &ssd["erases"]["max"]),
        (&json!(end), &json!(1))
    );
    assert!(ssd["read_only_since_s"].is_number());
    let reads = &times[times.len() - HOST_PAGES as usize..];
    assert!(reads.iter().all(|&time| time == READ + PAGE), "{reads:?}");
    // Half of them: the drive goes on, and erased blocks are written again.
    let (_, half) = run(&always("erase", 0.0), 1, &requests);
    assert!(half["devices"]["ssd"]["read_only_since_s"].is_null());
    assert!(half["devices"]["ssd"]["erases"]["total"].as_u64() > Some(end));
}

/// Many writes: failures within four standard deviations of what is expected, more of them where worn blocks fail oftener, and the same for the
/// same seed.
#[test]
fn as_many_programs_fail_as_are_to() {
    let text = |seed: u64, worn: f64| {
        format!(
            "seed = {seed}\n[workload.synthetic]\nrequests = 6_000\narrivals = {{ closed = {{ users = 8 }} }}\nreads = 0.0\nsize = '4 KiB'\n\
             [measure]\nwarmup = 0\n[device.ssd]\ndrive = 'mqsim-clean'\n\
             flash = {{ channels = 2, dies = 2, blocks = 64, pages = 16, page = '4 KiB' }}\nspare = {{ share = '60 %' }}\n\
             failures = {{ program = {{ new = '0.5 %', worn = '{worn} %', erases = 2 }}, reserve = 2 }}\n"
        )
    };
    let found = |seed, worn| {
        let result = try_run(&text(seed, worn)).expect("it runs");
        let ssd = result["devices"]["ssd"].clone();
        assert!(ssd["read_only_since_s"].is_null(), "{ssd}");
        let failed = ssd["failures"]["programs"].as_u64().expect("a count");
        let pages = ssd["flash_pages"].as_u64().expect("a count");
        (failed, pages, result["digest"].clone())
    };
    let (failed, pages, digest) = found(1, 0.5);
    let mean = pages as f64 * 0.005;
    println!("{failed} of {pages} programs failed");
    assert!(
        (failed as f64 - mean).abs() < 4.0 * libm::sqrt(mean),
        "{failed} for {mean}"
    );
    assert_eq!(found(1, 0.5).2, digest);
    assert_ne!(found(2, 0.5).2, digest);
    let (worn, pages, _) = found(1, 1.0);
    println!("{worn} of {pages} where worn blocks fail oftener");
    assert!(worn > failed + 3, "{worn}");
}

/// Failures of no probability, and no reserve for them, change nothing.
#[test]
fn without_failures_all_is_as_it_is_without_the_table() {
    let requests: Vec<_> = (0..600)
        .map(|number| (number * 700_000, "write", number * number % HOST_PAGES))
        .collect();
    let nothing = format!(
        "{}\n{}\nreserve = 0",
        always("program", 0.0),
        always("erase", 0.0)
    );
    let (times, with) = run(&nothing, 1, &requests);
    let without = drive("").replace("[failures]\n", "");
    let (same, plain) = times_with(&without, "", &requests);
    assert_eq!(times, same);
    let mut with = with["devices"]["ssd"].clone();
    assert!(with["erases"]["total"].as_u64() > Some(10));
    let failures = with
        .as_object_mut()
        .and_then(|ssd| ssd.shift_remove("failures"));
    assert_eq!(
        failures,
        Some(
            json!({ "programs": 0, "erases": 0, "retiring_blocks_at_end": 0, "retired_blocks": 0 })
        )
    );
    assert_eq!(with, plain["devices"]["ssd"]);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |failures: &str, more: &str, words: &str| {
        let text = format!(
            "[workload.synthetic]\nrequests = 1\narrivals = {{ closed = {{ users = 1 }} }}\n[device.ssd]\ndrive = 'mqsim-clean'\nfailures = {{ {failures} }}\n{more}"
        );
        let told = try_run(&text).expect_err("refused").to_string();
        assert!(told.contains(words), "{told}");
    };
    refused(
        "program = { worn = '1 %', erases = 0 }",
        "",
        "after 0 erases",
    );
    refused(
        "program = { worn = '101 %', erases = 9 }",
        "",
        "a percentage from 0 to 100",
    );
    refused("reserve = 9_000_000", "", "a reserve of 9000000 blocks");
    refused(
        &always("erase", 1.0),
        "mapping = { scheme = 'fast' }",
        "programs and erases that fail, and scheme",
    );
}
