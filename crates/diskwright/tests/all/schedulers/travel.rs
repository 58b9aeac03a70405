//! The arm of a real drive on its way to the edge: what it takes, and what it changes.

use std::fs;

use crate::support::{checked, from_text_in, outcome_of};
use serde_json::Value;

/// 200 cylinders of one track of ten sectors, a millisecond a cylinder and a sector, no overhead.
const DRIVE: &str = r#"
name = "Textbook"
about = "the disk of the textbooks' example"
year = 1990
source = ["made up"]
sector_size = "512 B"
rotation = "6000 rpm"
[heads]
switch = "0 ms"
write_settle = "0 ms"
[seek.linear]
single = "1 ms"
full = "199 ms"
[interface]
block_time = "0 ms"
[layout]
surfaces = 1
cylinders = 200
[[layout.zone]]
cylinders = [0, 199]
sectors_per_track = 10
"#;

/// Runs reads of one sector at the start of cylinders, each arriving at its millisecond.
fn run(scheduler: &str, reads: &[(u64, u64)]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let trace: String = reads
        .iter()
        .map(|(ms, cylinder)| format!("{ms}.0 0 {} 1 1\n", cylinder * 10))
        .collect();
    fs::write(folder.path().join("drive.toml"), DRIVE).expect("a file");
    fs::write(folder.path().join("reads.trace"), trace).expect("a file");
    let text = format!(
        "[workload]\ntrace = \"reads.trace\"\nformat = \"disksim-ascii\"\n[device.hdd]\ndrive = \"drive.toml\"\n\
         [device.hdd.queue]\nscheduler = {scheduler}\n"
    );
    let result = outcome_of(&from_text_in(text, folder.path()), &checked());
    result
        .unwrap_or_else(|error| panic!("{scheduler}: {error}"))
        .json()
}

fn number(result: &Value, path: &[&str]) -> f64 {
    let value = path.iter().fold(result, |value, key| &value[*key]);
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{path:?} in {result}"))
}

/// Milliseconds of arm motion.
fn seek(result: &Value) -> f64 {
    number(result, &["devices", "hdd", "busy_ms", "seek"])
}

#[test]
fn the_textbooks_totals_come_out_of_a_drive() {
    let queue = [98, 183, 37, 122, 14, 124, 65, 67];
    // From cylinder 0 to 53, and later the queue: in seconds, that no revolution is in the way.
    let up: Vec<(u64, u64)> = [(0, 53)]
        .into_iter()
        .chain(queue.map(|cylinder| (1_000, cylinder)))
        .collect();
    for (scheduler, total) in [
        ("\"fcfs\"", 640.0),
        ("\"sstf\"", 236.0),
        ("\"look\"", 299.0),
        ("\"scan\"", 331.0),
        ("\"c-look\"", 322.0),
        ("\"c-scan\"", 382.0),
        ("{ v-scan = { r = 1.0 } }", 299.0),
    ] {
        assert_eq!(seek(&run(scheduler, &up)), 53.0 + total, "{scheduler}");
    }
    // Down to 53 from 54: SCAN goes to the edge for that first, 145 cylinders up and 146 down.
    let down: Vec<(u64, u64)> = [(0, 54), (1_000, 53)]
        .into_iter()
        .chain(queue.map(|cylinder| (2_000, cylinder)))
        .collect();
    for (scheduler, before, total) in [
        ("\"look\"", 55.0, 208.0),
        ("\"scan\"", 54.0 + 145.0 + 146.0, 236.0),
    ] {
        assert_eq!(seek(&run(scheduler, &down)), before + total, "{scheduler}");
    }
}

#[test]
fn travelling_takes_the_time_of_a_seek_before_the_request_starts() {
    // The second arrives at 1000 ms with the arm at 53 and nothing above.
    let result = run("\"scan\"", &[(0, 53), (1_000, 14)]);
    let hdd = |key| number(&result, &["devices", "hdd", key]);
    assert_eq!((hdd("travels"), hdd("travel_cylinders")), (1.0, 146.0));
    assert_eq!(
        (hdd("seeks"), hdd("seek_distance_mean_cylinders")),
        (2.0, (53.0 + 185.0) / 2.0)
    );
    // The first takes 53 ms of seek, 7 of rotation, 1 of transfer; the second 146 ms to the edge, 185 back, 9 and 1.
    assert_eq!(number(&result, &["response_ms", "total"]), 61.0 + 341.0);
    // The travel is no part of the request's own time, but of what it waits.
    assert_eq!(number(&result, &["parts_ms", "seek"]), (53.0 + 185.0) / 2.0);
    assert_eq!(seek(&result), 53.0 + 146.0 + 185.0);
    let busy = hdd("utilisation") * number(&result, &["simulated_s"]) * 1e3;
    assert!((busy - (61.0 + 341.0)).abs() < 1e-6, "{busy}");
}

#[test]
fn what_comes_on_the_way_to_the_edge_is_served_on_the_way_back() {
    // The arm is on its way from 1000 ms on; at 1100 ms a request comes for 190, at 1120 ms one for 150.
    let reads = [(0, 53), (1_000, 14), (1_100, 150), (1_120, 190)];
    assert_eq!(seek(&run("\"scan\"", &reads)), 53.0 + 146.0 + 185.0);
    // C-SCAN has passed them: from 0 it takes 14, 150 and 190.
    let result = run("\"c-scan\"", &reads);
    assert_eq!(seek(&result), 53.0 + 146.0 + 199.0 + 190.0);
    assert_eq!(number(&result, &["devices", "hdd", "travels"]), 2.0);
    // What waits already when the arm begins its way back to 0 changes nothing either.
    let result = run("\"c-scan\"", &[(0, 53), (1_000, 14), (1_200, 3)]);
    assert_eq!(seek(&result), 53.0 + 146.0 + 199.0 + 14.0);
}

#[test]
fn an_arm_at_the_edge_turns_without_a_travel() {
    let result = run("\"scan\"", &[(0, 199), (1_000, 14)]);
    assert_eq!(number(&result, &["devices", "hdd", "travels"]), 0.0);
    assert_eq!(seek(&result), 199.0 + 185.0);
    let result = run("\"c-scan\"", &[(0, 199), (1_000, 14)]);
    assert_eq!(
        number(&result, &["devices", "hdd", "travel_cylinders"]),
        199.0
    );
    assert_eq!(seek(&result), 199.0 + 199.0 + 14.0);
}
