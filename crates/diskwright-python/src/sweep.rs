//! Points, their keys, and runs whose results are handed over one by one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use diskwright::base::error::Error;
use diskwright::metrics::{interval, named};
use diskwright::runs::merged::Messages;
use diskwright::runs::simulation::digest;
use diskwright::runs::simulation::many::{self, FailedRun, Job};
use diskwright::runs::simulation::point::{self, ProgramIdentity};
use diskwright::runs::simulation::sweep::{PointChoice, Sweep, SweepOptions};
use diskwright::runs::simulation::{RunOptions, SpecSource};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::{custom_replacements, custom_schedulers, heard, raised, spec_source, thread_count};

/// One run, or those of one point with several seeds: an object with these attributes.
#[derive(FromPyObject)]
pub struct PointJob {
    path: Option<PathBuf>,
    text: Option<String>,
    base: PathBuf,
    set: Vec<String>,
    drive: Option<String>,
    trace: Option<PathBuf>,
    check: bool,
    vary: Vec<String>,
    choice: Vec<usize>,
    seed: Option<u64>,
    notes: Vec<String>,
}

impl PointJob {
    fn source(&self) -> PyResult<SpecSource> {
        spec_source(self.path.clone(), self.text.clone(), self.base.clone())
    }

    fn options(&self) -> RunOptions {
        RunOptions {
            set: self.set.clone(),
            drive: self.drive.clone(),
            trace: self.trace.clone(),
            check: self.check,
            point: Some(PointChoice {
                vary: self.vary.clone(),
                values: self.choice.clone(),
                seed: self.seed,
                notes: self.notes.clone(),
            }),
            ..RunOptions::default()
        }
    }
}

/// The program's own policies, by name, and the hashes of their sources: an object with these attributes.
#[derive(FromPyObject)]
pub struct CustomPolicies {
    schedulers: Vec<(String, Py<PyAny>)>,
    replacements: Vec<(String, Py<PyAny>)>,
    scheduler_sources: BTreeMap<String, String>,
    replacement_sources: BTreeMap<String, String>,
}

impl CustomPolicies {
    /// The same options, with these policies; `failure` keeps what goes wrong in one.
    fn apply_to(self, options: RunOptions, failure: &Failure) -> PyResult<RunOptions> {
        Ok(RunOptions {
            schedulers: custom_schedulers(self.schedulers, failure)?,
            replacements: custom_replacements(self.replacements, failure)?,
            ..options
        })
    }
}

/// The grid of a sweep, of a job that has no choice yet; returns JSON.
#[pyfunction]
#[pyo3(signature = (job, seeds, metrics, custom))]
pub fn sweep(
    py: Python<'_>,
    job: PointJob,
    seeds: Option<u32>,
    metrics: Vec<String>,
    custom: CustomPolicies,
) -> PyResult<String> {
    let run = RunOptions {
        point: None,
        ..job.options()
    };
    let options = SweepOptions {
        vary: job.vary.clone(),
        metrics,
        seeds,
        run: custom.apply_to(run, &Failure::default())?,
    };
    let source = job.source()?;
    py.detach(|| Sweep::read(&source, &options).map(|sweep| sweep.json().to_string()))
        .map_err(raised)
}

/// The quantities of these names of a result, given as JSON; returns JSON.
#[pyfunction]
#[pyo3(signature = (result, names))]
pub fn quantities(result: &str, names: Vec<String>) -> PyResult<String> {
    let result: Map<String, Value> = serde_json::from_str(result)
        .map_err(|error| PyValueError::new_err(format!("a result is a JSON object: {error}")))?;
    let found = named::quantities(&names, &result).into_iter();
    let found = found.map(|(name, value)| (name, Value::from(value)));
    Ok(Value::from(found.collect::<Map<_, _>>()).to_string())
}

/// Messages of runs, each once, and how many runs have it: those that differ in their figures alone are one, with the range of each figure.
/// Of runs that are repeated with other seeds, what single ones lack of an interval is left out.
#[pyfunction]
#[pyo3(signature = (texts, are_repeated))]
pub fn merged(texts: Vec<String>, are_repeated: bool) -> Vec<(String, usize)> {
    let mut messages = Messages::of_runs(are_repeated);
    texts.iter().for_each(|text| messages.add(text, 0, 1));
    let messages = messages.iter();
    messages
        .map(|message| (message.text(), message.runs))
        .collect()
}

/// The points of a job with each of the seeds: keys, effective specs, traces, and, if `whole`, what another machine needs;
/// returns JSON.
#[pyfunction]
#[pyo3(signature = (job, seeds, custom, whole))]
pub fn points(
    py: Python<'_>,
    job: PointJob,
    seeds: Vec<u64>,
    mut custom: CustomPolicies,
    whole: bool,
) -> PyResult<String> {
    let program = ProgramIdentity {
        commit: env!("DISKWRIGHT_COMMIT").to_owned(),
        schedulers: std::mem::take(&mut custom.scheduler_sources),
        replacements: std::mem::take(&mut custom.replacement_sources),
    };
    let failure = Failure::default();
    let job = Job {
        spec: job.source()?,
        options: custom.apply_to(job.options(), &failure)?,
    };
    let described = py.detach(|| {
        let found = point::points(&job, &seeds, &program)?;
        let described = found.iter().map(|point| {
            let mut described = serde_json::to_value(point).expect("a point is plain data");
            if whole {
                described["whole"] = point::whole(point)?;
            }
            Ok(described)
        });
        Ok(described.collect::<Result<Value, Error>>()?.to_string())
    });
    // The devices are built, and with them what the program makes for them.
    match failure.take() {
        Some(failure) => Err(failure),
        None => described.map_err(raised),
    }
}

/// Runs jobs side by side and calls `finished` with the place of each and the JSON of its result when it ends. A failure names
/// its job by `names`.
#[pyfunction]
#[pyo3(signature = (jobs, names, threads, custom, finished, progress))]
pub fn run_each(
    py: Python<'_>,
    jobs: Vec<PointJob>,
    names: Vec<String>,
    threads: Option<usize>,
    custom: CustomPolicies,
    finished: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let threads = thread_count(threads)?;
    let failure = Failure::default();
    let custom = custom.apply_to(RunOptions::default(), &failure)?;
    let jobs = jobs
        .iter()
        .map(|job| {
            Ok(Job {
                spec: job.source()?,
                options: RunOptions {
                    schedulers: custom.schedulers.clone(),
                    replacements: custom.replacements.clone(),
                    ..job.options()
                },
            })
        })
        .collect::<PyResult<Vec<Job>>>()?;
    let named = |failed: FailedRun| {
        let name = names.get(failed.job).cloned().unwrap_or_default();
        failed.named(&name)
    };
    let kept = failure.clone();
    heard(py, progress, failure, |listener| {
        let mut finished = |job: usize, outcome: diskwright::runs::simulation::Outcome| {
            let text = outcome.lasting().to_string();
            Python::attach(|py| finished.call1(py, (job, text)))
                .map(|_| ())
                .map_err(|error| {
                    kept.keep(error);
                    Error::Interrupted
                })
        };
        many::run_each(&jobs, threads, listener, &mut finished).map_err(named)
    })
}

/// The size and the digest of a file.
#[pyfunction]
pub fn digest_of(py: Python<'_>, path: PathBuf) -> PyResult<(u64, String)> {
    let content = py.detach(|| digest::of_file(&path)).map_err(raised)?;
    Ok((content.bytes, content.digest))
}

/// The interval of 95 % confidence of the mean of values, by Student's t; none of fewer than two.
#[pyfunction]
pub fn ci95(values: Vec<f64>) -> Option<(f64, f64)> {
    interval::ci95(&values).map(|[low, high]| (low, high))
}

/// The hash of the sources that the engine was built from.
#[pyfunction]
pub fn sources() -> &'static str {
    point::SOURCES
}
