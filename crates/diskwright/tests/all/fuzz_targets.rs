//! The fuzz targets, by what they do with bytes: every trace format has one, so that a new one is not forgotten, and what is in their corpora
//! is read as they read it. A corpus has a seed, and inputs that were found to be read wrong.

#[path = "../../../../fuzz/src/inputs.rs"]
pub mod inputs;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use diskwright::base::units::{Lbn, Time};
use diskwright::devices::drives;
use diskwright::engine::request::{Command, Op};
use diskwright::runs::serve::state::{Entry, Log};
use diskwright::workload::FORMATS;

use crate::disksim_files::Sample;
use crate::readers;
use crate::support::errors;

/// What is no format, and takes arbitrary bytes.
const OTHERS: [&str; 6] = ["control", "drive", "nbd", "parv", "spec", "state"];

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names() -> BTreeSet<String> {
    let formats = FORMATS.iter().map(|format| format.name.replace('-', "_"));
    formats.chain(OTHERS.map(str::to_owned)).collect()
}

#[test]
fn every_format_has_a_fuzz_target() {
    let text = |path: &Path| std::fs::read_to_string(path).expect("a file of the repository");
    let mut expected = names();
    for name in &expected {
        let source = text(&fuzz().join("fuzz_targets").join(format!("{name}.rs")));
        assert!(source.contains(&format!("target!(\"{name}\")")));
    }
    expected.insert("round_trip".to_owned());
    let manifest: toml::Table = text(&fuzz().join("Cargo.toml")).parse().expect("TOML");
    let targets = manifest["bin"].as_array().expect("targets");
    let names = targets.iter().filter_map(|target| target["name"].as_str());
    assert_eq!(names.map(str::to_owned).collect::<BTreeSet<_>>(), expected);
}

/// A small input of every target that it reads to the end: files of other tests, examples, and what well-behaved clients send.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds: Vec<_> = readers::samples()
        .into_iter()
        .map(|(format, bytes)| (format.replace('-', "_"), bytes))
        .collect();
    let sample = Sample::new();
    let files = inputs::PARAMETERS.map(|name| sample.text(name).into_bytes());
    let drive = drives::text("samsung-970-pro").expect("it has a file");
    let spec = include_str!("../../../../examples/tier.toml");
    seeds.extend([
        ("parv".to_owned(), files.join(inputs::BETWEEN)),
        ("drive".to_owned(), drive.into()),
        ("spec".to_owned(), spec.into()),
        ("control".to_owned(), b"media-error\thdd\t8\t16".to_vec()),
        ("nbd".to_owned(), client()),
        ("state".to_owned(), state()),
    ]);
    seeds
}

/// What a client sends in pieces of 61 bytes: flags, the option GO for the export without a name, a read, a write, a flush, the end.
fn client() -> Vec<u8> {
    let mut bytes = vec![60];
    bytes.extend(3u32.to_be_bytes());
    bytes.extend(b"IHAVEOPT");
    bytes.extend(7u32.to_be_bytes());
    bytes.extend(6u32.to_be_bytes());
    bytes.extend([0; 6]);
    for (kind, length) in [(0u16, 4096u32), (1, 512), (3, 0), (2, 0)] {
        bytes.extend(0x2560_9513_u32.to_be_bytes());
        bytes.extend(0u16.to_be_bytes());
        bytes.extend(kind.to_be_bytes());
        bytes.extend(7u64.to_be_bytes());
        bytes.extend(8192u64.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        if kind == 1 {
            bytes.extend([0xab; 512]);
        }
    }
    bytes
}

/// What is behind the head of a state that ten reads entered.
fn state() -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("state");
    let log = Log::of_new_device(&path, &"a device".into());
    let mut log = log.expect("a state that is begun");
    let head = std::fs::read(&path).expect("a state").len();
    for number in 0..10 {
        let command = Command {
            op: Op::Read,
            lbn: Lbn(64 * number),
            blocks: 8,
            fua: false,
        };
        let entered = log.enters(Time::from_ms(number), Entry::Command(command));
        entered.expect("it is noted");
    }
    log.finish(Time::from_ms(20)).expect("it is written");
    let bytes = std::fs::read(&path).expect("a state");
    [&[0], &bytes[head..]].concat()
}

fn seed(target: &str) -> PathBuf {
    fuzz().join("corpus").join(target).join("seed")
}

/// With DISKWRIGHT_BLESS set, the seeds are written.
#[test]
fn every_target_has_a_seed() {
    let seeds = seeds();
    let targets: BTreeSet<_> = seeds.iter().map(|(target, _)| target.clone()).collect();
    assert_eq!(targets, names());
    for (target, bytes) in seeds {
        let path = seed(&target);
        if std::env::var_os("DISKWRIGHT_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, &bytes).expect("written");
        }
        let found = std::fs::read(&path).expect("a seed");
        assert!(found == bytes, "{}: another seed", path.display());
    }
}

#[test]
fn what_is_in_the_corpora_is_read() {
    let mut count = 0;
    for target in names() {
        let folder = fuzz().join("corpus").join(&target);
        for entry in std::fs::read_dir(folder).expect("a corpus") {
            let path = entry.expect("an entry").path();
            println!("{}", path.display());
            inputs::take(&target, &std::fs::read(&path).expect("an input"));
            count += 1;
        }
    }
    assert!(count >= names().len());
}
