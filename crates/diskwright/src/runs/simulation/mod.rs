//! A spec becomes a run becomes a result.

mod adapted;
mod custom;
pub mod digest;
mod drive_facts;
pub(in crate::runs) mod faults;
mod fio_report;
pub(crate) mod imported;
pub mod many;
mod moment;
pub(in crate::runs) mod outcome;
mod outline;
pub mod point;
pub mod sweep;
pub(crate) mod vary;
mod warming;

use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::base::document::from_node;
use crate::base::document::{Node, Value};
use crate::base::error::{Error, InputError, Place, Source};
use crate::base::small_file;
use crate::config::spec::{FaultKind, MeasureEnd, Spec, WarmUpSpec};
use crate::devices::assembly::{DeviceTree, RunSettings};
use crate::devices::kind::AnyDevice;
use crate::devices::spindles::Spindles;
use crate::devices::with_spindles;
use crate::disksim;
use crate::engine::checker::Checker;
use crate::engine::window::WarmUp;
use crate::engine::window::{ArmTraceFrom, ArmTraceWindow};
use crate::engine::{Engine, Initiator, Injection};
use crate::host::flash_backed::foresight::Foresight;
use crate::host::flash_backed::spec::NextSpec;
use crate::host::{Extent, Host, HostPolicy};
use crate::metrics::{Measurements, Recorder, RequestLog, RequestTable};
use crate::models::cache::replacement::CustomReplacements;
use crate::models::queue::{CustomSchedulers, Scheduler, SchedulerChoice};
use crate::workload::{self, FittedWorkload, Pacing};

pub(crate) use adapted::drive_keys;
pub(crate) use drive_facts::{drive, drive_file};
pub use drive_facts::{drive_summary, hardware};

pub use crate::host::Progress;
pub use moment::Moment;
use outcome::Finished;
pub use outcome::Outcome;

use imported::SetUp;
use sweep::PointChoice;

/// Where a spec comes from.
#[derive(Clone, Debug)]
pub enum SpecSource {
    /// A TOML file, or a set-up of DiskSim's (`.parv`); relative paths in it start at its folder.
    File(PathBuf),
    /// A TOML text.
    Text {
        /// The text.
        text: String,
        /// Where relative paths in it start.
        base: PathBuf,
    },
}

/// What the command line adds to a spec.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// `KEY=VALUE` overrides, applied in order.
    pub set: Vec<String>,
    /// `KEY=VALUE` overrides that make this run one of several to be compared, applied after `set`.
    pub vary: Vec<String>,
    /// The drive of every hard disk of the spec.
    pub drive: Option<String>,
    /// A trace in place of the spec's workload; relative to the current folder.
    pub trace: Option<PathBuf>,
    /// Turns the checker on.
    pub check: bool,
    /// Writes a row for every request to this Parquet file; relative to the current folder.
    pub requests: Option<PathBuf>,
    /// Collects what a picture of the run is drawn from: [`Outcome::picture`].
    pub picture: bool,
    /// Where the stretch of time begins that a picture shows the devices at work in.
    pub arm_trace: ArmTraceFrom,
    /// Where it begins in place of that: a moment that a first run of the same finds. The load is read twice.
    pub moment: Option<Moment>,
    /// Collects what fio tells of its jobs: [`Outcome::fio_report`].
    pub fio_report: bool,
    /// Keeps a row for every request in memory: [`Outcome::requests`].
    pub keep_requests: bool,
    /// Schedulers that the spec may name beside those of the registry.
    pub schedulers: CustomSchedulers,
    /// Replacement policies that the spec may name beside those of the registry.
    pub replacements: CustomReplacements,
    /// The memory that the devices are planned for, in bytes: this machine's if it is not given.
    pub memory: Option<u64>,
    /// Makes this the run of a point of a sweep, applied after `vary`.
    pub point: Option<PointChoice>,
}

/// A spec, read and checked, with the text it was read from.
pub struct Checked {
    /// The values.
    pub spec: Spec,
    tree: Node,
    pub(in crate::runs) base: PathBuf,
    schedulers: CustomSchedulers,
    replacements: CustomReplacements,
    memory: Option<u64>,
    /// The load is left out: requests come from clients.
    pub(in crate::runs) is_served: bool,
    /// The power may be cut, although no fault of the spec says so.
    pub(in crate::runs) cuts_power: bool,
    /// What reading the spec, and what it names, gave cause to warn of.
    pub(in crate::runs) warnings: Vec<String>,
    /// What it gave cause to tell.
    pub(in crate::runs) notes: Vec<String>,
}

impl Checked {
    /// Adds warnings that are not told yet.
    pub(in crate::runs) fn warn(&mut self, warnings: Vec<String>) {
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
    }

    /// The value that the text, or an override, gives for the key at a dotted path.
    pub fn given(&self, path: &str) -> Option<&Value> {
        self.tree.get(path).map(|node| &node.value)
    }

    /// The paths of the devices with spindles, such as `device.hdd`.
    pub fn with_spindles(&self) -> Vec<String> {
        with_spindles(&self.tree)
    }

    /// The tree of devices.
    ///
    /// # Errors
    /// As [`DeviceSpec::tree`](crate::devices::DeviceSpec::tree), and as [`FlashBackedSpec::build`](crate::host::flash_backed::spec::FlashBackedSpec::build).
    pub fn devices(&self) -> Result<DeviceTree, Error> {
        self.devices_foreseeing(None)
    }

    /// The same, where the host's scheduler may be told of what arrives next.
    fn devices_foreseeing(&self, foresight: Option<Foresight>) -> Result<DeviceTree, Error> {
        let mut tree = self.spec.device.tree(&RunSettings {
            seed: self.spec.seed,
            base: &self.base,
            schedulers: &self.schedulers,
            replacements: &self.replacements,
            memory: self.memory,
            read_foreign: imported::drive,
            warming: &|load, capacity, wanted| self.warm(load, capacity, wanted),
            loses_power: self.cuts_power
                || (self.spec.fault.iter()).any(|fault| fault.kind == FaultKind::PowerCut),
            locate: &|path, error| self.locate(path, error),
        })?;
        if let Some(spec) = &self.spec.host.flash_backed {
            let scheduler = self.scheduler(&spec.queue, "host.flash_backed.queue")?;
            let built = spec.build(&tree, scheduler, foresight);
            let built = built.map_err(|(key, error)| {
                let dot = if key.is_empty() { "" } else { "." };
                self.locate(&format!("host.flash_backed{dot}{key}"), error)
            })?;
            tree.add("host.flash_backed", Box::new(built));
        }
        Ok(tree)
    }

    /// What the host's scheduler is told of what arrives next, where it is.
    fn foresight(&self) -> Option<Foresight> {
        let spec = self.spec.host.flash_backed.as_ref()?;
        (spec.next == NextSpec::Oracle).then(Foresight::default)
    }

    /// Whether the seed decides how any spindle turns.
    pub fn draws_spindles(&self) -> bool {
        self.spec.device.draws_spindles(&Spindles::alone())
    }

    /// The scheduler that stands at `path`, ready to run.
    fn scheduler(&self, choice: &SchedulerChoice, path: &str) -> Result<Box<dyn Scheduler>, Error> {
        let built = choice.build(&self.schedulers);
        built.map_err(|error| self.locate(path, error.into()))
    }

    /// Adds the place of the value at `path`, or of the nearest one above it, to an error that has none.
    pub(in crate::runs) fn locate(&self, path: &str, error: Error) -> Error {
        let mut input = match error {
            Error::Input(input) => *input,
            Error::File { .. } => InputError::new(error.to_string()),
            other => return other,
        };
        if input.place.is_none() {
            let mut path = path;
            let node = loop {
                match (self.tree.get(path), path.rsplit_once('.')) {
                    (Some(node), _) => break Some(node),
                    (None, Some((above, _))) => path = above,
                    (None, None) => break None,
                }
            };
            input.place = node.map(|node| node.origin.place());
        }
        input.into()
    }

    /// Fits the load to the device, of `capacity` blocks. A job file becomes the load that it stands for, which the log and the result then
    /// show.
    fn fit_workload(&mut self, capacity: u64) -> Result<FittedWorkload, Error> {
        let load = self.spec.workload.fit(&self.base, capacity);
        let load = load.map_err(|error| self.locate_in_workload(error))?;
        self.spec.workload = load.spec().clone();
        Ok(load)
    }

    /// [`Self::locate`] for an error of the workload: a trace that cannot be opened is named where the spec names it.
    fn locate_in_workload(&self, error: Error) -> Error {
        if !matches!(error, Error::File { .. }) {
            return self.locate("workload", error);
        }
        let has = |key| self.tree.get(key).is_some();
        let (key, help) = match () {
            () if has("workload.fio") => (
                "workload.fio",
                "a job file's path starts at the spec's folder",
            ),
            () if has("workload.synthetic-clone") => (
                "workload.synthetic-clone",
                "a profile's path starts at the spec's folder",
            ),
            () => (
                "workload.trace",
                "a trace's path starts at the spec's folder; --trace FILE names another, from the current folder",
            ),
        };
        match self.locate(key, error) {
            Error::Input(input) => input.help(help).into(),
            other => other,
        }
    }
}

/// Reads a spec and applies what the command line adds.
///
/// # Errors
/// An unreadable file; anything in the text or an override that is not understood, with its place.
pub fn read_spec(source: &SpecSource, options: &RunOptions) -> Result<Checked, Error> {
    read_adapted(source, options, &|_| Ok(()))
}

/// The same, of a spec whose values are changed before they are checked.
pub(in crate::runs) fn read_adapted(
    source: &SpecSource,
    options: &RunOptions,
    adapt: &dyn Fn(&mut Node) -> Result<(), Error>,
) -> Result<Checked, Error> {
    let (mut tree, base, mut set_up) = read_tree(source)?;
    adapted::apply(options, set_up.as_mut(), adapt, &mut tree)?;
    let mut spec: Spec = from_node(&tree)?;
    spec.device.fill_in(&Spindles::alone());
    if let Some(point) = &options.point {
        spec.workload.notes = point.notes.clone();
    }
    let warnings = set_up.map_or_else(Vec::new, |set_up| set_up.warnings);
    let sweep = spec.sweep.as_ref();
    let notes = sweep.map(|_| SWEEP_CHANGES_NOTHING.to_owned());
    Ok(Checked {
        spec,
        tree,
        base,
        schedulers: options.schedulers.clone(),
        replacements: options.replacements.clone(),
        memory: options.memory,
        is_served: false,
        cuts_power: false,
        warnings,
        notes: notes.into_iter().collect(),
    })
}

const SWEEP_CHANGES_NOTHING: &str =
    "the table [sweep] changes nothing here: `diskwright sweep` runs its points";

/// The values of a spec, where relative paths in it start, and the set-up of DiskSim's where it is made from one.
pub(crate) fn read_tree(source: &SpecSource) -> Result<(Node, PathBuf, Option<SetUp>), Error> {
    let path = match source {
        SpecSource::File(path) => path,
        SpecSource::Text { text, base } => {
            let tree = Node::parse(&Source::new("spec", text.as_str()))?;
            return Ok((tree, base.clone(), None));
        }
    };
    if disksim::is_set_up(path) {
        let (tree, base, set_up) = imported::spec(path)?;
        return Ok((tree, base, Some(set_up)));
    }
    let base = path.parent().unwrap_or(Path::new("")).to_owned();
    let bytes = small_file::read(path)?;
    let tree = parsed(path, &bytes).map_err(|error| match workload::format_of(&bytes) {
        Some(format) => taken_for_spec(path, format),
        None => error,
    })?;
    Ok((tree, base, None))
}

fn parsed(path: &Path, bytes: &[u8]) -> Result<Node, Error> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let error = InputError::new(format!("a spec is text in UTF-8: {error}"));
        Error::from(error.at(Place::File(path.to_owned())))
    })?;
    Node::parse(&Source::new(path.display().to_string(), text))
}

/// The error where a trace stands in a spec's place.
fn taken_for_spec(path: &Path, format: &str) -> Error {
    let path_shown = path.display();
    InputError::new(format!("this is no spec but a trace of format {format}"))
        .at(Place::File(path.to_owned()))
        .help(format!(
            "a spec says what a trace is replayed on: `diskwright run SPEC --trace {path_shown}`; \
             `diskwright inspect {path_shown}` tells what the trace is"
        ))
        .into()
}

/// Runs a spec to its end.
///
/// # Errors
/// Wrong input, with its place; an unreadable file; a log of requests that cannot be written; a fault that the
/// checker found; an interruption by `progress`.
pub fn run(
    source: &SpecSource,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    match options.moment {
        Some(moment) if options.picture => {
            let found = run_once(source, &moment.search(options), progress)?;
            run_once(source, &moment.shown(&found, options), progress)
        }
        _ => run_once(source, options, progress),
    }
}

/// [`run`], from the first request to the last.
fn run_once(
    source: &SpecSource,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let mut checked = read_spec(source, options)?;
    let foresight = checked.foresight();
    let mut tree = checked.devices_foreseeing(foresight.clone())?;
    checked.warn(std::mem::take(&mut tree.warnings));
    checked.notes.append(&mut tree.notes);
    let capacity = tree.devices.last().expect("a spec has a device").blocks();
    let load = checked.fit_workload(capacity)?;
    let spec = &checked.spec;
    let log = options
        .requests
        .as_deref()
        .map(|path| request_log(path, spec))
        .transpose()?;
    let workload = load.open(spec.seed);
    let workload = workload.map_err(|error| checked.locate_in_workload(error))?;
    if foresight.is_some() && workload.pacing() != Pacing::Open {
        let error = Error::input(
            "an oracle must know future requests: the pace of this load depends on completions",
        );
        return Err(checked.locate("host.flash_backed.next", error));
    }
    if spec.measure.end == MeasureEnd::LastArrival && workload.pacing() != Pacing::Open {
        let error = InputError::new(
            "no arrival is the last: requests of this load wait for others, or for the plans of streams",
        )
        .help("end = \"last-arrival\" is for traces at their own pace and for synthetic loads whose requests arrive by themselves");
        return Err(checked.locate("measure.end", error.into()));
    }
    let policy = host_policy(&checked)?;
    let warm_up = warm_up(&checked, &load)?;
    let mut recorder = Recorder::new(warm_up);
    let mut window = None;
    if options.picture {
        window = ArmTraceWindow::new(options.arm_trace, warm_up);
        recorder = recorder.with_picture(capacity, window.clone());
        for device in &mut tree.devices {
            device.collect_picture(window.as_ref());
        }
    }
    if options.fio_report {
        recorder = recorder.with_jobs(&workload.streams());
    }
    let table = options.keep_requests.then(RequestTable::default);
    let root = tree.devices.last().expect("a spec has a device");
    let mut host = Host::new(workload, policy, recorder, progress)
        .looking_ahead(root.looks_ahead())
        .with_foresight(foresight)
        .with_log(log)
        .with_table(table);
    let promise = tree.devices.last().expect("a spec has a device").promise();
    let checker = options.check.then(|| {
        let mut checker = Checker::new(promise);
        checker.name_devices(tree.paths.clone());
        Box::new(checker)
    });
    let injections = faults::injections(&checked, &tree)?;
    let mut engine = Engine::new(tree.devices, checker);
    for (at, injection) in injections {
        if let Injection::Outage { .. } = injection {
            let mut devices = checked.devices()?.devices;
            for device in devices.iter_mut().filter(|_| options.picture) {
                device.collect_picture(window.as_ref());
            }
            engine.restart_with(devices);
        }
        engine.inject(at, injection);
    }
    let started = Instant::now();
    engine
        .run(&mut host)
        .map_err(|error| with_faults(error, engine.checker()))?;
    // The listener may interrupt the run at its end, too.
    if host.tick().is_break() {
        return Err(Error::Interrupted);
    }
    if let Some(checker) = engine.checker()
        && checker.fault_count() > 0
    {
        return Err(Error::Simulation(found(checker)));
    }
    let jobs = host.take_jobs();
    let (measurements, picture) = host.finish_recording();
    if checked.spec.fault.is_empty() {
        check_measured(&checked, host.issued(), &measurements)?;
    }
    host.finish_log()?;
    if let Some(window) = &window {
        window.end(engine.now());
    }
    let table = host.take_table();
    let mut run = Finished {
        checked: &checked,
        engine: &engine,
        paths: &tree.paths,
        facts: &tree.facts,
        host: &host,
        measurements,
        picture,
        jobs,
    };
    let outcome = Outcome::new(&mut run, started.elapsed());
    Ok(outcome.with_requests(table))
}

/// A run of which nothing is measured has no results.
fn check_measured(
    checked: &Checked,
    issued: u64,
    measurements: &Measurements,
) -> Result<(), Error> {
    if measurements.measured_count() + measurements.failed() > 0 {
        return Ok(());
    }
    let (key, error) = match measurements.completed() {
        0 if checked.spec.workload.processes.is_some() => (
            "workload.processes",
            InputError::new(format!(
                "no request of the run is complete when its processes end it: {issued} were issued"
            ))
            .help("expected more in workload.processes.requests or duration, measure.requests or duration, or longer gaps"),
        ),
        0 if issued > 0 => (
            "measure.end",
            InputError::new("no request of the run is complete when the last one arrives")
                .help("a longer run, or end = \"last-completion\""),
        ),
        0 => (
            "workload",
            InputError::new("the run is empty: its load has no requests")
                .help("workload.from, to, limit, device and past_end leave requests out; `diskwright inspect` tells what a trace has"),
        ),
        completed => (
            match checked.given("measure.warmup") {
                Some(_) => "measure.warmup",
                None => "workload",
            },
            InputError::new(format!(
                "all {completed} requests of the run belong to the warm-up: nothing is measured"
            ))
            .help("a shorter warm-up, such as \"10 %\", or a longer run"),
        ),
    };
    Err(checked.locate(key, error.into()))
}

/// What the checker found.
pub(in crate::runs) fn found(checker: &Checker) -> String {
    format!(
        "the checker found {} faults in {} requests:\n  {}",
        checker.fault_count(),
        checker.checked(),
        checker.faults().join("\n  ")
    )
}

/// A run that failed, with what the checker found before.
fn with_faults(error: Error, checker: Option<&Checker>) -> Error {
    match (error, checker) {
        (Error::Simulation(text), Some(checker)) if checker.fault_count() > 0 => {
            Error::Simulation(format!("{text}; {}", found(checker)))
        }
        (error, _) => error,
    }
}

/// Opens the log before the run, so that a path that cannot be written is known at once.
pub(in crate::runs) fn request_log(path: &Path, spec: &Spec) -> Result<RequestLog, Error> {
    let mut log = RequestLog::create(path)?;
    log.describe(&serde_json::to_value(spec).expect("a spec is plain data"));
    Ok(log)
}

fn host_policy(checked: &Checked) -> Result<HostPolicy, Error> {
    let Spec { host, measure, .. } = &checked.spec;
    let scheduler = checked.scheduler(&host.scheduler, "host.scheduler")?;
    if scheduler.needs_geometry() {
        let disks = checked.with_spindles().into_iter();
        let queues: Vec<String> = disks
            .map(|disk| format!("{disk}.queue.scheduler"))
            .collect();
        let queues = queues.join(", ");
        let message = format!(
            "the host's queue knows LBNs only: {:?} needs a drive's geometry",
            host.scheduler.name()
        );
        let error =
            Error::from(InputError::new(message).help(format!("give it to the drive: {queues}")));
        return Err(checked.locate("host.scheduler", error));
    }
    if host.outstanding == Some(0) {
        let error = Error::input(
            "with 0 requests outstanding nothing is ever issued: expected 1 or more, or no limit",
        );
        return Err(checked.locate("host.outstanding", error));
    }
    let extent = Extent {
        requests: measure.requests,
        duration: measure.duration,
        ends_with_last_arrival: measure.end == MeasureEnd::LastArrival,
    };
    Ok(HostPolicy {
        outstanding: host.outstanding,
        scheduler,
        extent,
    })
}

fn warm_up(checked: &Checked, load: &FittedWorkload) -> Result<WarmUp, Error> {
    let Spec {
        workload,
        measure,
        seed,
        ..
    } = &checked.spec;
    let own = workload.synthetic.as_ref().and_then(|load| load.warmup());
    if let Some(key) = own {
        return match measure.warmup {
            None | Some(WarmUpSpec::Requests(0)) => Ok(WarmUp::ByStream),
            Some(_) => {
                let message = format!("the load has {key}, too: expected one of them");
                Err(checked.locate("measure.warmup", Error::input(message)))
            }
        };
    }
    Ok(match measure.warmup {
        None => WarmUp::None,
        Some(WarmUpSpec::Requests(requests)) => WarmUp::Requests(requests),
        Some(WarmUpSpec::Time(time)) => WarmUp::Time(time),
        Some(WarmUpSpec::Percent(percent)) => {
            let total = match percent {
                0.0 => 0,
                _ => load
                    .count(*seed)
                    .map_err(|error| checked.locate_in_workload(error))?
                    .ok_or_else(|| {
                        let message = "a percentage of requests whose number is not known before the run: the durations of streams end it";
                        let error = InputError::new(message).help("give a time, such as \"10 s\", or a warmup of each stream");
                        checked.locate("measure.warmup", error.into())
                    })?,
            };
            let total = measure.requests.map_or(total, |most| most.min(total));
            WarmUp::Requests((total as f64 * percent / 100.0) as u64)
        }
    })
}
