//! What begins when: channels, workers, and the phases of operations.

use super::operations::{Action, OpId, Phase};
use super::{Ssd, kinds};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::models::flash::blocks::Writer;

impl Ssd {
    /// The worker of a plane.
    #[inline]
    pub(super) fn worker_of(&self, plane: u32) -> u32 {
        plane / self.planes_of_worker
    }

    /// Workers of a channel.
    #[inline]
    fn workers_of_channel(&self) -> u32 {
        self.geometry.planes_of_channel() / self.planes_of_worker
    }

    /// Has a channel looked at when all that happens in the instant has happened.
    #[inline]
    pub(super) fn schedule(&mut self, channel: u32, cx: &mut Context<'_>) {
        if self.to_schedule == 0 {
            cx.wake();
        }
        self.to_schedule |= 1 << channel;
    }

    /// Has all channels looked at.
    pub(super) fn schedule_all(&mut self, cx: &mut Context<'_>) {
        for channel in 0..self.geometry.channels {
            self.schedule(channel, cx);
        }
    }

    /// Puts an operation into the queue of its worker.
    pub(super) fn enqueue(&mut self, id: OpId, cx: &mut Context<'_>) {
        let operation = self.operations.get_mut(id);
        operation.queued = cx.now();
        let (action, plane) = (operation.action, operation.plane);
        let worker = &mut self.workers[(plane / self.planes_of_worker) as usize];
        let list = match action {
            Action::Read | Action::Merge => &mut worker.reads,
            Action::Program => &mut worker.writes,
            Action::Move | Action::Erase => &mut worker.cleaning,
        };
        self.operations.push(list, id);
        self.schedule(self.geometry.channel_of(plane), cx);
    }

    /// Begins what can begin, the lowest channel first.
    pub(super) fn start_operations(&mut self, cx: &mut Context<'_>) {
        while self.to_schedule != 0 {
            let channel = self.to_schedule.trailing_zeros();
            self.to_schedule &= self.to_schedule - 1;
            self.start_on(channel, cx);
        }
    }

    fn start_on(&mut self, channel: u32, cx: &mut Context<'_>) {
        let now = cx.now();
        loop {
            let Some((worker, id)) = self.next_on(channel, cx) else {
                return;
            };
            if self.channels[channel as usize].busy_until > now {
                let entry = &mut self.channels[channel as usize];
                if !std::mem::replace(&mut entry.has_alarm, true) {
                    cx.alarm(entry.busy_until, Token::new(kinds::CHANNEL, channel));
                }
                return;
            }
            self.begin(channel, worker, id, cx);
        }
    }

    /// What the channel carries next: data that wait, the first ones first; else the command of an operation of the next worker in turn. Of
    /// a channel that is not free, only whether there is anything.
    fn next_on(&mut self, channel: u32, cx: &mut Context<'_>) -> Option<(u32, OpId)> {
        let entry = &self.channels[channel as usize];
        if let Some(id) = entry.transfers.front() {
            let worker = self.worker_of(self.operations.get(id).plane);
            return Some((worker, id));
        }
        let count = self.workers_of_channel();
        let (first, turn) = (channel * count, entry.turn);
        for step in 0..count {
            let place = turn + step;
            let place = if place < count { place } else { place - count };
            let worker = first + place;
            if !self.workers[worker as usize].has_work() {
                continue;
            }
            if let Some(id) = self.choose_operation(worker, cx) {
                return Some((worker, id));
            }
        }
        None
    }

    /// The operation that a worker without one begins next, which stays where it is.
    fn choose_operation(&mut self, worker: u32, cx: &mut Context<'_>) -> Option<OpId> {
        let state = self.workers[worker as usize];
        let cleaning = state.cleaning.front();
        if let Some(id) = cleaning
            && self.is_urgent(self.operations.get(id).plane, state.passed)
        {
            return Some(id);
        }
        while let Some(id) = self.workers[worker as usize].reads.front() {
            let slot = self.map.slot(self.operations.get(id).unit);
            let plane = slot.map_or(self.operations.get(id).plane, |slot| {
                self.geometry.plane_of(slot)
            });
            if self.worker_of(plane) == worker {
                self.operations.get_mut(id).plane = plane;
                return Some(id);
            }
            let mut reads = self.workers[worker as usize].reads;
            self.operations.take(&mut reads, None, id);
            self.workers[worker as usize].reads = reads;
            self.operations.get_mut(id).plane = plane;
            self.enqueue(id, cx);
        }
        let mut at = state.writes.front();
        while let Some(id) = at {
            if self.can_write(self.operations.get(id).plane, cx) {
                return Some(id);
            }
            at = self.operations.after(id);
            self.operations.get_mut(id).was_blocked = true;
            self.write_elsewhere(worker, id, cx);
        }
        // Cleaning may have begun for what could not be written.
        self.workers[worker as usize].cleaning.front()
    }

    fn begin(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        match self.operations.get(id).phase {
            Phase::Queued => self.begin_operation(channel, worker, id, cx),
            Phase::Register => {
                let mut transfers = self.channels[channel as usize].transfers;
                self.operations.take(&mut transfers, None, id);
                self.channels[channel as usize].transfers = transfers;
                let out = self.timing.transfer(self.blocks_out(id));
                self.operations.get_mut(id).phase = Phase::Out;
                self.carry(channel, id, out, cx.now());
                self.ring(worker, id, cx.now() + out, cx);
            }
            _ => {
                let mut transfers = self.channels[channel as usize].transfers;
                self.operations.take(&mut transfers, None, id);
                self.channels[channel as usize].transfers = transfers;
                let data = self.timing.transfer(self.geometry.unit_blocks);
                let time = self.program_time(self.operations.get(id).to);
                self.program(channel, worker, id, data, time, cx);
            }
        }
    }

    /// The blocks of a read that leave the flash: those that its request wants; of others the whole unit.
    fn blocks_out(&self, id: OpId) -> u32 {
        let operation = self.operations.get(id);
        match operation.action {
            Action::Read => {
                self.open[operation.request.0 as usize].blocks_of(operation.unit, &self.geometry)
            }
            _ => self.geometry.unit_blocks,
        }
    }

    /// The channel carries something of an operation for a while.
    #[inline]
    fn carry(&mut self, channel: u32, id: OpId, time: Time, now: Time) {
        let entry = &mut self.channels[channel as usize];
        entry.busy_until = now + time;
        entry.busy += time;
        self.operations.get_mut(id).channel_time += time;
    }

    /// Sets the alarm for the end of a phase. Cleaning alone does not keep a run going.
    #[inline]
    fn ring(&mut self, worker: u32, id: OpId, at: Time, cx: &mut Context<'_>) {
        let token = Token::new(kinds::WORKER, worker);
        match self.operations.get(id).action {
            Action::Move | Action::Erase => cx.background_alarm(at, token),
            _ => cx.alarm(at, token),
        };
    }

    fn program_time(&self, slot: u32) -> Time {
        let page = self.geometry.page_of(slot) % self.geometry.pages;
        self.timing.program_time(page, self.geometry.pages)
    }

    fn read_time(&self, slot: u32, blocks: u32) -> Time {
        let page = self.geometry.page_of(slot) % self.geometry.pages;
        let is_part = blocks * 2 < self.geometry.unit_blocks * self.geometry.units;
        self.timing.read_time(page, is_part)
    }

    /// A worker begins an operation.
    fn begin_operation(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let now = cx.now();
        let operation = *self.operations.get(id);
        let mut state = self.workers[worker as usize];
        let list = match operation.action {
            Action::Read | Action::Merge => &mut state.reads,
            Action::Program => &mut state.writes,
            Action::Move | Action::Erase => &mut state.cleaning,
        };
        let before = self.before(list.front(), id);
        self.operations.take(list, before, id);
        match operation.action {
            Action::Program => state.passed += 1,
            Action::Move | Action::Erase => state.passed = 0,
            _ => {}
        }
        (state.current, state.busy_since) = (Some(id), now);
        self.workers[worker as usize] = state;
        let turn = worker % self.workers_of_channel() + 1;
        self.channels[channel as usize].turn = turn % self.workers_of_channel();
        match operation.action {
            Action::Read | Action::Merge | Action::Move => self.begin_read(channel, worker, id, cx),
            Action::Program => {
                let to = self.blocks.next_page(operation.plane, Writer::Host);
                let to = to.expect("a write begins only where there is room");
                self.queued[operation.plane as usize] -= 1;
                let entry = self.operations.get_mut(id);
                entry.to = to;
                if entry.was_blocked {
                    entry.erase_time = self.timing.erase.min(now - entry.queued);
                }
                let data = self.timing.transfer(self.geometry.unit_blocks);
                let time = self.program_time(to);
                self.program(channel, worker, id, data, time, cx);
                self.clean_if_needed(operation.plane, cx);
            }
            Action::Erase => {
                self.carry(channel, id, self.timing.erase_command, now);
                self.operations.get_mut(id).phase = Phase::Last;
                self.ring(
                    worker,
                    id,
                    now + self.timing.erase_command + self.timing.erase,
                    cx,
                );
            }
        }
    }

    /// The operation before another in the list that begins with `first`.
    pub(super) fn before(&self, first: Option<OpId>, id: OpId) -> Option<OpId> {
        let (mut before, mut at) = (None, first);
        while let Some(here) = at
            && here != id
        {
            (before, at) = (Some(here), self.operations.after(here));
        }
        before
    }

    /// A read begins: where its unit is now.
    fn begin_read(&mut self, channel: u32, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let now = cx.now();
        let operation = *self.operations.get(id);
        let from = match operation.action {
            Action::Move => operation.from,
            // What was trimmed in the meantime is on no page; whether it is read or not is as long.
            _ => self.map.slot(operation.unit).unwrap_or(operation.from),
        };
        let read = self.read_time(from, self.blocks_out(id));
        let command = self.timing.read_command;
        let is_copy = operation.action == Action::Move && self.copy_back;
        if operation.action == Action::Move {
            let to = self.blocks.next_page(operation.plane, Writer::Cleaning);
            self.operations.get_mut(id).to =
                to.expect("cleaning has a block that the host may not have");
        }
        let entry = self.operations.get_mut(id);
        (entry.from, entry.phase) = (from, if is_copy { Phase::Last } else { Phase::Sense });
        entry.read_time += read;
        self.tell_read(id, cx);
        if is_copy {
            let program = self.program_time(self.operations.get(id).to);
            let commands = command + self.timing.program_command;
            self.operations.get_mut(id).program_time += program;
            self.carry(channel, id, commands, now);
            self.ring(worker, id, now + commands + read + program, cx);
        } else {
            self.carry(channel, id, command, now);
            self.ring(worker, id, now + command + read, cx);
        }
    }

    /// The channel carries a program's command and data; then the array works.
    fn program(
        &mut self,
        channel: u32,
        worker: u32,
        id: OpId,
        data: Time,
        time: Time,
        cx: &mut Context<'_>,
    ) {
        let front = self.timing.program_command + data;
        self.carry(channel, id, front, cx.now());
        let entry = self.operations.get_mut(id);
        entry.phase = Phase::Last;
        entry.program_time += time;
        self.ring(worker, id, cx.now() + front + time, cx);
    }

    /// A phase of the operation of a worker is over.
    pub(super) fn phase_over(&mut self, worker: u32, cx: &mut Context<'_>) {
        let id = self.workers[worker as usize]
            .current
            .expect("it rang for one");
        let operation = *self.operations.get(id);
        let channel = self.geometry.channel_of(operation.plane);
        self.schedule(channel, cx);
        let next = match operation.phase {
            Phase::Sense => Some(Phase::Register),
            Phase::Out if operation.action == Action::Move => Some(Phase::Back),
            _ => None,
        };
        if let Some(phase) = next {
            self.operations.get_mut(id).phase = phase;
            let mut transfers = self.channels[channel as usize].transfers;
            self.operations.push(&mut transfers, id);
            self.channels[channel as usize].transfers = transfers;
            return;
        }
        let state = &mut self.workers[worker as usize];
        state.current = None;
        state.busy += cx.now() - state.busy_since;
        match operation.action {
            Action::Read => self.read_over(id, cx),
            Action::Merge => self.merge_over(id, cx),
            Action::Program => self.program_over(id, cx),
            Action::Move => self.move_over(id, cx),
            Action::Erase => self.erase_over(id, cx),
        }
        if self.has_stuck {
            self.has_stuck = false;
            self.schedule_all(cx);
        }
    }
}
