//! Both sides of a timeout, and of a way down: a request that comes a nanosecond before, at, and after it.

use super::{assert_adds_up, of_disk, of_state, run_policy};
use serde_json::Value;

const POLICY: &str = "policy = { fixed = { standby_z = '10 s' } }";

fn two(gap_ns: u64) -> Value {
    let result = run_policy(2, &format!("{{ constant = '{gap_ns} ns' }}"), POLICY);
    assert_adds_up(
        &result["devices"]["hdd"],
        result["measured_s"].as_f64().unwrap(),
    );
    result
}

/// When the first of two requests is complete, ns.
fn first_ends() -> u64 {
    let one = run_policy(1, "{ constant = '1 h' }", POLICY);
    (one["response_ms"]["max"].as_f64().unwrap() * 1e6).round() as u64
}

fn wake_ns(result: &Value) -> u64 {
    (result["parts_ms"]["wake"].as_f64().unwrap() * 2.0 * 1e6).round() as u64
}

#[test]
fn a_nanosecond_decides_at_the_timeout() {
    let due = first_ends() + 10_000_000_000;
    let before = two(due - 1);
    assert_eq!((of_disk(&before, "spin_ups"), wake_ns(&before)), (0.0, 0));
    assert_eq!(of_state(&before["devices"]["hdd"], "spin_down").2, 0);
    // At the instant of the timeout, the disk goes down first.
    for (gap, down) in [(due, 1_000_000_000), (due + 1, 999_999_999)] {
        let after = two(gap);
        // The rest of the way down, then the way up.
        assert_eq!(wake_ns(&after), down + 3_000_000_000, "{gap}");
        let hdd = &after["devices"]["hdd"];
        assert_eq!(of_state(hdd, "spin_down"), (1.0, 2.0, 1));
        assert_eq!(of_state(hdd, "spin_up"), (3.0, 13.5, 1));
        assert_eq!(of_state(hdd, "standby_z").0, 0.0);
    }
}

#[test]
fn a_nanosecond_decides_at_the_end_of_the_way_down() {
    let down = first_ends() + 11_000_000_000;
    for (gap, wake) in [
        (down - 1, 3_000_000_001),
        (down, 3_000_000_000),
        (down + 1, 3_000_000_000),
    ] {
        let result = two(gap);
        assert_eq!(wake_ns(&result), wake, "{gap}");
        let standby_ns = of_state(&result["devices"]["hdd"], "standby_z").0 * 1e9;
        assert_eq!(standby_ns.round() as u64, gap.saturating_sub(down));
    }
}

#[test]
fn a_request_during_the_way_up_waits_for_what_is_left_of_it() {
    let text = super::spec(40, "{ closed = { users = 2, think = '1 min' } }", POLICY);
    let result = crate::support::run(&text);
    let hdd = &result["devices"]["hdd"];
    assert_adds_up(hdd, result["measured_s"].as_f64().unwrap());
    // Two users think for as long: one of the two requests of a minute spins the disk up, the other waits in the queue.
    let wake = result["parts_ms"]["wake"].as_f64().unwrap() * 40.0;
    assert!(
        (wake / 3000.0 - of_disk(&result, "spin_ups")).abs() < 1e-9,
        "{wake}"
    );
    assert!(result["response_ms"]["p50"].as_f64().unwrap() > 3000.0);
}
