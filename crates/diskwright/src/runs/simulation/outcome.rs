//! The result of a run.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Checked;
use crate::base::memory;
use crate::engine::Engine;
use crate::host::Host;
use crate::metrics::RequestTable;

/// The version of the result's form. Keys never change their meaning.
const SCHEMA: u32 = 1;

/// What differs between two runs of the same.
const PASSING: [&str; 3] = ["wall_s", "requests_per_wall_s", "peak_rss_mib"];

/// Everything a run says about itself.
#[derive(Clone, Debug)]
pub struct Outcome {
    result: Map<String, Value>,
    picture: Option<Value>,
    requests: Option<RequestTable>,
}

impl Outcome {
    pub(super) fn new(
        checked: &Checked,
        engine: &Engine,
        paths: &[String],
        host: &Host<'_>,
        wall: Duration,
    ) -> Outcome {
        let recorder = host.recorder();
        let mut result = Map::new();
        result.insert("schema".into(), json!(SCHEMA));
        result.insert("requests".into(), requests(host).into());
        recorder.statistics(&mut result);
        if let Some(Value::Object(parts)) = result.get_mut("parts_ms") {
            let told = |name: &str| {
                let mut parts = engine.devices().iter().flat_map(|device| device.parts());
                parts.any(|part| part.name() == name)
            };
            parts.retain(|name, _| told(name));
        }
        let mut devices = Map::new();
        for (path, device) in paths.iter().zip(engine.devices()) {
            devices.insert(path.clone(), device.report(recorder.measured_span()).into());
            for (part, report) in device.part_reports(recorder.measured_span()) {
                devices.insert(format!("{path}.{part}"), report.into());
            }
        }
        result.insert("devices".into(), devices.into());
        let wall_s = wall.as_secs_f64();
        result.insert("wall_s".into(), json!(wall_s));
        let rate = recorder.completed_count() as f64 / wall_s.max(1e-9);
        result.insert("requests_per_wall_s".into(), json!(rate));
        result.insert("peak_rss_mib".into(), json!(memory::peak_rss_mib()));
        result.insert("digest".into(), json!(recorder.digest()));
        if let Some(checker) = engine.checker() {
            result.insert("checked".into(), json!(checker.checked()));
        }
        result.insert(
            "warnings".into(),
            json!(warnings(checked, engine, paths, host)),
        );
        let spec = serde_json::to_value(&checked.spec).expect("a spec is plain data");
        result.insert("spec".into(), spec);
        Outcome {
            result,
            picture: picture(engine, paths, host),
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

    /// What a picture of the run is drawn from, where it was asked for.
    pub fn picture(&self) -> Option<&Value> {
        self.picture.as_ref()
    }
}

fn picture(engine: &Engine, paths: &[String], host: &Host<'_>) -> Option<Value> {
    let mut picture = host.recorder().picture()?;
    let devices = paths.iter().zip(engine.devices());
    let devices: Map<String, Value> = devices
        .filter_map(|(path, device)| Some((path.clone(), device.picture()?.into())))
        .collect();
    picture["devices"] = devices.into();
    Some(picture)
}

fn requests(host: &Host<'_>) -> Map<String, Value> {
    let counts = host.workload().counts();
    let mut requests = Map::new();
    requests.insert("trace".into(), json!(counts.trace));
    requests.insert("issued".into(), json!(host.issued()));
    requests.append(&mut host.recorder().counts());
    requests.insert("skipped".into(), json!(counts.skipped));
    requests.insert("clipped".into(), json!(counts.clipped));
    requests.insert("mapped".into(), json!(counts.mapped));
    requests
}

fn warnings(checked: &Checked, engine: &Engine, paths: &[String], host: &Host<'_>) -> Vec<String> {
    let mut warnings = checked.warnings.clone();
    if checked.spec.measure.warmup.is_none() {
        warnings.push(
            "no warm-up: the statistics include the start of the run, when queues are empty (measure.warmup = \"10 %\" \
             leaves it out, 0 says that it is meant)"
                .to_owned(),
        );
    }
    warnings.append(&mut host.workload().warnings());
    warnings.append(&mut host.warnings());
    for (path, device) in paths.iter().zip(engine.devices()) {
        let named = |path: &str, told: Vec<String>| {
            let named = told.iter().map(|warning| format!("{path}: {warning}"));
            named.collect::<Vec<_>>()
        };
        warnings.extend(named(path, device.warnings()));
        for (part, told) in device.part_warnings() {
            warnings.extend(named(&format!("{path}.{part}"), told));
        }
    }
    warnings.append(&mut host.recorder().warnings());
    warnings
}
