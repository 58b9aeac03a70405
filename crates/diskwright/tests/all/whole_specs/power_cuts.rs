//! Power cuts at random instants of drives with pools: volatile write caches, and memories that are persistent in flash or in regions of the
//! medium. What was promised must be there afterwards, and nothing stale may have been read before.

use std::sync::atomic::{AtomicU64, Ordering};

use super::case::Case;
use super::cuts::cut_somewhere;
use super::draw::Draw;
use super::judge::{Verdict, judge_seeing};
use super::schema::Definitions;
use super::{check_cases, devices};

/// What keeps writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeping {
    /// A write cache that loses them, but for what was flushed.
    Volatile,
    Flash,
    Regions,
}

impl Keeping {
    const ALL: [Keeping; 3] = [Keeping::Volatile, Keeping::Flash, Keeping::Regions];

    /// That of a number.
    fn of(number: u64) -> Keeping {
        Keeping::ALL[(number % 3) as usize]
    }
}

/// The case of a number, with a cut somewhere in its run, or without one where it is refused.
pub fn case(definitions: &Definitions, number: u64) -> Case {
    let mut draw = Draw::new(definitions, number);
    let keeping = Keeping::of(number);
    let wanted = (keeping == Keeping::Volatile, keeping == Keeping::Regions);
    let (device, blocks) = devices::with_pool(&mut draw, wanted);
    cut_somewhere(draw, device, blocks)
}

/// What came of cuts.
#[derive(Default)]
struct Cuts {
    /// Runs with requests under way at the cut.
    unfinished: AtomicU64,
    /// Runs with dirty blocks at the cut, by what keeps writes.
    dirty: [AtomicU64; 3],
    /// Runs of which writes were kept in a region.
    kept: AtomicU64,
}

impl Cuts {
    /// Runs a case with the checker.
    fn judge(&self, case: &Case) -> Verdict {
        judge_seeing(case, |result| self.see(case, result))
    }

    fn see(&self, case: &Case, result: &serde_json::Value) {
        let pool = &result["devices"]["hdd.pool"];
        let is_more = |value: &serde_json::Value| value.as_u64().is_some_and(|value| value > 0);
        let count = |counter: &AtomicU64, is_so| {
            counter.fetch_add(u64::from(is_so), Ordering::Relaxed);
        };
        count(&self.unfinished, is_more(&result["requests"]["failed"]));
        count(&self.kept, is_more(&pool["region_passes"]));
        let is_volatile = case.spec["device"]["hdd"]["write_cache"] == true;
        let has_regions = case.whole().to_string().contains("\"region\":");
        let keeping = match (is_volatile, has_regions) {
            (true, _) => Keeping::Volatile,
            (_, true) => Keeping::Regions,
            _ => Keeping::Flash,
        };
        count(
            &self.dirty[keeping as usize],
            is_more(&pool["dirty_blocks_at_end"]),
        );
    }
}

/// The least share of the cuts of each kind at which something is dirty, and of all cuts with requests under way.
const LEAST: f64 = 0.2;

#[track_caller]
fn check(numbers: std::ops::Range<u64>) {
    let (cuts, total) = (Cuts::default(), numbers.end - numbers.start);
    check_cases(numbers, case, |case| cuts.judge(case));
    let of_all = |counter: &AtomicU64, all: u64| {
        let share = counter.load(Ordering::Relaxed) as f64 / all as f64;
        println!("{share:.3} of {all}");
        share
    };
    for keeping in Keeping::ALL {
        let share = of_all(&cuts.dirty[keeping as usize], total / 3);
        assert!(share >= LEAST, "{keeping:?}: dirty at {share} of the cuts");
    }
    assert!(of_all(&cuts.unfinished, total) >= LEAST);
    assert!(of_all(&cuts.kept, total / 3) >= LEAST);
}

#[test]
fn random_power_cuts_lose_nothing_that_was_promised() {
    check(0..240);
}

#[test]
#[ignore = "takes minutes"]
fn ten_thousand_power_cuts_lose_nothing_that_was_promised() {
    check(240..10_240);
}
