//! From a checked spec to running devices.

use std::fs;
use std::path::Path;

use super::Checked;
use crate::config::drive::DriveDescription;
use crate::config::spec::{DeviceSpec, HddSpec};
use crate::config::tree::Node;
use crate::config::{drives, from_node};
use crate::device::Device;
use crate::error::{Error, InputError, Place, Source, unknown_name};
use crate::hdd::buffer::parameters::BufferDescription;
use crate::hdd::{Hardware, Hdd};

/// The devices of a spec, children before their parents, and their paths in the tree.
pub struct Tree {
    pub devices: Vec<Box<dyn Device>>,
    pub paths: Vec<String>,
}

/// Builds the whole tree.
pub fn devices(checked: &Checked) -> Result<Tree, Error> {
    let mut tree = Tree {
        devices: Vec::new(),
        paths: Vec::new(),
    };
    device(&checked.spec.device, checked, &mut tree)?;
    Ok(tree)
}

fn device(spec: &DeviceSpec, checked: &Checked, tree: &mut Tree) -> Result<(), Error> {
    match spec {
        DeviceSpec::Hdd(spec) => {
            let (description, mut hardware) = drive(&spec.drive, &checked.base)
                .map_err(|error| checked.locate("device.hdd.drive", error))?;
            hardware.buffer = buffer(spec, &description)
                .map_err(|error| checked.locate("device.hdd.buffer", error.into()))?;
            let path = "hdd".to_owned();
            let spindle = &mut hardware.mechanics.spindle;
            *spindle = spindle.starting_at(spec.angle.resolve(checked.spec.seed, &path));
            if spec.queue.depth == 0 {
                let error = Error::input("a queue of depth 0 takes no request: expected 1 or more");
                return Err(checked.locate("device.hdd.queue.depth", error));
            }
            let scheduler =
                checked.scheduler(&spec.queue.scheduler, "device.hdd.queue.scheduler")?;
            tree.devices
                .push(Box::new(Hdd::new(hardware, spec.queue.depth, scheduler)));
            tree.paths.push(path);
        }
    }
    Ok(())
}

/// The buffer of a hard disk: the drive's, as far as the spec does not change it.
fn buffer(
    spec: &HddSpec,
    drive: &DriveDescription,
) -> Result<Option<BufferDescription>, InputError> {
    let buffer = spec.buffer.resolve(drive.buffer.clone())?;
    if let Some(buffer) = &buffer {
        buffer.check(drive.sector_size.blocks())?;
    }
    Ok(buffer)
}

/// A drive by its name or the path of its file: the description, and the hardware built from it.
pub fn drive(name: &str, base: &Path) -> Result<(DriveDescription, Hardware), Error> {
    let (source, text) = match drives::text(name) {
        Some(text) => (format!("{name}.toml"), text.to_owned()),
        None if name.ends_with(".toml") => {
            let path = base.join(name);
            let text =
                fs::read_to_string(&path).map_err(|error| Error::file(&path, "read", error))?;
            (path.display().to_string(), text)
        }
        None => {
            let mut error = unknown_name("drive", name, &drives::names());
            error.help = error
                .help
                .map(|help| format!("{help}; or the path of a drive's .toml file"));
            return Err(error.into());
        }
    };
    let place = Place::File(source.clone().into());
    let tree = Node::parse(&Source::new(source, text))?;
    let description: DriveDescription = from_node(&tree)?;
    let hardware = description.hardware().map_err(|error| error.at(place))?;
    Ok((description, hardware))
}
