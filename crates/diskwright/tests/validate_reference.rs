//! Recordings of three real drives: is the library's model of each as close to its drive as DiskSim's is, and does every part
//! of the model bring it there?

mod reference_data;

use std::fmt::Write;

use diskwright::validate::{ValidateOptions, Validation, validate};
use reference_data::reference;

/// The recording of a drive.
struct Recording {
    drive: &'static str,
    file: &'static str,
    requests: u64,
    zones: usize,
    /// DiskSim's demerit, ms.
    disksim_ms: f64,
}

const RECORDINGS: [Recording; 3] = [
    Recording {
        drive: "cheetah-9lp",
        file: "disksim/cheetah9LP.trace",
        requests: 10_000,
        zones: 11,
        disksim_ms: 0.1071,
    },
    Recording {
        drive: "ibm-18es",
        file: "disksim/ibm18es.trace",
        requests: 10_000,
        zones: 15,
        disksim_ms: 0.1361,
    },
    Recording {
        drive: "hp-c3323a",
        file: "disksim/hp_c3323a.trace",
        requests: 9_074,
        zones: 8,
        disksim_ms: 0.3057,
    },
];

/// The validation of a drive with changes; `None` where the recording is not at hand.
fn changed(recording: &Recording, set: &[String]) -> Option<Validation> {
    let trace = reference(recording.file)?;
    let options = ValidateOptions {
        set: set.to_vec(),
        ..ValidateOptions::default()
    };
    let found = validate(recording.drive, &trace, &options, &mut ());
    Some(found.unwrap_or_else(|error| panic!("{} {set:?}: {error}", recording.drive)))
}

#[test]
fn print_all() {
    for recording in &RECORDINGS {
        let Some(own) = changed(recording, &[]) else {
            continue;
        };
        println!("{:#}", own.json());
    }
}
