//! From a whole system to a spec: driver, devices, organisations, measurement.

use std::path::{Path as FilePath, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::controllers;
use super::convert::{self, Settings, check_around, drive_at, load, queues};
use super::files::{Disk, Files};
use super::generators;
use super::loader::Loader;
use super::organisations::{Member, Organised, Part, organise};
use super::overrides::Override;
use super::queue::{ALL, BY_LBN, DriverQueue, told_of_positions};
use super::shared::Group;
use super::system::System;
use super::topology::{DEVICES, DeviceKind, Path};
use super::warnings::Warnings;
use super::{shared, simple, ssd};
use crate::base::error::{Error, InputError};
use crate::base::units::{BLOCK_BYTES, Size};
use crate::config::spec::MeasureSpec;
use crate::devices::spindles::AngleSpec;
use crate::workload::{DevicePlace, ProcessesSpec};

/// What a whole system amounts to.
#[derive(Clone, Debug, Serialize)]
pub struct Whole {
    /// How many devices there are.
    pub devices: usize,
    /// The tree of devices, as a spec has it: the value of `device`. Drives are named by the given text, `#` and their name.
    pub device: Value,
    /// The warm-up.
    pub measure: MeasureSpec,
    /// A system of one disk with a driver that does no more than to hold requests back: the settings around that disk. The driver
    /// can then be the host's queue.
    pub alone: Option<Settings>,
    /// Where the devices that requests name are, by their numbers; what maps a trace's devices is applied.
    pub places: Vec<DevicePlace>,
    /// What arrival times of a trace are multiplied by.
    pub trace_time_scale: f64,
    /// Traces have a mapping of devices.
    pub has_mappings: bool,
    /// The load that its generators make, where it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<ProcessesSpec>,
    /// When requests have waited too long in a driver's queue, where it counts that in a run of processes: the value of `timeout`.
    pub timeout: Option<Value>,
    /// What is ignored, replaced or taken otherwise than it is written, each with its place.
    pub warnings: Vec<String>,
}

/// Reads a system of any number of devices, with values put over those of its files. Drives are named `drive` and a suffix that `drive`'s
/// reader understands: `#NAME`.
///
/// # Errors
/// A file that cannot be read or does not say what it should, with file, line and column; what has no counterpart.
pub fn whole(path: &FilePath, drive: &str, overrides: &[Override]) -> Result<Whole, Error> {
    whole_from(&Disk, path, &[], drive, overrides)
}

/// The same, with files from elsewhere, and with further folders in which those that others name are looked for.
///
/// # Errors
/// As [`whole`].
pub fn whole_from(
    files: &dyn Files,
    path: &FilePath,
    search: &[PathBuf],
    drive: &str,
    overrides: &[Override],
) -> Result<Whole, Error> {
    let mut loader = Loader::new(files, search.to_vec());
    let (mut system, routes) = load(path, overrides, &mut loader)?;
    let mut warnings = std::mem::take(&mut system.warnings);
    let reader = Reader {
        system: &system,
        routes: &routes,
        drive,
    };
    reader
        .read(&mut loader, &mut warnings)
        .map(|whole| Whole {
            warnings: warnings.texts(),
            ..whole
        })
        .map_err(Error::from)
}

struct Reader<'s> {
    system: &'s System,
    routes: &'s [Path],
    drive: &'s str,
}

impl Reader<'_> {
    fn read(&self, loader: &mut Loader<'_>, warnings: &mut Warnings) -> Result<Whole, InputError> {
        for component in self.routes.iter().flat_map(Path::components) {
            component.check(warnings)?;
        }
        check_around(self.system, warnings)?;
        let driver = self.routes[0].driver.block("Scheduler")?;
        let queue = DriverQueue::read(driver, warnings)?;
        let mut rotations = Vec::new();
        let mut built = Vec::new();
        for route in self.routes {
            built.push(match route.kind() {
                DeviceKind::Simple => {
                    self.warn_of_bus(route, "a simple disk has no transfers", warnings)?;
                    simple::device(route, warnings)?
                }
                DeviceKind::Ssd => {
                    self.warn_of_bus(route, "an SSD has a link of its own", warnings)?;
                    let blocks = ssd::drive(route, warnings)?
                        .capacity_blocks()
                        .map_err(|error| error.at(route.device.at.place()))?;
                    (json!({ "ssd": { "drive": self.name(route) } }), blocks)
                }
                DeviceKind::Disk => {
                    let (drive, _) = drive_at(route, loader, warnings)?;
                    rotations.push(drive.rotation);
                    let built = drive
                        .hardware()
                        .map_err(|error| error.at(route.device.at.place()))?;
                    (self.disk(route, warnings)?, built.blocks())
                }
            });
        }
        let caching = controllers::caching(self.routes)?;
        let mut members = Vec::new();
        for (route, (device, blocks)) in self.routes.iter().zip(&built) {
            if caching.contains(&route.device.name) {
                continue;
            }
            let controlled = self.behind_controller(route, device, &built, warnings)?;
            members.push(Member {
                name: route.device.name.clone(),
                number: self.number(&route.device.name),
                blocks: *blocks,
                device: behind_driver(route, &queue, controlled, warnings)?,
            });
        }
        let is_one_speed = rotations.windows(2).all(|pair| pair[0] == pair[1]);
        if !is_one_speed {
            members.iter_mut().for_each(stand_at_zero);
        }
        let spindles = match is_one_speed {
            true => json!("synchronised"),
            false => json!({ "free": { "tolerance": "0 %" } }),
        };
        let is_plain = members.iter().all(|member| is_bare_disk(&member.device));
        let mut organised = organise(self.system, &members, &caching, &spindles, warnings)?;
        shared::unite(&mut organised, &self.groups(&members)?, warnings);
        let is_alone = queue.is_plain() && self.routes.len() == 1 && is_plain;
        let settings = convert::settings_around(self.system, &self.routes[0], warnings)?;
        let (device, parts) = joined(organised, &spindles);
        Ok(Whole {
            devices: self.routes.len(),
            device,
            measure: settings.measure.clone(),
            trace_time_scale: settings.trace_time_scale,
            has_mappings: !settings.mappings.is_empty(),
            alone: is_alone.then_some(settings),
            places: self.places(&parts)?,
            processes: generators::processes(
                self.system,
                |name| self.number_in_requests(name),
                warnings,
            )?,
            timeout: queue.timeout,
            warnings: Vec::new(),
        })
    }

    /// A device with the controller before it, if that has more to do than to pass requests on, and how many requests that takes at a time.
    fn behind_controller(
        &self,
        route: &Path,
        device: &Value,
        built: &[(Value, u64)],
        warnings: &mut Warnings,
    ) -> Result<(Value, Option<u32>), InputError> {
        let Some(controller) = controllers::of(route)? else {
            return Ok((device.clone(), None));
        };
        let caching = match controllers::cache_device(controller)? {
            Some((cache, cached)) if cached == route.device.name => {
                let mut routes = self.routes.iter().zip(built);
                let found = routes.find(|(other, _)| other.device.name == cache);
                let Some((_, (caching, _))) = found else {
                    let at = controller.block("Cache")?.at("Cache device");
                    return Err(at
                        .error(format!("no device {cache:?} in the topology"))
                        .help("expected the name of a device behind the same controller"));
                };
                Some(caching.clone())
            }
            _ => None,
        };
        controllers::behind(controller, device.clone(), caching, warnings)
    }

    /// The number of a device among all, in the order in which they were made.
    fn number(&self, name: &str) -> u32 {
        let instances = &self.system.instances;
        let is_device = |name: &&String| {
            let component = instances.get(*name);
            component.is_some_and(|component| DEVICES.contains(&component.module.name))
        };
        let mut devices = self.system.order.iter().filter(is_device);
        let number = devices.position(|other| other == name);
        number.expect("a device of the topology is an instance") as u32
    }

    /// What a spec calls a drive.
    fn name(&self, route: &Path) -> String {
        match self.drive.split_once(".parv#") {
            Some((file, values)) => format!("{file}.parv#{}#{values}", route.device.name),
            None => format!("{}#{}", self.drive, route.device.name),
        }
    }

    /// A device that does not use the bus which it shares in DiskSim.
    fn warn_of_bus(
        &self,
        route: &Path,
        because: &str,
        warnings: &mut Warnings,
    ) -> Result<(), InputError> {
        if let Some(bus) = self.shared_bus(route)? {
            let name = &route.device.name;
            warnings.push(
                &route.at,
                format_args!(
                    "{name} does not wait for others on the exclusive bus {bus}: {because}"
                ),
            );
        }
        Ok(())
    }

    /// A disk as a spec has it.
    fn disk(&self, route: &Path, warnings: &mut Warnings) -> Result<Value, InputError> {
        let (_, queue) = queues(route, warnings)?;
        let name = self.name(route);
        let queue = serde_json::to_value(queue).expect("a queue is plain data");
        let mut disk = json!({ "drive": name, "buffer": true, "queue": queue });
        if let Some(bus) = self.shared_bus(route)? {
            disk["bus"] = bus.into();
        }
        Ok(json!({ "hdd": disk }))
    }

    /// Where the devices are that requests name, with what `disksim_iosim` makes of their numbers.
    fn places(&self, parts: &[Part]) -> Result<Vec<DevicePlace>, InputError> {
        let plain = |part: &Part| DevicePlace {
            device: part.number,
            offset: Size::from_blocks(part.offset),
            size: Some(Size::from_blocks(part.blocks)),
            location_scale: BLOCK_BYTES,
            size_scale: 1,
        };
        let mut places: Vec<DevicePlace> = Vec::new();
        for iosim in self.system.in_force("disksim_iosim") {
            if iosim.item("I/O Mappings").is_none() {
                continue;
            }
            for item in iosim.list("I/O Mappings")? {
                let (mapping, name) = convert::mapping(self.system, item)?;
                let number = self.number_of(&name);
                let part =
                    number.and_then(|number| parts.iter().find(|part| part.number == number));
                let Some(part) = part else {
                    return Err(item
                        .at
                        .error(format!("no request can be for {name}"))
                        .help("expected a device that is in the topology, and in an organisation whose addressing mode is Parts"));
                };
                let Ok(device) = u32::try_from(mapping.device) else {
                    continue;
                };
                if places.iter().any(|place| place.device == device) {
                    continue;
                }
                places.push(DevicePlace {
                    device,
                    location_scale: location_scale(mapping.location_scale)
                        .ok_or_else(|| item.unlike("locScale", "a part of 512 or 512 and more"))?,
                    size_scale: u32::try_from(mapping.size_scale).unwrap_or(u32::MAX),
                    ..plain(&part.behind(mapping.offset).ok_or_else(|| {
                        item.at.error(format!(
                            "an offset of {} blocks on {name}, which has {}",
                            mapping.offset, part.blocks
                        ))
                    })?)
                });
            }
        }
        for part in parts {
            if !places.iter().any(|place| place.device == part.number) {
                places.push(plain(part));
            }
        }
        Ok(places)
    }

    /// The number that requests of a generator carry for a device, or for the first device of an organisation.
    fn number_in_requests(&self, name: &str) -> Option<u32> {
        let organisations = self.system.in_force("disksim_logorg");
        let organisation = organisations.iter().find(|one| one.name == name);
        let Some(organisation) = organisation else {
            return self.number_of(name);
        };
        let first = organisation.list("devices").ok()?.first()?;
        self.number_of(&first.text("a device").ok()?)
    }

    fn number_of(&self, name: &str) -> Option<u32> {
        let is_device = |route: &&Path| route.device.name == name;
        let found = self.routes.iter().find(is_device);
        found.map(|route| self.number(&route.device.name))
    }

    /// The members behind each controller of type 3, in its order.
    fn groups<'m>(&'m self, members: &'m [Member]) -> Result<Vec<Group<'m>>, InputError> {
        let mut groups: Vec<Group<'m>> = Vec::new();
        for member in members {
            let mut routes = self.routes.iter();
            let route = routes.find(|route| route.device.name == member.name);
            let Some(controller) = route.map_or(Ok(None), controllers::of)? else {
                continue;
            };
            if controller.integer("type")? != 3 {
                continue;
            }
            let same = |group: &&mut Group<'_>| group.controller.name == controller.name;
            match groups.iter_mut().find(same) {
                Some(group) => group.members.push(member),
                None => groups.push(Group {
                    controller,
                    members: vec![member],
                }),
            }
        }
        groups.retain(|group| group.members.len() > 1);
        Ok(groups)
    }

    /// The exclusive bus that a device hangs on with others.
    fn shared_bus<'p>(&self, route: &'p Path) -> Result<Option<&'p str>, InputError> {
        let Some(bus) = route.between.last() else {
            return Ok(None);
        };
        let hangs_on_it = |other: &&Path| {
            let own = other.between.last();
            own.is_some_and(|own| own.name == bus.name)
        };
        let devices = self.routes.iter().filter(hangs_on_it).count();
        let is_shared = devices > 1 && bus.integer("type")? == 1;
        Ok(is_shared.then_some(bus.name.as_str()))
    }
}

impl Part {
    /// What is behind its first blocks.
    fn behind(&self, blocks: u64) -> Option<Part> {
        (blocks < self.blocks).then(|| Part {
            number: self.number,
            offset: self.offset + blocks,
            blocks: self.blocks - blocks,
        })
    }
}

/// How many bytes a place of a trace stands for, as DiskSim takes the number: it divides whole numbers.
fn location_scale(bytes: u64) -> Option<u64> {
    match bytes {
        0 => None,
        bytes if bytes >= BLOCK_BYTES => Some(bytes / BLOCK_BYTES * BLOCK_BYTES),
        bytes => {
            let parts = BLOCK_BYTES / bytes;
            BLOCK_BYTES
                .is_multiple_of(parts)
                .then_some(BLOCK_BYTES / parts)
        }
    }
}

/// A device with the driver's queue before it.
fn behind_driver(
    route: &Path,
    queue: &DriverQueue,
    (mut device, of_controller): (Value, Option<u32>),
    warnings: &mut Warnings,
) -> Result<Value, InputError> {
    let (_, of_device) = route.depths(warnings)?;
    let mut outstanding = json!(match route.driver.integer("Use queueing in subsystem")? {
        0 => of_device,
        _ => of_controller.unwrap_or(of_device),
    });
    let mut scheduler = queue.scheduler.clone();
    if let Some(in_drive) = &queue.in_drive {
        let at = route.driver.block("Scheduler")?.at("Scheduling policy");
        let disk = device.get_mut("hdd");
        if disk.is_none() && route.kind() == DeviceKind::Disk {
            warnings.push(at, format_args!("{}: {BY_LBN}", route.driver.title()));
        } else {
            scheduler = json!({ "fcfs": {} });
            warnings.push(at, told_of_positions(route.kind()));
        }
        if let Some(disk) = disk {
            disk["queue"] = json!({ "depth": ALL, "scheduler": in_drive });
            outstanding = json!("unlimited");
        }
    }
    let mut driver = json!({
        "name": route.device.name,
        "outstanding": outstanding,
        "scheduler": scheduler,
        "device": device,
    });
    for (key, value) in [("join", &queue.join), ("priority", &queue.priority)] {
        if let Some(value) = value {
            driver[key] = value.clone();
        }
    }
    Ok(json!({ "driver": driver }))
}

/// Whether nothing but a driver's queue is before a disk.
fn is_bare_disk(device: &Value) -> bool {
    device.pointer("/driver/device/hdd").is_some()
}

/// Where a disk may be behind a driver: by itself, behind a controller, and as the one that caches the controller's.
const DISKS: [&str; 3] = [
    "/driver/device/hdd",
    "/driver/device/controller/device/0/hdd",
    "/driver/device/controller/cache/device/hdd",
];

/// Disks of different speeds cannot be synchronised, and yet all start at the same angle.
fn stand_at_zero(member: &mut Member) {
    for place in DISKS {
        if let Some(disk) = member.device.pointer_mut(place) {
            let angle = serde_json::to_value(AngleSpec::default());
            disk["angle"] = angle.expect("an angle is plain data");
        }
    }
}

/// Several devices one behind the other.
fn joined(mut organised: Vec<Organised>, spindles: &Value) -> (Value, Vec<Part>) {
    if organised.len() == 1 {
        let only = organised.remove(0);
        return (only.device, only.parts);
    }
    let (mut devices, mut parts, mut begin) = (Vec::new(), Vec::<Part>::new(), 0);
    for one in organised {
        for part in one.parts {
            // The first organisation that has a number takes its requests.
            if parts.iter().all(|other| other.number != part.number) {
                parts.push(Part {
                    offset: begin + part.offset,
                    ..part
                });
            }
        }
        begin += one.blocks;
        devices.push(one.device);
    }
    let array = json!({ "array": { "layout": "concat", "spindles": spindles, "member": devices } });
    (array, parts)
}
