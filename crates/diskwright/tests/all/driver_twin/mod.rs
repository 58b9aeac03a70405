//! A naive twin of drivers: the rules of docs/driver.md with lists and linear searches, by the authors of that page and of the engine, and
//! random cases in which both complete every request at the same instant and count the same. The host has requests that a process waits
//! for, or begins to wait for at some instant, which no trace has.
//!
//! The device behind the driver has constant times, and nothing fails. Schedulers are those of the twin of hard disks.

mod compare;
mod draw;
mod instants;
mod library;
mod model;
pub mod queues;
pub mod specs;

use std::ops::Range;

use crate::support::twins;

/// What the cases may meet, schedulers included.
const RULES: usize = 18;

/// How the library and the twin differ in the case of a number, if they do.
pub fn difference(number: u64) -> Option<String> {
    compare::difference(&draw::case(number))
}

/// The case of a number that differs, as small as it gets, and how.
pub fn small(number: u64) -> String {
    compare::small(draw::case(number))
}

#[track_caller]
fn check(numbers: Range<u64>) {
    twins::check(numbers, difference, small);
}

/// Cases that run always meet each rule.
#[test]
fn every_rule_comes_up() {
    twins::every_rule_comes_up(0..400, RULES, 3, |number| {
        let case = draw::case(number);
        let mut model = model::Model::new(&case);
        model.run();
        model.met
    });
}

#[test]
fn random_drivers_do_what_their_twin_does() {
    check(0..400);
}

#[test]
#[ignore = "takes a minute"]
fn twenty_thousand_random_drivers_do_what_their_twin_does() {
    check(400..20_400);
}

/// The cases that DISKWRIGHT_SPECS names: a number, or a first and one after the last.
#[test]
#[ignore = "for cases that are looked into"]
fn chosen_drivers_do_what_their_twin_does() {
    if let Some(numbers) = twins::chosen() {
        check(numbers);
    }
}
