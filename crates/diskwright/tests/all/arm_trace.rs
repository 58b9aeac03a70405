//! The arm trace of a disk: its steps are the parts of the log of requests, an arm is in one place at a time, and its sectors pass
//! when the platter has turned to them.

use std::collections::HashSet;

use crate::support::{Outcome, RunOptions, from_text, outcome_of};
use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt32Type, UInt64Type};
use diskwright::base::units::Time;
use diskwright::engine::window::ArmTraceFrom;
use proptest::prelude::*;
use serde_json::Value;

const PATH: &str = "hdd";
/// Of which a tenth are the warm-up.
const REQUESTS: usize = 3_000;

fn run(device: &str, load: &str, trace: ArmTraceFrom) -> Outcome {
    let text = format!(
        "seed = 3\n[workload.synthetic]\nrequests = {REQUESTS}\n{load}\n[measure]\nwarmup = \"10 %\"\n[device.hdd]\n{device}"
    );
    let options = RunOptions {
        picture: trace != ArmTraceFrom::Nowhere,
        arm_trace: trace,
        keep_requests: true,
        ..RunOptions::default()
    };
    let source = from_text(text);
    outcome_of(&source, &options).expect("a run that goes well")
}

fn load(reads: f64, size: &str, address: &str, gap: &str) -> String {
    format!(
        "arrivals = {{ poisson = \"{gap}\" }}\nreads = {reads:?}\nsize = \"{size}\"\naddress = \"{address}\""
    )
}

fn trace(outcome: &Outcome) -> Value {
    outcome.picture().expect("a picture was asked for")["devices"][PATH]["film"].clone()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a whole number")
}

/// A row of the log: its instants and parts by their names, its LBN and blocks.
struct Row(Vec<(String, u64)>, &'static str);

impl Row {
    fn get(&self, key: &str) -> u64 {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.expect("a column of the log").1
    }
}

/// The rows of the log by their sequence.
fn log(outcome: &Outcome) -> Vec<Row> {
    let table = outcome.requests().expect("the requests were kept");
    let mut rows = Vec::new();
    for batch in table.batches() {
        for row in 0..batch.num_rows() {
            let mut found = Vec::new();
            for field in batch.schema().fields() {
                let column = batch.column_by_name(field.name()).expect("a column");
                let value = if let Some(column) = column.as_primitive_opt::<UInt64Type>() {
                    column.value(row)
                } else if let Some(column) = column.as_primitive_opt::<UInt32Type>() {
                    column.value(row).into()
                } else {
                    continue;
                };
                found.push((field.name().clone(), value));
            }
            let ops = batch.column_by_name("op").expect("a column");
            let op = ops.as_dictionary::<Int8Type>().keys().value(row);
            rows.push(Row(found, ["read", "write"][op as usize]));
        }
    }
    rows.sort_by_key(|row| row.get("sequence"));
    rows
}

/// Compares an arm trace with its log, and checks that it can be: how many requests it shows, and how many of the arms' works.
fn check(outcome: &Outcome) -> (usize, usize) {
    let (trace, rows) = (trace(outcome), log(outcome));
    let (from, to) = (number(&trace["from_ns"]), number(&trace["to_ns"]));
    let parts: Vec<&str> = list(&trace["parts"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut shown = Vec::new();
    for request in list(&trace["requests"]) {
        let row = &rows[number(&request["sequence"]) as usize];
        shown.push(row.get("sequence"));
        for key in [
            "lbn",
            "blocks",
            "arrival_ns",
            "acceptance_ns",
            "start_ns",
            "completion_ns",
        ] {
            assert_eq!(number(&request[key]), row.get(key), "{key} of {request}");
        }
        assert_eq!(request["op"], row.1);
        for (index, part) in parts.iter().enumerate() {
            let steps = list(&request["steps"]).iter();
            let of_part = steps.filter(|step| number(&step[0]) as usize == index);
            let sum: u64 = of_part.map(|step| number(&step[1])).sum();
            assert_eq!(sum, row.get(&format!("{part}_ns")), "{part} of {request}");
        }
    }
    // Every request that was in service within the window is there, once.
    let mut expected: Vec<u64> = rows
        .iter()
        .filter(|row| row.get("start_ns") < to && row.get("completion_ns") > from)
        .map(|row| row.get("sequence"))
        .collect();
    expected.sort_unstable();
    shown.sort_unstable();
    assert_eq!(shown, expected);
    // And so is every one that waited at its end, up to a number.
    let waited = rows
        .iter()
        .filter(|row| row.get("issue_ns") < to && row.get("start_ns") >= to);
    let waiting = list(&trace["waiting"]).len() as u64 + number(&trace["waiting_left_out"]);
    assert_eq!(waiting, waited.count() as u64);

    let (turn, phase) = (trace["turn_ns"].as_f64(), trace["phase"].as_f64());
    let (turn, phase) = (turn.expect("a time"), phase.expect("an angle"));
    let arms = list(&trace["arms"]);
    let mut until = vec![0; arms.len()];
    let place = |arm: &Value| (number(&arm["cylinder"]), number(&arm["head"]));
    let mut places: Vec<(u64, u64)> = arms.iter().map(place).collect();
    for work in list(&trace["work"]) {
        let mut at = number(&work["start_ns"]);
        let by = number(&work["arm"]) as usize;
        let (arm, place) = (&arms[by], &mut places[by]);
        assert!(at >= until[by], "an arm is at two works at a time: {work}");
        assert!(at < to);
        let phase = phase - arm["angle"].as_f64().expect("an angle");
        let within = |key: &str, at: u64| {
            let edge = |end: &str| number(&arm[format!("{end}_{key}")]);
            (edge("first")..=edge("last")).contains(&at)
        };
        for step in list(&work["steps"]) {
            let (part, ns) = (parts[number(&step[0]) as usize], number(&step[1]));
            let there = (number(&step[2]), number(&step[3]));
            assert!(
                within("cylinder", there.0) && within("surface", there.1),
                "{work}"
            );
            match part {
                "seek" | "head_switch" => assert_ne!(there, *place, "{work}"),
                "settle" => {}
                _ => assert_eq!(there, *place, "{work}"),
            }
            *place = there;
            if part == "transfer" {
                let [slot, slots, per_track] = [4, 5, 6].map(|key| number(&step[key]) as f64);
                let turned = phase + (at as f64 - from as f64) / turn;
                let behind = (turned - slot / per_track + 0.5).rem_euclid(1.0) - 0.5;
                // Edges are rounded up to the nanosecond.
                assert!((-1e-9..2.0 / turn).contains(&behind), "{behind} of {work}");
                // As many slots pass as the time is long, but for one in which it was broken off.
                let passed = ns as f64 / turn * per_track;
                assert!(
                    passed > slots - 1.0 && passed < slots + 1.01,
                    "{passed} of {work}"
                );
            }
            at += ns;
        }
        until[by] = at;
        assert!(at > from);
    }
    (shown.len(), list(&trace["work"]).len())
}

#[test]
fn the_steps_are_the_parts_of_the_log() {
    let drives = ["cheetah-9lp", "hp-c3323a", "ibm-18es", "exos-x20"];
    for drive in drives {
        for buffer in ["", "buffer = false\n"] {
            // In front of a pool a request ends later than what the arm does for it, or before.
            if drive == "exos-x20" && buffer.is_empty() {
                continue;
            }
            for (size, gap) in [
                ("8 blocks", "12 ms"),
                ("700 blocks", "90 ms"),
                ("3 blocks", "5 ms"),
            ] {
                for address in ["uniform", "sequential"] {
                    let device = format!("drive = \"{drive}\"\n{buffer}");
                    let load = load(0.6, size, address, gap);
                    let outcome = run(&device, &load, ArmTraceFrom::FirstMeasured);
                    let (requests, works) = check(&outcome);
                    assert!(requests > 0 && works > 0, "{device} {load}");
                }
            }
        }
    }
}

#[test]
fn an_arm_trace_changes_nothing() {
    for (device, address) in [
        ("drive = \"cheetah-9lp\"\n", "sequential"),
        ("drive = \"hp-c3323a\"\n", "uniform"),
        ("drive = \"ibm-18es\"\nbuffer = false\n", "uniform"),
    ] {
        let load = load(0.5, "24 blocks", address, "9 ms");
        let with = run(device, &load, ArmTraceFrom::FirstMeasured);
        let without = run(device, &load, ArmTraceFrom::Nowhere);
        assert_eq!(with.digest(), without.digest());
        assert_eq!(with.get("devices"), without.get("devices"));
    }
}

#[test]
fn it_begins_with_the_first_measured_request() {
    let outcome = run(
        "drive = \"ibm-18es\"\n",
        &load(1.0, "8 blocks", "uniform", "20 ms"),
        ArmTraceFrom::FirstMeasured,
    );
    let trace = trace(&outcome);
    assert_eq!(
        number(&trace["from_ns"]),
        log(&outcome)[REQUESTS / 10].get("start_ns")
    );
    assert_eq!(
        number(&trace["to_ns"]) - number(&trace["from_ns"]),
        500_000_000
    );
    assert_eq!(trace["ended_by"], "time");
}

#[test]
fn requests_in_merged_services_are_shown_each() {
    let device = "drive = \"cheetah-9lp\"\nbuffer = false\n[device.hdd.queue]\ndepth = 64\nclustering = \"64 blocks\"\n";
    let outcome = run(
        device,
        &load(0.5, "8 blocks", "sequential", "1 ms"),
        ArmTraceFrom::FirstMeasured,
    );
    check(&outcome);
    let trace = trace(&outcome);
    let services: Vec<u64> = list(&trace["requests"])
        .iter()
        .map(|r| number(&r["service"]))
        .collect();
    assert!(
        services.windows(2).any(|pair| pair[0] == pair[1]),
        "none was merged"
    );
}

#[test]
fn the_arm_is_seen_to_travel_without_a_request() {
    for buffer in ["", "buffer = false\n"] {
        let device = format!(
            "drive = \"cheetah-9lp\"\n{buffer}[device.hdd.queue]\ndepth = 16\nscheduler = \"scan\"\n"
        );
        let outcome = run(
            &device,
            &load(0.5, "8 blocks", "uniform", "9 ms"),
            ArmTraceFrom::FirstMeasured,
        );
        check(&outcome);
        let trace = trace(&outcome);
        let travels = list(&trace["work"])
            .iter()
            .filter(|work| work["op"].is_null());
        assert!(travels.count() > 0, "{device}");
    }
}

#[test]
fn a_power_cut_ends_it() {
    let device = "drive = \"cheetah-9lp\"\n[[fault]]\nat = \"3.1 s\"\nkind = \"power-cut\"\n";
    let trace = trace(&run(
        device,
        &load(0.5, "8 blocks", "uniform", "9 ms"),
        ArmTraceFrom::Instant(Time::from_s(3)),
    ));
    assert_eq!(number(&trace["to_ns"]), 3_100_000_000);
    assert_eq!(number(&trace["run_end_ns"]), 3_100_000_000);
    assert_eq!(trace["ended_by"], "run");
    let last = list(&trace["requests"]).last().expect("the disk was busy");
    assert!(number(&last["completion_ns"]) > 3_100_000_000);
}

#[test]
fn too_many_requests_end_it() {
    let device = "drive = \"cheetah-9lp\"\nbuffer = false\n[device.hdd.queue]\ndepth = 128\nclustering = \"128 blocks\"\n";
    let load = load(1.0, "1 blocks", "sequential", "50 us");
    let outcome = run(device, &load, ArmTraceFrom::FirstMeasured);
    let trace = trace(&outcome);
    assert_eq!(trace["ended_by"], "accesses");
    let (requests, _) = check(&outcome);
    assert!((2_000 - 128..=2_000).contains(&requests), "{requests}");
}

#[test]
fn a_window_after_the_run_is_empty() {
    let load = load(1.0, "8 blocks", "uniform", "20 ms");
    let outcome = run(
        "drive = \"ibm-18es\"\n",
        &load,
        ArmTraceFrom::Instant(Time::from_s(3_600)),
    );
    let trace = trace(&outcome);
    assert_eq!(
        (trace["requests"].clone(), trace["ended_by"].as_str()),
        (Value::Array(vec![]), Some("run"))
    );
    assert_eq!(trace["to_ns"], trace["from_ns"]);
}

#[test]
fn behind_a_cache_requests_are_those_of_the_host() {
    let device = "drive = \"cheetah-9lp\"\n[device.hdd.cache]\nsize = \"1 MiB\"\npolicy = \"lru\"\nwrite_policy = \"write-back\"\n";
    let outcome = run(
        device,
        &load(0.5, "8 blocks", "uniform", "12 ms"),
        ArmTraceFrom::FirstMeasured,
    );
    let (trace, rows) = (trace(&outcome), log(&outcome));
    let mut of_host = 0;
    for request in list(&trace["requests"]) {
        if let Some(sequence) = request["sequence"].as_u64() {
            let row = &rows[sequence as usize];
            assert_eq!(number(&request["start_ns"]), row.get("start_ns"));
            assert_eq!(number(&request["completion_ns"]), row.get("completion_ns"));
            of_host += 1;
        }
    }
    let all = list(&trace["requests"]).len();
    assert!(of_host > 0 && of_host < all, "{of_host} of {all}");
}

/// Drives with several arms or a log.
const SEVERAL: [&str; 10] = [
    // Two arms that serve whatever they reach sooner, a quarter and half of a turn apart.
    "arms = { arm = [{}, { angle = 0.5 }] }\n",
    "arms = { arm = [{}, { angle = 0.25 }, { angle = 0.7, start = 900 }] }\n",
    // Each moves by itself: all of them on all requests, on its own kind, on its own part of the drive.
    "arms = { motion = \"independent\", arm = [{}, { angle = 0.5 }] }\n",
    "arms = { motion = \"independent\", arm = [{ writes = false }, { angle = 0.5, reads = false }] }\n",
    "arms = { motion = \"independent\", arm = [{ surfaces = [0, 1] }, { surfaces = [2, 4] }] }\n",
    "arms = { motion = \"independent\", arm = [{ cylinders = [0, 40] }, { cylinders = [41, 11473], angle = 0.3 }] }\n",
    "arms = { arm = [{ surfaces = [0, 1] }, { surfaces = [2, 4], angle = 0.25 }] }\n",
    // Logs.
    "placement = { eager = { initial = { write = \"300_000 blocks\" } } }\n",
    "arms = { arm = [{ writes = false }, { angle = 0.5, reads = false }] }\nplacement = { eager = { initial = { write = \"300_000 blocks\" } } }\n",
    "arms = { motion = \"independent\", arm = [{ writes = false }, { angle = 0.5, reads = false }] }\n\
     placement = { eager = { recovery = \"virtual-log\", cleaner = { watermark = { low = 0.97, high = 0.98 } }, initial = { write = \"300_000 blocks\" } } }\n",
];

fn several(arms: &str) -> String {
    format!("drive = \"ibm-18es-linear\"\nbuffer = false\n{arms}")
}

fn region(reads: f64, size: &str, gap: &str) -> String {
    load(reads, size, "uniform", gap).replace(
        "address = \"uniform\"",
        "address = { uniform = { from = 5, blocks = 300_000 } }",
    )
}

/// What is done at what time by which arm and for which service.
fn legs(trace: &Value) -> Vec<(u64, u64, u64, u64, Option<u64>)> {
    let mut legs = Vec::new();
    for work in list(&trace["work"]) {
        let mut at = number(&work["start_ns"]);
        for step in list(&work["steps"]) {
            let end = at + number(&step[1]);
            let (arm, service) = (number(&work["arm"]), work["service"].as_u64());
            legs.push((at, end, number(&step[0]), arm, service));
            at = end;
        }
    }
    legs
}

/// What holds beside that where there is no buffer: whatever a request waits for on the medium is done by an arm; arms that move one at
/// a time do so.
fn check_several(outcome: &Outcome, one_at_a_time: bool) {
    let trace = trace(outcome);
    let (from, to) = (number(&trace["from_ns"]), number(&trace["to_ns"]));
    let legs = legs(&trace);
    let done: HashSet<_> = legs
        .iter()
        .map(|&(start, end, part, _, service)| (start, end, part, service))
        .collect();
    let on_medium = ["seek", "head_switch", "settle", "rotation", "transfer"];
    let parts = list(&trace["parts"]);
    for request in list(&trace["requests"]) {
        let mut at = number(&request["start_ns"]);
        for step in list(&request["steps"]) {
            let (part, end) = (number(&step[0]), at + number(&step[1]));
            let name = parts[part as usize].as_str().expect("a name");
            if on_medium.contains(&name) && end > from && at < to {
                let service = Some(number(&request["service"]));
                assert!(done.contains(&(at, end, part, service)), "{request}");
            }
            at = end;
        }
        assert_eq!(at, number(&request["completion_ns"]));
    }
    if one_at_a_time {
        for pair in legs.windows(2) {
            assert!(pair[1].0 >= pair[0].1, "{pair:?}");
        }
    }
}

#[test]
fn the_steps_of_several_arms_are_the_parts_of_the_log() {
    for arms in SEVERAL {
        for (size, gap) in [
            ("8 blocks", "9 ms"),
            ("700 blocks", "60 ms"),
            ("3 blocks", "2 ms"),
        ] {
            let outcome = run(
                &several(arms),
                &region(0.6, size, gap),
                ArmTraceFrom::FirstMeasured,
            );
            let (requests, works) = check(&outcome);
            assert!(requests > 0 && works > 0, "{arms} {size}");
            check_several(&outcome, !arms.contains("independent"));
            let trace = trace(&outcome);
            let at_work: HashSet<u64> = legs(&trace).iter().map(|leg| leg.3).collect();
            assert_eq!(at_work.len(), list(&trace["arms"]).len(), "{arms} {size}");
        }
    }
}

#[test]
fn an_arm_trace_of_several_arms_changes_nothing() {
    for arms in SEVERAL {
        let load = region(0.5, "24 blocks", "5 ms");
        let with = run(&several(arms), &load, ArmTraceFrom::FirstMeasured);
        let without = run(&several(arms), &load, ArmTraceFrom::Nowhere);
        assert_eq!(with.digest(), without.digest(), "{arms}");
        assert_eq!(with.get("devices"), without.get("devices"), "{arms}");
    }
}

#[test]
fn the_trace_of_one_arm_is_the_same_written_out_or_not() {
    for (scheduler, size, gap) in [
        ("fcfs", "700 blocks", "50 ms"),
        ("satf", "3 blocks", "4 ms"),
        ("scan", "8 blocks", "8 ms"),
    ] {
        let text = |arms: &str| {
            format!(
                "drive = \"ibm-18es\"\nbuffer = false\n{arms}[device.hdd.queue]\ndepth = 16\nscheduler = \"{scheduler}\"\n"
            )
        };
        let load = load(0.6, size, "uniform", gap);
        let shown = |arms| trace(&run(&text(arms), &load, ArmTraceFrom::FirstMeasured));
        assert_eq!(shown(""), shown("arms = { arm = [{}] }\n"), "{scheduler}");
    }
}

#[test]
fn several_arms_serve_shares_of_a_request_at_once() {
    let arms = "arms = { motion = \"independent\", arm = [{ surfaces = [0, 1] }, { surfaces = [2, 4] }] }\n";
    let outcome = run(
        &several(arms),
        &region(0.5, "1_200 blocks", "150 ms"),
        ArmTraceFrom::FirstMeasured,
    );
    check(&outcome);
    let trace = trace(&outcome);
    let works = list(&trace["work"]);
    let mut shared = 0;
    for (place, request) in list(&trace["requests"]).iter().enumerate() {
        let of_it = works
            .iter()
            .filter(|work| work["request"].as_u64() == Some(place as u64));
        let by: HashSet<u64> = of_it
            .map(|work| {
                assert_eq!(work["service"], request["service"]);
                number(&work["arm"])
            })
            .collect();
        shared += usize::from(by.len() > 1);
    }
    assert!(shared > 0);
    // Two arms are at work at a time.
    let legs = legs(&trace);
    let at_once = legs.iter().any(|one| {
        legs.iter()
            .any(|other| one.3 != other.3 && one.4 == other.4 && one.0 < other.1 && other.0 < one.1)
    });
    assert!(at_once, "{legs:?}");
}

#[test]
fn shares_on_both_sides_of_the_windows_edges_are_those_of_the_log() {
    // Enough requests that arms with shares in a request come to it at very different times.
    let arms = "arms = { motion = \"independent\", arm = [{ surfaces = [0, 1] }, { surfaces = [2, 4] }] }\n";
    let mut orphans = 0;
    for from in (2_000..26_000).step_by(1_700) {
        let load = region(0.5, "2_000 blocks", "90 ms");
        let outcome = run(
            &several(arms),
            &load,
            ArmTraceFrom::Instant(Time::from_ms(from)),
        );
        let (requests, _) = check(&outcome);
        assert!(requests > 0, "{from}");
        check_several(&outcome, false);
        // Some request has but one of its shares in the arm trace, at either edge.
        let trace = trace(&outcome);
        let works = list(&trace["work"]).iter();
        orphans += works.filter(|work| work["request"].is_null()).count();
    }
    assert!(orphans > 0);
}

#[test]
fn a_cleaner_is_seen_at_work_without_a_request() {
    for cleaner in [
        "idle = { after = \"3 ms\", empty = 0.999 }",
        "watermark = { low = 0.999, high = 0.9995 }",
    ] {
        for arms in [
            "",
            "arms = { arm = [{ writes = false }, { angle = 0.5, reads = false }] }\n",
        ] {
            let log = format!(
                "{arms}placement = {{ eager = {{ cleaner = {{ {cleaner} }}, initial = {{ write = \"400_000 blocks\" }} }} }}\n"
            );
            let outcome = run(
                &several(&log),
                &region(0.5, "8 blocks", "30 ms"),
                ArmTraceFrom::FirstMeasured,
            );
            check(&outcome);
            check_several(&outcome, true);
            let trace = trace(&outcome);
            let mut found: HashSet<(&str, u64)> = HashSet::new();
            for work in list(&trace["work"]) {
                if work["purpose"] == "cleaning" {
                    assert!(work["service"].is_null() && work["request"].is_null());
                    found.insert((work["op"].as_str().expect("an op"), number(&work["arm"])));
                }
            }
            let last = list(&trace["arms"]).len() as u64 - 1;
            assert_eq!(
                found,
                HashSet::from([("read", 0), ("write", last)]),
                "{log}"
            );
        }
    }
}

#[test]
fn what_is_to_be_written_into_a_log_has_no_place_yet() {
    let outcome = run(
        &several("placement = { eager = { initial = { write = \"200_000 blocks\" } } }\n"),
        &region(0.5, "8 blocks", "3 ms"),
        ArmTraceFrom::FirstMeasured,
    );
    check(&outcome);
    let trace = trace(&outcome);
    let waiting = list(&trace["waiting"]);
    assert!(!waiting.is_empty());
    let mut read = 0;
    for request in list(&trace["requests"]).iter().chain(waiting) {
        let is_placed = !request["cylinder"].is_null();
        assert_eq!(is_placed, !request["head"].is_null());
        assert_eq!(is_placed, !request["angle"].is_null());
        assert!(!is_placed || request["op"] == "read");
        // What was read was somewhere: the arm goes there first.
        read += usize::from(is_placed && !request["steps"].is_null());
    }
    assert!(read > 0);
    for (place, request) in list(&trace["requests"]).iter().enumerate() {
        let mut works = list(&trace["work"]).iter();
        let work = works.find(|work| work["request"].as_u64() == Some(place as u64));
        if let (Some(work), false) = (work, request["cylinder"].is_null()) {
            let first = &list(&work["steps"])[0];
            assert_eq!(
                (&first[2], &first[3]),
                (&request["cylinder"], &request["head"])
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_window_shows_what_the_log_has(
        from in 0u64..12_000, reads in 0.0f64..1.0, blocks in 1u32..900, buffer in any::<bool>(), sequential in any::<bool>(),
    ) {
        let buffer = if buffer { "" } else { "buffer = false\n" };
        let device = format!("drive = \"cheetah-9lp\"\n{buffer}");
        let address = if sequential { "sequential" } else { "uniform" };
        let load = load(reads, &format!("{blocks} blocks"), address, "9 ms");
        check(&run(&device, &load, ArmTraceFrom::Instant(Time::from_ms(from))));
    }

    #[test]
    fn any_window_of_several_arms_shows_what_the_log_has(
        arms in prop::sample::select(SEVERAL.to_vec()), from in 0u64..4_000, reads in 0.0f64..1.0, blocks in 1u32..1_500, seed in 0u32..1_000,
    ) {
        let load = region(reads, &format!("{blocks} blocks"), &format!("{} ms", 4 + blocks / 20 + seed % 5));
        let outcome = run(&several(arms), &load, ArmTraceFrom::Instant(Time::from_ms(from)));
        check(&outcome);
        check_several(&outcome, !arms.contains("independent"));
    }
}
