//! Reads and writes: which part of a request goes where, and what becomes known when it has ended.

use super::contents::Run;
use super::{Hybrid, Piece};
use crate::base::units::Lbn;
use crate::engine::children::JobId;
use crate::engine::context::Context;
use crate::engine::request::{Command, NvCacheCommand, Op, Outcome, Promise, RequestId};

impl Hybrid {
    /// A read or a write of the host: each run where it belongs.
    pub(super) fn divide(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let is_write = command.op == Op::Write;
        let (lbn, blocks) = (command.lbn.0, u64::from(command.blocks));
        let ends = (lbn, command.end().0);
        if is_write && self.waits_for_populating(request, ends) {
            return;
        }
        let wants_place = is_write && self.takes_writes(ends, cx);
        let is_absorbed = wants_place && self.contents.hold(lbn, blocks, false);
        if is_write && !is_absorbed && self.parks(request, command) {
            return;
        }
        let job = self.children.begin(request);
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        runs.extend(self.contents.runs(lbn, blocks));
        let (mut at, mut unpinned, mut spares_medium) = (lbn, 0, true);
        for run in &runs {
            let is_flash = run.cell.is_some_and(|cell| match command.op {
                Op::Read => cell.is_valid,
                // What is pinned is left out; of the rest the newest data count.
                Op::NvCache(_) => cell.is_valid && !cell.is_pinned,
                _ => (cell.is_pinned || is_absorbed) && self.has_flash,
            });
            if is_flash {
                let is_pinned = run.cell.is_some_and(|cell| cell.is_pinned);
                unpinned += if is_pinned { 0 } else { run.blocks };
                spares_medium &= at == run.lbn;
                self.send_to_medium(job, request, (at, run.lbn), cx);
                self.send_to_flash(job, request, run, cx);
                at = run.lbn + run.blocks;
            }
        }
        self.runs = runs;
        self.send_to_medium(job, request, (at, ends.1), cx);
        if is_absorbed {
            self.counters.absorbs(unpinned);
        } else if wants_place {
            self.make_room(cx);
        }
        spares_medium &= at == ends.1;
        if command.op == Op::Read && spares_medium && self.is_at_rest(cx) {
            self.counters.reads_at_rest += 1;
        }
    }

    /// The part of a request from one block to another goes to the medium, unless it is empty.
    pub(super) fn send_to_medium(
        &mut self,
        job: JobId,
        whole: RequestId,
        (from, end): (u64, u64),
        cx: &mut Context<'_>,
    ) {
        if from == end {
            return;
        }
        let Command { op, fua, .. } = cx.request(whole).command;
        let is_read = reads(op);
        let blocks = (end - from) as u32;
        // What is void in the NV cache must be durable on the medium.
        let replaces = || {
            let mut runs = self.contents.runs(from, end - from);
            matches!(op, Op::NvCache(_)) || runs.any(|run| run.cell.is_some())
        };
        let must_last = !is_read && self.medium.promise == Promise::AfterFlush && replaces();
        let command = Command {
            op: if is_read { Op::Read } else { Op::Write },
            fua: fua || must_last,
            lbn: Lbn(from),
            blocks,
        };
        self.counters.sends(false, command.op, blocks.into());
        let piece = Piece::Medium { lbn: from, blocks };
        let child = self.ask_medium(job, command, piece, cx);
        if is_read {
            return;
        }
        self.writing.push((from, end));
        if let Some((checker, _)) = cx.checker() {
            checker.carried(whole, child, from, blocks);
        }
    }

    /// A run of a request goes to its place in the NV cache.
    pub(super) fn send_to_flash(
        &mut self,
        job: JobId,
        whole: RequestId,
        run: &Run,
        cx: &mut Context<'_>,
    ) {
        let Command { op, fua, .. } = cx.request(whole).command;
        let of = self.contents.begin_use(run);
        let is_read = matches!(op, Op::Read | Op::NvCache(NvCacheCommand::ReadMedium));
        // What is in the NV cache must not be in a volatile memory before it.
        let must_last = !is_read && self.flash.promise == Promise::AfterFlush;
        let command = Command {
            op: if is_read { Op::Read } else { Op::Write },
            fua: fua || must_last,
            lbn: Lbn(of.place),
            blocks: of.blocks as u32,
        };
        self.counters.sends(true, command.op, of.blocks);
        let child = (self.children).send(job, self.flash.device, command, Piece::Flash(of), cx);
        if command.op == Op::Write
            && let Some((checker, _)) = cx.checker()
        {
            checker.moved((whole, of.lbn), (child, of.place), command.blocks);
        }
    }

    /// What a piece has done, with its outcome.
    pub(super) fn note(
        &mut self,
        piece: &Piece,
        child: RequestId,
        whole: Option<RequestId>,
        cx: &mut Context<'_>,
    ) {
        let ended = cx.request(child);
        let is_good = ended.outcome == Some(Outcome::Ok);
        let is_read = ended.command.op == Op::Read;
        match *piece {
            Piece::Flash(of) => {
                self.contents.end_use(&of, is_good && !is_read);
                if is_read && let (Some(whole), Some((checker, _))) = (whole, cx.checker()) {
                    checker.moved((child, of.place), (whole, of.lbn), of.blocks as u32);
                }
            }
            Piece::Medium { lbn, blocks } => {
                if is_read {
                    if let (Some(whole), Some((checker, _))) = (whole, cx.checker()) {
                        checker.carried(child, whole, lbn, blocks);
                    }
                    return;
                }
                let written = (lbn, lbn + u64::from(blocks));
                let at = self.writing.iter().position(|&ends| ends == written);
                self.writing.swap_remove(at.expect("it was under way"));
                if !is_good {
                    return;
                }
                let unpins = whole.is_some_and(|whole| {
                    cx.request(whole).command.op == Op::NvCache(NvCacheCommand::WriteMediumAndUnpin)
                });
                if unpins {
                    self.counters.goes_on(true);
                    self.contents.supersede_and_unpin(lbn, blocks.into());
                } else {
                    self.contents.supersede(lbn, blocks.into());
                }
            }
            Piece::Gather(of) => self.gathered(&of, child, cx),
            Piece::Spread(of) if is_good => self.contents.settle(&of),
            Piece::Passed | Piece::Spread(_) => {}
        }
    }
}

/// Whether what a request sends to the medium reads it.
fn reads(op: Op) -> bool {
    let of_nv_cache = |command| {
        matches!(
            command,
            NvCacheCommand::ReadMedium | NvCacheCommand::PinAndPopulate
        )
    };
    match op {
        Op::NvCache(command) => of_nv_cache(command),
        op => op == Op::Read,
    }
}
