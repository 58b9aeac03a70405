//! A naive twin of hard disks without a pool, written from the documentation alone, and random cases in which both complete every request at
//! the same instant.

mod ahead;
mod buffered;
mod compare;
mod draw;
mod medium;
mod model;
mod places;
mod queue;
mod seeks;
mod segments;
mod specs;
mod turns;

use std::ops::Range;

use crate::support::twins;

/// How the library and the twin differ in the case of a number, if they do.
pub fn difference(number: u64) -> Option<String> {
    compare::difference(&draw::case(number))
}

/// The case of a number that differs, with as few requests as show it.
pub fn small(number: u64) -> String {
    compare::shrink(&draw::case(number)).shown()
}

/// Compares the cases of these numbers, and shows the first that differs, with as few requests as show it.
#[track_caller]
fn check(numbers: Range<u64>) {
    let differing = numbers.filter_map(|number| Some((number, difference(number)?)));
    let differing: Vec<(u64, String)> = differing.collect();
    let Some((number, _)) = differing.first() else {
        return;
    };
    let small = compare::shrink(&draw::case(*number));
    let how = compare::difference(&small).expect("it differs still");
    panic!(
        "{} cases differ: {differing:#?}. Number {number}: {how}\n{}",
        differing.len(),
        small.shown()
    );
}

#[test]
fn random_hard_disks_do_what_their_twin_does() {
    check(0..100);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_hard_disks_do_what_their_twin_does() {
    check(100..10_100);
}

/// The cases that DISKWRIGHT_SPECS names: a number, or a first and one after the last.
#[test]
#[ignore = "for cases that are looked into"]
fn chosen_hard_disks_do_what_their_twin_does() {
    if let Some(numbers) = twins::chosen() {
        check(numbers);
    }
}

#[test]
#[ignore]
fn triage() {
    let Some(numbers) = twins::chosen() else {
        return;
    };
    let mut shown = 0;
    let most: usize = std::env::var("SHOW").map_or(3, |n| n.parse().unwrap());
    let mut bad = 0;
    let all = numbers.clone().count();
    for number in numbers {
        let case = draw::case(number);
        let begun = std::time::Instant::now();
        let how = compare::difference(&case);
        if begun.elapsed().as_millis() > 1500 {
            println!("slow {number} {:?}", begun.elapsed());
        }
        if let Some(how) = how {
            bad += 1;
            println!(
                "{number}: {how} | {:?} sector {} zones {} ranges {} overl {} depth {} users {:?} odd {}",
                case.scheduler,
                case.drive.sector,
                case.drive.layout.zones.len(),
                case.drive.layout.ranges,
                case.drive.interface.overlapped,
                case.depth,
                case.users,
                case.requests
                    .iter()
                    .filter(|a| !matches!(
                        a.op,
                        diskwright::engine::request::Op::Read
                            | diskwright::engine::request::Op::Write
                    ))
                    .count()
            );
            if shown < most {
                shown += 1;
                let small = compare::shrink(&case);
                println!("{:?}\n{}", compare::difference(&small), small.shown());
            }
        }
    }
    println!("{bad} of {all}");
}
