//! Both programs with one case.

use super::blocks::State;
use super::model::Model;
use super::specs::Case;
use super::streams;
use crate::support::twins::{self, Done, completions};
use crate::support::{RunOptions, from_text, outcome_of};

/// The instant from which on a drive can only be read, ns: all that is counted of it.
pub const READ_ONLY: &str = "read_only_since_ns";

/// What was complete before an instant, ns.
fn before(instant: u64, completions: Vec<Option<u64>>) -> Vec<Option<u64>> {
    let all = completions.into_iter();
    all.map(|completion| completion.filter(|&at| at < instant))
        .collect()
}

/// What is compared of a drive that can only be read since an instant, ns: this instant, and what was complete before.
fn until(since: u64, completions: Vec<Option<u64>>) -> Done {
    Done {
        completions: before(since, completions),
        counters: vec![(READ_ONLY, since)],
    }
}

/// What is compared of a drive whose power has failed: what it took to find its data again, and what was complete before.
fn recovered(
    cut: u64,
    [map_pages, scanned, time]: [u64; 3],
    completions: Vec<Option<u64>>,
) -> Done {
    Done {
        completions: before(cut, completions),
        counters: vec![
            ("recovery.map_pages", map_pages),
            ("recovery.scanned_pages", scanned),
            ("recovery_ns", time),
        ],
    }
}

/// What the library does.
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
    let (completions, ssd) = match case.drive.queues {
        Some(_) => streams::run(case, case.spec(&path("drive.toml"), &path("trace.csv")))?,
        None => {
            let outcome = outcome_of(&spec, &options).map_err(|error| error.to_string())?;
            let completions = completions(&outcome, case.requests.len());
            (completions, outcome.json()["devices"]["ssd"].clone())
        }
    };
    if let Some(since) = ssd["read_only_since_s"].as_f64() {
        return Ok(until(libm::round(since * 1e9) as u64, completions));
    }
    let number = |value: &serde_json::Value| value.as_u64().expect("a whole number");
    if let Some(cut) = case.cut {
        let found = &ssd["recovery"];
        let s = found["s"].as_f64().expect("a time");
        let time = libm::round(s * 1e9) as u64;
        let found = [
            number(&found["map_pages"]),
            number(&found["scanned_pages"]),
            time,
        ];
        return Ok(recovered(cut, found, completions));
    }
    // Of an option that the drive lacks there is nothing.
    let count = |value: &serde_json::Value| value.as_u64().unwrap_or(0);
    let entries = |name: &str| count(&ssd["power_states"][name]["entries"]);
    let erases = &ssd["erases"];
    let counters = vec![
        ("host_pages", number(&ssd["host_pages"])),
        ("moved_pages", number(&ssd["moved_pages"])),
        ("merged_pages", number(&ssd["merged_pages"])),
        ("trimmed_pages", number(&ssd["trimmed_pages"])),
        ("failures.programs", count(&ssd["failures"]["programs"])),
        ("failures.erases", count(&ssd["failures"]["erases"])),
        (
            "failures.retiring_blocks_at_end",
            count(&ssd["failures"]["retiring_blocks_at_end"]),
        ),
        (
            "failures.retired_blocks",
            count(&ssd["failures"]["retired_blocks"]),
        ),
        ("retries", count(&ssd["retries"])),
        ("refreshed_blocks", count(&ssd["refreshed_blocks"])),
        ("levelled_blocks", count(&ssd["levelled_blocks"])),
        ("mapping.look_ups", count(&ssd["mapping"]["look_ups"])),
        ("mapping.misses", count(&ssd["mapping"]["misses"])),
        ("mapping.read_units", count(&ssd["mapping"]["read_units"])),
        (
            "mapping.written_units",
            count(&ssd["mapping"]["written_units"]),
        ),
        (
            "suspensions.programs",
            count(&ssd["suspensions"]["programs"]),
        ),
        ("suspensions.erases", count(&ssd["suspensions"]["erases"])),
        ("slc.pages", count(&ssd["slc"]["pages"])),
        ("slc.folded_pages", count(&ssd["slc"]["folded_pages"])),
        ("parity.pages", count(&ssd["parity"]["pages"])),
        ("merges.switch", count(&ssd["mapping"]["merges"]["switch"])),
        (
            "merges.partial",
            count(&ssd["mapping"]["merges"]["partial"]),
        ),
        ("merges.full", count(&ssd["mapping"]["merges"]["full"])),
        ("dropped", count(&ssd["mapping"]["dropped_log_blocks"])),
        ("log_blocks", count(&ssd["mapping"]["log_blocks_at_end"])),
        ("power.slumber", entries("slumber")),
        ("power.devsleep", entries("devsleep")),
        ("map_pages", number(&ssd["map_pages"])),
        ("bad_blocks", number(&ssd["bad_blocks"])),
        ("free_blocks", number(&ssd["free_blocks"])),
        ("erases.total", number(&erases["total"])),
        ("erases.min", number(&erases["min"])),
        ("erases.max", number(&erases["max"])),
    ];
    Ok(Done {
        completions,
        counters,
    })
}

fn of_twin(case: &Case) -> Done {
    let mut model = Model::new(case);
    model.run();
    if let Some(since) = model.read_only_since {
        return until(since, model.completions);
    }
    if let Some(cut) = case.cut {
        return recovered(cut, model.recovery(), model.completions);
    }
    let reserved = case.drive.reserved;
    let usable = model
        .planes
        .iter()
        .flat_map(|plane| &plane.blocks[reserved..]);
    let erases: Vec<u64> = usable.map(|block| block.erases).collect();
    let in_state = |state| {
        let all = model.planes.iter().flat_map(|plane| &plane.blocks);
        all.filter(|block| block.state == state).count() as u64
    };
    let free: usize = model.planes.iter().map(|plane| plane.free()).sum();
    let counters = vec![
        ("host_pages", model.host_pages),
        ("moved_pages", model.moved_pages),
        ("merged_pages", model.merged_units),
        ("trimmed_pages", model.trimmed_units),
        ("failures.programs", model.failed_programs),
        ("failures.erases", model.failed_erases),
        ("failures.retiring_blocks_at_end", in_state(State::Retiring)),
        ("failures.retired_blocks", in_state(State::Retired)),
        ("retries", model.retries),
        ("refreshed_blocks", model.refreshed),
        ("levelled_blocks", model.levelled_blocks),
        ("mapping.look_ups", model.look_ups),
        ("mapping.misses", model.misses),
        ("mapping.read_units", model.loads.len() as u64),
        ("mapping.written_units", model.written_map_units),
        ("suspensions.programs", model.suspensions[0]),
        ("suspensions.erases", model.suspensions[1]),
        ("slc.pages", model.slc_pages),
        ("slc.folded_pages", model.folded_pages),
        ("parity.pages", model.parity_pages),
        ("merges.switch", model.merge_counts.switch),
        ("merges.partial", model.merge_counts.partial),
        ("merges.full", model.merge_counts.full),
        ("dropped", model.merge_counts.dropped),
        ("log_blocks", model.log_blocks() as u64),
        ("power.slumber", model.power.entries[0]),
        ("power.devsleep", model.power.entries[1]),
        ("map_pages", model.checkpoints.pages),
        (
            "bad_blocks",
            [State::Reserved, State::Retired, State::Worn]
                .map(in_state)
                .iter()
                .sum(),
        ),
        ("free_blocks", free as u64),
        ("erases.total", erases.iter().sum()),
        ("erases.min", erases.iter().copied().min().unwrap_or(0)),
        ("erases.max", erases.iter().copied().max().unwrap_or(0)),
    ];
    Done {
        completions: model.completions,
        counters,
    }
}

/// How the two differ, if they do: the first request, else the first counter.
pub fn difference(case: &Case) -> Option<String> {
    // A drive that looks for old blocks for ever is not done with its work when the last request is complete.
    let patrols = case.drive.patrols();
    let counted = |mut done: Done| {
        done.counters
            .retain(|&(name, _)| !patrols || name == READ_ONLY || case.cut.is_some());
        done
    };
    twins::difference(|| of_library(case).map(counted), || counted(of_twin(case)))
}

/// The counters of the library.
pub fn counters(case: &Case) -> Vec<(&'static str, u64)> {
    of_library(case).map_or_else(|_| Vec::new(), |done| done.counters)
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
