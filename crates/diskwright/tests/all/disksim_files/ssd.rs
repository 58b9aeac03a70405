//! SSDs of DiskSim's extension: what they become, and that its own figures come out.

use std::path::Path;

use serde_json::json;

use super::sample::{FIRST, Sample, overrides};
use crate::support::{RunOptions, from_file, from_text_in, outcome_of, root};
use diskwright::base::error::Error;
use diskwright::devices::drives::DriveFile;
use diskwright::devices::ssd::drive::{Parallel, SsdDescription};
use diskwright::disksim::{Imported, SsdImport, import_any_from, import_from, whole_from};

type Put = (&'static str, &'static str, &'static str);

/// The set-up of the examples.
fn example() -> Sample {
    let path = root().join("examples/disksim/ssd.parv");
    Sample::new().with(FIRST, &std::fs::read_to_string(path).expect("an example"))
}

fn import(puts: &[Put]) -> Result<SsdImport, Error> {
    let (sample, puts) = (example(), overrides(puts));
    let imported = import_any_from(sample.files(), Path::new(FIRST), &[], &puts)?;
    let Imported::Ssd(import) = imported else {
        panic!("it is an SSD")
    };
    Ok(*import)
}

/// What an import comes to, for comparisons.
pub fn outcome(puts: &[Put]) -> String {
    match import(puts) {
        Ok(import) => format!("{import:?}"),
        Err(error) => error.to_string(),
    }
}

fn sound(puts: &[Put]) -> (SsdDescription, Vec<String>) {
    let import = import(puts).unwrap_or_else(|error| panic!("{error}"));
    (import.drive, import.warnings)
}

fn drive(puts: &[Put]) -> serde_json::Value {
    serde_json::to_value(sound(puts).0).expect("plain data")
}

#[test]
fn the_example_is_the_drive_of_the_library() {
    let (found, warnings) = sound(&[]);
    assert_eq!(warnings, [] as [&str; 0]);
    // 8 packages of 8 planes, 1741 of 2048 blocks of each, 63 pages of 8 blocks.
    assert_eq!(
        found.capacity_blocks().expect("sound"),
        8 * 8 * 1741 * 63 * 8
    );
    let text = diskwright::devices::drives::text("slc-classic").expect("a drive of the library");
    let classic = DriveFile::parse("slc-classic.toml".into(), text.into());
    let classic = classic.and_then(|file| SsdDescription::read(&file));
    let classic = classic.unwrap_or_else(|error| panic!("{error}"));
    let classic = serde_json::to_value(classic).expect("plain data");
    let found = serde_json::to_value(found).expect("plain data");
    for key in [
        "flash",
        "timing",
        "spare",
        "cleaning",
        "wear",
        "parallel",
        "copy_back",
        "initial",
    ] {
        assert_eq!(found[key], classic[key], "{key}");
    }
    // A package is a channel: the order of these two says the same, and so does the number of fixed levels.
    assert_eq!(found["allocation"]["fixed"], 2);
    assert_eq!(classic["allocation"]["fixed"], 1);
    assert_eq!(found["queue_depth"], 20);
}

#[test]
fn parallel_units_are_dies_and_gangs_share_channels() {
    let dies = |units| drive(&[("ssd0", "Number of parallel units", units)]);
    assert_eq!(dies("4")["flash"]["dies"], 4);
    assert_eq!(dies("4")["flash"]["planes"], 2);
    let (of_two, _) = sound(&[("ssd0", "Number of parallel units", "2")]);
    assert!(matches!(of_two.parallel, Parallel::Dies));
    let gangs = [
        ("ssd0", "Elements per gang", "2"),
        ("ssd0", "Allocation pool logic", "2"),
    ];
    let (found, warnings) = sound(&gangs);
    assert_eq!((found.flash.channels, found.flash.packages), (4, 2));
    assert_eq!(found.allocation.fixed, 4);
    assert!(warnings[0].contains("each by itself"), "{warnings:?}");
    // Packages that share nothing but their control have pins of their own.
    let [gang, _] = gangs;
    let control = drive(&[gang, ("ssd0", "Gang share", "2")]);
    assert_eq!(control["flash"]["channels"], 8);
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    for (puts, told) in [
        (
            &[("ssd0", "Blocks per element", "16000")][..],
            "16000 blocks in a package of 8 planes of 2048 blocks",
        ),
        (
            &[("ssd0", "Number of parallel units", "3")],
            "3 parallel units of 8 planes",
        ),
        (
            &[("ssd0", "Elements per gang", "3")],
            "gangs of 3 packages, of which there are 8",
        ),
        (
            &[("ssd0", "Minimum free blocks percentage", "15")],
            "to keep free what is not spare",
        ),
        (
            &[
                ("ssd0", "Allocation pool logic", "2"),
                ("ssd0", "Copy back", "0"),
            ],
            "a pool for each plane without copy back",
        ),
        (&[("ssd0", "Cleaning policy", "1")], "Cleaning policy"),
        (&[("ssd0", "Write policy", "1")], "Write policy"),
    ] {
        let error = import(puts).expect_err(told).to_string();
        assert!(error.contains(told), "{error}");
    }
    let error = import_from(example().files(), Path::new(FIRST), &[], &[]);
    let error = error.expect_err("an SSD").to_string();
    assert!(error.contains("\"SSD\" is an SSD"), "{error}");
}

#[test]
fn what_works_otherwise_is_told() {
    for (put, told) in [
        (("ssd0", "Cleaning policy", "3"), "does not look at wear"),
        (("ssd0", "Element stride pages", "4"), "in another package"),
        (("ssd0", "Bus transaction latency", "0.1"), "is left out"),
        (
            ("ssd0", "Scheduler:Scheduling policy", "3"),
            "in the order of their arrival",
        ),
        (
            ("link", "Write block transfer time", "0.001"),
            "one time of a block",
        ),
    ] {
        let (_, warnings) = sound(&[put]);
        assert!(
            warnings.iter().any(|warning| warning.contains(told)),
            "{put:?}: {warnings:?}"
        );
    }
}

#[test]
fn a_system_names_its_ssd_as_a_drive() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = example().write(folder.path());
    let whole = whole_from(example().files(), Path::new(FIRST), &[], "small.parv", &[]);
    let whole = whole.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        whole.device.pointer("/array/member/0/driver/device"),
        Some(&json!({ "ssd": { "drive": "small.parv#ssd0" } }))
    );
    let text = "[workload.synthetic]\nrequests = 300\narrivals = { poisson = '1 ms' }\nreads = 0.5\nsize = '4 KiB'\naddress = 'uniform'\n";
    let options = RunOptions {
        check: true,
        ..RunOptions::default()
    };
    let drive = format!("[device.ssd]\ndrive = '{}#ssd0'", path.display());
    for spec in [
        from_text_in(format!("{text}{drive}"), folder.path()),
        from_file(format!("{}#ssd0", path.display())),
        from_file(&path),
    ] {
        let outcome = outcome_of(&spec, &options).unwrap_or_else(|error| panic!("{error}"));
        let requests = outcome.get("requests").expect("a count");
        assert!(requests["completed"].as_u64() >= Some(300), "{requests}");
    }
}

/// The rows of the extension's own output for reads at random places and for writes one behind the other.
#[test]
fn the_figures_of_the_extension_come_out() {
    for (sequential, reads, expected) in [("0.0", "1.0", 0.136118), ("1.0", "0.0", 0.310895)] {
        let sample = example()
            .replace("generate = 10000", "generate = 250000")
            .replace(
                "sequential access = 0.0",
                &format!("sequential access = {sequential}"),
            )
            .replace("read access = 0.7", &format!("read access = {reads}"));
        let folder = tempfile::tempdir().expect("a folder");
        let spec = from_file(sample.write(folder.path()));
        let outcome = outcome_of(&spec, &RunOptions::default());
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
        let response = outcome.get("response_ms").expect("response times");
        let mean = response["mean"].as_f64().expect("a mean");
        assert!(
            (mean / expected - 1.0).abs() < 0.01,
            "{mean} for {expected}"
        );
    }
}
