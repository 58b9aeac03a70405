//! A probe as a whole: its parts, its options, its errors.

use std::ops::ControlFlow;

use super::*;
use crate::base::units::Time;
use crate::devices::drives;

/// What is measured of a hard disk.
fn probe(drive: &str, options: &ProbeOptions, progress: &mut dyn Progress) -> Result<Probe, Error> {
    super::probe(drive, options, progress).map(|found| match found {
        Probed::Disk(found) => *found,
        Probed::Flash(found) => panic!("{} is no hard disk", found.drive),
    })
}

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
    for name in drives::names_of("hdd") {
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

/// A file of a drive of the library with some of its text changed.
fn changed(name: &str, changes: &[(&str, &str)]) -> tempfile::NamedTempFile {
    let mut text = drives::text(name).expect("a drive").to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{name}: {from}");
        text = text.replace(from, to);
    }
    let file = tempfile::Builder::new().suffix(".toml").tempfile();
    let file = file.expect("a temporary file");
    std::fs::write(file.path(), text).expect("written");
    file
}

/// The Exos X20 with a memory that is soon full.
fn with_small_pool() -> tempfile::NamedTempFile {
    changed(
        "exos-x20",
        &[
            ("size = \"256 MiB\"", "size = \"16 MiB\""),
            ("memory = \"4096 KiB\"", "memory = \"2 MiB\""),
        ],
    )
}

fn caches(drive: &str, only: &[&str], change: fn(&mut ProbeOptions)) -> Probe {
    let mut options = ProbeOptions {
        only: only.iter().map(|&name| name.to_owned()).collect(),
        ..quick()
    };
    change(&mut options);
    probe(drive, &options, &mut ()).expect("measured")
}

/// One stream runs at the speed of the zone in which it begins, read and written.
#[test]
fn one_stream_has_the_zones_rate() {
    let file = with_small_pool();
    let path = file.path().to_str().expect("a plain path");
    let found = caches(path, &["streams", "zones"], |_| {});
    let sustained = found.zones.expect("asked for")[0].sustained_mb_per_s;
    let streams = found.streams.expect("it has memory");
    assert_eq!(streams.write_cache, Some(WriteCache::On));
    for points in [&streams.read, &streams.write] {
        let numbers: Vec<u32> = points.iter().map(|point| point.streams).collect();
        assert_eq!(numbers, [1, 2, 4, 8, 16, 32, 64]);
        assert!(
            (points[0].mb_per_s / sustained - 1.0).abs() < 0.01,
            "{sustained} {points:?}"
        );
        for point in points {
            // Little's law.
            let in_flight =
                point.mb_per_s * 1e6 / streams.request_bytes as f64 * point.response_mean_ms / 1e3;
            assert!((in_flight / f64::from(point.streams) - 1.0).abs() < 1e-9);
            assert!(
                point.slowest_mb_per_s * f64::from(point.streams) <= point.mb_per_s * (1.0 + 1e-9)
            );
        }
    }
}

/// A write into an empty memory takes the controller's time for a hit and its own on the interface.
#[test]
fn writes_into_an_empty_memory_take_hit_overhead_and_interface() {
    let file = with_small_pool();
    let path = file.path().to_str().expect("a plain path");
    let drive = simulation::drive(path).expect("sound");
    let pool = drive.description.pool.as_ref().expect("a pool");
    let each = pool.hit_overhead + drive.hardware.interface.write_time(writes::BLOCKS);
    let found = caches(path, &["writes", "destage"], |options| {
        options.write_depth = 1
    });
    let written = found.writes.expect("it has memory");
    let states: Vec<_> = written
        .states
        .iter()
        .map(|state| state.write_cache)
        .collect();
    assert_eq!(states, [WriteCache::On, WriteCache::Persistent]);
    assert_eq!(written.missing[0].write_cache, WriteCache::Off);
    let destages = found.destage.expect("it has memory");
    for (state, destage) in written.states.iter().zip(&destages.states) {
        let burst = state.burst.expect("memory absorbs");
        assert!((burst.response_mean_ms / each.ms() - 1.0).abs() < 1e-9);
        assert!((state.intervals[0].iops * each.s() - 1.0).abs() < 0.01);
        assert_eq!(state.ships, state.write_cache == WriteCache::On);
        // Both write the same, one after another.
        assert_eq!((burst.writes, burst.bytes), (destage.writes, destage.bytes));
        assert!((burst.end_s * 1e3 / destage.burst_ms - 1.0).abs() < 1e-9);
        assert!((destage.burst_ms / destage.writes as f64 / each.ms() - 1.0).abs() < 1e-9);
        let most = pool
            .most_dirty(state.write_cache.is_enabled())
            .expect("a limit");
        assert!(burst.writes >= u64::from(most), "{burst:?}");
        assert!(state.steady.iops < 0.2 * state.intervals[0].iops);
        let counted: u64 = state.intervals.iter().map(|interval| interval.writes).sum();
        assert!(counted >= 2 * burst.writes + state.steady.writes);
        assert!(state.steady.from_s > burst.end_s);
    }
}

/// A flush waits for the medium where memory is lost with the power, and for nothing where it is not.
#[test]
fn a_flush_waits_for_what_is_not_safe() {
    let file = with_small_pool();
    let path = file.path().to_str().expect("a plain path");
    let drive = simulation::drive(path).expect("sound");
    let before = drive.description.overhead.write_after_write.ms();
    let found = caches(path, &["destage"], |_| {})
        .destage
        .expect("it has memory");
    assert_eq!(found.states.len(), 2);
    for destage in &found.states {
        let idle = destage.idle_destage_ms.expect("a pool");
        assert!(idle > 10.0 * destage.burst_ms, "{destage:?}");
        assert_eq!(destage.flush_after_idle_ms, before);
        match destage.write_cache {
            WriteCache::Persistent => assert_eq!(destage.flush_at_once_ms, before),
            _ => assert!(destage.flush_at_once_ms > 0.5 * idle, "{destage:?}"),
        }
    }
}

/// Where writes are kept on the medium, the burst ends as its memory is full.
#[test]
fn a_region_absorbs_as_much_as_its_memory() {
    let found = caches("ultrastar-7k6000", &["destage"], |_| {});
    let destage = found.destage.expect("it has memory");
    let kept = destage
        .states
        .iter()
        .find(|state| state.write_cache == WriteCache::Persistent);
    let kept = kept.expect("it keeps writes");
    let drive = simulation::drive("ultrastar-7k6000")
        .expect("a drive")
        .description;
    let most = u64::from(
        drive
            .pool
            .expect("a pool")
            .most_dirty(false)
            .expect("a limit"),
    );
    assert!(
        kept.writes + 1 >= most && kept.writes <= 2 * most,
        "{kept:?}"
    );
}

/// A drive without a persistent memory has a plain off; one with segments absorbs one write at a time.
#[test]
fn every_kind_of_memory_has_its_states() {
    let all = ["streams", "writes", "destage"];
    let found = caches("cheetah-15k7", &all, |_| {});
    let written = found.writes.expect("it has memory");
    let off = &written.states[1];
    assert_eq!(
        (off.write_cache, off.ships, off.burst),
        (WriteCache::Off, true, None)
    );
    assert!(off.steady.iops < written.states[0].steady.iops);
    let missing: Vec<_> = found.destage.expect("it has memory").missing;
    assert_eq!(missing.len(), 2);

    let found = caches("ibm-18es", &all, |_| {});
    let destage = found.destage.expect("it has memory").states[0];
    assert_eq!((destage.writes, destage.idle_destage_ms), (1, None));
    assert!(destage.flush_at_once_ms > 0.0);

    let found = caches("hp-c2249a", &all, |_| {});
    assert!(found.memory.expect("asked for").note.is_some());
    assert_eq!(
        (found.streams, found.writes, found.destage),
        (None, None, None)
    );
}

#[test]
fn the_shipped_scheduler_is_first_where_the_file_says_it() {
    let options = ProbeOptions {
        only: vec!["iops".to_owned()],
        schedulers: ProbeOptions::default().schedulers,
        ..quick()
    };
    for (name, expected) in [("exos-x20", Some("aged-satf")), ("ibm-18es", None)] {
        let found = probe(name, &options, &mut ()).expect("measured");
        let random = found.random.expect("asked for");
        let ships: Vec<_> = random.iter().filter(|point| point.ships).collect();
        let shipped = found.shipped_scheduler;
        assert_eq!(shipped.as_ref().map(SchedulerChoice::name), expected);
        assert_eq!(ships.len(), expected.map_or(0, |_| options.depths.len()));
        assert_eq!(random[0].scheduler, expected.unwrap_or("fcfs"));
    }
}
