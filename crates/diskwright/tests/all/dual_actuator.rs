//! A drive with two actuators, each with half of the surfaces and half of the LBNs: against its maker's figures, and against two drives
//! of half its size.

use std::fmt::Write as _;
use std::io::Write as _;

use diskwright::base::units::BLOCK_BYTES;
use diskwright::devices::drives;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::support::run;

/// Blocks of each half of the drive.
const HALF: u64 = 17_578_328_064;
const DUAL: &str = "[device.hdd]\ndrive = \"exos-2x18\"\nbuffer = false\n";

fn file(suffix: &str, text: &str) -> NamedTempFile {
    let file = tempfile::Builder::new().suffix(suffix).tempfile();
    let mut file = file.expect("a temporary file");
    file.write_all(text.as_bytes()).expect("written");
    file
}

fn path(file: &NamedTempFile) -> &str {
    file.path().to_str().expect("a plain path")
}

/// Requests of 4 KiB, 16 of them outstanding all the time, between two blocks of the address space.
fn random(device: &str, reads: f64, (from, to): (u64, u64)) -> Value {
    run(&format!(
        "[workload.synthetic]\nrequests = 40_000\narrivals = {{ closed = {{ users = 16 }} }}\nreads = {reads}\nsize = \"4 KiB\"\n\
         address = {{ uniform = {{ from = {from}, blocks = {} }} }}\n[measure]\nwarmup = \"5 %\"\n{device}",
        to - from
    ))
}

/// The queue of a drive.
fn queue(of: &str) -> String {
    format!("[{of}.queue]\ndepth = 16\nscheduler = \"satf\"\n")
}

/// Long reads, one after the other from each of these blocks on in turn, two outstanding at each.
fn streams(device: &str, starts: &[u64]) -> Value {
    const BLOCKS: u64 = 256 << 11;
    const READS: u64 = 16;
    let mut trace = String::new();
    for read in 0..READS {
        for start in starts {
            let lbn = start + read * BLOCKS;
            writeln!(trace, "0.0 0 {lbn} {BLOCKS} 1").expect("a string takes it");
        }
    }
    let trace = file(".ascii", &trace);
    let found = run(&format!(
        "[workload]\ntrace = \"{}\"\nformat = \"disksim-ascii\"\npace = \"closed\"\n[host]\noutstanding = {}\n[measure]\nwarmup = 0\n{device}",
        path(&trace),
        2 * starts.len()
    ));
    let blocks = READS * BLOCKS * starts.len() as u64;
    assert_eq!(found["requests"]["blocks"], blocks);
    found
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn mb_per_s(found: &Value) -> f64 {
    number(&found["requests"]["blocks"]) * BLOCK_BYTES as f64 / number(&found["simulated_s"]) / 1e6
}

fn accesses(found: &Value) -> [u64; 2] {
    let arms = &found["devices"]["hdd"]["arms"];
    [0, 1].map(|arm: usize| arms[arm]["accesses"].as_u64().expect("a count"))
}

#[track_caller]
fn near(found: f64, wanted: f64, tolerance: f64) {
    assert!(
        (found / wanted - 1.0).abs() < tolerance,
        "{found}, not {wanted} ± {} %",
        100.0 * tolerance
    );
}

/// The model has the maker's rate of random reads to 5 %, though nothing in it was fitted to that.
#[test]
fn random_reads_come_near_the_data_sheet() {
    let dual = DUAL.to_owned() + &queue("device.hdd");
    let found = random(&dual, 1.0, (0, 2 * HALF));
    near(number(&found["iops"]), 304.0, 0.05);
    // Half of the addresses have one actuator.
    for (arm, range) in [(0, (0, HALF)), (1, (HALF, 2 * HALF))] {
        let half = random(&dual, 1.0, range);
        assert_eq!(accesses(&half)[1 - arm], 0);
        assert!(accesses(&half)[arm] > 0);
        let ratio = number(&found["iops"]) / number(&half["iops"]);
        assert!((1.4..2.0).contains(&ratio), "{ratio}");
    }
}

/// Long reads in both halves have the maker's rate to 2 %, those in one half of it.
#[test]
fn streams_come_near_the_data_sheet() {
    near(mb_per_s(&streams(DUAL, &[0, HALF])), 554.0, 0.02);
    let [first, second] = [0, HALF].map(|start| mb_per_s(&streams(DUAL, &[start])));
    near(first, 277.0, 0.02);
    assert_eq!(first, second);
}

#[test]
fn a_request_over_the_middle_is_served_by_both() {
    let read = |lbn: u64, blocks: u64| {
        let trace = file(".ascii", &format!("0.0 0 {lbn} {blocks} 1\n"));
        accesses(&run(&format!(
            "[workload]\ntrace = \"{}\"\nformat = \"disksim-ascii\"\n[measure]\nwarmup = 0\n{DUAL}",
            path(&trace)
        )))
    };
    assert_eq!(read(HALF - 8, 8), [1, 0]);
    assert_eq!(read(HALF - 8, 16), [1, 1]);
    assert_eq!(read(HALF, 8), [0, 1]);
}

/// Each actuator with its half is a drive with half of the surfaces: whatever is asked, when it is done is the same, but for the order
/// of what is done at the same time.
#[test]
fn it_is_two_drives_one_after_the_other() {
    let text = drives::text("exos-2x18").expect("a drive");
    let (before, arms) = text.split_once("[arms]").expect("arms");
    let (_, layout) = arms.split_once("[layout]").expect("a layout");
    let half = format!("{before}[layout]{layout}")
        .replace("surfaces = 18\n", "surfaces = 9\n")
        .replace("access_ranges = 2\n", "");
    let half = file(".toml", &half);
    let member = format!(
        "[[device.array.member]]\n[device.array.member.hdd]\ndrive = \"{}\"\nbuffer = false\n{}",
        path(&half),
        queue("device.array.member.hdd")
    );
    let pair = format!(
        "[device.array]\nlayout = \"concat\"\nspindles = \"synchronised\"\n{member}{member}"
    );
    let dual = DUAL.to_owned() + &queue("device.hdd");
    for reads in [1.0, 0.5] {
        let [one, two] =
            [&dual, &pair].map(|device| random(device, reads, (HALF / 2, 3 * HALF / 2)));
        assert_eq!(one["digest"], two["digest"], "{reads}");
        assert_eq!(one["response_ms"], two["response_ms"], "{reads}");
    }
    let [one, two] = [&dual, &pair].map(|device| streams(device, &[0, HALF]));
    assert_eq!(one["simulated_s"], two["simulated_s"]);
}
