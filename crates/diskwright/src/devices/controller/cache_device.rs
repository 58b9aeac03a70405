//! A device that caches the others: block n of the controller is at its block n, as far as it is large enough.

use super::memory::{Writes, command_of};
use super::operations::{Data, Operation};
use super::runs::Runs;
use super::stages::new_work;
use super::work::{Kind, Stage, WorkId};
use super::write_backs::segment_of;
use super::{Cache, Controller};
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, Promise};

/// What is known of a cache device.
pub(super) struct CacheDevice {
    /// Blocks from this one on are not cached.
    pub size: u64,
    pub writes: Writes,
    /// What is dirty is written to the devices behind it after all of them have been idle for this time.
    pub idle: Option<Time>,
    /// Whether writes that must not be lost have to be FUA.
    is_volatile: bool,
    /// What it has, what of that is newer than behind it, and what of that is gone with it.
    valid: Runs,
    dirty: Runs,
    lost: Runs,
    pub has_failed: bool,
    /// A write to a device behind it has failed.
    is_stuck: bool,
}

impl CacheDevice {
    /// An empty one.
    pub fn new(size: u64, writes: Writes, idle: Option<Time>, promise: Promise) -> CacheDevice {
        CacheDevice {
            size,
            writes,
            idle,
            is_volatile: promise != Promise::Durable,
            valid: Runs::default(),
            dirty: Runs::default(),
            lost: Runs::default(),
            has_failed: false,
            is_stuck: false,
        }
    }

    /// Whether it has a block that is newer than behind it.
    pub fn is_newest(&self, lbn: u64) -> bool {
        self.dirty.has_all(lbn, lbn + 1)
    }

    /// Whether it alone had the newest data of a block, and has failed: the block cannot be read.
    pub fn is_lost(&self, lbn: u64) -> bool {
        self.lost.has_all(lbn, lbn + 1)
    }

    /// Blocks that are newer than behind it.
    pub fn dirty_blocks(&self) -> u64 {
        self.dirty.blocks()
    }

    /// Blocks that it has.
    pub fn valid_blocks(&self) -> u64 {
        self.valid.blocks()
    }

    /// Blocks of which only it had the newest data, and that have not been written since.
    pub fn lost_blocks(&self) -> u64 {
        self.lost.blocks()
    }

    /// Whether something is to be written to the devices behind it.
    pub fn can_settle(&self) -> bool {
        self.dirty.blocks() > 0 && !self.is_stuck
    }

    /// Whether a run may be written to it.
    fn takes(&self, end: u64) -> bool {
        end <= self.size && !self.has_failed
    }

    /// A run has been written to it, unless it has failed since.
    fn holds(&mut self, from: u64, end: u64) {
        if !self.has_failed {
            self.valid.add(from, end);
        }
    }

    /// It has failed.
    pub fn fails(&mut self) {
        self.has_failed = true;
        self.lost = self.dirty.take();
        self.valid.take();
    }

    /// Blocks are forgotten.
    pub fn trim(&mut self, from: u64, end: u64) {
        self.valid.remove(from, end);
        self.dirty.remove(from, end);
        self.lost.remove(from, end);
    }
}

impl Controller {
    /// A read goes where the newest data are: to the cache device where that has all, else what only that has there, and the rest behind it.
    pub(super) fn read_by_cache_device(
        &mut self,
        id: WorkId,
        command: &Command,
        cx: &mut Context<'_>,
    ) {
        let (from, end) = (command.lbn.0, command.end().0);
        let cache = self.addressed;
        let Cache::Device(device) = &self.cache else {
            unreachable!("there is a cache device");
        };
        if device.lost.next(from, end).is_some() {
            self.works.get_mut(id).outcome = Outcome::FailedDevice;
            return self.next_stage(id, Stage::Answer);
        }
        if device.valid.has_all(from, end) {
            self.ask(id, *command, Some(cache), Data::Host, cx);
            return self.next_stage(id, Stage::Move);
        }
        self.works.get_mut(id).has_missed = true;
        let parts: Vec<(u64, u64, bool)> = device.dirty.divide(from, end).collect();
        for (from, end, is_dirty) in parts {
            let part = command_of(Op::Read, (from, (end - from) as u32));
            self.ask(id, part, is_dirty.then_some(cache), Data::Host, cx);
        }
        self.next_stage(id, Stage::Move);
    }

    /// A read's data have been moved to the host. What it missed is put on the cache device behind its back.
    pub(super) fn has_read_by_cache_device(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let command = self.piece(id);
        let (from, end) = (command.lbn.0, command.end().0);
        let has_missed = self.works.get(id).has_missed;
        let device = self.cache_device();
        if has_missed && device.takes(end) {
            let parts = device.valid.divide(from, end);
            let missing: Vec<(u64, u64, bool)> = parts.filter(|part| !part.2).collect();
            let behind = self.keep(id, command, cx);
            self.counters.populated_blocks += missing.iter().map(|run| run.1 - run.0).sum::<u64>();
            for (from, end, _) in missing {
                let part = command_of(Op::Write, (from, (end - from) as u32));
                let data = Data::Segment(segment_of(behind));
                self.ask(behind, part, Some(self.addressed), data, cx);
            }
            self.next_stage(behind, Stage::End);
        }
        self.next_stage(id, Stage::Answer);
    }

    /// Work of the controller's own takes over the data and the lock of a request.
    fn keep(&mut self, id: WorkId, command: Command, cx: &mut Context<'_>) -> WorkId {
        let behind = self.works.begin(new_work(Kind::Settle, command, cx.now()));
        let request = self.works.get(id).request;
        let request = request.expect("the host waits for it");
        if let Some((checker, device)) = cx.checker() {
            let (lbn, blocks) = (command.lbn.0, command.blocks);
            checker.buffered(device, segment_of(behind), request, lbn, blocks);
        }
        self.locks.hand_over(id, behind, &mut self.granted);
        self.wake_granted();
        behind
    }

    /// A write's data have been moved from the host: they go to the cache device if that is large enough, else behind it.
    pub(super) fn write_by_cache_device(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let command = self.piece(id);
        let device = self.cache_device();
        if !device.takes(command.end().0) {
            return self.write_behind_cache_device(id, cx);
        }
        let fua = command.fua || device.is_volatile;
        let command = Command { fua, ..command };
        self.ask(id, command, Some(self.addressed), Data::Host, cx);
        self.next_stage(id, Stage::Written);
    }

    /// A write goes to the devices behind the cache device.
    fn write_behind_cache_device(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let mut command = self.piece(id);
        let (from, end) = (command.lbn.0, command.end().0);
        // What the cache device has durably must not be replaced by what is not durable.
        command.fua |= self.cache_device().dirty.next(from, end).is_some();
        self.works.get_mut(id).has_missed = true;
        self.ask(id, command, None, Data::Host, cx);
        self.next_stage(id, Stage::WrittenThrough);
    }

    /// A write is on the cache device, unless that has failed.
    pub(super) fn has_written_by_cache_device(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let mut command = self.piece(id);
        let (from, end) = (command.lbn.0, command.end().0);
        if self.cache_device().has_failed {
            self.works.get_mut(id).outcome = Outcome::Ok;
            return self.write_behind_cache_device(id, cx);
        }
        if self.works.get(id).outcome != Outcome::Ok {
            return self.next_stage(id, Stage::Answer);
        }
        let device = self.cache_device();
        device.valid.add(from, end);
        device.dirty.add(from, end);
        command.fua = true;
        match device.writes {
            Writes::Back => self.next_stage(id, Stage::Answer),
            Writes::Synchronous => {
                self.works.get_mut(id).has_missed = true;
                self.ask(id, command, None, Data::Host, cx);
                self.next_stage(id, Stage::WrittenThrough);
            }
            Writes::Through => {
                let behind = self.keep(id, command, cx);
                let data = Data::Segment(segment_of(behind));
                self.ask(behind, command, None, data, cx);
                self.next_stage(behind, Stage::End);
                self.next_stage(id, Stage::Answer);
            }
        }
    }

    /// A write is on the devices behind the cache device.
    pub(super) fn has_written_through(&mut self, id: WorkId, cx: &mut Context<'_>) {
        self.account_for(id, Part::Wait, cx);
        let command = self.piece(id);
        let (from, end) = (command.lbn.0, command.end().0);
        let is_good = self.works.get(id).outcome == Outcome::Ok;
        let device = self.cache_device();
        if is_good {
            let has_it = device.takes(end) && device.valid.has_all(from, end);
            // What it was not given is old now.
            if !has_it || !device.dirty.has_all(from, end) {
                device.valid.remove(from, end);
            }
            device.dirty.remove(from, end);
            device.lost.remove(from, end);
        }
        self.next_stage(id, Stage::Answer);
    }

    /// The first dirty run of the cache device is to be written behind it.
    pub(super) fn begin_to_settle(&mut self, cx: &mut Context<'_>) -> Option<WorkId> {
        let device = self.cache_device();
        let (from, end) = device.dirty.next(0, device.size)?;
        let end = end.min(from + u64::from(u32::MAX));
        let command = command_of(Op::Read, (from, (end - from) as u32));
        let id = self.works.begin(new_work(Kind::Settle, command, cx.now()));
        self.ready.push_back(id);
        Some(id)
    }

    /// The run has been locked: it is read, if it is still dirty.
    pub(super) fn read_to_settle(&mut self, id: WorkId, cx: &mut Context<'_>) {
        let command = self.piece(id);
        let (from, end) = (command.lbn.0, command.end().0);
        if !self.cache_device().dirty.has_all(from, end) {
            return self.next_stage(id, Stage::End);
        }
        let data = Data::Segment(segment_of(id));
        self.ask(id, command, Some(self.addressed), data, cx);
        self.next_stage(id, Stage::Written);
    }

    /// It has been read: it is written.
    pub(super) fn settle(&mut self, id: WorkId, cx: &mut Context<'_>) {
        if self.works.get(id).outcome != Outcome::Ok {
            self.cache_device().is_stuck = true;
            return self.next_stage(id, Stage::End);
        }
        let command = Command {
            op: Op::Write,
            // Until then the cache device has it durably.
            fua: true,
            ..self.piece(id)
        };
        self.counters.write_backs += 1;
        self.counters.written_back_blocks += u64::from(command.blocks);
        let data = Data::Segment(segment_of(id));
        self.ask(id, command, None, data, cx);
        self.next_stage(id, Stage::End);
    }

    /// Something that a device was asked for has ended.
    pub(super) fn cache_device_operation_ended(
        &mut self,
        operation: &Operation,
        outcome: Outcome,
        _cx: &mut Context<'_>,
    ) {
        let (kind, is_on_cache) = (
            self.works.get(operation.work).kind,
            operation.child == self.addressed,
        );
        let from = operation.lbn;
        let end = from + u64::from(operation.command.blocks);
        let device = self.cache_device();
        match (kind, operation.command.op, outcome) {
            (Kind::Settle, Op::Write, Outcome::Ok) if is_on_cache => {
                device.holds(from, end);
            }
            (Kind::Settle, Op::Write, Outcome::Ok) => {
                device.dirty.remove(from, end);
                device.lost.remove(from, end);
            }
            (Kind::Settle, Op::Write, _) if !is_on_cache => device.is_stuck = true,
            _ => {}
        }
    }
}
