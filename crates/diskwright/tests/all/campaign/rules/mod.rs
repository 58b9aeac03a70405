//! Rules that tell the result of one run from that of another: metamorphic tests. Each says where it holds.

mod faster;
mod layers;
mod slower;

use std::collections::BTreeMap;

use diskwright::base::units::Time;
use serde_json::Value;

use crate::support::twins::completions_by_number;
use crate::support::{RunOptions, SpecSource};
use crate::whole_specs::{Case, Draw, Ended, Fault, Verdict, not_well, run_with, spec_of};

pub use faster::{a_drive, a_faster_interface_is_never_slower};
pub use layers::{
    a_device_under_an_open_load, a_device_under_poisson_arrivals, an_array_of_one_is_its_member,
    what_passes_a_tier_by_is_not_delayed,
};
pub use slower::{devices_of_constant_times, twice_the_times_are_twice_as_long};

/// A case of a device of at least `blocks` blocks: nothing goes wrong in it, its host knows nothing of flash, and all of it is measured.
fn plain(mut draw: Draw<'_>, device: Value, blocks: u64) -> Case {
    let mut spec = spec_of(&mut draw, device, blocks);
    let keys = spec.as_object_mut().expect("a table");
    keys.retain(|key, _| !["fault", "measure"].contains(&key.as_str()));
    if let Some(host) = keys.get_mut("host").and_then(Value::as_object_mut) {
        host.remove("flash_backed");
    }
    Case { spec, ..draw.case }
}

/// When the requests of a run are complete, by their numbers, and its result.
struct Run {
    completions: BTreeMap<u64, Time>,
    result: Value,
}

impl Run {
    fn of(source: &SpecSource) -> Result<Run, Ended> {
        let options = RunOptions {
            keep_requests: true,
            ..RunOptions::default()
        };
        match run_with(source, &options) {
            Ended::Well(outcome) => Ok(Run {
                completions: completions_by_number(&outcome)
                    .map(|(number, at)| (number, Time::from_ns(at)))
                    .collect(),
                result: outcome.json(),
            }),
            ended => Err(ended),
        }
    }
}

/// Judges a case by its run and that of the spec and the files that `change` makes of those in effect.
fn judge_changed(
    case: &Case,
    change: impl FnOnce(&mut Case),
    compare: impl FnOnce(&Run, &Run) -> Result<(), String>,
) -> Verdict {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(source) = case.place(folder.path()) else {
        return Verdict::Refused("not a case");
    };
    let one = match Run::of(&source) {
        Ok(run) => run,
        Err(ended) => return not_well(ended),
    };
    let mut changed = Case {
        spec: one.result["spec"].clone(),
        ..case.clone()
    };
    change(&mut changed);
    let source = changed.place(folder.path()).expect("it is one still");
    let other = match Run::of(&source) {
        Ok(run) => run,
        Err(Ended::Refused(message)) => {
            return Verdict::Wrong(Fault::new("refused after the change", message));
        }
        Err(ended) => return not_well(ended),
    };
    match compare(&one, &other) {
        Ok(()) => Verdict::Right(Default::default()),
        Err(message) => Verdict::Wrong(Fault::new("rule", message)),
    }
}

/// Refuses two runs of which a request does not have the completion that the rule gives it.
fn each_as(
    one: &Run,
    other: &Run,
    holds: impl Fn(Time, Time) -> bool,
    rule: &str,
) -> Result<(), String> {
    if one.completions.len() != other.completions.len() {
        return Err(format!("{rule}: other numbers of requests"));
    }
    for ((number, one), (other_number, other)) in one.completions.iter().zip(&other.completions) {
        if number != other_number || !holds(*one, *other) {
            return Err(format!(
                "{rule}: of request {number}, {one} and then {other}"
            ));
        }
    }
    Ok(())
}
