//! The disk with the drive's own memory in front of it, where that is a pool: what a block cache has behind it, and the host without one.

use serde_json::{Map, Value};

use super::PoolParts;
use super::alarm::Alarm;
use super::disk::{Disk, DiskParts};
use super::pool::DrivePool;
use crate::base::units::{Lbn, Time};
use crate::engine::context::Context;
use crate::engine::device::{DeviceStatus, Location};
use crate::engine::request::{Promise, RequestId};
use crate::models::cache::BlockCache;

/// A disk, and the pool in front of it, if there is one.
pub(super) struct PooledDisk {
    pub pool: Option<Box<DrivePool>>,
    pub disk: Disk,
}

impl PooledDisk {
    /// Both at rest.
    pub fn new(parts: DiskParts, pool: Option<(BlockCache, PoolParts)>) -> PooledDisk {
        let disk = Disk::new(parts);
        let pool = pool.map(|(frames, parts)| Box::new(DrivePool::new(frames, parts, &disk)));
        PooledDisk { pool, disk }
    }

    /// A request arrives.
    #[inline]
    pub fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        match &mut self.pool {
            None => self.disk.accept(request, cx),
            Some(pool) => pool.accept(request, &mut self.disk, cx),
        }
    }

    /// An alarm of the pool's or the disk's.
    #[inline]
    pub fn alarm(&mut self, alarm: Alarm, cx: &mut Context<'_>) {
        match &mut self.pool {
            None => self.disk.alarm(alarm, cx),
            Some(pool) => pool.alarm(alarm, &mut self.disk, cx),
        }
    }

    /// Lets idle arms begin what waits.
    #[inline]
    pub fn dispatch(&mut self, cx: &mut Context<'_>) {
        match &mut self.pool {
            None => self.disk.dispatch(cx),
            Some(pool) => pool.dispatch(&mut self.disk, cx),
        }
    }

    /// The disk has served a request of the pool's.
    pub fn disk_completed(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let pool = self.pool.as_mut();
        let pool = pool.expect("a disk without memory in front of it submits no requests");
        pool.disk_completed(request, &mut self.disk, cx);
    }

    /// Slots that there are for reads and writes.
    pub fn depth(&self) -> u32 {
        match &self.pool {
            None => self.disk.intake.depth as u32,
            Some(pool) => pool.depth(),
        }
    }

    /// Reads and writes that have arrived and are not complete.
    pub fn reads_and_writes(&self) -> u32 {
        match &self.pool {
            None => self.disk.outstanding() as u32,
            Some(pool) => pool.reads_and_writes(),
        }
    }

    /// How many requests wait although nothing keeps them.
    pub fn neglected(&self, now: Time) -> usize {
        match &self.pool {
            None => self.disk.neglected(now),
            Some(pool) => pool.neglected(now, &self.disk),
        }
    }

    /// What it reports of itself to the components that submit requests.
    pub fn status(&self) -> DeviceStatus {
        match &self.pool {
            None => DeviceStatus {
                outstanding: self.disk.outstanding() as u32,
                free_slots: self.disk.free_slots(),
                is_down: self.disk.is_down(),
            },
            Some(pool) => DeviceStatus {
                outstanding: pool.outstanding,
                free_slots: pool.free_slots(),
                is_down: self.disk.is_down(),
            },
        }
    }

    /// Where a block is.
    pub fn location(&self, lbn: Lbn) -> Location {
        let pool = self.pool.as_ref();
        let kept = pool.and_then(|pool| pool.kept(lbn, &self.disk));
        kept.unwrap_or_else(|| self.disk.location(lbn))
    }

    /// The power has failed.
    pub fn power_lost(&mut self, cx: &mut Context<'_>) {
        if let Some(pool) = &mut self.pool {
            pool.power_lost(&self.disk, cx);
        }
        self.disk.power_lost(cx.now());
    }

    /// What acknowledging a write promises.
    pub fn promise(&self) -> Promise {
        let of_disk = self.disk.promise();
        match &self.pool {
            None => of_disk,
            Some(pool) => pool.promise(of_disk),
        }
    }

    /// Counts anew from `now` on.
    pub fn measure_from(&mut self, now: Time) {
        self.disk.measure_from(now);
        if let Some(pool) = &mut self.pool {
            pool.measure_from_here();
        }
    }

    /// What the pool counts, if there is one.
    pub fn pool_report(&self) -> Option<(&'static str, Map<String, Value>)> {
        Some(("pool", self.pool.as_ref()?.report()))
    }

    /// What the results should warn of the pool.
    pub fn pool_warnings(&self) -> Option<(&'static str, Vec<String>)> {
        Some(("pool", self.pool.as_ref()?.warnings()))
    }
}
