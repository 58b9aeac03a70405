//! What a campaign has found: each case in a folder, as small as it gets.

use std::fs;
use std::path::{Path, PathBuf};

use super::families::Family;
use crate::whole_specs::Fault;

/// Writes a case that is wrong into a folder of its own; where that is.
pub fn write(folder: &Path, family: &Family, number: u64, fault: &Fault) -> PathBuf {
    let place = folder
        .join("found")
        .join(format!("{}-{number}", family.name));
    fs::create_dir_all(&place).expect("a folder can be made");
    // The making small may take long, or be interrupted.
    fs::write(place.join("message.txt"), format!("{}\n", fault.message)).expect("written");
    family.write_small(number, fault, &place);
    place
}
