//! From what a spec says goes wrong to what is injected into a run.

use super::Checked;
use crate::base::error::{Error, InputError, unknown_name};
use crate::base::units::Time;
use crate::config::spec::{FaultKind, MediaErrorSpec};
use crate::devices::assembly::DeviceTree;
use crate::engine::Injection;
use crate::engine::device::Restart;
use crate::engine::request::DeviceId;

/// What goes wrong, and when.
///
/// # Errors
/// Devices that are not there and blocks that they do not have, with the place.
pub(super) fn injections(
    checked: &Checked,
    tree: &DeviceTree,
) -> Result<Vec<(Time, Injection)>, Error> {
    let faults = checked.spec.fault.iter().enumerate();
    let injections = faults.map(|(number, fault)| {
        let locate = |key: &str, error: InputError| {
            checked.locate(&format!("fault[{number}].kind.{key}"), error.into())
        };
        let injection = match &fault.kind {
            FaultKind::PowerCut => Injection::PowerCut,
            FaultKind::Outage(spec) => {
                restarts(tree).map_err(|error| locate("outage", error))?;
                Injection::Outage { lasts: spec.lasts }
            }
            FaultKind::Fail(path) => {
                let device = failing(path, tree).map_err(|error| locate("fail", error))?;
                Injection::Fail(device)
            }
            FaultKind::MediaError(spec) => media_error(spec, tree, |key, error| {
                locate(&format!("media-error.{key}"), error)
            })?,
        };
        Ok((fault.at, injection))
    });
    injections.collect()
}

/// Refuses devices of which it is not modelled what they find when the power returns.
fn restarts(tree: &DeviceTree) -> Result<(), InputError> {
    let mut all = tree.paths.iter().zip(&tree.devices);
    match all.find(|(_, device)| device.restart() == Restart::Unknown) {
        None => Ok(()),
        Some((path, _)) => Err(InputError::new(format!(
            "the power of {path} cannot return: what it finds then is not modelled"
        ))
        .help("accepted: simple, curve, hdd in place without pool and power states, and arrays of them; kind = \"power-cut\" ends the run")),
    }
}

/// The devices that stand at a path, or below it.
fn standing_at(path: &str, tree: &DeviceTree) -> Result<Vec<DeviceId>, InputError> {
    let is_there = |found: &str| {
        let rest = found.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let paths = (0..).map(DeviceId).zip(&tree.paths);
    let found: Vec<DeviceId> = paths
        .filter(|(_, found)| is_there(found))
        .map(|(id, _)| id)
        .collect();
    if found.is_empty() {
        return Err(unknown(path, tree));
    }
    Ok(found)
}

fn unknown(path: &str, tree: &DeviceTree) -> InputError {
    if let Some(rest) = path.strip_prefix("device.")
        && standing_at(rest, tree).is_ok()
    {
        let error = InputError::new(format!("unknown device {path:?}"));
        return error.help(format!(
            "did you mean {rest:?}? Paths are those of the results"
        ));
    }
    let mut names: Vec<&str> = Vec::new();
    for found in &tree.paths {
        // A member may be named without what it is.
        let members = found.match_indices("].").map(|(at, _)| &found[..=at]);
        for name in members.chain([found.as_str()]) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    unknown_name("device", path, &names)
}

/// The device that fails, with all below it.
fn failing(path: &str, tree: &DeviceTree) -> Result<DeviceId, InputError> {
    let found = standing_at(path, tree)?;
    // Of devices in one place the last was built of the others.
    Ok(*found.last().expect("one is there"))
}

fn media_error(
    spec: &MediaErrorSpec,
    tree: &DeviceTree,
    locate: impl Fn(&str, InputError) -> Error,
) -> Result<Injection, Error> {
    let MediaErrorSpec {
        device: path,
        from,
        blocks,
    } = spec;
    let has_medium = |id: &DeviceId| tree.devices[id.0 as usize].children().is_empty();
    let mut found = standing_at(path, tree).map_err(|error| locate("device", error))?;
    found.retain(has_medium);
    let &[device] = found.as_slice() else {
        let all = (0..).map(DeviceId).zip(&tree.paths);
        let media = all.filter(|(id, _)| has_medium(id));
        let media: Vec<&str> = media.map(|(_, path)| path.as_str()).collect();
        let error = InputError::new(format!("{path:?} is not one device with a medium"));
        let help = format!("accepted: {}", media.join(", "));
        return Err(locate("device", error.help(help)));
    };
    let capacity = tree.devices[device.0 as usize].blocks();
    let end = from.checked_add(*blocks);
    if *blocks == 0 {
        let error = InputError::new("no blocks that cannot be read");
        return Err(locate("blocks", error.help("expected 1 or more")));
    }
    match end {
        Some(end) if end <= capacity => Ok(Injection::MediaError {
            device,
            blocks: *from..end,
        }),
        _ => {
            let error = InputError::new(format!(
                "{blocks} blocks from block {from}, but {path} has {capacity}"
            ));
            let help = format!("accepted: up to block {capacity}");
            Err(locate("from", error.help(help)))
        }
    }
}
