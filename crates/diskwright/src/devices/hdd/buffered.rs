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

    /// A request has begun.
    pub fn begins(&mut self, begun: StartedRequest) {
        match &mut self.active {
            None => self.active = Some(begun),
            Some(_) => self.ahead = Some(begun),
        }
    }

    /// The request that began first is complete.
    pub fn ends(&mut self) -> Option<StartedRequest> {
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
