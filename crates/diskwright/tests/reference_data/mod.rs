//! Where the reference data are: recordings of real drives and results of other simulators.

use std::path::{Path, PathBuf};

/// A file of the reference data, or `None`, with a word about it, where there is none. Looked for in the folder that
/// DISKWRIGHT_REFERENCE names, or else in a folder `reference` of the checkout or of one beside it.
pub fn reference(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = match std::env::var_os("DISKWRIGHT_REFERENCE") {
        Some(folder) => vec![PathBuf::from(folder)],
        None => {
            let beside = std::fs::read_dir(root.join(".."))
                .into_iter()
                .flatten()
                .flatten();
            let beside = beside.map(|entry| entry.path().join("reference"));
            std::iter::once(root.join("reference"))
                .chain(beside)
                .collect()
        }
    };
    let mut paths = folders.iter().map(|folder| folder.join(name));
    let found = paths.find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: no reference file {name} (name its folder in DISKWRIGHT_REFERENCE)");
    }
    found
}
