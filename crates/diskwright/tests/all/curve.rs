//! A device of a measured curve stands for the drive that it was measured on.

use std::fmt::Write as _;
use std::fs;

use diskwright::runs::probe::{ProbeOptions, Probed, probe};

use crate::support::{RunOptions, from_text_in, simulation::run};

/// The mean access time and the mean response time, ms, of a load on a device.
fn means(device: &str, folder: &std::path::Path) -> (f64, f64) {
    let text = format!(
        "[workload.synthetic]\nrequests = 20_000\narrivals = {{ poisson = '40 ms' }}\nreads = 0.6\nsize = '1 blocks'\n\
         [measure]\nwarmup = 0\n[device.{device}"
    );
    let source = from_text_in(text, folder);
    let result = run(&source, &RunOptions::default(), &mut ()).expect("it runs");
    let result = result.json();
    let mean = |key: &str| result[key]["mean"].as_f64().expect("a number");
    (mean("access_ms"), mean("response_ms"))
}

#[test]
fn random_requests_take_as_long_as_on_the_drive() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ProbeOptions {
        only: vec!["curve".to_owned()],
        samples: 1_000,
        ..ProbeOptions::default()
    };
    let found = probe("travelstar-5k160", &options, &mut ()).expect("measured");
    let Probed::Disk(found) = found else {
        panic!("a hard disk");
    };
    let curves = found.curve.expect("asked for");
    for (name, points) in [("reads.csv", &curves.read), ("writes.csv", &curves.write)] {
        let mut text = "distance_blocks,mean_ms,low_ms,high_ms\n".to_owned();
        for point in points {
            let (low, high) = (point.low_ms, point.high_ms);
            let _ = writeln!(
                text,
                "{},{},{low},{high}",
                point.distance_blocks, point.mean_ms
            );
        }
        fs::write(folder.path().join(name), text).expect("written");
    }
    let files = "capacity = '160 GB'\nread = 'reads.csv'\nwrite = 'writes.csv'";
    let drive = "hdd]\ndrive = 'travelstar-5k160'\nbuffer = false\noverhead = '0 ms'\nqueue = { depth = 32, scheduler = 'fcfs' }";
    let (access, response) = means(drive, folder.path());
    for spread in [false, true] {
        let curve = format!("curve]\n{files}\nspread = {spread}");
        let (found, waited) = means(&curve, folder.path());
        // The standard error of 20,000 accesses that deviate by some 4 ms is 0.03 ms; the middle of the interval is not quite the mean.
        assert!(
            (found / access - 1.0).abs() < 0.015,
            "{spread}: {found} {access}"
        );
        // Without their spread, accesses make others wait less.
        let most = if spread { 0.04 } else { 0.08 };
        assert!(
            (waited / response - 1.0).abs() < most,
            "{spread}: {waited} {response}"
        );
    }
}
