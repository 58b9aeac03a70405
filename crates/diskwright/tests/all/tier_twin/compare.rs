//! Both programs with one case.

use super::model::Model;
use super::specs::Case;
use crate::support::twins::{self, Done, completions};
use crate::support::{RunOptions, from_text, outcome_of};

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
    let tier = &json["devices"]["tier"];
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let of_twin = Model::new(case).counters();
    let counters = of_twin.iter().map(|(name, _)| {
        let value = match name.split_once('.') {
            Some((group, name)) => &tier[group][name],
            None if *name == "changes_ns" => {
                let ns = tier["changes_s"].as_f64().unwrap_or(0.0) * 1e9;
                return (*name, ns.round() as u64);
            }
            None => &tier[*name],
        };
        (*name, number(value))
    });
    Ok(Done {
        completions,
        counters: counters.collect(),
    })
}

impl Model<'_> {
    /// What it has counted, by the names of the results.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counts = &self.counts;
        vec![
            ("read_hits", counts.read_hits),
            ("partial_read_hits", counts.partial_read_hits),
            ("read_hit_blocks", counts.read_hit_blocks),
            ("write_hits", counts.write_hits),
            ("write_hit_blocks", counts.write_hit_blocks),
            ("absorbed_writes", counts.absorbed_writes),
            ("line_accesses", counts.line_accesses),
            ("line_misses", counts.line_misses),
            ("insertions", counts.insertions),
            ("evictions", counts.evictions),
            ("promotions", counts.promotions),
            ("promoted_blocks", counts.promoted_blocks),
            ("blocks_from_memory", counts.blocks_from_memory),
            ("conflicts", counts.conflicts),
            ("waited_for_place", counts.waited_for_place),
            ("waited_for_metadata", counts.waited_for_metadata),
            ("metadata_commits", counts.commits),
            ("metadata_writes", counts.table_blocks),
            ("write_backs.victims", counts.of_victims),
            ("write_backs.cleaning", counts.of_cleaning),
            ("write_backs.flushes", counts.of_flushes),
            ("write_backs.changes", counts.of_changes),
            ("written_back_blocks", counts.written_back_blocks),
            ("trimmed_blocks", counts.trimmed_blocks),
            ("trimmed_dirty_blocks", counts.trimmed_dirty_blocks),
            ("bypassed.write_policy", counts.by_write_policy),
            ("bypassed.sequential", counts.by_sequential),
            ("bypassed.admission", counts.by_admission),
            ("bypassed.no_line", counts.by_no_line),
            ("bypassed.changing", counts.by_changing),
            ("changes", counts.changes),
            ("changes_ns", counts.changes_ns),
            ("lines", self.lines as u64),
            ("lines_held", self.held.len() as u64),
            ("dirty_blocks_at_end", self.dirty_blocks()),
        ]
    }
}

fn of_twin(case: &Case) -> Done {
    let mut model = Model::new(case);
    model.run();
    Done {
        counters: model.counters(),
        completions: model.completions,
    }
}

/// How the two differ, if they do: the first request, else the first counter.
pub fn difference(case: &Case) -> Option<String> {
    twins::difference(|| of_library(case), || of_twin(case))
}

/// A case that differs without what it still differs without, and how.
pub fn small(mut case: Case) -> String {
    let is_wrong = |case: &Case| difference(case).is_some();
    twins::leave_out(&mut case, |case| &mut case.requests, 1, is_wrong);
    format!(
        "{}\n{}",
        difference(&case).unwrap_or_default(),
        case.shown()
    )
}
