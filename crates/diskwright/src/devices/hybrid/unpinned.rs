//! The flush of the unpinned set: run by run, from the NV cache to the medium.

use super::contents::{Run, Use};
use super::{Hybrid, Piece};
use crate::base::units::Lbn;
use crate::engine::children::{Ground, JobId};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, Promise, RequestId};

/// The checker's name of what is read to be written to the medium, by its places in the NV cache.
const GATHERED: u32 = 0;

/// A flush of the unpinned set that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flush {
    job: JobId,
    /// The run that it is at.
    lbn: u64,
    blocks: u64,
    /// A write to the medium that meets the run was under way when its turn came: that ends first.
    pub is_held_up: bool,
    /// No request has asked for it.
    pub is_own: bool,
    /// A pin has come since it began.
    has_new_pins: bool,
}

impl Hybrid {
    /// Begins a flush, for a command or the drive's own; `false` where nothing is to be flushed.
    pub(super) fn flush_unpinned(
        &mut self,
        request: Option<RequestId>,
        cx: &mut Context<'_>,
    ) -> bool {
        let Some(run) = self.contents.unpinned_from(0) else {
            return false;
        };
        let job = match request {
            Some(request) => self.children.begin(request),
            None => self.children.begin_own(Ground::Behind),
        };
        self.flush = Some(Flush {
            job,
            lbn: run.lbn,
            blocks: run.blocks,
            is_held_up: false,
            is_own: request.is_none(),
            has_new_pins: false,
        });
        self.counters.own_flushes += u64::from(request.is_none());
        self.goes_to(&run, cx);
        true
    }

    /// The NV cache is full, or the medium is back: the drive flushes, unless a flush is under way.
    pub(super) fn make_room(&mut self, cx: &mut Context<'_>) {
        if self.flush.is_none() && self.has_flash {
            self.flush_unpinned(None, cx);
        }
    }

    /// Whether a pin without room waits for a flush.
    pub(super) fn waits_for_room(&mut self, request: RequestId, cx: &mut Context<'_>) -> bool {
        let flushes = match &mut self.flush {
            Some(flush) => {
                flush.has_new_pins = true;
                true
            }
            None => self.has_flash && self.flush_unpinned(None, cx),
        };
        if flushes {
            self.waiting_pins.push(request);
        }
        flushes
    }

    /// The pins that wait for room, at the end of a flush: those that find none are refused, unless another flush can make some.
    fn pin_waiting(&mut self, may_flush_again: bool, cx: &mut Context<'_>) {
        let mut is_again = may_flush_again;
        for request in std::mem::take(&mut self.waiting_pins) {
            let command = cx.request(request).command;
            if self.pin(request, &command, cx) {
                continue;
            }
            is_again = is_again && (self.flush.is_some() || self.flush_unpinned(None, cx));
            match is_again {
                true => self.waiting_pins.push(request),
                false => self.answer(request, false, cx),
            }
        }
    }

    /// Whether a request to the medium waits for the flush: it must not be overtaken by older data of the same blocks.
    pub(super) fn parks(&mut self, request: RequestId, command: &Command) -> bool {
        let meets =
            |flush: Flush| command.lbn.0 < flush.lbn + flush.blocks && flush.lbn < command.end().0;
        let waits = self.flush.is_some_and(meets);
        if waits {
            self.parked.push(request);
        }
        waits
    }

    /// Another flush waits for the one under way.
    pub(super) fn parks_flush(&mut self, request: RequestId) -> bool {
        if self.flush.is_some() {
            self.parked.push(request);
        }
        self.flush.is_some()
    }

    /// The flush goes to a run, once no write that meets it is under way to the medium: that would be overtaken by older data.
    fn goes_to(&mut self, run: &Run, cx: &mut Context<'_>) {
        let ends = (run.lbn, run.lbn + run.blocks);
        let is_met = self.is_being_written(ends);
        let flush = self.flush.as_mut().expect("it is under way");
        (flush.lbn, flush.blocks) = (run.lbn, run.blocks);
        flush.is_held_up = is_met;
        let job = flush.job;
        if !is_met {
            self.gather(job, run, cx);
        }
    }

    /// A write to the medium has ended: a flush that it held up goes on.
    pub(super) fn resume_flush(&mut self, cx: &mut Context<'_>) {
        let Some(flush) = self.flush.filter(|flush| flush.is_held_up) else {
            return;
        };
        self.go_on_from(flush, flush.lbn, Outcome::Ok, cx);
    }

    fn gather(&mut self, job: JobId, run: &Run, cx: &mut Context<'_>) {
        let of = self.contents.begin_use(run);
        let command = Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(of.place),
            blocks: of.blocks as u32,
        };
        self.counters.sends(true, Op::Read, of.blocks);
        (self.children).send(job, self.flash.device, command, Piece::Gather(of), cx);
    }

    /// A run has been read.
    pub(super) fn gathered(&mut self, of: &Use, child: RequestId, cx: &mut Context<'_>) {
        self.contents.end_use(of, false);
        if let Some((checker, device)) = cx.checker() {
            checker.buffered(device, GATHERED, child, of.place, of.blocks as u32);
        }
    }

    /// Writes to the medium what has been read.
    pub(super) fn spread(&mut self, job: JobId, of: Use, cx: &mut Context<'_>) {
        let blocks = of.blocks as u32;
        let command = Command {
            op: Op::Write,
            fua: self.medium.promise == Promise::AfterFlush,
            lbn: Lbn(of.lbn),
            blocks,
        };
        self.counters.sends(false, Op::Write, of.blocks);
        let child = self.ask_medium(job, command, Piece::Spread(of), cx);
        if let Some((checker, device)) = cx.checker() {
            checker.read_buffered_at((device, GATHERED, of.place), (child, of.lbn), blocks);
            checker.dropped(device, GATHERED, of.place, blocks);
        }
    }

    /// A run is on the medium, or could not be brought there.
    pub(super) fn settled(&mut self, job: JobId, of: &Use, outcome: Outcome, cx: &mut Context<'_>) {
        let flush = self.flush.expect("it is under way");
        debug_assert_eq!(flush.job, job, "one flush at a time");
        if outcome == Outcome::Ok {
            self.counters.flushed_blocks += of.blocks;
        }
        self.go_on_from(flush, of.lbn + of.blocks, outcome, cx);
    }

    /// The next run from a block on, or the end of the flush; then what has waited for the last one.
    fn go_on_from(&mut self, flush: Flush, lbn: u64, outcome: Outcome, cx: &mut Context<'_>) {
        match self.contents.unpinned_from(lbn) {
            Some(run) if outcome == Outcome::Ok => self.goes_to(&run, cx),
            _ => self.flush_ends(flush, outcome, cx),
        }
        for request in std::mem::take(&mut self.parked) {
            self.begin(request, cx);
        }
    }

    fn flush_ends(&mut self, flush: Flush, outcome: Outcome, cx: &mut Context<'_>) {
        self.flush = None;
        let request = self.children.request(flush.job);
        let has_begun = self.children.phase(flush.job) > 0;
        self.children.end(flush.job);
        if let Some(request) = request {
            let now = cx.now();
            let entry = cx.request_mut(request);
            if has_begun {
                // What it waited for last, if the run whose turn it was is no longer there.
                let worked_until = entry.start + entry.parts.total();
                entry.parts.add(Part::Wait, now - worked_until);
            } else {
                (entry.acceptance, entry.start) = (now, now);
            }
            cx.complete(request, outcome);
        }
        self.pin_waiting(flush.has_new_pins && outcome == Outcome::Ok, cx);
    }
}
