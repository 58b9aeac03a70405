//! The medium at rest: what it is spared, and when it is told to stop.

use super::commands::STOP;
use super::{Hybrid, Piece};
use crate::base::units::Time;
use crate::engine::Token;
use crate::engine::children::JobId;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, RequestId};
use crate::engine::timeline::AlarmId;

/// What the drive knows of its medium's rest.
pub(super) struct Rest {
    /// NV cache power mode: the unpinned set takes writes, and the medium is stopped whenever it has nothing to do.
    is_saving: bool,
    /// How long it is left turning after it has come back.
    high_power: Time,
    /// Since when it has turned, as far as the drive has seen.
    back_since: Time,
    /// The request that found it down, until it has ended.
    waker: Option<RequestId>,
    /// Requests to it under way.
    under_way: u32,
    /// It has been told to stop, and no request has come since.
    is_told: bool,
    /// When it will be told to.
    alarm: Option<AlarmId>,
}

impl Rest {
    /// A medium that turns at time zero.
    pub fn new(is_saving: bool, high_power: Time) -> Rest {
        Rest {
            is_saving,
            high_power,
            back_since: Time::ZERO,
            waker: None,
            under_way: 0,
            is_told: false,
            alarm: None,
        }
    }
}

impl Hybrid {
    /// Whether the medium is down, or on its way back for a request that has not ended.
    pub(super) fn is_at_rest(&self, cx: &Context<'_>) -> bool {
        self.rest.waker.is_some() || cx.is_down(self.medium.device)
    }

    /// Whether a write to the medium that meets a run, from its first block to the one behind its last, is under way.
    pub(super) fn is_being_written(&self, (lbn, end): (u64, u64)) -> bool {
        self.writing.iter().any(|ends| ends.0 < end && lbn < ends.1)
    }

    /// Whether a write of the host's is for the unpinned set, if there is room. Beside a write to the medium of the same blocks it is not:
    /// the end of that would make it void.
    pub(super) fn takes_writes(&self, ends: (u64, u64), cx: &Context<'_>) -> bool {
        self.has_flash
            && (self.rest.is_saving || self.is_at_rest(cx))
            && self.waiting_pins.is_empty()
            && !self.is_being_written(ends)
    }

    /// Sends a request to the medium.
    pub(super) fn ask_medium(
        &mut self,
        job: JobId,
        command: Command,
        piece: Piece,
        cx: &mut Context<'_>,
    ) -> RequestId {
        self.forget_alarm(cx);
        let wakes = matches!(command.op, Op::Read | Op::Write) && self.finds_it_down(cx);
        if wakes {
            let request = self.children.request(job);
            let of = request.map(|request| cx.request(request).command.op);
            self.counters.wakes(of);
        }
        let child = (self.children).send(job, self.medium.device, command, piece, cx);
        self.rest.under_way += 1;
        self.rest.is_told = false;
        if wakes {
            self.rest.waker = Some(child);
        }
        child
    }

    fn finds_it_down(&self, cx: &Context<'_>) -> bool {
        self.rest.waker.is_none() && cx.is_down(self.medium.device)
    }

    /// A request to the medium has ended.
    pub(super) fn medium_is_done_with(
        &mut self,
        child: RequestId,
        piece: &Piece,
        outcome: Outcome,
        cx: &mut Context<'_>,
    ) {
        self.rest.under_way -= 1;
        if matches!(piece, Piece::Medium { .. }) {
            self.resume_flush(cx);
        }
        if self.rest.waker == Some(child) {
            self.rest.waker = None;
            self.rest.back_since = cx.now();
            if outcome == Outcome::Ok && !cx.is_down(self.medium.device) {
                self.make_room(cx);
            }
        }
    }

    /// NV cache power mode begins or ends.
    pub(super) fn set_power_mode(&mut self, is_on: bool, cx: &mut Context<'_>) {
        self.rest.is_saving = is_on;
        self.rest.is_told = false;
        self.forget_alarm(cx);
        self.lets_medium_rest(cx);
    }

    fn forget_alarm(&mut self, cx: &mut Context<'_>) {
        if let Some(alarm) = self.rest.alarm.take() {
            cx.cancel(alarm);
        }
    }

    /// In NV cache power mode, a medium that nothing is under way to is told to stop, now or when it has turned for long enough.
    pub(super) fn lets_medium_rest(&mut self, cx: &mut Context<'_>) {
        let rest = &mut self.rest;
        let is_needed = rest.under_way > 0 || self.flush.is_some();
        if !rest.is_saving || rest.is_told || rest.alarm.is_some() || is_needed {
            return;
        }
        match rest.back_since.checked_add(rest.high_power) {
            Some(at) if at > cx.now() => {
                rest.alarm = Some(cx.background_alarm(at, Token::new(STOP, 0)));
            }
            Some(_) => {
                rest.is_told = true;
                cx.stand_by(self.medium.device);
            }
            // Longer than all time: never.
            None => {}
        }
    }

    /// The medium has turned for long enough.
    pub(super) fn may_rest_now(&mut self, cx: &mut Context<'_>) {
        self.rest.alarm = None;
        self.lets_medium_rest(cx);
    }
}

/// What has woken the medium.
#[derive(Clone, Copy, Default)]
pub(super) struct Wakes {
    /// Reads and writes of the host, commands, and flushes that nobody had asked for.
    pub reads: u64,
    pub writes: u64,
    pub commands: u64,
    pub flushes: u64,
}

impl Wakes {
    /// A request that serves one of a kind, or none.
    pub fn add(&mut self, of: Option<Op>) {
        let count = match of {
            Some(Op::Read) => &mut self.reads,
            Some(Op::Write) => &mut self.writes,
            Some(_) => &mut self.commands,
            None => &mut self.flushes,
        };
        *count += 1;
    }
}
