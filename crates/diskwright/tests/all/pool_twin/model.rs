//! The twin: pool, write cache and arm of a drive with one arm and data in place, as docs/model/pool.md defines them, with lists that are
//! searched from one end to the other. Instants and times are ns, addresses blocks.

use std::collections::BTreeSet;

use diskwright::models::geometry::mechanics::HeadPosition;

use super::frames::{Frame, Frames};
use super::medium::{Medium, Passing};
use super::regions::Regions;
use super::specs::{Asked, Case};
use super::streams::Streams;

/// What a transfer is for.
pub enum Purpose {
    /// A read, by its number.
    Read(usize),
    /// A write through.
    Write(usize),
    Destage,
    /// A piece of the read-ahead of a stream.
    Piece {
        stream: u64,
        passing: Passing,
        /// The block up to which it is read whatever waits.
        until: Option<u64>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// For transfers that began before it.
    Waits,
    /// In the arm's queue, which it entered as the nth.
    Queued(u64),
    Begun,
}

/// A transfer that has not ended.
pub struct Transfer {
    pub number: u64,
    pub purpose: Purpose,
    /// The blocks with which it was made.
    pub from: u64,
    pub to: u64,
    /// Those of them that are read or written.
    pub run: (u64, u64),
    /// When the arm may begin to move.
    pub ready: u64,
    pub stage: Stage,
}

impl Transfer {
    pub fn meets(&self, from: u64, to: u64) -> bool {
        self.from < to && from < self.to
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request is complete.
    Complete(usize),
    /// A transfer has been made.
    Done(u64),
    /// A piece has been cut, and the arm is at work on something else.
    Cut(u64),
    /// The blocks of a write that is to be kept in a region have crossed.
    Crossed(usize),
    /// The arm has kept writes in a region.
    Kept,
}

/// What has accessed extents and is not over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    Request(usize),
    Piece,
}

/// What the arm began: its first block, its blocks, and when.
pub type Began = (u64, u64, u64);

/// The kinds of what an arm begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Destage,
    Piece,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub medium: Medium,
    pub now: u64,
    /// What happens in future, in the order in which it was foreseen.
    pub events: Vec<(u64, Event)>,
    pub frames: Frames,
    pub streams: Streams,
    pub transfers: Vec<Transfer>,
    /// Transfers that are over, and whose followers have not gone on.
    pub over: Vec<Transfer>,
    pub made: u64,
    pub queued: u64,
    /// Completions that the host has not answered.
    pub unanswered: usize,
    /// Requests that have not been taken.
    pub intake: Vec<usize>,
    /// Requests that have been taken and are not complete, without flushes and trims.
    pub active: Vec<usize>,
    /// Who has which extents in frames: requests and the piece under way, until they are over.
    pub pins: Vec<(Holder, u64)>,
    /// Writes that wait for room.
    pub line: Vec<usize>,
    /// Flushes that wait.
    pub flushes: Vec<usize>,
    /// When the interface has carried all that it was given.
    pub free: u64,
    /// Extents that can be destaged, with their first dirty blocks, that which could from there longest first.
    pub candidates: Vec<(u64, u64)>,
    /// Whether as much is dirty as presses.
    pub is_full: bool,
    pub regions: Option<Regions>,
    pub arm: HeadPosition,
    pub is_busy: bool,
    pub last_was_host: bool,
    /// Where the arm stays, and up to which block.
    pub stays: Option<(u64, u64)>,
    /// Since when there has been nothing to do but idle destages.
    pub idle_since: Option<u64>,
    pub completions: Vec<Option<u64>>,
    /// What the arm has begun, in that order.
    pub began: Vec<(Kind, Began)>,
    /// What has come up: cases that never meet a rule say nothing about it.
    pub met: BTreeSet<&'static str>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        let pool = &case.pool;
        let medium = Medium::new(case.hardware());
        let regions = pool
            .region
            .filter(|_| !case.write_cache && pool.memory.is_some());
        let size = pool.extent / medium.sector();
        let regions = regions.map(|(count, slots)| Regions::new(&medium, count, slots, size));
        Model {
            case,
            medium,
            now: 0,
            events: Vec::new(),
            frames: Frames::new(pool.frames as usize, pool.extent, pool.policy == "lru"),
            streams: Streams::new(pool.streams as usize),
            transfers: Vec::new(),
            over: Vec::new(),
            made: 0,
            queued: 0,
            unanswered: 0,
            intake: Vec::new(),
            active: Vec::new(),
            pins: Vec::new(),
            line: Vec::new(),
            flushes: Vec::new(),
            free: 0,
            candidates: Vec::new(),
            is_full: false,
            regions,
            arm: HeadPosition::default(),
            is_busy: false,
            last_was_host: false,
            stays: None,
            idle_since: None,
            completions: vec![None; case.requests.len()],
            began: Vec::new(),
            met: BTreeSet::new(),
        }
    }

    /// A rule has been applied.
    pub fn meet(&mut self, rule: &'static str) {
        self.met.insert(rule);
    }

    pub fn asked(&self, request: usize) -> Asked {
        self.case.requests[request]
    }

    pub fn at(&mut self, instant: u64, event: Event) {
        match event {
            // What takes no time gives its slot back at once.
            Event::Complete(request) if instant == self.now => self.finish(request),
            _ => self.events.push((instant, event)),
        }
    }

    /// The most extents that may be dirty.
    pub fn room(&self) -> u64 {
        let pool = &self.case.pool;
        match (self.case.write_cache, pool.memory) {
            (false, Some(memory)) => (memory / pool.extent).max(1),
            _ => (pool.frames * pool.share / 16).max(1),
        }
    }

    pub fn has_persistent(&self) -> bool {
        !self.case.write_cache && self.case.pool.memory.is_some()
    }

    /// Whether what was dirty in an extent is on its way.
    pub fn is_destaging(&self, extent: u64) -> bool {
        let (from, to) = self.frames.blocks(extent);
        let destages = self
            .transfers
            .iter()
            .filter(|transfer| matches!(transfer.purpose, Purpose::Destage));
        let mut its = destages.filter(|transfer| transfer.meets(from, to));
        its.next().is_some()
    }

    /// Extents that are dirty or on their way, with those of the blocks `from..to`.
    pub fn dirty_with(&self, from: u64, to: u64) -> u64 {
        let also = self.frames.extents(from, to);
        let dirty = |frame: &&Frame| {
            !also.contains(&frame.extent)
                && (!frame.dirty.is_empty() || self.is_destaging(frame.extent))
        };
        self.frames.all().iter().filter(dirty).count() as u64 + (also.end - also.start)
    }

    pub fn dirty(&self) -> u64 {
        self.dirty_with(0, 0)
    }

    /// Whether an extent may be no victim.
    pub fn is_pinned(&self, frame: &Frame) -> bool {
        let mut pins = self.pins.iter();
        !frame.dirty.is_empty()
            || self.is_destaging(frame.extent)
            || pins.any(|&(_, extent)| extent == frame.extent)
    }

    /// An event is over: which extents can be destaged now, and whether as much is dirty as presses.
    pub fn note(&mut self) {
        let mut dirty: Vec<(u64, u64)> = Vec::new();
        for frame in self.frames.all() {
            let (from, to) = self.frames.blocks(frame.extent);
            let is_free = !self.transfers.iter().any(|other| other.meets(from, to));
            if let Some(&first) = frame.dirty.first()
                && is_free
            {
                dirty.push((frame.extent, first));
            }
        }
        dirty.sort_unstable();
        self.candidates
            .retain(|candidate| dirty.contains(candidate));
        let new = dirty
            .into_iter()
            .filter(|candidate| !self.candidates.contains(candidate));
        let new: Vec<(u64, u64)> = new.collect();
        self.candidates.extend(new);
        if let Some(mut regions) = self.regions.take() {
            regions.release(|extent| self.is_unsaved(extent));
            self.regions = Some(regions);
        }
        let (dirty, room) = (self.dirty(), self.room());
        if dirty >= (self.case.pool.high * room).div_ceil(16).max(1) {
            self.is_full = true;
        } else if dirty <= (self.case.pool.low * room).div_ceil(16) {
            self.is_full = false;
        }
    }
}
