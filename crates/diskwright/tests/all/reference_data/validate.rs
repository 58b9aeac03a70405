//! Recordings of three real drives: is the library's model of each as close to its drive as DiskSim's is, and does each part
//! of the model do its share?

use std::fs;
use std::path::Path;

use crate::support::reference::reference;
use crate::support::simulation::drive_summary;
use diskwright::runs::validate::{ValidateOptions, Validation, validate};
use serde_json::Value;

/// The recording of a drive.
struct Recording {
    drive: &'static str,
    file: &'static str,
    set_up: &'static str,
    requests: u64,
    /// DiskSim's demerit, ms.
    disksim_ms: f64,
}

const RECORDINGS: [Recording; 3] = [
    Recording {
        drive: "cheetah-9lp",
        file: "disksim/cheetah9LP.trace",
        set_up: "disksim/cheetah9LP.parv",
        requests: 10_000,
        disksim_ms: 0.1071,
    },
    Recording {
        drive: "ibm-18es",
        file: "disksim/ibm18es.trace",
        set_up: "disksim/ibm18es.parv",
        requests: 10_000,
        disksim_ms: 0.1361,
    },
    Recording {
        drive: "hp-c3323a",
        file: "disksim/hp_c3323a.trace",
        set_up: "disksim/hp_c3323a.parv",
        requests: 9_074,
        disksim_ms: 0.3057,
    },
];

/// The validation of a drive with changes.
fn changed(recording: &Recording, set: &[String]) -> Validation {
    validated(recording.drive, set, &reference(recording.file))
}

fn validated(drive: &str, set: &[String], trace: &Path) -> Validation {
    let options = ValidateOptions {
        set: set.to_vec(),
        ..ValidateOptions::default()
    };
    let found = validate(drive, trace, &options, &mut ());
    found.unwrap_or_else(|error| panic!("{drive} {set:?}: {error}"))
}

/// Nothing is fitted: the drives are as the library has them.
#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn the_library_is_as_close_to_the_drives_as_disksim() {
    for recording in &RECORDINGS {
        let found = changed(recording, &[]);
        let (drive, json) = (recording.drive, found.json());
        let demerit = found.rms_demerit_ms();
        assert!(demerit <= 1.01 * recording.disksim_ms, "{drive}: {demerit}");
        // Nor is it closer: it is the same model.
        assert!(demerit >= 0.99 * recording.disksim_ms, "{drive}: {demerit}");
        assert_eq!(json["requests"], recording.requests, "{drive}");
        // Every recorded request lies within the drive.
        assert_eq!(json["beyond_the_end"], 0, "{drive}");
        let relative = json["relative_demerit"].as_f64().expect("a number");
        let mean = json["recorded_mean_ms"].as_f64().expect("a number");
        assert!((relative * mean - demerit).abs() < 1e-12, "{drive}");
        let tenths = json["demerit_by_tenth"].as_array().expect("tenths");
        let sum: f64 = tenths.iter().filter_map(|share| share.as_f64()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{drive}");
        assert!(
            demerit <= json["error_rms_ms"].as_f64().expect("a number"),
            "{drive}: no pairing of two samples is closer than that of the sorted ones"
        );
    }
}

/// The same straight from DiskSim's files.
#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn a_set_up_is_as_close_as_the_librarys_drive() {
    for recording in &RECORDINGS {
        let found = changed(recording, &[]);
        let (set_up, trace) = (reference(recording.set_up), reference(recording.file));
        let set_up = set_up.to_str().expect("a path in Unicode");
        let imported = validated(set_up, &[], &trace);
        assert_eq!(imported.rms_demerit_ms(), found.rms_demerit_ms());
        let mean = |found: &Validation| found.json()["simulated_mean_ms"].clone();
        assert_eq!(mean(&imported), mean(&found));
    }
}

/// A drive to be changed: its number in [`RECORDINGS`], and its description.
struct Drive {
    number: usize,
    description: Value,
}

impl Drive {
    fn is_hp(&self) -> bool {
        self.number == 2
    }

    /// The same for every zone.
    fn zones(&self, set: &[&str]) -> Vec<String> {
        let zones = self.description["layout"]["zone"].as_array();
        let in_zone = |zone| {
            set.iter()
                .map(move |text| format!("layout.zone[{zone}].{text}"))
        };
        (0..zones.expect("zones").len()).flat_map(in_zone).collect()
    }

    /// `KEY` set to what the description has at `from`.
    fn copied(&self, key: &str, from: &[&str]) -> String {
        let value = from
            .iter()
            .fold(&self.description, |value, key| &value[key]);
        format!("{key}={value}")
    }

    /// A square root through the first and the last point of the seek curve.
    fn square_root(&self) -> String {
        let points = self.description["seek"]["table"]["points_ms"].as_array();
        let points = points.expect("a table");
        let at = |point: &Value| (point[0].as_f64().unwrap(), point[1].as_f64().unwrap());
        let ((_, first), (distance, last)) = (at(&points[0]), at(&points[points.len() - 1]));
        let b = (last - first) / (distance.sqrt() - 1.0);
        let a = first - b;
        format!(
            "seek={{ hp = {{ boundary = 100000, short_ms = [{a}, {b}], long_ms = [0.0, 0.0] }} }}"
        )
    }
}

/// A part of the models that is changed, and the demerits in ms that DiskSim has then, in the order of [`RECORDINGS`].
struct Change {
    name: &'static str,
    set: fn(&Drive) -> Vec<String>,
    disksim_ms: [Option<f64>; 3],
}

fn texts(set: &[&str]) -> Vec<String> {
    set.iter().map(|&text| text.to_owned()).collect()
}

const LATE_HITS: &str = "buffer.read.late_hits={ share = 0.33, by = \"0.18 ms\" }";

const CHANGES: &[Change] = &[
    Change {
        name: "none: the drive as it is",
        set: |_| Vec::new(),
        disksim_ms: [Some(0.107), Some(0.136), Some(0.306)],
    },
    Change {
        name: "no buffer",
        set: |_| texts(&["buffer=false"]),
        disksim_ms: [None, None, None],
    },
    Change {
        name: "writes complete on the medium; C3323A: once buffered",
        set: |drive| {
            if drive.is_hp() {
                vec![
                    "buffer.write.complete=buffered".to_owned(),
                    drive.copied(
                        "buffer.write.buffered_after_read",
                        &["overhead", "write_after_read"],
                    ),
                    drive.copied(
                        "buffer.write.buffered_after_write",
                        &["overhead", "write_after_write"],
                    ),
                ]
            } else {
                texts(&["buffer.write.complete=on-medium"])
            }
        },
        disksim_ms: [Some(2.472), Some(3.455), Some(4.130)],
    },
    Change {
        name: "no read-ahead",
        set: |_| texts(&["buffer.read_ahead.until=none"]),
        disksim_ms: [Some(0.789), Some(1.373), Some(2.499)],
    },
    Change {
        name: "the interface takes no time",
        set: |_| texts(&["interface.block_time=0 ms"]),
        disksim_ms: [Some(0.656), Some(0.666), Some(2.133)],
    },
    Change {
        name: "no overheads before the data",
        set: |_| {
            let mut set = texts(&[
                "buffer.read.hit_after_read=0 ms",
                "buffer.read.hit_after_write=0 ms",
                "buffer.write.buffered_after_read=0 ms",
                "buffer.write.buffered_after_write=0 ms",
            ]);
            for before in [
                "read_after_read",
                "read_after_write",
                "write_after_read",
                "write_after_write",
            ] {
                set.push(format!("overhead.{before}=0 ms"));
            }
            set
        },
        disksim_ms: [Some(0.419), Some(0.308), Some(2.669)],
    },
    Change {
        name: "a square root for the seek curve",
        set: |drive| vec![drive.square_root()],
        disksim_ms: [None, None, None],
    },
    Change {
        name: "no skew",
        set: |drive| drive.zones(&["track_skew=0", "cylinder_skew=0"]),
        disksim_ms: [Some(0.176), Some(0.266), Some(1.923)],
    },
    Change {
        name: "read-ahead to the end of the segment, over the request too",
        set: |_| {
            texts(&[
                "buffer.read_ahead.until=segment",
                "buffer.read_ahead.over_requested=true",
            ])
        },
        disksim_ms: [Some(0.183), None, None],
    },
    Change {
        name: "no overhead after the data",
        set: |_| texts(&["overhead.completion_read=0 ms"]),
        disksim_ms: [None, None, Some(0.434)],
    },
    Change {
        name: "after a write as after a read",
        set: |drive| {
            vec![
                drive.copied(
                    "overhead.read_after_write",
                    &["overhead", "read_after_read"],
                ),
                drive.copied(
                    "overhead.write_after_write",
                    &["overhead", "write_after_read"],
                ),
                drive.copied(
                    "buffer.read.hit_after_write",
                    &["buffer", "read", "hit_after_read"],
                ),
                drive.copied(
                    "buffer.write.buffered_after_write",
                    &["buffer", "write", "buffered_after_read"],
                ),
            ]
        },
        disksim_ms: [Some(0.123), Some(0.174), Some(0.271)],
    },
    Change {
        name: "no slipped sectors",
        set: |drive| drive.zones(&["slipped=[]"]),
        disksim_ms: [Some(0.115), None, None],
    },
    Change {
        name: "no empty fronts of zones",
        set: |drive| drive.zones(&["front=0"]),
        disksim_ms: [None, Some(0.157), Some(0.281)],
    },
    Change {
        name: "reads cross the interface once they are whole",
        set: |_| texts(&["buffer.bus.high_water=1.0"]),
        disksim_ms: [Some(0.129), Some(0.134), None],
    },
    Change {
        name: "no write settle",
        set: |_| texts(&["heads.write_settle=0 ms"]),
        disksim_ms: [Some(0.107), Some(0.136), Some(0.317)],
    },
    Change {
        name: "no head switch",
        set: |_| texts(&["heads.switch=0 ms"]),
        disksim_ms: [Some(0.107), Some(0.139), Some(0.315)],
    },
    Change {
        name: "read-ahead stops within a sector; C3323A: at its end",
        set: |drive| {
            vec![format!(
                "buffer.read_ahead.stops_within_sector={}",
                !drive.is_hp()
            )]
        },
        disksim_ms: [Some(0.107), Some(0.135), Some(0.263)],
    },
    Change {
        name: "sectors that pass during the wait for the first one are read",
        set: |_| texts(&["buffer.read_ahead.while_waiting=true"]),
        disksim_ms: [None, None, None],
    },
    Change {
        name: "a third of the hits 0.18 ms late",
        set: |_| texts(&[LATE_HITS]),
        disksim_ms: [None, None, None],
    },
    Change {
        name: "a block to the drive takes a tenth longer",
        set: |drive| {
            let tenth_more = ["0.1155 ms", "0.1111 ms", "0.16005 ms"][drive.number];
            vec![format!("interface.write_block_time={tenth_more}")]
        },
        disksim_ms: [None, None, None],
    },
    Change {
        name: "a head switch as long as the shortest seek",
        set: |drive| {
            let shortest = &drive.description["seek"]["table"]["points_ms"][0][1];
            vec![format!("heads.switch={shortest} ms")]
        },
        disksim_ms: [None, None, None],
    },
    Change {
        name: "no write joins another",
        set: |_| texts(&["buffer.write.appends=false"]),
        disksim_ms: [Some(0.107), Some(0.136), Some(0.306)],
    },
];

/// The figures of DiskSim have three decimals, and a few requests take another time there.
const TOLERANCE_MS: f64 = 0.0015;

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn a_change_of_each_part_moves_the_demerit_as_it_moves_disksims() {
    let page = include_str!("../../../../../docs/howto/validate.md");
    for change in CHANGES {
        let mut row = format!("| {} |", change.name);
        for (number, recording) in RECORDINGS.iter().enumerate() {
            let mut summary = drive_summary(recording.drive).expect("a drive of the library");
            let drive = Drive {
                number,
                description: summary["description"].take(),
            };
            let found = changed(recording, &(change.set)(&drive));
            let demerit = found.rms_demerit_ms();
            if let Some(expected) = change.disksim_ms[number] {
                let off = (demerit - expected).abs();
                assert!(
                    off <= TOLERANCE_MS,
                    "{}, {}: {demerit} for {expected}",
                    recording.drive,
                    change.name
                );
            }
            row += &format!(" {demerit:.3} |");
        }
        let is_shown = page.lines().any(|line| line.trim_end() == row);
        assert!(is_shown, "the handbook lacks: {row}");
    }
}

/// Values chosen on the first half of a recording: the drive's number in [`RECORDINGS`], and what is set.
const CHOSEN: &[(usize, &[&str])] = &[
    (0, &[]),
    (0, &[LATE_HITS]),
    (0, &[LATE_HITS, "heads.switch=0.9 ms"]),
    (1, &[]),
    (1, &["heads.switch=1.2 ms"]),
    (2, &[]),
    (
        2,
        &[
            "overhead.write_after_read=3.69 ms",
            "overhead.write_after_write=3.32 ms",
        ],
    ),
];

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn what_is_chosen_on_the_first_half_is_judged_on_the_second() {
    let page = include_str!("../../../../../docs/howto/validate.md");
    let folder = tempfile::tempdir().expect("a folder");
    for &(number, set) in CHOSEN {
        let recording = &RECORDINGS[number];
        let trace = reference(recording.file);
        let text = fs::read_to_string(&trace).expect("a text");
        let lines: Vec<_> = text.lines().collect();
        let (first, second) = lines.split_at(lines.len() / 2);
        let half = |name: &str, lines: &[&str]| {
            let path = folder.path().join(name);
            fs::write(&path, lines.join("\n") + "\n").expect("written");
            path
        };
        let traces = [half("first", first), half("second", second), trace];
        let values = if set.is_empty() {
            "none".to_owned()
        } else {
            set.iter()
                .map(|value| format!("`{value}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut row = format!("| `{}` | {values} |", recording.drive);
        for trace in &traces {
            let demerit = validated(recording.drive, &texts(set), trace).rms_demerit_ms();
            row += &format!(" {demerit:.3} |");
        }
        let is_shown = page.lines().any(|line| line.trim_end() == row);
        assert!(is_shown, "the handbook lacks: {row}");
    }
}
