//! A probe as a whole: its parts, its options, its errors.

use std::ops::ControlFlow;

use super::*;
use crate::base::units::Time;
use crate::devices::drives;

fn quick() -> ProbeOptions {
    ProbeOptions {
        samples: 10,
        depths: vec![1, 8],
        schedulers: vec!["satf".to_owned()],
        reads: 200,
        ..ProbeOptions::default()
    }
}

fn refused(drive: &str, options: &ProbeOptions) -> String {
    match probe(drive, options, &mut ()) {
        Ok(_) => panic!("{options:?} is accepted"),
        Err(error) => {
            assert_eq!(error.exit_code(), 2);
            error.to_string()
        }
    }
}

#[test]
fn every_drive_can_be_probed() {
    for name in drives::names() {
        let found = probe(name, &quick(), &mut ()).expect("measured");
        let summary = simulation::drive_summary(name).expect("sound");
        assert_eq!(Some(found.rpm), summary["rpm"].as_f64(), "{name}");
        assert_eq!(found.random.map(|points| points.len()), Some(2), "{name}");
        let switch = found.head_switch.expect("two heads");
        let described = &summary["description"]["heads"]["switch"];
        let described: Time = described
            .as_str()
            .and_then(|text| text.parse().ok())
            .expect("a time");
        assert_eq!(switch.read_ms, described.ms(), "{name}");
    }
}

#[test]
fn a_drive_is_a_name_or_a_file() {
    let options = ProbeOptions {
        only: vec!["seek".to_owned()],
        ..quick()
    };
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let file = file.expect("a temporary file");
    let text = drives::text("hp-c3323a").expect("a drive");
    std::fs::write(file.path(), text).expect("written");
    let path = file.path().to_str().expect("a plain path");
    let (own, named) = (
        probe(path, &options, &mut ()).expect("measured"),
        probe("hp-c3323a", &options, &mut ()).expect("measured"),
    );
    assert_eq!(own.seek, named.seek);
    assert_eq!(own.drive, path);
    let options = ProbeOptions {
        only: vec!["iops".to_owned()],
        ..quick()
    };
    let (own, named) = (
        probe(path, &options, &mut ()).expect("measured"),
        probe("hp-c3323a", &options, &mut ()).expect("measured"),
    );
    assert_eq!(own.random, named.random);
}

#[test]
fn only_what_is_asked_for_is_measured() {
    for (only, keys) in [
        ("seek", &["head_switch", "seek"][..]),
        ("access", &["random_access", "access"]),
        ("zones", &["zones"]),
        ("iops", &["random_read_bytes", "random"]),
    ] {
        let options = ProbeOptions {
            only: vec![only.to_owned()],
            ..quick()
        };
        let found = probe("ibm-18es", &options, &mut ()).expect("measured");
        let found = serde_json::to_value(&found).expect("plain data");
        let found = found.as_object().expect("an object");
        let always = [
            "schema",
            "drive",
            "name",
            "capacity_blocks",
            "seed",
            "revolution_ms",
            "rpm",
        ];
        let expected: Vec<&str> = always.into_iter().chain(keys.iter().copied()).collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), expected);
    }
}

/// The smallest drive that there can be: one sector.
#[test]
fn a_drive_of_next_to_nothing_can_be_probed() {
    let text = "name = 'tiny'\nrotation = '100 rpm'\nheads = { switch = '1 ms' }\nseek = { constant = '1 ms' }\n\
                [layout]\nsurfaces = 1\ncylinders = 1\n[[layout.zone]]\ncylinders = [0, 0]\nsectors_per_track = 1\n";
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let file = file.expect("a temporary file");
    std::fs::write(file.path(), text).expect("written");
    let path = file.path().to_str().expect("a plain path");
    let options = ProbeOptions {
        size: Size::from_blocks(1),
        ..quick()
    };
    let found = probe(path, &options, &mut ()).expect("measured");
    assert_eq!(found.revolution_ms, 600.0);
    assert_eq!((found.seek, found.head_switch), (Some(Vec::new()), None));
    let zones = found.zones.expect("asked for");
    assert_eq!(
        (zones[0].track_switch_ms, zones[0].cylinder_switch_ms),
        (None, None)
    );
    assert!((zones[0].sustained_mb_per_s - 512.0 / 0.6 / 1e6).abs() < 1e-9);
    assert!(refused(path, &quick()).contains("1 to 1 blocks"));
    // What is not measured need not fit.
    let options = ProbeOptions {
        only: vec!["seek".to_owned(), "access".to_owned(), "zones".to_owned()],
        ..quick()
    };
    probe(path, &options, &mut ()).expect("measured");
}

/// The line beyond the boundary is never reached.
#[test]
fn a_curve_may_hold_numbers_that_mean_nothing() {
    let text = drives::text("exos-x20").expect("a drive");
    let named = |key: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(key));
        line.expect("a curve of reads with a line").to_owned()
    };
    let text = text.replace(&named("long_ms"), "long_ms = [nan, inf]");
    let text = text.replace(&named("boundary"), "boundary = 4_000_000");
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let file = file.expect("a temporary file");
    std::fs::write(file.path(), text).expect("written");
    let path = file.path().to_str().expect("a plain path");
    let found = probe(path, &quick(), &mut ()).expect("measured");
    assert!(found.seek.is_some_and(|curve| curve.len() > 150));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let with = |change: fn(&mut ProbeOptions)| {
        let mut options = quick();
        change(&mut options);
        refused("ibm-18es", &options)
    };
    for (error, words) in [
        (refused("ibm-18s", &quick()), ["ibm-18es", "path"]),
        (refused("missing.toml", &quick()), ["missing.toml", "read"]),
        (
            with(|options| options.only = vec!["zone".to_owned()]),
            ["did you mean \"zones\"", "seek, access, zones, iops"],
        ),
        (
            with(|options| options.schedulers = vec!["staf".to_owned()]),
            ["did you mean \"satf\"", "c-look"],
        ),
        (with(|options| options.samples = 0), ["0 samples", "1 to"]),
        (
            with(|options| options.depths.clear()),
            ["a depth", "leave iops out"],
        ),
        (
            with(|options| options.depths = vec![0]),
            ["depth 0", "1 or more"],
        ),
        (
            with(|options| options.reads = 79),
            ["queue of 8", "80 or more"],
        ),
        (
            with(|options| options.size = Size::from_blocks(0)),
            ["0 blocks", "1 to 17916240"],
        ),
    ] {
        for word in words {
            assert!(error.contains(word), "{error}");
        }
    }
}

#[test]
fn progress_reaches_its_total_and_can_stop_a_probe() {
    struct Listener(Vec<(u64, u64)>, usize);
    impl Progress for Listener {
        fn update(&mut self, done: u64, total: Option<u64>) -> ControlFlow<()> {
            self.0.push((done, total.expect("known")));
            if self.0.len() == self.1 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }
    let mut listener = Listener(Vec::new(), usize::MAX);
    probe("ibm-18es", &quick(), &mut listener).expect("measured");
    let told = &listener.0;
    assert!(told.is_sorted(), "{told:?}");
    let &(done, total) = told.last().expect("told");
    assert_eq!(done, total);
    let mut listener = Listener(Vec::new(), 3);
    let error = probe("ibm-18es", &quick(), &mut listener).expect_err("stopped");
    assert!(matches!(error, Error::Interrupted));
}
