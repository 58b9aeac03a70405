//! A hybrid drive: a medium and an NV cache in one device, and the commands by which a host rules what is in the NV cache.
//! `docs/hybrid.md` defines it.
//!
//! A request is divided into runs that are in the NV cache and runs that are not, and takes no time of its own. Commands take effect when they
//! arrive and are complete a little later. While the medium has stopped, the NV cache takes what it can.

mod commands;
mod contents;
mod counters;
mod rest;
mod space;
pub mod spec;
mod transfers;
mod unpinned;

use serde_json::{Map, Value};

use crate::base::units::{Lbn, Time};
use crate::engine::Token;
use crate::engine::children::{Children, JobId};
use crate::engine::context::Context;
use crate::engine::device::{Device, DeviceStatus, Fault, Location, NvCacheFacts};
use crate::engine::request::{DeviceId, Op, Outcome, Promise, RequestId};
use contents::{Contents, Run, Use};
use counters::HybridCounters;
use rest::Rest;
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

/// What a spec says of the drive itself.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What a command takes that only changes which blocks are pinned.
    pub command: Time,
    /// NV cache power mode is on from the start.
    pub power_mode: bool,
    /// The minimum high-power time: how long the medium is left turning, in NV cache power mode, after it has come back.
    pub high_power: Time,
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
    /// What is known of the medium's rest, and NV cache power mode.
    rest: Rest,
    /// The flush of the unpinned set that is under way, and the run that it is at.
    flush: Option<Flush>,
    /// Requests that must not overtake it.
    parked: Vec<RequestId>,
    /// Pins that wait until it has made room.
    waiting_pins: Vec<RequestId>,
    /// Writes to the medium under way: their first blocks, and the ones behind their last.
    writing: Vec<(u64, u64)>,
    /// What populating pins read from the medium: for which job, from which block to which, and when it was sent.
    fetches: Vec<(JobId, (u64, u64), u64)>,
    /// What populating pins write to its places: for which job, from which block to which.
    populating: Vec<(JobId, (u64, u64))>,
    /// Writes that must not be overtaken by that.
    behind_populating: Vec<RequestId>,
    /// Requests whose blocks have been pinned and are to be written, with the tick before which that was.
    to_write: Vec<(RequestId, u64)>,
    /// Commands under way.
    commands: u32,
    counters: HybridCounters,
    /// The runs of the request that is being submitted, kept for their memory.
    runs: Vec<Run>,
}

impl Hybrid {
    /// A drive at rest, with an empty NV cache.
    pub fn new(medium: Child, flash: Child, settings: Settings) -> Hybrid {
        Hybrid {
            medium,
            flash,
            command_time: settings.command,
            contents: Contents::new(flash.blocks),
            children: Children::default(),
            has_flash: true,
            rest: Rest::new(settings.power_mode, settings.high_power),
            flush: None,
            parked: Vec::new(),
            waiting_pins: Vec::new(),
            writing: Vec::new(),
            fetches: Vec::new(),
            populating: Vec::new(),
            behind_populating: Vec::new(),
            to_write: Vec::new(),
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
                let job = self.children.begin(request);
                self.ask_medium(job, command, Piece::Passed, cx);
                (self.children).send(job, self.flash.device, command, Piece::Passed, cx);
            }
            // What is pinned stays: a trim need not do anything.
            Op::Trim => {
                let job = self.children.begin(request);
                self.ask_medium(job, command, Piece::Passed, cx);
            }
            Op::NvCache(of) => self.obey(of, request, &command, cx),
        }
    }
}

impl Device for Hybrid {
    fn children(&self) -> Vec<DeviceId> {
        vec![self.medium.device, self.flash.device]
    }

    fn prepare(&mut self, cx: &mut Context<'_>) {
        self.lets_medium_rest(cx);
    }

    fn accept(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.counters.requests += 1;
        if let Op::NvCache(of) = cx.request(request).command.op {
            self.counters.commanded(of);
        }
        self.begin(request, cx);
    }

    fn alarm(&mut self, token: Token, cx: &mut Context<'_>) {
        match token.kind() {
            commands::STOP => self.may_rest_now(cx),
            _ => self.command_ended(token, cx),
        }
    }

    fn child_completed(&mut self, child: DeviceId, request: RequestId, cx: &mut Context<'_>) {
        let piece = self.children.take(request);
        let whole = self.children.request(piece.job);
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
            self.phase_ended(&end, last, cx);
        }
        if child == self.medium.device {
            self.medium_is_done_with(request, &last, outcome, cx);
        }
        self.lets_medium_rest(cx);
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
        // Children get their pieces at once, but for what a flush of the unpinned set holds up, and that for what is written to the medium;
        // and for what a populating pin holds up.
        let behind_flush = match &self.flush {
            Some(flush) if flush.is_held_up && self.writing.is_empty() => 1,
            Some(_) => 0,
            None => self.parked.len() + self.waiting_pins.len(),
        };
        match self.populating.is_empty() {
            true => behind_flush + self.behind_populating.len(),
            false => behind_flush,
        }
    }

    fn status(&self, now: Time, below: &[Box<dyn Device>]) -> DeviceStatus {
        let index = self.medium.device.0 as usize;
        let own = usize::from(self.flush.is_some_and(|flush| flush.is_own));
        let waiting = self.parked.len() + self.waiting_pins.len() + self.behind_populating.len();
        DeviceStatus {
            outstanding: (self.children.len() - own + waiting) as u32 + self.commands,
            ..below[index].status(now, &below[..index])
        }
    }

    fn is_down(&self, now: Time, below: &[Box<dyn Device>]) -> bool {
        let index = self.medium.device.0 as usize;
        below[index].is_down(now, &below[..index])
    }

    fn made_urgent(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.children.make_urgent(request, cx);
    }

    fn stand_by(&mut self, cx: &mut Context<'_>) {
        cx.stand_by(self.medium.device);
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
            command: self.command_time,
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
