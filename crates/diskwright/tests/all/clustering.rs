//! Requests merged in a drive's queue: what is counted, which slots they take, and who has to wait for it.

use crate::support::{checked, from_text_in, outcome_of};
use serde_json::Value;

/// Runs reads of 8 blocks, given as (arrival in ms, LBN), on a drive whose queue is given.
fn run(requests: &[(f64, u64)], queue: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<String> = requests
        .iter()
        .map(|(ms, lbn)| format!("{ms},read,{lbn},8\n"))
        .collect();
    let text = format!("time_ms,op,lbn,blocks\n{}", rows.concat());
    std::fs::write(folder.path().join("trace.csv"), text).expect("a file is written");
    let text = format!(
        "[workload]\ntrace = \"trace.csv\"\n[measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\nbuffer = false\n\
         [device.hdd.queue]\n{queue}\n"
    );
    let outcome = outcome_of(&from_text_in(text, folder.path()), &checked());
    outcome.unwrap_or_else(|error| panic!("{error}")).json()
}

fn disk(result: &Value, key: &str) -> f64 {
    result["devices"]["hdd"][key].as_f64().expect("a number")
}

/// One far away, and while that is served four that continue one another.
const FOUR: [(f64, u64); 5] = [(0.0, 9_000_000), (0.1, 0), (0.2, 8), (0.3, 24), (0.4, 16)];

#[test]
fn a_merged_request_is_one_access_to_the_medium() {
    let apart = run(&FOUR, "");
    assert_eq!(disk(&apart, "media_accesses"), 5.0);
    assert!(apart["devices"]["hdd"]["merged_requests"].is_null());
    let merged = run(&FOUR, "clustering = \"32 blocks\"");
    assert_eq!(disk(&merged, "media_accesses"), 2.0);
    assert_eq!(disk(&merged, "merged_requests"), 3.0);
    let sizes = &merged["devices"]["hdd"]["merge_sizes"];
    assert_eq!(sizes, &serde_json::json!({ "1": 1, "4": 1 }));
    // Every part has a response, and the access counts once: its mean is over two.
    assert_eq!(merged["requests"]["measured"], 5);
    let access = &merged["access_ms"];
    let mean = access["mean"].as_f64().expect("a mean");
    assert!((access["total"].as_f64().expect("a total") - 2.0 * mean).abs() < 1e-9);
    let total = |result: &Value| result["service_ms"]["total"].as_f64().expect("a total");
    assert!(total(&merged) < total(&apart));
}

#[test]
fn the_threshold_ends_the_merging() {
    let merged = run(&FOUR, "clustering = \"16 blocks\"");
    assert_eq!(disk(&merged, "media_accesses"), 3.0);
    let sizes = &merged["devices"]["hdd"]["merge_sizes"];
    assert_eq!(sizes, &serde_json::json!({ "1": 1, "2": 2 }));
}

#[test]
fn merged_requests_take_a_slot_each_or_one_together() {
    // Two slots: two at a time enter and are merged when the first request is done. One slot together: all but one have entered by then.
    let parts = run(&FOUR, "depth = 2\nclustering = \"32 blocks\"");
    assert_eq!(disk(&parts, "queue_length_max"), 2.0);
    assert_eq!(disk(&parts, "merged_requests"), 2.0);
    let queue = "depth = 3\nclustering = \"32 blocks\"\nslots = \"merged\"";
    let merged = run(&FOUR, queue);
    assert_eq!(disk(&merged, "merged_requests"), 3.0);
    // The one in the gap finds no slot until the first request is done.
    assert_eq!(disk(&merged, "queue_length_max"), 4.0);
}

#[test]
fn a_timeout_bounds_the_wait_of_one_that_others_keep_joining() {
    // The second request is continued again and again, and each time falls behind those that came meanwhile.
    let mut requests = vec![(0.0, 9_000_000), (0.1, 0)];
    for step in 1..=8u64 {
        let at = 10.0 * step as f64;
        requests.push((at - 1.0, 1_000_000 + 500_000 * step));
        requests.push((at - 0.5, 2_000_000 + 500_000 * step));
        requests.push((at, 8 * step));
    }
    let newest = |timeout: &str| {
        let queue = format!(
            "scheduler = {{ fcfs = {{ timeout = \"{timeout}\" }} }}\nclustering = \"128 blocks\"\nmerged_place = \"newest\""
        );
        run(&requests, &queue)
    };
    let (without, with) = (newest("0 ms"), newest("40 ms"));
    assert_eq!(disk(&without, "promotions"), 0.0);
    assert!(disk(&with, "promotions") > 0.0);
    assert!(disk(&with, "longest_wait_ms") < disk(&without, "longest_wait_ms"));
    // Where a merged request keeps the turn of its oldest part, first come is first served, and nobody is promoted.
    let oldest = "scheduler = { fcfs = { timeout = \"40 ms\" } }\nclustering = \"128 blocks\"";
    assert_eq!(disk(&run(&requests, oldest), "promotions"), 0.0);
}
