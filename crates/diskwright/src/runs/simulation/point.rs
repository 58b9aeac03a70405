//! The key of a point: two runs of the same key have the same result, so that one may be kept for the other.
//!
//! The key is a hash of all that a result depends on: the effective spec, in which a drive stands with its whole description
//! and a trace with the hash of what it holds, so that an edited file is another point and a moved one is not; the seed;
//! whether the run is checked; the sources of schedulers and replacement policies of the program's own; and the build
//! of the engine. What only says where something lies is not in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::custom::{REPLACEMENT, SCHEDULER};
use super::digest::{self, Content};
use super::many::Job;
use super::{drive_file, read_spec};
use crate::base::error::Error;
use crate::base::registry::CUSTOM;
use crate::config::spec::Spec;
use crate::devices::{DeviceSpec, drives, kind_of};
use crate::workload::{WorkloadSpec, files_beside};

/// The form of the key's text. Another form makes other keys.
const FORM: u32 = 2;

/// The hash of the sources that this engine was built from, with the versions of what it depends on: a build of edited
/// sources has another, whatever the version and the commit say, and two builds of the same have the same.
pub const SOURCES: &str = env!("DISKWRIGHT_SOURCES");

/// The version of this engine.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A point before it runs.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// XXH3 of 128 bits over all that the result depends on, in hexadecimal.
    pub key: String,
    /// The effective spec.
    pub spec: Value,
    /// What its result will warn of before the run has begun.
    pub warnings: Vec<String>,
    /// What a job file of fio's says and the load that it became, which stands in the spec, does not have.
    pub notes: Vec<String>,
    /// The files of the trace that it replays.
    pub traces: Vec<Content>,
    /// Where relative paths in the spec start.
    #[serde(skip)]
    pub base: PathBuf,
}

/// What identifies the program: it is in the key beside the spec of a run.
#[derive(Clone, Debug, Default)]
pub struct ProgramIdentity {
    /// The commit that the program was built from.
    pub commit: String,
    /// The hashes of the sources of the custom schedulers that it uses, by name.
    pub schedulers: BTreeMap<String, String>,
    /// The same of the replacement policies.
    pub replacements: BTreeMap<String, String>,
}

/// The points of a job with several seeds, in their order; with the seed of the spec where there are none.
///
/// # Errors
/// Whatever [`run`](super::run) would say of the spec before it begins; a trace that cannot be read several times.
pub fn points(job: &Job, seeds: &[u64], program: &ProgramIdentity) -> Result<Vec<Point>, Error> {
    let mut checked = read_spec(&job.spec, &job.options)?;
    let mut tree = checked.devices()?;
    checked.warn(std::mem::take(&mut tree.warnings));
    let capacity = tree.devices.last().expect("a spec has a device").blocks();
    checked.fit_workload(capacity)?;
    let traces = files(&checked.spec.workload, &checked.base)
        .map_err(|error| checked.locate_in_workload(error))?;
    let mut hashed = plain(&checked.spec);
    put_named(&mut hashed["device"], &checked.base, &mut |named| {
        Ok(match named {
            Named::Drive(drive) => json!(drive.digest),
            Named::File(path) => json!(digest::of_file(path)?.digest),
        })
    })?;
    let schedulers = sources(&hashed, SCHEDULER, &program.schedulers)?;
    let replacements = sources(&hashed, REPLACEMENT, &program.replacements)?;
    if !traces.is_empty() {
        *named_file(&mut hashed) = Value::Null;
    }
    let mut identity = json!({
        "form": FORM,
        "kind": "run",
        "engine": { "version": VERSION, "commit": program.commit, "sources": SOURCES },
        "checked": job.options.check,
        "schedulers": schedulers,
        "replacements": replacements,
        "notes": checked.spec.workload.notes,
        "traces": traces.iter().map(|trace| json!([trace.bytes, trace.digest])).collect::<Vec<_>>(),
        "spec": hashed,
    });
    let own = [checked.spec.seed];
    let seeds = if seeds.is_empty() { &own } else { seeds };
    let point = |seed: &u64| {
        checked.spec.seed = *seed;
        identity["spec"]["seed"] = json!(seed);
        Point {
            key: format!("{:032x}", xxh3_128(identity.to_string().as_bytes())),
            spec: plain(&checked.spec),
            warnings: checked.warnings.clone(),
            notes: checked.spec.workload.notes.clone(),
            traces: traces.clone(),
            base: checked.base.clone(),
        }
    };
    Ok(seeds.iter().map(point).collect())
}

/// What another machine needs to run a point: its spec with the drives' descriptions in place of their names, and the trace
/// by its path from the root; files that devices read likewise.
///
/// # Errors
/// A drive that cannot be read.
pub fn whole(point: &Point) -> Result<Value, Error> {
    let mut whole = point.spec.clone();
    put_named(&mut whole["device"], &point.base, &mut |named| {
        Ok(match named {
            Named::Drive(drive) => drive.description,
            Named::File(path) => json!(path),
        })
    })?;
    // The first of several files is the one of the lowest CPU, which stands for all of them.
    if let Some(trace) = point.traces.first() {
        *named_file(&mut whole) = json!(trace.path);
    }
    Ok(whole)
}

/// Where a spec names the file that its load is read from: a trace, or the profile of a synthetic clone.
fn named_file(spec: &mut Value) -> &mut Value {
    let workload = &mut spec["workload"];
    if workload["synthetic-clone"].is_null() {
        return &mut workload["trace"];
    }
    let made = &mut workload["synthetic-clone"];
    if made.is_object() {
        &mut made["profile"]
    } else {
        made
    }
}

/// A drive as its file describes it, all defaults filled in.
#[derive(Clone)]
struct Described {
    description: Value,
    /// XXH3 of 128 bits over the description.
    digest: String,
}

/// The drives that come with the library, of those that were asked for: they do not change.
static KNOWN: Mutex<BTreeMap<String, Described>> = Mutex::new(BTreeMap::new());

impl Described {
    fn of(name: &str, base: &Path) -> Result<Described, Error> {
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(drive) = known().get(name) {
            return Ok(drive.clone());
        }
        let description = DeviceSpec::describe_drive(&drive_file(name, base)?)?.description;
        let digest = format!("{:032x}", xxh3_128(description.to_string().as_bytes()));
        let described = Described {
            description,
            digest,
        };
        if drives::text(name).is_some() {
            known().insert(name.to_owned(), described.clone());
        }
        Ok(described)
    }
}

fn plain(spec: &Spec) -> Value {
    serde_json::to_value(spec).expect("a spec is plain data")
}

/// The files that a load is read from. A job file of fio's is none of them: what it says stands in the effective spec.
fn files(workload: &WorkloadSpec, base: &Path) -> Result<Vec<Content>, Error> {
    // Every key is named here, so that a new one that names a file is not forgotten.
    let WorkloadSpec {
        trace,
        synthetic_clone,
        synthetic: _,
        processes: _,
        jobs: _,
        fio: _,
        notes: _,
        format: _,
        csv: _,
        blktrace: _,
        sector_bytes: _,
        pace: _,
        device: _,
        devices: _,
        from: _,
        to: _,
        limit: _,
        past_end: _,
        out_of_order: _,
        bad_size: _,
    } = workload;
    if let Some(made) = synthetic_clone {
        return Ok(vec![digest::of_file(&base.join(&made.profile))?]);
    }
    let Some(trace) = trace else {
        return Ok(Vec::new());
    };
    let files = files_beside(&base.join(trace))?;
    files.iter().map(|file| digest::of_file(file)).collect()
}

/// What a device of a spec names.
enum Named<'n> {
    /// A drive.
    Drive(Described),
    /// A file, by its path.
    File(&'n Path),
}

/// Puts something of each drive, and of each file that a device reads, in the place of its name.
fn put_named(
    spec: &mut Value,
    base: &Path,
    of: &mut dyn FnMut(Named<'_>) -> Result<Value, Error>,
) -> Result<(), Error> {
    match spec {
        Value::Object(entries) => {
            for (key, value) in entries {
                let Some(kind) = kind_of(key) else {
                    put_named(value, base, of)?;
                    continue;
                };
                if kind.has_drive
                    && let Some(name) = value.get("drive").and_then(Value::as_str)
                {
                    value["drive"] = of(Named::Drive(Described::of(name, base)?))?;
                    continue;
                }
                for &key in kind.file_keys {
                    if let Some(file) = value.get(key).and_then(Value::as_str) {
                        let path = base.join(file);
                        value[key] = of(Named::File(&path))?;
                    }
                }
                put_named(value, base, of)?;
            }
        }
        Value::Array(items) => {
            for item in items {
                put_named(item, base, of)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The sources of what a spec has from the program under a key, wherever that stands.
fn sources(
    spec: &Value,
    key: &str,
    known: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, Error> {
    let mut used = Vec::new();
    custom_names(spec, key, &mut used);
    let source = |name: &str| match known.get(name) {
        Some(source) => Ok((name.to_owned(), source.clone())),
        None => Err(Error::input(format!("the {key} {name:?} is not there"))),
    };
    used.into_iter().map(source).collect()
}

/// The names of the custom policies that a spec has under a key.
fn custom_names<'s>(spec: &'s Value, key: &str, found: &mut Vec<&'s str>) {
    match spec {
        Value::Object(entries) => {
            for (at, value) in entries {
                match value.get(CUSTOM) {
                    Some(Value::String(name)) if at == key => found.push(name),
                    _ => custom_names(value, key, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| custom_names(item, key, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_the_sources_of_its_own() {
        let spec = json!({
            "host": { "scheduler": { "custom": "a" } },
            "device": { "array": { "member": [
                { "hdd": { "queue": { "scheduler": "fcfs" }, "cache": { "policy": { "custom": "a" } } } },
                { "hdd": { "cache": { "policy": { "custom": "b" } } } },
                { "hdd": { "cache": { "policy": { "slru": { "custom": "c" } } } } },
            ] } },
        });
        let known = |names: &[&str]| -> BTreeMap<String, String> {
            let hash = |name: &&str| ((*name).to_owned(), format!("{name}'s hash"));
            names.iter().map(hash).collect()
        };
        let schedulers = sources(&spec, SCHEDULER, &known(&["a", "b"]));
        assert_eq!(schedulers.expect("there"), known(&["a"]));
        let replacements = sources(&spec, REPLACEMENT, &known(&["a", "b", "c"]));
        assert_eq!(replacements.expect("there"), known(&["a", "b"]));
        let error = sources(&spec, REPLACEMENT, &known(&["a"])).expect_err("b is not there");
        assert!(error.to_string().contains("policy \"b\""), "{error}");
    }
}
