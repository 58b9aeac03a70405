//! Results in the form of fio's JSON output, read as scripts read fio's, and held to the results proper.

use std::path::Path;

use diskwright::runs::simulation::RunOptions;
use serde_json::Value;

use crate::support::{checked, from_text_in, outcome_of};

const DEVICE: &str = "[device.simple]\ncapacity = \"1 GiB\"\nread = \"1 ms\"\nwrite = \"3 ms\"\n";

/// The result of a spec's text, and its report.
fn reported(text: &str, base: &Path) -> (Value, Value) {
    let options = RunOptions {
        fio_report: true,
        ..checked()
    };
    let outcome = outcome_of(&from_text_in(text, base), &options).expect("it runs");
    let report = outcome.fio_report().expect("asked for").clone();
    (outcome.json(), report)
}

fn of_job_file(job_file: &str) -> (Value, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("job.fio"), job_file).expect("a file");
    reported(
        &format!("[workload]\nfio = \"job.fio\"\n{DEVICE}"),
        folder.path(),
    )
}

fn number(value: &Value, path: &str) -> f64 {
    let found = value.pointer(path).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("{path} in {value:#}"))
}

const JOBS: &str = "[global]\nioengine=libaio\ndirect=1\nruntime=10\ntime_based\nramp_time=2\nsize=64m\nbs=4k\n[reader]\nrw=randread\nrate_iops=100\niodepth=4\n[mixed]\nstonewall\nrw=randrw\nrwmixread=70\nnumjobs=2\ngroup_reporting\nfsync=10\n";

#[test]
fn a_job_is_what_its_stream_is() {
    let (result, report) = of_job_file(JOBS);
    let jobs = report["jobs"].as_array().expect("jobs");
    let names: Vec<_> = jobs
        .iter()
        .map(|job| job["jobname"].as_str().expect("text"))
        .collect();
    assert_eq!(names, ["reader", "mixed"]);
    assert_eq!(
        (&jobs[0]["groupid"], &jobs[1]["groupid"]),
        (&0.into(), &1.into())
    );
    assert_eq!(report["global options"]["runtime"], "10");
    assert_eq!(jobs[0]["job options"]["iodepth"], "4");
    assert_eq!(jobs[1]["job options"]["numjobs"], "2");
    // A rate of 100 for 10 s: requests of 0 to 9.99 s behind the ramp, of which the last takes 1 ms.
    let read = &jobs[0]["read"];
    assert_eq!(read["total_ios"], 1000);
    assert_eq!(read["io_bytes"], 4_096_000);
    assert_eq!(read["io_kbytes"], 4_000);
    assert_eq!(read["runtime"], 9_991);
    assert!((number(read, "/iops") - 1000.0 / 9.991).abs() < 1e-9);
    assert_eq!(read["bw_bytes"], (4_096_000.0 / 9.991) as u64);
    assert_eq!(read["bw"], (4_000.0 / 9.991) as u64);
    assert_eq!(
        (&read["clat_ns"]["min"], &read["clat_ns"]["max"]),
        (&1_000_000.into(), &1_000_000.into())
    );
    assert_eq!(read["clat_ns"]["mean"], 1e6);
    assert_eq!(read["slat_ns"]["max"], 0);
    // 50 requests in each of 19 whole half seconds.
    assert_eq!(
        (&read["iops_min"], &read["iops_max"], &read["iops_samples"]),
        (&100.into(), &100.into(), &19.into())
    );
    assert_eq!(
        (&read["bw_min"], &read["bw_mean"]),
        (&400.into(), &400.0.into())
    );
    assert_eq!(jobs[0]["iodepth_level"]["1"], 100.0);
    assert_eq!(jobs[0]["latency_ms"]["2"], 100.0);
    assert_eq!(jobs[0]["elapsed"], 12);
    assert_eq!(jobs[0]["write"]["total_ios"], 0);
    // What both directions and the flushes have is what the stream has.
    let all: f64 = ["read", "write", "trim", "sync"]
        .iter()
        .map(|op| number(&jobs[1], &format!("/{op}/total_ios")))
        .sum();
    assert_eq!(all, number(&result, "/by_stream/mixed/count"));
    let iops = number(&jobs[1], "/read/iops")
        + number(&jobs[1], "/write/iops")
        + number(&jobs[1], "/sync/total_ios") / number(&result, "/by_stream/mixed/measured_s");
    assert!((iops - number(&result, "/by_stream/mixed/iops")).abs() < 1e-6);
    assert!(number(&jobs[1], "/sync/total_ios") > 0.0);
    assert_eq!(number(&jobs[1], "/read/bw_agg"), 100.0);
    // The report costs the results nothing.
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("job.fio"), JOBS).expect("a file");
    let plain = outcome_of(
        &from_text_in(
            format!("[workload]\nfio = \"job.fio\"\n{DEVICE}"),
            folder.path(),
        ),
        &checked(),
    );
    assert_eq!(
        plain.expect("it runs").digest(),
        result["digest"].as_str().expect("text")
    );
}

#[test]
fn percentiles_are_those_of_the_results() {
    // One direction in a stream of its own, whose response times vary: four users at a device that serves one.
    let text = format!(
        "[[workload.synthetic.stream]]\nname = \"a\"\nrequests = 5000\narrivals = {{ poisson = \"1.5 ms\" }}\n[[workload.synthetic.stream]]\nname = \"b\"\nrequests = 500\narrivals = {{ poisson = \"15 ms\" }}\nreads = 0.0\n[measure]\nwarmup = \"10 %\"\n{DEVICE}"
    );
    let (result, report) = reported(&text, Path::new("."));
    for (index, (name, direction)) in [("a", "read"), ("b", "write")].into_iter().enumerate() {
        let job = &report["jobs"][index];
        assert_eq!(job["jobname"], name);
        let times = &result["by_stream"][name]["response_ms"];
        let of_fio = &job[direction]["lat_ns"];
        assert_eq!(
            job[direction]["total_ios"],
            result["by_stream"][name]["count"]
        );
        for (ours, fios) in [
            ("p50", "50.000000"),
            ("p90", "90.000000"),
            ("p95", "95.000000"),
            ("p99", "99.000000"),
            ("p999", "99.900000"),
        ] {
            assert_eq!(
                number(&of_fio["percentile"], &format!("/{fios}")) / 1e6,
                number(times, &format!("/{ours}")),
                "{name} {ours}"
            );
        }
        assert_eq!(number(of_fio, "/max") / 1e6, number(times, "/max"));
        assert!((number(of_fio, "/mean") / 1e6 - number(times, "/mean")).abs() < 1e-9);
        assert!((number(of_fio, "/stddev") / 1e6 - number(times, "/std")).abs() < 1e-9);
        assert!(
            (number(job, &format!("/{direction}/iops"))
                - number(&result["by_stream"][name], "/iops"))
            .abs()
                < 1e-9
        );
        let list = of_fio["percentile"].as_object().expect("percentiles");
        assert_eq!(list.len(), 17);
        let values: Vec<f64> = list.values().filter_map(Value::as_f64).collect();
        assert!(values.is_sorted());
        for key in ["iodepth_level", "iodepth_submit", "iodepth_complete"] {
            let levels = job[key].as_object().expect("levels").values();
            let sum: f64 = levels.filter_map(Value::as_f64).sum();
            assert!((sum - 100.0).abs() < 1e-9, "{key}");
        }
        let classes = ["latency_ns", "latency_us", "latency_ms"].into_iter();
        let sum: f64 = classes
            .flat_map(|unit| job[unit].as_object().expect("classes").values())
            .filter_map(Value::as_f64)
            .sum();
        assert!((sum - 100.0).abs() < 1e-9);
    }
}

#[test]
fn loads_without_jobs_have_one() {
    for (load, name, rw) in [
        (
            "requests = 300\narrivals = { constant = \"2 ms\" }\nreads = 0.7\n",
            "load",
            Some("randrw"),
        ),
        (
            "name = \"x\"\nrequests = 300\naddress = \"sequential\"\narrivals = { closed = { users = 3 } }\n",
            "x",
            Some("read"),
        ),
    ] {
        let (result, report) = reported(
            &format!("[workload.synthetic]\n{load}{DEVICE}"),
            Path::new("."),
        );
        let jobs = report["jobs"].as_array().expect("jobs");
        assert_eq!((jobs.len(), jobs[0]["jobname"].as_str()), (1, Some(name)));
        assert_eq!(jobs[0]["job options"]["rw"].as_str(), rw);
        let count = number(&jobs[0], "/read/total_ios") + number(&jobs[0], "/write/total_ios");
        assert_eq!(count, 300.0);
        assert_eq!(report["disk_util"][0]["name"], "simple");
        let util = number(&report, "/disk_util/0/util") / 100.0;
        assert!((util - number(&result, "/devices/simple/utilisation")).abs() < 1e-9);
    }
}
