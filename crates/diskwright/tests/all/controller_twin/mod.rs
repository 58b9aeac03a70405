//! A naive twin of controllers: the rules of docs/controller.md and docs/simple.md with lists and linear searches,
//! by the authors of those pages and of the engine, and random cases in which both complete every request at the same instant and count the
//! same.
//!
//! The devices are `simple`, which promise that what they acknowledge is durable, and nothing fails.

mod cache_device;
mod compare;
mod draw;
mod fetches;
mod idle;
mod instants;
mod lines;
mod locks;
mod memory;
mod model;
mod operations;
mod specs;
mod stages;
mod write_backs;

use std::ops::Range;

use crate::support::twins;

/// What the cases may meet, schedulers included.
const RULES: usize = 37;

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
    twins::every_rule_comes_up(0..800, RULES, 3, |number| {
        let case = draw::case(number);
        let mut model = model::Model::new(&case);
        model.run();
        model.met
    });
}

#[test]
fn random_controllers_do_what_their_twin_does() {
    check(0..400);
}

#[test]
#[ignore = "takes a minute"]
fn twenty_thousand_random_controllers_do_what_their_twin_does() {
    check(400..20_400);
}

/// The cases that DISKWRIGHT_SPECS names: a number, or a first and one after the last.
#[test]
#[ignore = "for cases that are looked into"]
fn chosen_controllers_do_what_their_twin_does() {
    if let Some(numbers) = twins::chosen() {
        check(numbers);
    }
}
