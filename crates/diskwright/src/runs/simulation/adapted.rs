//! The values of a spec change between its text and its check: by what the command line adds, and by what is given in another form.

use std::path::{MAIN_SEPARATOR, absolute};

use super::imported::SetUp;
use super::{RunOptions, custom};
use crate::base::document::{Node, Override};
use crate::base::error::Error;
use crate::devices::drives;
use crate::devices::{with_drives, with_spindles};

/// Changes the values of a spec by the options of a run, completes a set-up of DiskSim's, has `adapt` change the rest, and resolves the names
/// of custom policies.
///
/// # Errors
/// An option that is not understood, with its place; those of `adapt`.
pub(super) fn apply(
    options: &RunOptions,
    set_up: Option<&mut SetUp>,
    adapt: &dyn Fn(&mut Node) -> Result<(), Error>,
    tree: &mut Node,
) -> Result<(), Error> {
    for assignment in &options.set {
        tree.set(Override::parse("--set", assignment)?)?;
    }
    for assignment in &options.vary {
        tree.set(Override::parse("--vary", assignment)?)?;
    }
    if let Some(point) = &options.point {
        point.apply(tree)?;
    }
    if let Some(drive) = &options.drive {
        let drive = from_here(drive);
        for key in drive_keys(tree) {
            tree.set(Override::from_option("--drive", key, &drive))?;
        }
    }
    if let Some(trace) = &options.trace {
        let trace = absolute(trace).map_err(|error| Error::file(trace, "open", error))?;
        let path = "workload.trace".to_owned();
        let trace = trace.to_string_lossy();
        tree.set(Override::from_option("--trace", path, &trace))?;
        for other in ["synthetic-clone", "synthetic", "fio", "processes"] {
            tree.remove(&format!("workload.{other}"));
        }
    }
    if let Some(set_up) = set_up {
        set_up.complete(tree)?;
    }
    // A recorded trace is the same with every seed of a sweep: its platters start anywhere, unless the spec gives the angle.
    if options.point.is_some() && tree.get("workload.trace").is_some() {
        for disk in with_spindles(tree) {
            let angle = format!("{disk}.angle");
            if tree.get(&angle).is_none() {
                tree.set(Override::from_option("the sweep", angle, "random"))?;
            }
        }
    }
    adapt(tree)?;
    custom::resolve(tree, &options.schedulers, &options.replacements);
    Ok(())
}

/// A drive named on the command line: a name stays, a path becomes absolute.
fn from_here(drive: &str) -> String {
    let is_path = drive.contains(MAIN_SEPARATOR) || drives::is_file(drive);
    let absolute = is_path.then(|| absolute(drive).ok()).flatten();
    absolute.map_or_else(
        || drive.to_owned(),
        |path| path.to_string_lossy().into_owned(),
    )
}

/// The keys of the devices' drives; where the spec has no device with one, that of a hard disk that is to be its device.
pub(crate) fn drive_keys(tree: &Node) -> Vec<String> {
    let mut devices = with_drives(tree);
    if devices.is_empty() {
        devices.push("device.hdd".to_owned());
    }
    devices
        .iter()
        .map(|device| format!("{device}.drive"))
        .collect()
}
