//! A hybrid drive: a medium and an NV cache in one device, and the commands by which a host rules what is in the NV cache.
//! `docs/hybrid.md` defines it.
//!
//! A request is divided into runs that are in the NV cache and runs that are not, and takes no time of its own. Commands take effect when they
//! arrive and are complete a little later.

mod commands;
mod contents;
mod counters;
mod space;
pub mod spec;
mod unpinned;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::children::{Children, JobId};
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location, NvCacheFacts};
use crate::engine::request::{Command, DeviceId, NvCacheCommand, Op, Outcome, Promise, RequestId};
use contents::{Contents, Run, Use};
use counters::HybridCounters;
use unpinned::Flush;

/// A device that a hybrid drive is made of.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    /// Its number in the arena.
    pub device: DeviceId,
    /// Its capacity in blocks.
    pub blocks: u64,
    /// What it promises.
    pub promise: Promise,
}

/// What a request to a child is.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// Reads or writes a run in the NV cache.
    Flash(Use),
    /// Reads or writes a run on the medium.
    Medium {
        lbn: u64,
        blocks: u32,
    },
    /// A flush or a trim, passed on.
    Passed,
    /// Reads a run of the unpinned set, and writes it to the medium.
    Gather(Use),
    Spread(Use),
}

/// A hybrid drive.
pub struct Hybrid {
    medium: Child,
    flash: Child,
    /// What a command takes that only changes which blocks are pinned.
    command_time: Time,
    contents: Contents,
    children: Children<Piece>,
    has_flash: bool,
    /// NV cache power mode: the unpinned set takes writes.
    is_saving: bool,
    /// The flush of the unpinned set that is under way, and the run that it is at.
    flush: Option<Flush>,
    /// Requests that must not overtake it.
    parked: Vec<RequestId>,
    /// Commands under way.
    commands: u32,
    counters: HybridCounters,
    /// The runs of the request that is being submitted, kept for their memory.
    runs: Vec<Run>,
}

impl Hybrid {
    /// A drive at rest, with an empty NV cache.
    pub fn new(medium: Child, flash: Child, command_time: Time) -> Hybrid {
        Hybrid {
            medium,
            flash,
            command_time,
            contents: Contents::new(flash.blocks),
            children: Children::default(),
            has_flash: true,
            is_saving: false,
            flush: None,
            parked: Vec::new(),
            commands: 0,
            counters: HybridCounters::default(),
            runs: Vec::new(),
        }
    }

    /// A request arrives, or need not wait any longer.
    fn begin(&mut self, request: RequestId, cx: &mut Context<'_>) {
        let command = cx.request(request).command;
        match command.op {
            Op::Read | Op::Write => self.divide(request, &command, cx),
            Op::Flush => {
                let job = self.children.begin(Some(request));
                for device in [self.medium.device, self.flash.device] {
                    (self.children).send(job, device, command, Piece::Passed, cx);
                }
            }
            // What is pinned stays: a trim need not do anything.
            Op::Trim => {
                let job = self.children.begin(Some(request));
                let device = self.medium.device;
                (self.children).send(job, device, command, Piece::Passed, cx);
            }
            Op::NvCache(of) => self.obey(of, request, &command, cx),
        }
    }

    /// A read or a write of the host: each run where it belongs.
    fn divide(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let is_write = command.op == Op::Write;
        let (lbn, blocks) = (command.lbn.0, u64::from(command.blocks));
        let is_absorbed =
            is_write && self.is_saving && self.has_flash && self.contents.hold(lbn, blocks, false);
        if is_write && !is_absorbed && self.parks(request, command) {
            return;
        }
        let job = self.children.begin(Some(request));
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        runs.extend(self.contents.runs(command.lbn.0, command.blocks.into()));
        let mut at = command.lbn.0;
        for run in &runs {
            let is_flash = run.cell.is_some_and(|cell| match command.op {
                Op::Read => cell.is_valid,
                // What is pinned is left out; of the rest the newest data count.
                Op::NvCache(_) => cell.is_valid && !cell.is_pinned,
                _ => (cell.is_pinned || is_absorbed) && self.has_flash,
            });
            if is_flash {
                self.send_to_medium(job, request, (at, run.lbn), cx);
                self.send_to_flash(job, request, run, cx);
                at = run.lbn + run.blocks;
            }
        }
        self.runs = runs;
        self.send_to_medium(job, request, (at, command.end().0), cx);
    }

    /// The part of a request from one block to another goes to the medium, unless it is empty.
    fn send_to_medium(
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
            op == Op::NvCache(NvCacheCommand::WriteMedium) || runs.any(|run| run.cell.is_some())
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
        let child = (self.children).send(job, self.medium.device, command, piece, cx);
        if !is_read && let Some((checker, _)) = cx.checker() {
            checker.carried(whole, child, from, blocks);
        }
    }

    /// A run of a request goes to its place in the NV cache.
    fn send_to_flash(&mut self, job: JobId, whole: RequestId, run: &Run, cx: &mut Context<'_>) {
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
    fn note(&mut self, piece: &Piece, child: RequestId, whole: RequestId, cx: &mut Context<'_>) {
        let ended = cx.request(child);
        let is_good = ended.outcome == Some(Outcome::Ok);
        let is_read = ended.command.op == Op::Read;
        match *piece {
            Piece::Flash(of) => {
                self.contents.end_use(&of, is_good && !is_read);
                if is_read && let Some((checker, _)) = cx.checker() {
                    checker.moved((child, of.place), (whole, of.lbn), of.blocks as u32);
                }
            }
            Piece::Medium { lbn, blocks } => {
                if is_read && let Some((checker, _)) = cx.checker() {
                    checker.carried(child, whole, lbn, blocks);
                }
                if is_good && !is_read {
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

impl Device for Hybrid {
    fn children(&self) -> Vec<DeviceId> {
        vec![self.medium.device, self.flash.device]
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.counters.requests += 1;
        self.begin(request, cx);
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        self.command_ended(token, cx);
    }

    fn child_completed(&mut self, child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let piece = self.children.take(request);
        let whole = self.children.request(piece.job);
        let whole = whole.expect("a hybrid drive works for requests only");
        let outcome = cx.request(request).outcome.expect("the piece is complete");
        // A flush is as good as what is left: blocks that only an NV cache had which has failed are lost already.
        let is_lost = child == self.flash.device && !self.has_flash;
        let outcome = match (piece.payload, is_lost) {
            (Piece::Passed, true) => Outcome::Ok,
            _ => outcome,
        };
        let last = piece.payload;
        self.note(&last, request, whole, cx);
        if let Some(end) = self.children.finish(piece, outcome, cx) {
            self.phase_ended(&end, (last, whole), cx);
        }
    }

    fn child_has_room(&mut self, child: DeviceId, cx: &mut Context<'_>) {
        if child == self.medium.device {
            cx.announce_room();
        }
    }

    fn fault(&mut self, fault: Fault, _cx: &mut Context<'_>) {
        if fault == Fault::ChildFailed(self.flash.device) {
            self.has_flash = false;
        }
    }

    fn neglected(&self, _now: Time, _below: &[Box<dyn Device>]) -> usize {
        // Children get their pieces at once, but for what a flush of the unpinned set holds up.
        match &self.flush {
            Some(_) => 0,
            None => self.parked.len(),
        }
    }

    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus {
        let index = self.medium.device.0 as usize;
        DeviceStatus {
            outstanding: self.children.len() as u32 + self.commands,
            ..below[index].status(now, &below[..index])
        }
    }

    fn location(&self, lbn: Lbn, copy: u32) -> Option<Location> {
        let on = match self.contents.place_of(lbn.0) {
            Some(place) => Location::On(self.flash.device, Lbn(place)),
            None => Location::On(self.medium.device, lbn),
        };
        (copy == 0).then_some(on)
    }

    fn blocks(&self) -> u64 {
        self.medium.blocks
    }

    fn promise(&self) -> Promise {
        // What is in the NV cache is durable in any case.
        self.medium.promise
    }

    fn nv_cache(&self) -> Option<NvCacheFacts> {
        Some(NvCacheFacts {
            medium: self.medium.device,
            flash: self.flash.device,
            blocks: self.flash.blocks,
        })
    }

    fn measure_from(&mut self, _now: Time) {
        self.counters = HybridCounters::default();
    }

    fn report(&self, _elapsed: Time) -> Map<String, Value> {
        (self.counters).report(self.contents.pinned(), self.contents.held())
    }
}

#[cfg(test)]
mod tests;
