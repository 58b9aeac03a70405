#![no_main]
//! Bytes as files of DiskSim's parameters: they become a drive or an error, which must say where.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arbitrary::Arbitrary;
use diskwright::disksim::{import_from, to_toml};
use diskwright::base::error::Error;

/// One of a few names, so that files name one another.
#[derive(Arbitrary, Debug)]
enum Named {
    /// Where reading begins.
    First,
    /// What `source` may name.
    Drive,
    /// The same, or a seek curve.
    Seek,
}

libfuzzer_sys::fuzz_target!(|files: Vec<(Named, Vec<u8>)>| {
    let files: BTreeMap<PathBuf, Vec<u8>> = files
        .into_iter()
        .map(|(named, bytes)| {
            let name = match named {
                Named::First => "parv",
                Named::Drive => "drive",
                Named::Seek => "seek",
            };
            (PathBuf::from(name), bytes)
        })
        .collect();
    match import_from(&files, Path::new("parv"), &[], &[]) {
        Ok(import) => drop(to_toml(&import)),
        Err(Error::Input(error)) => assert!(error.place.is_some(), "no place: {error}"),
        Err(Error::File { .. }) => {}
        Err(error) => panic!("not an error of the input: {error}"),
    }
});
