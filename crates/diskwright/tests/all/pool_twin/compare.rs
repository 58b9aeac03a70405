//! Both programs with one case.

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;

use diskwright::base::units::Time;
use diskwright::engine::window::ArmTraceFrom;

use super::model::{Began, Kind, Model};
use super::specs::Case;
use crate::support::{RunOptions, from_text, outcome_of, twins};

/// What a program does with a case.
#[derive(PartialEq, Eq)]
struct Done {
    /// When each request is complete, ns.
    completions: Vec<Option<u64>>,
    /// Destages until the arm trace is full and ends: first blocks, blocks and beginnings.
    destages: Vec<Began>,
}

/// What the library does, and when its arm trace ends; or what it says against the case.
fn of_library(case: &Case) -> Result<(Done, u64), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("drive.toml"), case.drive_file()).expect("written");
    std::fs::write(path("trace.csv"), case.trace()).expect("written");
    let first = case.requests.first().map_or(0, |asked| asked.at);
    let options = RunOptions {
        check: true,
        keep_requests: true,
        picture: true,
        arm_trace: ArmTraceFrom::Instant(Time::from_ns(first)),
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
    let trace = &outcome.picture().expect("asked for")["devices"]["hdd"]["film"];
    let shown = trace["requests"].as_array().expect("a list").iter();
    let own = shown.filter(|work| work["sequence"].is_null() && work["op"] == "write");
    let destages = own.map(|work| {
        let number = |key| work[key].as_u64().expect("a whole number");
        (number("lbn"), number("blocks"), number("start_ns"))
    });
    let destages = destages.collect();
    Ok((
        Done {
            completions,
            destages,
        },
        trace["to_ns"].as_u64().expect("an instant"),
    ))
}

/// What the twin does, with its destages until an instant.
fn of_twin(model: &Model<'_>, until: u64) -> Done {
    let own = |&&(kind, began): &&(Kind, Began)| kind == Kind::Destage && began.2 < until;
    let destages = model.began.iter().filter(own);
    Done {
        completions: model.completions.clone(),
        destages: destages.map(|&(_, began)| began).collect(),
    }
}

/// How the two differ, if they do.
pub fn difference(case: &Case) -> Option<String> {
    let mut model = Model::new(case);
    model.run();
    let (library, until) = match of_library(case) {
        Ok(done) => done,
        Err(error) => return Some(format!("the library says: {error}")),
    };
    let mut twin = of_twin(&model, until);
    // What is under way at the end is not shown.
    if twin.destages.len() == library.destages.len() + 1 {
        twin.destages.pop();
    }
    if library == twin {
        return None;
    }
    let mut text = String::from("request, complete in the library, complete in the twin (ns):\n");
    let pairs = library.completions.iter().zip(&twin.completions);
    for (number, (library, twin)) in pairs.enumerate() {
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
    text += &format!("the library's destages until {until}:\n");
    for (from, blocks, at) in &library.destages {
        text += &format!("{at:>12} {from}, {blocks} blocks\n");
    }
    Some(text)
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
