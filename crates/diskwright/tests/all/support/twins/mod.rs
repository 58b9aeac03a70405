//! What the naive twins of devices have in common: both programs with one case, and how they differ.

mod draw;
mod host;
mod requests;
mod simple;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::Outcome;
pub use draw::Draw;
pub use host::Host;
pub use requests::{Asked, load, runs, trace};
pub use simple::Simple;

/// What a program does with a case: when each request is complete, ns, and its counters at the end.
pub struct Done {
    pub completions: Vec<Option<u64>>,
    pub counters: Vec<(&'static str, u64)>,
}

/// When each of the `requests` requests of a run that kept them is complete, ns.
pub fn completions(outcome: &Outcome, requests: usize) -> Vec<Option<u64>> {
    let mut completions = vec![None; requests];
    for (number, at) in completions_by_number(outcome) {
        completions[number as usize] = Some(at);
    }
    completions
}

/// The numbers of the requests of a run that kept them, and when each is complete, ns.
pub fn completions_by_number(outcome: &Outcome) -> impl Iterator<Item = (u64, u64)> {
    let batches = outcome.requests().expect("kept").batches();
    batches.into_iter().flat_map(|batch| {
        let column = |name| {
            let column = batch.column_by_name(name).expect("a column of the log");
            column.as_primitive::<UInt64Type>().values().to_vec()
        };
        column("sequence").into_iter().zip(column("completion_ns"))
    })
}

/// How the library and the twin differ, if they do: the first request, else the first counter.
pub fn difference(
    library: impl FnOnce() -> Result<Done, String>,
    twin: impl FnOnce() -> Done,
) -> Option<String> {
    let Ok(twin) = catch_unwind(AssertUnwindSafe(twin)) else {
        return Some("the twin cannot go on".to_owned());
    };
    let library = match catch_unwind(AssertUnwindSafe(library)) {
        Err(_) => return Some("the library cannot go on".to_owned()),
        Ok(Ok(done)) => done,
        Ok(Err(error)) => return Some(format!("the library says: {error}")),
    };
    if let Some((number, library, twin)) = first_unequal(&library.completions, &twin.completions) {
        return Some(format!(
            "request {number} is complete at {library:?} ns in the library, {twin:?} ns in the twin"
        ));
    }
    let (_, library, twin) = first_unequal(&library.counters, &twin.counters)?;
    Some(format!("the library has {library:?}, the twin {twin:?}"))
}

fn first_unequal<'a, T: PartialEq + Debug>(
    one: &'a [T],
    other: &'a [T],
) -> Option<(usize, &'a T, &'a T)> {
    let pairs = one.iter().zip(other).enumerate();
    let mut pairs = pairs.map(|(at, (one, other))| (at, one, other));
    pairs.find(|(_, one, other)| one != other)
}

/// Tries the cases of these numbers on all cores, and shows the first that is wrong, as small as it gets.
#[track_caller]
pub fn check(
    numbers: impl IntoParallelIterator<Item = u64>,
    wrong: impl Fn(u64) -> Option<String> + Sync,
    small: impl Fn(u64) -> String,
) {
    let is_wrong = |&number: &u64| wrong(number).is_some();
    let mut found: Vec<u64> = numbers.into_par_iter().filter(is_wrong).collect();
    found.sort_unstable();
    if let Some(&number) = found.first() {
        panic!("cases {found:?} are wrong; {number}: {}", small(number));
    }
}

/// Each of the `rules` rules is met by `least` of the cases of these numbers at least; `met` tells those of a case.
#[track_caller]
pub fn every_rule_comes_up(
    numbers: Range<u64>,
    rules: usize,
    least: u64,
    met: impl Fn(u64) -> BTreeSet<&'static str>,
) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for rule in numbers.flat_map(met) {
        *counts.entry(rule).or_default() += 1;
    }
    println!("{counts:#?}");
    assert_eq!(counts.len(), rules, "{counts:#?}");
    assert!(counts.values().all(|&count| count >= least), "{counts:#?}");
}

/// Leaves out of a list of a case what it is still wrong without, but for the last `kept`: halves first, then single ones.
pub fn leave_out<C: Clone, T>(
    case: &mut C,
    list: fn(&mut C) -> &mut Vec<T>,
    kept: usize,
    is_wrong: impl Fn(&C) -> bool,
) {
    let mut length = list(case).len().div_ceil(2);
    while length > 0 {
        let mut from = 0;
        loop {
            let mut fewer = case.clone();
            let listed = list(&mut fewer);
            let end = listed.len().saturating_sub(kept);
            if from >= end {
                break;
            }
            listed.drain(from..end.min(from + length));
            match is_wrong(&fewer) {
                true => *case = fewer,
                false => from += length,
            }
        }
        length /= 2;
    }
}

/// The cases that DISKWRIGHT_SPECS names: a number, or a first and one after the last.
pub fn chosen() -> Option<Range<u64>> {
    let chosen = std::env::var("DISKWRIGHT_SPECS").ok()?;
    let number = |text: &str| text.parse::<u64>().expect("a number");
    Some(match chosen.split_once('-') {
        Some((first, end)) => number(first)..number(end),
        None => number(&chosen)..number(&chosen) + 1,
    })
}

#[test]
fn what_is_left_out_is_what_nothing_hangs_on() {
    let left = |kept: usize, needed: &[u32]| {
        let mut case: Vec<u32> = (0..50).collect();
        let is_wrong = |case: &Vec<u32>| needed.iter().all(|one| case.contains(one));
        leave_out(&mut case, |case| case, kept, is_wrong);
        case
    };
    assert_eq!(left(0, &[7, 40]), [7, 40]);
    assert_eq!(left(1, &[7, 40]), [7, 40, 49]);
    assert_eq!(left(1, &[49]), [49]);
    assert!(left(0, &[]).is_empty());
    assert_eq!(left(60, &[3]).len(), 50);
}
