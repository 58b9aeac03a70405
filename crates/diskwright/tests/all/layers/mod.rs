//! The modules stand in one direction, as the tour in `lib.rs` has them: each uses only those above it, and no kind of device another.
//! Below that, too, nothing goes round in a circle with a folder in it.

mod circles;
mod paths;

use std::fs;
use std::path::{Path, PathBuf};

use self::circles::Modules;
use crate::support::root;
use diskwright::devices::DeviceSpec;

fn sources() -> PathBuf {
    root().join("crates/diskwright/src")
}

/// The modules in the order of the tour.
fn order() -> Vec<String> {
    let text = fs::read_to_string(sources().join("lib.rs")).expect("the tour");
    let rows = text.lines().filter(|line| line.starts_with("//! | [`"));
    let first = rows.filter_map(|row| row.trim_start_matches("//! | ").split(" | ").next());
    let names = first.flat_map(|cell| cell.split(", "));
    let names = names.map(|name| name.trim_matches(['[', ']', '`']).to_owned());
    names.collect()
}

/// All source files below a folder, but for those of tests.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            files(&path, found);
        } else if name != "tests" && !name.ends_with("_tests") {
            found.push(path);
        }
    }
}

/// A file's text without its tests and its comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source file");
    let lines: Vec<&str> = text.lines().collect();
    // A declaration of a module of tests in another file has no brace.
    let is_module = |line: &str| line.contains("mod ") && line.ends_with('{');
    let begins_tests = |pair: &[&str]| pair[0].trim_start() == "#[cfg(test)]" && is_module(pair[1]);
    let end = lines.windows(2).position(begins_tests);
    let lines = lines[..end.unwrap_or(lines.len())].iter().copied();
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// The modules that a text names behind `crate::`, with what follows them.
fn named(code: &str) -> impl Iterator<Item = &str> {
    code.split("crate::").skip(1)
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn the_tour_has_all_modules() {
    let mut found = order();
    found.sort();
    let mut there: Vec<String> = fs::read_dir(sources())
        .expect("the sources")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .map(|path| {
            path.file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    there.sort();
    assert_eq!(found, there);
}

#[test]
fn no_module_uses_a_later_one() {
    let order = order();
    let mut climbs = Vec::new();
    for (place, module) in order.iter().enumerate() {
        let mut found = Vec::new();
        files(&sources().join(module), &mut found);
        assert!(!found.is_empty(), "{module}");
        for path in found {
            for name in named(&code(&path)).map(first_word) {
                let used = order.iter().position(|module| module == name);
                if used.is_some_and(|used| used > place) {
                    climbs.push(format!("{} uses {name}", path.display()));
                }
            }
        }
    }
    assert_eq!(climbs, [] as [String; 0]);
}

#[test]
fn no_kind_of_device_uses_another() {
    for kind in DeviceSpec::NAMES {
        let mut found = Vec::new();
        files(&sources().join("devices").join(kind), &mut found);
        for path in found {
            let code = code(&path);
            let used = named(&code).filter_map(|text| text.strip_prefix("devices::"));
            for name in used.map(first_word) {
                let is_other = name != *kind && DeviceSpec::NAMES.contains(&name);
                assert!(!is_other, "{} uses {name}", path.display());
            }
        }
    }
}

#[test]
fn no_folder_is_in_a_circle() {
    let mut found = Vec::new();
    files(&sources(), &mut found);
    let mut modules = Modules::default();
    for path in &found {
        let below = path.strip_prefix(sources()).expect("below the sources");
        modules.add(below, &code(path));
    }
    // A test that sees nothing finds no circles.
    assert!(modules.uses().len() > found.len());
    if let Some(circle) = modules.circles().first() {
        let uses = circle.uses.join("\n");
        panic!(
            "{} go round in a circle:\n{uses}",
            circle.modules.join(", ")
        );
    }
}
