//! Drives by name or path, without a run.

use std::path::Path;

use super::imported;
use crate::base::error::Error;
use crate::devices::DeviceSpec;
use crate::devices::drives::DriveFile;
use crate::devices::hdd::Hardware;
use crate::devices::hdd::drive::Drive;
use crate::devices::kind::DriveFacts;

/// The file of a drive, by name or path.
///
/// # Errors
/// As [`DriveFile::read`].
pub(crate) fn drive_file(name: &str, base: &Path) -> Result<DriveFile, Error> {
    DriveFile::read(name, base, imported::drive)
}

/// A hard disk's drive, by name or path.
///
/// # Errors
/// As [`Drive::read`].
pub(crate) fn drive(name: &str) -> Result<Drive, Error> {
    Drive::read(name, Path::new(""), imported::drive)
}

/// A drive's figures and description, by name or path.
///
/// # Errors
/// An unknown name, with a suggestion; an unreadable or wrong file.
pub fn drive_summary(name: &str) -> Result<serde_json::Value, Error> {
    let file = drive_file(name, Path::new(""))?;
    let DriveFacts {
        figures: mut summary,
        description,
    } = DeviceSpec::describe_drive(&file)?;
    summary["id"] = serde_json::json!(name);
    summary["kind"] = serde_json::json!(file.kind()?);
    summary["description"] = description;
    if !file.warnings.is_empty() {
        summary["warnings"] = serde_json::json!(file.warnings);
    }
    Ok(summary)
}

/// The hardware of a drive, by name or path, for those who drive the mechanics themselves.
///
/// # Errors
/// As [`drive_summary`].
pub fn hardware(name: &str) -> Result<Hardware, Error> {
    drive(name).map(|drive| drive.hardware)
}
