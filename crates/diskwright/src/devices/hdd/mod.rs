//! A hard disk, assembled from parts.
//!
//! Requests of the host come to the block cache or the pool, if there is one, and from there, as requests of the drive's own, to the disk
//! behind it: a queue, perhaps a segmented buffer, data in place or in a log, and one arm or several over a medium. All parts work with one another;
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
mod pool;
pub mod pool_description;
mod service;
pub mod ships;
pub mod spec;
pub mod tally;
mod transfers;

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
use pool::DrivePool;
pub use pool::PoolParts;

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
    front: Front,
    disk: Disk,
}

/// The memory in front of a disk.
enum Front {
    /// None, or a segmented buffer, which is the disk's.
    None,
    /// A block cache.
    Cache(Box<DriveCache>),
    /// The pool of a drive of today.
    Pool(Box<DrivePool>),
}

/// What the memory in front of a disk is made of.
pub enum FrontParts {
    /// A block cache.
    Cache(CacheParts),
    /// A pool; the disk [is behind it](DiskParts::is_behind_memory).
    Pool(PoolParts),
}

impl Hdd {
    /// A hard disk at rest.
    pub fn new(parts: DiskParts, front: Option<FrontParts>) -> Hdd {
        let disk = Disk::new(parts);
        let front = match front {
            None => Front::None,
            Some(FrontParts::Cache(parts)) => Front::Cache(Box::new(DriveCache::new(parts))),
            Some(FrontParts::Pool(parts)) => Front::Pool(Box::new(DrivePool::new(parts, &disk))),
        };
        Hdd { front, disk }
    }
}

impl Device for Hdd {
    fn prepare(&mut self, _cx: &mut Context<'_>) {
        self.disk.prepare();
    }

    #[inline]
    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        match &mut self.front {
            Front::None => self.disk.accept(request, cx),
            Front::Cache(cache) => cache.accept(request, &mut self.disk, cx),
            Front::Pool(pool) => pool.accept(request, &mut self.disk, cx),
        }
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        let alarm = Alarm::of(token);
        match &mut self.front {
            Front::None => self.disk.alarm(alarm, cx),
            Front::Cache(cache) => match alarm {
                Alarm::CacheServed(request) => cache.served(request, cx),
                _ => self.disk.alarm(alarm, cx),
            },
            Front::Pool(pool) => match alarm {
                Alarm::CacheServed(request) => pool.served(request, &mut self.disk, cx),
                Alarm::PoolAsks => cx.wake(),
                Alarm::ArmDone(arm) if pool.reads_ahead(arm as usize) => {
                    pool.piece_rings(arm as usize, &mut self.disk, cx);
                }
                Alarm::ArmDone(arm) if pool.writes_region(arm as usize) => {
                    pool.region_rings(&mut self.disk, cx);
                }
                _ => self.disk.alarm(alarm, cx),
            },
        }
    }

    fn wake(&mut self, cx: &mut Context<'_>) {
        match &mut self.front {
            Front::Pool(pool) => pool.dispatch(&mut self.disk, cx),
            _ => self.disk.dispatch(cx),
        }
    }

    fn child_completed(&mut self, _own: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        match &mut self.front {
            Front::None => unreachable!("a disk without memory submits no requests"),
            Front::Cache(cache) => cache.disk_completed(request, &mut self.disk, cx),
            Front::Pool(pool) => pool.disk_completed(request, &mut self.disk, cx),
        }
    }

    fn neglected(&self, now: Time, _below: &[Box<dyn Device>]) -> usize {
        match &self.front {
            Front::None => self.disk.neglected(now),
            Front::Cache(cache) => cache.neglected(&self.disk) + self.disk.neglected(now),
            Front::Pool(pool) => pool.neglected(now, &self.disk),
        }
    }

    fn status(&self, _now: Time, _below: &[Box<dyn Device>]) -> DeviceStatus {
        DeviceStatus {
            outstanding: match &self.front {
                Front::None => self.disk.outstanding() as u32,
                Front::Cache(cache) => cache.outstanding,
                Front::Pool(pool) => pool.outstanding,
            },
            free_slots: match &self.front {
                Front::Pool(pool) => pool.free_slots(),
                _ => self.disk.free_slots(),
            },
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        let kept = match &self.front {
            Front::Pool(pool) => pool.kept(lbn, &self.disk),
            _ => None,
        };
        (copy == 0).then(|| kept.unwrap_or_else(|| self.disk.location(lbn)))
    }

    fn fault(&mut self, fault: Fault, cx: &mut Context<'_>) {
        if fault == Fault::PowerLost {
            if let Front::Pool(pool) = &mut self.front {
                pool.power_lost(&self.disk, cx);
            }
            self.disk.power_lost(cx.now());
        }
    }

    fn blocks(&self) -> u64 {
        self.disk.blocks()
    }

    fn promise(&self) -> Promise {
        let of_disk = self.disk.promise();
        match &self.front {
            Front::None => of_disk,
            Front::Cache(cache) => cache.promise(of_disk),
            Front::Pool(pool) => pool.promise(of_disk),
        }
    }

    fn parts(&self) -> &'static [Part] {
        &PARTS
    }

    fn measure_from(&mut self, now: Time) {
        self.disk.measure_from(now);
        match &mut self.front {
            Front::None => {}
            Front::Cache(cache) => cache.measure_from_here(),
            Front::Pool(pool) => pool.measure_from_here(),
        }
    }

    fn report(&self, elapsed: Time) -> Map<String, Value> {
        self.disk.report(elapsed)
    }

    fn part_reports(&self, _elapsed: Time) -> Vec<(&'static str, Map<String, Value>)> {
        match &self.front {
            Front::None => Vec::new(),
            Front::Cache(cache) => vec![("cache", cache.report())],
            Front::Pool(pool) => vec![("pool", pool.report())],
        }
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
        match &self.front {
            Front::None => Vec::new(),
            Front::Cache(cache) => vec![("cache", cache.warnings())],
            Front::Pool(pool) => vec![("pool", pool.warnings())],
        }
    }
}
