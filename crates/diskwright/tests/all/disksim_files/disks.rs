//! Layouts, seek curves and times of single drives.

use diskwright::base::units::Time;
use diskwright::devices::hdd::drive::DriveDescription;
use diskwright::models::geometry::describe::{HeadOrder, SlipCost, SparePlace, SpareUnit};
use diskwright::models::geometry::layout::Layout;

use super::sample::Sample;

fn drive(overrides: &[(&str, &str, &str)]) -> DriveDescription {
    Sample::new().sound(overrides).drive
}

#[test]
fn the_sample_is_the_drive_it_describes() {
    let drive = drive(&[]);
    assert_eq!(drive.name, "SMALL");
    assert_eq!(
        drive.source,
        ["DiskSim parameter files: small.parv, drive.diskspecs, drive.model, small.seek"]
    );
    assert_eq!(drive.rotation.rpm(), 6_000.0);
    assert_eq!(
        (drive.heads.switch.ns(), drive.heads.write_settle.ns()),
        (250_000, -50_000)
    );
    let overhead = drive.overhead;
    assert_eq!(overhead.read_after_read, Time::from_us(300));
    assert_eq!(overhead.read_after_write, Time::from_us(400));
    assert_eq!(overhead.write_after_read, Time::from_us(700));
    assert_eq!(overhead.write_after_write, Time::from_us(800));
    assert_eq!(
        (overhead.completion_read, overhead.completion_write),
        (Time::from_us(10), Time::from_us(20))
    );
    assert_eq!(drive.interface.block_time, Some(Time::from_us(50)));
    let hardware = drive.hardware().expect("sound");
    // 10 · 2 · 20 − 10 − 10, and 20 · 2 · 10.
    assert_eq!(hardware.blocks(), 780);
    let layout = &hardware.mechanics.layout;
    let place = |sector| {
        let at = layout.locate(sector);
        (at.cylinder, at.head, at.sector)
    };
    // The first block is after ten of no use, the defect at place 40 is at place 395, and places 25 and 30 are skipped.
    assert_eq!(place(0), (0, 0, 10));
    assert_eq!(place(14), (0, 1, 4));
    assert_eq!(place(15), (0, 1, 6));
    assert_eq!(place(28), (9, 1, 15));
    assert_eq!(place(29), (1, 0, 1));
    assert_eq!(place(380), (20, 0, 0));
    // Two sectors a track, five more a cylinder, three at the front.
    let angle = |sector| layout.run(sector, 1).angle;
    assert_eq!((angle(0), angle(14), angle(29)), (13, 9, 3 + 2 + 5 + 1));
}

/// Blocks of a zone, as the reference counts them: cylinders · surfaces · sectors − front − what the scheme takes.
#[test]
fn every_sparing_scheme_leaves_the_blocks_it_should() {
    let (tracks, sectors, front, slips) = (20, 20, 10, 2);
    for (scheme, spares, range, taken) in [
        (0, 0, 1, slips),
        (2, 3, 1, 3 * 10),
        (3, 3, 1, 3 * tracks),
        (4, 3, 1, 3 * 10 + slips),
        (5, 3, 1, 3 * 10),
        (6, 3, 1, 3 * 10 + slips),
        (7, 0, 1, slips),
        (8, 3, 4, 3 * 2),
        (9, 3, 1, 3),
        (10, 3, 1, 3 + slips),
    ] {
        let (number, spares, range) = (
            scheme.to_string(),
            format!("Number of spares = {spares}"),
            range.to_string(),
        );
        let import = Sample::new()
            .replace("Number of spares = 10", &spares)
            .replace("defects = [ 40, 395 ]", "defects = []")
            .sound(&[
                ("disk0", "Model:Layout Model:Sparing scheme used", &number),
                ("disk0", "Model:Layout Model:Rangesize for sparing", &range),
            ]);
        let layout = Layout::build(&import.drive.layout).expect("sound");
        assert_eq!(
            layout.zones()[0].sectors(),
            tracks * sectors - front - taken,
            "scheme {scheme}"
        );
        let told = import
            .warnings
            .iter()
            .any(|warning| warning.contains("scheme 0"));
        assert_eq!(told, scheme == 0);
    }
    // Whole tracks.
    let import = Sample::new()
        .replace("Number of spares = 10", "Number of spares = 3")
        .replace("slips = [ 30, 25 ]", "slips = [ 5, 2 ]")
        .replace("defects = [ 40, 395 ]", "defects = [ 4, 19 ]")
        .sound(&[("disk0", "Model:Layout Model:Sparing scheme used", "1")]);
    let zone = &import.drive.layout.zones[0];
    assert_eq!(
        (&zone.slipped_tracks[..], &zone.remapped_tracks[..]),
        (&[5, 2][..], &[(4, 19)][..])
    );
    let layout = Layout::build(&import.drive.layout).expect("sound");
    assert_eq!(layout.zones()[0].sectors(), 400 - 10 - 3 * 20);
    // Sector 30 is the eleventh of the zone's third usable track; the second slip is track 2, so that is track 3.
    assert_eq!(
        (layout.locate(30).cylinder, layout.locate(30).surface),
        (1, 1)
    );
}

#[test]
fn schemes_say_whose_the_spares_are() {
    let spares = |scheme: &str| {
        let drive = drive(&[
            ("disk0", "Model:Layout Model:Sparing scheme used", scheme),
            ("disk0", "Model:Layout Model:Rangesize for sparing", "2"),
        ]);
        drive.layout.zones[0]
            .spares
            .map(|spares| (spares.per, spares.at, spares.slips))
    };
    use {SlipCost::*, SparePlace::*, SpareUnit::*};
    for (scheme, expected) in [
        ("2", Some((Cylinder, End, Spare))),
        ("3", Some((Track, End, Spare))),
        ("4", Some((Cylinder, End, Capacity))),
        ("5", Some((Cylinder, Front, Spare))),
        ("6", Some((Cylinder, Front, Capacity))),
        ("7", None),
        ("8", Some((Cylinders(2), End, Spare))),
        ("9", Some((Zone, End, Spare))),
        ("10", Some((Zone, End, Capacity))),
    ] {
        assert_eq!(spares(scheme), expected, "{scheme}");
    }
}

#[test]
fn mappings_say_how_heads_take_turns() {
    for (mapping, order) in [
        ("0", HeadOrder::Ascending),
        ("1", HeadOrder::AlternatingInZone),
        ("2", HeadOrder::Alternating),
    ] {
        let drive = drive(&[(
            "disk0",
            "Model:Layout Model:LBN-to-PBN mapping scheme",
            mapping,
        )]);
        assert_eq!(drive.layout.order, order);
    }
}

#[test]
fn skews_are_whole_sectors() {
    let with = |from: &str, to: &str| {
        let import = Sample::new().replace(from, to).sound(&[]);
        let told = import
            .warnings
            .iter()
            .any(|warning| warning.contains("whole sectors"));
        (import.drive.layout.zones[0].clone(), told)
    };
    let (zone, told) = with("Skew for track switch = 2", "Skew for track switch = 2.75");
    assert_eq!((zone.track_skew, told), (2, true));
    let (zone, told) = with("Skew for track switch = 2", "Skew for track switch = -3");
    assert_eq!((zone.track_skew, told), (17, false));
    let (zone, told) = with("Skew for track switch = 2", "Skew for track switch = 43");
    assert_eq!((zone.track_skew, told), (3, false));
    let revolutions = "Skew units = revolutions,\n Skew for track switch = ";
    for (angle, sectors, inexact) in [
        ("0.35", 7, false),
        ("0.36", 7, true),
        ("1.05", 1, false),
        ("-0.05", 19, false),
    ] {
        let sample = Sample::new()
            .replace(
                "Offset of first block = 3.000000",
                "Offset of first block = 0",
            )
            .replace(
                "Skew for cylinder switch = 5,",
                "Skew for cylinder switch = 0.1,",
            )
            .replace(
                "Skew for track switch = 2",
                &format!("{revolutions}{angle}"),
            );
        let import = sample.sound(&[]);
        let zone = &import.drive.layout.zones[0];
        assert_eq!(
            (zone.track_skew, zone.cylinder_skew),
            (sectors, 2),
            "{angle}"
        );
        let told = import
            .warnings
            .iter()
            .any(|warning| warning.contains("whole sectors"));
        assert_eq!(told, inexact, "{angle}");
    }
}

#[test]
fn every_seek_type_is_a_curve() {
    let curve = |kind: &str, more: &[(&'static str, &'static str, &'static str)]| {
        let kind = [("disk0", "Model:Mechanical Model:Seek type", kind)];
        let all: Vec<_> = kind.iter().chain(more).copied().collect();
        let hardware = drive(&all).hardware().expect("sound");
        move |distance| hardware.mechanics.seek().time(distance).ms()
    };
    let near =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    let extracted = curve("extracted", &[]);
    near(extracted(1), 0.5);
    near(extracted(20), 0.5 + 1.9 * 19.0 / 38.0);
    let constant = curve("constant", &[]);
    near(constant(1), 1.25);
    near(constant(39), 1.25);
    // Through one, a third of the cylinders and all of them.
    let linear = curve("linear", &[]);
    near(linear(1), 0.5);
    near(linear(7), 1.0);
    near(linear(13), 1.5);
    near(linear(26), 2.0);
    near(linear(39), 2.5);
    let lee = curve("curve", &[]);
    let (root, line) = (
        (-5.0 + 22.5 - 12.5) / (3.0 * 40_f64.sqrt()),
        (3.5 - 22.5 + 20.0) / 120.0,
    );
    near(lee(1), 0.5);
    near(lee(26), root * 5.0 + line * 25.0 + 0.5);
    let hpl = curve("hpl", &[]);
    near(hpl(1), 1.1);
    near(hpl(16), 1.4);
    near(hpl(19), 1.0 + 0.1 * 19_f64.sqrt());
    near(hpl(20), 1.4);
    let values = "Model:Mechanical Model:HPL seek equation values";
    let single = curve(
        "hpl",
        &[("disk0", values, "[ 19.5, 1, 0.1, 1.2, 0.01, 0.7 ]")],
    );
    near(single(1), 0.7);
    near(single(19), 1.0 + 0.1 * 19_f64.sqrt());
    near(single(20), 1.4);
    let ten = curve("hplplus10", &[]);
    near(ten(1), 0.1);
    near(ten(10), 1.0);
    near(ten(11), 1.0 + 0.1 * 11_f64.sqrt());
    near(ten(39), 1.59);
    for (values_of, told) in [
        ("[ 1, 2 ]", "has 2 numbers, expected 6"),
        ("[ -1, 1, 1, 1, 1, 1 ]", "a boundary of -1"),
    ] {
        let error = Sample::new().error(&[
            ("disk0", "Model:Mechanical Model:Seek type", "hpl"),
            ("disk0", values, values_of),
        ]);
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_block_takes_the_longest_of_its_times() {
    let times = |overrides: &[_]| {
        let controller = Sample::new().sound(overrides).controller;
        (
            controller.read_block_time.ns() / 1000,
            controller.write_block_time.ns() / 1000,
        )
    };
    let own = ("disk0", "Bulk sector transfer time", "0.04");
    let chip = ("ctlr0", "Bulk sector transfer time", "0.06");
    let first_bus = ("bus0", "Read block transfer time", "0.9");
    assert_eq!(times(&[]), (50, 0));
    assert_eq!(times(&[own]), (50, 40));
    assert_eq!(times(&[own, chip, first_bus]), (50, 40));
    assert_eq!(times(&[own, chip, ("ctlr0", "type", "2")]), (60, 60));
    let interface = |overrides: &[_]| Sample::new().sound(overrides).drive.interface;
    assert_eq!(interface(&[]).write_block_time, Some(Time::ZERO));
    let even = interface(&[("bus1", "Write block transfer time", "0.05")]);
    assert_eq!(
        (even.block_time, even.write_block_time),
        (Some(Time::from_us(50)), None)
    );
}

/// A file whose header is short of cylinders: the zones' sectors count.
#[test]
fn a_drive_has_the_cylinders_of_its_zones() {
    let whole = Sample::new().sound(&[]);
    let short = Sample::new().sound(&[("disk0", "Model:Number of cylinders", "39")]);
    assert_eq!(short.drive.layout, whole.drive.layout);
    assert_eq!(short.drive.seek, whole.drive.seek);
    let told = |warning: &&String| warning.contains("39 cylinders, but a zone ends at cylinder 39");
    assert_eq!(short.warnings.iter().filter(told).count(), 1);
    assert_eq!(whole.warnings.iter().filter(told).count(), 0);
    // More than the zones have are part of the drive: they count for seeks.
    let more = Sample::new().sound(&[("disk0", "Model:Number of cylinders", "41")]);
    assert_eq!(more.drive.layout.cylinders, 41);
}
