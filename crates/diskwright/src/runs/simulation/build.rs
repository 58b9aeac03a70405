//! From a checked spec to running devices.

use std::fs;
use std::path::Path;

use super::memory::Budget;
use super::{Checked, imported, parts};
use crate::base::error::{Error, InputError, Place, Source, unknown_name};
use crate::base::random::Stream;
use crate::base::units::quantities::Rotation;
use crate::config::array::{ArraySpec, SpindlesSpec};
use crate::config::cache::CacheSpec;
use crate::config::drive::DriveDescription;
use crate::config::spec::{DeviceSpec, HddSpec};
use crate::config::tree::Node;
use crate::config::{drives, from_node};
use crate::devices::array::{Array, Child};
use crate::devices::hdd::buffer::parameters::BufferDescription;
use crate::devices::hdd::cache::CacheParts;
use crate::devices::hdd::{Hardware, Hdd, Overhead};
use crate::disksim;
use crate::engine::device::Device;
use crate::engine::request::DeviceId;
use crate::models::cache::BlockCache;
use crate::models::cache::replacement::Setting;
use crate::models::geometry::spindle::Spindle;

/// The devices of a spec, children before their parents, and their paths in the tree.
pub struct Tree {
    pub devices: Vec<Box<dyn Device>>,
    pub paths: Vec<String>,
    /// What the drives' files gave cause to warn of.
    pub warnings: Vec<String>,
    /// What the devices may come to need.
    pub memory: Budget,
}

impl Tree {
    /// Adds a device behind its children.
    fn add(&mut self, path: String, device: Box<dyn Device>) -> DeviceId {
        self.devices.push(device);
        self.paths.push(path);
        DeviceId(self.devices.len() as u32 - 1)
    }
}

/// Builds the whole tree.
pub fn devices(checked: &Checked) -> Result<Tree, Error> {
    let mut tree = Tree {
        devices: Vec::new(),
        paths: Vec::new(),
        warnings: Vec::new(),
        memory: Budget::new(),
    };
    device(&checked.spec.device, "", None, checked, &mut tree)?;
    Ok(tree)
}

/// A device that is in the tree.
struct Built {
    id: DeviceId,
    /// The speed of its drive's platters, where it is a hard disk.
    rotation: Option<Rotation>,
}

/// The array that a device is a member of.
#[derive(Clone, Copy)]
struct Above<'a> {
    spec: &'a ArraySpec,
    path: &'a str,
}

/// A device and all below it; `prefix` is what its path in the tree begins with. What the spec says of a device stands at its path
/// behind `device.`, and the names of its random streams begin with its path.
fn device(
    spec: &DeviceSpec,
    prefix: &str,
    above: Option<Above<'_>>,
    checked: &Checked,
    tree: &mut Tree,
) -> Result<Built, Error> {
    match spec {
        DeviceSpec::Hdd(spec) => hdd(spec, format!("{prefix}hdd"), above, checked, tree),
        DeviceSpec::Array(spec) => array(spec, format!("{prefix}array"), checked, tree),
    }
}

/// The array at `path`, and its members.
fn array(
    spec: &ArraySpec,
    path: String,
    checked: &Checked,
    tree: &mut Tree,
) -> Result<Built, Error> {
    let locate = |key: &str, error| checked.locate(&format!("device.{path}.{key}"), error);
    if spec.member.is_empty() {
        let error = Error::input("an array without members: expected 1 or more");
        return Err(locate("member", error));
    }
    let checks = spec.spindles.check();
    checks.map_err(|error| locate("spindles", error.into()))?;
    let above = Some(Above { spec, path: &path });
    let mut built = Vec::with_capacity(spec.member.len());
    for (index, member) in spec.member.iter().enumerate() {
        let prefix = format!("{path}.member[{index}].");
        built.push(device(member, &prefix, above, checked, tree)?);
    }
    if let SpindlesSpec::Synchronised(_) = spec.spindles {
        one_speed(&built).map_err(|error| locate("spindles", error.into()))?;
    }
    let child = |built: &Built| {
        let device = &tree.devices[built.id.0 as usize];
        Child {
            device: built.id,
            blocks: device.blocks(),
            promise: device.promise(),
        }
    };
    let children: Vec<Child> = built.iter().map(child).collect();
    let capacities: Vec<u64> = children.iter().map(|child| child.blocks).collect();
    let layout = spec.layout.build(&capacities);
    let layout = layout.map_err(|error| locate("layout", error.into()))?;
    let array = Array::new(layout, &children);
    Ok(Built {
        id: tree.add(path, Box::new(array)),
        rotation: None,
    })
}

/// Refuses disks that cannot turn together.
fn one_speed(members: &[Built]) -> Result<(), InputError> {
    let mut speeds = members.iter().filter_map(|member| member.rotation);
    let Some(first) = speeds.next() else {
        return Ok(());
    };
    match speeds.find(|speed| *speed != first) {
        Some(other) => Err(InputError::new(format!(
            "disks that turn at {first} and at {other} cannot be synchronised"
        ))
        .help("write spindles = \"free\", or give all members drives of one speed")),
        None => Ok(()),
    }
}

/// The hard disk at `path`, and the cache in front of it, if there is one.
fn hdd(
    spec: &HddSpec,
    path: String,
    above: Option<Above<'_>>,
    checked: &Checked,
    tree: &mut Tree,
) -> Result<Built, Error> {
    let locate = |key: &str, error| checked.locate(&format!("device.{path}.{key}"), error);
    let Drive {
        description,
        mut hardware,
        mut warnings,
    } = drive(&spec.drive, &checked.base).map_err(|error| locate("drive", error))?;
    tree.warnings.append(&mut warnings);
    let cylinders = hardware.mechanics.layout.cylinders();
    tree.memory
        .take(
            u64::from(cylinders) * PER_CYLINDER,
            format_args!("the seek times of a drive of {cylinders} cylinders"),
            "simulate fewer drives, or drives with fewer cylinders",
        )
        .map_err(|error| locate("drive", error.into()))?;
    hardware.buffer = buffer(spec, &description).map_err(|error| locate("buffer", error.into()))?;
    if let Some(overhead) = &spec.overhead {
        hardware.overhead = overhead.resolve(hardware.overhead);
    }
    hardware.chance = Stream::new(checked.spec.seed, &path);
    let built = |id| Built {
        id,
        rotation: Some(description.rotation),
    };
    hardware.mechanics.spindle = spindle(spec, &path, above, description.rotation, checked);
    if spec.queue.depth == 0 {
        let error = Error::input("a queue of depth 0 takes no request: expected 1 or more");
        return Err(locate("queue.depth", error));
    }
    let clustering = spec
        .queue
        .clustering()
        .map_err(|(key, error)| locate(&format!("queue.{key}"), error))?;
    let (overhead, interface) = (hardware.overhead, hardware.interface);
    let memory = &mut tree.memory;
    let parts = parts::disk(
        spec,
        &description,
        hardware,
        clustering,
        &path,
        checked,
        memory,
    )?;
    let blocks = parts.blocks();
    let cache = spec.cache.as_ref().map(|cache| {
        let cache_path = format!("{path}.cache");
        Ok::<_, Error>(CacheParts {
            cache: block_cache(cache, &cache_path, blocks, checked, memory)?,
            write_policy: cache.write_policy,
            overhead: cache.hit_overhead.map_or(overhead, Overhead::before_any),
            interface,
        })
    });
    let hdd = Hdd::new(parts, cache.transpose()?);
    Ok(built(tree.add(path, Box::new(hdd))))
}

/// How the platters of the hard disk at `path` turn: as the array that it is in has them, if it is in one.
fn spindle(
    spec: &HddSpec,
    path: &str,
    above: Option<Above<'_>>,
    rotation: Rotation,
    checked: &Checked,
) -> Spindle {
    let seed = checked.spec.seed;
    let deviation = above.map_or(0.0, |above| above.spec.spindles.deviation(seed, path));
    // What turns together is drawn together.
    let drawn_at = match above {
        Some(above) if matches!(above.spec.spindles, SpindlesSpec::Synchronised(_)) => above.path,
        _ => path,
    };
    let angle = spec.angle.unwrap_or_default().resolve(seed, drawn_at);
    Spindle::new(rotation.deviating(deviation)).starting_at(angle)
}

/// The cache at `path` in the tree of devices, in front of a drive of `blocks` blocks.
fn block_cache(
    spec: &CacheSpec,
    path: &str,
    blocks: u64,
    checked: &Checked,
    memory: &mut Budget,
) -> Result<BlockCache, Error> {
    let locate = |key: &str, error: Error| checked.locate(&format!("device.{path}.{key}"), error);
    let (frames, per_frame) = spec.frames().map_err(|(key, error)| locate(key, error))?;
    let needs = spec.memory(frames, per_frame, blocks);
    memory
        .take(
            needs.frames,
            format_args!("a cache of {frames} frames of {}", spec.block_size),
            "write a smaller size, or a larger block_size",
        )
        .map_err(|error| locate("size", error.into()))?;
    memory
        .take(
            needs.policy,
            format_args!("{:?} for {frames} cache blocks", spec.policy.name()),
            "give the policy fewer ghosts or the cache a smaller size",
        )
        .map_err(|error| locate("policy", error.into()))?;
    let setting = Setting {
        capacity: frames,
        chance: Stream::new(checked.spec.seed, path),
    };
    let policy = checked.replacement(&spec.policy, &format!("device.{path}.policy"), &setting)?;
    Ok(BlockCache::new(frames, per_frame, policy))
}

/// The buffer of a hard disk: the drive's, as far as the spec does not change it.
fn buffer(
    spec: &HddSpec,
    drive: &DriveDescription,
) -> Result<Option<BufferDescription>, InputError> {
    let buffer = spec.buffer().resolve(drive.buffer.clone())?;
    if let Some(buffer) = &buffer {
        buffer.check(drive.sector_size.blocks())?;
    }
    Ok(buffer)
}

/// A drive that a spec or a command names.
pub struct Drive {
    /// What its file says.
    pub description: DriveDescription,
    /// What is built from that.
    pub hardware: Hardware,
    /// What was made of its file otherwise than it is written.
    pub warnings: Vec<String>,
}

/// Bytes for each cylinder of a drive: its seek time, the least of that and all longer ones, and both again while they are worked out.
const PER_CYLINDER: u64 = 16;

/// The endings of files that describe drives: our own, and DiskSim's.
const ENDINGS: [&str; 2] = [".toml", ".parv"];

/// Whether a drive is named by its file.
pub fn is_file(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// A drive by its name, or by the path of its file, which starts at `base`.
///
/// # Errors
/// An unknown name, with a suggestion; a file that cannot be read or is wrong, with the place.
pub fn drive(name: &str, base: &Path) -> Result<Drive, Error> {
    if let Some(text) = drives::text(name) {
        return described(format!("{name}.toml"), text.to_owned());
    }
    let path = base.join(name);
    if !is_file(name) {
        let mut error = unknown_name("drive", name, &drives::names());
        error.help = error.help.map(|help| {
            format!("{help}; or the path of a drive's .toml file or of a .parv file of DiskSim's")
        });
        return Err(error.into());
    }
    if imported::is_set_up(&path) {
        let import = disksim::import(&path, &[])?;
        let hardware = import.drive.hardware()?;
        return Ok(Drive {
            description: import.drive,
            hardware,
            warnings: import.warnings,
        });
    }
    let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, "read", error))?;
    described(path.display().to_string(), text)
}

/// The drive that a TOML text describes.
fn described(source: String, text: String) -> Result<Drive, Error> {
    let place = Place::File(source.clone().into());
    let tree = Node::parse(&Source::new(source, text))?;
    let description: DriveDescription = from_node(&tree)?;
    let hardware = description.hardware().map_err(|error| error.at(place))?;
    Ok(Drive {
        description,
        hardware,
        warnings: Vec::new(),
    })
}
