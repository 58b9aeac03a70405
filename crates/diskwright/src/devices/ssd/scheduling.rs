//! What begins when: the turns of channels and workers.

use super::operations::{Action, OpId};
use super::{Ssd, kinds};
use crate::engine::Token;
use crate::engine::context::Context;

impl Ssd {
    /// The worker of a plane.
    #[inline]
    pub(super) fn worker_of(&self, plane: u32) -> u32 {
        self.by_worker.quotient(plane)
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

    /// Pages that had no room may have some: units are no longer valid, or an operation is over.
    pub(super) fn let_blocked_go_on(&mut self, cx: &mut Context<'_>) {
        self.let_all_pages_in(cx);
        if std::mem::take(&mut self.has_stuck) {
            self.schedule_all(cx);
        }
    }

    /// Puts an operation into the queue of its worker.
    pub(super) fn enqueue(&mut self, id: OpId, cx: &mut Context<'_>) {
        let operation = self.operations.get_mut(id);
        operation.queued = cx.now();
        let (action, plane) = (operation.action, operation.plane);
        let worker = self.worker_of(plane);
        let queue = self.workers[worker as usize].queue(action);
        self.operations.push(queue, id);
        let channel = self.geometry.channel_of(plane);
        self.is_ready(channel, worker);
        self.schedule(channel, cx);
    }

    /// Begins what can begin, the lowest channel first.
    pub(super) fn start_operations(&mut self, cx: &mut Context<'_>) {
        while self.to_schedule != 0 {
            let channel = self.to_schedule.trailing_zeros();
            self.to_schedule &= self.to_schedule - 1;
            self.start_on(channel, cx);
            if let Some(suspensions) = &mut self.suspensions {
                suspensions.saw(channel);
            }
        }
        self.look_at_suspensions(cx);
    }

    fn start_on(&mut self, channel: u32, cx: &mut Context<'_>) {
        loop {
            let entry = &mut self.channels[channel as usize];
            if entry.busy_until > cx.now() {
                let is_wanted = (entry.ready != 0) | !entry.transfers.is_empty();
                if is_wanted & (entry.alarm_at < entry.busy_until) {
                    entry.alarm_at = entry.busy_until;
                    cx.alarm(entry.busy_until, Token::new(kinds::CHANNEL, channel));
                }
                return;
            }
            let Some((worker, id)) = self.next_on(channel, cx) else {
                return;
            };
            self.begin(channel, worker, id, cx);
        }
    }

    /// What a free channel carries next: data that wait, the first ones first; else the command of an operation of the next worker in turn.
    fn next_on(&mut self, channel: u32, cx: &mut Context<'_>) -> Option<(u32, OpId)> {
        let entry = &self.channels[channel as usize];
        if let Some(id) = entry.transfers.front() {
            let worker = self.worker_of(self.operations.get(id).plane);
            return Some((worker, id));
        }
        let first = channel * self.workers_of_channel;
        // Those from the turn on, then those before it. A read may go from one of them to a later one.
        let from_turn = u64::MAX << entry.turn;
        for mut left in [from_turn, !from_turn] {
            while let place = (self.channels[channel as usize].ready & left).trailing_zeros()
                && place < u64::BITS
            {
                left &= (u64::MAX << place) << 1;
                let worker = first + place;
                if !self.workers[worker as usize].has_work() {
                    self.channels[channel as usize].ready &= !(1 << place);
                } else if let Some(id) = self.choose_operation(worker, cx) {
                    return Some((worker, id));
                }
            }
        }
        None
    }

    /// A worker may have something to begin.
    #[inline]
    pub(super) fn is_ready(&mut self, channel: u32, worker: u32) {
        let place = worker - channel * self.workers_of_channel;
        self.channels[channel as usize].ready |= 1 << place;
    }

    /// The operation that a worker without one begins next, which stays where it is.
    fn choose_operation(&mut self, worker: u32, cx: &mut Context<'_>) -> Option<OpId> {
        let state = self.workers[worker as usize];
        if self.has_suspended(worker) {
            return self.choose_beside_suspended(worker, cx);
        }
        if self.log.is_some() {
            return self.choose_logged(worker, cx);
        }
        if self.stripes.is_some() {
            return self.choose_striped(worker, cx);
        }
        if self.cleaning.is_in_foreground && !state.is_waited_for() {
            return None;
        }
        if let Some(id) = self.next_cleaning(worker)
            && self.is_urgent(self.operations.get(id).plane, state.passed)
        {
            return Some(id);
        }
        if let Some(id) = self.choose_read(worker, cx) {
            return Some(id);
        }
        let mut at = state.writes.front();
        while let Some(id) = at {
            let operation = self.operations.get(id);
            if operation.action == Action::MapWrite
                || self.can_write(operation.plane, operation.stream, cx)
            {
                return Some(id);
            }
            at = self.operations.after(id);
            self.operations.get_mut(id).was_blocked = true;
            self.write_elsewhere(worker, id, cx);
        }
        // Cleaning may have been begun for what could not be written.
        self.next_cleaning(worker)
    }

    /// The same of a worker whose operation is suspended: only reads may go before it. Out of line, for few drives suspend anything.
    #[inline(never)]
    fn choose_beside_suspended(&mut self, worker: u32, cx: &mut Context<'_>) -> Option<OpId> {
        self.choose_read(worker, cx)
    }

    /// The first read or merge of a worker that is still for it: others go to the workers that have their units now.
    pub(super) fn choose_read(&mut self, worker: u32, cx: &mut Context<'_>) -> Option<OpId> {
        while let Some(id) = self.workers[worker as usize].reads.front() {
            self.look_up(id);
            if self.worker_of(self.operations.get(id).plane) == worker {
                return Some(id);
            }
            let mut reads = self.workers[worker as usize].reads;
            self.operations.take(&mut reads, None, id);
            self.workers[worker as usize].reads = reads;
            self.enqueue(id, cx);
        }
        None
    }

    /// The first slot that an operation reads, which may have changed while it waited. What was trimmed in the meantime is on no page; it is
    /// read where it was.
    pub(super) fn slot_of_read(&self, id: OpId) -> u32 {
        let operation = self.operations.get(id);
        self.home_of(operation.unit).unwrap_or(operation.from)
    }

    /// An operation reads where its first unit is now.
    pub(super) fn look_up(&mut self, id: OpId) {
        let slot = self.slot_of_read(id);
        let operation = self.operations.get_mut(id);
        (operation.from, operation.plane) = (slot, self.geometry.plane_of(slot));
    }
}
