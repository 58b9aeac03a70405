//! Power cuts at random instants of SSDs: geometries, policies, loads and trims at random, some blocks worn out in the run. What was promised
//! must be on flash afterwards, found by the spare areas of pages alone, or saved by a capacitor.

use std::sync::atomic::{AtomicU64, Ordering};

use super::case::Case;
use super::draw::Draw;
use super::judge::{Ended, Verdict, not_well, run};
use super::power_cuts::cut_somewhere;
use super::schema::Definitions;
use super::{check_cases, devices};

/// The case of a number.
fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let (mut device, blocks) = devices::an_ssd(&mut draw);
    // Blocks of some drives wear out.
    if number.is_multiple_of(4) {
        let endurance = draw.within(1..=8);
        let wear = serde_json::json!({ "levelling": draw.chance(0.5), "endurance": endurance });
        let ssd = device["ssd"].as_object_mut().expect("a table");
        ssd.insert("wear".to_owned(), wear);
        // Not before the run, though.
        ssd.remove("initial");
    }
    cut_somewhere(draw, device, blocks)
}

/// What came of cuts.
#[derive(Default)]
struct Cuts {
    unfinished: AtomicU64,
    dirty: AtomicU64,
    moved: AtomicU64,
    map_pages: AtomicU64,
    read_only: AtomicU64,
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
        let ssd = &result["devices"]["ssd"];
        let is_more = |value: &serde_json::Value| value.as_f64().is_some_and(|value| value > 0.0);
        for (counter, value) in [
            (&self.unfinished, &result["requests"]["failed"]),
            (&self.dirty, &ssd["dirty_units_at_end"]),
            (&self.moved, &ssd["moved_pages"]),
            (&self.map_pages, &ssd["map_pages"]),
            (&self.read_only, &ssd["read_only_since_s"]),
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
        (&cuts.dirty, 0.1, "with something in the controller"),
        (&cuts.moved, 0.1, "with moved pages"),
        (&cuts.map_pages, 0.01, "with checkpoints"),
        (&cuts.read_only, 0.001, "read-only"),
    ] {
        let share = counter.load(Ordering::Relaxed) as f64 / total as f64;
        println!("{share:.3} of {total} {what}");
        assert!(share >= least, "{share} of the runs were cut {what}");
    }
}

#[test]
fn random_power_cuts_of_ssds_lose_nothing_that_was_promised() {
    check(0..300);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_power_cuts_of_ssds_lose_nothing_that_was_promised() {
    check(300..10_300);
}
