//! The files that a command reads, known before it runs: none of its outputs may take the place of one.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value as Json;

use crate::base::document::{Node, Override, Value};
use crate::base::error::Error;
use crate::devices::drives;
use crate::disksim::{self, Disk, Files};
use crate::workload;

use super::simulation::vary::Variation;
use super::simulation::{RunOptions, SpecSource, drive_keys, read_tree};

/// The files that a spec reads, itself first: every text in it that names a file which is there, read as a path from the
/// spec's folder, and what those files read in turn.
///
/// A text that means something else and happens to name a file counts too, so that a new key for a path needs no line here.
/// `vary` holds the `KEY=A,B,…` of a comparison or a sweep.
///
/// # Errors
/// An unreadable spec; anything in the text or an override that is not understood, with its place.
pub fn of_spec(
    source: &SpecSource,
    options: &RunOptions,
    vary: &[String],
) -> Result<Vec<PathBuf>, Error> {
    let (mut tree, base, _) = read_tree(source)?;
    for assignment in &options.set {
        tree.set(Override::parse("--set", assignment)?)?;
    }
    let mut found = Found::default();
    if let SpecSource::File(path) = source {
        found.add_drive(path);
    }
    if let Some(drive) = &options.drive {
        for key in drive_keys(&tree) {
            tree.remove(&key);
        }
        found.add_text(Path::new(""), drive);
    }
    if let Some(trace) = &options.trace {
        tree.remove("workload");
        found.add_trace(trace);
    }
    found.add_tree(&base, &tree);
    for assignment in vary {
        for choice in Variation::parse(assignment)?.values {
            found.add_json(&base, &choice.value);
        }
    }
    Ok(found.paths)
}

/// The files that a drive is read from: none of one that comes with diskwright.
pub fn of_drive(name: &str) -> Vec<PathBuf> {
    let mut found = Found::default();
    if drives::is_file(name) {
        found.add_drive(Path::new(name));
    }
    found.paths
}

/// The files that a trace is read from: of blktrace's, those of all CPUs.
pub fn of_trace(path: &Path) -> Vec<PathBuf> {
    let mut found = Found::default();
    found.add_trace(path);
    found.paths
}

#[derive(Default)]
struct Found {
    paths: Vec<PathBuf>,
    known: BTreeSet<PathBuf>,
}

impl Found {
    fn add(&mut self, path: PathBuf) {
        if self.known.insert(path.clone()) {
            self.paths.push(path);
        }
    }

    /// A spec or a drive, with the files that a set-up of DiskSim's names.
    fn add_drive(&mut self, path: &Path) {
        let path = disksim::file_of(path);
        self.add(path.clone());
        if disksim::is_set_up(&path) {
            let read = Recorded::default();
            // One that cannot be understood is refused where it is used.
            let _ = disksim::import_from(&read, &path, &[], &[]);
            let _ = disksim::whole_from(&read, &path, &[], "", &[]);
            let read = read.0.into_inner().unwrap_or_else(PoisonError::into_inner);
            read.into_iter().for_each(|path| self.add(path));
        }
    }

    fn add_trace(&mut self, path: &Path) {
        // A folder that cannot be listed is told where the trace is opened.
        let files = workload::files_beside(path).unwrap_or_else(|_| vec![path.to_owned()]);
        files.into_iter().for_each(|path| self.add(path));
    }

    fn add_text(&mut self, base: &Path, text: &str) {
        let path = base.join(text);
        if disksim::file_of(&path).is_file() {
            self.add_drive(&path);
            self.add_trace(&path);
        }
    }

    fn add_tree(&mut self, base: &Path, node: &Node) {
        match &node.value {
            Value::String(text) => self.add_text(base, text),
            Value::Array(items) => items.iter().for_each(|item| self.add_tree(base, item)),
            Value::Table(entries) => entries
                .iter()
                .for_each(|entry| self.add_tree(base, &entry.node)),
            Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
        }
    }

    fn add_json(&mut self, base: &Path, value: &Json) {
        match value {
            Json::String(text) => self.add_text(base, text),
            Json::Array(items) => items.iter().for_each(|item| self.add_json(base, item)),
            Json::Object(entries) => entries.values().for_each(|item| self.add_json(base, item)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }
}

/// The files of the file system, with a list of those that were read.
#[derive(Default)]
struct Recorded(Mutex<Vec<PathBuf>>);

impl Files for Recorded {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = Disk.read(path)?;
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read.push(path.to_owned());
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const SPEC: &str = "[workload]\ntrace = \"a.trace\"\n[device.hdd]\ndrive = \"own.toml\"\n\
        [sweep.vary]\n\"workload.trace\" = [\"b.trace\", \"missing.trace\"]\n";

    /// The names of the files that a spec in a folder of its own reads.
    fn read(set: &[&str], drive: Option<&str>, trace: Option<&str>, vary: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        for name in [
            "a.trace",
            "b.trace",
            "c.trace",
            "own.toml",
            "d.blktrace.0",
            "d.blktrace.1",
        ] {
            fs::write(folder.path().join(name), "").expect("written");
        }
        let path = folder.path().join("spec.toml");
        fs::write(&path, SPEC).expect("written");
        let options = RunOptions {
            set: set.iter().map(|text| (*text).to_owned()).collect(),
            drive: drive.map(str::to_owned),
            trace: trace.map(|name| folder.path().join(name)),
            ..RunOptions::default()
        };
        let vary: Vec<String> = vary.iter().map(|text| (*text).to_owned()).collect();
        let found = of_spec(&SpecSource::File(path), &options, &vary).expect("a spec");
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into());
        found.iter().filter_map(name).collect()
    }

    #[test]
    fn a_spec_reads_every_file_that_it_names() {
        let found = read(&[], None, None, &[]);
        assert_eq!(found, ["spec.toml", "a.trace", "own.toml", "b.trace"]);
    }

    #[test]
    fn what_is_overridden_is_not_read() {
        let found = read(&["workload.trace=c.trace"], Some("ibm-18es"), None, &[]);
        assert_eq!(found, ["spec.toml", "c.trace", "b.trace"]);
        let found = read(&[], None, Some("d.blktrace.1"), &[]);
        assert_eq!(
            found,
            [
                "spec.toml",
                "d.blktrace.0",
                "d.blktrace.1",
                "own.toml",
                "b.trace"
            ]
        );
    }

    #[test]
    fn what_is_varied_is_read() {
        let found = read(&[], None, None, &["workload.trace=a.trace,c.trace"]);
        assert_eq!(
            found,
            ["spec.toml", "a.trace", "own.toml", "b.trace", "c.trace"]
        );
    }

    #[test]
    fn a_set_up_reads_the_files_that_it_names() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/disksim");
        let found = of_drive(&folder.join("small.parv").to_string_lossy());
        assert!(found.len() > 1, "{found:?}");
        assert!(found.iter().all(|path| path.is_file()), "{found:?}");
        assert_eq!(of_drive("ibm-18es"), Vec::<PathBuf>::new());
    }
}
