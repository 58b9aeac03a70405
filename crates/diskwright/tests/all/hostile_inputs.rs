//! Inputs that are made to take all memory, all of the stack, or for ever.

use std::path::Path;

use diskwright::base::error::Error;
use diskwright::devices::drives::DriveFile;
use diskwright::disksim::import_from;

use crate::disksim_files::{FIRST, Sample};
use crate::fuzz_targets::inputs::{named, read_trace};
use crate::readers;
use crate::support::counting::most_held_during;
use crate::support::{RunOptions, errors, from_text, simulation::read_spec};

/// What a small input that promises much may take.
const MOST_BYTES: isize = 16 << 20;

fn read(format: &str, bytes: Vec<u8>) -> Result<u64, Error> {
    read_trace(&named(format), bytes)
}

/// The sound file of a format, and behind it 32 MiB of one byte.
fn blown_up(sound: &[u8], byte: u8, mut archive: impl std::io::Write) {
    let block = vec![byte; 1 << 20];
    archive.write_all(sound).expect("packed");
    for _ in 0..32 {
        archive.write_all(&block).expect("packed");
    }
}

#[test]
fn archives_that_hold_much_more_than_they_are_take_no_memory() {
    for (format, sound) in readers::samples() {
        for byte in [0, b' ', b'7'] {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            blown_up(&sound, byte, &mut gzip);
            let gzip = gzip.finish().expect("packed");
            let mut zstd = zstd::Encoder::new(Vec::new(), 1).expect("a packer");
            blown_up(&sound, byte, &mut zstd);
            let zstd = zstd.finish().expect("packed");
            for (name, archive) in [("gzip", gzip), ("zstd", zstd)] {
                let held = archive.len() as isize;
                let (found, most) = most_held_during(|| read(format, archive));
                let most = most - held;
                assert!(most < MOST_BYTES, "{format} in {name}: {most} bytes");
                assert_eq!(errors::fault(&found), None, "{format} in {name}");
            }
        }
    }
}

/// What is nested so deep, or has so many parts of a key.
const DEPTH: usize = 10_000;

fn refused(what: &str, result: Result<(), Error>) {
    assert!(result.is_err(), "{what}");
    assert_eq!(errors::fault(&result), None, "{what}");
}

fn deep_texts() -> Vec<(&'static str, String)> {
    let lists = format!("seed = {}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    let unended = format!("seed = {}", "[".repeat(DEPTH));
    let tables = format!("seed = {}1{}", "{ a = ".repeat(DEPTH), " }".repeat(DEPTH));
    let keys = format!("{}a = 1", "a.".repeat(DEPTH));
    let header = format!("[{}a]\nb = 1", "a.".repeat(DEPTH));
    let tiers = format!(
        "[device.{}cache.simple]\ncapacity = 8",
        "tier.cache.".repeat(DEPTH)
    );
    let many = "[[a]]\n".repeat(DEPTH) + &"[a.b]\n".repeat(DEPTH);
    vec![
        ("lists", lists),
        ("unended lists", unended),
        ("tables", tables),
        ("a key of many parts", keys),
        ("a header of many parts", header),
        ("devices", tiers),
        ("many tables", many),
    ]
}

#[test]
fn specs_and_drives_that_are_nested_too_deep_are_refused() {
    for (what, text) in deep_texts() {
        let spec = read_spec(&from_text(text.clone()), &RunOptions::default());
        refused(what, spec.map(drop));
        let drive = DriveFile::parse("drive.toml".to_owned(), text);
        // What a drive's file says beyond its syntax is for its kind to read.
        if let Err(error) = drive {
            refused(what, Err(error));
        }
    }
}

#[test]
fn overrides_of_many_parts_are_refused() {
    let key = "a.".repeat(DEPTH) + "a=1";
    let list = format!("seed={}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    for set in [key, list] {
        let options = RunOptions {
            set: vec![set],
            ..RunOptions::default()
        };
        let spec = "[workload.synthetic]\n[device.simple]\ncapacity = 8000\n";
        refused(
            "an override",
            read_spec(&from_text(spec), &options).map(drop),
        );
    }
}

#[test]
fn parameters_that_promise_much_take_no_memory() {
    let sample = Sample::new();
    let much = (1u64 << 60).to_string();
    let promised = |text: &str| format!("{text}{much}");
    for (from, to, is_refused) in [
        // How many lines there are is seen in the file.
        (
            "Seek distances measured: 2",
            promised("Seek distances measured: "),
            false,
        ),
        (
            "Number of cylinders = 40",
            promised("Number of cylinders = "),
            true,
        ),
        (
            "Last cylinder number = 39",
            promised("Last cylinder number = "),
            true,
        ),
        (
            "Blocks per track = 20",
            promised("Blocks per track = "),
            true,
        ),
        (
            "Number of data surfaces = 2",
            promised("Number of data surfaces = "),
            true,
        ),
        (
            "Segment size (in blks) = 64",
            promised("Segment size (in blks) = "),
            true,
        ),
        (
            "slips = [ 30, 25 ]",
            format!("slips = {}", "[".repeat(DEPTH)),
            true,
        ),
    ] {
        let files = sample.clone().replace(from, &to);
        let read = || import_from(files.files(), Path::new(FIRST), &[], &[]);
        let (found, most) = most_held_during(read);
        assert!(most < MOST_BYTES, "{to:.40}: {most} bytes");
        match is_refused {
            true => refused(from, found.map(drop)),
            false => drop(found.expect(from)),
        }
    }
}

/// A number of 64 bits in a Parquet file's footer is a varint; the one of its rows is made the largest there is.
#[test]
fn a_table_that_promises_much_takes_no_memory() {
    let samples = readers::samples();
    let (_, sound) = samples
        .iter()
        .find(|(format, _)| *format == "parquet")
        .expect("one");
    let rows = read("parquet", sound.clone()).expect("a sound table");
    let small = (rows << 1) as u8;
    assert!(small < 0x80);
    let mut changed = 0;
    let from = sound.len()
        - 8
        - u32::from_le_bytes(
            sound[sound.len() - 8..][..4]
                .try_into()
                .expect("four bytes"),
        ) as usize;
    for at in from..sound.len() - 8 {
        if sound[at] != small {
            continue;
        }
        let mut bytes = sound[..at].to_vec();
        let much = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20];
        bytes.extend(much);
        bytes.extend(&sound[at + 1..sound.len() - 8]);
        let footer = (bytes.len() - from) as u32;
        bytes.extend(footer.to_le_bytes());
        bytes.extend(b"PAR1");
        let (found, most) = most_held_during(|| read("parquet", bytes));
        assert!(most < MOST_BYTES, "byte {at}: {most} bytes");
        changed += u32::from(found.is_ok_and(|found| found == rows));
    }
    println!("{changed} changes do not matter");
}
