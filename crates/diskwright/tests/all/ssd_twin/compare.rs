//! Both programs with one case.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;

use super::model::Model;
use super::specs::Case;
use crate::support::{RunOptions, from_text, outcome_of};

/// What a program does with a case: when each request is complete, ns, and its counters at the end.
struct Done {
    completions: Vec<Option<u64>>,
    counters: Vec<(&'static str, u64)>,
}

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
    let mut completions = vec![None; case.requests.len()];
    for batch in outcome.requests().expect("kept").batches() {
        let column = |name| {
            let column = batch.column_by_name(name).expect("a column of the log");
            column.as_primitive::<UInt64Type>().values().to_vec()
        };
        for (sequence, at) in column("sequence").into_iter().zip(column("completion_ns")) {
            completions[sequence as usize] = Some(at);
        }
    }
    let json = outcome.json();
    let ssd = &json["devices"]["ssd"];
    let number = |value: &serde_json::Value| value.as_u64().expect("a whole number");
    let erases = &ssd["erases"];
    let counters = vec![
        ("host_pages", number(&ssd["host_pages"])),
        ("moved_pages", number(&ssd["moved_pages"])),
        ("merged_pages", number(&ssd["merged_pages"])),
        ("trimmed_pages", number(&ssd["trimmed_pages"])),
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
    let reserved = case.drive.reserved;
    let usable = model
        .planes
        .iter()
        .flat_map(|plane| &plane.blocks[reserved..]);
    let erases: Vec<u64> = usable.map(|block| block.erases).collect();
    let free: usize = model.planes.iter().map(|plane| plane.free()).sum();
    let counters = vec![
        ("host_pages", model.host_pages),
        ("moved_pages", model.moved_pages),
        ("merged_pages", model.merged_units),
        ("trimmed_pages", model.trimmed_units),
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
    let Ok(twin) = std::panic::catch_unwind(|| of_twin(case)) else {
        return Some("the twin cannot go on".to_owned());
    };
    let library = match std::panic::catch_unwind(|| of_library(case)) {
        Err(_) => return Some("the library cannot go on".to_owned()),
        Ok(Ok(done)) => done,
        Ok(Err(error)) => return Some(format!("the library says: {error}")),
    };
    let pairs = library.completions.iter().zip(&twin.completions);
    if let Some((number, (library, twin))) = { pairs.enumerate() }.find(|(_, (a, b))| a != b) {
        return Some(format!(
            "request {number} is complete at {library:?} ns in the library, {twin:?} ns in the twin"
        ));
    }
    let mut pairs = library.counters.iter().zip(&twin.counters);
    let (library, twin) = pairs.find(|(library, twin)| library != twin)?;
    Some(format!("the library has {library:?}, the twin {twin:?}"))
}

/// A case that differs, without the requests that it differs without.
pub fn shortened(mut case: Case) -> Case {
    let mut at = case.requests.len() - 1;
    while at > 0 {
        at -= 1;
        let left_out = case.requests.remove(at);
        if difference(&case).is_none() {
            case.requests.insert(at, left_out);
        }
    }
    case
}
