//! A naive twin of cache tiers: the rules of docs/tier.md with lists and linear searches, by the authors of that page and of the engine, and
//! random cases in which both complete every request at the same instant and count the same.
//!
//! Both devices are `simple`, and nothing fails. The twin has the policies `lru` and `fifo`, and of warm starts those by address.

mod cache;
mod clock;
mod compare;
mod draw;
mod model;
mod requests;
mod specs;
mod table;
mod write_backs;

use std::ops::Range;

use crate::support::twins;

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
    twins::every_rule_comes_up(0..300, 21, 3, |number| {
        let case = draw::case(number);
        let mut model = model::Model::new(&case);
        model.run();
        model.met
    });
}

#[test]
fn random_tiers_do_what_their_twin_does() {
    check(0..300);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_tiers_do_what_their_twin_does() {
    check(300..10_300);
}

/// The cases that DISKWRIGHT_SPECS names: a number, or a first and one after the last.
#[test]
#[ignore = "for cases that are looked into"]
fn chosen_tiers_do_what_their_twin_does() {
    if let Some(numbers) = twins::chosen() {
        check(numbers);
    }
}
