//! A hard disk, assembled from parts.
//!
//! Requests of the host come to the block cache, if there is one, and from there, as requests of the drive's own, to the disk behind it: a
//! queue, perhaps a segmented buffer, data in place or in a log, and one arm or several over a medium. All parts work with one another;
//! only a segmented buffer, which is the firmware of drives with one arm and data in place, excludes several arms and a log.

pub mod access;
mod alarm;
mod arm;
mod arm_group;
mod arm_recorder;
mod arm_trace;
pub mod arms_spec;
pub mod buffer;
pub mod buffer_description;
mod buffered;
mod build;
pub mod cache;
mod counters;
mod disk;
mod dispatch;
pub mod drive;
pub mod hardware;
mod intake;
pub mod interface;
mod log;
mod medium;
mod picture;
mod service;
pub mod ships;
pub mod spec;
pub mod tally;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location};
use crate::engine::request::{DeviceId, Part, Promise, RequestId};
use crate::engine::window::ArmTraceWindow;
use alarm::Alarm;
pub use arm_group::arm_groups;
use cache::{CacheParts, DriveCache};
use disk::Disk;
pub use disk::{DiskParts, LogParts};
pub use hardware::{Hardware, Overhead};
pub use log::InitialWrites;

/// What the time of a hard disk's requests divides into.
const PARTS: [Part; 8] = [
    Part::Overhead,
    Part::Bus,
    Part::Seek,
    Part::HeadSwitch,
    Part::Settle,
    Part::Rotation,
    Part::Transfer,
    Part::Wait,
];

/// A hard disk.
pub struct Hdd {
    cache: Option<Box<DriveCache>>,
    disk: Disk,
}

impl Hdd {
    /// A hard disk at rest.
    pub fn new(parts: DiskParts, cache: Option<CacheParts>) -> Hdd {
        Hdd {
            cache: cache.map(|parts| Box::new(DriveCache::new(parts))),
            disk: Disk::new(parts),
        }
    }
}

impl Device for Hdd {
    fn prepare(&mut self, _cx: &mut Context<'_>) {
        self.disk.prepare();
    }

    #[inline]
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        match &mut self.cache {
            Some(cache) => cache.accept(request, &mut self.disk, cx),
            None => self.disk.accept(request, cx),
        }
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match (Alarm::of(token), &mut self.cache) {
            (Alarm::CacheServed(request), Some(cache)) => cache.served(request, cx),
            (alarm, _) => self.disk.alarm(alarm, cx),
        }
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        self.disk.dispatch(cx);
    }

    fn child_completed(&mut self, _own: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        if let Some(cache) = &mut self.cache {
            cache.disk_completed(request, &mut self.disk, cx);
        }
    }

    fn neglected(&self, now: Time, _below: &[Box<dyn Device>]) -> usize {
        let cache = self.cache.iter();
        let in_cache: usize = cache.map(|cache| cache.neglected(&self.disk)).sum();
        in_cache + self.disk.neglected(now)
    }

    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: match &self.cache {
                Some(cache) => cache.outstanding,
                None => self.disk.outstanding() as u32,
            },
            free_slots: self.disk.free_slots(),
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        (copy == 0).then(|| self.disk.location(lbn))
    }

    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        if fault == Fault::PowerLost {
            self.disk.power_lost(cx.now());
        }
    }

    fn blocks(&self) -> u64 {
        self.disk.blocks()
    }

    fn promise(&self) -> Promise {
        let of_disk = self.disk.promise();
        match &self.cache {
            Some(cache) => cache.promise(of_disk),
            None => of_disk,
        }
    }

    fn parts(&self) -> &'static [Part] {
        &PARTS
    }

    fn measure_from(&mut self, now: Time) {
        self.disk.measure_from(now);
        if let Some(cache) = &mut self.cache {
            cache.measure_from_here();
        }
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        self.disk.report(elapsed)
    }

    fn part_reports(&self, _elapsed: Time) -> Vec<(&'static str, Map<String, Value>)> {
        let cache = self.cache.iter();
        cache.map(|cache| ("cache", cache.report())).collect()
    }

    fn collect_picture(&mut self, window: Option<&ArmTraceWindow>) {
        self.disk.collect_picture(window);
    }

    fn picture(&self) -> Option<Map<String, Value>> {
        self.disk.picture()
    }

    fn warnings(&self) -> Vec<String> {
        self.disk.warnings()
    }

    fn part_warnings(&self) -> Vec<(&'static str, Vec<String>)> {
        let cache = self.cache.iter();
        cache.map(|cache| ("cache", cache.warnings())).collect()
    }
}
