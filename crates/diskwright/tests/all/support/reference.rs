//! Where the reference data are: recordings of real drives and results of other simulators.
//!
//! `build.rs` looks for their folders and tells which are there: `cfg(reference = "disksim")`, `"all"` for all of them. Tests of
//! what is missing are ignored, unless DISKWRIGHT_REQUIRE_REFERENCE=1 asks for them: then they fail.

use std::path::{Path, PathBuf};

use super::root;

/// The folders of the data.
const GROUPS: [(&str, bool); 3] = [
    ("disksim", cfg!(reference = "disksim")),
    ("libcachesim", cfg!(reference = "libcachesim")),
    ("mqsim", cfg!(reference = "mqsim")),
];

/// Where the data may be: in the folder that DISKWRIGHT_REFERENCE names, or else in a folder `reference` of the checkout or of one
/// beside it.
fn places() -> Vec<PathBuf> {
    if let Some(folder) = std::env::var_os("DISKWRIGHT_REFERENCE") {
        return vec![PathBuf::from(folder)];
    }
    let beside = std::fs::read_dir(root().join(".."))
        .into_iter()
        .flatten()
        .flatten();
    let beside = beside.map(|entry| entry.path().join("reference"));
    std::iter::once(root().join("reference"))
        .chain(beside)
        .collect()
}

fn found(name: &str, is_there: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut paths = places().into_iter().map(|folder| folder.join(name));
    paths.find(|path| is_there(path))
}

/// A file of the reference data.
#[track_caller]
pub fn reference(name: &str) -> PathBuf {
    found(name, Path::is_file).unwrap_or_else(|| {
        panic!("the reference data is missing: no file {name} (name its folder in DISKWRIGHT_REFERENCE)")
    })
}

/// Data that came after the build must not leave its tests ignored.
#[test]
fn no_test_is_ignored_whose_data_is_there() {
    for (group, is_known) in GROUPS {
        assert!(
            is_known || found(group, Path::is_dir).is_none(),
            "the reference data in {group} came after the build: touch crates/diskwright/build.rs"
        );
    }
}
