//! Both programs with one case.

use std::collections::BTreeMap;

use super::model::Model;
use super::specs::Case;
use crate::support::twins::{self, Done, completions};
use crate::support::{RunOptions, from_text, outcome_of};

/// The counters that both have, by the names of the results.
const COUNTERS: [&str; 16] = [
    "requests",
    "reads",
    "writes",
    "split_requests",
    "pieces",
    "retried_reads",
    "pre_reads",
    "parity_writes",
    "full_segments",
    "reconstructed_segments",
    "modified_segments",
    "waited_for_rows",
    "trims_not_passed_on",
    "recovered_blocks",
    "repaired_blocks",
    "lost_blocks",
];

fn of_library(case: &Case) -> Result<Done, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("trace.csv").display().to_string();
    std::fs::write(&trace, case.trace()).expect("written");
    let options = RunOptions {
        check: true,
        keep_requests: true,
        ..RunOptions::default()
    };
    let outcome = outcome_of(&from_text(case.spec(&trace)), &options);
    let outcome = outcome.map_err(|error| error.to_string())?;
    let completions = completions(&outcome, case.requests.len());
    let json = outcome.json();
    let array = &json["devices"]["array"];
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let mut counters: Vec<(&'static str, u64)> = Vec::new();
    for name in COUNTERS {
        counters.push((name, number(&array[name])));
    }
    counters.push(("failed", number(&json["requests"]["failed"])));
    for member in 0..case.members.len() {
        let member = &array["members"][format!("member[{member}]")];
        counters.push(("pieces of a member", number(&member["pieces"])));
        counters.push(("blocks of a member", number(&member["blocks"])));
    }
    for spare in 0..case.spares.len() {
        let spare = &array["spares"][format!("spare[{spare}]")];
        counters.push(("pieces of a spare", number(&spare["pieces"])));
        counters.push(("blocks of a spare", number(&spare["blocks"])));
    }
    let none = Vec::new();
    let rebuilds = array["rebuilds"].as_array().unwrap_or(&none);
    let complete = rebuilds
        .iter()
        .filter(|rebuild| rebuild["complete"] == true);
    let blocks = rebuilds
        .iter()
        .map(|rebuild| number(&rebuild["blocks"]))
        .sum();
    counters.push(("rebuilds", rebuilds.len() as u64));
    counters.push(("rebuilt_blocks", blocks));
    counters.push(("complete rebuilds", complete.count() as u64));
    Ok(Done {
        completions,
        counters,
    })
}

fn of_twin(case: &Case) -> Done {
    let mut model = Model::new(case);
    model.run();
    let counts: &BTreeMap<&str, u64> = &model.counts;
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    let mut counters: Vec<(&'static str, u64)> = Vec::new();
    for name in COUNTERS {
        counters.push((name, count(name)));
    }
    counters.push(("failed", count("failed")));
    for (device, share) in model.shares.iter().enumerate() {
        let (pieces, blocks) = if device < case.members.len() {
            ("pieces of a member", "blocks of a member")
        } else {
            ("pieces of a spare", "blocks of a spare")
        };
        counters.push((pieces, share.pieces));
        counters.push((blocks, share.blocks));
    }
    for name in ["rebuilds", "rebuilt_blocks", "complete rebuilds"] {
        counters.push((name, count(name)));
    }
    Done {
        completions: model.completions,
        counters,
    }
}

/// How the two differ, if they do: the first request, else the first counter.
pub fn difference(case: &Case) -> Option<String> {
    twins::difference(|| of_library(case), || of_twin(case))
}

/// A case that differs without what it still differs without, and how.
pub fn small(mut case: Case) -> String {
    let is_wrong = |case: &Case| !case.requests.is_empty() && difference(case).is_some();
    twins::leave_out(&mut case, |case| &mut case.requests, 0, is_wrong);
    twins::leave_out(&mut case, |case| &mut case.faults, 0, is_wrong);
    format!(
        "{}\n{}",
        difference(&case).unwrap_or_default(),
        case.shown()
    )
}
