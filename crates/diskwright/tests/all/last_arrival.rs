//! `measure.end = "last-arrival"`: the run ends in the instant of the last arrival, and what is under way is in no count.

use crate::support::{run, try_run};

/// Requests each 10 ms from 10 ms on, of a device that takes `ms` for each.
fn spec(requests: u64, ms: u64, end: &str, more: &str) -> String {
    format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ constant = '10 ms' }}\naddress = 'uniform'\n\
         [measure]\nend = '{end}'\n{more}\n[device.simple]\ncapacity = '1 GB'\nread = '{ms} ms'\nwrite = '{ms} ms'\n"
    )
}

#[test]
fn what_is_under_way_when_the_last_request_arrives_is_given_up() {
    for (ms, completed, lasts_s) in [
        // Each is complete before the next arrives: all but the last.
        (9, 19, 0.199),
        // One after the other, each 20 ms from the first arrival on, which is 190 ms before the last.
        (20, 9, 0.19),
    ] {
        let result = run(&spec(20, ms, "last-arrival", ""));
        let requests = &result["requests"];
        assert_eq!(requests["issued"], 20, "{ms}");
        assert_eq!(requests["completed"], completed, "{ms}");
        let all = run(&spec(20, ms, "last-completion", ""));
        assert_eq!(all["requests"]["completed"], 20);
        let lasts = result["simulated_s"].as_f64().expect("a number");
        assert!(
            lasts <= lasts_s + 0.011 && lasts < all["simulated_s"].as_f64().expect("one"),
            "{lasts}"
        );
        assert_eq!(result["spec"]["measure"]["end"], "last-arrival");
        assert!(all["spec"]["measure"].get("end").is_none());
    }
}

#[test]
fn the_last_arrival_is_that_of_the_runs_extent() {
    let result = run(&spec(20, 9, "last-arrival", "requests = 5"));
    assert_eq!(result["requests"]["completed"], 4);
    let result = run(&spec(20, 9, "last-arrival", "duration = '30 ms'"));
    assert_eq!(result["requests"]["completed"], 3);
}

#[test]
fn a_run_of_one_arrival_has_nothing_to_measure() {
    let error = try_run(&spec(1, 9, "last-arrival", "")).expect_err("nothing is complete");
    let error = error.to_string();
    assert!(
        error.contains("when the last one arrives") && error.contains("spec:6:"),
        "{error}"
    );
}

#[test]
fn loads_without_a_last_arrival_are_refused() {
    let device = "[device.simple]\ncapacity = '1 GB'\nread = '1 ms'\nwrite = '1 ms'\n[measure]\nend = 'last-arrival'\n";
    for load in [
        "[workload.synthetic]\nrequests = 5\narrivals = { closed = { users = 2 } }\naddress = 'uniform'\n",
        "[workload.synthetic]\narrivals = { constant = '1 ms' }\naddress = 'uniform'\nduration = '5 ms'\n",
    ] {
        let error = try_run(&format!("{load}{device}")).expect_err("no last arrival");
        let error = error.to_string();
        assert!(error.contains("no arrival is the last"), "{error}");
    }
    let misspelt = try_run(&spec(5, 1, "last-arival", ""))
        .expect_err("a name")
        .to_string();
    assert!(misspelt.contains("last-arrival"), "{misspelt}");
}
