//! A naive twin of the devices of constant times and of measured curves, written from docs/simple.md and docs/curve.md alone.

mod draw;
mod model;
mod specs;

use std::ops::Range;

use crate::support::twins::{self, Done, completions};
use crate::support::{RunOptions, from_text, outcome_of};
use model::Model;
use specs::{Case, Kind};

fn of_library(case: &Case) -> Result<Done, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("trace.csv"), case.trace()).expect("written");
    if let Kind::Curve(curve) = &case.kind {
        std::fs::write(path("read.csv"), specs::table(&curve.read)).expect("written");
        std::fs::write(path("write.csv"), specs::table(&curve.write)).expect("written");
    }
    let options = RunOptions {
        check: true,
        keep_requests: true,
        ..RunOptions::default()
    };
    let spec = from_text(case.spec(path));
    let outcome = outcome_of(&spec, &options).map_err(|error| error.to_string())?;
    let report = &outcome.json()["devices"][case.kind.name()];
    let most = report["queue_length_max"].as_u64();
    Ok(Done {
        completions: completions(&outcome, case.requests.len()),
        counters: vec![("queue_length_max", most.expect("a counter"))],
    })
}

/// How the two differ, if they do.
fn compare(case: &Case) -> Option<String> {
    let twin = || {
        let mut model = Model::new(case);
        model.run();
        Done {
            completions: model.completions,
            counters: vec![("queue_length_max", model.longest as u64)],
        }
    };
    twins::difference(|| of_library(case), twin)
}

/// How the library and the twin differ in the case of a number, if they do.
pub fn difference(number: u64) -> Option<String> {
    compare(&draw::case(number))
}

/// The case of a number that differs, as small as it gets, and how.
pub fn small(number: u64) -> String {
    let mut case = draw::case(number);
    let is_wrong = |case: &Case| !case.requests.is_empty() && compare(case).is_some();
    twins::leave_out(&mut case, |case| &mut case.requests, 0, is_wrong);
    let mut shown = case.spec(str::to_owned);
    if let Kind::Curve(curve) = &case.kind {
        for (name, points) in [("read.csv", &curve.read), ("write.csv", &curve.write)] {
            shown += &format!("\n# {name}\n{}", specs::table(points));
        }
    }
    let how = compare(&case).unwrap_or_default();
    format!("{how}\n{shown}\n# trace.csv\n{}", case.trace())
}

#[track_caller]
fn check(numbers: Range<u64>) {
    twins::check(numbers, difference, small);
}

#[test]
fn every_rule_comes_up() {
    twins::every_rule_comes_up(0..100, 7, 3, |number| {
        let case = draw::case(number);
        let mut model = Model::new(&case);
        model.run();
        model.met
    });
}

#[test]
fn random_devices_of_known_times_do_what_their_twin_does() {
    check(0..300);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_devices_of_known_times_do_what_their_twin_does() {
    check(300..10_300);
}

/// The cases that DISKWRIGHT_SPECS names: a number, or a first and one after the last.
#[test]
#[ignore = "for cases that are looked into"]
fn chosen_devices_of_known_times_do_what_their_twin_does() {
    if let Some(numbers) = twins::chosen() {
        check(numbers);
    }
}
