//! What 32 outstanding requests are worth on the IBM 18ES, its mechanics alone: the engine beside a small model of its own
//! with zones, the seek table and a random angle, but no layout, no skew and no integers.

use crate::support::{RunOptions, from_text, outcome_of};
use diskwright::base::random::Stream;
use diskwright::devices::drives;
use serde_json::Value;

const DEPTH: usize = 32;

fn description() -> toml::Table {
    let text = drives::text("ibm-18es").expect("a drive of the library");
    text.parse().expect("its description")
}

/// The drive without command overhead and buffer, and with an interface that takes no time.
fn mechanics_only(folder: &tempfile::TempDir) -> String {
    let mut drive = description();
    drive.remove("buffer");
    let text = |table: &mut toml::Table, key: &str, value: &str| {
        table.insert(key.to_owned(), value.into());
    };
    let overhead = drive["overhead"].as_table_mut().expect("a table");
    let keys: Vec<_> = overhead.keys().cloned().collect();
    for key in keys {
        text(overhead, &key, "0 ms");
    }
    let interface = drive["interface"].as_table_mut().expect("a table");
    text(interface, "block_time", "0 ms");
    let path = folder.path().join("bare.toml");
    std::fs::write(&path, drive.to_string()).expect("a file is written");
    path.to_str().expect("a plain path").to_owned()
}

fn run(drive: &str, scheduler: &str, requests: usize) -> Value {
    let text = format!(
        "[workload.synthetic]\nrequests = {requests}\narrivals = {{ closed = {{ users = {DEPTH} }} }}\nreads = 0.67\nsize = \"8 blocks\"\n\
         [measure]\nwarmup = 0\n[device.hdd]\ndrive = \"ibm-18es\"\n[device.hdd.queue]\ndepth = {DEPTH}\nscheduler = {scheduler}\n"
    );
    let source = from_text(text);
    let options = RunOptions {
        drive: Some(drive.to_owned()),
        ..RunOptions::default()
    };
    let outcome = outcome_of(&source, &options);
    outcome.expect("the spec runs").json()
}

fn iops(outcome: &Value) -> f64 {
    outcome["iops"].as_f64().expect("a number")
}

/// A request of the small model.
struct Place {
    cylinder: i64,
    turn: f64,
    transfer_ms: f64,
    write: bool,
}

struct Model {
    zones: Vec<(i64, i64, f64)>,
    sectors: f64,
    seek_ms: Vec<f64>,
    settle_ms: f64,
    random: Stream,
}

const REVOLUTION_MS: f64 = 60_000.0 / 7200.0;

impl Model {
    fn new() -> Model {
        let drive = description();
        let zones = drive["layout"]["zone"].as_array().expect("zones").iter();
        let zones: Vec<(i64, i64, f64)> = zones
            .map(|zone| {
                let range = zone["cylinders"].as_array().expect("two cylinders");
                let cylinder = |i: usize| range[i].as_integer().expect("a cylinder");
                let per_track = zone["sectors_per_track"].as_integer().expect("sectors");
                (cylinder(0), cylinder(1), per_track as f64)
            })
            .collect();
        let points = drive["seek"]["table"]["points_ms"].as_array();
        let points: Vec<(f64, f64)> = points
            .expect("points")
            .iter()
            .map(|point| {
                let number = |i: usize| {
                    let value = &point[i];
                    let integer = value.as_integer().map(|n| n as f64);
                    value.as_float().or(integer).expect("a number")
                };
                (number(0), number(1))
            })
            .collect();
        let last = zones.last().expect("a zone").1;
        let time = |distance: i64| {
            let x = distance as f64;
            let after = points.partition_point(|point| point.0 <= x);
            let after = after.clamp(1, points.len() - 1);
            let (a, b) = (points[after - 1], points[after]);
            a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0)
        };
        let mut seek_ms: Vec<f64> = (0..=last).map(time).collect();
        seek_ms[0] = 0.0;
        let settle = drive["heads"]["write_settle"].as_str().expect("a time");
        let settle = settle.strip_suffix(" ms").expect("milliseconds");
        Model {
            sectors: zones.iter().map(|(a, b, s)| (b - a + 1) as f64 * s).sum(),
            zones,
            seek_ms,
            settle_ms: settle.parse().expect("a number"),
            random: Stream::new(7, "model"),
        }
    }

    fn draw(&mut self) -> Place {
        let mut sector = self.random.unit() * self.sectors;
        let mut zones = self.zones.iter();
        loop {
            let &(first, last, per_track) = zones.next().expect("the sector is in a zone");
            let size = (last - first + 1) as f64 * per_track;
            if sector < size {
                return Place {
                    cylinder: first + (sector / per_track) as i64,
                    turn: (sector % per_track).floor() / per_track,
                    transfer_ms: 8.0 * REVOLUTION_MS / per_track,
                    write: self.random.unit() >= 0.67,
                };
            }
            sector -= size;
        }
    }

    /// Requests a second when the soonest of `DEPTH` is always next, or the oldest.
    fn iops(&mut self, soonest: bool, requests: usize) -> f64 {
        let mut queue: Vec<Place> = (0..DEPTH).map(|_| self.draw()).collect();
        let (mut now, mut arm) = (0.0f64, 0i64);
        for _ in 0..requests {
            let positioning = |place: &Place| {
                let settle = if place.write { self.settle_ms } else { 0.0 };
                let motion = self.seek_ms[arm.abs_diff(place.cylinder) as usize] + settle;
                let turn = ((now + motion) / REVOLUTION_MS).fract();
                motion + (place.turn - turn).rem_euclid(1.0) * REVOLUTION_MS
            };
            let times: Vec<f64> = queue.iter().map(positioning).collect();
            let next = match soonest {
                true => (0..times.len()).min_by(|&a, &b| times[a].total_cmp(&times[b])),
                false => Some(0),
            };
            let next = next.expect("the queue is never empty");
            let place = queue.remove(next);
            now += times[next] + place.transfer_ms;
            arm = place.cylinder;
            queue.push(self.draw());
        }
        requests as f64 / now * 1000.0
    }
}

#[test]
fn satf_serves_more_than_twice_as_many_as_fcfs_as_a_small_model_has_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let drive = mechanics_only(&folder);
    let mut model = Model::new();
    // The standard error of 20,000 services is about 0.3 %.
    for (scheduler, soonest) in [("\"fcfs\"", false), ("\"satf\"", true)] {
        let engine = iops(&run(&drive, scheduler, 20_000));
        let small = model.iops(soonest, 20_000);
        assert!(
            (engine / small - 1.0).abs() < 0.015,
            "{scheduler}: {engine} against {small}"
        );
    }
    let gain = iops(&run(&drive, "\"satf\"", 20_000)) / iops(&run(&drive, "\"fcfs\"", 20_000));
    assert!((2.1..2.3).contains(&gain), "{gain}");
}

#[test]
fn the_default_timeout_costs_little_and_a_short_one_makes_it_fcfs() {
    let folder = tempfile::tempdir().expect("a folder");
    let drive = mechanics_only(&folder);
    let satf = run(&drive, "\"satf\"", 50_000);
    let default = run(&drive, "\"ncq\"", 50_000);
    assert!(
        iops(&default) > 0.99 * iops(&satf),
        "{} of {}",
        iops(&default),
        iops(&satf)
    );
    assert_eq!(default["warnings"], satf["warnings"]);
    let short = run(&drive, "{ ncq = { timeout = \"200 ms\" } }", 20_000);
    let fcfs = run(&drive, "\"fcfs\"", 20_000);
    assert!(
        (iops(&short) / iops(&fcfs) - 1.0).abs() < 0.02,
        "{} and {}",
        iops(&short),
        iops(&fcfs)
    );
    let warnings = short["warnings"].as_array().expect("a list");
    let told = |warning: &Value| warning.as_str().is_some_and(|text| text.contains("FCFS"));
    assert!(warnings.iter().any(told), "{warnings:?}");
}
