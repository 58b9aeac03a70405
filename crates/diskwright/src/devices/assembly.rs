//! Where devices are built: the tree that grows, and what is known at each place in it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::drives::ReadForeign;
use super::shared_bus::SharedBus;
use super::spindles::Spindles;
use crate::base::error::Error;
use crate::base::memory::Budget;
use crate::base::random::Stream;
use crate::engine::device::Device;
use crate::engine::request::{Command, DeviceId};
use crate::models::cache::replacement::{
    CustomReplacements, Replacement, ReplacementChoice, Setting,
};
use crate::models::queue::{CustomSchedulers, Scheduler, SchedulerChoice};

/// The devices of a spec, children before their parents, and their paths in the tree.
#[derive(Default)]
pub struct DeviceTree {
    /// The devices.
    pub devices: Vec<Box<dyn Device>>,
    /// Their paths, such as `array.member[0].hdd`.
    pub paths: Vec<String>,
    /// What results tell of each besides what it counts, such as what it is set to.
    pub facts: Vec<Map<String, Value>>,
    /// What the drives' files gave cause to warn of.
    pub warnings: Vec<String>,
    /// What the user should know of how the devices are set.
    pub notes: Vec<String>,
    /// What the devices may come to need.
    pub memory: Budget,
    /// The buses that drives share, by name.
    pub buses: BTreeMap<String, SharedBus>,
}

impl DeviceTree {
    /// Adds a device behind its children.
    pub fn add(&mut self, path: &str, device: Box<dyn Device>) -> DeviceId {
        self.devices.push(device);
        self.paths.push(path.to_owned());
        self.facts.push(Map::new());
        DeviceId(self.devices.len() as u32 - 1)
    }

    /// Has results tell something of a device that was added.
    pub fn tell(&mut self, id: DeviceId, key: &str, value: impl Into<Value>) {
        self.facts[id.0 as usize].insert(key.to_owned(), value.into());
    }

    /// A device that was added.
    pub fn get(&self, id: DeviceId) -> &dyn Device {
        &*self.devices[id.0 as usize]
    }
}

/// Where the requests come from that a device is warmed with before the run.
#[derive(Clone, Copy, Debug)]
pub enum WarmingLoad<'a> {
    /// A trace, in a file whose path begins in the spec's folder.
    Trace(&'a Path),
    /// The run's own load, from its first request on.
    Own,
    /// The places of the run's own load, from the most popular one on.
    Ranks,
}

/// Gives the requests of a load, for a device with this number of blocks, until it is told that no more are wanted.
pub type Warming<'a> =
    dyn Fn(&WarmingLoad<'_>, u64, &mut dyn FnMut(&Command) -> bool) -> Result<(), Error> + 'a;

/// What all devices of a run are built with.
#[derive(Clone, Copy)]
pub struct RunSettings<'a> {
    /// The spec's seed.
    pub seed: u64,
    /// Where relative paths in the spec start.
    pub base: &'a Path,
    /// Schedulers of the program's own.
    pub schedulers: &'a CustomSchedulers,
    /// Replacement policies of the program's own.
    pub replacements: &'a CustomReplacements,
    /// The memory that the devices are planned for, in bytes: this machine's if it is not given.
    pub memory: Option<u64>,
    /// Reads drives' files of other programs.
    pub read_foreign: ReadForeign,
    /// Gives the requests of a load, for a device with a number of blocks, until it is told that no more are wanted.
    pub warming: &'a Warming<'a>,
    /// A power cut ends the run.
    pub loses_power: bool,
    /// Adds the place of a key of the spec, given by its whole path, to an error without one.
    pub locate: &'a dyn Fn(&str, Error) -> Error,
}

/// The place of a device in the tree.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Its path in the tree, as in results; the names of its random streams begin with it.
    pub path: &'a str,
    /// What surrounds it has of spindles.
    pub spindles: &'a Spindles,
    /// What is the same for all.
    pub run: &'a RunSettings<'a>,
}

impl Site<'_> {
    /// Adds the place of a key of the device to an error without one.
    pub fn locate(&self, key: &str, error: impl Into<Error>) -> Error {
        (self.run.locate)(&format!("device.{}.{key}", self.path), error.into())
    }

    /// The stream of random numbers of the device, or of its part behind a dot.
    pub fn stream(&self, part: &str) -> Stream {
        Stream::new(self.run.seed, &format!("{}{part}", self.path))
    }

    /// The scheduler that stands at a key of the device, ready to run.
    ///
    /// # Errors
    /// The program has none of the name; with the place.
    pub fn scheduler(
        &self,
        choice: &SchedulerChoice,
        key: &str,
    ) -> Result<Box<dyn Scheduler>, Error> {
        let built = choice.build(self.run.schedulers);
        built.map_err(|error| self.locate(key, error))
    }

    /// The replacement policy that stands at a key of the device, for a cache, ready to run.
    ///
    /// # Errors
    /// As [`scheduler`](Site::scheduler).
    pub fn replacement(
        &self,
        choice: &ReplacementChoice,
        key: &str,
        setting: &Setting,
    ) -> Result<Box<dyn Replacement>, Error> {
        let built = choice.build_for(setting, self.run.replacements);
        built.map_err(|error| self.locate(key, error))
    }
}
