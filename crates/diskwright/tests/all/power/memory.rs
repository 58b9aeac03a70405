//! A disk with memory of its own: what it holds goes to the medium before the disk stops.

use super::{FIGURES, assert_adds_up, of_disk, of_state};
use crate::support::run;

/// A write every so often, to a drive with a pool and its write cache on.
fn writes(drive: &str, gap: &str, more: &str) -> String {
    format!(
        "seed = 1\n[workload.synthetic]\nrequests = 20\narrivals = {{ constant = '{gap}' }}\nreads = 0.0\nsize = '8 blocks'\n\
         [measure]\nwarmup = 0\n[device.hdd]\ndrive = '{drive}'\n{more}\n\
         [device.hdd.power]\npolicy = {{ fixed = {{ standby_z = '10 s' }} }}\n{FIGURES}"
    )
}

#[test]
fn a_write_that_memory_takes_waits_for_no_spin_up_and_spins_the_disk_up() {
    let result = run(&writes("travelstar-5k160", "1 min", ""));
    let hdd = &result["devices"]["hdd"];
    assert!(result["response_ms"]["max"].as_f64().unwrap() < 10.0);
    assert_eq!(result["parts_ms"]["wake"], 0.0);
    // The first write finds the disk turning, and what the last one brought is still on its way when the run ends.
    let spin_ups = of_disk(&result, "spin_ups");
    assert_eq!(spin_ups, 19.0);
    let pool = &result["devices"]["hdd.pool"];
    assert_eq!(
        pool["dirty_blocks_at_end"].as_u64().unwrap_or(8),
        8,
        "{pool}"
    );
    assert!(of_state(hdd, "standby_z").0 > 18.0 * 40.0);
}

#[test]
fn without_a_write_cache_every_write_waits() {
    let result = run(&writes("travelstar-5k160", "1 min", "write_cache = false"));
    assert_adds_up(
        &result["devices"]["hdd"],
        result["measured_s"].as_f64().unwrap(),
    );
    let wake = result["parts_ms"]["wake"].as_f64().unwrap() * 20.0;
    assert!((wake - 19.0 * 3000.0).abs() < 1e-6, "{wake}");
}

#[test]
fn what_is_buffered_is_written_before_the_disk_counts_as_idle() {
    // A segmented buffer that completes writes early.
    let more = "write_cache = true\nbuffer = { write = { complete = 'buffered' } }";
    let text = writes("cheetah-9lp", "1 min", more);
    let result = run(&text);
    let hdd = &result["devices"]["hdd"];
    assert!(of_disk(&result, "spin_ups") >= 18.0, "{hdd}");
    assert!(of_state(hdd, "active").1 > of_state(hdd, "active").0);
}
