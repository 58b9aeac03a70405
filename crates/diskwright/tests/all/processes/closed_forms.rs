//! Loads of which every instant is known.

use serde_json::Value;

use crate::support::{run, run_with, setting};

/// Generators of `gap` ms and 1 block on a device that takes 1 ms, in turns or side by side.
fn spec(keys: &str, generators: &[&str], parallel: u32) -> String {
    let generators = generators.iter().map(|keys| {
        format!(
            "[[workload.processes.generator]]\nsize_blocks = {{ uniform = {{ min = 1, max = 1 }} }}\n{keys}\n"
        )
    });
    format!(
        "seed = 3\n[workload.processes]\n{keys}\n{}[device.simple]\ncapacity = \"1 MiB\"\nread = \"1 ms\"\nwrite = \"1 ms\"\nparallel = {parallel}\n",
        generators.collect::<String>()
    )
}

/// A gap that is always the same.
fn every(ms: f64) -> String {
    format!("gap_ms = {{ uniform = {{ min = {ms:?}, max = {ms:?} }} }}")
}

fn number(result: &Value, path: &str) -> f64 {
    let value = result.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{path} in {result:#}"))
}

fn notes(result: &Value) -> String {
    result["notes"].to_string()
}

#[test]
fn an_open_process_makes_a_request_every_gap() {
    let open = every(2.5);
    let result = run(&spec("requests = 1000", &[&open], 1));
    // The last request arrives at 2500 ms, when the run ends.
    assert!(notes(&result).contains("ended the run at 2.5 s: 1 requests under way"));
    assert_eq!(result["requests"]["issued"], 1000);
    assert_eq!(result["requests"]["completed"], 999);
    assert_eq!(number(&result, "/response_ms/max"), 1.0);
}

#[test]
fn a_closed_process_waits_for_each_request() {
    let closed = format!("{}\ncritical = 1.0", every(2.0));
    let result = run(&spec("requests = 1000", &[&closed], 1));
    // 2 ms of computing and 1 ms of waiting; the run ends with the last completion.
    assert!(notes(&result).contains("ended the run at 3 s: 0 requests under way"));
    assert_eq!(result["requests"]["completed"], 1000);
}

#[test]
fn a_process_that_does_not_wait_keeps_its_processor() {
    let open = every(2.5);
    let three: [&str; 3] = [&open; 3];
    let result = run(&spec("requests = 1000\nprocessors = 1", &three, 3));
    // Only the last generator ever runs.
    assert!(
        notes(&result).contains("generators that made no request: 1, 0"),
        "{}",
        notes(&result)
    );
    assert_eq!(result["by_stream"]["generator[2]"]["count"], 999);
    let result = run(&spec("requests = 1000\nprocessors = 3", &three, 3));
    assert!(!notes(&result).contains("made no request"));
    // Three at a time: of the 334th time the first process is the 1000th that goes on.
    assert!(
        notes(&result).contains("ended the run at 835 ms"),
        "{}",
        notes(&result)
    );
}

#[test]
fn an_idle_processor_is_lost_unless_it_is_the_first() {
    // Two processes that always wait: the second processor is idle at 3 ms, when its process has made its request, and from then on both share
    // the first one.
    let closed = format!("{}\ncritical = 1.0", every(3.0));
    let two: [&str; 2] = [&closed; 2];
    let lost = run(&spec("requests = 100\nprocessors = 2", &two, 2));
    let resumed = spec(
        "requests = 100\nprocessors = 2\nidle_processors = \"resumed\"",
        &two,
        2,
    );
    let resumed = run(&resumed);
    assert!(
        notes(&lost).contains("not used again (workload.processes.idle_processors): 1 since 3 ms")
    );
    assert!(!notes(&resumed).contains("not used again"));
    // A request every 3 ms of the one processor; and with both, two every 4 ms.
    assert!(
        notes(&resumed).contains("ended the run at 200 ms"),
        "{}",
        notes(&resumed)
    );
    let ends = 4.0 + 3.0 * 98.0 + 1.0;
    assert!(
        (number(&lost, "/simulated_s") * 1e3 - ends).abs() < 3.5,
        "{ends} {}",
        notes(&lost)
    );
}

#[test]
fn a_limit_is_looked_after_in_a_gap_that_is_longer() {
    let limited = |gaps: &str, limit: f64| {
        let keys = format!(
            "{gaps}\nlimited = 1.0\nlimit_ms = {{ uniform = {{ min = {limit:?}, max = {limit:?} }} }}"
        );
        notes(&run(&spec("requests = 100", &[&keys], 1)))
    };
    // Gaps of 2 ms after one of 0.4 ms. The first request, of 0.4 ms, is looked after 0.45 ms into the gap after it, at 0.85 ms: it ends at 1.4 ms,
    // and the other 1.55 ms of the gap follow, to 2.95 ms. The second one is looked after 1.6 ms later, when it has long been complete; the third
    // one, of 4.95 ms, as the first one: two of them take 4.55 ms.
    let gaps = format!(
        "sequential = 1.0\n{}\nsequential_{}",
        every(0.4),
        every(2.0)
    );
    let ended = limited(&gaps, 0.05);
    assert!(ended.contains("ended the run at 225.9 ms"), "{ended}");
    // A time that is as long as every gap, or longer, lies in none.
    for limit in [0.0, 0.3] {
        let ended = limited(&every(0.8), limit);
        assert!(ended.contains("ended the run at 80 ms"), "{ended}");
    }
}

#[test]
fn the_time_of_computing_has_a_scale() {
    let text = spec("requests = 1000\ntime_scale = 0.5", &[&every(3.0)], 2);
    assert!(notes(&run(&text)).contains("ended the run at 1.5 s"));
    let closed = format!("{}\ncritical = 1.0", every(3.0));
    let text = spec("requests = 1000\ntime_scale = 0.0", &[&closed], 2);
    assert!(notes(&run(&text)).contains("ended the run at 1 s: 0 requests"));
}

#[test]
fn a_run_ends_by_its_time_too() {
    let end = |duration: &str| {
        let keys = format!("requests = 1000\nduration = \"{duration}\"");
        notes(&run(&spec(&keys, &[&every(2.5)], 1)))
    };
    // It is looked at when a process plans, at whole gaps.
    assert!(end("10 ms").contains("ended the run at 10 ms"));
    assert!(end("10.1 ms").contains("ended the run at 12.5 ms"));
    assert!(end("7.5 ms").contains("ended the run at 7.5 ms"));
    let text = spec("requests = 1000", &[&every(2.5)], 1);
    let of = |key: &str| notes(&run_with(&text, &setting(&[key])));
    assert!(of("measure.requests=10").contains("ended the run at 25 ms"));
    assert!(of("measure.duration=10ms").contains("ended the run at 15 ms"));
    assert!(of("workload.processes.duration=10ms").contains("ended the run at 10 ms"));
}

#[test]
fn the_first_requests_depend_on_the_seed_and_the_others_on_theirs() {
    let text = spec(
        "requests = 200",
        &["gap_ms = { exponential = { mean = 5.0 } }\nreads = 0.5"],
        1,
    );
    let digest = |set: &[&str]| run_with(&text, &setting(set))["digest"].clone();
    let as_it_is = digest(&[]);
    assert_eq!(
        as_it_is,
        digest(&["workload.processes.first_seed=3", "seed=9"])
    );
    assert_eq!(as_it_is, digest(&["workload.processes.later_seed=1000003"]));
    assert_ne!(as_it_is, digest(&["seed=4"]));
    assert_ne!(as_it_is, digest(&["workload.processes.later_seed=4"]));
}

#[test]
fn generators_are_told_apart_by_their_names() {
    let (one, two) = (every(2.0), every(3.0));
    let named = format!("name = \"writer\"\nreads = 0.0\n{two}");
    let result = run(&spec("requests = 100\nprocessors = 2", &[&one, &named], 2));
    assert!(number(&result, "/by_stream/generator[0]/count") > 50.0);
    assert_eq!(
        result["by_stream"]["writer"]["count"],
        result["by_op"]["write"]["count"]
    );
    let alone = run(&spec("requests = 100", &[&one], 2));
    assert!(alone.get("by_stream").is_none());
}

#[test]
fn requests_go_to_several_devices() {
    let keys = format!(
        "devices = [4, 7]\ncapacity = \"100 blocks\"\nreads = 0.0\n{}",
        every(2.0)
    );
    let mut text = spec("requests = 400", &[&keys], 1);
    text = text.replacen(
        "[device.simple]",
        "[[workload.devices]]\ndevice = 7\noffset = \"1000 blocks\"\nsize = \"100 blocks\"\n\
         [[workload.devices]]\ndevice = 4\noffset = \"500 blocks\"\n[device.simple]",
        1,
    );
    let options = crate::support::RunOptions {
        keep_requests: true,
        ..crate::support::checked()
    };
    let outcome = crate::support::outcome_of(&crate::support::from_text(&text), &options);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let asked = super::asked(&outcome, 400);
    let places: Vec<u64> = asked.iter().flatten().map(|&(lbn, _, _)| lbn).collect();
    let on = |begin: u64| {
        places
            .iter()
            .filter(|&&lbn| (begin..begin + 100).contains(&lbn))
            .count()
    };
    assert_eq!(on(500) + on(1000), places.len());
    assert!(on(500) > 150 && on(1000) > 150, "{} {}", on(500), on(1000));
    let error = |from: &str, to: &str| {
        let error = crate::support::try_run(&text.replacen(from, to, 1)).expect_err(to);
        error.to_string()
    };
    assert!(
        error("devices = [4, 7]", "devices = [4, 8]")
            .contains("devices has 8: the load's devices are 7, 4")
    );
    assert!(error("devices = [4, 7]\n", "").contains("devices is missing"));
    assert!(
        error("capacity = \"100", "capacity = \"101")
            .contains("at most the 100 of its smallest device")
    );
    assert!(
        error("offset = \"500", "size_scale = 2\noffset = \"500")
            .contains("size_scale 2: expected 512 and 1")
    );
}
