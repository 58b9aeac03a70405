//! Both programs with one case.

use serde_json::Value;

use super::model::Model;
use super::specs::{Cache, Case};
use crate::support::twins::{self, Done, completions};
use crate::support::{RunOptions, from_text, outcome_of};

/// The counters of every controller that both have, by the names of the results, and those of one with a cache of each kind.
const COUNTERS: [&str; 5] = ["requests", "reads", "writes", "failed", "further_pieces"];
const OF_MEMORY: [&str; 12] = [
    "read_hits",
    "write_hits",
    "bypassed_lines",
    "fetches",
    "fetched_blocks",
    "dirty_victims",
    "write_backs",
    "written_back_blocks",
    "idle_write_backs",
    "lines_at_end",
    "dirty_blocks_at_end",
    "lost_blocks",
];
const OF_CACHE_DEVICE: [&str; 9] = [
    "read_hits",
    "write_hits",
    "populated_blocks",
    "write_backs",
    "written_back_blocks",
    "idle_write_backs",
    "cached_blocks_at_end",
    "dirty_blocks_at_end",
    "lost_blocks",
];
const OF_DEVICES: [&str; 5] = ["reads", "read_blocks", "writes", "written_blocks", "joined"];

/// The counters of a case, each asked for by its name; those of a device by its number, too.
fn counters(
    case: &Case,
    of: impl Fn(&'static str) -> u64,
    of_device: impl Fn(usize, &'static str) -> u64,
) -> Vec<(&'static str, u64)> {
    let of_cache: &[&'static str] = match case.cache {
        Cache::None => &[],
        Cache::Memory(_) => &OF_MEMORY,
        Cache::Device(_) => &OF_CACHE_DEVICE,
    };
    let names = COUNTERS.iter().chain(of_cache);
    let mut counters: Vec<_> = names.map(|&name| (name, of(name))).collect();
    for device in 0..case.count() {
        counters.extend(OF_DEVICES.map(|name| (name, of_device(device, name))));
    }
    counters
}

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
    let json = outcome.json();
    let controller = &json["devices"]["controller"];
    let number = |value: &Value| value.as_u64().expect("a count");
    let of_device = |device: usize, name: &str| {
        let device = match device == case.devices.len() {
            true => "cache_device".to_owned(),
            false => format!("device[{device}]"),
        };
        number(&controller["devices"][device][name])
    };
    Ok(Done {
        completions: completions(&outcome, case.requests.len()),
        counters: counters(case, |name| number(&controller[name]), of_device),
    })
}

fn of_twin(case: &Case) -> Done {
    let mut model = Model::new(case);
    model.run();
    match case.cache {
        Cache::None => {}
        Cache::Memory(_) => model.count_what_memory_holds(),
        Cache::Device(_) => model.count_what_cache_device_holds(),
    }
    let of = |name| model.counts.get(name).copied().unwrap_or(0);
    let of_device = |device, name| {
        let count = model.of_devices.get(&(device, name));
        count.copied().unwrap_or(0)
    };
    Done {
        counters: counters(case, of, of_device),
        completions: model.completions,
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
    format!(
        "{}\n{}",
        difference(&case).unwrap_or_default(),
        case.shown()
    )
}
