//! Accesses begin, and requests to the hybrid drive end.

use super::counters::Written;
use super::{Access, DropOrder, FlashBacked, MEMORY, Piece, command_on};
use crate::base::units::{Lbn, Time};
use crate::engine::children::{Ground, JobId, PhaseEnd};
use crate::engine::context::Context;
use crate::engine::request::{NvCacheCommand, Op, Outcome, Part, RequestId};

impl FlashBacked {
    /// An access to the medium begins.
    pub(super) fn begin(&mut self, access: Access, cx: &mut Context<'_>) {
        let job = match access.request {
            Some(request) => self.children.begin(request),
            None => self.children.begin_own(Ground::Foreground),
        };
        self.head = Lbn(access.run.end);
        let unpins_first = access.takes_entries && self.parts.order == DropOrder::Paper;
        if unpins_first {
            let mut run = access.run.clone();
            while let Some(entry) = self.fqueue.take_within(&mut run) {
                self.taken.push(entry.lbn..entry.end());
                if let Some(request) = self.take_unbacked(entry.order) {
                    self.overtaken.push(request);
                }
            }
            let unpin = command_on(Op::NvCache(NvCacheCommand::Unpin), false, &access.run);
            self.access = Some(access);
            self.send(job, unpin, Piece::UnpinFirst, cx);
        } else {
            self.access = Some(access);
            self.send_access(job, cx);
        }
    }

    /// The access itself.
    fn send_access(&mut self, job: JobId, cx: &mut Context<'_>) {
        let access = self.access.clone().expect("one is under way");
        let leaves_later = access.takes_entries && self.parts.order == DropOrder::DurableFirst;
        let op = match leaves_later {
            true => Op::NvCache(NvCacheCommand::WriteMediumAndUnpin),
            false => access.op,
        };
        let command = command_on(op, access.fua, &access.run);
        let child = self.send(job, command, Piece::Medium, cx);
        if access.op != Op::Write {
            return;
        }
        let whole = access
            .request
            .map(|request| (request, cx.request(request).command));
        if let Some((checker, device)) = cx.checker() {
            let entries = self.fqueue.overlapping(&access.run);
            let entries = entries.map(|entry| entry.lbn..entry.end());
            for entry in entries
                .filter(|_| leaves_later)
                .chain(self.taken.iter().cloned())
            {
                let blocks = (entry.end - entry.start) as u32;
                checker.read_buffered(device, MEMORY, child, entry.start, blocks);
            }
            for entry in &self.taken {
                let blocks = (entry.end - entry.start) as u32;
                checker.dropped(device, MEMORY, entry.start, blocks);
            }
            if let Some((request, command)) = whole {
                checker.carried(request, child, command.lbn.0, command.blocks);
            }
        }
        self.taken.clear();
    }

    /// A request to the hybrid drive has come back.
    pub(super) fn piece_ended(&mut self, child: RequestId, cx: &mut Context<'_>) {
        let piece = self.children.take(child);
        let ended = cx.request(child);
        let outcome = ended.outcome.expect("the piece is complete");
        // What the device was kept for: not what it let the request wait for others.
        let spent = ended.completion - ended.start - ended.parts.get(Part::Wait);
        let what = piece.payload;
        if let Piece::Medium = what {
            self.note_access(child, spent, cx);
        }
        if let (Piece::Flash { .. }, Outcome::Ok) = (what, outcome) {
            let blocks = cx.request(child).command.blocks;
            let written = spent - self.parts.command;
            self.counters.wrote(Written::Flash, blocks.into(), written);
        }
        let end = (self.children).finish(piece, outcome, cx);
        let end = end.expect("a phase has one piece");
        match what {
            Piece::Flash { order } => self.written_to_flash(&end, order, cx),
            Piece::UnpinFirst => self.send_access(end.job, cx),
            Piece::Flush => {
                self.children.end(end.job);
                self.complete(end.request.expect("the host's"), outcome, cx);
            }
            Piece::Medium => self.access_ended(&end, cx),
        }
    }

    /// Another write has taken a redirected one to the medium, or does so now: that it is not in the NV cache does not matter any more.
    fn has_been_overtaken(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let lbn = cx.request(request).command.lbn.0;
        let takes = |access: &Access| access.takes_entries && access.run.contains(&lbn);
        if self.access.as_ref().is_some_and(takes) {
            self.overtaken.push(request);
        } else {
            self.complete_late(request, Outcome::Ok, cx);
        }
    }

    /// A redirected write is in the NV cache.
    fn written_to_flash(&mut self, end: &PhaseEnd, order: u64, cx: &mut Context<'_>) {
        if end.outcome != Outcome::Ok {
            return self.unbacked(end, order, cx);
        }
        let request = end.request.expect("a redirected write is the host's");
        let lbn = cx.request(request).command.lbn.0;
        self.fqueue.backed(lbn, order);
        self.children.end(end.job);
        self.complete(request, Outcome::Ok, cx);
    }

    /// The NV cache did not take a write: from now on all goes to the medium, that write first of all.
    fn unbacked(&mut self, end: &PhaseEnd, order: u64, cx: &mut Context<'_>) {
        let request = end.request.expect("a redirected write is the host's");
        self.children.end(end.job);
        let lbn = cx.request(request).command.lbn.0;
        if !self.fqueue.holds(lbn, order) {
            return self.has_been_overtaken(request, cx);
        }
        self.counters.failed_flash_writes += 1;
        self.is_degraded = true;
        self.fqueue.backed(lbn, order);
        self.unbacked.push((order, request));
        match self.is_stuck {
            false => self.begin_flushing(),
            // Nor does the medium take it.
            true => self.fail_unbacked(end.outcome, cx),
        }
    }

    /// The access under way has ended: what it has done is noted.
    fn note_access(&mut self, child: RequestId, spent: Time, cx: &mut Context<'_>) {
        let access = self.access.as_ref().expect("one is under way");
        let blocks = access.run.end - access.run.start;
        match Self::written(access) {
            Some(what) => self.counters.wrote(what, blocks, spent),
            None => self.counters.medium_reads += 1,
        }
        let (Some(request), Op::Read | Op::NvCache(_)) = (access.request, access.op) else {
            return;
        };
        let run = access.run.clone();
        let command = cx.request(request).command;
        if let Some((checker, _)) = cx.checker() {
            checker.carried(child, request, run.start, blocks as u32);
        }
        self.overlay(request, &command, cx);
    }

    /// The access is over: entries that went with it leave the FQueue.
    fn access_ended(&mut self, end: &PhaseEnd, cx: &mut Context<'_>) {
        self.children.end(end.job);
        let access = self.access.take().expect("one was under way");
        let is_good = end.outcome == Outcome::Ok;
        if access.takes_entries && is_good {
            self.drop_entries(&access, cx);
        }
        if access.takes_entries && !is_good {
            (self.is_degraded, self.is_stuck) = (true, true);
            self.fail_unbacked(end.outcome, cx);
        }
        self.end_flushing();
        while let Some(request) = self.overtaken.pop() {
            self.complete_late(request, end.outcome, cx);
        }
        if let Some(request) = end.request {
            self.complete(request, end.outcome, cx);
        }
    }

    fn drop_entries(&mut self, access: &Access, cx: &mut Context<'_>) {
        let mut run = access.run.clone();
        while let Some(entry) = self.fqueue.take_within(&mut run) {
            if let Some((checker, device)) = cx.checker() {
                checker.dropped(device, MEMORY, entry.lbn, entry.blocks as u32);
            }
            if let Some(request) = self.take_unbacked(entry.order) {
                self.complete_late(request, Outcome::Ok, cx);
            }
        }
    }

    /// The request that waits until the medium has an entry, if there is one.
    fn take_unbacked(&mut self, order: u64) -> Option<RequestId> {
        let mut unbacked = self.unbacked.iter();
        let at = unbacked.position(|(other, _)| *other == order)?;
        Some(self.unbacked.swap_remove(at).1)
    }

    /// The medium does not take what the NV cache did not take.
    fn fail_unbacked(&mut self, outcome: Outcome, cx: &mut Context<'_>) {
        while let Some((_, request)) = self.unbacked.pop() {
            self.complete_late(request, outcome, cx);
        }
    }

    /// Completes a request that has waited since its last piece ended.
    fn complete_late(&mut self, request: RequestId, outcome: Outcome, cx: &mut Context<'_>) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        let accounted = entry.start + entry.parts.total();
        entry.parts.add(Part::Wait, now - accounted);
        self.complete(request, outcome, cx);
    }

    /// Completes a request of the host.
    pub(super) fn complete(&mut self, request: RequestId, outcome: Outcome, cx: &mut Context<'_>) {
        self.outstanding -= 1;
        cx.complete(request, outcome);
    }
}
