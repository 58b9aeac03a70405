//! Streams that begin and end by a plan, against closed forms: on a device of one millisecond a request every instant is known.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use serde_json::Value;

use crate::support::{checked, outcome_of, run, setting, try_run, try_run_with};
use crate::support::{from_text, run_with};

/// A device that takes 1 ms for a request, `parallel` of them at a time.
fn device(parallel: u32) -> String {
    format!(
        "[device.simple]\ncapacity = \"1 GiB\"\nread = \"1 ms\"\nwrite = \"1 ms\"\nparallel = {parallel}\n"
    )
}

fn spec(streams: &[&str], parallel: u32) -> String {
    let streams = streams
        .iter()
        .map(|keys| format!("[[workload.synthetic.stream]]\n{keys}\n"));
    format!("{}{}", streams.collect::<String>(), device(parallel))
}

fn number(result: &Value, path: &str) -> f64 {
    let value = result.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{path} in {result:#}"))
}

fn stream(result: &Value, name: &str, key: &str) -> f64 {
    number(result, &format!("/by_stream/{name}/{key}"))
}

#[test]
fn a_rate_is_kept_to_the_request() {
    // In 10 s at 100 a second the requests are those of 0, 10, …, 9990 ms, and the last one completes 1 ms later.
    let text = spec(
        &[
            "name = \"a\"\nduration = \"10 s\"\narrivals = { closed = { users = 4, rate = { requests = 100 } } }",
        ],
        1,
    );
    let result = run(&text);
    assert_eq!(result["requests"]["completed"], 1000);
    assert!((number(&result, "/simulated_s") - 9.991).abs() < 1e-9);
    assert!((stream(&result, "a", "measured_s") - 9.991).abs() < 1e-9);
    assert!((stream(&result, "a", "iops") - 1000.0 / 9.991).abs() < 1e-9);
    // No request waits for another.
    assert_eq!(number(&result, "/response_ms/max"), 1.0);
}

#[test]
fn a_rate_beyond_the_device_is_no_rate() {
    let of = |rate: &str| {
        let text = format!(
            "name = \"a\"\nduration = \"1 s\"\narrivals = {{ closed = {{ users = 1{rate} }} }}"
        );
        run(&spec(&[&text], 1))["digest"].clone()
    };
    assert_eq!(of(""), of(", rate = { requests = 2000 }"));
    assert_ne!(of(""), of(", rate = { requests = 999 }"));
}

#[test]
fn who_fell_behind_catches_up() {
    // The stall of "b" keeps the device for its first 100 requests; "a" then issues what it missed.
    let text = spec(
        &[
            "name = \"a\"\nrequests = 200\narrivals = { closed = { users = 1, rate = { requests = 500 } } }",
            "name = \"b\"\nrequests = 100\narrivals = { closed = { users = 100 } }",
        ],
        1,
    );
    let result = run(&text);
    // Without "b" the last of 200 requests would begin at 398 ms. It still does: after 100 ms "a" has 1 ms of 2 ms to spare.
    assert!(
        (number(&result, "/simulated_s") - 0.399).abs() < 1e-9,
        "{}",
        result["simulated_s"]
    );
}

#[test]
fn a_full_queue_is_refilled_in_batches() {
    // One after another, at 1 ms each: the response time of a request is the number of those before it, and itself.
    let mean = |refill: &str| {
        let text = format!(
            "name = \"a\"\nrequests = 4000\narrivals = {{ closed = {{ users = 4{refill} }} }}"
        );
        let result = run(&spec(&[&text], 1));
        assert_eq!(result["requests"]["completed"], 4000);
        assert!((number(&result, "/simulated_s") - 4.0).abs() < 1e-9);
        number(&result, "/response_ms/mean")
    };
    // The first four take 1 to 4 ms.
    assert!((mean("") - (10.0 + 3996.0 * 4.0) / 4000.0).abs() < 1e-9);
    // Two enter behind two.
    let pairs = (10.0 + 3996.0 * 3.5) / 4000.0;
    assert!((mean(", refill = { completions = 2 }") - pairs).abs() < 1e-9);
    // Three enter behind one.
    let behind_one = mean(", refill = { low = 1 }");
    assert!((behind_one - (10.0 + 3996.0 * 3.0) / 4000.0).abs() < 1e-9);
    // Four enter an idle device.
    for empty in [", refill = { low = 0 }", ", refill = { completions = 4 }"] {
        assert!((mean(empty) - 2.5).abs() < 1e-9);
    }
}

#[test]
fn users_that_think_are_not_ready() {
    // Two of them: 1 ms of service each, 10 ms of thought each; together again at 12 ms.
    let text = "name = \"a\"\nrequests = 10\narrivals = { closed = { users = 2, think = \"10 ms\", refill = { low = 0 } } }";
    let result = run(&spec(&[text], 1));
    assert!((number(&result, "/simulated_s") - (4.0 * 12.0 + 2.0) * 1e-3).abs() < 1e-9);
    let alone = text.replace(", refill = { low = 0 }", "");
    let result = run(&spec(&[&alone], 1));
    assert!((number(&result, "/simulated_s") - (4.0 * 11.0 + 2.0) * 1e-3).abs() < 1e-9);
}

#[test]
fn bytes_a_second_count_the_bytes_of_every_request() {
    // 8 KiB at 819,200 bytes a second: one every 10 ms.
    let text = spec(
        &[
            "name = \"a\"\nduration = \"5 s\"\nsize = \"8 KiB\"\narrivals = { closed = { users = 1, rate = { bytes = 819_200 } } }",
        ],
        1,
    );
    assert_eq!(run(&text)["requests"]["completed"], 500);
}

#[test]
fn random_rates_have_their_mean() {
    let text = spec(
        &[
            "name = \"a\"\nduration = \"100 s\"\narrivals = { closed = { users = 64, rate = { poisson-requests = 100 } } }",
        ],
        64,
    );
    let completed = number(&run(&text), "/requests/completed");
    // 10,000 of a Poisson process deviate by 100.
    assert!((completed - 10_000.0).abs() < 400.0, "{completed}");
}

#[test]
fn nothing_is_issued_from_the_end_of_the_duration_on() {
    // One request a millisecond, 0 to 999 ms; what is under way completes.
    for (users, completed) in [(1, 1000), (4, 1003)] {
        let text = spec(
            &[&format!(
                "name = \"a\"\nduration = \"1 s\"\narrivals = {{ closed = {{ users = {users} }} }}"
            )],
            1,
        );
        let result = run(&text);
        assert_eq!(result["requests"]["completed"], completed);
    }
    // Arrival times end with it, too: 0, 3, …, 999 ms.
    let open = spec(
        &["duration = \"1 s\"\narrivals = { constant = \"3 ms\" }"],
        1,
    );
    assert_eq!(run(&open)["requests"]["completed"], 334);
    // What comes first ends a stream.
    let few = spec(
        &["duration = \"1 s\"\nrequests = 7\narrivals = { constant = \"3 ms\" }"],
        1,
    );
    assert_eq!(run(&few)["requests"]["completed"], 7);
}

#[test]
fn a_stream_begins_at_its_start() {
    let text = spec(
        &[
            "name = \"a\"\nrequests = 10\narrivals = { closed = { users = 1 } }",
            "name = \"b\"\nrequests = 5\nstart = \"2 s\"\narrivals = { closed = { users = 1 } }",
        ],
        1,
    );
    let result = run(&text);
    assert!((number(&result, "/simulated_s") - 2.005).abs() < 1e-9);
    assert!((stream(&result, "a", "measured_s") - 0.010).abs() < 1e-9);
    assert!((stream(&result, "b", "measured_s") - 0.005).abs() < 1e-9);
    assert!((stream(&result, "b", "iops") - 1000.0).abs() < 1e-6);
}

#[test]
fn a_stage_begins_when_all_before_it_have_ended() {
    let text = spec(
        &[
            "name = \"a\"\nrequests = 10\narrivals = { closed = { users = 2 } }",
            "name = \"b\"\nduration = \"50 ms\"\narrivals = { closed = { users = 1, rate = { requests = 10 } } }",
            "name = \"c\"\nstage = 1\nrequests = 3\narrivals = { constant = \"5 ms\" }",
            "name = \"d\"\nstage = 7\nrequests = 2\narrivals = { closed = { users = 1 } }",
        ],
        1,
    );
    let result = run(&text);
    // "b" has one request and lasts until 50 ms; "c" has its requests at 50, 55 and 60 ms; "d" from 61 to 63 ms.
    assert!(
        (number(&result, "/simulated_s") - 0.063).abs() < 1e-9,
        "{}",
        result["simulated_s"]
    );
    assert!((stream(&result, "c", "measured_s") - 0.011).abs() < 1e-9);
    assert!((stream(&result, "d", "measured_s") - 0.002).abs() < 1e-9);
}

#[test]
fn a_stream_may_end_its_stage() {
    let text = spec(
        &[
            "name = \"a\"\nrequests = 100\nends_stage = true\narrivals = { closed = { users = 1 } }",
            "name = \"b\"\nduration = \"1 h\"\narrivals = { closed = { users = 1 } }",
            "name = \"c\"\nstart = \"10 s\"\nrequests = 5\narrivals = { closed = { users = 1 } }",
            "name = \"d\"\nstage = 1\nrequests = 5\narrivals = { closed = { users = 1 } }",
        ],
        2,
    );
    let result = run(&text);
    assert_eq!(stream(&result, "a", "count"), 100.0);
    // Served beside it, "b" has had as many, and one more that was issued at the same instant.
    let of_b = stream(&result, "b", "count");
    assert!((100.0..=101.0).contains(&of_b), "{of_b}");
    assert_eq!(result["by_stream"].get("c"), None);
    assert_eq!(stream(&result, "d", "count"), 5.0);
}

#[test]
fn users_pause_together() {
    // 4 requests of 4 users take 1 ms, then all pause for 9 ms: 100 rounds a second.
    let text = spec(
        &[
            "name = \"a\"\nduration = \"1 s\"\narrivals = { closed = { users = 8, pause = { time = \"9 ms\", requests = 4 } } }",
        ],
        4,
    );
    let result = run(&text);
    assert_eq!(result["requests"]["completed"], 400);
    assert_eq!(number(&result, "/response_ms/max"), 1.0);
    // 9 ms of requests, the tenth of which ends the period, and 10 ms of pause: 50 rounds of 20 ms.
    let text = spec(
        &[
            "name = \"a\"\nduration = \"1 s\"\narrivals = { closed = { users = 1, pause = { time = \"10 ms\", period = \"10 ms\" } } }",
        ],
        1,
    );
    assert_eq!(run(&text)["requests"]["completed"], 500);
}

#[test]
fn a_pause_of_one_request_is_thinking() {
    let of = |keys: &str| {
        let text = format!(
            "name = \"a\"\nrequests = 50\narrivals = {{ closed = {{ users = 1, {keys} }} }}"
        );
        run(&spec(&[&text], 1))["digest"].clone()
    };
    assert_eq!(
        of("think = \"3 ms\""),
        of("pause = { time = \"3 ms\", requests = 1 }")
    );
}

#[test]
fn warm_ups_of_streams_are_left_out() {
    let text = spec(
        &[
            "name = \"a\"\nwarmup = \"2 s\"\nduration = \"10 s\"\narrivals = { closed = { users = 1, rate = { requests = 100 } } }",
            "name = \"b\"\nstage = 1\nwarmup = \"1 s\"\nduration = \"3 s\"\narrivals = { constant = \"10 ms\" }",
        ],
        1,
    );
    let result = run(&text);
    assert_eq!(result["requests"]["completed"], 1300);
    assert_eq!(result["requests"]["measured"], 1000);
    assert_eq!(stream(&result, "a", "count"), 800.0);
    assert_eq!(stream(&result, "b", "count"), 200.0);
    // "a" is measured from 2 s to 9.991 s, "b" from 11 s to 12.991 s, and the run from the first to the last.
    assert!((stream(&result, "a", "measured_s") - 7.991).abs() < 1e-9);
    assert!((stream(&result, "b", "measured_s") - 1.991).abs() < 1e-9);
    assert!((number(&result, "/measured_s") - 10.991).abs() < 1e-9);
    let warnings = result["warnings"].to_string();
    assert!(!warnings.contains("no warm-up"), "{warnings}");
    // The device counts from there, too.
    assert_eq!(number(&result, "/devices/simple/reads"), 1100.0);
}

#[test]
fn streams_are_reported_together_that_have_a_common_name() {
    let clone = |name: &str| {
        format!(
            "name = \"{name}\"\nreport_as = \"all\"\nrequests = 10\narrivals = {{ closed = {{ users = 1 }} }}"
        )
    };
    let text = spec(
        &[
            &clone("a"),
            &clone("b"),
            "requests = 5\narrivals = { closed = { users = 1 } }",
        ],
        1,
    );
    let result = run(&text);
    assert_eq!(stream(&result, "all", "count"), 20.0);
    assert_eq!(stream(&result, "stream[2]", "count"), 5.0);
    assert_eq!(result["by_stream"].as_object().expect("streams").len(), 2);
}

#[test]
fn a_sequential_stream_of_a_duration_wraps_around_its_range() {
    let text = "name = \"a\"\nduration = \"1 s\"\naddress = { sequential = { blocks = 80 } }\narrivals = { closed = { users = 1 } }";
    let options = diskwright::runs::simulation::RunOptions {
        keep_requests: true,
        ..checked()
    };
    let outcome = outcome_of(&from_text(spec(&[text], 1)), &options).expect("it runs");
    let table = outcome.requests().expect("kept");
    let mut lbn = Vec::new();
    for batch in table.batches() {
        let column = batch.column_by_name("lbn").expect("a column");
        lbn.extend_from_slice(column.as_primitive::<UInt64Type>().values());
    }
    assert_eq!(lbn.len(), 1000);
    assert!(
        lbn.iter()
            .zip(0u64..)
            .all(|(lbn, index)| *lbn == (index % 10) * 8)
    );
}

#[test]
fn users_and_arrival_times_may_be_mixed() {
    let text = spec(
        &[
            "name = \"open\"\nrequests = 100\narrivals = { constant = \"10 ms\" }",
            "name = \"closed\"\nrequests = 100\narrivals = { closed = { users = 1 } }",
        ],
        2,
    );
    let result = run(&text);
    assert_eq!(stream(&result, "open", "count"), 100.0);
    assert!((number(&result, "/simulated_s") - 0.991).abs() < 1e-9);
    assert_eq!(number(&result, "/response_ms/max"), 1.0);
}

#[test]
fn the_runs_own_ends_hold_for_planned_streams() {
    let text = spec(
        &["name = \"a\"\nduration = \"1 h\"\narrivals = { closed = { users = 2 } }"],
        1,
    );
    let by_requests = run_with(&text, &setting(&["measure.requests=70"]));
    assert_eq!(by_requests["requests"]["completed"], 70);
    let by_time = run_with(&text, &setting(&["measure.duration=50 ms"]));
    assert_eq!(by_time["requests"]["completed"], 52);
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    for (keys, part) in [
        ("arrivals = { closed = { users = 1 } }", "requests"),
        (
            "duration = \"0 s\"\narrivals = { constant = \"1 ms\" }",
            "duration",
        ),
        (
            "duration = \"1 s\"\nwarmup = \"1 s\"\narrivals = { constant = \"1 ms\" }",
            "warmup",
        ),
        (
            "requests = 1\narrivals = { closed = { users = 1, rate = { requests = 0 } } }",
            "closed.rate",
        ),
        (
            "requests = 1\narrivals = { closed = { users = 1, pause = { time = \"1 s\" } } }",
            "closed.pause",
        ),
        (
            "requests = 1\nstart = { min = \"2 s\", max = \"1 s\" }\narrivals = { constant = \"1 ms\" }",
            "start",
        ),
    ] {
        let error = try_run(&spec(&[keys], 1)).expect_err(keys).to_string();
        assert!(error.contains(part), "{keys}\n{error}");
    }
    let endless = spec(
        &["duration = \"1 s\"\narrivals = { constant = \"1 ms\" }"],
        1,
    );
    let error = try_run_with(&endless, &setting(&["measure.warmup=10 %"]));
    let error = error.expect_err("how many?").to_string();
    assert!(
        error.contains("measure.warmup") && error.contains("not known"),
        "{error}"
    );
    let twice = spec(
        &["duration = \"1 s\"\nwarmup = \"1 ms\"\narrivals = { constant = \"1 ms\" }"],
        1,
    );
    let error = try_run_with(&twice, &setting(&["measure.warmup=5 s"]));
    let error = error.expect_err("two warm-ups").to_string();
    assert!(error.contains("stream[0].warmup"), "{error}");
    let nothing = spec(
        &["requests = 3\nwarmup = \"1 s\"\narrivals = { constant = \"1 ms\" }"],
        1,
    );
    let error = try_run(&nothing).expect_err("all warm-up").to_string();
    assert!(error.contains("nothing is measured"), "{error}");
}
