//! Damaged inputs: valid files of every kind of which bytes are changed. Reading ends, and an error says where and is short.

use std::path::Path;
use std::sync::LazyLock;

use diskwright::base::document::from_node;
use diskwright::base::error::Error;
use diskwright::base::random::Stream;
use diskwright::devices::drives::{self, DriveFile};
use diskwright::devices::hdd::drive::DriveDescription;
use diskwright::disksim::{import_from, to_toml};
use diskwright::workload::FormatOptions;

use super::families::definitions;
use crate::disksim_files::Sample;
use crate::fuzz_targets::inputs::read_trace;
use crate::readers;
use crate::support::{RunOptions, errors, from_text, simulation::read_spec};
use crate::whole_specs;

/// What tests the limits of numbers, nests, quotes and encodings.
const TOKENS: [&[u8]; 22] = [
    b"18446744073709551616",
    b"-9223372036854775808",
    b"1e308",
    b"nan",
    b"inf",
    b"0",
    b"-1",
    b"\"",
    b"\"\"\"",
    b"[[",
    b"{",
    b"}",
    b"=",
    b",",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"#",
    b"<script>",
    b"\x1f\x8b\x08",
];

/// Changes one to eight places.
fn damage(chance: &mut Stream, bytes: &mut Vec<u8>) {
    for _ in 0..=chance.below(8) {
        let length = bytes.len() as u64;
        let at = chance.below(length + 1) as usize;
        let end = (at + chance.below(16) as usize + 1).min(bytes.len());
        match chance.below(7) {
            0 if at < bytes.len() => bytes[at] = chance.below(256) as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
            2 => drop(bytes.drain(at..end)),
            3 => {
                let copy = bytes[at..end].to_vec();
                let to = chance.below(length + 1) as usize;
                bytes.splice(to..to, copy);
            }
            4 if chance.below(4) == 0 => bytes.truncate(at),
            5 => {
                let token = TOKENS[chance.below(TOKENS.len() as u64) as usize];
                bytes.splice(at..end, token.iter().copied());
            }
            _ => {
                let token = TOKENS[chance.below(TOKENS.len() as u64) as usize];
                bytes.splice(at..at, token.iter().copied());
            }
        }
    }
}

static SAMPLES: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(readers::samples);

/// The damaged trace of a number, and whether its format is told.
fn trace(number: u64) -> (FormatOptions, Vec<u8>) {
    let mut chance = Stream::new(number, "damaged traces");
    let (name, mut bytes) = SAMPLES[chance.below(SAMPLES.len() as u64) as usize].clone();
    damage(&mut chance, &mut bytes);
    let options = FormatOptions {
        format: (chance.below(4) > 0).then(|| name.to_owned()),
        ..FormatOptions::default()
    };
    (options, bytes)
}

pub fn trace_is_wrong(number: u64) -> Option<String> {
    let (options, bytes) = trace(number);
    errors::fault(&read_trace(&options, bytes))
}

pub fn shown_trace(number: u64) -> String {
    let (options, bytes) = trace(number);
    format!("format {:?}\n{}\n", options.format, bytes.escape_ascii())
}

/// The damaged text of a spec.
pub fn spec(number: u64) -> String {
    let mut chance = Stream::new(number, "damaged specs");
    let case = whole_specs::case(definitions(), number);
    let mut bytes = toml::to_string(&case.spec)
        .expect("plain data")
        .into_bytes();
    damage(&mut chance, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn spec_is_wrong(number: u64) -> Option<String> {
    let read = read_spec(&from_text(spec(number)), &RunOptions::default());
    match read {
        // A file that it names and that is not there.
        Err(Error::File { .. }) => None,
        read => errors::fault(&read),
    }
}

/// The damaged file of a drive.
fn drive(number: u64) -> Vec<u8> {
    let mut chance = Stream::new(number, "damaged drives");
    let names = drives::names_of("hdd");
    let name = names[chance.below(names.len() as u64) as usize];
    let mut bytes = drives::text(name)
        .expect("it has a file")
        .as_bytes()
        .to_vec();
    damage(&mut chance, &mut bytes);
    bytes
}

pub fn drive_is_wrong(number: u64) -> Option<String> {
    let text = String::from_utf8_lossy(&drive(number)).into_owned();
    let read = || {
        let tree = DriveFile::parse("drive.toml".to_owned(), text)?.tree;
        let description: DriveDescription = from_node(&tree)?;
        Ok(description)
    };
    errors::fault(&read().map(|description| drop(description.hardware())))
}

pub fn shown_drive(number: u64) -> String {
    String::from_utf8_lossy(&drive(number)).into_owned()
}

/// DiskSim's files of which one is damaged.
fn parameters(number: u64) -> Sample {
    let mut chance = Stream::new(number, "damaged parameters");
    let sample = Sample::new();
    let paths: Vec<String> = sample
        .files()
        .keys()
        .map(|path| path.display().to_string())
        .collect();
    let path = &paths[chance.below(paths.len() as u64) as usize];
    let mut bytes = sample.text(path).into_bytes();
    damage(&mut chance, &mut bytes);
    sample.with(path, &String::from_utf8_lossy(&bytes))
}

pub fn parameters_are_wrong(number: u64) -> Option<String> {
    let sample = parameters(number);
    let first = Path::new(crate::disksim_files::FIRST);
    let read = import_from(sample.files(), first, &[], &[]);
    match read.map(|import| drop(to_toml(&import))) {
        // One that names a file that is not there.
        Err(Error::File { .. }) => None,
        read => errors::fault(&read),
    }
}

pub fn shown_parameters(number: u64) -> String {
    let sample = parameters(number);
    let texts = sample
        .files()
        .iter()
        .map(|(path, bytes)| format!("# {}\n{}\n", path.display(), String::from_utf8_lossy(bytes)));
    texts.collect()
}
