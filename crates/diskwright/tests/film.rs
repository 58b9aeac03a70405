//! The film of a disk: its steps are the parts of the log of requests, its arm is in one place at a time, and its sectors pass
//! when the platter has turned to them.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt32Type, UInt64Type};
use diskwright::metrics::picture::window::FilmFrom;
use diskwright::simulation::{self, Outcome, RunOptions, SpecSource};
use diskwright::units::Time;
use proptest::prelude::*;
use serde_json::Value;

const PATH: &str = "hdd";
/// Of which a tenth are the warm-up.
const REQUESTS: usize = 3_000;

fn run(device: &str, load: &str, film: FilmFrom) -> Outcome {
    let text = format!(
        "seed = 3\n[workload.synthetic]\nrequests = {REQUESTS}\n{load}\n[measure]\nwarmup = \"10 %\"\n[device.hdd]\n{device}"
    );
    let options = RunOptions {
        picture: film != FilmFrom::Nowhere,
        film,
        keep_requests: true,
        ..RunOptions::default()
    };
    let source = SpecSource::Text {
        text,
        base: ".".into(),
    };
    simulation::run(&source, &options, &mut ()).expect("a run that goes well")
}

fn load(reads: f64, size: &str, address: &str, gap: &str) -> String {
    format!(
        "arrivals = {{ poisson = \"{gap}\" }}\nreads = {reads:?}\nsize = \"{size}\"\naddress = \"{address}\""
    )
}

fn film(outcome: &Outcome) -> Value {
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

/// Compares a film with its log, and checks that it can be: how many requests it shows, and how many of the arm's works.
fn check(outcome: &Outcome) -> (usize, usize) {
    let (film, rows) = (film(outcome), log(outcome));
    let (from, to) = (number(&film["from_ns"]), number(&film["to_ns"]));
    let parts: Vec<&str> = list(&film["parts"])
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut shown = Vec::new();
    for request in list(&film["requests"]) {
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
    let waiting = list(&film["waiting"]).len() as u64 + number(&film["waiting_left_out"]);
    assert_eq!(waiting, waited.count() as u64);

    let (turn, phase) = (film["turn_ns"].as_f64(), film["phase"].as_f64());
    let (turn, phase) = (turn.expect("a time"), phase.expect("an angle"));
    let mut until = 0;
    let arm = &film["arms"][0];
    let mut place = (number(&arm["cylinder"]), number(&arm["head"]));
    for work in list(&film["work"]) {
        let mut at = number(&work["start_ns"]);
        assert!(at >= until, "the arm is at two works at a time: {work}");
        assert!(at < to);
        for step in list(&work["steps"]) {
            let (part, ns) = (parts[number(&step[0]) as usize], number(&step[1]));
            let there = (number(&step[2]), number(&step[3]));
            match part {
                "seek" | "head_switch" => assert_ne!(there, place, "{work}"),
                "settle" => {}
                _ => assert_eq!(there, place, "{work}"),
            }
            place = there;
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
        until = at;
        assert!(until > from);
    }
    (shown.len(), list(&film["work"]).len())
}

#[test]
fn the_steps_are_the_parts_of_the_log() {
    let drives = ["cheetah-9lp", "hp-c3323a", "ibm-18es", "exos-x20"];
    for drive in drives {
        for buffer in ["", "buffer = false\n"] {
            for (size, gap) in [
                ("8 blocks", "12 ms"),
                ("700 blocks", "90 ms"),
                ("3 blocks", "5 ms"),
            ] {
                for address in ["uniform", "sequential"] {
                    let device = format!("drive = \"{drive}\"\n{buffer}");
                    let load = load(0.6, size, address, gap);
                    let outcome = run(&device, &load, FilmFrom::FirstMeasured);
                    let (requests, works) = check(&outcome);
                    assert!(requests > 0 && works > 0, "{device} {load}");
                }
            }
        }
    }
}

#[test]
fn a_film_changes_nothing() {
    for (device, address) in [
        ("drive = \"cheetah-9lp\"\n", "sequential"),
        ("drive = \"hp-c3323a\"\n", "uniform"),
        ("drive = \"ibm-18es\"\nbuffer = false\n", "uniform"),
    ] {
        let load = load(0.5, "24 blocks", address, "9 ms");
        let with = run(device, &load, FilmFrom::FirstMeasured);
        let without = run(device, &load, FilmFrom::Nowhere);
        assert_eq!(with.digest(), without.digest());
        assert_eq!(with.get("devices"), without.get("devices"));
    }
}

#[test]
fn it_begins_with_the_first_measured_request() {
    let outcome = run(
        "drive = \"ibm-18es\"\n",
        &load(1.0, "8 blocks", "uniform", "20 ms"),
        FilmFrom::FirstMeasured,
    );
    let film = film(&outcome);
    assert_eq!(
        number(&film["from_ns"]),
        log(&outcome)[REQUESTS / 10].get("start_ns")
    );
    assert_eq!(
        number(&film["to_ns"]) - number(&film["from_ns"]),
        500_000_000
    );
    assert_eq!(film["ended_by"], "time");
}

#[test]
fn requests_in_merged_services_are_shown_each() {
    let device = "drive = \"cheetah-9lp\"\nbuffer = false\n[device.hdd.queue]\ndepth = 64\nclustering = \"64 blocks\"\n";
    let outcome = run(
        device,
        &load(0.5, "8 blocks", "sequential", "1 ms"),
        FilmFrom::FirstMeasured,
    );
    check(&outcome);
    let film = film(&outcome);
    let services: Vec<u64> = list(&film["requests"])
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
            FilmFrom::FirstMeasured,
        );
        check(&outcome);
        let film = film(&outcome);
        let travels = list(&film["work"])
            .iter()
            .filter(|work| work["op"].is_null());
        assert!(travels.count() > 0, "{device}");
    }
}

#[test]
fn a_power_cut_ends_it() {
    let device = "drive = \"cheetah-9lp\"\n[[fault]]\nat = \"3.1 s\"\nkind = \"power-cut\"\n";
    let film = film(&run(
        device,
        &load(0.5, "8 blocks", "uniform", "9 ms"),
        FilmFrom::Instant(Time::from_s(3)),
    ));
    assert_eq!(number(&film["to_ns"]), 3_100_000_000);
    assert_eq!(number(&film["run_end_ns"]), 3_100_000_000);
    assert_eq!(film["ended_by"], "run");
    let last = list(&film["requests"]).last().expect("the disk was busy");
    assert!(number(&last["completion_ns"]) > 3_100_000_000);
}

#[test]
fn too_many_requests_end_it() {
    let device = "drive = \"cheetah-9lp\"\nbuffer = false\n[device.hdd.queue]\ndepth = 128\nclustering = \"128 blocks\"\n";
    let load = load(1.0, "1 blocks", "sequential", "50 us");
    let outcome = run(device, &load, FilmFrom::FirstMeasured);
    let film = film(&outcome);
    assert_eq!(film["ended_by"], "accesses");
    let (requests, _) = check(&outcome);
    assert!((2_000 - 128..=2_000).contains(&requests), "{requests}");
}

#[test]
fn a_window_after_the_run_is_empty() {
    let load = load(1.0, "8 blocks", "uniform", "20 ms");
    let outcome = run(
        "drive = \"ibm-18es\"\n",
        &load,
        FilmFrom::Instant(Time::from_s(3_600)),
    );
    let film = film(&outcome);
    assert_eq!(
        (film["requests"].clone(), film["ended_by"].as_str()),
        (Value::Array(vec![]), Some("run"))
    );
    assert_eq!(film["to_ns"], film["from_ns"]);
}

#[test]
fn behind_a_cache_requests_are_those_of_the_host() {
    let device = "drive = \"cheetah-9lp\"\n[device.hdd.cache]\nsize = \"1 MiB\"\npolicy = \"lru\"\nwrite_policy = \"write-back\"\n";
    let outcome = run(
        device,
        &load(0.5, "8 blocks", "uniform", "12 ms"),
        FilmFrom::FirstMeasured,
    );
    let (film, rows) = (film(&outcome), log(&outcome));
    let mut of_host = 0;
    for request in list(&film["requests"]) {
        if let Some(sequence) = request["sequence"].as_u64() {
            let row = &rows[sequence as usize];
            assert_eq!(number(&request["start_ns"]), row.get("start_ns"));
            assert_eq!(number(&request["completion_ns"]), row.get("completion_ns"));
            of_host += 1;
        }
    }
    let all = list(&film["requests"]).len();
    assert!(of_host > 0 && of_host < all, "{of_host} of {all}");
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
        check(&run(&device, &load, FilmFrom::Instant(Time::from_ms(from))));
    }
}
