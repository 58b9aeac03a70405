//! Both programs with one case.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::model::Model;
use super::specs::{Case, Scheduler};
use crate::support::twins::{self, Done, completions};
use crate::support::{RunOptions, from_text, outcome_of};

/// The counters that both have, by the names of the results; promotions are those of `fcfs` and `ncq`.
const COUNTERS: [&str; 11] = [
    "media_accesses",
    "read_modify_writes",
    "travels",
    "travel_cylinders",
    "promotions",
    "merged_requests",
    "buffer_hits",
    "buffer_partial_hits",
    "buffer_misses",
    "buffer_hits_on_read_ahead",
    "buffered_writes",
];

/// The counters of a block cache that both have.
pub const OF_CACHE: [&str; 14] = [
    "read_hits",
    "partial_read_hits",
    "absorbed_writes",
    "frame_accesses",
    "frame_misses",
    "insertions",
    "evictions",
    "bypassed",
    "conflicts",
    "trimmed_blocks",
    "trimmed_dirty_blocks",
    "destages",
    "destaged_blocks",
    "dirty_blocks",
];

/// The library with a drive and its load under a spec, for a drive's file and a trace in some places; counters of the drive and its cleaner.
pub fn of_library(
    case: &Case,
    spec: impl Fn(&str, &str) -> String,
    counters: &[&'static str],
) -> Result<Done, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("drive.toml"), case.drive.text()).expect("written");
    std::fs::write(path("trace.csv"), case.trace()).expect("written");
    let options = RunOptions {
        check: true,
        keep_requests: true,
        ..RunOptions::default()
    };
    let spec = from_text(spec(&path("drive.toml"), &path("trace.csv")));
    let outcome = outcome_of(&spec, &options).map_err(|error| error.to_string())?;
    let json = outcome.json();
    let report = &json["devices"]["hdd"];
    let promotes = matches!(
        case.scheduler,
        Scheduler::Fcfs { .. } | Scheduler::Ncq { .. }
    );
    let count = |name: &str| {
        let parts = [report, &report["cleaner"], &json["devices"]["hdd.cache"]];
        parts.iter().find_map(|part| part[name].as_u64())
    };
    let counters = counters.iter().map(|&name| match name {
        "promotions" if !promotes => (name, 0),
        _ => (name, count(name).unwrap_or(0)),
    });
    Ok(Done {
        completions: completions(&outcome, case.requests.len()),
        counters: counters.collect(),
    })
}

/// What a twin has done.
pub fn of_twin(
    completions: Vec<Option<u64>>,
    counts: &BTreeMap<&'static str, u64>,
    counters: &[&'static str],
) -> Done {
    let count = |&name: &&'static str| (name, counts.get(name).copied().unwrap_or(0));
    Done {
        completions,
        counters: counters.iter().map(count).collect(),
    }
}

/// How the two differ, if they do.
pub fn difference(case: &Case) -> Option<String> {
    let counters = [&COUNTERS[..], &OF_CACHE].concat();
    let is_left_out = Cell::new(false);
    let twin = || {
        let mut model = Model::new(case);
        model.run();
        is_left_out.set(model.is_left_out);
        of_twin(model.front.completions, &model.counts, &counters)
    };
    let library = || of_library(case, |drive, trace| case.spec(drive, trace), &counters);
    twins::difference(library, twin).filter(|_| !is_left_out.get())
}

/// A case that differs without what it still differs without, and how.
pub fn small(mut case: Case) -> String {
    let is_wrong = |case: &Case| !case.requests.is_empty() && difference(case).is_some();
    twins::leave_out(&mut case, |case| &mut case.requests, 0, is_wrong);
    format!(
        "{}\n{}",
        difference(&case).unwrap_or_default(),
        case.shown()
    )
}
