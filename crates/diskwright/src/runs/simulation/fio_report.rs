//! The results of a run in the form of fio's JSON output, version 3, for tools that read that.

use serde_json::{Map, Value, json};

use crate::base::units::Size;
use crate::metrics::{Jobs, Measurements};
use crate::workload::WorkloadSpec;
use crate::workload::fio::FioJob;
use crate::workload::synthetic::{ArrivalsSpec, LoadSpec, SizeSpec, SyntheticSpec};

/// The version of fio whose form it is.
const VERSION: &str = "fio-3.36";

/// The report of a run of `workload`, without the time of day; `device` is what the results tell of the root device, with its path.
pub(super) fn report(
    workload: &WorkloadSpec,
    jobs: &mut Jobs,
    measurements: &Measurements,
    device: Option<(&str, &Value)>,
) -> Value {
    let told = told(workload);
    let found = jobs.json(measurements.measured_window());
    let written = found.into_iter().enumerate().map(|(index, measured)| {
        let unnamed = FioJob::default();
        let job = told.get(index).unwrap_or(&unnamed);
        let mut object = Map::new();
        object.insert("jobname".into(), json!(job.name));
        object.insert("groupid".into(), json!(job.group));
        if let Value::Object(measured) = measured {
            for (key, value) in measured {
                // The place that fio gives to it.
                if key == "read" {
                    object.insert("job options".into(), options(&job.job, &job.options));
                }
                object.insert(key, value);
            }
        }
        Value::Object(object)
    });
    let mut jobs: Vec<Value> = written.collect();
    share_bandwidth(&mut jobs);
    let global = told.first().map(|job| job.global.as_slice());
    let global = global.unwrap_or_default().iter();
    let global: Map<String, Value> = global
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    json!({
        "fio version": format!("{VERSION} (diskwright {})", env!("CARGO_PKG_VERSION")),
        "global options": global,
        "jobs": jobs,
        "disk_util": device.map(|(path, device)| utilisation(path, device, measurements)).into_iter().collect::<Vec<_>>(),
    })
}

/// The share of each job in the bandwidth of its group, in percent, by direction.
fn share_bandwidth(jobs: &mut [Value]) {
    for direction in ["read", "write", "trim"] {
        let bytes = |job: &Value| job[direction]["bw_bytes"].as_u64().unwrap_or(0);
        let groups: Vec<(u64, u64)> = jobs
            .iter()
            .map(|job| (job["groupid"].as_u64().unwrap_or(0), bytes(job)))
            .collect();
        for (job, (group, own)) in jobs.iter_mut().zip(&groups) {
            let of_group = groups.iter().filter(|(other, _)| other == group);
            let total: u64 = of_group.map(|(_, bytes)| bytes).sum();
            job[direction]["bw_agg"] = json!(100.0 * *own as f64 / total.max(1) as f64);
        }
    }
}

/// The options of a job as fio writes them, as texts.
fn options(name: &str, given: &[(String, String)]) -> Value {
    let mut options = Map::new();
    options.insert("name".into(), json!(name));
    for (name, value) in given {
        options.insert(name.clone(), json!(value));
    }
    options.into()
}

/// The jobs of the load: those of a job file, or its streams with the options of fio that stand for them.
fn told(workload: &WorkloadSpec) -> Vec<FioJob> {
    if !workload.jobs.is_empty() {
        return workload.jobs.clone();
    }
    let loads: &[LoadSpec] = match &workload.synthetic {
        None => &[],
        Some(SyntheticSpec::One(load)) => std::slice::from_ref(&**load),
        Some(SyntheticSpec::Several(loads)) => loads,
    };
    let mut jobs: Vec<FioJob> = Vec::new();
    for (index, load) in loads.iter().enumerate() {
        let own = load.report_as.clone().or_else(|| load.name.clone());
        let name = own.unwrap_or_else(|| match loads.len() {
            1 => "load".to_owned(),
            _ => format!("stream[{index}]"),
        });
        if jobs.iter().all(|job| job.name != name) {
            jobs.push(FioJob {
                job: name.clone(),
                name,
                group: load.stage,
                global: Vec::new(),
                options: stand_for(load),
            });
        }
    }
    if jobs.is_empty() {
        jobs.push(FioJob {
            name: "trace".to_owned(),
            job: "trace".to_owned(),
            ..FioJob::default()
        });
    }
    jobs
}

/// The options of fio that a load stands for, of which scripts group results.
fn stand_for(load: &LoadSpec) -> Vec<(String, String)> {
    let kind = match (load.reads.value(), load.trims.value()) {
        (1.0, _) => "read",
        (_, 1.0) => "trim",
        (0.0, 0.0) => "write",
        _ => "rw",
    };
    let random = if load.address.is_sequential() {
        ""
    } else {
        "rand"
    };
    let mut options = vec![("rw".to_owned(), format!("{random}{kind}"))];
    if kind == "rw" {
        let reads = format!("{:.0}", load.reads.value() * 100.0);
        options.push(("rwmixread".to_owned(), reads));
    }
    if let SizeSpec::One(size) = &load.size {
        options.push(("bs".to_owned(), bytes(*size)));
    }
    if let ArrivalsSpec::Closed(closed) = &load.arrivals
        && let Some(users) = closed.users
    {
        options.push(("iodepth".to_owned(), users.to_string()));
    }
    options
}

/// A size as job files have it: `4k` where it is whole.
fn bytes(size: Size) -> String {
    match size.bytes() {
        bytes if bytes.is_multiple_of(1024) => format!("{}k", bytes / 1024),
        bytes => bytes.to_string(),
    }
}

/// What fio tells of the device that it works on.
fn utilisation(path: &str, device: &Value, measurements: &Measurements) -> Value {
    let count = |key: &str| device[key].as_u64().unwrap_or(0);
    let [reads, writes] = measurements.service_totals_ms();
    json!({
        "name": path,
        "read_ios": count("reads"),
        "write_ios": count("writes"),
        "read_merges": 0,
        "write_merges": 0,
        "read_ticks": libm::round(reads) as u64,
        "write_ticks": libm::round(writes) as u64,
        "in_queue": libm::round(reads + writes) as u64,
        "util": 100.0 * device["utilisation"].as_f64().unwrap_or(0.0),
    })
}
