//! Recorded results: each spec of `tests/golden` still gives the digest and the numbers that were written down for it.
//!
//! ```sh
//! cargo test --test all golden                                # compares
//! cargo test --test all golden_digests -- --ignored --nocapture   # prints every spec with its digest
//! DISKWRIGHT_BLESS=1 cargo test --test all golden             # writes the results anew
//! ```
//!
//! A result that changes on purpose is written anew in the same commit, whose message says why. Keys that a result gains are no
//! difference: they join the file when it is next written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;

use crate::support::{self, RunOptions};

/// What differs between two runs of the same, or is words.
const LEFT_OUT: [&str; 7] = [
    "wall_s",
    "requests_per_wall_s",
    "peak_rss_mib",
    "spec",
    "warnings",
    "notes",
    "checked",
];
/// A set-up of DiskSim's is a spec, too, but for its requests.
const SET_UP: &str = "examples/disksim/small.parv";
const SET_UP_LOAD: [&str; 2] = [
    "workload.trace=../../crates/diskwright/tests/golden/data/plain.ascii",
    "workload.past_end=map",
];
/// The most differences of one spec that are told.
const MOST_TOLD: usize = 12;

/// A spec and the file that its result is recorded in.
struct Golden {
    name: String,
    spec: PathBuf,
    recorded: PathBuf,
    /// What the spec's file does not say.
    set: &'static [&'static str],
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The specs, in the order of their names: those of every folder but `drives` and `data`, and the set-up of DiskSim's.
fn all() -> Vec<Golden> {
    let mut found = vec![Golden {
        name: "disksim/set-up".to_owned(),
        spec: support::root().join(SET_UP),
        recorded: folder().join("disksim/set-up.json"),
        set: &SET_UP_LOAD,
    }];
    let sorted = |path: &Path| {
        let entries =
            fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        paths
    };
    for group in sorted(&folder()) {
        let name = group
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        if name == "drives" || name == "data" {
            continue;
        }
        for spec in sorted(&group) {
            if spec
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let stem = spec.file_stem().expect("a name").to_string_lossy();
                found.push(Golden {
                    name: format!("{name}/{stem}"),
                    recorded: spec.with_extension("json"),
                    spec,
                    set: &[],
                });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// Keys of a result, and their values as they are serialised: reading numbers back need not give the same bits.
type Numbers = BTreeMap<String, String>;

/// What a run says that another one must say as well, by dotted key.
fn numbers(golden: &Golden, check: bool) -> Numbers {
    let options = RunOptions {
        check,
        ..support::setting(golden.set)
    };
    let outcome = support::outcome_of(&support::from_file(&golden.spec), &options);
    let outcome = outcome.unwrap_or_else(|error| panic!("{}: {error}", golden.name));
    let mut flat = Numbers::new();
    let Value::Object(result) = outcome.json() else {
        unreachable!("a result is an object");
    };
    for (key, value) in result {
        if !LEFT_OUT.contains(&key.as_str()) {
            flatten(key, value, &mut flat);
        }
    }
    flat
}

fn flatten(key: String, value: Value, flat: &mut Numbers) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (inner, value) in entries {
                flatten(format!("{key}.{inner}"), value, flat);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.into_iter().enumerate() {
                flatten(format!("{key}[{index}]"), value, flat);
            }
        }
        leaf => drop(flat.insert(key, leaf.to_string())),
    }
}

/// A JSON object of a line for each key.
fn written(numbers: &Numbers) -> String {
    let lines = numbers
        .iter()
        .map(|(key, value)| format!("  {}: {value}", Value::from(key.as_str())));
    let lines: Vec<String> = lines.collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// What [`written`] wrote.
fn read(text: &str) -> Numbers {
    let lines = text.lines().filter(|line| line.starts_with("  "));
    let entries = lines.map(|line| {
        let (key, value) = line.trim().split_once("\": ").expect("a key and its value");
        (key[1..].to_owned(), value.trim_end_matches(',').to_owned())
    });
    entries.collect()
}

/// What was recorded and is otherwise now.
fn differences(recorded: &Numbers, found: &Numbers) -> Vec<String> {
    let mut told = Vec::new();
    for (key, before) in recorded {
        match found.get(key) {
            None => told.push(format!("{key}: was {before}, is missing")),
            Some(now) if now != before => {
                let by = match (before.parse::<f64>(), now.parse::<f64>()) {
                    (Ok(0.0), Ok(b)) => format!(", by {b:+e}"),
                    (Ok(a), Ok(b)) => format!(", by {:+e} ({:+.1e} of it)", b - a, (b - a) / a),
                    _ => String::new(),
                };
                told.push(format!("{key}: was {before}, is {now}{by}"));
            }
            Some(_) => {}
        }
    }
    // The digest first: it says whether any completion is another.
    told.sort_by_key(|line| !line.starts_with("digest:"));
    told
}

fn shortened(mut lines: Vec<String>) -> String {
    let more = lines.len().saturating_sub(MOST_TOLD);
    lines.truncate(MOST_TOLD);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n    ")
}

#[test]
fn golden_results_are_as_recorded() {
    let specs = all();
    assert!(specs.len() >= 80, "{} specs", specs.len());
    let bless = std::env::var_os("DISKWRIGHT_BLESS").is_some_and(|value| value == "1");
    let wrong = specs.par_iter().enumerate().filter_map(|(index, golden)| {
        let found = numbers(golden, false);
        // Every second one is run again with the checker on, which may change nothing.
        if index % 2 == 0 {
            let checked = numbers(golden, true);
            let changed = differences(&found, &checked);
            assert!(
                changed.is_empty(),
                "{}, checked:\n    {}",
                golden.name,
                shortened(changed)
            );
        }
        if bless {
            fs::create_dir_all(golden.recorded.parent().expect("a folder")).expect("a folder");
            fs::write(&golden.recorded, written(&found)).expect("written");
            return None;
        }
        let Ok(text) = fs::read_to_string(&golden.recorded) else {
            return Some(format!(
                "{}: nothing is recorded (DISKWRIGHT_BLESS=1 records it)",
                golden.name
            ));
        };
        let changed = differences(&read(&text), &found);
        (!changed.is_empty()).then(|| format!("{}:\n    {}", golden.name, shortened(changed)))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(
        wrong.is_empty(),
        "{} of {} specs give other results:\n{}",
        wrong.len(),
        specs.len(),
        wrong.join("\n")
    );
}

#[test]
fn nothing_is_recorded_of_a_spec_that_is_gone() {
    let known: Vec<PathBuf> = all().into_iter().map(|golden| golden.recorded).collect();
    for group in fs::read_dir(folder()).expect("the folder") {
        let group = group.expect("an entry").path();
        for file in fs::read_dir(group).expect("a folder") {
            let path = file.expect("an entry").path();
            let is_record = path
                .extension()
                .is_some_and(|extension| extension == "json");
            assert!(!is_record || known.contains(&path), "{}", path.display());
        }
    }
}

#[test]
fn a_difference_names_its_key_and_its_size() {
    let of = |text: &str| {
        let mut flat = BTreeMap::new();
        flatten(
            "r".into(),
            serde_json::from_str(text).expect("JSON"),
            &mut flat,
        );
        flat
    };
    let before = of(r#"{"a": 1, "b": {"c": [1.5, 2]}, "d": null, "digest": "x"}"#);
    let after = of(r#"{"a": 1.0, "b": {"c": [1.75, 2], "new": 1}, "digest": "x"}"#);
    assert_eq!(
        differences(&before, &after),
        [
            "r.a: was 1, is 1.0, by +0e0 (+0.0e0 of it)",
            "r.b.c[0]: was 1.5, is 1.75, by +2.5e-1 (+1.7e-1 of it)",
            "r.d: was null, is missing",
        ]
    );
    assert!(differences(&before, &before).is_empty());
    assert_eq!(read(&written(&before)), before);
}

#[test]
#[ignore = "prints every spec with its digest"]
fn golden_digests() {
    let specs = all();
    let digest = |golden| numbers(golden, false)["digest"].clone();
    let digests: Vec<String> = specs.par_iter().map(digest).collect();
    for (golden, digest) in specs.iter().zip(digests) {
        println!("{}, {}", golden.name, digest.trim_matches('"'));
    }
}
