//! The result of a run.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{Checked, fio_report};
use crate::base::memory;
use crate::base::units::Time;
use crate::engine::Engine;
use crate::engine::device::Device;
use crate::host::Host;
use crate::metrics::{Jobs, Measurements, Picture, RequestTable};

/// The version of the result's form. Keys never change their meaning.
pub(in crate::runs) const SCHEMA: u32 = 1;

/// What differs between two runs of the same.
const PASSING: [&str; 3] = ["wall_s", "requests_per_wall_s", "peak_rss_mib"];

/// Of the parts of requests, leaves those in a result that some of the devices have.
pub(in crate::runs) fn leave_parts_of(
    devices: &[Box<dyn Device>],
    result: &mut Map<String, Value>,
) {
    if let Some(Value::Object(parts)) = result.get_mut("parts_ms") {
        let has = |name: &str| {
            let mut parts = devices.iter().flat_map(|device| device.parts());
            parts.any(|part| part.name() == name)
        };
        parts.retain(|name, _| has(name));
    }
}

/// Everything a run says about itself.
#[derive(Clone, Debug)]
pub struct Outcome {
    result: Map<String, Value>,
    picture: Option<Value>,
    busiest: Option<Time>,
    slowest: Option<Time>,
    fio_report: Option<Value>,
    requests: Option<RequestTable>,
}

/// A run that went well.
pub(super) struct Finished<'a> {
    pub checked: &'a Checked,
    pub engine: &'a Engine,
    /// The paths of its devices.
    pub paths: &'a [String],
    /// What is known of them besides what they count.
    pub facts: &'a [Map<String, Value>],
    pub host: &'a Host<'a>,
    pub measurements: Measurements,
    /// What a picture is drawn from, where it was collected.
    pub picture: Option<Box<Picture>>,
    /// What fio tells of jobs, where it was collected.
    pub jobs: Option<Box<Jobs>>,
}

impl Finished<'_> {
    fn devices(&self) -> impl Iterator<Item = (&String, &dyn Device)> {
        let devices = self.engine.devices().iter().map(|device| &**device);
        self.paths.iter().zip(devices)
    }
}

impl Outcome {
    /// An outcome of another kind of run, of a result and what a picture is drawn from.
    pub(in crate::runs) fn of(result: Map<String, Value>, picture: Option<Value>) -> Outcome {
        Outcome {
            result,
            picture,
            busiest: None,
            slowest: None,
            fio_report: None,
            requests: None,
        }
    }

    pub(super) fn new(run: &mut Finished<'_>, wall: Duration) -> Outcome {
        let mut jobs = run.jobs.take();
        let run = &*run;
        let Finished {
            checked,
            engine,
            paths,
            facts,
            measurements,
            ..
        } = run;
        let mut result = Map::new();
        result.insert("schema".into(), json!(SCHEMA));
        result.insert("requests".into(), requests(run).into());
        measurements.statistics(&mut result);
        leave_parts_of(engine.devices(), &mut result);
        let (from, to) = measurements.measured_window();
        let devices = device_reports(
            (paths, facts),
            engine.devices(),
            (from.max(engine.powered_since()), to),
        );
        result.insert("devices".into(), devices.into());
        let wall_s = wall.as_secs_f64();
        result.insert("wall_s".into(), json!(wall_s));
        let rate = measurements.completed() as f64 / wall_s.max(1e-9);
        result.insert("requests_per_wall_s".into(), json!(rate));
        result.insert("peak_rss_mib".into(), json!(memory::peak_rss_mib()));
        result.insert("digest".into(), json!(measurements.digest()));
        if let Some(checker) = engine.checker() {
            result.insert("checked".into(), json!(checker.checked()));
        }
        result.insert("notes".into(), json!(notes(run)));
        result.insert("warnings".into(), json!(warnings(run)));
        let spec = serde_json::to_value(&checked.spec).expect("a spec is plain data");
        result.insert("spec".into(), spec);
        let fio_report = jobs.as_mut().map(|jobs| {
            let root = paths.last().map(String::as_str);
            let device = root.map(|path| (path, &result["devices"][path]));
            fio_report::report(&checked.spec.workload, jobs, measurements, device)
        });
        Outcome {
            result,
            picture: picture(run),
            busiest: run.picture.as_ref().and_then(|picture| picture.busiest()),
            slowest: run.picture.as_ref().and_then(|picture| picture.slowest()),
            fio_report,
            requests: None,
        }
    }

    /// The requests that were completed.
    pub fn completed(&self) -> u64 {
        self.result["requests"]["completed"]
            .as_u64()
            .expect("a count of requests")
    }

    /// The hash of every completion.
    pub fn digest(&self) -> &str {
        self.result["digest"].as_str().expect("a digest is text")
    }

    /// The object of `run`.
    pub fn result(&self) -> &Map<String, Value> {
        &self.result
    }

    /// An entry of the object of `run`, by its key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.result.get(key)
    }

    /// The object of `run`, as the command prints it.
    pub fn json(&self) -> Value {
        Value::Object(self.result.clone())
    }

    /// [`Self::json`] without what another run of the same would say otherwise: the time that it took, and the memory.
    pub fn lasting(&self) -> Value {
        let lasts = |(key, _): &(&String, &Value)| !PASSING.contains(&key.as_str());
        let entries = self.result.iter().filter(lasts);
        Value::Object(
            entries
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        )
    }

    pub(super) fn with_requests(self, requests: Option<RequestTable>) -> Outcome {
        Outcome { requests, ..self }
    }

    /// Every completed request, where [`keep_requests`](super::RunOptions::keep_requests) asked for it.
    pub fn requests(&self) -> Option<&RequestTable> {
        self.requests.as_ref()
    }

    /// The results in the form of fio's JSON output, without the time of day, where they were asked for.
    pub fn fio_report(&self) -> Option<&Value> {
        self.fio_report.as_ref()
    }

    /// The first moment at which the most requests were outstanding, of a run that was asked for its picture.
    pub(super) fn busiest(&self) -> Option<Time> {
        self.busiest
    }

    /// When the device began with the slowest request of such a run.
    pub(super) fn slowest(&self) -> Option<Time> {
        self.slowest
    }

    /// What a picture of the run is drawn from, where it was asked for.
    pub fn picture(&self) -> Option<&Value> {
        self.picture.as_ref()
    }
}

/// What devices and their parts that are reported apart tell, by path, of a run that was measured between two instants.
pub(in crate::runs) fn device_reports(
    (paths, facts): (&[String], &[Map<String, Value>]),
    devices: &[Box<dyn Device>],
    (from, to): (Time, Time),
) -> Map<String, Value> {
    let elapsed = to.saturating_sub(from);
    let mut reports = Map::new();
    for ((path, facts), device) in paths.iter().zip(facts).zip(devices) {
        let mut report = device.report(elapsed);
        report.extend(device.power_report(from, to).into_iter().flatten());
        report.extend(facts.clone());
        reports.insert(path.clone(), report.into());
        for (part, report) in device.part_reports(elapsed) {
            reports.insert(format!("{path}.{part}"), report.into());
        }
    }
    reports
}

fn picture(run: &Finished<'_>) -> Option<Value> {
    let mut picture = run.picture.as_ref()?.json();
    run.measurements.add_curves(&mut picture);
    let devices = run.devices();
    let devices: Map<String, Value> = devices
        .filter_map(|(path, device)| Some((path.clone(), device.picture()?.into())))
        .collect();
    picture["devices"] = devices.into();
    Some(picture)
}

fn requests(run: &Finished<'_>) -> Map<String, Value> {
    let mut of_load = run.host.workload().counts().json();
    let mut requests = Map::new();
    requests.extend(of_load.remove_entry("trace"));
    requests.insert("issued".into(), json!(run.host.issued()));
    requests.append(&mut run.measurements.counts());
    requests.append(&mut of_load);
    requests
}

/// What a device at a path tells.
pub(in crate::runs) fn named(
    path: &str,
    texts: Vec<String>,
) -> impl Iterator<Item = String> + use<'_> {
    texts.into_iter().map(move |text| format!("{path}: {text}"))
}

fn notes(run: &Finished<'_>) -> Vec<String> {
    let mut notes = run.checked.notes.clone();
    notes.append(&mut run.host.workload().notes());
    notes.append(&mut run.host.notes());
    for (path, device) in run.devices() {
        notes.extend(named(path, device.notes()));
    }
    notes
}

fn warnings(run: &Finished<'_>) -> Vec<String> {
    let mut warnings = run.checked.warnings.clone();
    let spec = &run.checked.spec;
    let load = spec.workload.synthetic.as_ref();
    if spec.measure.warmup.is_none() && load.is_none_or(|load| load.warmup().is_none()) {
        warnings.push(
            "no warm-up: the statistics include the start of the run, when queues are empty (measure.warmup = \"10 %\" \
             leaves it out, 0 says that it is meant)"
                .to_owned(),
        );
    }
    warnings.append(&mut run.host.workload().warnings());
    warnings.append(&mut run.host.warnings());
    for (path, device) in run.devices() {
        warnings.extend(named(path, device.warnings()));
        for (part, texts) in device.part_warnings() {
            warnings.extend(named(&format!("{path}.{part}"), texts));
        }
    }
    warnings.append(&mut run.measurements.warnings());
    warnings
}
