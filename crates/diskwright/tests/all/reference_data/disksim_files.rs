//! DiskSim's own set-ups, where they are, against the drives of the library that were written from them.

use std::path::PathBuf;

use crate::support::reference::reference;
use crate::support::{RunOptions, from_file, from_text_in, outcome_of};
use diskwright::base::units::Time;
use diskwright::devices::drives;
use diskwright::devices::hdd::drive::DriveDescription;
use diskwright::disksim::{Import, Override, import, to_toml};

fn imported(name: &str, overrides: &[(&str, &str, &str)]) -> Import {
    let overrides: Vec<_> = overrides
        .iter()
        .map(|&(component, parameter, value)| Override {
            component: component.into(),
            parameter: parameter.into(),
            value: value.into(),
        })
        .collect();
    let path = reference(&format!("disksim/{name}.parv"));
    let import = import(&path, &overrides);
    import.unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn library(name: &str) -> DriveDescription {
    toml::from_str(drives::text(name).expect(name)).expect(name)
}

/// The set-ups whose drives the library has, the library's names, and the blocks that the zones hold.
const VALIDATED: [(&str, &str, u64); 3] = [
    ("cheetah9LP", "cheetah-9lp", 17_918_387),
    ("ibm18es", "ibm-18es", 18_033_753),
    ("hp_c3323a", "hp-c3323a", 2_056_008),
];

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn drives_equal_those_of_the_library() {
    for (setup, name, _) in VALIDATED {
        let import = imported(setup, &[]);
        let mut expected = library(name);
        // The measured drives answer with fewer blocks than their zones hold.
        expected.layout.sectors = None;
        let found = import.drive;
        assert_eq!(found.rotation, expected.rotation, "{name}");
        assert_eq!(found.heads, expected.heads, "{name}");
        assert_eq!(found.seek, expected.seek, "{name}");
        assert_eq!(found.overhead, expected.overhead, "{name}");
        assert_eq!(found.interface, expected.interface, "{name}");
        assert_eq!(found.buffer, expected.buffer, "{name}");
        assert_eq!(found.sector_size, expected.sector_size, "{name}");
        assert_eq!(found.layout, expected.layout, "{name}");
    }
}

/// The same once more, of what is built from the descriptions: every track's first block, every seek.
#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn every_track_and_every_seek_is_where_the_librarys_is() {
    for (setup, name, blocks) in VALIDATED {
        let import = imported(setup, &[]);
        let found = import.drive.hardware().expect("sound").mechanics;
        let expected = library(name).hardware().expect("sound").mechanics;
        assert_eq!(found.layout.sectors(), blocks, "{name}");
        let addressed = expected.layout.sectors();
        assert!(addressed <= blocks, "{name}");
        let mut sector = 0;
        while sector < addressed {
            let run = expected.layout.run(sector, u32::MAX);
            let same = found.layout.run(sector, run.sectors);
            assert_eq!(same, run, "{name} {sector}");
            sector += u64::from(run.sectors);
        }
        for distance in 0..expected.layout.cylinders() {
            assert_eq!(
                found.seek().time(distance),
                expected.seek().time(distance),
                "{name} {distance}"
            );
        }
    }
}

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn settings_are_those_of_the_set_ups() {
    for (setup, ..) in VALIDATED {
        let import = imported(setup, &[]);
        let settings = &import.settings;
        assert_eq!(settings.host.outstanding, Some(1));
        assert_eq!(settings.host.scheduler.name(), "fcfs");
        assert_eq!(settings.queue.depth, Some(1));
        assert_eq!(settings.measure.warmup, None);
        assert_eq!(
            (settings.trace_time_scale, settings.mappings.len()),
            (1.0, 0)
        );
    }
    let import = imported("cheetah9LP", &[]);
    let controller = &import.controller;
    assert_eq!((controller.segments, controller.segment_blocks), (3, 561));
    assert_eq!((controller.continuous_read, controller.fast_write), (4, 2));
    assert_eq!(controller.read_hit_after_write, Time::from_us(273));
    assert_eq!(controller.write_hit_after_read, Time::from_us(748));
    assert_eq!(controller.read_block_time, Time::from_us(105));
    assert!(controller.read_hits_on_writes && !controller.never_disconnect);
}

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn a_synthetic_set_up_has_the_other_drive_of_its_model() {
    let import = imported("synthmixed", &[]);
    assert_eq!(import.drive.rotation.rpm(), 5_400.0);
    assert_eq!(import.settings.host.scheduler.name(), "c-look");
    let told = |text: &str| import.warnings.iter().any(|warning| warning.contains(text));
    assert!(told("no priorities"), "{:?}", import.warnings);
    assert!(told("Block count"), "{:?}", import.warnings);
}

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn values_are_put_over_those_of_the_files() {
    let import = imported(
        "cheetah9LP",
        &[
            ("disk0", "Max queue length", "32"),
            ("disk0", "Scheduler:Scheduling policy", "8"),
            ("disk0 .. disk0", "Time scale for overheads", "2.0"),
            (
                "disk0",
                "Model:Mechanical Model:Rotation speed (in rpms)",
                "7200",
            ),
            ("*", "Read block transfer time", "0.2"),
        ],
    );
    assert_eq!(import.settings.host.outstanding, Some(32));
    assert_eq!(import.settings.queue.depth, Some(32));
    assert_eq!(
        import
            .settings
            .queue
            .scheduler
            .as_ref()
            .expect("one")
            .name(),
        "satf"
    );
    assert_eq!(import.drive.rotation.rpm(), 7_200.0);
    assert_eq!(import.drive.overhead.read_after_read.ns(), 567_240);
    assert_eq!(import.drive.interface.block_time, Some(Time::from_us(200)));
    assert_eq!(import.controller.write_block_time, Time::from_us(105));
}

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn set_ups_with_several_drives_are_refused() {
    for (setup, devices) in [
        ("hplajw", "2 devices (disk0, disk1)"),
        ("ascii", "18 devices"),
    ] {
        let path = reference(&format!("disksim/{setup}.parv"));
        let error = import(&path, &[]).expect_err("several drives").to_string();
        assert!(error.contains(devices), "{error}");
        assert!(error.contains(&format!("{setup}.parv:")), "{error}");
    }
}

/// A set-up is simulated as the library's drive is, in a spec that says the same by hand.
#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn a_set_up_runs_as_the_librarys_drive_does() {
    for (setup, name, _) in VALIDATED {
        let (path, trace) = (
            reference(&format!("disksim/{setup}.parv")),
            reference(&format!("disksim/{setup}.trace")),
        );
        let options = RunOptions {
            trace: Some(trace),
            set: vec![
                "workload.format=disksim-recording".into(),
                "workload.limit=2000".into(),
            ],
            ..RunOptions::default()
        };
        let by_hand = from_text_in(
            format!(
                "[host]\noutstanding = 1\n[device.hdd]\ndrive = {name:?}\nbuffer = true\n[device.hdd.queue]\ndepth = 1\n[workload]"
            ),
            PathBuf::new(),
        );
        let [found, expected] = [from_file(path), by_hand].map(|source| {
            let outcome = outcome_of(&source, &options);
            outcome.unwrap_or_else(|error| panic!("{name}: {error}"))
        });
        assert_eq!(found.completed(), 2_000, "{name}");
        assert_eq!(found.digest(), expected.digest(), "{name}");
    }
}

#[test]
#[cfg_attr(
    not(reference = "disksim"),
    ignore = "the reference data is missing: name its folder in DISKWRIGHT_REFERENCE"
)]
fn the_text_of_an_import_is_the_drive() {
    for (setup, ..) in VALIDATED {
        let import = imported(setup, &[]);
        let text = to_toml(&import);
        let read: DriveDescription = toml::from_str(&text).expect(&text);
        assert_eq!(read, import.drive);
        assert!(text.contains(&format!("{setup}.parv")), "{text}");
        assert!(
            text.lines()
                .all(|line| line.starts_with('#') || line.len() <= 160)
        );
        assert!(text.contains("# depth = 1"), "{text}");
    }
}
