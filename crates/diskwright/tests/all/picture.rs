//! What a picture is drawn from adds up to the result of its run, and changes nothing in it.

use crate::support::{Outcome, RunOptions, SpecSource, from_text, outcome_of};
use serde_json::{Value, json};

const REQUESTS: u64 = 20_000;

fn spec(more: &str) -> SpecSource {
    let text = format!(
        "seed = 5\n[workload.synthetic]\nrequests = {REQUESTS}\narrivals = {{ poisson = \"9 ms\" }}\nreads = 0.6\n\
         size = \"8 blocks\"\n[measure]\nwarmup = \"10 %\"\n[device.hdd]\ndrive = \"cheetah-9lp\"\n[device.hdd.queue]\n\
         depth = 8\nscheduler = \"satf\"\n{more}"
    );
    from_text(text)
}

fn run(more: &str, picture: bool, set: &[&str]) -> Outcome {
    let options = RunOptions {
        picture,
        set: set.iter().map(|&setting| setting.to_owned()).collect(),
        ..RunOptions::default()
    };
    outcome_of(&spec(more), &options).expect("a run that goes well")
}

fn drawn(more: &str, set: &[&str]) -> (Value, Value) {
    let outcome = run(more, true, set);
    let picture = outcome.picture().expect("a picture was asked for").clone();
    (outcome.json(), picture)
}

fn list(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter()
        .map(|item| item.as_f64().unwrap_or(0.0))
        .collect()
}

fn sum(value: &Value) -> f64 {
    list(value).iter().sum()
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs()
}

/// A list's values times the widths of their bins, summed.
fn area(series: &Value, key: &str) -> f64 {
    let mut widths = vec![series["bin_s"].as_f64().unwrap(); list(&series[key]).len()];
    *widths.last_mut().unwrap() = series["last_bin_s"].as_f64().unwrap();
    let values = list(&series[key]);
    values
        .iter()
        .zip(widths)
        .map(|(value, width)| value * width)
        .sum()
}

#[test]
fn a_run_is_the_same_with_a_picture_and_without() {
    let (with, without) = (run("", true, &[]), run("", false, &[]));
    assert_eq!(without.picture(), None);
    let plain = |outcome: &Outcome| {
        let mut json = outcome.json();
        for key in ["wall_s", "requests_per_wall_s", "peak_rss_mib"] {
            json[key] = Value::Null;
        }
        json
    };
    assert_eq!(plain(&with), plain(&without));
}

#[test]
fn the_picture_adds_up_to_the_result() {
    let (result, picture) = drawn("", &[]);
    let requests = &result["requests"];
    let count = |key: &str| requests[key].as_f64().unwrap();
    let load = &picture["load"];
    assert_eq!(sum(&load["arrivals"]), count("issued"));
    assert_eq!(sum(&load["completions"]), count("completed"));
    assert_eq!(sum(&load["failed"]), 0.0);
    assert_eq!(sum(&picture["map"]["count"]), count("completed"));
    assert_eq!(sum(&picture["sizes"]["reads"]["count"]), count("reads"));
    assert_eq!(sum(&picture["sizes"]["writes"]["count"]), count("writes"));

    let response = &picture["response"];
    let values = |kind: &str| response[kind]["count"].as_f64().unwrap();
    assert_eq!(values("all"), count("measured"));
    assert_eq!(values("reads") + values("writes"), count("measured"));
    assert_eq!(picture["service"]["all"]["count"], requests["measured"]);
    let points = list(&response["all"]["quantile"])
        .into_iter()
        .zip(list(&response["all"]["ms"]));
    for (quantile, ms) in points {
        for (name, at) in [
            ("p50", 0.5),
            ("p90", 0.9),
            ("p99", 0.99),
            ("p999", 0.999),
            ("max", 1.0),
        ] {
            if (quantile - at).abs() < 1e-9 {
                let exact = result["response_ms"][name].as_f64().unwrap();
                assert!((ms / exact - 1.0).abs() < 2e-3, "{name}: {ms} {exact}");
            }
        }
    }

    // Without a warm-up the means of the bins make up the mean of the run.
    let (result, picture) = drawn("", &["measure.warmup=0"]);
    let total = result["response_ms"]["total"].as_f64().unwrap();
    let load = &picture["load"];
    let means = list(&load["response_mean_ms"])
        .into_iter()
        .zip(list(&load["completions"]));
    assert!(close(means.map(|(mean, count)| mean * count).sum(), total));
    let cells = list(&picture["map"]["response_mean_ms"])
        .into_iter()
        .zip(list(&picture["map"]["count"]));
    assert!(close(cells.map(|(mean, count)| mean * count).sum(), total));
    // Little's law holds exactly over a run that begins and ends empty.
    assert!(close(area(load, "outstanding_mean"), total / 1e3));
}

#[test]
fn the_disks_picture_adds_up_to_its_report() {
    let (result, picture) = drawn("", &[]);
    let (report, disk) = (&result["devices"]["hdd"], &picture["devices"]["hdd"]);
    let accesses = report["media_accesses"].as_f64().unwrap();
    let seeks = &disk["seek_cylinders"];
    assert_eq!(sum(&seeks["bins"]["count"]), accesses);
    assert_eq!(sum(&seeks["even_bins"]["count"]), accesses);
    let moved = report["seeks"].as_f64().unwrap();
    assert_eq!(seeks["bins"]["from"][0], 0);
    assert_eq!(accesses - list(&seeks["bins"]["count"])[0], moved);

    // What is shown over time shows the whole run.
    let (result, picture) = drawn("", &["measure.warmup=0"]);
    let (report, disk) = (&result["devices"]["hdd"], &picture["devices"]["hdd"]);
    let span = result["simulated_s"].as_f64().unwrap();
    let busy = report["utilisation"].as_f64().unwrap() * span;
    assert!(close(area(&disk["use"], "utilisation"), busy));
    let queue = report["queue_length_mean"].as_f64().unwrap() * span;
    assert!(close(area(&disk["use"], "queue_mean"), queue));
}

#[test]
fn longer_runs_have_no_longer_lists() {
    let long = format!("workload.synthetic.requests={}", 4 * REQUESTS);
    let (_, picture) = drawn("", &[&long]);
    assert!(list(&picture["load"]["arrivals"]).len() <= 600);
    assert!(picture["map"]["bins"].as_u64().unwrap() <= 200);
    assert!(list(&picture["map"]["count"]).len() <= 200 * 160);
    assert!(list(&picture["devices"]["hdd"]["use"]["utilisation"]).len() <= 600);
    assert!(list(&picture["response"]["all"]["ms"]).len() <= 250);
}

#[test]
fn a_power_cut_leaves_failures_and_no_curve() {
    let cut = "[[fault]]\nat = \"1 ms\"\nkind = \"power-cut\"\n";
    let (result, picture) = drawn(
        cut,
        &[
            "workload.synthetic.arrivals={ closed = { users = 4, think = \"0 ms\" } }",
            "measure.warmup=0",
        ],
    );
    assert_eq!(result["requests"]["failed"], 4);
    assert_eq!(sum(&picture["load"]["failed"]), 4.0);
    assert_eq!(picture["response"]["all"]["ms"], json!([]));
    assert_eq!(picture["map"]["count"], json!([]));
}
