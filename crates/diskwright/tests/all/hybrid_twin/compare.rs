//! Both programs with one case.

use super::library;
use super::model::Model;
use super::specs::Case;
use crate::support::twins::{self, Done};

/// The counters that both have, by the names of the results; those of the medium's motor are the test's.
pub const COUNTERS: [&str; 28] = [
    "requests",
    "medium.reads",
    "medium.read_blocks",
    "medium.writes",
    "medium.written_blocks",
    "nv_cache.reads",
    "nv_cache.read_blocks",
    "nv_cache.writes",
    "nv_cache.written_blocks",
    "commands.pin",
    "commands.unpin",
    "commands.query_pinned",
    "commands.flush_unpinned",
    "commands.refused",
    "populated_blocks",
    "unpinned_set.writes",
    "unpinned_set.written_blocks",
    "unpinned_set.own_flushes",
    "unpinned_set.flushed_blocks",
    "reads_at_rest",
    "wakes.reads",
    "wakes.writes",
    "wakes.commands",
    "wakes.flushes",
    "pinned_blocks",
    "unpinned_blocks",
    "motor.stops",
    "motor.tellings",
];

fn of_twin(case: &Case) -> Done {
    let mut model = Model::new(case);
    model.run();
    let mut counters: Vec<(&'static str, u64)> = COUNTERS
        .iter()
        .map(|&name| (name, model.counts.get(name).copied().unwrap_or(0)))
        .collect();
    counters.push(("refused to the host", model.count("commands.refused")));
    model.answers.sort_unstable();
    counters.extend(model.answers.iter().map(|&(_, answer)| ("answer", answer)));
    Done {
        completions: model.completions,
        counters,
    }
}

/// How the two differ, if they do: the first request, else the first counter.
pub fn difference(case: &Case) -> Option<String> {
    twins::difference(|| library::done(case), || of_twin(case))
}

/// A case without the requests that it is still wrong without.
pub fn shortened(mut case: Case, is_wrong: impl Fn(&Case) -> bool) -> Case {
    twins::leave_out(&mut case, |case| &mut case.requests, 1, is_wrong);
    case
}
