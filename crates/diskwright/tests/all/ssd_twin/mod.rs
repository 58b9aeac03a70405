//! A naive twin of SSDs, written from docs/model/flash.md alone, and random cases in which both complete every request at the same instant.
//!
//! The twin has one stream of the host; it has no operations on several planes, no blocks cleaned side by side, no rules that draw at random,
//! no `read_part`, no `interface.frames`, no wear, no submission queues and no checkpoints.

mod ageing;
mod blocks;
mod cleaning;
mod clock;
mod compare;
mod course;
mod draw;
mod entries;
mod filling;
mod link;
mod mapping;
mod model;
mod operations;
mod shape;
mod specs;
mod suspension;
mod workers;

use std::ops::Range;

/// Compares the cases of these numbers, and shows the first that differs, with as few requests as show it.
#[track_caller]
fn check(numbers: Range<u64>) {
    let differs = |&number: &u64| compare::difference(&draw::case(number)).is_some();
    let different: Vec<u64> = numbers.filter(differs).collect();
    if let Some(&number) = different.first() {
        let case = compare::shortened(draw::case(number));
        let how = compare::difference(&case).expect("it still differs");
        panic!("cases {different:?}; {number}: {how}\n{}", case.shown());
    }
}

/// Small drives with a cached map, wanting more free blocks than their data leave them, clean for their map alone in some cases; what has no cached map
/// never does.
#[test]
fn cleaning_that_feeds_itself_is_found() {
    let cases = || (80..140).map(draw::case);
    let mapped = cases().filter(|case| case.drive.map_cache.is_some());
    assert!(mapped.filter(compare::feeds_itself).count() > 0);
    let others = cases().filter(|case| case.drive.map_cache.is_none());
    assert_eq!(others.filter(compare::feeds_itself).count(), 0);
}

#[test]
fn random_ssds_do_what_their_twin_does() {
    check(0..300);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_ssds_do_what_their_twin_does() {
    check(300..10_300);
}
