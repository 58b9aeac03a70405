//! Power cuts at random instants, and what of their runs shows that they were worth making.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::case::Case;
use super::draw::Draw;
use super::judge::{Ended, judge_seeing, run};
use super::schema::Definitions;
use super::{check_cases, load};

/// A run of a device with a cut somewhere in it, or without one where it is refused.
pub(super) fn cut_somewhere(draw: Draw<'_>, device: Value, blocks: u64) -> Case {
    cut_somewhere_with(draw, device, blocks, |_, _| ())
}

/// The same with more in its spec.
pub(super) fn cut_somewhere_with(
    draw: Draw<'_>,
    device: Value,
    blocks: u64,
    add: impl FnOnce(&mut Draw<'_>, &mut Value),
) -> Case {
    let cut = |draw: &mut Draw<'_>, end_ns| {
        let at = draw.within(0..=end_ns);
        json!([{ "at": format!("{at} ns"), "kind": "power-cut" }])
    };
    go_wrong_somewhere(draw, device, blocks, add, cut)
}

/// A run of a device of which something goes wrong before its end, in ns, or without it where it is refused.
pub(super) fn go_wrong_somewhere(
    mut draw: Draw<'_>,
    device: Value,
    blocks: u64,
    add: impl FnOnce(&mut Draw<'_>, &mut Value),
    faults: impl FnOnce(&mut Draw<'_>, u64) -> Value,
) -> Case {
    let mut spec = load::spec_of(&mut draw, device, blocks);
    add(&mut draw, &mut spec);
    spec["fault"] = json!([]);
    let whole = Case {
        spec: spec.clone(),
        ..draw.case.clone()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let source = whole.place(folder.path()).expect("it was drawn");
    let Ended::Well(outcome) = run(&source, false) else {
        return whole;
    };
    let seconds = outcome.json()["simulated_s"].as_f64().unwrap_or_default();
    spec["fault"] = faults(&mut draw, (seconds * 1e9) as u64);
    Case { spec, ..whole }
}

/// Something that must be above zero in a share of the runs that are cut: where the results have it, the share, and what it means.
pub(super) type Sight = (&'static str, f64, &'static str);

/// Runs cases with the checker on, and sees to it that they show something.
#[track_caller]
pub(super) fn check_cuts(
    numbers: Range<u64>,
    case: impl Fn(&Definitions, u64) -> Case + Sync,
    sights: &[Sight],
) {
    let total = numbers.end - numbers.start;
    let seen: Vec<AtomicU64> = sights.iter().map(|_| AtomicU64::new(0)).collect();
    check_cases(numbers, case, |case| {
        judge_seeing(case, |result| {
            for (count, (place, ..)) in seen.iter().zip(sights) {
                let value = result.pointer(place).and_then(Value::as_f64);
                let is_there = value.is_some_and(|value| value > 0.0);
                count.fetch_add(is_there.into(), Ordering::Relaxed);
            }
        })
    });
    for (count, (_, least, what)) in seen.iter().zip(sights) {
        let share = count.load(Ordering::Relaxed) as f64 / total as f64;
        println!("{share:.3} of {total} {what}");
        assert!(share >= *least, "{share} of the runs were cut {what}");
    }
}
