//! Both programs with one case.

use super::model::Model;
use super::specs::Case;
use crate::hdd_twin::compare;
use crate::support::twins;

/// The counters that both have, by the names of the results.
const COUNTERS: [&str; 10] = [
    "media_accesses",
    "read_modify_writes",
    "travels",
    "travel_cylinders",
    "promotions",
    "merged_requests",
    "arm_mode_switches",
    "tracks_read",
    "blocks_moved",
    "tracks_emptied",
];

/// How the two differ, if they do.
pub fn difference(case: &Case) -> Option<String> {
    let counters = [&COUNTERS[..], &compare::OF_CACHE].concat();
    let spec = |drive: &str, trace: &str| case.spec(drive, trace);
    let library = || compare::of_library(&case.disk, spec, &counters);
    let twin = || {
        let mut model = Model::new(case);
        model.run();
        compare::of_twin(model.front.completions, &model.counts, &counters)
    };
    twins::difference(library, twin)
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
