//! The segmented buffer at work in a disk: requests that use it may overlap, one at the interface and the next at the medium.

use super::arm::StartedRequest;
use super::buffer::{Buffer, Move};
use super::hardware::Hardware;
use crate::base::units::Time;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId};

/// A segmented buffer, and the requests that use it.
pub(super) struct Buffered {
    pub buffer: Buffer,
    /// The request that will be complete first, and the one that the arm has set off for meanwhile.
    pub active: Option<StartedRequest>,
    pub ahead: Option<StartedRequest>,
    /// When they are complete.
    active_until: Time,
    ahead_until: Time,
    /// When the arm may set off for another request.
    pub released: Time,
    /// When the active request will be complete.
    pub bus_free: Time,
    /// An alarm is set for when the medium has done with buffered writes.
    pub awaits_medium: bool,
}

impl Buffered {
    pub fn new(buffer: Buffer) -> Buffered {
        Buffered {
            buffer,
            active: None,
            ahead: None,
            active_until: Time::ZERO,
            ahead_until: Time::ZERO,
            released: Time::ZERO,
            bus_free: Time::ZERO,
            awaits_medium: false,
        }
    }

    /// The requests that have begun, merged ones as one.
    pub fn begun(&self) -> impl Iterator<Item = &StartedRequest> {
        self.active.iter().chain(&self.ahead)
    }

    /// Whether the arm may set off for another request.
    #[inline]
    pub fn may_begin(&self, now: Time) -> bool {
        self.active.is_none() || self.ahead.is_none() && now >= self.released
    }

    /// A request has begun, and is complete at `end` unless it has to wait.
    pub fn begins(&mut self, begun: StartedRequest, end: Time) {
        match &mut self.active {
            None => (self.active, self.active_until) = (Some(begun), end),
            Some(_) => (self.ahead, self.ahead_until) = (Some(begun), end),
        }
    }

    /// A request that has begun is complete later.
    pub fn ends_later(&mut self, request: RequestId, wait: Time) {
        let is_active = self.active.as_ref();
        match is_active.is_some_and(|active| active.request == request) {
            true => self.active_until += wait,
            false => self.ahead_until += wait,
        }
    }

    /// Where the request that began first has had to wait, so that the other one is to be complete before it: the other one, and how long
    /// it waits, too.
    pub fn ahead_of_active(&self, now: Time) -> Option<(RequestId, Time)> {
        let ahead = self.ahead.as_ref()?;
        let wait = self.active_until.saturating_sub(now);
        (wait > Time::ZERO).then_some((ahead.request, wait))
    }

    /// The request that began first is complete.
    pub fn ends(&mut self) -> Option<StartedRequest> {
        self.active_until = self.ahead_until;
        std::mem::replace(&mut self.active, self.ahead.take())
    }

    /// Brings the buffer up to date, and reports its transfers to the checker.
    pub fn advance_and_report(&mut self, hardware: &Hardware, cx: &mut Context<'_>) {
        self.buffer.advance_to(hardware, cx.now());
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        for step in self.buffer.moves() {
            match step {
                Move::Fill(to) => checker.filled(device, to.segment, to.lbn, to.blocks),
                Move::Drain(from) => checker.drained(device, from.segment, from.lbn, from.blocks),
            }
        }
    }

    /// Reports to the checker what a request that is complete did with the buffer.
    pub fn commit(
        &mut self,
        hardware: &Hardware,
        (request, segment): (RequestId, u32),
        cx: &mut Context<'_>,
    ) {
        if cx.checker().is_none() {
            return;
        }
        self.advance_and_report(hardware, cx);
        let Command {
            op, lbn, blocks, ..
        } = cx.request(request).command;
        if op == Op::Read
            && let Some((checker, device)) = cx.checker()
        {
            checker.read_buffered(device, segment, request, lbn.0, blocks);
        }
    }
}
