//! Where the platters stand at the start: the first access waits for its sector from there.

use crate::support::{RunOptions, from_text, outcome_of};
use serde_json::Value;

/// Of ibm-18es-linear, 7200 rpm: the units of `model/rotation.md`.
const TURN: u64 = 60_000_000_000;
const RATE: u64 = 7200;
/// Sectors on a track.
const PER_TRACK: u64 = 312;

/// One read of the sector `lbn` of the first track, at time zero, with the head over it.
fn run(lbn: u64, seed: u64, angle: &str) -> Result<Value, diskwright::base::error::Error> {
    let text = format!(
        "seed = {seed}\n[workload.synthetic]\nrequests = 1\narrivals = {{ constant = \"1 s\" }}\nsize = \"1 block\"\n\
         address = {{ uniform = {{ from = {lbn}, blocks = 1 }} }}\n[measure]\nwarmup = 0\n\
         [device.hdd]\ndrive = \"ibm-18es-linear\"\n{angle}\n"
    );
    outcome_of(&from_text(text), &RunOptions::default()).map(|outcome| outcome.json())
}

fn part_ns(result: &Value, name: &str) -> u64 {
    let ms = result["parts_ms"][name].as_f64().expect("a part in ms");
    (ms * 1e6).round() as u64
}

#[test]
fn the_first_access_waits_from_the_angle_on() {
    for lbn in [0, 1, 100, 311] {
        // Exact parts of a turn, in units.
        for (angle, start) in [
            ("", 0),
            ("angle = 0", 0),
            ("angle = 0.0", 0),
            ("angle = 0.25", TURN / 4),
            ("angle = 0.1", TURN / 10),
            ("angle = 0.999", TURN / 1000 * 999),
        ] {
            let result = run(lbn, 1, angle).expect("the spec runs");
            assert_eq!(part_ns(&result, "seek"), 0);
            let edge = (lbn * TURN).div_ceil(PER_TRACK);
            let ready = start + RATE * part_ns(&result, "overhead");
            let way = (edge + 2 * TURN - ready % TURN) % TURN;
            assert_eq!(
                part_ns(&result, "rotation"),
                way.div_ceil(RATE),
                "{lbn} {angle}"
            );
        }
    }
}

#[test]
fn a_random_angle_is_the_seeds_and_uniform() {
    let digest =
        |seed| run(0, seed, "angle = \"random\"").expect("the spec runs")["digest"].clone();
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
    let waits: Vec<f64> = (0..400)
        .map(|seed| {
            part_ns(
                &run(0, seed, "angle = \"random\"").expect("runs"),
                "rotation",
            ) as f64
        })
        .collect();
    let turn = TURN as f64 / RATE as f64;
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    // Four standard deviations of the mean of 400 uniform waits.
    assert!(
        (mean - turn / 2.0).abs() < 4.0 * turn / (12.0f64 * 400.0).sqrt(),
        "{mean}"
    );
}

#[test]
fn the_effective_spec_says_the_angle_and_runs_again() {
    for (angle, shown) in [
        ("", "0.0"),
        ("angle = 0.3", "0.3"),
        ("angle = \"random\"", "\"random\""),
    ] {
        let result = run(5, 3, angle).expect("the spec runs");
        assert_eq!(result["spec"]["device"]["hdd"]["angle"].to_string(), shown);
        let again = run(5, 3, &format!("angle = {shown}")).expect("the spec runs");
        assert_eq!(again["digest"], result["digest"]);
    }
}

#[test]
fn an_angle_beyond_a_turn_is_refused_with_its_place() {
    for (angle, found) in [
        ("angle = 1", "an angle of 1 turns"),
        ("angle = 1.0", "an angle of 1 turns"),
        ("angle = -0.25", "an angle of -0.25 turns"),
        ("angle = -1", "an angle of -1 turns"),
        ("angle = nan", "an angle of NaN turns"),
        ("angle = \"anywhere\"", "\"anywhere\" is not"),
        ("angle = true", "found the boolean true"),
    ] {
        let error = run(0, 1, angle).expect_err(angle).to_string();
        for words in [found, "spec:11:9", "from 0 to below 1", "\"random\""] {
            assert!(error.contains(words), "{angle}: {error}");
        }
    }
}
