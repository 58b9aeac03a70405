//! What the library is made of: the drives, of which one that is added or removed makes it out of date, and the hash of
//! its sources, by which results that were kept know whether it is still the same. And, for the tests, which reference data is
//! there.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=../../drives");
    let sources = [
        "src",
        "build.rs",
        "Cargo.toml",
        // Versions of what the library depends on; not there in a package of the crate alone.
        "../../Cargo.lock",
    ];
    let mut hash = Fnv::default();
    for source in sources
        .map(Path::new)
        .into_iter()
        .filter(|path| path.exists())
    {
        println!("cargo::rerun-if-changed={}", source.display());
        for file in files(source).expect("the sources can be read") {
            let name = file.to_string_lossy().replace('\\', "/");
            let text = fs::read(&file).expect("the sources can be read");
            // Lengths first, so that no two lists of files are the same bytes.
            for part in [name.as_bytes(), &text] {
                hash.add(&(part.len() as u64).to_le_bytes());
                hash.add(part);
            }
        }
    }
    println!("cargo::rustc-env=DISKWRIGHT_SOURCES={:032x}", hash.0);
    tell_reference();
}

/// The folders of the reference data: recordings of real drives and results of other simulators, which are no part of the project.
const REFERENCE: [&str; 3] = ["disksim", "libcachesim", "mqsim"];

/// Sets `reference = "disksim"` and the like for the folders that are there, and `"all"` where all of them are: tests of data that
/// is missing are ignored, unless it is required.
fn tell_reference() {
    const FOLDER: &str = "DISKWRIGHT_REFERENCE";
    const REQUIRED: &str = "DISKWRIGHT_REQUIRE_REFERENCE";
    println!("cargo::rerun-if-env-changed={FOLDER}");
    println!("cargo::rerun-if-env-changed={REQUIRED}");
    println!(
        "cargo::rustc-check-cfg=cfg(reference, values(\"disksim\", \"libcachesim\", \"mqsim\", \"all\"))"
    );
    let places = match env::var_os(FOLDER) {
        Some(folder) => vec![PathBuf::from(folder)],
        // In the checkout, or in a folder beside it.
        None => {
            let beside = fs::read_dir("../../..").into_iter().flatten().flatten();
            let beside = beside.map(|entry| entry.path().join("reference"));
            let here = PathBuf::from("../../reference");
            std::iter::once(here).chain(beside).collect()
        }
    };
    let is_required = env::var_os(REQUIRED).is_some_and(|value| value == "1");
    let mut is_whole = true;
    for group in REFERENCE {
        let found = places
            .iter()
            .map(|place| place.join(group))
            .find(|path| path.is_dir());
        if let Some(path) = &found {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        if found.is_some() || is_required {
            println!("cargo::rustc-cfg=reference=\"{group}\"");
        } else {
            is_whole = false;
        }
    }
    if is_whole {
        println!("cargo::rustc-cfg=reference=\"all\"");
    }
}

/// The file, or all files of the folder, in the order of their paths.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = fs::read_dir(path)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    let nested = entries.iter().map(|entry| files(entry));
    Ok(nested.collect::<io::Result<Vec<_>>>()?.concat())
}

/// FNV-1a with 128 bits (draft-eastlake-fnv), which needs nothing but this.
struct Fnv(u128);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        const PRIME: u128 = 0x0100_0000_0000_0000_0000_013b;
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(PRIME);
        }
    }
}
