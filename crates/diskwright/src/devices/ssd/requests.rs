//! Requests of the host: their pages, their way to the controller and back, and when they are complete.

use super::entries::EntryId;
use super::operations::{OpId, Operation};
use super::{Ssd, kinds};
use crate::base::divide::quotient;
use crate::base::units::{BLOCK_BYTES, Lbn, Time};
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, RequestId};
use crate::models::flash::blocks::Writer;
use crate::models::flash::geometry::Geometry;
use crate::models::flash::map::Whereabouts;
use crate::models::link::Direction;

/// A request that is served.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OpenRequest {
    pub command: Command,
    /// Operations and entries that are not over, and one for a read or a write that has not gone through its units.
    pub remaining: u32,
    /// The next unit of a write that has not entered.
    pub next: u32,
    /// Parts of the map that are not in the controller's memory yet.
    pub loads: u32,
    /// Some page could not be written.
    pub has_failed: bool,
    /// It waits for flash where others do not.
    pub is_urgent: bool,
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
        self.count_request(cx.request(request).command.op, cx.now());
        if self.queues.is_some() {
            self.joins_queue(request, cx);
        } else if self.serving == self.depth || self.is_asleep() {
            self.waits(request);
        } else {
            self.take(request, cx);
        }
    }

    /// A request waits for a slot of the queue.
    #[inline(never)]
    fn waits(&mut self, request: RequestId) {
        self.waiting.push_back(request);
    }

    /// A request gets a slot of the queue that has waited for the drive to wake.
    pub(super) fn take_woken(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.take(request, cx);
        let woken = self.power.as_ref().map_or(cx.now(), |power| power.woken());
        let now = cx.now();
        let entry = cx.request_mut(request);
        let came = entry.issue.max(woken);
        (entry.acceptance, entry.start) = (came, came);
        entry.parts.add(Part::Wake, now - came);
    }

    /// A request gets a slot of the queue.
    pub(super) fn take(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let now = cx.now();
        self.picture_serves(request, cx);
        self.serving += 1;
        self.watch_anew();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        let command = entry.command;
        // What a write is delayed by counts as time that it waits.
        let (overhead, delay) = match command.op {
            Op::Write => (self.interface.write, self.cleaning.delay),
            _ => (self.interface.read, Time::ZERO),
        };
        entry.parts.add(Part::Overhead, overhead);
        let begins = overhead + delay;
        let index = request.0 as usize;
        if self.open.len() <= index {
            self.open.resize(index + 1, OpenRequest::default());
        }
        self.open[index] = OpenRequest {
            command,
            ..OpenRequest::default()
        };
        entry.parts.add(Part::Mapping, self.interface.mapping);
        if self.link.is_some() {
            return self.crosses_link(request, begins, cx);
        }
        let mut at = now + begins;
        if command.op == Op::Write {
            let data = self.interface.frames + self.link_time(Direction::ToDevice, command.blocks);
            entry.parts.add(Part::Bus, data);
            self.link_in = self.link_in.max(at) + data;
            at = self.link_in;
        }
        at += self.interface.mapping;
        if at == now {
            self.arrived(request, cx);
        } else {
            self.map.prefetch(self.unit_of(command.lbn));
            cx.alarm(at, Token::of_request(kinds::ARRIVED, request));
        }
    }

    /// The time that `blocks` blocks take on the link, to the host or from it.
    pub(super) fn link_time(&self, direction: Direction, blocks: u32) -> Time {
        let bytes = u64::from(blocks) * BLOCK_BYTES;
        if let Some(link) = &self.link {
            return link.time(direction, bytes);
        }
        self.interface
            .rate
            .map_or(Time::ZERO, |rate| rate.time(bytes))
    }

    /// A request is in the controller, with its data if it is a write.
    pub(super) fn arrived(&mut self, request: RequestId, cx: &mut Context<'_>) {
        if self.mapping.is_none() || self.has_mapping(request, cx) {
            self.mapped(request, cx);
        }
    }

    /// What a request needs of the map is in the controller's memory.
    pub(super) fn mapped(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let command = self.open[request.0 as usize].command;
        match command.op {
            Op::Read => self.read_arrived(request, &command, cx),
            Op::Flush => self.flush_arrived(request),
            Op::Write if self.read_only_since.is_none() => self.write_arrived(request, cx),
            Op::Trim if self.read_only_since.is_none() => {
                self.trim(&command, cx);
                self.done.push(request);
            }
            // Of these the last ones do not come here: an SSD has no NV cache.
            Op::Trim | Op::Write | Op::NvCache(_) => {
                self.open[request.0 as usize].has_failed = true;
                self.done.push(request);
            }
        }
    }

    /// The unit of a block.
    #[inline]
    pub(super) fn unit_of(&self, lbn: Lbn) -> u32 {
        quotient(lbn.0, self.geometry.unit_blocks.into()) as u32
    }

    /// The units that a command is about, in whole or in part.
    pub(super) fn units_of(&self, command: &Command) -> std::ops::Range<u32> {
        let blocks = u64::from(self.geometry.unit_blocks);
        let (first, end) = (command.lbn.0, command.end().0);
        quotient(first, blocks) as u32..quotient(end + blocks - 1, blocks) as u32
    }

    /// A read begins: units that are on flash are read, those of one page together; of the others the data are sent at once.
    fn read_arrived(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        self.open[request.0 as usize].remaining = 1;
        let (mut blocks, mut last) = (0, None);
        for unit in self.units_of(command) {
            let Some(slot) = self.slot_to_read(request, unit, cx.now()) else {
                last = None;
                blocks += self.open[request.0 as usize].blocks_of(unit, &self.geometry);
                self.tell_unit_read(request, unit, cx);
                continue;
            };
            let page = self.geometry.page_of(slot);
            let open = &mut self.open[request.0 as usize];
            let wanted = open.blocks_of(unit, &self.geometry);
            if let Some((id, of)) = last
                && of == page
            {
                let read = self.operations.get_mut(id);
                (read.count, read.wanted) = (read.count + 1, read.wanted + wanted);
                continue;
            }
            open.remaining += 1;
            let plane = self.geometry.plane_of(slot);
            let id = (self.operations).add_read(request, plane, (unit, 1), slot, wanted);
            self.enqueue(id, cx);
            last = Some((id, page));
        }
        let sent = self.send(blocks, cx.now());
        if self.open[request.0 as usize].remaining == 1 {
            cx.request_mut(request).parts.add(Part::Bus, sent);
        }
        self.part_done(request, None, cx);
    }

    /// The slot from which a unit is read; `None` for one that is on no page, or whose blocks are in the buffer.
    #[inline]
    fn slot_to_read(&mut self, request: RequestId, unit: u32, now: Time) -> Option<u32> {
        match self.map.whereabouts(unit) {
            Whereabouts::Slot(slot) => Some(slot),
            Whereabouts::Held(oldest) => self.slot_beside(request, unit, EntryId(oldest)),
            Whereabouts::Nowhere => {
                if self.reads_allocate {
                    self.allocate(unit, now);
                }
                let home = self.home_of(unit);
                self.counters.unmapped_reads += u64::from(home.is_none());
                home
            }
        }
    }

    /// The slot from which a unit is read that has entries.
    #[inline(never)]
    fn slot_beside(&mut self, request: RequestId, unit: u32, oldest: EntryId) -> Option<u32> {
        let home = self.home_of(unit);
        if self.writes.buffer.is_none() {
            self.counters.unmapped_reads += u64::from(home.is_none());
            return home;
        }
        let part = self.open[request.0 as usize].part_of(unit, &self.geometry);
        let entries = &self.writes.entries;
        let is_held = |block| {
            let mut of_unit = entries.of_unit(oldest);
            of_unit.any(|id| entries.get(id).holds(block))
        };
        let blocks = part.in_unit..part.in_unit + part.blocks;
        if home.is_some() && !blocks.into_iter().all(is_held) {
            return home;
        }
        self.counters.buffered_reads += 1;
        None
    }

    /// The read of a unit that was never written gives it its place.
    #[inline(never)]
    fn allocate(&mut self, unit: u32, now: Time) {
        let plane = self.choose_plane(self.allocation.group_of(unit));
        let writer = Writer::Host(0);
        // While another page is written, the last one of the block waits for it: a full block may be cleaned.
        let worker = &self.workers[self.worker_of(plane) as usize];
        let is_last = self.blocks.next_number(plane, writer) + 1 == self.geometry.pages;
        if (worker.current.is_none() || !is_last)
            && self.place_at_once(&[unit], plane, writer)
            && let Some(slot) = self.home_of(unit)
        {
            self.note_opened(slot, now);
        }
    }

    /// A page is read.
    pub(super) fn read_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        self.counters.read_pages += 1;
        let Operation {
            request, wanted, ..
        } = *self.operations.get(id);
        let sent = self.send(wanted, cx.now());
        if self.open[request.0 as usize].remaining == 1 {
            cx.request_mut(request).parts.add(Part::Bus, sent);
        }
        self.part_done(request, Some(id), cx);
        self.operations.remove(id);
    }

    /// How many blocks of some units a request wants.
    pub(super) fn blocks_wanted(&self, request: RequestId, units: std::ops::Range<u32>) -> u32 {
        let open = &self.open[request.0 as usize];
        units.map(|unit| open.blocks_of(unit, &self.geometry)).sum()
    }

    /// Blocks of a read cross the link behind all that it was given before; how long they take.
    fn send(&mut self, blocks: u32, now: Time) -> Time {
        let time = self.link_time(Direction::ToHost, blocks);
        self.keep_link(time, now);
        time
    }

    /// The link to the host carries something behind all that it was given before; until when.
    fn keep_link(&mut self, time: Time, now: Time) -> Time {
        if let Some(link) = &mut self.link {
            return link.carry(Direction::ToHost, time, now);
        }
        self.link_out = self.link_out.max(now) + time;
        self.link_out
    }

    /// A part of a request is done: a page, or the way through its units. The last page is what the request has waited for.
    pub(super) fn part_done(
        &mut self,
        request: RequestId,
        page: Option<OpId>,
        cx: &mut Context<'_>,
    ) {
        let open = &mut self.open[request.0 as usize];
        open.remaining -= 1;
        if open.remaining > 0 {
            return;
        }
        self.writes.urgent -= u32::from(open.is_urgent);
        if let Some(page) = page {
            let page = self.operations.get(page);
            let parts = &mut cx.request_mut(request).parts;
            parts.add(Part::Channel, page.channel_time);
            parts.add(Part::FlashRead, page.read_time);
            parts.add(Part::Program, page.program_time);
            parts.add(Part::Erase, page.erase_time);
        }
        self.done.push(request);
    }

    /// An event has brought all that it does: pages are formed, and requests come to their ends, which may bring more.
    #[inline]
    pub(super) fn end_event(&mut self, cx: &mut Context<'_>) {
        self.form_pages_due(cx);
        while !self.done.is_empty() {
            self.end_all_done(cx);
            self.form_pages_due(cx);
        }
    }

    #[inline(never)]
    fn end_all_done(&mut self, cx: &mut Context<'_>) {
        let mut next = 0;
        while let Some(&request) = self.done.get(next) {
            next += 1;
            let at = self.finish(request, cx);
            if at == cx.now() {
                self.complete(request, cx);
            } else {
                cx.alarm(at, Token::of_request(kinds::COMPLETE, request));
            }
        }
        self.done.clear();
    }

    /// All of a request is done: it is complete when its data and the end of it are with the host, at the instant that is returned.
    fn finish(&mut self, request: RequestId, cx: &mut Context<'_>) -> Time {
        let now = cx.now();
        let command = self.open[request.0 as usize].command;
        let after = match command.op {
            Op::Read => self.interface.read_end,
            _ => self.interface.write_end,
        };
        let (frames, sent) = match (&self.link, command.op) {
            (Some(link), _) => {
                let (end, latency) = (link.end, link.latency);
                (end + latency, self.keep_link(end, now) + latency)
            }
            (None, Op::Read) => {
                let frames = self.interface.frames;
                (frames, self.keep_link(frames, now))
            }
            (None, _) => (Time::ZERO, now),
        };
        let at = sent + after;
        let entry = cx.request_mut(request);
        entry.parts.add(Part::Overhead, after);
        entry.parts.add(Part::Bus, frames);
        let wait = (at - entry.start) - entry.parts.total();
        entry.parts.add(Part::Wait, wait);
        entry.media = now - entry.start - entry.parts.get(Part::Wake);
        self.counters.parts(&entry.parts);
        if let Some(picture) = &mut self.picture {
            picture.served(command.op, &entry.parts);
        }
        at
    }

    pub(super) fn complete(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let open = self.open[request.0 as usize];
        let outcome = match open.has_failed {
            true => Outcome::MediaError,
            false => Outcome::Ok,
        };
        if open.command.op == Op::Write && !open.has_failed {
            self.counters.host_blocks += u64::from(open.command.blocks);
            self.steady.wrote(open.command.blocks, cx.now());
        }
        let stream = cx.request(request).stream;
        cx.complete(request, outcome);
        let was_full = self.serving == self.depth;
        self.serving -= 1;
        if self.queues.is_some() {
            self.leaves_queue(stream, was_full, cx);
        } else if let Some(next) = self.waiting.pop_front() {
            self.take(next, cx);
        } else if was_full {
            cx.announce_room();
        }
        if self.serving == 0 {
            self.idle(cx);
        }
    }

    /// Whole units of a trim are nowhere from now on, but for those that are in the controller. Pages that had no room may have some now.
    #[inline(never)]
    fn trim(&mut self, command: &Command, cx: &mut Context<'_>) {
        let blocks = u64::from(self.geometry.unit_blocks);
        let first = command.lbn.0.div_ceil(blocks) as u32;
        let end = (command.end().0 / blocks) as u32;
        for unit in first..end.max(first) {
            if matches!(self.map.whereabouts(unit), Whereabouts::Slot(_)) {
                self.forget(unit);
                self.counters.trimmed_pages += 1;
            }
        }
        self.let_blocked_go_on(cx);
    }
}
