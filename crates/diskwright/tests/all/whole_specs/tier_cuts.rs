//! Cache tiers of any two devices, of which some fail or have blocks that cannot be read; and power cuts at random instants of others, under
//! every write policy: what was promised must be there afterwards, and nothing stale may have been read before.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::case::Case;
use super::draw::Draw;
use super::judge::{Ended, Verdict, judge, not_well, run};
use super::power_cuts::cut_somewhere;
use super::schema::Definitions;
use super::{check_cases, devices, load};

/// The write policies; every second case is of write-back.
const POLICIES: [&str; 8] = [
    "write-back",
    "write-through",
    "write-back",
    "write-around",
    "write-back",
    "read-only",
    "write-back",
    "pass-through",
];

/// The case of a number.
fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (mut device, blocks) = devices::a_tier(&mut draw);
    let policy = POLICIES[(number % POLICIES.len() as u64) as usize];
    device["tier"]["write_policy"] = json!(policy);
    cut_somewhere(draw, device, blocks)
}

/// A tier that something goes wrong in, once or twice.
fn with_faults(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (device, blocks) = devices::a_tier(&mut draw);
    let mut spec = load::spec_of(&mut draw, device, blocks);
    let faults = (0..draw.within(1..=2)).map(|_| draw.named("FaultSpec"));
    spec["fault"] = faults.collect::<Vec<_>>().into();
    Case { spec, ..draw.case }
}

#[test]
fn tiers_go_on_when_something_goes_wrong() {
    check_cases(0..150, with_faults, judge);
}

#[test]
#[ignore = "takes minutes"]
fn two_thousand_tiers_go_on_when_something_goes_wrong() {
    check_cases(150..2150, with_faults, judge);
}

/// What came of cuts.
#[derive(Default)]
struct Cuts {
    unfinished: AtomicU64,
    dirty: AtomicU64,
    evicted: AtomicU64,
    waited: AtomicU64,
    promoted: AtomicU64,
}

impl Cuts {
    /// Runs a case with the checker.
    fn judge(&self, case: &Case) -> Verdict {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(source) = case.place(folder.path()) else {
            return Verdict::Refused("not a case");
        };
        let result = match run(&source, true) {
            Ended::Well(outcome) => outcome.json(),
            ended => return not_well(ended),
        };
        let tier = &result["devices"]["tier"];
        let is_more = |value: &serde_json::Value| value.as_f64().is_some_and(|value| value > 0.0);
        for (counter, value) in [
            (&self.unfinished, &result["requests"]["failed"]),
            (&self.dirty, &tier["dirty_blocks_at_end"]),
            (&self.evicted, &tier["write_backs"]["victims"]),
            (&self.waited, &tier["waited_for_place"]),
            (&self.promoted, &tier["promotions"]),
        ] {
            counter.fetch_add(is_more(value).into(), Ordering::Relaxed);
        }
        Verdict::Right
    }
}

#[track_caller]
fn check(numbers: std::ops::Range<u64>) {
    let (cuts, total) = (Cuts::default(), numbers.end - numbers.start);
    check_cases(numbers, case, |case| cuts.judge(case));
    for (counter, least, what) in [
        (&cuts.unfinished, 0.2, "with requests under way"),
        (&cuts.dirty, 0.1, "with dirty blocks"),
        (&cuts.evicted, 0.05, "with dirty victims"),
        (&cuts.waited, 0.03, "with writes that waited for a place"),
        (&cuts.promoted, 0.2, "with promotions"),
    ] {
        let share = counter.load(Ordering::Relaxed) as f64 / total as f64;
        println!("{share:.3} of {total} {what}");
        assert!(share >= least, "{share} of the runs were cut {what}");
    }
}

#[test]
fn random_power_cuts_of_tiers_lose_nothing_that_was_promised() {
    check(0..400);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_power_cuts_of_tiers_lose_nothing_that_was_promised() {
    check(400..10_400);
}
