//! The phases of operations: the use of the channel, the work of the array, and the end.

use super::operations::{Action, OpId, Operation, Phase};
use super::{Ssd, kinds};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::timeline::AlarmId;
use crate::models::flash::blocks::Writer;

/// What two operations of the planes of a die cost the channel in place of the command, each, when they are done together.
#[derive(Clone, Copy, Debug)]
pub(super) struct MultiPlane {
    pub read: Time,
    pub program: Time,
}

impl Ssd {
    /// The channel carries the next thing of an operation.
    pub(super) fn begin(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let phase = self.operations.get(id).phase;
        if phase == Phase::Queued {
            return self.begin_operation(channel, worker, id, cx);
        }
        let transfers = &mut self.channels[channel as usize].transfers;
        self.operations.take(transfers, None, id);
        match phase {
            Phase::Register => {
                let blocks = self.blocks_out(id);
                let out = self.timing.transfer(blocks);
                self.operations.get_mut(id).phase = Phase::Out;
                self.carry(channel, id, out, cx.now());
                // The end of this phase is when the channel is free.
                self.channels[channel as usize].alarm_at = cx.now() + out;
                self.ring(worker, id, cx.now() + out, cx);
            }
            Phase::Again => self.sense_move(channel, worker, id, cx),
            _ => self.write_back(channel, worker, id, cx),
        }
    }

    /// The channel carries what a move writes.
    #[inline(never)]
    pub(super) fn write_back(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let page = self.page_time(self.operations.get(id).to);
        let front = self.timing.program_command + self.page_transfer();
        self.program(channel, worker, id, (front, page), cx);
    }

    /// The blocks that leave the flash: of reads those that their requests want, of merges whole units.
    #[inline]
    fn blocks_out(&self, id: OpId) -> u32 {
        let blocks = self.blocks_read(self.operations.get(id));
        match self.operations.partner(id) {
            Some(partner) => blocks + self.blocks_out_together(partner),
            None => blocks,
        }
    }

    #[inline(never)]
    fn blocks_out_together(&self, first: OpId) -> u32 {
        let all = self.operations.together(first);
        all.map(|id| self.blocks_read(self.operations.get(id)))
            .sum()
    }

    #[inline]
    fn blocks_read(&self, operation: &Operation) -> u32 {
        match operation.action {
            Action::Read => operation.wanted,
            _ => self.blocks_read_inside(operation),
        }
    }

    /// The same of what the drive reads for itself.
    #[inline(never)]
    fn blocks_read_inside(&self, operation: &Operation) -> u32 {
        match operation.action {
            Action::MoveRead => operation.count * self.geometry.unit_blocks,
            Action::Move if self.log.is_none() => {
                self.job_of(operation).last * self.geometry.unit_blocks
            }
            _ => self.geometry.unit_blocks,
        }
    }

    /// The channel carries something of an operation, and of those done together with it, for a while.
    #[inline]
    pub(super) fn carry(&mut self, channel: u32, id: OpId, time: Time, now: Time) {
        let entry = &mut self.channels[channel as usize];
        entry.busy_until = now + time;
        entry.busy += time;
        self.operations
            .change(id, |operation| operation.channel_time += time);
    }

    /// Sets the alarm for the end of a phase. What no request waits for does not keep a run going.
    #[inline]
    pub(super) fn ring(&mut self, worker: u32, id: OpId, at: Time, cx: &mut Context<'_>) {
        if self.picture.is_some() {
            self.picture_phase(worker, id, at, cx);
        }
        let end = self.set_end(worker, id, at, cx);
        if let Some(suspensions) = &mut self.suspensions {
            let Operation { phase, plane, .. } = *self.operations.get(id);
            if phase == Phase::Last {
                let channel = self.geometry.channel_of(plane);
                let from = self.channels[channel as usize].busy_until;
                suspensions.works(worker, (from, at), end);
            }
        }
    }

    /// Sets the alarm for the end of a phase of a worker's operation.
    #[inline]
    pub(super) fn set_end(
        &mut self,
        worker: u32,
        id: OpId,
        at: Time,
        cx: &mut Context<'_>,
    ) -> AlarmId {
        let token = Token::new(kinds::WORKER, worker);
        let action = self.operations.get(id).action;
        if action.is_housekeeping() || action == Action::Program && self.writes.buffer.is_some() {
            cx.background_alarm(at, token)
        } else {
            cx.alarm(at, token)
        }
    }

    /// The time of the array for the page that begins at a slot.
    pub(super) fn page_time(&self, slot: u32) -> Time {
        let page = self.geometry.page_in_block(slot);
        match self.slc {
            Some(slc) if self.blocks.is_slc(slot) => {
                let is_last = page + 1 == slc.rules.pages;
                slc.program
                    + if is_last {
                        self.timing.summary
                    } else {
                        Time::ZERO
                    }
            }
            _ => self.timing.program_time(page, self.geometry.pages),
        }
    }

    /// The time of a whole page on the channel.
    pub(super) fn page_transfer(&self) -> Time {
        self.timing
            .transfer(self.geometry.unit_blocks * self.geometry.units)
    }

    pub(super) fn read_time(&self, slot: u32, blocks: u32) -> Time {
        if let Some(slc) = self.slc
            && self.blocks.is_slc(slot)
        {
            return slc.read;
        }
        let page = self.geometry.page_in_block(slot);
        let is_part = blocks * 2 < self.geometry.unit_blocks * self.geometry.units;
        self.timing.read_time(page, is_part)
    }

    /// A worker begins an operation.
    fn begin_operation(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let now = cx.now();
        let action = self.operations.get(id).action;
        self.take_from_queue(worker, id);
        let state = &mut self.workers[worker as usize];
        match action {
            Action::Program => {
                state.passed += 1;
                // With a cached map it depends on what it programs.
                state.owes_program &= self.mapping.is_some();
            }
            Action::Move
            | Action::MoveRead
            | Action::MoveWrite
            | Action::MoveParity
            | Action::Erase => state.passed = 0,
            Action::Read | Action::Merge | Action::MapRead => state.owes_read = false,
            Action::MapWrite | Action::Parity => {}
        }
        (state.current, state.busy_since) = (Some(id), now);
        let workers = self.workers_of_channel;
        let place = worker - channel * workers;
        let entry = &mut self.channels[channel as usize];
        entry.ready &= !(1 << place);
        entry.turn = if place + 1 == workers { 0 } else { place + 1 };
        match action {
            Action::Read | Action::Merge | Action::MapRead => {
                self.begin_reads(channel, worker, id, cx);
            }
            Action::Program | Action::Parity => self.begin_programs(channel, worker, id, cx),
            Action::MapWrite => self.begin_map_write(channel, worker, id, cx),
            Action::Move
            | Action::MoveRead
            | Action::MoveWrite
            | Action::MoveParity
            | Action::Erase => self.begin_cleaning(channel, worker, id, cx),
        }
    }

    /// A page of the map is written.
    #[inline(never)]
    fn begin_map_write(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let Operation {
            unit: page, count, ..
        } = *self.operations.get(id);
        let erase = Time::from_ns(self.timing.erase.ns() * u64::from(count));
        let time = self.timing.program_time(page, self.geometry.pages) + erase;
        let front = self.timing.program_command + self.page_transfer();
        self.program(channel, worker, id, (front, time), cx);
    }

    /// Takes an operation out of the queue of its worker.
    fn take_from_queue(&mut self, worker: u32, id: OpId) {
        let action = self.operations.get(id).action;
        let queue = self.workers[worker as usize].queue(action);
        let before = self.operations.before(queue, id);
        self.operations.take(queue, before, id);
    }

    /// A read begins, and of other planes of its die those that can be done with it.
    fn begin_reads(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        self.split_read(id, cx);
        let command = match self.multi_plane {
            Some(multi_plane) => self.join_reads(worker, id, multi_plane.read, cx),
            None => self.timing.read_command,
        };
        let mut longest = self.sense(id, cx);
        if let Some(partner) = self.operations.partner(id) {
            longest = longest.max(self.sense_together(partner, cx));
        }
        self.operations.change(id, |operation| {
            operation.phase = Phase::Sense;
            operation.read_time += longest;
        });
        self.carry(channel, id, command, cx.now());
        self.ring(worker, id, cx.now() + command + longest, cx);
    }

    /// The array is read for an operation: how long that takes.
    #[inline]
    fn sense(&mut self, id: OpId, cx: &mut Context<'_>) -> Time {
        self.tell_read(id, cx);
        let operation = self.operations.get(id);
        let (from, blocks) = (operation.from, self.blocks_read(operation));
        self.read_time(from, blocks) + self.retry_time(from, cx.now())
    }

    /// The same of an operation and those that are done together with it: how long the longest takes.
    #[inline(never)]
    fn sense_together(&mut self, first: OpId, cx: &mut Context<'_>) -> Time {
        let mut longest = Time::ZERO;
        let mut at = Some(first);
        while let Some(id) = at {
            longest = longest.max(self.sense(id, cx));
            at = self.operations.partner(id);
        }
        longest
    }

    /// Units of a read that have moved to other pages than the first of them become operations of their own.
    #[inline]
    fn split_read(&mut self, id: OpId, cx: &mut Context<'_>) {
        // A merge reads the unit of its entry.
        if self.operations.get(id).count > 1 {
            self.split_units(id, cx);
        }
    }

    /// The same of a read of several units.
    #[inline(never)]
    fn split_units(&mut self, id: OpId, cx: &mut Context<'_>) {
        let read = *self.operations.get(id);
        let page = self.geometry.page_of(read.from);
        let page_of = |ssd: &Ssd, unit| {
            let slot = ssd.home_of(unit);
            slot.map_or(page, |slot| ssd.geometry.page_of(slot))
        };
        let end = read.unit + read.count;
        let stay = (read.unit..end)
            .take_while(|&unit| page_of(self, unit) == page)
            .count() as u32;
        let wanted = self.blocks_wanted(read.request, read.unit..read.unit + stay);
        let entry = self.operations.get_mut(id);
        (entry.count, entry.wanted) = (stay, wanted);
        let mut unit = read.unit + stay;
        while unit < end {
            let of = page_of(self, unit);
            let next = (unit..end)
                .find(|&unit| page_of(self, unit) != of)
                .unwrap_or(end);
            let slot = self.home_of(unit).unwrap_or(read.from);
            let plane = self.geometry.plane_of(slot);
            let wanted = self.blocks_wanted(read.request, unit..next);
            let units = (unit, next - unit);
            let other = (self.operations).add_read(read.request, plane, units, slot, wanted);
            self.open[read.request.0 as usize].remaining += 1;
            self.enqueue(other, cx);
            unit = next;
        }
    }

    /// Joins to a read the first ones of other planes of its die that are for a page of the same number; what the channel carries of
    /// all their commands.
    #[inline(never)]
    fn join_reads(&mut self, worker: u32, id: OpId, each: Time, cx: &mut Context<'_>) -> Time {
        let mut count = 1;
        while let Some(other) = self.next_to_join(worker, id) {
            self.take_from_queue(worker, other);
            self.look_up(other);
            self.split_read(other, cx);
            self.operations.join(id, other);
            count += 1;
        }
        match count {
            1 => self.timing.read_command,
            _ => Time::from_ns(each.ns() * count),
        }
    }

    /// The first read of a worker that can be done together with others.
    fn next_to_join(&self, worker: u32, id: OpId) -> Option<OpId> {
        let first = self.operations.get(id);
        let number = self.geometry.page_in_block(first.from);
        let mut at = self.workers[worker as usize].reads.front();
        while let Some(other) = at {
            let slot = self.slot_of_read(other);
            let plane = self.geometry.plane_of(slot);
            let is_same = self.geometry.page_in_block(slot) == number;
            if is_same && self.may_join(worker, id, plane) {
                return Some(other);
            }
            at = self.operations.after(other);
        }
        None
    }

    /// Whether an operation on a plane of a worker may be done together with others: on another plane of their die.
    fn may_join(&self, worker: u32, id: OpId, plane: u32) -> bool {
        if self.worker_of(plane) != worker {
            return false;
        }
        let die = |plane: u32| plane / self.geometry.planes;
        let mut all = self.operations.together(id);
        all.all(|id| {
            let other = self.operations.get(id).plane;
            other != plane && die(other) == die(plane)
        })
    }

    /// A program begins, and of other planes of its die those that can be done with it.
    #[inline(never)]
    fn begin_programs(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let command = match self.multi_plane {
            Some(multi_plane) => self.join_programs(worker, id, multi_plane.program, cx),
            None => self.timing.program_command,
        };
        let (mut longest, mut data) = (Time::ZERO, Time::ZERO);
        let mut at = Some(id);
        while let Some(id) = at {
            longest = longest.max(self.take_page(id, cx));
            data += self.page_transfer();
            at = self.operations.partner(id);
        }
        self.program(channel, worker, id, (command + data, longest), cx);
        if self.stripes.is_some() {
            return;
        }
        at = Some(id);
        while let Some(id) = at {
            let Operation { plane, to, .. } = *self.operations.get(id);
            at = self.operations.partner(id);
            self.clean_if_needed(plane, self.is_first_page(to), cx);
        }
    }

    /// A program gets its page; how long the array takes.
    fn take_page(&mut self, id: OpId, cx: &Context<'_>) -> Time {
        let now = cx.now();
        let operation = *self.operations.get(id);
        if self.stripes.is_some() {
            self.begin_entries(operation.entries);
            return self.page_time(operation.to);
        }
        let to = match self.log {
            Some(_) => self.page_of_logged(id, cx),
            None => {
                let writer = self.host_writer(operation.plane, operation.stream);
                self.counters.slc_pages += u64::from(writer == Writer::Slc);
                self.blocks.next_page(operation.plane, writer)
            }
        };
        let to = to.expect("a write begins only where there is room");
        self.begin_entries(operation.entries);
        if self.mapping.is_some() {
            self.note_host_page(self.worker_of(operation.plane), operation.entries);
        }
        let erase = self.timing.erase;
        if self.log.is_none() {
            self.note_opened(to, now);
        }
        let entry = self.operations.get_mut(id);
        entry.to = to;
        if entry.was_blocked {
            entry.erase_time = erase.min(now - entry.queued);
        }
        self.page_time(to)
    }

    /// Joins to a program the first ones of other planes of its die whose pages have the same number; what the channel carries of
    /// all their commands.
    #[inline(never)]
    fn join_programs(&mut self, worker: u32, id: OpId, each: Time, cx: &mut Context<'_>) -> Time {
        let number = self.number_of_next(id);
        let mut at = self.workers[worker as usize].writes.front();
        let mut count = 1;
        while let Some(other) = at {
            at = self.operations.after(other);
            let operation = *self.operations.get(other);
            if matches!(operation.action, Action::Program | Action::Parity)
                && self.may_join(worker, id, operation.plane)
                && self.number_of_next(other) == number
                && self.may_write_with(worker, other, cx)
            {
                self.take_from_queue(worker, other);
                self.operations.join(id, other);
                count += 1;
            }
        }
        self.workers[worker as usize].passed += count as u32 - 1;
        match count {
            1 => self.timing.program_command,
            _ => Time::from_ns(each.ns() * count),
        }
    }

    /// The number in its block of the page that a program would write, if that is known.
    fn number_of_next(&self, id: OpId) -> Option<u32> {
        if self.log.is_some() {
            return self.number_of_logged(id);
        }
        let operation = self.operations.get(id);
        if self.stripes.is_some() {
            return Some(self.geometry.page_in_block(operation.to));
        }
        let writer = self.host_writer(operation.plane, operation.stream);
        Some(self.blocks.next_number(operation.plane, writer))
    }

    /// Whether a program may be written with one of another plane.
    fn may_write_with(&mut self, worker: u32, id: OpId, cx: &mut Context<'_>) -> bool {
        if self.log.is_some() {
            return self.is_first_of_plane(worker, id);
        }
        if self.stripes.is_some() {
            return true;
        }
        let Operation { plane, stream, .. } = *self.operations.get(id);
        self.can_write(plane, stream, cx)
    }

    /// The channel carries a program's command and data; then the array works.
    pub(super) fn program(
        &mut self,
        channel: u32,
        worker: u32,
        id: OpId,
        (front, time): (Time, Time),
        cx: &mut Context<'_>,
    ) {
        self.carry(channel, id, front, cx.now());
        self.operations.change(id, |operation| {
            operation.phase = Phase::Last;
            operation.program_time += time;
        });
        self.ring(worker, id, cx.now() + front + time, cx);
    }

    /// A phase of the operation of a worker is over.
    pub(super) fn phase_over(&mut self, worker: u32, cx: &mut Context<'_>) {
        let id = self.workers[worker as usize]
            .current
            .expect("it rang for one");
        if self.picture.is_some() {
            self.picture_phase_over(worker, id, cx.now());
        }
        let Operation {
            action,
            phase,
            plane,
            ..
        } = *self.operations.get(id);
        let channel = self.geometry.channel_of(plane);
        self.schedule(channel, cx);
        let next = match phase {
            Phase::Sense => Some(Phase::Register),
            Phase::Out if action == Action::Move => Some(self.after_gathering(id)),
            _ => None,
        };
        if let Some(phase) = next {
            self.operations.get_mut(id).phase = phase;
            let transfers = &mut self.channels[channel as usize].transfers;
            self.operations.push(transfers, id);
            return;
        }
        let state = &mut self.workers[worker as usize];
        state.current = None;
        state.busy += cx.now() - state.busy_since;
        if state.has_work() {
            self.is_ready(channel, worker);
        }
        let mut at = Some(id);
        while let Some(id) = at {
            at = self.operations.partner(id);
            if self.ageing.is_some() {
                let operation = *self.operations.get(id);
                self.note_read(&operation, cx);
            }
            match self.operations.get(id).action {
                Action::Read => self.read_over(id, cx),
                Action::Merge => self.merge_over(id, cx),
                Action::MapRead => self.map_read_over(id, cx),
                Action::Program => self.program_over(id, cx),
                Action::MapWrite => {
                    self.operations.remove(id);
                    self.map_write_over();
                }
                Action::Parity | Action::MoveParity => self.parity_over(id),
                Action::Move => self.move_over(id, cx),
                Action::MoveRead => self.move_read_over(id, cx),
                Action::MoveWrite => self.move_write_over(id, cx),
                Action::Erase => self.erase_over(id, cx),
            }
        }
        if self.stripes.is_some() {
            self.form_pages_due(cx);
        }
        self.let_blocked_go_on(cx);
    }
}
