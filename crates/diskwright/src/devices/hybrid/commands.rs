//! The commands to the NV cache.

use super::contents::Run;
use super::{Hybrid, Piece};
use crate::engine::Token;
use crate::engine::children::PhaseEnd;
use crate::engine::context::Context;
use crate::engine::request::{Command, NvCacheCommand, Op, Outcome, Part, RequestId, ServedBy};

/// Kinds of alarms: the end of a command that went well, and of one that was refused.
const DONE: u32 = 0;
const REFUSED: u32 = 1;

impl Hybrid {
    /// A command arrives.
    pub(super) fn obey(
        &mut self,
        of: NvCacheCommand,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) {
        self.counters.commanded(of);
        let (lbn, blocks) = (command.lbn.0, u64::from(command.blocks));
        match of {
            NvCacheCommand::Pin => {
                let is_held = self.pin(lbn, blocks);
                self.answer(request, is_held, cx);
            }
            NvCacheCommand::PinAndPopulate => {
                if self.pin(lbn, blocks) {
                    self.populate(request, command, cx);
                } else {
                    self.answer(request, false, cx);
                }
            }
            NvCacheCommand::Unpin => {
                self.contents.release(lbn, blocks);
                self.answer(request, true, cx);
            }
            NvCacheCommand::QueryPinned => {
                let runs = self.contents.runs(lbn, blocks);
                let pinned = runs.filter(|run| run.cell.is_some_and(|cell| cell.is_pinned));
                let pinned: u64 = pinned.map(|run| run.blocks).sum();
                cx.request_mut(request).served_by = match pinned {
                    0 => ServedBy::Medium,
                    all if all == blocks => ServedBy::Buffer,
                    _ => ServedBy::Both,
                };
                self.answer(request, true, cx);
            }
            NvCacheCommand::FlushUnpinned => {
                if !self.parks_flush(request) && !self.flush_unpinned(request, cx) {
                    self.answer(request, true, cx);
                }
            }
            NvCacheCommand::PowerModeOn | NvCacheCommand::PowerModeOff => {
                self.is_saving = of == NvCacheCommand::PowerModeOn;
                self.answer(request, self.has_flash, cx);
            }
            NvCacheCommand::ReadMedium => self.divide(request, command, cx),
            NvCacheCommand::WriteMedium if self.parks(request, command) => {}
            NvCacheCommand::WriteMedium => {
                let job = self.children.begin(Some(request));
                self.send_to_medium(job, request, (lbn, command.end().0), cx);
            }
        }
    }

    fn pin(&mut self, lbn: u64, blocks: u64) -> bool {
        self.has_flash && self.contents.hold(lbn, blocks, true)
    }

    /// Ends a command that only changes what is known of blocks, after its time.
    fn answer(&mut self, request: RequestId, is_good: bool, cx: &mut Context<'_>) {
        let (now, time) = (cx.now(), self.command_time);
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        entry.parts.add(Part::Overhead, time);
        self.commands += 1;
        self.counters.refused += u64::from(!is_good);
        let kind = if is_good { DONE } else { REFUSED };
        cx.alarm(now + time, Token::of_request(kind, request));
    }

    pub(super) fn command_ended(&mut self, token: Token, cx: &mut Context<'_>) {
        self.commands -= 1;
        let outcome = match token.kind() {
            DONE => Outcome::Ok,
            _ => Outcome::Refused,
        };
        cx.complete(token.request(), outcome);
    }

    /// Reads pinned blocks from the medium that have no data in the NV cache.
    fn populate(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let job = self.children.begin(Some(request));
        let runs = self.empty_runs(command);
        for run in &runs {
            let ends = (run.lbn, run.lbn + run.blocks);
            self.send_to_medium(job, request, ends, cx);
        }
        if runs.is_empty() {
            self.children.end(job);
            self.answer(request, true, cx);
        }
    }

    /// The runs of a command that have a place, but no data in it, and none on their way.
    fn empty_runs(&self, command: &Command) -> Vec<Run> {
        let runs = (self.contents).runs(command.lbn.0, command.blocks.into());
        let is_empty = |run: &Run| {
            run.cell
                .is_some_and(|cell| !cell.is_valid && !cell.is_used())
        };
        runs.filter(is_empty).collect()
    }

    /// The last piece of a phase of a job has ended.
    pub(super) fn phase_ended(
        &mut self,
        end: &PhaseEnd,
        (last, whole): (Piece, RequestId),
        cx: &mut Context<'_>,
    ) {
        match last {
            Piece::Gather(of) if end.outcome == Outcome::Ok => {
                return self.spread(end.job, of, cx);
            }
            Piece::Gather(of) | Piece::Spread(of) => {
                return self.settled((end.job, whole), &of, end.outcome, cx);
            }
            _ => {}
        }
        let command = cx.request(whole).command;
        let is_read = command.op == Op::NvCache(NvCacheCommand::PinAndPopulate) && end.phase == 0;
        if is_read && end.outcome == Outcome::Ok {
            let runs = self.empty_runs(&command);
            for run in &runs {
                self.counters.populated_blocks += run.blocks;
                self.send_to_flash(end.job, whole, run, cx);
            }
            if !runs.is_empty() {
                return;
            }
        }
        self.children.end(end.job);
        cx.complete(whole, end.outcome);
    }
}
