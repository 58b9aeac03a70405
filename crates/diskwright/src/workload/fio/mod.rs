//! fio's job files as a source of synthetic load: what they say becomes the spec of a synthetic load, which the result
//! shows, and a list of what they say in vain.
//!
//! Written after fio's HOWTO (version 3.36). What a job asks of the operating system, of files and of data has no meaning
//! here; what shapes its requests is kept or told of.

mod arrivals;
mod distribution;
mod ini;
mod job;
mod options;
mod reading;
mod reports;
mod schedule;
mod sizes;
mod values;
mod zones;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::base::error::{Error, InputError, unknown_name};
use crate::base::small_file;

use self::ini::{Job, JobFile};
use self::reading::Reading;
use self::reports::JobClone;
use super::synthetic::SyntheticSpec;

pub use self::reports::FioJob;

/// A job file, `"job.fio"`, or some of its jobs, `{ file = "job.fio", jobs = ["randread"] }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioSpec {
    /// The file.
    pub file: PathBuf,
    /// Only these jobs, which run together; all when not given.
    pub jobs: Option<Vec<String>>,
}

/// Some of the jobs of a job file of fio's.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "FioJobs")]
struct Table {
    /// The file.
    #[schemars(extend("format" = "path"))]
    file: PathBuf,
    /// Only these jobs, which run together; all when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jobs: Option<Vec<String>>,
}

impl JsonSchema for FioSpec {
    fn schema_name() -> Cow<'static, str> {
        "FioSpec".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A job file, or some of its jobs.",
            "anyOf": [{ "type": "string", "format": "path" }, generator.subschema_for::<Table>()],
        })
    }
}

impl Serialize for FioSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.jobs {
            None => self.file.serialize(serializer),
            Some(_) => Table {
                file: self.file.clone(),
                jobs: self.jobs.clone(),
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for FioSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fio;
        impl<'de> Visitor<'de> for Fio {
            type Value = FioSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a job file such as \"job.fio\", or { file = \"job.fio\", jobs = [\"randread\"] }")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<FioSpec, E> {
                let file = PathBuf::deserialize(StrDeserializer::new(text))?;
                Ok(FioSpec { file, jobs: None })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FioSpec, A::Error> {
                let Table { file, jobs } = Table::deserialize(MapAccessDeserializer::new(map))?;
                Ok(FioSpec { file, jobs })
            }
        }
        deserializer.deserialize_any(Fio)
    }
}

/// What became of a job file.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// The load.
    pub synthetic: SyntheticSpec,
    /// The jobs that results tell of, by the names of the load's streams.
    pub jobs: Vec<FioJob>,
    /// What the file says and the load does not have, a line for each option.
    pub warnings: Vec<String>,
}

/// Reads a job file for a drive of `capacity` blocks; relative paths start at `base`.
///
/// # Errors
/// A file that cannot be read; whatever in it is not understood or cannot be simulated, with its place.
pub fn convert(spec: &FioSpec, base: &Path, capacity: u64) -> Result<Converted, Error> {
    let path = base.join(&spec.file);
    let bytes = small_file::read(&path)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(of_text(&path, &text, spec.jobs.as_deref(), capacity)?)
}

fn of_text(
    path: &Path,
    text: &str,
    chosen: Option<&[String]>,
    capacity: u64,
) -> Result<Converted, InputError> {
    let file = JobFile::parse(path, text)?;
    let mut warnings = BTreeSet::new();
    let jobs = choose(&file, chosen)?;
    let mut loads: Vec<JobClone<'_>> = Vec::new();
    let (mut stage, mut group, mut ends_stage) = (0, 0, false);
    for (index, &job) in jobs.iter().enumerate() {
        let reading = Reading::new(&file, job, capacity, &mut warnings)?;
        if index > 0 && reading.flag(&["stonewall", "wait_for_previous"])? {
            (stage, group) = (stage + 1, group + 1);
        } else if index > 0 && reading.flag(&["new_group"])? {
            group += 1;
        }
        ends_stage |= reading.flag(&["exitall"])?;
        let together = reading.flag(&["group_reporting"])?;
        for mut load in reading.loads()? {
            load.stage = stage;
            loads.push(JobClone {
                job,
                load,
                group,
                together,
            });
        }
    }
    for clone in &mut loads {
        clone.load.ends_stage = ends_stage;
    }
    let (synthetic, jobs) = reports::named(loads);
    Ok(Converted {
        synthetic,
        jobs,
        warnings: warnings.into_iter().map(|(_, warning)| warning).collect(),
    })
}

fn choose<'a>(file: &'a JobFile, chosen: Option<&[String]>) -> Result<Vec<&'a Job>, InputError> {
    let Some(chosen) = chosen else {
        return Ok(file.jobs.iter().collect());
    };
    let names: Vec<&str> = file.jobs.iter().map(|job| job.name.as_str()).collect();
    if let Some(stranger) = chosen.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(unknown_name("job", stranger, &names).at(file.file()));
    }
    if chosen.is_empty() {
        return Err(InputError::new("workload.fio.jobs names no jobs")
            .help(format!("the file has {}", names.join(", "))));
    }
    Ok(file
        .jobs
        .iter()
        .filter(|job| chosen.contains(&job.name))
        .collect())
}

#[cfg(test)]
mod tests;
