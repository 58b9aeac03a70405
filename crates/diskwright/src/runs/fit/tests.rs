use std::fs;
use std::path::PathBuf;

use super::*;
use crate::base::random::Stream;
use crate::base::units::Time;
use crate::engine::request::Op;
use crate::runs::validate::{ValidateOptions, validate};

const DRIVE: &str = "cheetah-9lp";
const FOLLOWED: Follow = Follow::Recorded {
    gain: 1.0,
    gate: 0.1,
};

/// A file of its own for a test, which takes it away.
struct Trace(PathBuf);

impl Trace {
    fn new(name: &str, text: &str) -> Trace {
        let name = format!("diskwright-fit-{}-{name}.trace", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, text).expect("a folder for temporary files");
        Trace(path)
    }

    fn open(&self) -> Comparison {
        Comparison::open(DRIVE, &self.0, None).expect("a recording")
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Requests of which some are sequential, as lines of a recording, with these service times in ns or else 1 ms.
fn lines(services: Option<&[PredictedRequest]>) -> String {
    let mut stream = Stream::new(3, "requests");
    let mut next = 0;
    let line = |number: usize| {
        let (op, blocks) = (
            if stream.unit() < 0.6 { 'R' } else { 'W' },
            1 + stream.below(30),
        );
        let lbn = match stream.below(3) {
            0 => next,
            _ => stream.below(17_000_000),
        };
        next = lbn + blocks;
        let gap = 30_000 + stream.below(50_000);
        let service = services.map_or(1_000_000, |services| services[number].predicted.ns());
        let us = service as f64 / 1_000.0;
        format!("{op} Hit {lbn} {blocks} {us:.3} {gap}\n")
    };
    (0..600).map(line).collect()
}

fn changes(pairs: &[(&str, Value)]) -> Changes {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect()
}

/// The recording of the drive with changes.
fn recorded(name: &str, changed: &Changes) -> Trace {
    let asked = Trace::new(&format!("{name}-asked"), &lines(None));
    let services = asked.open().predict(changed, Follow::Simulated);
    Trace::new(name, &lines(Some(&services.expect("sound changes"))))
}

fn errors_ns(comparison: &Comparison, changed: &Changes, follow: Follow) -> Vec<i64> {
    let predicted = comparison.predict(changed, follow).expect("sound changes");
    let pairs = comparison.requests().iter().zip(&predicted);
    pairs
        .map(|(recorded, predicted)| recorded.service.ns() as i64 - predicted.predicted.ns() as i64)
        .collect()
}

#[test]
fn a_replay_is_that_of_a_validation() {
    let trace = recorded(
        "replay",
        &changes(&[
            ("overhead.read_after_read", "0.5 ms".into()),
            ("interface.block_time", "0.09 ms".into()),
        ]),
    );
    let options = ValidateOptions::default();
    let found = validate(DRIVE, &trace.0, &options, &mut ()).expect("a recording");
    let comparison = trace.open();
    let all = comparison.requests().len();
    let demerit = comparison.demerit_ms(&Changes::new(), 0..all);
    assert_eq!(demerit.expect("sound"), found.rms_demerit_ms());
    let errors = errors_ns(&comparison, &Changes::new(), Follow::Simulated);
    let squares: f64 = errors
        .iter()
        .map(|&error| (error as f64 / 1e6).powi(2))
        .sum();
    let rms = (squares / all as f64).sqrt();
    let of_validation = found.json()["error_rms_ms"].as_f64().expect("a number");
    assert!((rms - of_validation).abs() < 1e-9, "{rms} {of_validation}");
    assert!(rms > 0.1, "another drive was recorded: {rms}");
}

#[test]
fn a_drive_that_recorded_itself_is_predicted_exactly() {
    let trace = recorded("itself", &Changes::new());
    let comparison = trace.open();
    let gentle = Follow::Recorded {
        gain: 0.3,
        gate: 0.1,
    };
    for follow in [Follow::Simulated, FOLLOWED, gentle] {
        let errors = errors_ns(&comparison, &Changes::new(), follow);
        assert!(errors.iter().all(|error| *error == 0), "{follow:?}");
    }
}

#[test]
fn an_error_of_one_request_does_not_reach_the_next() {
    // Hits take longer than the model has it: in a replay all that comes after one meets the platter elsewhere.
    let real = changes(&[
        ("buffer.read.hit_after_read", "1.3 ms".into()),
        ("buffer.read.hit_after_write", "1.9 ms".into()),
        ("buffer.write.buffered_after_read", "2 ms".into()),
    ]);
    let trace = recorded("step", &real);
    let comparison = trace.open();
    let on_medium = comparison
        .predict(&Changes::new(), FOLLOWED)
        .expect("sound");
    let share_of_exact = |follow| {
        let errors = errors_ns(&comparison, &Changes::new(), follow);
        let pairs = errors.iter().zip(&on_medium);
        let misses: Vec<i64> = pairs
            .filter(|(_, request)| request.on_medium)
            .map(|(error, _)| *error)
            .collect();
        assert!(misses.len() > 200);
        let exact = misses.iter().filter(|error| error.abs() <= 2);
        exact.count() as f64 / misses.len() as f64
    };
    let (followed, replayed) = (share_of_exact(FOLLOWED), share_of_exact(Follow::Simulated));
    assert!(followed > 0.9, "{followed}");
    assert!(replayed < 0.7, "{replayed}");
}

#[test]
fn the_circumstances_of_a_request_are_those_of_its_place() {
    let text = "R Hit 0 4 1000 20000\nR Hit 17000000 4 1000 20000\nR Hit 17000000 4 1000 20000\n";
    let trace = Trace::new("place", text);
    let comparison = trace.open();
    let found = comparison
        .predict(&Changes::new(), Follow::Simulated)
        .expect("sound");
    assert_eq!(found[0].distance, 0);
    assert!(found[1].distance > 6_000 && found[1].zone > found[0].zone);
    assert!(found[1].on_medium && found[1].first_wait.is_some());
    assert!(!found[2].on_medium && found[2].first_wait.is_none());
    assert!(
        found
            .iter()
            .all(|request| (0.0..1.0).contains(&request.angle))
    );
    assert!(found.iter().all(|request| request.tracks == 1));
    assert_eq!(comparison.requests()[0].command.op, Op::Read);
    assert_eq!(comparison.requests()[1].wait, Time::from_ms(20));
}

#[test]
fn changes_go_where_their_paths_lead() {
    let trace = recorded("changes", &Changes::new());
    let comparison = trace.open();
    let changed = comparison
        .changed(&changes(&[
            ("heads.switch", "2 ms".into()),
            ("layout.zone[1].track_skew", 5.into()),
            ("interface.write_block_time", "0.2 ms".into()),
            (
                "buffer.read.late_hits",
                serde_json::json!({"share": 0.5, "by": "0.1 ms"}),
            ),
            ("buffer.read_ahead.most", Value::Null),
        ]))
        .expect("sound");
    assert_eq!(changed.heads.switch, Time::from_ms(2));
    assert_eq!(changed.layout.zones[1].track_skew, 5);
    let time = changed.interface.write_block_time;
    assert_eq!(time, Some(Time::from_us(200)));
    let read = changed.buffer.expect("a buffer").read;
    assert_eq!(read.late_hits.expect("late hits").share, 0.5);
    for (path, value) in [
        ("layout.zone[99].track_skew", 5.into()),
        ("layout.zone[x].track_skew", 5.into()),
        ("heads.switch.more", 5.into()),
        ("heads.swich", "1 ms".into()),
        ("heads.switch", "1 parsec".into()),
    ] {
        let error = comparison
            .changed(&changes(&[(path, value)]))
            .expect_err(path);
        assert!(error.to_string().contains("drive"), "{path}: {error}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    for (text, words) in [
        ("R Hit 99999999 4 1000 20000\n", "17783240"),
        ("R Hit 17783239 4 1000 20000\n", "17783240"),
    ] {
        let trace = Trace::new("refused", text);
        let error = Comparison::open(DRIVE, &trace.0, None).err();
        let error = error.expect(text).to_string();
        assert!(error.contains(words), "{error}");
    }
    let ascii = Trace::new("no-times", "0.0 0 100 4 1\n10.0 0 200 4 1\n");
    let error = Comparison::open(DRIVE, &ascii.0, Some("disksim-ascii"));
    let error = error.err().expect("no service times").to_string();
    assert!(error.contains("service time"), "{error}");
    let trace = Trace::new("no-buffer", &lines(None));
    let error = Comparison::open("barracuda-2tb", &trace.0, None).err();
    let error = error.expect("a pool").to_string();
    assert!(error.contains("segmented buffer"), "{error}");
}
