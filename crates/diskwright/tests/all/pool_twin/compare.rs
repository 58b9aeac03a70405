//! Both programs with one case.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;

use super::model::Model;
use super::specs::Case;
use crate::support::{RunOptions, from_text, outcome_of};

/// When the library completes each request, ns; or what it says against the case.
fn of_library(case: &Case) -> Result<Vec<Option<u64>>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("drive.toml"), case.drive_file()).expect("written");
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
    Ok(completions)
}

/// How the two differ, if they do.
pub fn difference(case: &Case) -> Option<String> {
    let mut model = Model::new(case);
    model.run();
    let library = match of_library(case) {
        Ok(library) if library == model.completions => return None,
        Ok(library) => library,
        Err(error) => return Some(format!("the library says: {error}")),
    };
    let mut text = String::from("request, complete in the library, complete in the twin (ns):\n");
    let pairs = library.iter().zip(&model.completions).enumerate();
    for (number, (library, twin)) in pairs {
        let shown = |at: &Option<u64>| at.map_or("never".to_owned(), |at| at.to_string());
        let mark = if library == twin { "" } else { " <-" };
        text += &format!(
            "{number:3} {:>12} {:>12}{mark}\n",
            shown(library),
            shown(twin)
        );
    }
    text += "the twin's arm began:\n";
    for (kind, (from, blocks, at)) in &model.began {
        text += &format!("{at:>12} {kind:?} of {from}, {blocks} blocks\n");
    }
    Some(text)
}

/// As few requests as still make a difference.
pub fn shrink(case: &Case) -> Case {
    let mut best = case.clone();
    let mut length = best.requests.len() / 2;
    while length > 0 {
        let mut from = 0;
        while from < best.requests.len() {
            let mut fewer = best.clone();
            let to = (from + length).min(best.requests.len());
            fewer.requests.drain(from..to);
            if !fewer.requests.is_empty() && difference(&fewer).is_some() {
                best = fewer;
            } else {
                from = to;
            }
        }
        length /= 2;
    }
    best
}
