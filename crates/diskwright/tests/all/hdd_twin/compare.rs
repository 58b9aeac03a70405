//! Both programs with one case.

use std::cell::Cell;

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

fn of_library(case: &Case) -> Result<Done, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("drive.toml"), case.drive.text()).expect("written");
    std::fs::write(path("trace.csv"), case.trace()).expect("written");
    let options = RunOptions {
        check: true,
        keep_requests: true,
        ..RunOptions::default()
    };
    let spec = from_text(case.spec(&path("drive.toml"), &path("trace.csv")));
    let outcome = outcome_of(&spec, &options).map_err(|error| error.to_string())?;
    let json = outcome.json();
    let report = &json["devices"]["hdd"];
    let counters = COUNTERS.map(|name| match (name, case.scheduler) {
        ("promotions", scheduler)
            if !matches!(scheduler, Scheduler::Fcfs { .. } | Scheduler::Ncq { .. }) =>
        {
            (name, 0)
        }
        _ => (name, report[name].as_u64().unwrap_or(0)),
    });
    Ok(Done {
        completions: completions(&outcome, case.requests.len()),
        counters: counters.into(),
    })
}

fn of_twin(model: Model<'_>) -> Done {
    let count = |name| (name, model.counts.get(name).copied().unwrap_or(0));
    Done {
        counters: COUNTERS.map(count).into(),
        completions: model.completions,
    }
}

/// How the two differ, if they do.
pub fn difference(case: &Case) -> Option<String> {
    let has_overrun = Cell::new(false);
    let twin = || {
        let mut model = Model::new(case);
        model.run();
        has_overrun.set(model.has_overrun);
        of_twin(model)
    };
    twins::difference(|| of_library(case), twin).filter(|_| !has_overrun.get())
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
