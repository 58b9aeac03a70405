//! The commands to the NV cache.

use super::contents::Run;
use super::{Hybrid, Piece};
use crate::engine::Token;
use crate::engine::children::{JobId, PhaseEnd};
use crate::engine::context::Context;
use crate::engine::request::{Command, NvCacheCommand, Op, Outcome, Part, RequestId, ServedBy};

/// Kinds of alarms: the end of a command that went well, and of one that was refused; the medium may stop.
const DONE: u32 = 0;
const REFUSED: u32 = 1;
pub(super) const STOP: u32 = 2;

impl Hybrid {
    /// A command arrives.
    pub(super) fn obey(
        &mut self,
        of: NvCacheCommand,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) {
        let (lbn, blocks) = (command.lbn.0, u64::from(command.blocks));
        match of {
            NvCacheCommand::Pin | NvCacheCommand::PinAndPopulate | NvCacheCommand::PinAndWrite => {
                if !self.pin(request, command, cx) && !self.waits_for_room(request, cx) {
                    self.answer(request, false, cx);
                }
            }
            NvCacheCommand::Unpin => {
                self.contents.unpin(lbn, blocks);
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
                if !self.parks_flush(request) && !self.flush_unpinned(Some(request), cx) {
                    self.answer(request, true, cx);
                }
            }
            NvCacheCommand::PowerModeOn | NvCacheCommand::PowerModeOff => {
                self.set_power_mode(of == NvCacheCommand::PowerModeOn, cx);
                self.answer(request, self.has_flash, cx);
            }
            NvCacheCommand::ReadMedium => self.divide(request, command, cx),
            NvCacheCommand::WriteMedium | NvCacheCommand::WriteMediumAndUnpin
                if self.parks(request, command) => {}
            NvCacheCommand::WriteMedium | NvCacheCommand::WriteMediumAndUnpin => {
                let job = self.children.begin(request);
                self.send_to_medium(job, request, (lbn, command.end().0), cx);
            }
        }
    }

    /// Pins what a command says, if there is room.
    pub(super) fn pin(
        &mut self,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) -> bool {
        let (lbn, blocks) = (command.lbn.0, command.blocks.into());
        if !self.has_flash || !self.contents.hold(lbn, blocks, true) {
            return false;
        }
        match command.op {
            Op::NvCache(NvCacheCommand::PinAndPopulate) => self.populate(request, command, cx),
            Op::NvCache(NvCacheCommand::PinAndWrite) => {
                let pinned = self.contents.tick();
                self.to_write.push((request, pinned));
                self.answer(request, true, cx);
            }
            _ => self.answer(request, true, cx),
        }
        true
    }

    /// Ends a command that only changes what is known of blocks, after its time.
    pub(super) fn answer(&mut self, request: RequestId, is_good: bool, cx: &mut Context<'_>) {
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
        let request = token.request();
        let outcome = match token.kind() {
            DONE => Outcome::Ok,
            _ => Outcome::Refused,
        };
        let writes = cx.request(request).command.op == Op::NvCache(NvCacheCommand::PinAndWrite);
        if writes && outcome == Outcome::Ok {
            return self.write_pinned(request, cx);
        }
        cx.complete(request, outcome);
    }

    /// The blocks of a request have been pinned: it is written to its places, if they are its own still.
    fn write_pinned(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let command = cx.request(request).command;
        if self.waits_for_populating(request, (command.lbn.0, command.end().0)) {
            return;
        }
        let mut waiting = self.to_write.iter();
        let at = waiting.position(|(waits, _)| *waits == request);
        let (_, pinned) = self.to_write.swap_remove(at.expect("it has been pinned"));
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        runs.extend(self.contents.runs(command.lbn.0, command.blocks.into()));
        let is_own = |run: &Run| run.cell.is_some_and(|cell| cell.is_pinned_since(pinned));
        if self.has_flash && runs.iter().all(is_own) {
            self.counters.goes_on(false);
            let job = self.children.begin_after_own(request);
            for run in &runs {
                self.send_to_flash(job, request, run, cx);
            }
        } else {
            self.counters.refused += 1;
            cx.complete(request, Outcome::Refused);
        }
        self.runs = runs;
    }

    /// Reads pinned blocks from the medium that have no data in the NV cache.
    fn populate(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let job = self.children.begin(request);
        let runs = self.empty_runs((command.lbn.0, command.blocks.into()));
        let began = self.contents.tick();
        for run in &runs {
            let ends = (run.lbn, run.lbn + run.blocks);
            self.fetches.push((job, ends, began));
            self.send_to_medium(job, request, ends, cx);
        }
        if runs.is_empty() {
            self.children.end(job);
            self.answer(request, true, cx);
        }
    }

    /// What a populating pin has read goes to its places, but for what has been written since: how many runs that are.
    fn populate_flash(&mut self, job: JobId, whole: RequestId, cx: &mut Context<'_>) -> usize {
        let (of_job, others) = std::mem::take(&mut self.fetches)
            .into_iter()
            .partition(|fetch| fetch.0 == job);
        self.fetches = others;
        let mut sent = 0;
        for (_, (lbn, end), began) in of_job {
            for run in self.empty_runs((lbn, end - lbn)) {
                if run.cell.is_some_and(|cell| cell.is_unchanged(began)) {
                    self.counters.populated_blocks += run.blocks;
                    self.populating.push((job, (run.lbn, run.lbn + run.blocks)));
                    self.send_to_flash(job, whole, &run, cx);
                    sent += 1;
                }
            }
        }
        sent
    }

    /// The runs among some blocks that have a place, but no data in it, and none on their way.
    fn empty_runs(&self, (lbn, blocks): (u64, u64)) -> Vec<Run> {
        let runs = self.contents.runs(lbn, blocks);
        let is_empty = |run: &Run| {
            run.cell
                .is_some_and(|cell| !cell.is_valid && !cell.is_used())
        };
        runs.filter(is_empty).collect()
    }

    /// The last piece of a phase of a job has ended.
    pub(super) fn phase_ended(&mut self, end: &PhaseEnd, last: Piece, cx: &mut Context<'_>) {
        match last {
            Piece::Gather(of) if end.outcome == Outcome::Ok => {
                return self.spread(end.job, of, cx);
            }
            Piece::Gather(of) | Piece::Spread(of) => {
                return self.settled(end.job, &of, end.outcome, cx);
            }
            _ => {}
        }
        let whole = end.request.expect("all other work is for requests");
        let command = cx.request(whole).command;
        if command.op == Op::NvCache(NvCacheCommand::PinAndPopulate) && end.phase == 0 {
            if end.outcome == Outcome::Ok && self.populate_flash(end.job, whole, cx) > 0 {
                return;
            }
            self.fetches.retain(|fetch| fetch.0 != end.job);
        }
        self.children.end(end.job);
        cx.complete(whole, end.outcome);
        if command.op == Op::NvCache(NvCacheCommand::PinAndPopulate) {
            self.populating.retain(|populating| populating.0 != end.job);
            self.write_behind_populating(cx);
        }
    }

    /// Whether a write waits for what a populating pin writes to its places: older data, which must not come after newer ones.
    pub(super) fn waits_for_populating(
        &mut self,
        request: RequestId,
        (from, end): (u64, u64),
    ) -> bool {
        let mut populating = self.populating.iter();
        let waits = populating.any(|(_, other)| from < other.1 && other.0 < end);
        if waits {
            self.behind_populating.push(request);
        }
        waits
    }

    /// A populating pin is complete: what has waited for it goes on.
    fn write_behind_populating(&mut self, cx: &mut Context<'_>) {
        for request in std::mem::take(&mut self.behind_populating) {
            let now = cx.now();
            let entry = cx.request_mut(request);
            if entry.command.op == Op::Write {
                self.begin(request, cx);
                continue;
            }
            // Its pin has been complete since then.
            let since = entry.start + entry.parts.total();
            entry.parts.add(Part::Wait, now - since);
            self.write_pinned(request, cx);
        }
    }
}
