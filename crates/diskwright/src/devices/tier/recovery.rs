//! How long it takes to read the table after a power cut.

use std::ops::ControlFlow;

use serde_json::{Map, Value, json};

use super::area::Area;
use super::{Condition, Tier};
use crate::base::error::Error;
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::engine::Port;
use crate::engine::device::{Device, Location};
use crate::engine::request::{Op, RequestId};
use crate::engine::{Engine, Initiator, Token};
use crate::models::cache::block_cache::BlockState;

/// The most blocks of a request: 1 MiB.
const MOST: u64 = 2048;

/// Writes an area, flushes, and reads it, one request after the other.
struct Scan {
    first: u64,
    blocks: u64,
    /// Blocks that have been written, those that have been read, and whether the flush between them was sent.
    written: u64,
    read: u64,
    has_flushed: bool,
    begun: Time,
    ended: Time,
}

impl Scan {
    fn next(&mut self, port: &mut Port<'_>) {
        let step = |done: u64| (self.first + done, (self.blocks - done).min(MOST) as u32);
        let command = if self.written < self.blocks {
            let (lbn, blocks) = step(self.written);
            self.written += u64::from(blocks);
            super::work::command(Op::Write, lbn, blocks)
        } else if !self.has_flushed {
            self.has_flushed = true;
            super::work::command(Op::Flush, 0, 0)
        } else if self.read < self.blocks {
            if self.read == 0 {
                self.begun = port.now();
            }
            let (lbn, blocks) = step(self.read);
            self.read += u64::from(blocks);
            super::work::command(Op::Read, lbn, blocks)
        } else {
            self.ended = port.now();
            return;
        };
        port.submit(&command, port.now(), 0);
    }
}

impl Initiator for Scan {
    fn start(&mut self, port: &mut Port<'_>) -> Result<(), Error> {
        self.next(port);
        Ok(())
    }
    fn alarm(&mut self, _token: Token, _port: &mut Port<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn completed(&mut self, _request: RequestId, port: &mut Port<'_>) -> Result<(), Error> {
        self.next(port);
        Ok(())
    }
    fn power_lost(&mut self, _now: Time) {}
    fn tick(&mut self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// How long a device, which nothing else uses, takes to read the area once it has been written: the last of `devices` is the device.
///
/// # Errors
/// Those of a run.
pub(super) fn time_to_read(devices: Vec<Box<dyn Device>>, area: Area) -> Result<Time, Error> {
    let (first, blocks) = area.whole();
    let mut scan = Scan {
        first,
        blocks,
        written: 0,
        read: 0,
        has_flushed: false,
        begun: Time::ZERO,
        ended: Time::ZERO,
    };
    Engine::new(devices, None).run(&mut scan)?;
    Ok(scan.ended - scan.begun)
}

impl Tier {
    /// The power is lost, and with it the map in memory.
    pub(super) fn lose_power(&mut self) {
        self.has_power = false;
        let is_written = self
            .committing
            .is_some_and(|job| self.children.phase(job) > 0);
        if let Some(table) = &mut self.table
            && let Some(durable) = &mut table.durable
            && (is_written || !table.rules.is_volatile)
        {
            durable.tear();
        }
    }

    /// Where a copy of a block is: after a power cut, where recovery finds it.
    pub(super) fn copy_of(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        if self.lost.meets(lbn.0, 1).is_some() {
            return None;
        }
        let backing = Location::On(self.backing.device, lbn);
        if !self.has_power {
            return self.recovered(lbn.0).filter(|_| copy == 0);
        }
        if let Some(place) = self.leaving(lbn.0) {
            return (copy == 0).then_some(Location::On(self.cache.device, Lbn(place)));
        }
        let piece = self.map.pieces(lbn.0, 1).next()?;
        let frame = self.map.find(piece.key);
        let has = |state| {
            let frame = frame?;
            let line = self.map.line(frame);
            self.map.next_run(line, state, piece)?;
            let place = Lbn(self.place(frame, piece.first));
            Some(Location::On(self.cache.device, place))
        };
        match (has(BlockState::Dirty), copy) {
            (Some(dirty), 0) => Some(dirty),
            (None, 0) => Some(backing),
            (None, 1) => has(BlockState::Valid),
            _ => None,
        }
    }

    /// Where recovery finds a block after a power cut: on the cache device if the table says that it is dirty there.
    fn recovered(&self, lbn: u64) -> Option<Location> {
        let backing = Some(Location::On(self.backing.device, Lbn(lbn)));
        if self.condition == Condition::Failed || self.retirement.is_recorded() {
            return backing;
        }
        let Some(durable) = self.table.as_ref().and_then(|table| table.durable.as_ref()) else {
            return backing;
        };
        let Some(piece) = self.map.pieces(lbn, 1).next() else {
            return backing;
        };
        let Some(frame) = durable.place_of(piece.key, lbn) else {
            return backing;
        };
        let place = self.place(frame, piece.first);
        Some(Location::On(self.cache.device, Lbn(place)))
    }

    /// After a power cut: what reading the table takes.
    pub(super) fn report_recovery(&self, report: &mut Map<String, Value>) {
        if self.has_power || self.retirement.is_recorded() {
            return;
        }
        if let Some(table) = &self.table
            && let Some(time) = table.rules.recovery
        {
            let (_, blocks) = table.rules.area.whole();
            let recovery = json!({ "metadata_bytes": blocks * BLOCK_BYTES, "s": time.s() });
            report.insert("recovery".to_owned(), recovery);
        }
    }
}
