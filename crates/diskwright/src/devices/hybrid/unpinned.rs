//! The flush of the unpinned set: run by run, from the NV cache to the medium.

use super::contents::{Run, Use};
use super::{Hybrid, Piece};
use crate::base::units::Lbn;
use crate::engine::children::JobId;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Promise, RequestId};

/// The checker's name of what is read to be written to the medium, by its places in the NV cache.
const GATHERED: u32 = 0;

/// A flush of the unpinned set that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flush {
    /// The run that it is at.
    lbn: u64,
    blocks: u64,
}

impl Hybrid {
    /// Begins a flush; `false` where nothing is to be flushed.
    pub(super) fn flush_unpinned(&mut self, request: RequestId, cx: &mut Context<'_>) -> bool {
        let Some(run) = self.contents.unpinned_from(0) else {
            return false;
        };
        let job = self.children.begin(Some(request));
        self.gather(job, &run, cx);
        true
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

    fn gather(&mut self, job: JobId, run: &Run, cx: &mut Context<'_>) {
        self.flush = Some(Flush {
            lbn: run.lbn,
            blocks: run.blocks,
        });
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
        let child = (self.children).send(job, self.medium.device, command, Piece::Spread(of), cx);
        if let Some((checker, device)) = cx.checker() {
            checker.read_buffered_at((device, GATHERED, of.place), (child, of.lbn), blocks);
            checker.dropped(device, GATHERED, of.place, blocks);
        }
    }

    /// A run is on the medium: the next one, or the end of the flush.
    pub(super) fn settled(
        &mut self,
        (job, whole): (JobId, RequestId),
        of: &Use,
        outcome: Outcome,
        cx: &mut Context<'_>,
    ) {
        let next = self.contents.unpinned_from(of.lbn + of.blocks);
        if let (Some(run), Outcome::Ok) = (next, outcome) {
            self.gather(job, &run, cx);
        } else {
            self.flush = None;
            self.children.end(job);
            cx.complete(whole, outcome);
        }
        for request in std::mem::take(&mut self.parked) {
            self.begin(request, cx);
        }
    }
}
