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
use crate::geometry::layout::Layout;
use crate::geometry::mechanics::Mechanics;
use crate::geometry::seek::SeekCurve;
use crate::geometry::spindle::Spindle;
use crate::hdd::interface::Interface;
use crate::hdd::{Hardware, Hdd};
use crate::units::BLOCK_BYTES;

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
            let built = hdd(spec, &checked.base)
                .map_err(|error| checked.locate("device.hdd.drive", error))?;
            if spec.queue.depth == 0 {
                let error = Error::input("a queue of depth 0 takes no request: expected 1 or more");
                return Err(checked.locate("device.hdd.queue.depth", error));
            }
            let scheduler =
                checked.scheduler(&spec.queue.scheduler, "device.hdd.queue.scheduler")?;
            tree.devices
                .push(Box::new(Hdd::new(built, spec.queue.depth, scheduler)));
            tree.paths.push("hdd".to_owned());
        }
    }
    Ok(())
}

fn hdd(spec: &HddSpec, base: &Path) -> Result<Hardware, Error> {
    hardware(&drive(&spec.drive, base)?).map_err(Error::from)
}

/// A drive's description, by its name or the path of its file.
pub fn drive(name: &str, base: &Path) -> Result<DriveDescription, Error> {
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
    description.validate().map_err(|error| error.at(place))?;
    Ok(description)
}

/// The hardware that a description describes.
pub fn hardware(description: &DriveDescription) -> Result<Hardware, InputError> {
    let layout = Layout::build(&description.layout)?;
    let seek = SeekCurve::build(&description.seek, layout.cylinders())?;
    let interface = &description.interface;
    let block_ps = match (interface.block_time, interface.rate) {
        (Some(time), _) => time.ns() * 1000,
        (None, Some(rate)) => BLOCK_BYTES * 1_000_000_000_000 / rate.bytes_per_s(),
        (None, None) => 0,
    };
    Ok(Hardware {
        mechanics: Mechanics {
            layout,
            seek,
            spindle: Spindle::new(description.rotation),
            head_switch: description.heads.switch,
            write_settle_ns: description.heads.write_settle.ns(),
        },
        blocks_per_sector: description.blocks_per_sector(),
        overhead: description.overhead,
        interface: Interface {
            block_ps,
            overlapped: interface.overlapped,
        },
    })
}
