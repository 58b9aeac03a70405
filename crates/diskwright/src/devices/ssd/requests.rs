//! Requests of the host: their pages, their way to the controller and back, and when they are complete.

use super::operations::{Action, OpId, Operation, Phase};
use super::{Ssd, kinds};
use crate::base::units::{BLOCK_BYTES, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, RequestId};
use crate::models::flash::blocks::Writer;
use crate::models::flash::geometry::Geometry;

/// A request that is served.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenRequest {
    command: Command,
    /// Pages that are not done.
    remaining: u32,
    /// Some page could not be written.
    has_failed: bool,
}

/// What a request and a unit have in common, in 512-byte blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnitPart {
    pub in_request: u32,
    pub in_unit: u32,
    pub blocks: u32,
}

impl OpenRequest {
    /// What the request and a unit have in common.
    #[inline]
    pub fn part_of(&self, unit: u32, geometry: &Geometry) -> UnitPart {
        let first = u64::from(unit) * u64::from(geometry.unit_blocks);
        let (start, end) = (self.command.lbn.0, self.command.end().0);
        let from = first.max(start);
        let until = (first + u64::from(geometry.unit_blocks)).min(end);
        UnitPart {
            in_request: (from - start) as u32,
            in_unit: (from - first) as u32,
            blocks: (until - from) as u32,
        }
    }

    /// How many blocks of a unit the request is about.
    #[inline]
    pub fn blocks_of(&self, unit: u32, geometry: &Geometry) -> u32 {
        self.part_of(unit, geometry).blocks
    }
}

impl Ssd {
    pub(super) fn accept_request(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.counters.arrives(cx.request(request).command.op);
        if self.serving == self.depth {
            self.waiting.push_back(request);
        } else {
            self.take(request, cx);
        }
    }

    /// A request gets a slot of the queue.
    fn take(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        self.serving += 1;
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        let command = entry.command;
        let overhead = match command.op {
            Op::Write => self.interface.write,
            _ => self.interface.read,
        };
        entry.parts.add(Part::Overhead, overhead);
        let index = request.0 as usize;
        if self.open.len() <= index {
            self.open.resize(index + 1, OpenRequest::default());
        }
        self.open[index] = OpenRequest {
            command,
            remaining: 0,
            has_failed: false,
        };
        entry.parts.add(Part::Mapping, self.interface.mapping);
        let mut at = now + overhead;
        if command.op == Op::Write {
            let data = self.link_time(command.blocks);
            entry.parts.add(Part::Bus, data);
            self.link_in = self.link_in.max(at) + data;
            at = self.link_in;
        }
        at += self.interface.mapping;
        if at == now {
            self.arrived(request, cx);
        } else {
            cx.alarm(at, Token::of_request(kinds::ARRIVED, request));
        }
    }

    /// The time of so many blocks on the link to the host.
    fn link_time(&self, blocks: u32) -> Time {
        let bytes = u64::from(blocks) * BLOCK_BYTES;
        self.interface
            .rate
            .map_or(Time::ZERO, |rate| rate.time(bytes))
    }

    /// A request is in the controller, with its data if it is a write.
    pub(super) fn arrived(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let command = self.open[request.0 as usize].command;
        match command.op {
            Op::Flush => {}
            Op::Trim if self.read_only_since.is_none() => self.trim(&command),
            Op::Write if self.read_only_since.is_none() => {
                for unit in self.units_of(&command) {
                    self.write_unit(request, unit, cx);
                }
                return;
            }
            Op::Trim | Op::Write => self.open[request.0 as usize].has_failed = true,
            Op::Read => {
                let mut unwritten = 0;
                for unit in self.units_of(&command) {
                    unwritten += self.read_unit(request, unit, cx);
                }
                let sent = self.send(unwritten, cx.now());
                if self.open[request.0 as usize].remaining > 0 {
                    return;
                }
                cx.request_mut(request).parts.add(Part::Bus, sent);
            }
        }
        // One after another, however many wait that take no time.
        let at = self.finish(request, cx);
        cx.alarm(at, Token::of_request(kinds::COMPLETE, request));
    }

    /// The units that a command is about, in whole or in part.
    fn units_of(&self, command: &Command) -> std::ops::Range<u32> {
        let blocks = u64::from(self.geometry.unit_blocks);
        (command.lbn.0 / blocks) as u32..command.end().0.div_ceil(blocks) as u32
    }

    /// Reads a unit. One that was never written is on no page: so many blocks of it are sent at once.
    fn read_unit(&mut self, request: RequestId, unit: u32, cx: &mut Context<'_>) -> u32 {
        if self.map.slot(unit).is_none() && self.reads_allocate && !self.map.is_locked(unit) {
            let plane = self.choose_plane(unit);
            // While another page is written, the last one of the block waits for it: a full block may be cleaned.
            let worker = &self.workers[self.worker_of(plane) as usize];
            if worker.current.is_none() || !self.blocks.is_last_page(plane, Writer::Host) {
                self.place_at_once(unit, plane);
            }
        }
        let Some(slot) = self.map.slot(unit) else {
            self.counters.unmapped_reads += 1;
            return self.open[request.0 as usize].blocks_of(unit, &self.geometry);
        };
        self.open[request.0 as usize].remaining += 1;
        let plane = self.geometry.plane_of(slot);
        let mut operation = Operation::new(Action::Read, request, plane, unit);
        operation.from = slot;
        let id = self.operations.add(operation);
        self.enqueue(id, cx);
        0
    }

    fn write_unit(&mut self, request: RequestId, unit: u32, cx: &mut Context<'_>) {
        self.open[request.0 as usize].remaining += 1;
        let operation = Operation::new(Action::Program, request, 0, unit);
        let id = self.operations.add(operation);
        if self.map.is_locked(unit) {
            self.locked_out.push_back((unit, id));
        } else {
            self.begin_write(id, cx);
        }
    }

    /// A write of a unit begins: nobody else writes it. What it changes in part is read first.
    fn begin_write(&mut self, id: OpId, cx: &mut Context<'_>) {
        let Operation { unit, request, .. } = *self.operations.get(id);
        self.map.lock(unit, true);
        let part = self.open[request.0 as usize].part_of(unit, &self.geometry);
        match self.map.slot(unit) {
            Some(slot) if part.blocks < self.geometry.unit_blocks => {
                let entry = self.operations.get_mut(id);
                entry.action = Action::Merge;
                (entry.plane, entry.from) = (self.geometry.plane_of(slot), slot);
                self.counters.merged_pages += 1;
                self.enqueue(id, cx);
            }
            _ => self.enqueue_write(id, cx),
        }
    }

    /// What a write does not change is in the controller.
    pub(super) fn merge_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        self.operations.get_mut(id).action = Action::Program;
        self.enqueue_write(id, cx);
    }

    fn enqueue_write(&mut self, id: OpId, cx: &mut Context<'_>) {
        if self.read_only_since.is_some() {
            return self.write_failed(id, cx);
        }
        let plane = self.choose_plane(self.operations.get(id).unit);
        self.queued[plane as usize] += 1;
        let entry = self.operations.get_mut(id);
        entry.plane = plane;
        entry.phase = Phase::Queued;
        self.enqueue(id, cx);
    }

    /// A page is written.
    pub(super) fn program_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let operation = *self.operations.get(id);
        self.tell_written(id, cx);
        self.blocks.written(operation.to);
        self.settle(operation.unit, operation.to);
        self.counters.host_pages += 1;
        self.count_bytes(&operation, cx.now());
        self.unlock(operation.unit, cx);
        self.page_over(id, cx);
    }

    fn count_bytes(&mut self, operation: &Operation, now: Time) {
        let open = &self.open[operation.request.0 as usize];
        let blocks = open.blocks_of(operation.unit, &self.geometry);
        self.counters.host_blocks += u64::from(blocks);
        self.steady.wrote(blocks, now);
    }

    /// A page of a write is given up, since the drive can only be read.
    pub(super) fn write_failed(&mut self, id: OpId, cx: &mut Context<'_>) {
        let Operation { request, unit, .. } = *self.operations.get(id);
        self.open[request.0 as usize].has_failed = true;
        self.unlock(unit, cx);
        self.page_over(id, cx);
    }

    /// The write of a unit is over: the next one of it begins.
    fn unlock(&mut self, unit: u32, cx: &mut Context<'_>) {
        self.map.lock(unit, false);
        if self.locked_out.is_empty() {
            return;
        }
        let next = self.locked_out.iter().position(|&(other, _)| other == unit);
        if let Some((_, id)) = next.and_then(|next| self.locked_out.remove(next)) {
            self.begin_write(id, cx);
        }
    }

    /// A page is read.
    pub(super) fn read_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let operation = *self.operations.get(id);
        self.counters.read_pages += 1;
        let blocks =
            self.open[operation.request.0 as usize].blocks_of(operation.unit, &self.geometry);
        let sent = self.send(blocks, cx.now());
        if self.open[operation.request.0 as usize].remaining == 1 {
            cx.request_mut(operation.request).parts.add(Part::Bus, sent);
        }
        self.page_over(id, cx);
    }

    /// Blocks of a read cross the link behind all that it was given before; how long they take.
    fn send(&mut self, blocks: u32, now: Time) -> Time {
        let time = self.link_time(blocks);
        self.link_out = self.link_out.max(now) + time;
        time
    }

    /// A page of a request is done. The last one is the one that the request has waited for.
    fn page_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let operation = *self.operations.get(id);
        self.operations.remove(id);
        let open = &mut self.open[operation.request.0 as usize];
        open.remaining -= 1;
        if open.remaining > 0 {
            return;
        }
        let parts = &mut cx.request_mut(operation.request).parts;
        parts.add(Part::Channel, operation.channel_time);
        parts.add(Part::FlashRead, operation.read_time);
        parts.add(Part::Program, operation.program_time);
        parts.add(Part::Erase, operation.erase_time);
        let at = self.finish(operation.request, cx);
        if at == cx.now() {
            self.complete(operation.request, cx);
        } else {
            cx.alarm(at, Token::of_request(kinds::COMPLETE, operation.request));
        }
    }

    /// All pages of a request are done: it is complete when its data and the end of it are with the host, at the instant that is returned.
    fn finish(&mut self, request: RequestId, cx: &mut Context<'_>) -> Time {
        let now = cx.now();
        let op = self.open[request.0 as usize].command.op;
        let (after, sent) = match op {
            Op::Read => (self.interface.read_end, self.link_out.max(now)),
            _ => (self.interface.write_end, now),
        };
        let at = sent + after;
        let entry = cx.request_mut(request);
        entry.parts.add(Part::Overhead, after);
        let wait = (at - entry.start) - entry.parts.total();
        entry.parts.add(Part::Wait, wait);
        entry.media = now - entry.start;
        self.counters.parts(&entry.parts);
        at
    }

    pub(super) fn complete(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let outcome = match self.open[request.0 as usize].has_failed {
            true => Outcome::MediaError,
            false => Outcome::Ok,
        };
        cx.complete(request, outcome);
        let was_full = self.serving == self.depth;
        self.serving -= 1;
        if let Some(next) = self.waiting.pop_front() {
            self.take(next, cx);
        } else if was_full {
            cx.announce_room();
        }
        if self.serving == 0 {
            self.idle(cx);
        }
    }

    /// Whole units of a trim are nowhere from now on, but for those that are being written.
    fn trim(&mut self, command: &Command) {
        let blocks = u64::from(self.geometry.unit_blocks);
        let first = command.lbn.0.div_ceil(blocks) as u32;
        let end = (command.end().0 / blocks) as u32;
        for unit in first..end.max(first) {
            if !self.map.is_locked(unit) && self.map.slot(unit).is_some() {
                self.forget(unit);
                self.counters.trimmed_pages += 1;
            }
        }
    }
}
