//! Processes on simulated processors: closed forms, a naive twin over random loads, and runs of DiskSim's to the last digit.

mod case;
mod closed_forms;
mod disksim;
mod refused;
mod twin;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};

use crate::support::{Outcome, RunOptions, from_text, outcome_of, twins};
use case::Case;
use twin::{Run, Twin};

/// What the library makes of a case.
fn library(case: &Case, requests: usize) -> Run {
    let options = RunOptions {
        check: true,
        keep_requests: true,
        ..RunOptions::default()
    };
    let text = case.spec();
    let outcome = outcome_of(&from_text(&text), &options);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}\n{text}"));
    Run {
        completions: twins::completions(&outcome, requests),
        asked: asked(&outcome, requests),
        end: ended_at(&outcome),
        issued: outcome.json()["requests"]["issued"]
            .as_u64()
            .expect("a count") as usize,
    }
}

/// First block, blocks and whether it is a read, of each request that completed.
fn asked(outcome: &Outcome, requests: usize) -> Vec<Option<(u64, u64, bool)>> {
    let mut asked = vec![None; requests];
    for batch in outcome.requests().expect("kept").batches() {
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .expect("a column of the log")
                .clone()
        };
        let (sequence, lbn) = (column("sequence"), column("lbn"));
        let (sequence, lbn) = (
            sequence.as_primitive::<UInt64Type>(),
            lbn.as_primitive::<UInt64Type>(),
        );
        let blocks = column("blocks");
        let blocks = blocks.as_primitive::<UInt32Type>();
        let op = column("op");
        let op = op.as_dictionary::<arrow_array::types::Int8Type>();
        for row in 0..batch.num_rows() {
            let is_read = op.keys().value(row) == 0;
            asked[sequence.value(row) as usize] =
                Some((lbn.value(row), u64::from(blocks.value(row)), is_read));
        }
    }
    asked
}

/// When the processes ended a run, as its notes tell, in ns.
fn ended_at(outcome: &Outcome) -> u64 {
    let notes = outcome.json()["notes"].to_string();
    let from = notes.find("ended the run at ").expect("it was ended") + "ended the run at ".len();
    let text: String = notes[from..]
        .split(": ")
        .next()
        .expect("an instant")
        .to_owned();
    let time: diskwright::base::units::Time = text.parse().expect("a time");
    time.ns()
}

#[test]
fn the_library_is_the_twin_request_for_request() {
    let cases = twins::chosen().unwrap_or(0..200);
    let (mut completed, mut unfinished) = (0, 0);
    for number in cases {
        let case = case::case(number);
        let twin = Twin::run(&case);
        if twin.completions.iter().flatten().next().is_none() {
            continue;
        }
        let library = library(&case, twin.completions.len());
        assert!(
            library == twin,
            "case {number}: {}\n{case:#?}",
            difference(&library, &twin)
        );
        completed += twin.completions.iter().flatten().count();
        unfinished += twin
            .completions
            .iter()
            .filter(|done| done.is_none())
            .count();
    }
    println!("{completed} requests, {unfinished} more were not finished");
}

fn difference(library: &Run, twin: &Run) -> String {
    let pairs = library.completions.iter().zip(&twin.completions);
    match pairs
        .enumerate()
        .find(|(_, (library, twin))| library != twin)
    {
        Some((number, pair)) => format!(
            "request {number} of {}: {pair:?}, {:?} and {:?}",
            twin.completions.len(),
            library.asked[number],
            twin.asked[number]
        ),
        None => format!(
            "ends {} and {}, issued {} and {}",
            library.end, twin.end, library.issued, twin.issued
        ),
    }
}
