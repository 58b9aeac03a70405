//! Recordings made by hand, replayed on small drives: times, warnings, and what is refused.

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;

use diskwright::devices::drives;
use diskwright::host::Progress;
use diskwright::runs::validate::{ValidateOptions, Validation, validate};

/// 10 ms a revolution and 100 sectors on each of the tracks; a seek takes 5 ms whatever its distance.
const DRIVE: &str = r#"
name = "a small drive"
rotation = "6000 rpm"
overhead = { read_after_read = "1 ms", read_after_write = "2 ms", write_after_read = "3 ms", write_after_write = "4 ms" }
interface = { overlapped = false }
[heads]
switch = "1 ms"
[seek]
constant = "5 ms"
[layout]
surfaces = 1
cylinders = 10
[[layout.zone]]
cylinders = [0, 9]
sectors_per_track = 100
"#;

/// Files of one test, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder =
            std::env::temp_dir().join(format!("diskwright-validate-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        Folder(folder)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a temporary file");
        path
    }

    /// The validation of a drive by a recording.
    fn validate(&self, drive: &str, recording: &str, set: &[&str]) -> Result<Validation, String> {
        let drive = self.file("drive.toml", drive);
        let trace = self.file("drive.trace", recording);
        let options = ValidateOptions {
            set: set.iter().map(|&text| text.to_owned()).collect(),
            format: Some("disksim-recording".to_owned()),
            picture: true,
        };
        let drive = drive.to_str().expect("a path of plain letters");
        validate(drive, &trace, &options, &mut ()).map_err(|error| error.to_string())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left in a temporary folder harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn number(found: &Validation, pointer: &str) -> f64 {
    let value = found.json().pointer(pointer);
    value
        .and_then(serde_json::Value::as_f64)
        .unwrap_or_else(|| panic!("{pointer}"))
}

fn close(found: &Validation, pointer: &str, wanted: f64) {
    let value = number(found, pointer);
    assert!(
        (value - wanted).abs() < 1e-9,
        "{pointer}: {value} for {wanted}"
    );
}

/// The gap after each request is counted from its simulated completion, whatever the recorded time was.
#[test]
fn requests_follow_the_simulated_completions() {
    let folder = Folder::new("times");
    // Sector 0 is under the head at time 0 and every 10 ms. The first read, ready at 1 ms, waits until 10 and ends at 10.1.
    // 4.9 ms later, at 15, the second is ready at 16, waits until 20 for sector 0 and ends at 20.2. The write comes
    // at 30, is ready at 33, and finds sector 50 at 35.
    let recording = "R Hit 0 1 10100 4900\nR Miss 0 2 9999999 9800\nW Hit 50 1 4100 777\n";
    let found = folder.validate(DRIVE, recording, &[]).expect("sound");
    close(&found, "/simulated_mean_ms", (10.1 + 5.2 + 5.1) / 3.0);
    close(&found, "/recorded_mean_ms", (10.1 + 9_999.999 + 4.1) / 3.0);
    close(&found, "/simulated_s", 0.0351);
    close(&found, "/simulated_ms/max", 10.1);
    close(&found, "/recorded_ms/max", 9_999.999);
    close(&found, "/share_within_0_1_ms", 1.0 / 3.0);
    close(&found, "/error_mean_ms", (0.0 - 9_994.799 + 1.0) / 3.0);
    assert_eq!(number(&found, "/requests"), 3.0);
    let services: Vec<_> = found.json()["kinds"]["service_and_predecessor"]
        .as_array()
        .expect("kinds")
        .iter()
        .map(|kind| kind["name"].as_str().expect("a name"))
        .collect();
    let expected = [
        "read miss after read",
        "read miss after nothing",
        "media write after read",
    ];
    assert_eq!(services, expected);
}

#[test]
fn a_drive_that_is_as_recorded_has_no_demerit() {
    let folder = Folder::new("exact");
    let recording = "R Hit 0 1 10100 4900\nR Hit 0 2 5200 9800\nW Hit 50 1 5100 777\n";
    let found = folder.validate(DRIVE, recording, &[]).expect("sound");
    assert_eq!(found.rms_demerit_ms(), 0.0);
    close(&found, "/relative_demerit", 0.0);
    close(&found, "/share_within_0_1_ms", 1.0);
    close(&found, "/error_rms_ms", 0.0);
    // A millisecond more before each read moves the phase: the same reads, which wait for the platter, end as before.
    let moved = folder
        .validate(DRIVE, recording, &["overhead.read_after_read=2 ms"])
        .expect("sound");
    assert_eq!(moved.rms_demerit_ms(), 0.0);
    let slower = folder
        .validate(DRIVE, recording, &["overhead.write_after_read=6 ms"])
        .expect("sound");
    assert!(slower.rms_demerit_ms() > 1.0, "{}", slower.rms_demerit_ms());
}

#[test]
fn the_buffer_of_the_drive_is_used() {
    let folder = Folder::new("buffer");
    let drive = format!(
        "{DRIVE}[buffer]\nsegments = 2\nsegment_size = \"50 blocks\"\nread_ahead = {{ until = \"segment\" }}\n\
         write = {{ complete = \"buffered\" }}\n"
    );
    // The second read comes when three blocks and a half have been read ahead, the third when all have.
    let recording = "R Hit 0 8 1 350\nR Hit 8 8 1 100000\nR Hit 16 8 1 100000\nW Hit 500 8 1 0\n";
    let names = |found: &Validation| -> Vec<String> {
        let kinds = found.json()["kinds"]["service"]
            .as_array()
            .expect("kinds")
            .clone();
        kinds
            .iter()
            .map(|kind| format!("{} {}", kind["name"], kind["requests"]))
            .collect()
    };
    let found = folder.validate(&drive, recording, &[]).expect("sound");
    assert_eq!(
        names(&found),
        [
            "\"read hit\" 1",
            "\"partial hit\" 1",
            "\"read miss\" 1",
            "\"buffered write\" 1"
        ]
    );
    let off = folder
        .validate(&drive, recording, &["buffer=false"])
        .expect("sound");
    assert_eq!(names(&off), ["\"read miss\" 3", "\"media write\" 1"]);
    let warned = off.json()["notes"].to_string();
    assert!(warned.contains("no buffer"), "{warned}");
    assert!(!found.json()["notes"].to_string().contains("no buffer"));
}

/// Requests beyond the end are left out and told of; their time passes as it was recorded.
#[test]
fn what_does_not_fit_the_drive_is_left_out() {
    let folder = Folder::new("beyond");
    let fits = "R Hit 999 1 10000 0\n";
    let recording = format!(
        "R Hit 999 2 3000 2000\n{fits}R Hit 18446744073709551615 1 1 1\nR Hit 0 9999999999 1 1\n{fits}"
    );
    let found = folder.validate(DRIVE, &recording, &[]).expect("two fit");
    assert_eq!(number(&found, "/requests"), 2.0);
    assert_eq!(number(&found, "/beyond_the_end"), 3.0);
    let warned = found.json()["warnings"].to_string();
    for word in ["3 of 5 requests", "1000 blocks", "line 1"] {
        assert!(warned.contains(word), "{warned}");
    }
    // The first to be issued comes 5 ms after the start: ready at 6, arrived at 11, it waits for sector 99 until 19.9.
    close(&found, "/simulated_ms/max", 20.0 - 5.0);
    let error = folder
        .validate(DRIVE, "R Hit 5000 1 1 1\nR Hit 6000 1 1 1\n", &[])
        .unwrap_err();
    for word in [
        "all 2 requests",
        "1000 blocks",
        "another drive",
        "drive.trace",
    ] {
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn sectors_larger_than_blocks_are_warned_of() {
    let folder = Folder::new("sectors");
    let recording = "R Hit 0 8 1 1\nR Hit 8 16 1 1\nR Hit 4 8 1 1\nR Hit 8 4 1 1\n";
    let found = folder
        .validate(DRIVE, recording, &["sector_size=\"4 KiB\""])
        .expect("sound");
    let warned = found.json()["warnings"].to_string();
    assert!(
        warned.contains("sectors of 4096 bytes") && warned.contains("2 of 4"),
        "{warned}"
    );
    assert_eq!(number(&found, "/sector_bytes"), 4_096.0);
    let plain = folder.validate(DRIVE, recording, &[]).expect("sound");
    assert!(!plain.json()["warnings"].to_string().contains("sectors of"));
}

#[test]
fn arms_that_are_left_out_are_warned_of() {
    let folder = Folder::new("arms");
    let recording = "R Hit 5000 1 1 1\n";
    let warned = |name: &str| {
        let drive = drives::text(name).expect("a drive of the library");
        let found = folder.validate(drive, recording, &[]).expect("sound");
        found.json()["warnings"].to_string().contains("2 arms")
    };
    assert!(warned("exos-2x18"));
    assert!(!warned("exos-x20"));
}

#[test]
fn what_is_wrong_with_a_recording_is_said_with_its_line() {
    let folder = Folder::new("damaged");
    let good = "R Hit 0 1 10100 4900\n";
    for (recording, words) in [
        (String::new(), &["no requests", "drive.trace"][..]),
        (
            format!("{good}{good}R Hit 0 1 x 4900\n"),
            &["service", "drive.trace:3:11"],
        ),
        (format!("{good}R Hit 0 1 10"), &["gap", "drive.trace:2"]),
        (
            format!("{good}R Hit 0 0 10 10\n"),
            &["no blocks", "drive.trace:2"],
        ),
    ] {
        let error = folder.validate(DRIVE, &recording, &[]).unwrap_err();
        for word in words {
            assert!(error.contains(word), "{recording:?}: {error}");
        }
    }
    let drive = folder.file("drive.toml", DRIVE);
    let drive = drive.to_str().expect("a path of plain letters");
    let ascii = folder.file("ascii.trace", "0.0 0 0 8 1\n10.0 0 8 8 1\n");
    let error = validate(drive, &ascii, &ValidateOptions::default(), &mut ())
        .unwrap_err()
        .to_string();
    for word in ["disksim-ascii", "service time", "disksim-recording"] {
        assert!(error.contains(word), "{error}");
    }
    let missing = folder.0.join("missing.trace");
    let error = validate(drive, &missing, &ValidateOptions::default(), &mut ()).unwrap_err();
    assert!(error.to_string().contains("missing.trace"), "{error}");
    let error = validate("cheeta-9lp", &ascii, &ValidateOptions::default(), &mut ()).unwrap_err();
    assert!(error.to_string().contains("cheetah-9lp"), "{error}");
}

/// Gaps without end lead past the end of simulated time, which is an error and no panic.
#[test]
fn gaps_of_centuries_are_refused() {
    let folder = Folder::new("centuries");
    let long = "R Hit 0 1 1 9300000000000000\nR Hit 0 1 1 1\n";
    let error = folder.validate(DRIVE, long, &[]).unwrap_err();
    assert!(error.contains("simulated time"), "{error}");
}

struct Enough;

impl Progress for Enough {
    fn update(&mut self, _: u64, _: Option<u64>) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}

#[test]
fn whoever_has_had_enough_stops_it() {
    let folder = Folder::new("enough");
    let trace = folder.file("drive.trace", "R Hit 0 1 10100 4900\n");
    let stopped = validate(
        "cheetah-9lp",
        &trace,
        &ValidateOptions::default(),
        &mut Enough,
    );
    assert!(matches!(
        stopped,
        Err(diskwright::base::error::Error::Interrupted)
    ));
}

#[test]
fn the_picture_has_both_distributions() {
    let folder = Folder::new("picture");
    let recording = "R Hit 0 1 10100 4900\nR Hit 0 2 5200 9800\nW Hit 50 1 6100 777\n";
    let found = folder.validate(DRIVE, recording, &[]).expect("sound");
    let picture = found.picture().expect("asked for");
    assert_eq!(picture["recorded"]["count"], 3);
    assert_eq!(picture["simulated"]["count"], 3);
    let shares = picture["quantiles"]["share"].as_array().expect("shares");
    assert_eq!(
        shares.len(),
        picture["quantiles"]["recorded_ms"]
            .as_array()
            .expect("times")
            .len()
    );
    // 198 in steps of 0.005 below 0.99, and all hundred and one from there on.
    assert!((298..=300).contains(&shares.len()), "{}", shares.len());
    let requests = picture["places"]["requests"].as_array().expect("places");
    assert_eq!(
        requests
            .iter()
            .filter_map(serde_json::Value::as_u64)
            .sum::<u64>(),
        3
    );
}
