//! What SSDs draw, and their low power states.

use super::{assert_adds_up, assert_close, of_state};
use crate::support::run;
use serde_json::Value;

/// Requests to an SSD that has no buffer, with a sleep that is entered after a second.
fn ssd(requests: u32, arrivals: &str, reads: &str, policy: &str) -> Value {
    let text = format!(
        "seed = 1\n[workload.synthetic]\nrequests = {requests}\narrivals = {arrivals}\nreads = {reads}\nsize = '4 KiB'\n\
         [measure]\nwarmup = 0\n[device.ssd]\ndrive = 'slc-classic'\ninitial = {{ fill = '0 %' }}\n[device.ssd.power]\n{policy}\n\
         [device.ssd.power.figures]\nidle = '1 W'\nread = '3 W'\nwrite = '4 W'\n\
         slumber = {{ power = '100 mW', enter = {{ time = '1 ms' }}, leave = {{ time = '10 ms' }} }}\n\
         devsleep = {{ power = '2 mW', enter = {{ time = '10 ms', energy = '5 mJ' }}, leave = {{ time = '20 ms', power = '2 W' }} }}\n"
    );
    let result = run(&text);
    let device = &result["devices"]["ssd"];
    assert_adds_up(device, result["measured_s"].as_f64().unwrap());
    result
}

#[test]
fn one_read_an_hour_waits_for_the_drive_to_wake() {
    let policy = "policy = { fixed = { slumber = '1 s', devsleep = '1 min' } }";
    let arrivals = "{ constant = '1 h' }";
    let result = ssd(3, arrivals, "1.0", policy);
    let device = &result["devices"]["ssd"];
    let (active_s, active_j, active) = of_state(device, "active");
    assert_eq!(active, 3);
    assert_close(active_j, 3.0 * active_s);
    assert_eq!(of_state(device, "idle"), (2.0, 2.0, 3));
    // Of two hours: a millisecond into slumber and ten into devsleep, a minute until that, twenty milliseconds back.
    assert_close(of_state(device, "slumber").0, 2.0 * (60.0 - 1.0 - 0.001));
    assert_eq!(of_state(device, "unload"), (0.022, 0.012, 4));
    assert_eq!(of_state(device, "load"), (0.04, 0.08, 2));
    assert_close(result["parts_ms"]["wake"].as_f64().unwrap(), 40.0 / 3.0);
    let awake = ssd(3, arrivals, "1.0", "");
    let total = |result: &Value| result["response_ms"]["total"].as_f64().unwrap();
    assert_close(total(&result) - total(&awake), 40.0);
    assert_eq!(
        (&device["spin_ups"], &device["head_unloads"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn writes_draw_what_writes_draw_and_a_busy_drive_is_never_idle() {
    for (reads, watts) in [("1.0", 3.0), ("0.0", 4.0)] {
        let result = ssd(
            400,
            "{ closed = { users = 1 } }",
            reads,
            "policy = { fixed = { slumber = '1 s' } }",
        );
        let device = &result["devices"]["ssd"];
        let (active_s, active_j, entries) = of_state(device, "active");
        assert_eq!((of_state(device, "idle").0, entries), (0.0, 1), "{device}");
        let span = result["measured_s"].as_f64().unwrap();
        assert_close(active_s, span);
        // The controller's work around a program is not the flash's.
        assert!(
            active_j > 3.0 * span - 1e-9 && active_j <= watts * span + 1e-9,
            "{device}"
        );
        assert!(active_j > (watts - 0.5) * span, "{device}");
    }
}

#[test]
fn without_a_policy_nothing_changes() {
    let arrivals = "{ poisson = '300 us' }";
    let with = ssd(500, arrivals, "0.5", "");
    let oracle = ssd(500, arrivals, "0.5", "policy = 'oracle'");
    assert_eq!(with["digest"], oracle["digest"]);
    let energy = |result: &Value| result["devices"]["ssd"]["energy_j"].as_f64().unwrap();
    assert!(energy(&oracle) <= energy(&with));
    let text = "seed = 1\n[workload.synthetic]\nrequests = 500\narrivals = { poisson = '300 us' }\nreads = 0.5\nsize = '4 KiB'\n\
        [measure]\nwarmup = 0\n[device.ssd]\ndrive = 'slc-classic'\ninitial = { fill = '0 %' }\n";
    let without = run(text);
    assert_eq!(with["digest"], without["digest"]);
    assert_eq!(without["devices"]["ssd"]["energy_j"], Value::Null);
}

/// The autonomous transitions of NVMe: after 50 times both ways, a millisecond and ten ms into slumber and back, then thirty.
#[test]
fn autonomous_transitions_follow_from_the_latencies() {
    let (slumber, devsleep) = (0.55, 0.55 + 0.001 + 1.5);
    for (gap, deepest, back) in [
        (0.5, 0, 0.0),
        (1.0, 1, 10.0),
        (2.0, 1, 10.0),
        (3.0, 2, 20.0),
    ] {
        let arrivals = format!("{{ constant = '{gap} s' }}");
        let result = ssd(11, &arrivals, "1.0", "policy = 'apst'");
        let device = &result["devices"]["ssd"];
        let entries = [
            of_state(device, "slumber").2,
            of_state(device, "devsleep").2,
        ];
        let expected = [u64::from(deepest > 0) * 10, u64::from(deepest > 1) * 10];
        assert_eq!(entries, expected, "{gap} s");
        let wake = result["parts_ms"]["wake"].as_f64().unwrap();
        assert_close(wake, back * 10.0 / 11.0);
        // Of each gap, less the read and the way back before it.
        let idle = of_state(device, "idle").0;
        if deepest > 0 {
            assert_close(idle, 10.0 * slumber);
        }
        if deepest > 1 {
            assert_close(
                of_state(device, "slumber").0,
                10.0 * (devsleep - slumber - 0.001),
            );
        }
    }
    // Devsleep is left in 20 ms: with less it stays in slumber.
    for (latency, entries) in [("20 ms", 2), ("19.999 ms", 0)] {
        let policy = format!("policy = {{ apst = {{ max_latency = '{latency}' }} }}");
        let result = ssd(3, "{ constant = '1 h' }", "1.0", &policy);
        assert_eq!(of_state(&result["devices"]["ssd"], "devsleep").2, entries);
    }
}
