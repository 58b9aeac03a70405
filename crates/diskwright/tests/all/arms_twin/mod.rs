//! A naive twin of disks with several arms, written from the documentation alone: docs/arms.md over what the twin of hard disks has of one arm.
//! Data are in place or in a log. There is no memory, or that of a block cache in front of the queue.

mod adaptive;
mod cleaning;
mod compare;
mod draw;
mod log;
mod logged;
mod model;
mod serve;
pub mod specs;

use std::ops::Range;

use crate::support::twins;

/// What the cases may meet, schedulers included.
const RULES: usize = 57;

/// How the library and the twin differ in the case of a number, if they do.
pub fn difference(number: u64) -> Option<String> {
    compare::difference(&draw::case(number))
}

/// The case of a number that differs, as small as it gets, and how.
pub fn small(number: u64) -> String {
    compare::small(draw::case(number))
}

/// The same of drives with a block cache.
pub fn cached_difference(number: u64) -> Option<String> {
    compare::difference(&draw::cached(number))
}

/// The same of drives with a block cache.
pub fn small_cached(number: u64) -> String {
    compare::small(draw::cached(number))
}

#[track_caller]
fn check(numbers: Range<u64>) {
    twins::check(numbers, difference, small);
}

#[track_caller]
fn check_cached(numbers: Range<u64>) {
    twins::check(numbers, cached_difference, small_cached);
}

#[test]
fn every_rule_comes_up() {
    twins::every_rule_comes_up(0..400, RULES, 3, |number| {
        let cases = [draw::case(number), draw::cached(number)];
        let met = cases.iter().flat_map(|case| {
            let mut model = model::Model::new(case);
            model.run();
            model.counts.into_keys().chain([case.disk.scheduler.name()])
        });
        met.collect()
    });
}

#[test]
fn random_disks_with_several_arms_do_what_their_twin_does() {
    check(0..150);
}

#[test]
fn random_disks_with_several_arms_behind_a_cache_do_what_their_twin_does() {
    check_cached(0..150);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_disks_with_several_arms_behind_a_cache_do_what_their_twin_does() {
    check_cached(150..10_150);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_disks_with_several_arms_do_what_their_twin_does() {
    check(150..10_150);
}

/// The cases that DISKWRIGHT_SPECS names: a number, or a first and one after the last.
#[test]
#[ignore = "for cases that are looked into"]
fn chosen_disks_with_several_arms_do_what_their_twin_does() {
    if let Some(numbers) = twins::chosen() {
        check(numbers.clone());
        check_cached(numbers);
    }
}
