//! What a tier takes of the memory, its SSD's tables included.

use diskwright::runs::simulation::RunOptions;
use serde_json::Value;

use crate::support::counting::most_held_during;
use crate::support::try_run_with;

/// The lines of 256 GiB in lines of 4 KiB.
const OF_256_GIB: u64 = 1 << 26;
/// The lines of the disk of 2 TiB.
const LINES_OF_DISK: u64 = 1 << 29;
/// What they may take.
const MOST_GIB: f64 = 6.0;

/// Policies that keep a list and a mark or two.
const POLICIES: [&str; 4] = ["lru", "fifo", "slru", "clock"];

/// A full cache of `lines` lines of 4 KiB on an SSD with pages of 16 KiB in units of 4 KiB and 8 % of spare, which is full, too; a
/// thousandth of the lines are dirty, which the table on the SSD names.
fn spec(lines: u64, policy: &str) -> String {
    let (units_of_blocks, room) = (2 * 96 * 4, lines + lines / 100 + 16);
    let blocks = (room as f64 / 0.92 / f64::from(units_of_blocks)).ceil();
    format!(
        "[workload.synthetic]\nrequests = 1000\nreads = 0.5\nsize = \"4 KiB\"\naddress = \"uniform\"\narrivals = {{ constant = \"20 ms\" }}\n\
         [measure]\nwarmup = 0\n[device.tier]\nsize = \"{} blocks\"\npolicy = \"{policy}\"\nwrite_policy = \"write-back\"\n\
         initial = {{ rank = {{ dirty = \"0.1 %\" }} }}\n[device.tier.backing.simple]\ncapacity = \"2 TiB\"\nread = \"8 ms\"\nwrite = \"8 ms\"\n\
         [device.tier.cache.ssd]\ndrive = \"samsung-850-pro\"\nspare = {{ share = \"8 %\", reserved = 1 }}\n\
         flash = {{ channels = 1, packages = 1, dies = 1, planes = 2, blocks = {blocks}, pages = 96, page = \"16 KiB\", unit = \"4 KiB\" }}\n",
        lines * 8
    )
}

/// The most bytes that a run ever holds.
fn bytes(lines: u64, policy: &str) -> f64 {
    let text = spec(lines, policy);
    let options = RunOptions::default();
    let (result, bytes) = most_held_during(|| try_run_with(&text, &options).expect("it runs"));
    let tier: &Value = &result["devices"]["tier"];
    assert_eq!(tier["lines_held"].as_u64(), Some(lines), "{tier}");
    // The cache is full, so every miss evicts; a uniform load hits the share of the disk that is in it.
    assert_eq!(tier["evictions"], tier["line_misses"], "{tier}");
    let missed = 1.0 - lines as f64 / LINES_OF_DISK as f64;
    let evictions = tier["evictions"].as_f64().expect("a count");
    assert!(evictions > 950.0 * missed, "{tier}");
    bytes as f64
}

/// The memory of further lines, from `lines` to twice as many. All tables have the same room at powers of two.
#[track_caller]
fn check(lines: u64, policies: &[&str]) {
    for policy in policies {
        let [small, large] = [lines, 2 * lines].map(|lines| bytes(lines, policy));
        let each = (large - small) / lines as f64;
        let gib = each * OF_256_GIB as f64 / f64::from(1 << 30);
        println!("{policy}: {each:.1} bytes a line: {gib:.2} GiB for 256 GiB");
        assert!(gib <= MOST_GIB, "{policy}: {gib} GiB");
    }
}

#[test]
fn a_cache_of_256_gib_takes_6_gib_with_the_tables_of_its_ssd() {
    check(1 << 16, &POLICIES);
}

#[test]
#[ignore = "takes minutes and 2 GB"]
fn sixteen_million_lines_take_as_much_each() {
    check(1 << 23, &POLICIES);
}

#[test]
#[ignore = "takes minutes and 6 GB"]
fn a_cache_of_256_gib_runs() {
    let gib = bytes(OF_256_GIB, "lru") / f64::from(1 << 30);
    println!("{gib:.2} GiB");
    assert!(gib <= MOST_GIB, "{gib}");
}

#[test]
fn policies_that_remember_more_say_what_they_need_before_the_run() {
    let options = RunOptions {
        memory: Some(8 << 30),
        ..RunOptions::default()
    };
    for policy in ["arc", "lirs", "2q", "w-tinylfu"] {
        let text = spec(OF_256_GIB, policy);
        let (of_tier, _) = text.split_once("[device.tier.cache").expect("it is there");
        let cache =
            "[device.tier.cache.simple]\ncapacity = \"1 TiB\"\nread = \"1 ms\"\nwrite = \"1 ms\"\n";
        let error = try_run_with(&format!("{of_tier}{cache}"), &options);
        let error = error.expect_err(policy).to_string();
        assert!(error.contains("may come to need"), "{policy}: {error}");
        assert!(error.contains("iB of memory"), "{policy}: {error}");
    }
}
