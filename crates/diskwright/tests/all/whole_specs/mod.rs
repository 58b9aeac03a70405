//! Whole specs at random, from the schemas of specs and drives, and so from the registries: devices in trees, drives real and made up, policies
//! with parameters, loads of every kind, faults. Each runs with the checker on; what fails is made small and printed.
//!
//! ```sh
//! cargo test --test all whole_specs                                       # some
//! cargo test --profile checked --test all whole_specs -- --include-ignored   # ten thousand
//! DISKWRIGHT_SPECS=1234-1300 cargo test --test all whole_specs::chosen -- --ignored --nocapture   # these numbers
//! ```
//!
//! A policy that joins a registry is drawn without a change here; a kind of device brings a folder and a line in `devices`; a key whose
//! values depend on others, a hint in `devices` or `load`.

pub mod array_failures;
mod case;
pub mod controller_cuts;
mod cuts;
pub mod devices;
mod draw;
pub mod flash_cuts;
pub mod hybrid_cuts;
mod judge;
mod load;
mod plausible;
pub mod power_cuts;
mod refusals;
mod schema;
mod shrink;
pub mod tier_cuts;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use diskwright::workload::FORMATS;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::{Value, json};

pub use case::Case;
pub use draw::Draw;
pub use judge::{Coped, Ended, Fault, Verdict, judge, judge_once, not_well, run_with};
pub use load::{is_closed, spec_of};
pub use schema::Definitions;

use crate::support::twins::chosen;

/// The case of a number: the same on every machine.
pub fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let spec = load::spec(&mut draw);
    Case { spec, ..draw.case }
}

/// The most of all cases that may be refused, lest the generator draw little but nonsense.
const MOST_REFUSED: f64 = 0.25;
/// What came of cases; of failures of one kind, which are counted, one is shrunk.
#[derive(Default)]
struct Found {
    refused: BTreeMap<&'static str, u64>,
    wrong: BTreeMap<String, (u64, u64, Fault)>,
    /// How long the longest case took, and its number.
    longest: (Duration, u64),
    /// How long all of them took.
    all: Duration,
}

/// Runs the cases of these numbers on all cores.
fn search(
    numbers: Range<u64>,
    case: impl Fn(&Definitions, u64) -> Case + Sync,
    judge: impl Fn(&Case) -> Verdict + Sync,
) -> Found {
    let definitions = Definitions::read();
    let found = Mutex::new(Found::default());
    numbers.into_par_iter().for_each(|number| {
        let begun = Instant::now();
        let verdict = judge(&case(&definitions, number));
        let took = begun.elapsed();
        let mut found = found.lock().expect("nothing panics with it");
        found.longest = found.longest.max((took, number));
        found.all += took;
        match verdict {
            Verdict::Right(_) => {}
            Verdict::Refused(words) => *found.refused.entry(words).or_default() += 1,
            Verdict::Wrong(fault) => {
                let entry = found
                    .wrong
                    .entry(fault.class.clone())
                    .or_insert((0, number, fault));
                entry.0 += 1;
            }
        }
    });
    found.into_inner().expect("nothing panics with it")
}

/// How long a failing case is made smaller: of one that seems endless each attempt takes minutes.
const SHRINKING: Duration = Duration::from_secs(300);

/// A failing case as small as it gets in some minutes.
pub fn small(fault: &Fault, case: &Case, judge: impl Fn(&Case) -> Verdict) -> Case {
    let begun = Instant::now();
    let still_fails = |case: &Case| {
        begun.elapsed() < SHRINKING
            && matches!(judge(case), Verdict::Wrong(found) if found.class == fault.class)
    };
    shrink::shrink(case, still_fails)
}

/// A failure as small as it gets, with what it says.
fn told(
    (number, count): (u64, u64),
    fault: &Fault,
    case: &Case,
    judge: impl Fn(&Case) -> Verdict,
) -> String {
    format!(
        "{count} cases, the first of them number {number}: {}\n{}",
        fault.message,
        small(fault, case, judge).shown()
    )
}

#[track_caller]
fn check(numbers: Range<u64>) -> Found {
    check_cases(numbers, case, judge)
}

/// Runs the cases of these numbers, and shows one of each kind of failure.
#[track_caller]
fn check_cases(
    numbers: Range<u64>,
    case: impl Fn(&Definitions, u64) -> Case + Sync,
    judge: impl Fn(&Case) -> Verdict + Sync,
) -> Found {
    let count = numbers.end - numbers.start;
    let found = search(numbers, &case, &judge);
    let refused: u64 = found.refused.values().sum();
    println!("{count} cases, {refused} refused: {:#?}", found.refused);
    let (longest, number) = found.longest;
    println!(
        "{:.1?} of cores, {longest:.1?} of it for number {number}",
        found.all
    );
    // Before the shrinking, which may take long.
    for (count, number, fault) in found.wrong.values() {
        println!("{count} wrong, the first one {number}: {}", fault.message);
    }
    let definitions = Definitions::read();
    let wrong = found.wrong.values().map(|(count, number, fault)| {
        let case = case(&definitions, *number);
        told((*number, *count), fault, &case, &judge)
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(
        refused as f64 <= MOST_REFUSED * count as f64,
        "{refused} of {count} cases are refused"
    );
    found
}

#[test]
fn random_specs_run_right() {
    check(0..200);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_specs_run_right() {
    let found = check(200..10_200);
    for words in refusals::KNOWN {
        assert!(
            found.refused.contains_key(words),
            "nothing is refused any more with: {words}"
        );
    }
}

/// The cases that DISKWRIGHT_SPECS names: a number, or a first and one after the last.
#[test]
#[ignore = "for cases that are looked into"]
fn chosen_specs_run_right() {
    let Some(chosen) = chosen() else {
        return;
    };
    if chosen.end - chosen.start == 1 {
        println!("{}", case(&Definitions::read(), chosen.start).shown());
    }
    check(chosen);
}

#[test]
fn every_kind_of_device_is_drawn() {
    let drawn: Vec<&str> = devices::KINDS.iter().map(|kind| kind.name).collect();
    for name in Definitions::read().names("DeviceSpec") {
        assert!(
            drawn.contains(&name.as_str()),
            "whole_specs/devices has nothing for {name}"
        );
    }
}

/// The names that a text holds as whole words in quotation marks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

#[test]
fn everything_that_is_registered_comes_up() {
    let definitions = Definitions::read();
    let cases: Vec<String> = (0..2_000)
        .map(|number| case(&definitions, number).whole().to_string())
        .collect();
    let all: BTreeSet<&str> = cases.iter().flat_map(|text| quoted(text)).collect();
    for family in [
        "Scheduler",
        "Replacement",
        "ArmChoice",
        "PowerPolicy",
        "Placement",
        "Cleaner",
        "ArrayLayout",
        "MirrorRead",
        "AddressSpec",
        "ArrivalsSpec",
        "SeekDescription",
    ] {
        for name in definitions.names(family) {
            assert!(
                all.contains(name.as_str()) || name == "custom",
                "{family}: {name} is never drawn"
            );
        }
    }
    for format in FORMATS {
        assert!(
            all.contains(format.name),
            "the format {} is never drawn",
            format.name
        );
    }
}

#[test]
fn a_failing_case_is_shrunk_to_what_it_fails_for() {
    let definitions = Definitions::read();
    // "Fails" where any disk has a write-back cache and there are three requests or more.
    let fails = |case: &Case| {
        let text = case.spec.to_string();
        let requests = case.spec["workload"]["synthetic"]["requests"].as_u64();
        text.contains("write-back") && requests.is_some_and(|requests| requests >= 3)
    };
    let number = (0..)
        .find(|&number| fails(&case(&definitions, number)))
        .expect("one of them");
    let small = shrink::shrink(&case(&definitions, number), fails);
    assert_eq!(
        small.spec["workload"],
        json!({ "synthetic": { "requests": 3 } })
    );
    let text = small.shown();
    assert!(
        text.lines().count() <= 5 && small.files.is_empty(),
        "{text}"
    );
    assert!(small.spec["device"] != Value::Null);
}
