//! Submission queues: what two streams get of a drive that both keep busy.

use serde_json::Value;

use crate::support::{RunOptions, run_with};

/// Two streams with `users` users each, on a drive that serves `depth` requests at a time.
fn streams(users: [u32; 2], requests: [u32; 2], depth: u32, queues: &str) -> Value {
    let stream = |name: &str, place: usize| {
        format!(
            "[[workload.synthetic.stream]]\nname = '{name}'\nrequests = {}\narrivals = {{ closed = {{ users = {} }} }}\nreads = 1.0\nsize = '4 KiB'\n",
            requests[place], users[place]
        )
    };
    let text = format!(
        "{}{}[measure]\nwarmup = 0\n[device.ssd]\ndrive = 'mqsim-clean'\nqueue_depth = {depth}\n\
         flash = {{ channels = 1, blocks = 64, pages = 64, page = '4 KiB' }}\nspare = {{ share = '40 %' }}\ninitial = {{ fill = '100 %' }}\n{queues}",
        stream("a", 0),
        stream("b", 1)
    );
    let options = RunOptions {
        check: true,
        ..RunOptions::default()
    };
    run_with(&text, &options)
}

fn mean_ms(result: &Value, stream: &str) -> f64 {
    let mean = &result["by_stream"][stream]["response_ms"]["mean"];
    mean.as_f64().expect("a time")
}

/// Requests a millisecond of a stream while both are busy: what is outstanding is the rate times the response (Little).
fn rate(result: &Value, stream: &str, users: u32) -> f64 {
    f64::from(users) / mean_ms(result, stream)
}

/// Requests of each stream in proportion to its share, so that both end together.
const EACH: u32 = 2_000;

#[test]
fn two_streams_share_by_their_weights_whatever_they_have_outstanding() {
    for (high, low) in [(1, 1), (3, 1), (8, 1), (3, 2), (1, 4)] {
        let queues = format!(
            "queues = {{ count = 2, weights = {{ high = {high}, medium = 1, low = {low} }}, classes = ['high', 'low'] }}"
        );
        for users in [[16, 16], [12, 40]] {
            let requests = [EACH * high, EACH * low];
            let result = streams(users, requests, 1, &queues);
            let share = rate(&result, "a", users[0]) / rate(&result, "b", users[1]);
            let expected = f64::from(high) / f64::from(low);
            assert!(
                (share / expected - 1.0).abs() < 0.02,
                "{high}:{low}: {share}"
            );
            let fetched = &result["devices"]["ssd"]["fetched_by_queue"];
            assert_eq!(fetched, &serde_json::json!(requests));
        }
    }
}

/// One queue gives each stream what it has outstanding; two queues in turn give both the same.
#[test]
fn one_queue_shares_by_what_is_outstanding_and_two_in_turn_equally() {
    let users = [4, 28];
    let one = streams(users, [EACH, EACH * 7], 1, "");
    let share = rate(&one, "b", users[1]) / rate(&one, "a", users[0]);
    assert!((share / 7.0 - 1.0).abs() < 0.02, "{share}");
    assert!(one["devices"]["ssd"]["fetched_by_queue"].is_null());
    let single = streams(users, [EACH, EACH * 7], 1, "queues = { count = 1 }");
    assert_eq!(one["digest"], single["digest"]);
    // A user asks again at once, so that a burst never runs short.
    for burst in [1, 3, 16] {
        let queues = format!("queues = {{ count = 2, burst = {burst} }}");
        let two = streams(users, [EACH * 4, EACH * 4], 1, &queues);
        let share = rate(&two, "b", users[1]) / rate(&two, "a", users[0]);
        assert!((share - 1.0).abs() < 0.02, "{burst}: {share}");
    }
}

#[test]
fn urgent_requests_wait_for_those_being_served_only() {
    let queues = "queues = { count = 2, weights = { high = 1, medium = 1, low = 1 }, classes = ['urgent', 'low'] }";
    let result = streams([1, 32], [500, 1000], 1, queues);
    let alone = streams([1, 1], [500, 1], 1, "");
    let service = mean_ms(&alone, "a");
    // The next one of a user comes when another one has just begun: it waits for that, and is served.
    assert!(
        (mean_ms(&result, "a") / service - 2.0).abs() < 0.05,
        "{service}"
    );
}

/// A queue has no more under way than it is deep, and leaves the other slots to the other one.
#[test]
fn a_shallow_queue_leaves_slots_to_the_other() {
    // Requests in proportion to what each stream gets, so that both end together.
    let of = |depth: &str, others: u32| {
        let queues = format!("queues = {{ count = 2{depth} }}");
        streams([31, 1], [500 * others, 500], 32, &queues)
    };
    let (deep, shallow) = (of("", 31), of(", depth = 4", 4));
    // One die: what is served waits for all that were fetched before, 32 of them and 5.
    let (deep, shallow) = (mean_ms(&deep, "b"), mean_ms(&shallow, "b"));
    let service = mean_ms(&streams([1, 1], [500, 1], 1, ""), "a");
    println!("{deep} and {shallow} ms, one alone {service}");
    assert!(
        (deep / shallow / (32.0 / 5.0) - 1.0).abs() < 0.05,
        "{deep} {shallow}"
    );
}
