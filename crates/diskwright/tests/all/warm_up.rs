//! What is measured begins when the last request of the warm-up is complete: rates, and what devices count.

use diskwright::metrics::recorder::MOST_STREAMS;
use serde_json::Value;

use crate::support::{Outcome, RunOptions, from_text, outcome_of, run, setting};

/// A request of a run, in ns.
struct Row {
    sequence: u64,
    lbn: u64,
    blocks: u64,
    arrival: u64,
    acceptance: u64,
    start: u64,
    completion: u64,
}

fn rows(outcome: &Outcome) -> Vec<Row> {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{UInt32Type, UInt64Type};
    let batches = outcome.requests().expect("the rows were kept").batches();
    let mut rows = Vec::new();
    for batch in batches {
        let column = |name: &str| {
            let column = batch.column_by_name(name).expect(name);
            column.as_primitive::<UInt64Type>().values().to_vec()
        };
        let blocks = batch.column_by_name("blocks").expect("blocks");
        let blocks = blocks.as_primitive::<UInt32Type>().values();
        let (sequence, lbn) = (column("sequence"), column("lbn"));
        let (arrival, start) = (column("arrival_ns"), column("start_ns"));
        let acceptance = column("acceptance_ns");
        for (row, &completion) in column("completion_ns").iter().enumerate() {
            rows.push(Row {
                sequence: sequence[row],
                lbn: lbn[row],
                blocks: blocks[row].into(),
                arrival: arrival[row],
                acceptance: acceptance[row],
                start: start[row],
                completion,
            });
        }
    }
    rows
}

/// Two disks in stripes of 8 blocks, and requests that fit a stripe: each is one member's.
const STRIPES: &str = r#"
    seed = 3
    [workload.synthetic]
    requests = 600
    arrivals = { poisson = "9 ms" }
    reads = 0.6
    size = "8 blocks"
    [device.array]
    layout = { stripe = { unit = "8 blocks" } }
    [[device.array.member]]
    hdd = { drive = "ibm-18es", buffer = false }
    [[device.array.member]]
    hdd = { drive = "ibm-18es", buffer = false, queue = { scheduler = "satf" } }
"#;

fn number(value: &Value, pointer: &str) -> f64 {
    let found = value.pointer(pointer);
    found
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{pointer} is no number"))
}

#[track_caller]
fn assert_near(found: f64, expected: f64, what: &str) {
    let off = (found - expected).abs();
    assert!(
        off <= 1e-9 * expected.abs().max(1.0),
        "{what}: {found} instead of {expected}"
    );
}

/// What is told of a run on [`STRIPES`] against its own log of requests, of which `is_warm_up` are the warm-up.
fn check_against_log(warm_up: &str, is_warm_up: impl Fn(&Row, u64) -> bool) {
    let options = RunOptions {
        keep_requests: true,
        check: true,
        ..setting(&[&format!("measure.warmup={warm_up}")])
    };
    let outcome = outcome_of(&from_text(STRIPES), &options).expect("it runs");
    let (rows, result) = (rows(&outcome), outcome.json());
    let first = rows.iter().map(|row| row.arrival).min().expect("requests");
    let warm = |row: &&Row| is_warm_up(row, first);
    let ended = |row: &Row| row.completion;
    let since = rows.iter().filter(warm).map(ended).max().unwrap_or(first);
    let last = rows.iter().map(ended).max().expect("requests");
    let span = (last - since) as f64 / 1e9;
    let measured: Vec<&Row> = rows.iter().filter(|row| !warm(row)).collect();
    let count = measured.len() as f64;
    assert_eq!(number(&result, "/requests/measured"), count);
    assert_eq!(number(&result, "/requests/completed"), 600.0);
    assert_near(number(&result, "/measured_s"), span, "span");
    assert_near(number(&result, "/iops"), count / span, "iops");
    let bytes: u64 = measured.iter().map(|row| row.blocks * 512).sum();
    assert_near(
        number(&result, "/mb_per_s"),
        bytes as f64 / 1e6 / span,
        "MB/s",
    );
    for member in 0..2 {
        let own = rows.iter().filter(|row| row.lbn / 8 % 2 == member);
        // The drive serves one request at a time: what it does after the end of the warm-up counts.
        let left = own.map(|row| row.completion.saturating_sub(row.start.max(since)));
        let busy = left.sum::<u64>() as f64 / 1e9;
        let device = &result["devices"][format!("array.member[{member}].hdd")];
        assert_near(number(device, "/utilisation"), busy / span, "utilisation");
    }
}

#[test]
fn rates_and_busy_times_are_of_the_time_after_the_warm_up() {
    check_against_log("0", |_, _| false);
    check_against_log("1", |row, _| row.sequence < 1);
    check_against_log("200", |row, _| row.sequence < 200);
    check_against_log("'25 %'", |row, _| row.sequence < 150);
    check_against_log("'1.5 s'", |row, first| row.arrival - first < 1_500_000_000);
    check_against_log("'0 s'", |_, _| false);
}

/// Counts that are there at the end and not ends of something: they differ between runs as a whole.
fn is_count(key: &str) -> bool {
    let no_count = [
        "utilisation",
        "mean",
        "max",
        "longest_wait",
        "ratio",
        "share",
        "angle",
        "frames",
        "dirty",
        "/settings/",
        "scan_s",
        "slots",
        "mapped",
        "tracks",
        "cylinders",
    ];
    !no_count.iter().any(|word| key.contains(word)) || key.ends_with("travel_cylinders")
}

fn counts(result: &Value) -> Vec<(String, f64)> {
    fn collect(path: String, value: &Value, found: &mut Vec<(String, f64)>) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries {
                    collect(format!("{path}/{key}"), value, found);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    collect(format!("{path}/{index}"), value, found);
                }
            }
            Value::Number(number) => found.push((path, number.as_f64().expect("a number"))),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(String::new(), &result["devices"], &mut found);
    found.retain(|(key, _)| is_count(key));
    found
}

/// Requests far enough apart that nothing is under way when one arrives: a run with a warm-up counts what the whole one counts beyond the
/// warm-up alone.
fn check_difference(device: &str, expected: &[&str]) {
    let spec = format!(
        "seed = 5\n[workload.synthetic]\nrequests = 400\narrivals = {{ constant = \"120 ms\" }}\nreads = 0.5\nsize = \"8 blocks\"\n\
         address = {{ zipf = {{ blocks = 40_000 }} }}\n{device}"
    );
    let of = |set: &[&str]| {
        let outcome = outcome_of(&from_text(spec.as_str()), &setting(set));
        counts(&outcome.expect("it runs").json())
    };
    let (all, start) = (of(&[]), of(&["measure.requests=150"]));
    let rest = of(&["measure.warmup=150"]);
    let mut known: Vec<&str> = Vec::new();
    assert_eq!(all.len(), rest.len());
    for (((key, all), (_, start)), (_, rest)) in all.iter().zip(&start).zip(&rest) {
        assert!(
            (all - start - rest).abs() < 1e-6,
            "{key}: {all} - {start} is not {rest}"
        );
        if *start > 0.0 && *rest > 0.0 {
            known.extend(expected.iter().filter(|word| key.contains(*word)));
        }
    }
    for word in expected {
        assert!(known.contains(word), "{word} counts nothing: {all:?}");
    }
}

#[test]
fn counters_begin_when_the_warm_up_is_over() {
    let disk = "drive = \"ibm-18es\"\nbuffer = false\n";
    check_difference(
        "[device.hdd]\ndrive = \"ibm-18es\"\n",
        &[
            "media_accesses",
            "buffer_misses",
            "buffered_writes",
            "busy_ms/rotation",
            "reads",
        ],
    );
    check_difference(
        &format!("[device.hdd]\n{disk}cache = {{ size = \"256 KiB\" }}\n"),
        &[
            "frame_accesses",
            "insertions",
            "read_hits",
            "evictions",
            "cache/writes",
            "busy_ms/seek",
        ],
    );
    check_difference(
        &format!(
            "[device.hdd]\n{disk}arms = {{ arm = [{{}}, {{ angle = 0.5 }}] }}\n\
             placement = {{ eager = {{ reserve = 0.1, allocator = \"edge\" }} }}\n"
        ),
        &["arms/0/accesses", "arms/1/busy_ms", "writes"],
    );
    check_difference(
        &format!(
            "[device.array]\nlayout = \"mirror\"\n[[device.array.member]]\nhdd = {{ {0} }}\n[[device.array.member]]\nhdd = {{ {0} }}\n",
            disk.trim().replace('\n', ", ")
        ),
        &[
            "array/pieces",
            "members/member[0]/blocks",
            "member[1].hdd/seeks",
        ],
    );
}

#[test]
fn arms_that_are_at_work_when_the_warm_up_ends_are_busy_from_then_on() {
    let spec = r#"
        seed = 3
        [workload.synthetic]
        requests = 500
        arrivals = { closed = { users = 8 } }
        size = "8 blocks"
        [device.hdd]
        drive = "ibm-18es"
        buffer = false
        arms = { motion = "independent", arm = [{}, { angle = 0.5 }] }
    "#;
    // Both arms are at work all the time but for the overhead of commands and the end: what the drive is busy for is the whole span.
    for warm_up in ["0", "1", "100", "101", "102", "'30 %'", "'1 s'"] {
        let set = format!("measure.warmup={warm_up}");
        let outcome = outcome_of(&from_text(spec), &setting(&[&set])).expect("it runs");
        let result = outcome.json();
        let device = &result["devices"]["hdd"];
        assert_near(number(device, "/utilisation"), 1.0, warm_up);
        let span = number(&result, "/measured_s") * 1e3;
        for arm in ["/arms/0/busy_ms", "/arms/1/busy_ms"] {
            let share = number(device, arm) / span;
            assert!((0.9..=1.0).contains(&share), "{warm_up}: {arm} {share}");
        }
    }
}

#[test]
fn without_a_warm_up_nothing_is_left_out() {
    let none = run(STRIPES);
    let zero = crate::support::run_with(
        STRIPES,
        &RunOptions {
            check: true,
            ..setting(&["measure.warmup=0"])
        },
    );
    for key in [
        "requests",
        "devices",
        "iops",
        "mb_per_s",
        "by_op",
        "response_ms",
        "measured_s",
        "digest",
    ] {
        assert_eq!(none[key], zero[key], "{key}");
    }
    assert_eq!(none["measured_s"], none["simulated_s"]);
}

#[test]
fn a_run_that_is_all_warm_up_is_an_error() {
    for warm_up in ["600", "100000", "'1 h'"] {
        let options = setting(&[&format!("measure.warmup={warm_up}")]);
        let error = crate::support::try_run_with(STRIPES, &options).expect_err(warm_up);
        let words = "all 600 requests of the run belong to the warm-up";
        assert!(error.to_string().contains(words), "{error}");
    }
    let one = crate::support::run_with(STRIPES, &setting(&["measure.warmup=599"]));
    assert_eq!(one["requests"]["measured"], 1);
}

#[test]
fn a_power_cut_may_end_the_warm_up() {
    let spec = format!("{STRIPES}\n[[fault]]\nat = \"2 s\"\nkind = \"power-cut\"\n");
    let result = crate::support::run_with(&spec, &setting(&["measure.warmup=100000"]));
    let requests = &result["devices"]["array"]["requests"];
    assert_eq!((requests, number(&result, "/iops")), (&0.into(), 0.0));
}

/// The queue's mean length after the warm-up is Little's law's: the time in the queue of what was there, over the span.
#[test]
fn the_mean_queue_begins_with_what_waits_when_the_warm_up_ends() {
    let spec = r#"
        seed = 3
        [workload.synthetic]
        requests = 300
        arrivals = { poisson = "9 ms" }
        [device.hdd]
        drive = "ibm-18es"
        buffer = false
    "#;
    let options = RunOptions {
        keep_requests: true,
        ..setting(&["measure.warmup=100"])
    };
    let outcome = outcome_of(&from_text(spec), &options).expect("it runs");
    let (rows, result) = (rows(&outcome), outcome.json());
    let warm = rows.iter().filter(|row| row.sequence < 100);
    let since = warm.map(|row| row.completion).max().expect("a warm-up");
    let last = rows
        .iter()
        .map(|row| row.completion)
        .max()
        .expect("requests");
    let waits = rows
        .iter()
        .map(|row| row.completion.saturating_sub(row.acceptance.max(since)));
    let expected = waits.sum::<u64>() as f64 / (last - since) as f64;
    let device = &result["devices"]["hdd"];
    assert_near(number(device, "/queue_length_mean"), expected, "queue");
    let most = |at: u64| {
        rows.iter()
            .filter(|row| row.acceptance <= at && row.completion > at)
            .count()
    };
    let most = rows
        .iter()
        .map(|row| row.acceptance)
        .filter(|&at| at >= since)
        .chain([since])
        .map(most)
        .max();
    assert_eq!(device["queue_length_max"], most.expect("requests"));
}

#[test]
fn a_device_that_fails_during_the_warm_up_is_never_busy() {
    // The first member has a buffered write of seconds under way when it fails.
    let spec = r#"
        [workload.synthetic]
        requests = 100
        arrivals = { constant = "10 ms" }
        reads = 0.0
        size = "64 blocks"
        [measure]
        warmup = "50 %"
        [[fault]]
        at = "300 ms"
        kind = { fail = "array.member[0]" }
        [device.array]
        layout = { mirror = {} }
        [[device.array.member]]
        hdd = { drive = "hp-c3323a", queue = { depth = 32 }, buffer = { segment_size = "3 blocks", write = { complete = "buffered" }, bus = { disconnects = true, preparation = "95 ms" } } }
        [[device.array.member]]
        simple = { read = "2 ms", write = "2 ms", capacity = "10 GB" }
    "#;
    let devices = &run(spec)["devices"];
    let (failed, other) = (
        &devices["array.member[0].hdd"],
        &devices["array.member[1].simple"],
    );
    assert_eq!(failed["utilisation"], 0.0);
    assert_eq!(failed["queue_length_mean"], 0.0);
    assert_near(number(other, "/utilisation"), 0.2, "the other member");
}

#[test]
fn operations_and_streams_add_up_to_the_whole() {
    let spec = r#"
        seed = 12
        [measure]
        warmup = 100
        [[workload.synthetic.stream]]
        name = "scan"
        requests = 300
        arrivals = { constant = "10 ms" }
        size = "64 blocks"
        reads = 1.0
        [[workload.synthetic.stream]]
        requests = 400
        arrivals = { poisson = "9 ms" }
        reads = 0.25
        trims = 0.1
        flush_every = 5
        [device.hdd]
        drive = "ibm-18es"
    "#;
    let result = run(spec);
    let ops: Vec<&str> = result["by_op"]
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(ops, ["read", "write", "flush", "trim"]);
    let streams: Vec<&str> = result["by_stream"]
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(streams, ["scan", "stream[1]"]);
    for groups in ["by_op", "by_stream"] {
        let sum = |pointer: &str| -> f64 {
            let groups = result[groups].as_object().expect("an object").values();
            groups.map(|group| number(group, pointer)).sum()
        };
        assert_eq!(
            sum("/count"),
            number(&result, "/requests/measured"),
            "{groups}"
        );
        assert_near(sum("/iops"), number(&result, "/iops"), groups);
        assert_near(sum("/mb_per_s"), number(&result, "/mb_per_s"), groups);
        for times in ["response_ms", "service_ms"] {
            let pointer = format!("/{times}/total");
            assert_near(sum(&pointer), number(&result, &pointer), groups);
            let most = result[groups].as_object().expect("an object").values();
            let most = most
                .map(|group| number(&group[times], "/max"))
                .fold(0.0, f64::max);
            assert_eq!(most, number(&result[times], "/max"), "{groups}");
        }
    }
    assert_eq!(number(&result["by_op"]["flush"], "/mb_per_s"), 0.0);
    assert_eq!(number(&result["by_op"]["trim"], "/mb_per_s"), 0.0);
    assert!(number(&result["by_op"]["trim"], "/blocks") > 0.0);
    let scan = &result["by_stream"]["scan"];
    assert_eq!(number(scan, "/blocks"), 64.0 * number(scan, "/count"));
}

#[test]
fn users_of_a_closed_load_belong_to_their_streams() {
    let stream = |name: &str, users: u32, size: u32| {
        format!(
            "[[workload.synthetic.stream]]\nname = \"{name}\"\nrequests = {}\narrivals = {{ closed = {{ users = {users} }} }}\n\
             reads = 1.0\nsize = \"{size} blocks\"\n",
            100 * users
        )
    };
    let spec = format!(
        "[measure]\nwarmup = 0\n[host]\noutstanding = 2\n{}{}[device.hdd]\ndrive = \"ibm-18es\"\n",
        stream("small", 3, 8),
        stream("large", 1, 128)
    );
    let result = run(&spec);
    for (name, count, blocks) in [("small", 300.0, 2_400.0), ("large", 100.0, 12_800.0)] {
        let group = &result["by_stream"][name];
        assert_eq!(
            (number(group, "/count"), number(group, "/blocks")),
            (count, blocks),
            "{name}"
        );
    }
}

#[test]
fn one_load_has_no_streams_and_very_many_are_not_told_apart() {
    assert_eq!(run(STRIPES).get("by_stream"), None);
    let many = |streams: usize| {
        let stream =
            "[[workload.synthetic.stream]]\nrequests = 1\narrivals = { constant = \"1 s\" }\n"
                .repeat(streams);
        run(&format!("{stream}[device.hdd]\ndrive = \"ibm-18es\"\n"))
    };
    let most = many(MOST_STREAMS);
    assert_eq!(
        most["by_stream"].as_object().map(|streams| streams.len()),
        Some(MOST_STREAMS)
    );
    let more = many(MOST_STREAMS + 1);
    assert_eq!(more.get("by_stream"), None);
    let notes = more["notes"].as_array().expect("a list");
    assert!(
        notes.iter().any(|note| note
            .as_str()
            .is_some_and(|note| note.contains("257 streams"))),
        "{notes:?}"
    );
}
