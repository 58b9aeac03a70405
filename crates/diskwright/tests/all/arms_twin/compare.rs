//! Both programs with one case.

use super::model::Model;
use super::specs::Case;
use crate::hdd_twin::specs::Scheduler;
use crate::support::twins::{self, Done, completions};
use crate::support::{RunOptions, from_text, outcome_of};

/// The counters that both have, by the names of the results; promotions are those of `fcfs` and `ncq`.
const COUNTERS: [&str; 8] = [
    "media_accesses",
    "read_modify_writes",
    "promotions",
    "merged_requests",
    "arm_mode_switches",
    "tracks_read",
    "blocks_moved",
    "tracks_emptied",
];

fn of_library(case: &Case) -> Result<Done, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("drive.toml"), case.disk.drive.text()).expect("written");
    std::fs::write(path("trace.csv"), case.disk.trace()).expect("written");
    let options = RunOptions {
        check: true,
        keep_requests: true,
        ..RunOptions::default()
    };
    let spec = from_text(case.spec(&path("drive.toml"), &path("trace.csv")));
    let outcome = outcome_of(&spec, &options).map_err(|error| error.to_string())?;
    let json = outcome.json();
    let report = &json["devices"]["hdd"];
    let promotes = matches!(
        case.disk.scheduler,
        Scheduler::Fcfs { .. } | Scheduler::Ncq { .. }
    );
    let counters = COUNTERS.map(|name| match name {
        "promotions" if !promotes => (name, 0),
        "tracks_read" | "blocks_moved" | "tracks_emptied" => {
            (name, report["cleaner"][name].as_u64().unwrap_or(0))
        }
        _ => (name, report[name].as_u64().unwrap_or(0)),
    });
    Ok(Done {
        completions: completions(&outcome, case.disk.requests.len()),
        counters: counters.into(),
    })
}

fn of_twin(case: &Case) -> Done {
    let mut model = Model::new(case);
    model.run();
    let count = |name| (name, model.counts.get(name).copied().unwrap_or(0));
    Done {
        counters: COUNTERS.map(count).into(),
        completions: model.completions,
    }
}

/// How the two differ, if they do.
pub fn difference(case: &Case) -> Option<String> {
    twins::difference(|| of_library(case), || of_twin(case))
}

/// A case that differs without what it still differs without, and how.
pub fn small(mut case: Case) -> String {
    let is_wrong = |case: &Case| !case.disk.requests.is_empty() && difference(case).is_some();
    twins::leave_out(&mut case, |case| &mut case.disk.requests, 0, is_wrong);
    format!(
        "{}\n{}",
        difference(&case).unwrap_or_default(),
        case.shown()
    )
}
