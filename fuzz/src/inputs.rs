//! What the targets do with arbitrary bytes: they read them as files of a kind, or as what a client sends. That ends without a panic, and an
//! error says where and is short.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use diskwright::base::error::{Error, Place};
use diskwright::devices::DeviceSpec;
use diskwright::devices::drives::DriveFile;
use diskwright::disksim::{import_from, to_toml};
use diskwright::runs::serve::control;
use diskwright::runs::serve::nbd::{Export, Session, Step};
use diskwright::runs::serve::state::{Log, Reader, chunk};
use diskwright::runs::simulation::{RunOptions, SpecSource, read_spec};
use diskwright::workload::{FormatOptions, Input, open_input};

use super::errors;

/// The names of DiskSim's files.
pub const PARAMETERS: [&str; 4] = [
    "a/small.parv",
    "a/drive.diskspecs",
    "a/drive.model",
    "a/small.seek",
];

/// What stands between two of several files.
pub const BETWEEN: &[u8] = b"\n%%\n";

/// Reads bytes as the target of a name does; targets that are named here in no other way are formats of traces.
pub fn take(target: &str, bytes: &[u8]) {
    let result = match target {
        "control" => command(bytes),
        "drive" => drive(bytes),
        "nbd" => {
            nbd(bytes);
            Ok(())
        }
        "parv" => but_for_files(parameters(bytes)),
        "spec" => but_for_files(spec(bytes)),
        "state" => state(bytes),
        format => read_trace(&named(&format.replace('_', "-")), bytes.to_vec()).map(drop),
    };
    if let Some(fault) = errors::fault(&result) {
        panic!("{fault}");
    }
}

/// An input may name a file that is not there.
fn but_for_files(result: Result<(), Error>) -> Result<(), Error> {
    match result {
        Err(Error::File { .. }) => Ok(()),
        result => result,
    }
}

/// The options for a format of traces.
pub fn named(format: &str) -> FormatOptions {
    FormatOptions {
        format: Some(format.to_owned()),
        ..FormatOptions::default()
    }
}

/// Reads a trace, to the end or to an error: how many records it has.
pub fn read_trace(options: &FormatOptions, bytes: Vec<u8>) -> Result<u64, Error> {
    let input = Input::memory(Path::new("trace"), bytes)?;
    let mut reader = open_input(input, options)?;
    let mut records = 0;
    while reader.next()?.is_some() {
        let _ = reader.place();
        records += 1;
    }
    let _ = (reader.warnings(), reader.discarded());
    Ok(records)
}

/// A command to a server: it is one line, which is its place.
fn command(bytes: &[u8]) -> Result<(), Error> {
    let parsed = control::parse(&String::from_utf8_lossy(bytes));
    parsed
        .map(drop)
        .map_err(|error| error.at(Place::File("command".into())).into())
}

/// DiskSim's files, of which each may name those behind it.
fn parameters(bytes: &[u8]) -> Result<(), Error> {
    let mut rest = bytes;
    let mut files = BTreeMap::new();
    for name in PARAMETERS {
        let at = rest
            .windows(BETWEEN.len())
            .position(|window| window == BETWEEN);
        let (file, behind) = match at {
            Some(at) => (&rest[..at], &rest[at + BETWEEN.len()..]),
            None => (rest, &rest[..0]),
        };
        files.insert(PathBuf::from(name), file.to_vec());
        rest = behind;
    }
    import_from(&files, Path::new(PARAMETERS[0]), &[], &[]).map(|import| drop(to_toml(&import)))
}

/// A spec that names no file of this machine.
fn spec(bytes: &[u8]) -> Result<(), Error> {
    let source = SpecSource::Text {
        text: String::from_utf8_lossy(bytes).into_owned(),
        base: PathBuf::from("/nonexistent"),
    };
    read_spec(&source, &RunOptions::default()).map(drop)
}

/// The file of a drive of any kind.
fn drive(bytes: &[u8]) -> Result<(), Error> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let file = DriveFile::parse("drive.toml".to_owned(), text)?;
    DeviceSpec::describe_drive(&file).map(drop)
}

/// What a client of a network block device sends: the first byte says in pieces of how many bytes it comes.
fn nbd(bytes: &[u8]) {
    let Some((&piece, bytes)) = bytes.split_first() else {
        return;
    };
    let export = Export {
        size: 1 << 20,
        block: 512,
        read_only: piece & 1 != 0,
        rotational: true,
        description: "a disk".to_owned(),
    };
    let mut out = Vec::new();
    let mut session = Session::new(&mut out);
    let mut input: Vec<u8> = Vec::new();
    for piece in bytes.chunks(usize::from(piece) + 1) {
        input.extend(piece);
        loop {
            out.clear();
            let (taken, step) = session.step(&input, &export, &mut out);
            assert!(taken <= input.len(), "more taken than there was");
            assert!(out.len() <= 1 << 16, "a long answer");
            input.drain(..taken);
            match step {
                Step::Close => return,
                Step::More => break,
                _ if taken == 0 => break,
                _ => {}
            }
        }
    }
}

/// The state of a served device. What stands behind its head is the bytes as they are, or a chunk of records that they are, by the first one.
fn state(bytes: &[u8]) -> Result<(), Error> {
    let (is_chunk, bytes) = match bytes.split_first() {
        Some((&first, rest)) => (first & 1 != 0, rest),
        None => (false, bytes),
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("state");
    let identity = "a device".into();
    drop(Log::of_new_device(&path, &identity)?);
    let file = std::fs::File::options().append(true).open(&path);
    let mut file = file.expect("the state that was just begun");
    let written = match is_chunk {
        true => file.write_all(&chunk(bytes).expect("bytes that can be packed")),
        false => file.write_all(bytes),
    };
    written.expect("a writable file");
    let mut reader = Reader::open(&path, &identity)?;
    while reader.record()?.is_some() {}
    Ok(())
}
