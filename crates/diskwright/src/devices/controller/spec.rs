//! What a spec says of a controller.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cache_device::CacheDevice;
use super::memory_spec::{MemorySpec, WriteScheme};
use super::queues::JoinSpec;
use super::{CacheParts, Child, Controller, ControllerParts, Settings};
use crate::base::error::{Error, InputError};
use crate::base::units::{Size, Time};
use crate::devices::assembly::{DeviceTree, Site};
use crate::devices::kind::{AnyDevice, Built, DeviceKind};
use crate::devices::spindles::Spindles;
use crate::models::queue::{Scheduler, SchedulerChoice};

/// A controller of one or more devices of any kind, with a cache or without.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ControllerSpec")]
pub struct ControllerSpec<D> {
    /// The devices, whose blocks the controller has one after the other.
    pub device: Vec<D>,
    /// How many requests it works on at a time; others wait in the order of arrival. Left out, any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub queue: Option<u32>,
    /// What a message takes: to a device, from one, to the host.
    #[serde(default)]
    pub message: Time,
    /// It handles one message at a time.
    #[serde(default)]
    pub one_message: bool,
    /// What a block takes between the host and the cache; the data of one request at a time are moved.
    #[serde(default)]
    pub block: Time,
    /// The most blocks of a request that are worked on at a time: larger ones are cut into pieces, one after the other. Left out, any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_request: Option<Size>,
    /// What is next for a device of what waits for it.
    #[serde(default)]
    pub scheduler: SchedulerChoice,
    /// How many operations are under way in a device at a time. Left out, any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub outstanding: Option<u32>,
    /// Which operations that wait for a device and continue one another are joined; left out, none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<JoinSpec>,
    /// A cache in its memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySpec>,
    /// A device that caches the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheDeviceSpec<D>>,
}

/// A device that caches the devices of a controller: block n of the controller at its block n.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ControllerCacheDevice")]
pub struct CacheDeviceSpec<D> {
    /// The device.
    pub device: D,
    /// How many blocks of the controller are cached, from the first one on. Left out, as many as the device has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// When a write is complete; the cache device always has it first.
    #[serde(default)]
    pub writes: WriteScheme,
    /// What is dirty is written to the devices behind it, run after run, once all have been idle for this time; left out, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_flush: Option<Time>,
}

/// The longest message, and the longest time of a block.
const LONGEST: Time = Time::from_s(1);

impl<D: AnyDevice> ControllerSpec<D> {
    fn settings(&self, site: &Site<'_>) -> Result<Settings, Error> {
        for (key, time) in [("message", self.message), ("block", self.block)] {
            if time > LONGEST {
                let error = InputError::new(format!("a {key} that takes {time}"));
                return Err(site.locate(key, error.help(format!("accepted: up to {LONGEST}"))));
            }
        }
        for (key, number) in [("queue", self.queue), ("outstanding", self.outstanding)] {
            if number == Some(0) {
                let error = InputError::new("nothing would ever be done");
                return Err(site.locate(key, error.help("accepted: 1 or more, or no limit")));
            }
        }
        if self.join.is_some_and(|join| join.most.blocks() == 0) {
            let error = InputError::new("joined operations of no blocks");
            return Err(site.locate("join.most", error.help("accepted: 1 block or more")));
        }
        let most = self.max_request.map_or(u64::from(u32::MAX), Size::blocks);
        if most == 0 {
            let error = InputError::new("pieces of no blocks");
            return Err(site.locate("max_request", error.help("accepted: 1 block or more")));
        }
        Ok(Settings {
            queue: self.queue.unwrap_or(u32::MAX),
            message: self.message,
            is_exclusive: self.one_message,
            block: self.block,
            most: u32::try_from(most).unwrap_or(u32::MAX),
        })
    }

    fn scheduler(&self, site: &Site<'_>) -> Result<Box<dyn Scheduler>, Error> {
        let scheduler = site.scheduler(&self.scheduler, "scheduler")?;
        if scheduler.needs_geometry() {
            let message = format!(
                "a controller's queue knows LBNs only: {:?} needs a drive's geometry",
                self.scheduler.name()
            );
            let error = InputError::new(message);
            let error = error.help("give it to the queue of the drive below");
            return Err(site.locate("scheduler", error));
        }
        Ok(scheduler)
    }

    /// The cache device, and how many blocks it caches.
    fn cache_device(
        &self,
        spec: &CacheDeviceSpec<D>,
        blocks: u64,
        site: &Site<'_>,
        tree: &mut DeviceTree,
    ) -> Result<CacheParts, Error> {
        let prefix = format!("{}.cache.device.", site.path);
        let child = child_of(&spec.device, &prefix, site, tree)?;
        let most = child.blocks.min(blocks);
        let size = spec.size.map_or(most, Size::blocks);
        if size == 0 || size > most {
            let what = Size::from_blocks(size);
            let error = InputError::new(format!("a cache device of which {what} are used"));
            let help = format!("accepted: \"1 block\" to \"{most} blocks\"");
            return Err(site.locate("cache.size", error.help(help)));
        }
        let writes = spec.writes.build();
        let device = CacheDevice::new(size, writes, spec.idle_flush, child.promise);
        let scheduler = self.scheduler(site)?;
        Ok(CacheParts::Device(Box::new(device), (child, scheduler)))
    }
}

/// A device below, which is added to the tree.
fn child_of<D: AnyDevice>(
    device: &D,
    prefix: &str,
    site: &Site<'_>,
    tree: &mut DeviceTree,
) -> Result<Child, Error> {
    let built = device.build_below(site, prefix, &Spindles::alone(), tree)?;
    Ok(Child {
        device: built.id,
        blocks: tree.get(built.id).blocks(),
        promise: tree.get(built.id).promise(),
    })
}

impl<D: AnyDevice> DeviceKind for ControllerSpec<D> {
    fn build(&self, site: &Site<'_>, tree: &mut DeviceTree) -> Result<Built, Error> {
        if self.device.is_empty() {
            let error = Error::input("a controller without devices: expected 1 or more");
            return Err(site.locate("device", error));
        }
        let settings = self.settings(site)?;
        let mut devices = Vec::with_capacity(self.device.len());
        for (index, device) in self.device.iter().enumerate() {
            let prefix = format!("{}.device[{index}].", site.path);
            let child = child_of(device, &prefix, site, tree)?;
            devices.push((child, self.scheduler(site)?));
        }
        let blocks = devices.iter().map(|(child, _)| child.blocks).sum();
        let cache = match (&self.memory, &self.cache) {
            (None, None) => CacheParts::None,
            (Some(memory), None) => {
                let (memory, locks) = memory.build(blocks, site, tree)?;
                CacheParts::Memory(Box::new(memory), locks)
            }
            (None, Some(device)) => self.cache_device(device, blocks, site, tree)?,
            (Some(_), Some(_)) => {
                let error = InputError::new("a controller with two caches");
                let error =
                    error.help("leave out memory or cache; a controller may be below another one");
                return Err(site.locate("cache", error));
            }
        };
        let controller = Controller::new(ControllerParts {
            settings,
            devices,
            outstanding: self.outstanding.unwrap_or(u32::MAX),
            join: self.join,
            cache,
        });
        Ok(Built {
            id: tree.add(site.path, Box::new(controller)),
            rotation: None,
        })
    }

    fn fill_in(&mut self, _around: &Spindles) {
        let around = Spindles::alone();
        for device in &mut self.device {
            device.fill_in(&around);
        }
        if let Some(cache) = &mut self.cache {
            cache.device.fill_in(&around);
        }
    }

    fn draws_spindles(&self, _around: &Spindles) -> bool {
        let around = Spindles::alone();
        let cache = self.cache.iter().map(|cache| &cache.device);
        let mut all = self.device.iter().chain(cache);
        all.any(|device| device.draws_spindles(&around))
    }
}
