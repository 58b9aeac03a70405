//! From what a spec says goes wrong to what is injected into a run.

use super::Checked;
use crate::base::error::{Error, InputError, unknown_name};
use crate::base::units::Time;
use crate::config::spec::{FaultKind, MediaErrorSpec};
use crate::devices::assembly::DeviceTree;
use crate::engine::Injection;
use crate::engine::device::Restart;
use crate::engine::request::DeviceId;

/// The key under a fault's kind that is wrong, and what is wrong with it.
pub type Wrong = Box<(&'static str, InputError)>;

/// What faults are said of: the devices of a tree.
#[derive(Clone, Debug)]
pub struct Targets {
    paths: Vec<String>,
    /// Whether each has a medium of its own.
    has_medium: Vec<bool>,
    /// The blocks of each.
    blocks: Vec<u64>,
    /// Whether it is known what each finds when the power returns.
    restarts: Vec<bool>,
}

impl Targets {
    /// Those of a tree.
    pub fn new(tree: &DeviceTree) -> Targets {
        Targets {
            paths: tree.paths.clone(),
            has_medium: (tree.devices.iter())
                .map(|device| device.children().is_empty())
                .collect(),
            blocks: tree.devices.iter().map(|device| device.blocks()).collect(),
            restarts: (tree.devices.iter())
                .map(|device| device.restart() != Restart::Unknown)
                .collect(),
        }
    }

    /// What goes wrong, by the names of a spec.
    ///
    /// # Errors
    /// Devices that are not there and blocks that they do not have.
    pub fn injection(&self, kind: &FaultKind) -> Result<Injection, Wrong> {
        match kind {
            FaultKind::PowerCut => Ok(Injection::PowerCut),
            FaultKind::Outage(spec) => match restarts(self) {
                Ok(()) => Ok(Injection::Outage { lasts: spec.lasts }),
                Err(error) => Err(Box::new(("outage", error))),
            },
            FaultKind::Fail(path) => match failing(path, self) {
                Ok(device) => Ok(Injection::Fail(device)),
                Err(error) => Err(Box::new(("fail", error))),
            },
            FaultKind::MediaError(spec) => media_error(spec, self),
        }
    }
}

/// What goes wrong, and when.
///
/// # Errors
/// Devices that are not there and blocks that they do not have, with the place.
pub(in crate::runs) fn injections(
    checked: &Checked,
    tree: &DeviceTree,
) -> Result<Vec<(Time, Injection)>, Error> {
    let targets = Targets::new(tree);
    let faults = checked.spec.fault.iter().enumerate();
    let injections = faults.map(|(number, fault)| {
        let injection = targets.injection(&fault.kind).map_err(|wrong| {
            let (key, error) = *wrong;
            checked.locate(&format!("fault[{number}].kind.{key}"), error.into())
        })?;
        Ok((fault.at, injection))
    });
    injections.collect()
}

/// Refuses devices of which it is not modelled what they find when the power returns.
fn restarts(tree: &Targets) -> Result<(), InputError> {
    let mut all = tree.paths.iter().zip(&tree.restarts);
    match all.find(|(_, restarts)| !**restarts) {
        None => Ok(()),
        Some((path, _)) => Err(InputError::new(format!(
            "the power of {path} cannot return: what it finds then is not modelled"
        ))
        .help("accepted: simple, curve, hdd in place without pool and power states, and arrays of them; kind = \"power-cut\" ends the run")),
    }
}

/// The devices that stand at a path, or below it.
fn standing_at(path: &str, tree: &Targets) -> Result<Vec<DeviceId>, InputError> {
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

fn unknown(path: &str, tree: &Targets) -> InputError {
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
fn failing(path: &str, tree: &Targets) -> Result<DeviceId, InputError> {
    let found = standing_at(path, tree)?;
    // Of devices in one place the last was built of the others.
    Ok(*found.last().expect("one is there"))
}

fn media_error(spec: &MediaErrorSpec, tree: &Targets) -> Result<Injection, Wrong> {
    let MediaErrorSpec {
        device: path,
        from,
        blocks,
    } = spec;
    let has_medium = |id: &DeviceId| tree.has_medium[id.0 as usize];
    let mut found =
        standing_at(path, tree).map_err(|error| Box::new(("media-error.device", error)))?;
    found.retain(has_medium);
    let &[device] = found.as_slice() else {
        let all = (0..).map(DeviceId).zip(&tree.paths);
        let media = all.filter(|(id, _)| has_medium(id));
        let media: Vec<&str> = media.map(|(_, path)| path.as_str()).collect();
        let error = InputError::new(format!("{path:?} is not one device with a medium"));
        let help = format!("accepted: {}", media.join(", "));
        return Err(Box::new(("media-error.device", error.help(help))));
    };
    let capacity = tree.blocks[device.0 as usize];
    let end = from.checked_add(*blocks);
    if *blocks == 0 {
        let error = InputError::new("no blocks that cannot be read");
        return Err(Box::new((
            "media-error.blocks",
            error.help("expected 1 or more"),
        )));
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
            Err(Box::new(("media-error.from", error.help(help))))
        }
    }
}
