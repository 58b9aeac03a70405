//! DiskSim's own systems of several drives, whole: its mean responses.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::reference::reference;
use crate::support::{Outcome, RunOptions, from_file, outcome_of};

/// A system with its trace.
struct Known {
    setup: &'static str,
    trace: &'static str,
    /// DiskSim 4.0's "Overall I/O System Response time average", ms.
    mean: f64,
    /// The requests that it counts.
    counted: u64,
    devices: usize,
}

const HP_WEEK: Known = Known {
    setup: "hplajw",
    trace: "ajw.1week.srt",
    mean: 48.786,
    counted: 44_517,
    devices: 2,
};

const ASCII: Known = Known {
    setup: "ascii",
    trace: "ascii.trace",
    mean: 13.767,
    counted: 99_999,
    devices: 18,
};

/// How far our mean may be from DiskSim's, as a share of it: it loses a little of its platters' phase with every sector.
const TOLERANCE: f64 = 0.01;

impl Known {
    fn run(&self, set: &[&str]) -> Outcome {
        let options = RunOptions {
            trace: Some(reference(&format!("disksim/{}", self.trace))),
            set: set.iter().map(|&text| text.to_owned()).collect(),
            ..RunOptions::default()
        };
        let setup: PathBuf = reference(&format!("disksim/{}.parv", self.setup));
        outcome_of(&from_file(setup), &options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Its records of drivers, by the number of the device.
    fn drivers<'o>(&self, outcome: &'o Outcome) -> Vec<&'o Value> {
        let driver = |number: usize| {
            let devices = outcome.get("devices").expect("devices");
            &devices[format!("array.member[{number}].driver")]
        };
        (0..self.devices).map(driver).collect()
    }

    fn check(&self, outcome: &Outcome) {
        let mean = outcome.get("response_ms").expect("times")["mean"].as_f64();
        let mean = mean.expect("a number");
        println!("{}: {mean} ms, DiskSim {} ms", self.setup, self.mean);
        assert!((mean / self.mean - 1.0).abs() < TOLERANCE, "{mean}");
        assert_eq!(outcome.completed(), self.counted);
        // Requests are each for one drive: the drivers' responses are the host's.
        let drivers = self.drivers(outcome);
        let sum = |key: &str| -> f64 {
            let times = drivers.iter();
            times
                .map(|driver| driver["response_ms"][key].as_f64().expect("a number"))
                .sum()
        };
        let total = outcome.get("response_ms").expect("times")["total"].as_f64();
        assert!((sum("total") - total.expect("a number")).abs() < 1e-3);
        for (number, driver) in drivers.iter().enumerate() {
            assert_eq!(driver["name"], format!("disk{number}"));
        }
    }
}

fn warned(outcome: &Outcome, told: &str) -> bool {
    let warnings = outcome.get("warnings").expect("warnings");
    let warnings = warnings.as_array().expect("a list");
    warnings
        .iter()
        .any(|text| text.as_str().is_some_and(|text| text.contains(told)))
}

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn the_week_of_the_workstation_has_disksims_mean() {
    let outcome = HP_WEEK.run(&[]);
    HP_WEEK.check(&outcome);
    assert!(warned(&outcome, "as blocks of 512 bytes"));
    // DiskSim's means of the two drives.
    let drivers = HP_WEEK.drivers(&outcome);
    for (driver, counted, response, access) in [
        (drivers[0], 42_250, 50.922, 12.6963),
        (drivers[1], 2_267, 8.977, 8.7757),
    ] {
        assert_eq!(driver["completed"], counted);
        for (key, mean) in [("response_ms", response), ("physical_access_ms", access)] {
            let found = driver[key]["mean"].as_f64().expect("a number");
            println!("{key} {found}, DiskSim {mean}");
            assert!((found / mean - 1.0).abs() < TOLERANCE, "{key}: {found}");
        }
    }
}

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn the_system_of_eighteen_drives_has_disksims_mean() {
    ASCII.check(&ASCII.run(&["workload.format=disksim-ascii"]));
}
