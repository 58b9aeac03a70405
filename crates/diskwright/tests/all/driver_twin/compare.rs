//! Both programs with one case.

use super::library;
use super::model::Model;
use super::specs::Case;
use crate::support::twins::{self, Done};

/// The counters that both have, by the names of the results.
pub const COUNTERS: [&str; 11] = [
    "requests",
    "reads",
    "writes",
    "critical",
    "limited",
    "completed",
    "sent",
    "joined",
    "raised",
    "late",
    "queue_length_max",
];

fn of_twin(case: &Case) -> Done {
    let mut model = Model::new(case);
    model.run();
    let mut counters: Vec<(&'static str, u64)> = COUNTERS
        .iter()
        .map(|&name| (name, model.counts.get(name).copied().unwrap_or(0)))
        .collect();
    counters.push(("response, ns", model.response));
    counters.push(("physical access, ns", model.access));
    Done {
        completions: model.completions,
        counters,
    }
}

/// How the two differ, if they do: the first request, else the first counter.
pub fn difference(case: &Case) -> Option<String> {
    twins::difference(|| library::done(case), || of_twin(case))
}

/// A case that differs without what it still differs without, and how.
pub fn small(mut case: Case) -> String {
    let is_wrong = |case: &Case| difference(case).is_some();
    twins::leave_out(&mut case, |case| &mut case.requests, 0, is_wrong);
    format!(
        "{}\n{}",
        difference(&case).unwrap_or_default(),
        case.shown()
    )
}
