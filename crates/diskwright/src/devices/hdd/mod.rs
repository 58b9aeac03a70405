//! A hard disk, assembled from parts.
//!
//! Requests of the host come to the block cache, if there is one, then to the pool, and from there, as requests of the drive's own, to the disk
//! behind them: a queue, perhaps a segmented buffer, data in place or in a log, and one arm or several over a medium. All parts work with one another;
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
mod bus;
pub mod cache;
mod counters;
mod disk;
mod dispatch;
pub mod drive;
mod expected;
pub mod hardware;
mod intake;
pub mod interface;
mod log;
mod medium;
mod memory;
mod parking;
mod picture;
mod pool;
pub mod pool_description;
mod pooled_disk;
mod power;
mod service;
pub mod ships;
pub mod spec;
pub mod tally;
mod transfers;

use serde_json::{Map, Value};

use crate::base::error::InputError;
use crate::base::units::{Lbn, Time};
use crate::devices::shared_bus::SharedBus;
use crate::engine::Token;
use crate::engine::access_times::AccessTimes;
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location, Restart};
use crate::engine::request::{DeviceId, Part, Promise, RequestId};
use crate::engine::window::ArmTraceWindow;
use crate::models::cache::BlockCache;
use alarm::Alarm;
pub use arm_group::arm_groups;
use bus::OnBus;
use cache::{CacheParts, DriveCache};
pub use disk::{DiskParts, LogParts};
pub use hardware::{Hardware, Overhead};
pub use log::InitialWrites;
pub use pool::PoolParts;
use pooled_disk::PooledDisk;
pub use power::DiskPower;

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

/// The same of a disk with low power states.
const PARTS_WITH_WAKE: [Part; 9] = {
    let mut parts = [Part::Wake; 9];
    parts.split_at_mut(8).0.copy_from_slice(&PARTS);
    parts
};

/// A hard disk.
pub struct Hdd {
    cache: Option<Box<DriveCache>>,
    behind: PooledDisk,
}

impl Hdd {
    /// A hard disk at rest, with a block cache or a pool in front of it, or with both; a disk with a pool
    /// [knows of it](DiskParts::is_behind_memory).
    pub fn new(
        parts: DiskParts,
        cache: Option<(BlockCache, CacheParts)>,
        pool: Option<(BlockCache, PoolParts)>,
    ) -> Hdd {
        Hdd {
            cache: cache.map(|(frames, parts)| Box::new(DriveCache::new(frames, parts))),
            behind: PooledDisk::new(parts, pool),
        }
    }

    /// Puts it on a bus with other drives.
    ///
    /// # Errors
    /// It has no segmented buffer, or another memory in front of that.
    pub fn share(&mut self, bus: &SharedBus) -> Result<(), InputError> {
        let disk = &mut self.behind.disk;
        if disk.buffered.is_none() || self.cache.is_some() {
            let message = "a drive without a segmented buffer does not know when it needs the bus";
            return Err(InputError::new(message).help("expected a drive with a [buffer] and buffer = true, and no block cache; or leave bus out"));
        }
        disk.on_bus = Some(Box::new(OnBus::new(bus.clone())));
        Ok(())
    }

    #[inline]
    fn take_in(&mut self, request: RequestId, cx: &mut Context<'_>) {
        match &mut self.cache {
            None => self.behind.accept(request, cx),
            Some(cache) => cache.accept(request, &mut self.behind, cx),
        }
    }

    #[inline]
    fn rings(&mut self, token: Token, cx: &mut Context<'_>) {
        match (Alarm::of(token), &mut self.cache) {
            (Alarm::CacheServed(request), Some(cache)) => cache.served(request, cx),
            (alarm, _) => self.behind.alarm(alarm, cx),
        }
    }

    // The power follows what has been done. These are apart, so that nothing is kept for it where there is none.

    #[inline(never)]
    fn take_in_with_power(&mut self, request: RequestId, cx: &mut Context<'_>) {
        if let Some(power) = &mut self.behind.disk.power {
            power.hears_request();
        }
        self.take_in(request, cx);
        self.behind.follow_power(false, cx);
    }

    #[inline(never)]
    fn rings_with_power(&mut self, token: Token, cx: &mut Context<'_>) {
        self.rings(token, cx);
        self.behind.follow_power(false, cx);
    }

    #[inline(never)]
    fn dispatch_with_power(&mut self, cx: &mut Context<'_>) {
        self.behind.dispatch(cx);
        self.behind.follow_power(true, cx);
    }
}

impl Device for Hdd {
    fn prepare(&mut self, cx: &mut Context<'_>) {
        self.behind.disk.prepare(cx);
        self.behind.follow_power(true, cx);
    }

    #[inline]
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        match self.behind.disk.power {
            None => self.take_in(request, cx),
            Some(_) => self.take_in_with_power(request, cx),
        }
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match self.behind.disk.power {
            None => self.rings(token, cx),
            Some(_) => self.rings_with_power(token, cx),
        }
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        match self.behind.disk.power {
            None => self.behind.dispatch(cx),
            Some(_) => self.dispatch_with_power(cx),
        }
    }

    fn child_completed(&mut self, _own: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        match &mut self.cache {
            Some(cache) if cache.has_sent(request) => {
                cache.request_completed(request, &mut self.behind, cx);
            }
            _ => self.behind.disk_completed(request, cx),
        }
        self.behind.follow_power(false, cx);
    }

    fn neglected(&self, now: Time, _below: &[Box<dyn Device>]) -> usize {
        let cache = self.cache.as_ref();
        cache.map_or(0, |cache| cache.neglected(&self.behind)) + self.behind.neglected(now)
    }

    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        let status = self.behind.status();
        let cache = self.cache.as_ref();
        DeviceStatus {
            outstanding: cache.map_or(status.outstanding, |cache| cache.outstanding),
            ..status
        }
    }

    fn is_down(&self, _now: Time, _below: &[Box<dyn Device>]) -> bool {
        self.behind.disk.is_down()
    }

    fn stand_by(&mut self, cx: &mut Context<'_>) {
        self.behind.stand_by(cx);
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        (copy == 0).then(|| self.behind.location(lbn))
    }

    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        if fault == Fault::PowerLost {
            self.behind.power_lost(cx);
        }
    }

    fn restart(&self) -> Restart {
        // Logs, pools and power states keep more than the medium in place.
        let PooledDisk { disk, pool, .. } = &self.behind;
        match pool.is_none() && disk.log.is_none() && disk.power.is_none() {
            true => Restart::Afresh,
            false => Restart::Unknown,
        }
    }

    fn blocks(&self) -> u64 {
        self.behind.disk.blocks()
    }

    fn promise(&self) -> Promise {
        let of_disk = self.behind.promise();
        match &self.cache {
            None => of_disk,
            Some(cache) => cache.promise(of_disk),
        }
    }

    fn access_times(&self) -> Option<AccessTimes> {
        self.behind.disk.access_times()
    }

    fn parts(&self) -> &'static [Part] {
        match self.behind.disk.power {
            Some(_) => &PARTS_WITH_WAKE,
            None => &PARTS,
        }
    }

    fn measure_from(&mut self, now: Time) {
        self.behind.measure_from(now);
        if let Some(cache) = &mut self.cache {
            cache.measure_from_here();
        }
    }

    fn measure_until(&mut self, now: Time) {
        self.behind.disk.measure_until(now);
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        self.behind.disk.report(elapsed)
    }

    fn part_reports(&self, _elapsed: Time) -> Vec<(&'static str, Map<String, Value>)> {
        let cache = self.cache.iter().map(|cache| ("cache", cache.report()));
        cache.chain(self.behind.pool_report()).collect()
    }

    fn power_report(&self, from: Time, to: Time) -> Option<Map<String, Value>> {
        let power = self.behind.disk.power.as_ref()?;
        Some(power.report(from, to))
    }

    fn collect_picture(&mut self, window: Option<&ArmTraceWindow>) {
        self.behind.disk.collect_picture(window);
    }

    fn picture(&self) -> Option<Map<String, Value>> {
        self.behind.disk.picture()
    }

    fn warnings(&self) -> Vec<String> {
        self.behind.disk.warnings()
    }

    fn part_warnings(&self) -> Vec<(&'static str, Vec<String>)> {
        let cache = self.cache.iter().map(|cache| ("cache", cache.warnings()));
        cache.chain(self.behind.pool_warnings()).collect()
    }
}
