//! The extension module `diskwright._engine`: arguments in, JSON out. No logic lives here.

mod disksim;
mod failure;
mod fit;
mod inputs;
mod miss_ratio;
mod replacement;
mod scheduler;
mod serve;
mod session;
mod sweep;
mod table;
mod validate;

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use diskwright::base::error::{self, Error};
use diskwright::base::units::UnitError;
use diskwright::config;
use diskwright::devices::drives as library;
use diskwright::engine::window::ArmTraceFrom;
use diskwright::models::cache::replacement::CustomReplacements;
use diskwright::models::queue::CustomSchedulers;
use diskwright::runs::compare::CompareOptions;
use diskwright::runs::probe::ProbeOptions;
use diskwright::runs::simulation::many::{self, FailedRun, Job};
use diskwright::runs::simulation::{self, Moment, Outcome, Progress, RunOptions, SpecSource};
use diskwright::workload::{self, ConvertOptions, FormatOptions, InspectOptions};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use failure::Failure;
use replacement::{CacheAccess, CacheCost, CacheSetting, PythonReplacement};
use scheduler::{PythonScheduler, SchedulerView, Waiting};
use table::RequestTable;

pyo3::create_exception!(
    diskwright,
    InputError,
    PyValueError,
    "A spec, a trace, a drive or an argument is wrong; the message says where, and what is accepted."
);
pyo3::create_exception!(
    diskwright,
    SimulationError,
    PyRuntimeError,
    "A simulation failed, or its check found a fault."
);

/// The one conversion of an engine's error into Python's.
fn raised(error: Error) -> PyErr {
    if let Some((source, path)) = error.failed_write() {
        // With a number Python picks the class, such as BrokenPipeError, and the reason in its words.
        return match source.raw_os_error() {
            Some(number) => {
                let reason = source.to_string();
                let reason = reason
                    .split(" (os error")
                    .next()
                    .unwrap_or_default()
                    .to_owned();
                PyOSError::new_err((number, reason, path.to_owned()))
            }
            None => PyOSError::new_err(error.to_string()),
        };
    }
    match error {
        Error::Input(_) | Error::File { .. } => InputError::new_err(error.to_string()),
        Error::Simulation(_) => SimulationError::new_err(error.to_string()),
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
    }
}

/// Listens to the engine: lets Python see Ctrl-C, then tells the caller's function how far the run is.
struct Listener {
    callback: Option<Py<PyAny>>,
    /// What a signal handler or the caller's function raised; it takes the place of `Interrupted`.
    failure: Failure,
}

impl Progress for Listener {
    fn update(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
        if self.failure.is_kept() {
            return ControlFlow::Break(());
        }
        let told = Python::attach(|py| {
            py.check_signals()?;
            if let Some(callback) = &self.callback {
                callback.call1(py, (done, total))?;
            }
            Ok(())
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure.keep(failure);
                ControlFlow::Break(())
            }
        }
    }
}

/// The result, what a picture is drawn from, what fio would report, and the requests.
type RunParts = (String, Option<String>, Option<String>, Option<RequestTable>);

/// Simulates a spec, from a file or a text; returns the result and what a picture is drawn from, and what fio would
/// report, each as JSON, and the requests, these three where they are asked for.
#[pyfunction]
#[pyo3(signature = (spec_path, spec_text, base, set, drive, trace, check, requests, keep_requests, picture, fio_report, animate, schedulers, replacements, progress))]
#[expect(clippy::too_many_arguments, reason = "Python's facade names them")]
fn run(
    py: Python<'_>,
    spec_path: Option<PathBuf>,
    spec_text: Option<String>,
    base: PathBuf,
    set: Vec<String>,
    drive: Option<String>,
    trace: Option<PathBuf>,
    check: bool,
    requests: Option<PathBuf>,
    keep_requests: bool,
    picture: bool,
    fio_report: bool,
    animate: Option<&str>,
    schedulers: Vec<(String, Py<PyAny>)>,
    replacements: Vec<(String, Py<PyAny>)>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunParts> {
    let spec = spec_source(spec_path, spec_text, base)?;
    let failure = Failure::default();
    let options = RunOptions {
        set,
        vary: Vec::new(),
        drive,
        trace,
        check,
        requests,
        keep_requests,
        picture,
        fio_report,
        arm_trace: arm_trace(picture, animate)?,
        moment: animate.and_then(Moment::named),
        schedulers: custom_schedulers(schedulers, &failure)?,
        replacements: custom_replacements(replacements, &failure)?,
        memory: None,
        point: None,
    };
    heard(py, progress, failure, |listener| {
        let outcome = simulation::run(&spec, &options, listener)?;
        let picture = outcome.picture().map(ToString::to_string);
        let fio_report = outcome.fio_report().map(ToString::to_string);
        let table = outcome.requests().map(RequestTable::from);
        Ok((outcome.json().to_string(), picture, fio_report, table))
    })
}

/// Where the stretch of time begins that a picture animates: at an instant, or with the first measured request.
fn arm_trace(picture: bool, animate: Option<&str>) -> PyResult<ArmTraceFrom> {
    match (picture, animate) {
        (false, _) => Ok(ArmTraceFrom::Nowhere),
        (true, None) => Ok(ArmTraceFrom::FirstMeasured),
        (true, Some(name)) if Moment::named(name).is_some() => Ok(ArmTraceFrom::FirstMeasured),
        (true, Some(from)) => {
            let from = from.parse().map(ArmTraceFrom::Instant);
            from.map_err(|error: UnitError| {
                let message = format!("--animate: {error}, or \"busiest\" or \"slowest\"");
                raised(Error::input(message))
            })
        }
    }
}

fn spec_source(path: Option<PathBuf>, text: Option<String>, base: PathBuf) -> PyResult<SpecSource> {
    match (path, text) {
        (Some(path), None) => Ok(SpecSource::File(path)),
        (None, Some(text)) => Ok(SpecSource::Text { text, base }),
        _ => Err(PyValueError::new_err("give either a path or a text")),
    }
}

fn thread_count(threads: Option<usize>) -> PyResult<Option<NonZeroUsize>> {
    let none = || InputError::new_err("error: on 0 threads nothing runs: expected 1 or more");
    threads
        .map(|threads| NonZeroUsize::new(threads).ok_or_else(none))
        .transpose()
}

/// Simulates specs side by side: each is a path or a text, and the values to override. Returns a list as JSON.
#[pyfunction]
#[pyo3(signature = (specs, base, threads, progress))]
fn run_many(
    py: Python<'_>,
    specs: Vec<(Option<PathBuf>, Option<String>, Vec<String>)>,
    base: PathBuf,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let threads = thread_count(threads)?;
    let jobs = specs
        .into_iter()
        .map(|(path, text, set)| {
            let spec = spec_source(path, text, base.clone())?;
            let options = RunOptions {
                set,
                ..RunOptions::default()
            };
            Ok(Job { spec, options })
        })
        .collect::<PyResult<Vec<Job>>>()?;
    let named = |failed: FailedRun| {
        let name = format!("specs[{}]", failed.job);
        failed.named(&name)
    };
    listened(py, progress, |listener| {
        let outcomes = many::run_many(&jobs, threads, listener).map_err(named)?;
        Ok(outcomes.iter().map(Outcome::json).collect::<Vec<_>>())
    })
}

/// Compares variants of a spec; returns the comparison, the results of its runs, what the pictures of some are drawn from, for each
/// variant one or none, and what fio would report of each run where it is asked for, as JSON.
#[pyfunction]
#[pyo3(signature = (spec_path, spec_text, base, vary, baseline, seeds, metrics, set, drive, trace, check, threads, pictures, fio_report, progress))]
#[expect(clippy::too_many_arguments, reason = "Python's facade names them")]
fn compare(
    py: Python<'_>,
    spec_path: Option<PathBuf>,
    spec_text: Option<String>,
    base: PathBuf,
    vary: Vec<String>,
    baseline: Vec<String>,
    seeds: u32,
    metrics: Vec<String>,
    set: Vec<String>,
    drive: Option<String>,
    trace: Option<PathBuf>,
    check: bool,
    threads: Option<usize>,
    pictures: usize,
    fio_report: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let spec = spec_source(spec_path, spec_text, base)?;
    let options = CompareOptions {
        vary,
        baseline,
        seeds,
        metrics,
        set,
        drive,
        trace,
        check,
        threads: thread_count(threads)?,
        pictures,
        fio_report,
    };
    listened(py, progress, |listener| {
        let found = diskwright::runs::compare::compare(&spec, &options, listener)?;
        let runs = found.runs.iter();
        let runs: Vec<Vec<Value>> = runs
            .map(|runs| runs.iter().map(Outcome::json).collect())
            .collect();
        let firsts = found.runs.iter().map(|runs| runs.first());
        let pictures: Vec<Option<&Value>> =
            firsts.map(|run| run.and_then(Outcome::picture)).collect();
        let fio_reports: Vec<Vec<Option<&Value>>> = (found.runs.iter())
            .map(|runs| runs.iter().map(Outcome::fio_report).collect())
            .collect();
        Ok(json!({
            "comparison": found.json,
            "runs": runs,
            "pictures": pictures,
            "fio_reports": fio_reports,
        }))
    })
}

/// Objects that are asked for their choices, under their names in the spec.
fn custom_schedulers(
    objects: Vec<(String, Py<PyAny>)>,
    failure: &Failure,
) -> PyResult<CustomSchedulers> {
    let mut custom = CustomSchedulers::default();
    for (name, object) in objects {
        let (object, failure) = (Arc::new(object), failure.clone());
        let called = name.clone();
        let make = move || {
            let scheduler = PythonScheduler::new(&called, Arc::clone(&object), failure.clone());
            Box::new(scheduler) as Box<_>
        };
        custom
            .add(&name, make)
            .map_err(|error| raised(error.into()))?;
    }
    Ok(custom)
}

/// Classes or functions that make a policy for each cache, under their names in the spec.
fn custom_replacements(
    makers: Vec<(String, Py<PyAny>)>,
    failure: &Failure,
) -> PyResult<CustomReplacements> {
    let mut custom = CustomReplacements::default();
    for (name, maker) in makers {
        let failure = failure.clone();
        let called = name.clone();
        let make = move |setting: &_| {
            let policy = PythonReplacement::new(&called, &maker, setting, failure.clone());
            Box::new(policy) as Box<_>
        };
        custom
            .add_for(&name, make)
            .map_err(|error| raised(error.into()))?;
    }
    Ok(custom)
}

/// What a reader of traces is told, from JSON with the keys of `[workload]`.
fn format_options(json: &str) -> PyResult<FormatOptions> {
    serde_json::from_str(json)
        .map_err(|error| InputError::new_err(format!("error: what is said of the trace: {error}")))
}

/// Does work that tells of its progress and stops at a signal; returns JSON.
fn listened<T: serde::Serialize>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    work: impl FnOnce(&mut Listener) -> Result<T, Error> + Send,
) -> PyResult<String> {
    heard(py, callback, Failure::default(), |listener| {
        work(listener)
            .map(|answer| serde_json::to_string(&answer).expect("an answer is plain data"))
    })
}

/// Does work that tells of its progress, stops at a signal, and may fail in Python.
fn heard<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    failure: Failure,
    work: impl FnOnce(&mut Listener) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let mut listener = Listener { callback, failure };
    let outcome = py.detach(|| work(&mut listener));
    match listener.failure.take() {
        Some(failure) => Err(failure),
        None => outcome.map_err(raised),
    }
}

/// Describes a trace; `reader` is what the reader is told, as JSON. Returns the description, and what a picture is drawn from where it is
/// asked for, each as JSON.
#[pyfunction]
#[pyo3(signature = (path, reader, device, threshold, profile, picture, progress))]
#[expect(clippy::too_many_arguments, reason = "Python's facade names them")]
fn inspect(
    py: Python<'_>,
    path: PathBuf,
    reader: &str,
    device: Option<u32>,
    threshold: u64,
    profile: Option<PathBuf>,
    picture: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let options = InspectOptions {
        format: format_options(reader)?,
        device,
        threshold,
        profile,
        picture,
    };
    heard(py, progress, Failure::default(), |listener| {
        let found = workload::inspect(&path, &options, listener)?;
        let text = serde_json::to_string(&found).expect("an answer is plain data");
        Ok((text, found.picture.as_ref().map(ToString::to_string)))
    })
}

/// Writes a trace in another format; `reader` is what the reader is told, as JSON. Returns JSON.
#[pyfunction]
#[pyo3(signature = (input, output, reader, to, device, progress))]
fn convert(
    py: Python<'_>,
    input: PathBuf,
    output: PathBuf,
    reader: &str,
    to: Option<String>,
    device: Option<u32>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let options = ConvertOptions {
        format: format_options(reader)?,
        to,
        device,
    };
    listened(py, progress, |listener| {
        workload::convert(&input, &output, &options, listener)
    })
}

/// The sizes that are chosen for a table of counts; `parameters` over those of the file, as JSON. Returns JSON.
#[pyfunction]
fn synthetic_clone_mixture(py: Python<'_>, path: PathBuf, parameters: &str) -> PyResult<String> {
    let parameters = serde_json::from_str(parameters)
        .map_err(|error| InputError::new_err(format!("error: the parameters: {error}")))?;
    py.detach(|| workload::synthetic_clone::mixture(&path, &parameters))
        .map(|mixture| serde_json::to_string(&mixture).expect("a mixture is plain data"))
        .map_err(raised)
}

/// The formats of traces; returns JSON.
#[pyfunction]
fn formats() -> String {
    serde_json::to_string(&workload::summaries()).expect("summaries are plain data")
}

/// Measures what a drive does; returns JSON.
#[pyfunction]
#[pyo3(signature = (drive, only, samples, seed, depths, schedulers, size, reads, stream_size, write_depth, progress))]
#[expect(clippy::too_many_arguments, reason = "Python's facade names them")]
fn probe(
    py: Python<'_>,
    drive: String,
    only: Vec<String>,
    samples: u32,
    seed: u64,
    depths: Vec<u32>,
    schedulers: Vec<String>,
    size: &str,
    reads: u64,
    stream_size: &str,
    write_depth: u32,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let parsed = |key: &str, text: &str| {
        text.parse()
            .map_err(|error: UnitError| InputError::new_err(format!("error: {key}: {error}")))
    };
    let size = parsed("size", size)?;
    let stream_size = parsed("stream_size", stream_size)?;
    let options = ProbeOptions {
        only,
        samples,
        seed,
        depths,
        schedulers,
        size,
        reads,
        stream_size,
        write_depth,
    };
    listened(py, progress, |listener| {
        diskwright::runs::probe::probe(&drive, &options, listener)
    })
}

/// The JSON schema of a spec or of a drive.
#[pyfunction]
fn schema(of: &str) -> PyResult<String> {
    match of {
        "spec" => Ok(config::schema::spec().to_string()),
        "drive" => Ok(config::schema::drive().to_string()),
        other => Err(raised(
            error::unknown_name("schema", other, &["spec", "drive"]).into(),
        )),
    }
}

/// The names of the drives that come with diskwright, or of those of a kind.
#[pyfunction]
#[pyo3(signature = (kind = None))]
fn drives(kind: Option<&str>) -> Vec<&'static str> {
    kind.map_or_else(library::names, library::names_of)
}

/// The kinds of devices that have drives.
#[pyfunction]
fn drive_kinds() -> Vec<&'static str> {
    library::kinds().collect()
}

/// The summary of a drive, by name or from a file; returns JSON.
#[pyfunction]
fn drive(py: Python<'_>, name: String) -> PyResult<String> {
    py.detach(|| simulation::drive_summary(&name))
        .map(|summary| summary.to_string())
        .map_err(raised)
}

/// The text of a drive that comes with diskwright.
#[pyfunction]
fn drive_text(name: &str) -> PyResult<&'static str> {
    library::text(name)
        .ok_or_else(|| raised(error::unknown_name("drive", name, &library::names()).into()))
}

/// Removes the files that are being written, of which none will take its name, before the process ends at once.
#[pyfunction]
fn discard_unfinished() {
    diskwright::base::whole_file::discard_unfinished();
}

/// Version, commit and profile of this build.
#[pyfunction]
fn version() -> (&'static str, &'static str, &'static str) {
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    (
        env!("CARGO_PKG_VERSION"),
        env!("DISKWRIGHT_COMMIT"),
        profile,
    )
}

/// The engine of diskwright.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("SimulationError", py.get_type::<SimulationError>())?;
    module.add_class::<CacheAccess>()?;
    module.add_class::<CacheCost>()?;
    module.add_class::<CacheSetting>()?;
    module.add_class::<fit::Comparison>()?;
    module.add_class::<RequestTable>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<SchedulerView>()?;
    module.add_class::<Waiting>()?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(run_many, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(serve::serve, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::quantities, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::merged, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::points, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::run_each, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::digest_of, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::ci95, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::sources, module)?)?;
    module.add_function(wrap_pyfunction!(inspect, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::inputs_of_spec, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::inputs_of_drive, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::inputs_of_trace, module)?)?;
    module.add_function(wrap_pyfunction!(probe, module)?)?;
    module.add_function(wrap_pyfunction!(validate::validate, module)?)?;
    module.add_function(wrap_pyfunction!(miss_ratio::miss_ratio, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)?;
    module.add_function(wrap_pyfunction!(formats, module)?)?;
    module.add_function(wrap_pyfunction!(synthetic_clone_mixture, module)?)?;
    module.add_function(wrap_pyfunction!(disksim::import_disksim, module)?)?;
    module.add_function(wrap_pyfunction!(disksim::disksim_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(drives, module)?)?;
    module.add_function(wrap_pyfunction!(drive_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(drive, module)?)?;
    module.add_function(wrap_pyfunction!(drive_text, module)?)?;
    module.add_function(wrap_pyfunction!(discard_unfinished, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}
