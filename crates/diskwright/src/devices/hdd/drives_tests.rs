//! The drives that come with diskwright.

use std::path::Path;

use super::{Drive, DriveDescription, DriveSummary};
use crate::base::units::Time;
use crate::devices::drives::{names_of, text};
use crate::models::geometry::layout::Layout;
use crate::models::geometry::seek::SeekCurve;

fn names() -> Vec<&'static str> {
    names_of("hdd")
}

fn drive(name: &str) -> DriveDescription {
    let drive = Drive::read(name, Path::new(""), |_| None);
    drive
        .unwrap_or_else(|error| panic!("{name}: {error}"))
        .description
}

fn summary(name: &str) -> DriveSummary {
    let drive = drive(name);
    drive.summary(&drive.hardware().expect("sound"))
}

fn layout(name: &str) -> Layout {
    Layout::build(&drive(name).layout).expect("a sound layout")
}

fn seek(name: &str) -> SeekCurve {
    let drive = drive(name);
    SeekCurve::build(&drive.seek, drive.layout.cylinders).expect("a sound curve")
}

#[test]
fn the_library_is_listed_in_order() {
    let expected = [
        "barracuda-2tb",
        "barracuda-7200-14",
        "cheetah-15k7",
        "cheetah-9lp",
        "cheetah-9lp-linear",
        "cheetah-9lp-tuned",
        "constellation-2",
        "constellation-es3",
        "deskstar-7k500",
        "exos-10e2400",
        "exos-15e900",
        "exos-2x18",
        "exos-m-30",
        "exos-x16",
        "exos-x18",
        "exos-x20",
        "exos-x24",
        "hp-c2249a",
        "hp-c3323a",
        "hp-c3323a-tuned",
        "ibm-18es",
        "ibm-18es-linear",
        "ibm-18es-tuned",
        "momentus-7200-3",
        "savvio-10k4",
        "savvio-15k3",
        "skyhawk-4tb",
        "toshiba-mg08",
        "toshiba-mg10",
        "toshiba-mg11",
        "travelstar-5k160",
        "travelstar-5k320",
        "travelstar-7k1000",
        "ultrastar-7k6000",
        "ultrastar-hc310",
        "ultrastar-hc550",
        "ultrastar-hc560",
        "ultrastar-hc580",
        "ultrastar-he10",
        "wd-black-4tb",
        "wd-blue-1tb",
        "wd-purple-4tb",
    ];
    assert_eq!(names(), expected);
    assert_eq!(text("cheetah-9LP"), None);
    assert_eq!(text("../Cargo"), None);
}

#[test]
fn every_drive_is_sound_and_names_its_sources() {
    for name in names() {
        let drive = drive(name);
        let built = drive.hardware();
        assert!(built.is_ok(), "{name}: {:?}", built.err());
        assert!(
            !drive.source.is_empty() && !drive.about.is_empty(),
            "{name}"
        );
        assert_eq!(layout(name).warnings(), &[] as &[String], "{name}");
    }
}

/// Each actuator of the drive with two has half of the addresses, through all of its zones.
#[test]
fn the_halves_of_a_dual_actuator_drive_are_alike() {
    let layout = layout("exos-2x18");
    let half = layout.sectors() / 2;
    let (zones, all) = (layout.zones(), layout.zones_by_lbn());
    assert_eq!(all.len(), 2 * zones.len());
    for (first, second) in zones.iter().zip(&all[zones.len()..]) {
        assert_eq!(second.first_sector(), half + first.first_sector());
        assert_eq!(second.sectors(), first.sectors());
        assert_eq!((first.first_surface(), second.first_surface()), (0, 9));
    }
    let arms = drive("exos-2x18").arms.expect("two of them");
    let surfaces: Vec<_> = arms.arm.iter().map(|arm| arm.surfaces).collect();
    assert_eq!(surfaces, [Some((0, 8)), Some((9, 17))]);
}

#[test]
fn capacities_are_those_of_the_real_drives() {
    for (name, blocks) in [
        // As the measured drives answer.
        ("cheetah-9lp", 17_783_240),
        ("ibm-18es", 17_916_240),
        // As the zones of the models add up.
        ("hp-c2249a", 2_687_632),
        ("hp-c3323a", 2_056_008),
        // As the makers do.
        ("travelstar-5k160", 312_581_808),
        ("exos-2x18", 35_156_656_128),
        ("exos-x20", 39_063_650_304),
        // Plain products.
        ("cheetah-9lp-linear", 6_962 * 12 * 232),
        ("ibm-18es-linear", 11_474 * 5 * 312),
    ] {
        let hardware = drive(name).hardware().expect("sound");
        assert_eq!(hardware.blocks(), blocks, "{name}");
    }
}

#[test]
fn sectors_are_where_disksim_finds_them() {
    for (name, sector, cylinder, surface, on_track) in [
        ("cheetah-9lp", 1_975_456, 648, 1, 122),
        ("cheetah-9lp", 1_975_280, 648, 0, 200),
        ("cheetah-9lp", 8_702_844, 2_998, 11, 80),
        ("cheetah-9lp", 9_233_408, 3_199, 6, 56),
        ("cheetah-9lp", 14_455_500, 5_320, 2, 188),
        ("cheetah-9lp", 14_631_804, 5_397, 11, 158),
        ("cheetah-9lp", 632_476, 207, 6, 20),
        ("cheetah-9lp", 3_883_828, 1_291, 4, 238),
        ("ibm-18es", 17_317_516, 10_892, 0, 62),
        ("hp-c3323a", 265_552, 317, 4, 112),
    ] {
        let layout = layout(name);
        let at = layout.locate(sector);
        assert_eq!(
            (at.cylinder, at.surface, at.head, at.sector),
            (cylinder, surface, surface, on_track),
            "{name} {sector}"
        );
        assert_eq!(
            layout.sector_at(cylinder, surface, on_track),
            Some(sector),
            "{name} {sector}"
        );
    }
}

/// The turn of a sector by the drive's skews, to DiskSim's six digits.
#[test]
fn sectors_are_at_the_angle_disksim_finds() {
    let run = layout("cheetah-9lp").run(1_975_456, 4);
    assert_eq!((run.sectors, run.span, run.sectors_per_track), (4, 4, 254));
    let turn = f64::from(run.angle) / 254.0;
    assert!((turn - 0.279_527).abs() < 1e-6, "{turn}");
    // Request 14 of its recording crosses a track end.
    assert_eq!(layout("cheetah-9lp").run(3_883_828, 8).sectors, 7);
}

/// Every data sector of a measured drive is found again, and in rising order of place.
#[test]
fn measured_layouts_lose_no_sector() {
    for name in ["cheetah-9lp", "ibm-18es", "hp-c2249a", "hp-c3323a"] {
        let layout = layout(name);
        let (mut sector, mut before) = (0, None);
        while sector < layout.sectors() {
            let run = layout.run(sector, u32::MAX);
            let at = run.position;
            let place = Some((at.cylinder, at.surface, at.sector));
            assert!(before < place, "{name} {sector}");
            assert!(
                at.sector + run.span <= run.sectors_per_track,
                "{name} {sector}"
            );
            before = place;
            assert_eq!(
                layout.sector_at(at.cylinder, at.surface, at.sector),
                Some(sector),
                "{name}"
            );
            let last = layout.locate(sector + u64::from(run.sectors) - 1);
            assert_eq!(last.sector, at.sector + run.span - 1, "{name} {sector}");
            sector += u64::from(run.sectors);
        }
        assert_eq!(sector, layout.sectors(), "{name}");
    }
}

#[test]
fn measured_seeks_go_through_their_points() {
    let curve = seek("cheetah-9lp");
    assert_eq!(curve.time(1).ns(), 831_000);
    // Between listed distances, as DiskSim gives it for the first request of the recording.
    assert_eq!(curve.time(648).ns(), 3_513_720);
    assert_eq!(curve.time(2_998 - 648).ns(), 5_675_000);
    assert_eq!(seek("ibm-18es").time(10_892).ns(), 12_388_240);
    assert_eq!(seek("hp-c3323a").time(317).ns(), 6_387_148);
    assert_eq!(seek("hp-c2249a").time(10).ns(), 4_990_000);
    // A measured dip, for which a search must not stop early.
    let curve = seek("ibm-18es");
    assert!(curve.floor(2_000) < curve.time(2_000));
    assert_eq!(curve.floor(2_000), curve.time(3_400));
    assert_eq!(seek("ibm-18es-linear").full_stroke().ns(), 12_742_000);
    assert_eq!(seek("cheetah-9lp-linear").full_stroke().ns(), 10_627_000);
}

#[test]
fn data_sheet_figures_come_out() {
    let near =
        |found: f64, wanted: f64, tolerance: f64| (found - wanted).abs() <= tolerance * wanted;
    let laptop = summary("travelstar-5k160");
    assert!(near(laptop.capacity_gb(), 160.0, 0.001));
    assert!(near(laptop.average_seek_ms, 11.0, 0.001), "{laptop:?}");
    assert!(near(laptop.full_stroke_ms, 20.0, 0.001), "{laptop:?}");
    assert_eq!(seek("travelstar-5k160").time(1), Time::from_ms(1));
    assert!(near(laptop.sustained_mb_per_s.0, 46.0, 0.01), "{laptop:?}");
    assert!(near(laptop.sustained_mb_per_s.1, 23.0, 0.02), "{laptop:?}");
    let nearline = summary("exos-x20");
    assert!(near(nearline.capacity_gb(), 20_000.0, 0.001));
    assert!(near(nearline.average_seek_ms, 7.4, 0.001), "{nearline:?}");
    assert!(
        near(nearline.sustained_mb_per_s.0, 285.0, 0.01),
        "{nearline:?}"
    );
    assert!(
        near(nearline.sustained_mb_per_s.1, 142.5, 0.02),
        "{nearline:?}"
    );
    assert_eq!(nearline.sector_bytes, 4_096);
    let dual = summary("exos-2x18");
    assert!(near(dual.capacity_gb(), 18_000.0, 0.001));
    assert!(near(dual.average_seek_ms, 7.4, 0.001), "{dual:?}");
    assert!(near(dual.full_stroke_ms, 14.2, 0.001), "{dual:?}");
    assert!(
        near(2.0 * dual.sustained_mb_per_s.0, 554.0, 0.01),
        "{dual:?}"
    );
    assert!(
        near(2.0 * dual.sustained_mb_per_s.1, 277.0, 0.02),
        "{dual:?}"
    );
    assert_eq!(
        (dual.sector_bytes, dual.surfaces, dual.zones),
        (4_096, 18, 30)
    );
    // 390 and 247 sectors on a track, 58 and 37 to the next one, 101 and 63 to the next cylinder; that the last
    // zone's end has no addresses makes it no slower.
    let measured = summary("ibm-18es").sustained_mb_per_s;
    let rate = |track: f64, skew: f64, step: f64| {
        5.0 * track * 512.0 * 120.0 / (5.0 + (4.0 * skew + step) / track) / 1e6
    };
    assert!(
        near(measured.0, rate(390.0, 58.0, 101.0), 1e-9),
        "{measured:?}"
    );
    assert!(
        near(measured.1, rate(247.0, 37.0, 63.0), 1e-9),
        "{measured:?}"
    );
}

#[test]
fn the_handbook_lists_the_figures() {
    let page = include_str!("../../../../../docs/drives.md");
    for name in names() {
        let figures = summary(name);
        let digits = figures.capacity_blocks.to_string();
        let groups: Vec<&str> = digits
            .as_bytes()
            .rchunks(3)
            .rev()
            .map(|group| std::str::from_utf8(group).expect("digits"))
            .collect();
        let (outside, inside) = figures.sustained_mb_per_s;
        let ships = drive(name).ships.map_or_else(
            || "– | – | –".to_owned(),
            |ships| {
                let scheduler = serde_json::to_value(&ships.scheduler).expect("plain data");
                let cache = match ships.write_cache {
                    Some(true) => "on",
                    _ => "off",
                };
                format!(
                    "{} | `aged-satf` {} | {cache}",
                    ships.queue_depth.expect("said"),
                    scheduler["aged-satf"]["weight"]
                )
            },
        );
        let row = format!(
            "| {} | {:.3} | {:.3} | {outside:.1} – {inside:.1} | {ships} |",
            groups.join(" "),
            figures.average_seek_ms,
            figures.full_stroke_ms,
        );
        let listed = page
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")));
        assert!(
            listed.is_some_and(|line| line.contains(&row)),
            "{name}: {row}"
        );
    }
}

#[test]
fn the_handbooks_example_is_a_drive() {
    let page = include_str!("../../../../../docs/drives.md");
    let (_, from) = page.split_once("```toml\n").expect("an example");
    let (example, _) = from.split_once("```").expect("its end");
    let drive: DriveDescription = toml::from_str(example).expect("all keys are known");
    let hardware = drive.hardware().expect("sound");
    // 4 KiB sectors, as many as `sectors` says.
    assert_eq!(hardware.blocks(), 8 * 1_999_000);
}

/// Neither reads nor writes of the estimated drives miss a revolution between tracks.
#[test]
fn estimated_skews_are_wide_enough_for_writes() {
    for name in ["travelstar-5k160", "exos-x20", "exos-2x18"] {
        let drive = drive(name);
        let settle = drive.heads.write_settle.ns() as f64 / 1e9;
        let switch = drive.heads.switch.s() + settle;
        let step = seek(name).time(1).s().max(drive.heads.switch.s()) + settle;
        for zone in layout(name).zones() {
            let turn = |skew: u32| {
                f64::from(skew) / f64::from(zone.sectors_per_track()) * drive.rotation.period_s()
            };
            assert!(turn(zone.track_skew()) > switch, "{name}");
            assert!(turn(zone.cylinder_skew()) > step, "{name}");
        }
    }
}
