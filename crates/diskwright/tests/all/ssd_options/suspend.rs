//! Programs and erases that make way for reads: when, how often, and what it does to the latency of reads.

use serde_json::Value;

use super::{PAGE, PROGRAM, Plane, READ};
use crate::support::{RunOptions, run_with};

/// Limits of the small drive, ns.
const COST: u64 = 5_000;
const RESUME: u64 = 3_000;
const GAP: u64 = 70_000;
/// A page is written, and another one from here on.
const SECOND: u64 = 1_000_000;
/// When the second one begins and ends to be programmed.
const WORKS: u64 = SECOND + PAGE;
const END: u64 = WORKS + PROGRAM;
/// A read once the flash is free.
const ALONE: u64 = READ + PAGE;

/// The times of reads of the first page at these instants, and that of the second write.
fn times(limits: &str, reads: &[u64]) -> (Vec<u64>, u64, Value) {
    let plane = Plane {
        blocks: 16,
        pages: 8,
        spare: "60 %",
        more: &format!("[cleaning]\nbegin = 2\n[initial]\nfill = '0 %'\n{limits}"),
    };
    let mut requests = vec![(0, "write", 0), (SECOND, "write", 1)];
    requests.extend(reads.iter().map(|&at| (at, "read", 0)));
    let (times, ssd) = plane.times(&requests);
    (times[2..].to_vec(), times[1], ssd)
}

fn limits(most: u32) -> String {
    format!(
        "[suspend.program]\ncost = '{COST} ns'\nresume = '{RESUME} ns'\ngap = '{GAP} ns'\nmost = {most}"
    )
}

#[test]
fn a_read_waits_for_the_gap_and_the_cost_and_the_program_for_the_read() {
    let undisturbed = PAGE + PROGRAM;
    let whole = COST + ALONE + RESUME;
    for (at, waits, is_suspended) in [
        // From the begin of the gap, in it, at its end and behind it.
        (WORKS, GAP + COST, true),
        (WORKS + GAP - 1, 1 + COST, true),
        (WORKS + GAP, COST, true),
        (WORKS + GAP + 1, COST, true),
        // The program would end sooner than it is suspended, or in the same instant.
        (END - COST - 1, COST, true),
        (END - COST, COST, false),
        (END - 1, 1, false),
    ] {
        let (reads, write, ssd) = times(&limits(1), &[at]);
        assert_eq!(reads, [waits + ALONE], "at {at}");
        let more = if is_suspended { whole } else { 0 };
        assert_eq!(write, undisturbed + more, "at {at}");
        assert_eq!(ssd["suspensions"]["programs"], u64::from(is_suspended));
        // Without suspension it waits for the end.
        let (reads, write, ssd) = times("", &[at]);
        assert_eq!((reads, write), (vec![END - at + ALONE], undisturbed));
        assert!(ssd["suspensions"].is_null());
    }
}

#[test]
fn a_program_is_suspended_so_often_and_once_more_is_waited_for() {
    let first = WORKS + GAP;
    // Each comes when the program has worked for the gap after the one before.
    let step = COST + ALONE + RESUME + GAP;
    let reads = [first, first + step, first + 2 * step];
    for most in 1..=4 {
        let (times, write, ssd) = times(&limits(most), &reads);
        let suspended = u64::from(most.min(3));
        assert_eq!(ssd["suspensions"]["programs"], suspended);
        let end = PAGE + PROGRAM + suspended * (COST + ALONE + RESUME);
        assert_eq!(write, end);
        for (number, time) in (0..).zip(times) {
            let expected = match number < suspended {
                true => COST + ALONE,
                // They wait for the program, one behind the other.
                false => SECOND + end - reads[number as usize] + (number - suspended + 1) * ALONE,
            };
            assert_eq!(time, expected, "{most}: read {number}");
        }
    }
}

/// Reads that come while others are served go first, too: one suspension serves them all.
#[test]
fn all_reads_that_wait_are_served_in_one_suspension() {
    let first = WORKS + GAP;
    let (reads, write, ssd) = times(&limits(1), &[first, first + COST, first + COST + READ]);
    assert_eq!(ssd["suspensions"]["programs"], 1);
    assert_eq!(reads[0], COST + ALONE);
    assert_eq!(reads[2], 3 * ALONE - READ);
    assert_eq!(write, PAGE + PROGRAM + COST + 3 * ALONE + RESUME);
}

/// The longest of a thousand reads of a die that is written and cleaned, µs.
fn p999_us(suspend: &str) -> f64 {
    let result = run_with(
        &format!(
            "[workload.synthetic]\nrequests = 40_000\narrivals = {{ poisson = '3 ms' }}\nreads = 0.9\nsize = '4 KiB'\n\
             [device.ssd]\ndrive = 'mqsim-clean'\n\
             flash = {{ channels = 1, blocks = 64, pages = 64, page = '4 KiB' }}\nspare = {{ share = '20 %' }}\n\
             cleaning = {{ begin = 3, throttled = true }}\ninitial = {{ overwrite = 1.0 }}\n{suspend}"
        ),
        &RunOptions::default(),
    );
    let p999 = &result["by_op"]["read"]["response_ms"]["p999"];
    p999.as_f64().expect("a time") * 1e3
}

#[test]
fn reads_behind_programs_and_erases_are_rid_of_their_tail() {
    let limits = "{ cost = '5 us', resume = '5 us', gap = '20 us', most = 20 }";
    let none = p999_us("");
    let erases = p999_us(&format!("suspend = {{ erase = {limits} }}"));
    let both = p999_us(&format!(
        "suspend = {{ erase = {limits}, program = {limits} }}"
    ));
    println!(
        "p99.9 of reads: {none:.0} us without, {erases:.0} with erases suspended, {both:.0} with programs, too"
    );
    // Without, some of a thousand come early in an erase of 3800 us; else they wait for programs of 750 us at most; else for other reads.
    assert!(none > 1500.0, "{none}");
    assert!(
        erases < 75.0 + 15.0 + 750.0 + 100.0 && erases > 500.0,
        "{erases}"
    );
    assert!(both < 300.0, "{both}");
}
