//! The pool of a drive of today, in front of its queue: shared memory, read-ahead for many streams, a write cache. What it does, and
//! when, is defined in `docs/model/pool.md`.
//!
//! The disk behind it moves blocks between medium and memory and knows neither the interface nor the controller, which are the pool's. A
//! request of the host is taken when it has a slot; what it needs of the medium is a [transfer](super::transfers), which the disk serves as
//! a request of the drive's own. Which of all that waits an arm begins next is told in [`turns`].

mod counters;
mod destage;
mod dirty;
mod read_ahead;
mod region;
mod requests;
mod slot_contents;
mod streams;
mod turns;

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::alarm::Alarm;
use super::disk::Disk;
use super::hardware::Overhead;
use super::interface::Interface;
use super::memory::{Memory, Names, Sent};
use super::pool_description::{RegionDescription, StreamsDescription, WriteCacheDescription};
use super::transfers::{Purpose, TransferId, Transfers};
use crate::base::fifo::Fifo;
use crate::base::units::{Lbn, Time};
use crate::engine::context::Context;
use crate::engine::device::Location;
use crate::engine::request::{Command, Op, Outcome, Part, Promise, RequestId, ServedBy};
use crate::models::cache::block_cache::{BlockState, Counts, Place, Victim};
use crate::models::cache::{BlockCache, Frame};
use counters::PoolCounters;
use dirty::DirtyExtents;
use read_ahead::{Piece, Stay};
pub(super) use region::Regions;
use streams::Streams;

/// What a pool is made of, besides its frames.
pub struct PoolParts {
    /// Slots that the host sees.
    pub depth: u32,
    /// Extents that may be dirty; none where every write goes to the medium.
    pub most_dirty: Option<u32>,
    /// What is dirty outlives a power cut.
    pub is_persistent: bool,
    /// Where on the medium it is kept until then; in a memory where none is given.
    pub region: Option<RegionDescription>,
    /// When what is dirty goes to the medium.
    pub destaging: WriteCacheDescription,
    /// What is read ahead.
    pub read_ahead: Option<StreamsDescription>,
    /// The controller's time for a request that memory serves.
    pub hit_overhead: Time,
    /// Its times for one that the medium serves.
    pub overhead: Overhead,
    /// How blocks cross to the host and from it.
    pub interface: Interface,
}

/// A pool and what it has to do.
pub(super) struct DrivePool {
    parts: PoolParts,
    /// Arrived, but without a slot yet.
    outside: VecDeque<(RequestId, Command)>,
    /// Slots that are taken.
    taken: u32,
    /// Requests that have arrived and are not complete.
    pub outstanding: u32,
    transfers: Transfers,
    memory: Memory,
    sent: Sent<SentFor>,
    /// When the interface has carried all that it was given.
    free: Time,
    dirty: DirtyExtents,
    /// Writes that wait until fewer extents are dirty.
    room: VecDeque<Write>,
    flushes: VecDeque<RequestId>,
    /// Where writes are kept on the medium, if they are.
    region: Option<Regions>,
    streams: Streams,
    /// What arms read ahead, by their numbers.
    pieces: Vec<Option<Piece>>,
    /// Where the arms of each group go on reading before anything else.
    stays: Vec<Option<Stay>>,
    /// Of each group of arms, whether the last thing that one began was a transfer for the host.
    last_was_host: Vec<bool>,
    /// Transfers in the hands of the disk but for destages in idle time, and when the last of them was over.
    busy: u32,
    rest_since: Time,
    /// When the pool asks again what is to be done, if it does.
    asks_at: Option<Time>,
    blocks_per_sector: u32,
    /// The power has failed.
    is_dark: bool,
    /// Requests of the host that are complete now.
    due: Fifo<RequestId>,
    /// Requests of the host that end with an error.
    failed: Vec<(RequestId, Outcome)>,
    counters: PoolCounters,
    /// What the frames had counted when counting began.
    counts_before: Counts,
    /// Kept for their memory.
    frames: Vec<Option<Frame>>,
    victims: Vec<Victim>,
    wanting: Vec<usize>,
}

/// What a request to the disk is for.
#[derive(Clone, Copy, Debug)]
enum SentFor {
    /// A transfer, and whether it was begun in idle time.
    Transfer(TransferId, bool),
    /// A trim of the host's.
    Trim(RequestId),
}

/// A write that has been taken.
struct Write {
    request: RequestId,
    command: Command,
    /// It is complete in memory once there is room.
    may_be_absorbed: bool,
    /// The frames of its extents, which are pinned for it.
    frames: Vec<Option<Frame>>,
}

impl DrivePool {
    /// An empty pool of these frames in front of a disk.
    pub fn new(frames: BlockCache, parts: PoolParts, disk: &Disk) -> DrivePool {
        let medium = &disk.medium;
        let (arms, groups) = (medium.arms.len(), medium.groups.len());
        let blocks_per_sector = medium.hardware.blocks_per_sector;
        let WriteCacheDescription { high, low, .. } = parts.destaging;
        let streams = parts.read_ahead.as_ref();
        let most_dirty = parts.most_dirty.unwrap_or(0);
        let per_extent = frames.blocks_per_line();
        let region = parts
            .region
            .filter(|_| parts.is_persistent && most_dirty > 0);
        DrivePool {
            region: region.map(|region| Regions::new(&medium.hardware, &region, per_extent)),
            dirty: DirtyExtents::new(most_dirty, (high, low), groups),
            streams: streams.map_or_else(Streams::default, |streams| {
                Streams::new(streams.streams, streams.after)
            }),
            memory: Memory::new(frames, Names::OfPool),
            parts,
            outside: VecDeque::new(),
            taken: 0,
            outstanding: 0,
            transfers: Transfers::default(),
            sent: Sent::new(),
            free: Time::ZERO,
            room: VecDeque::new(),
            flushes: VecDeque::new(),
            pieces: (0..arms).map(|_| None).collect(),
            stays: vec![None; groups],
            last_was_host: vec![false; groups],
            busy: 0,
            rest_since: Time::ZERO,
            asks_at: None,
            blocks_per_sector,
            is_dark: false,
            due: Fifo::default(),
            failed: Vec::new(),
            counters: PoolCounters::default(),
            counts_before: Counts::default(),
            frames: Vec::new(),
            victims: Vec::new(),
            wanting: Vec::new(),
        }
    }

    /// Slots that the host sees.
    pub fn depth(&self) -> u32 {
        self.parts.depth
    }

    /// Reads and writes that have arrived and are not complete.
    pub fn reads_and_writes(&self) -> u32 {
        let outside = self.outside.iter();
        let outside = outside.filter(|(_, command)| command.op != Op::Trim);
        self.taken + outside.count() as u32
    }

    /// Slots that are free.
    pub fn free_slots(&self) -> u32 {
        self.parts.depth - self.taken
    }

    /// A request of the host's arrives.
    pub fn accept(&mut self, request: RequestId, disk: &mut Disk, cx: &mut Context<'_>) {
        self.outstanding += 1;
        self.counters.requests += 1;
        let command = cx.request(request).command;
        disk.medium.counters.arrives(command.op, cx.now());
        if command.op == Op::Flush {
            self.flushes.push_back(request);
            self.end_flushes(cx);
        } else {
            if self.outside.is_empty() && self.may_take(&command) {
                self.begin(request, &command, disk, cx);
            } else {
                self.stays_outside(request, command);
            }
            self.proceed(disk, cx);
        }
        self.complete_due(disk, cx);
        cx.wake();
    }

    /// A request waits for a slot.
    #[inline(never)]
    fn stays_outside(&mut self, request: RequestId, command: Command) {
        self.outside.push_back((request, command));
    }

    /// Sends what is ready to the disk, then takes requests of the host, while there are slots.
    #[inline]
    fn proceed(&mut self, disk: &mut Disk, cx: &mut Context<'_>) {
        self.send_ready(disk, cx);
        while let Some((next, command)) = self.outside.front().copied() {
            if !self.may_take(&command) {
                break;
            }
            self.outside.pop_front();
            self.begin(next, &command, disk, cx);
            self.send_ready(disk, cx);
        }
    }

    /// Begins with a request that may be taken.
    fn begin(
        &mut self,
        request: RequestId,
        command: &Command,
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) {
        match command.op {
            Op::Trim => self.trim(request, command, disk, cx),
            _ => self.take(request, command, cx, disk),
        }
    }

    /// Whether the next request of the host may be taken: a trim if nothing of its blocks is under way, another one if there is a slot.
    #[inline]
    fn may_take(&self, command: &Command) -> bool {
        match command.op {
            Op::Trim => self.may_trim(command),
            _ => self.taken < self.parts.depth,
        }
    }

    #[inline(never)]
    fn may_trim(&self, command: &Command) -> bool {
        let overlaps = |other: &Command| other.lbn < command.end() && command.lbn < other.end();
        let transfers = self.transfers.unfinished();
        let mut wholes = transfers.map(|id| &self.transfers.get(id).whole);
        let mut room = self.room.iter().map(|write| &write.command);
        !wholes.any(overlaps) && !room.any(overlaps)
    }

    /// Finds the frames of a command's pieces, and pins them. Whether any of the pieces was there.
    fn access(&mut self, command: &Command, cx: &mut Context<'_>) -> bool {
        self.frames.clear();
        let mut has_held = false;
        for piece in self.memory.pieces(command) {
            let cache = &mut self.memory.cache;
            let write = command.op == Op::Write;
            let place = cache.access(piece.key, write, &mut self.victims);
            has_held |= matches!(place, Place::Held(_));
            let frame = match place {
                Place::Held(frame) | Place::New(frame) => {
                    cache.pin(frame);
                    Some(frame)
                }
                Place::None => {
                    self.counters.bypassed += 1;
                    None
                }
            };
            self.frames.push(frame);
        }
        self.memory.release(&mut self.victims, cx);
        has_held
    }

    /// Memory serves a request: the controller and the interface work on one after another.
    fn serve(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let work = self.parts.hit_overhead;
        let (start, bus) = self.occupy(command, work, cx.now());
        let entry = cx.request_mut(request);
        (entry.start, entry.served_by) = (start, ServedBy::Buffer);
        entry.parts.add(Part::Overhead, work);
        entry.parts.add(Part::Bus, bus);
        self.complete_at(request, self.free, cx);
    }

    /// The controller works on a request, and the interface carries its blocks, after all that they were given before: when that begins,
    /// and how long the latter takes.
    fn occupy(&mut self, command: &Command, work: Time, now: Time) -> (Time, Time) {
        let start = self.free.max(now);
        let bus = self.bus_time(command.op, command.blocks);
        self.free = start + work + bus;
        (start, bus)
    }

    /// Whether an extent has dirty blocks in its frame.
    fn has_dirty(&self, frame: Frame, key: u64) -> bool {
        let cache = &self.memory.cache;
        let dirty = cache.next_run(cache.line(frame), BlockState::Dirty, cache.whole(key));
        dirty.is_some()
    }

    /// A request is complete at an instant: before arms begin anything in it.
    fn complete_at(&mut self, request: RequestId, at: Time, cx: &mut Context<'_>) {
        if at == cx.now() {
            self.due.push(request);
        } else {
            cx.alarm(at, Alarm::PoolServed(request).token());
        }
    }

    /// Completes what is due now.
    #[inline]
    fn complete_due(&mut self, disk: &mut Disk, cx: &mut Context<'_>) {
        while let Some(request) = self.due.pop() {
            self.complete(request, disk, cx);
        }
    }

    fn bus_time(&self, op: Op, blocks: u32) -> Time {
        match op {
            Op::Write => self.parts.interface.write_time(blocks),
            _ => self.parts.interface.time(blocks),
        }
    }

    fn groups_count(&self) -> usize {
        self.last_was_host.len()
    }

    /// An alarm of the pool's, or of the disk behind it.
    pub fn alarm(&mut self, alarm: Alarm, disk: &mut Disk, cx: &mut Context<'_>) {
        match alarm {
            Alarm::PoolServed(request) => self.served(request, disk, cx),
            Alarm::PoolAsks => cx.wake(),
            Alarm::ArmDone(arm) if self.reads_ahead(arm as usize) => {
                self.piece_rings(arm as usize, disk, cx);
            }
            Alarm::ArmDone(arm) if self.writes_region(arm as usize) => self.region_rings(disk, cx),
            Alarm::ArmDone(arm) => {
                self.may_stay(arm as usize, disk, cx);
                disk.alarm(alarm, cx);
            }
            _ => disk.alarm(alarm, cx),
        }
    }

    /// The alarm of a request's completion.
    fn served(&mut self, request: RequestId, disk: &mut Disk, cx: &mut Context<'_>) {
        self.complete(request, disk, cx);
        self.complete_due(disk, cx);
        cx.wake();
    }

    fn complete(&mut self, request: RequestId, disk: &mut Disk, cx: &mut Context<'_>) {
        let needs_slot = matches!(cx.request(request).command.op, Op::Read | Op::Write);
        let was_full = self.taken == self.parts.depth;
        self.taken -= u32::from(needs_slot);
        disk.show_queue(self.taken, cx.now());
        self.outstanding -= 1;
        let outcome = match self.failed.is_empty() {
            true => Outcome::Ok,
            false => self.outcome_of(request),
        };
        cx.complete(request, outcome);
        self.proceed(disk, cx);
        if was_full && self.taken < self.parts.depth {
            cx.announce_room();
        }
    }

    /// How a request ends.
    #[cold]
    fn outcome_of(&mut self, request: RequestId) -> Outcome {
        let failed = self.failed.iter().position(|&(other, _)| other == request);
        failed.map_or(Outcome::Ok, |index| self.failed.swap_remove(index).1)
    }

    /// The disk has served a request of the pool's.
    pub fn disk_completed(&mut self, child: RequestId, disk: &mut Disk, cx: &mut Context<'_>) {
        match self.sent.take(child) {
            SentFor::Transfer(id, is_idle_work) => {
                if !is_idle_work {
                    self.busy -= 1;
                    self.rest_since = cx.now();
                }
                self.transferred(id, child, disk, cx);
                self.send_ready(disk, cx);
                self.end_flushes(cx);
                self.begin_waiting_writes(disk, cx);
                self.proceed(disk, cx);
            }
            SentFor::Trim(request) => self.trimmed(request, child, disk, cx),
        }
        self.complete_due(disk, cx);
        cx.wake();
    }

    /// A transfer is over.
    fn transferred(
        &mut self,
        id: TransferId,
        child: RequestId,
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) {
        let frames = std::mem::take(&mut self.transfers.get_mut(id).frames);
        match self.transfers.get(id).purpose {
            Purpose::Request(request) => self.end_request(request, child, &frames, cx),
            Purpose::Destage => self.destaged(child, &frames, cx),
            _ => self.memory.cache.unpin_all(&frames),
        }
        self.transfers.get_mut(id).frames = frames;
        self.finish(id, disk);
    }

    /// Ends a transfer: what waited for it may go on, and its extents may be destaged.
    fn finish(&mut self, id: TransferId, disk: &Disk) {
        let command = self.transfers.get(id).command;
        self.transfers.finish(id);
        self.offer_extents(&command, disk);
    }

    /// Adds a transfer: its extents may not be destaged while it lasts.
    fn add_transfer(&mut self, command: Command, purpose: Purpose, disk: &Disk) -> TransferId {
        let id = self.transfers.add(command, purpose);
        self.counters.conflicts += u64::from(self.transfers.is_waiting(id));
        self.offer_extents(&command, disk);
        id
    }

    /// What acknowledging a write promises, where the disk makes this promise.
    pub fn promise(&self, of_disk: Promise) -> Promise {
        match self.parts.most_dirty.is_some() && !self.parts.is_persistent {
            true => Promise::AfterFlush,
            false => of_disk,
        }
    }

    /// The power has failed: what is persistent is brought to the medium.
    pub fn power_lost(&mut self, disk: &Disk, cx: &mut Context<'_>) {
        if !self.parts.is_persistent {
            return;
        }
        self.is_dark = true;
        if self.region.is_some() {
            return;
        }
        let under_way: Vec<TransferId> = self.destages().collect();
        for id in under_way {
            let Command { lbn, blocks, .. } = self.transfers.get(id).command;
            self.keep(self.memory.name_of(id), (lbn.0, blocks), disk, cx);
        }
        let mut from = 0;
        while let Some((lbn, blocks)) = self.memory.cache.next_dirty(from, u32::MAX) {
            self.keep(self.memory.name(), (lbn, blocks), disk, cx);
            from = lbn + u64::from(blocks);
        }
    }

    /// Tells the checker that blocks outlive the power cut: in a memory whose addresses are those behind the medium's.
    fn keep(&self, of: u32, (lbn, blocks): (u64, u32), disk: &Disk, cx: &mut Context<'_>) {
        if cx.checker().is_none() {
            return;
        }
        let kept = cx.open(Command {
            op: Op::Write,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
        });
        let behind = disk.medium.hardware.blocks();
        if let Some((checker, device)) = cx.checker() {
            checker.read_buffered(device, of, kept, lbn, blocks);
            checker.wrote(device, kept, 0, behind + lbn, blocks);
        }
    }

    fn destages(&self) -> impl Iterator<Item = TransferId> {
        let unfinished = self.transfers.unfinished();
        unfinished.filter(|&id| self.transfers.get(id).purpose == Purpose::Destage)
    }

    /// Where a block is after a power cut that a persistent memory has kept; `None` for one that is where the disk says.
    pub fn kept(&self, lbn: Lbn, disk: &Disk) -> Option<Location> {
        let covers = |id: TransferId| {
            let Command { lbn: first, .. } = self.transfers.get(id).command;
            (first..self.transfers.get(id).command.end()).contains(&lbn)
        };
        let cache = &self.memory.cache;
        let is_in_memory = || {
            let next = cache.next_dirty(lbn.0, 1);
            next.is_some_and(|(first, _)| first == lbn.0) || self.destages().any(covers)
        };
        let is_kept = self.is_dark
            && match &self.region {
                Some(region) => cache
                    .pieces(lbn.0, 1)
                    .filter_map(|piece| cache.find(piece.key))
                    .any(|frame| region.contents.holds(frame, lbn.0)),
                None => is_in_memory(),
            };
        is_kept.then(|| Location::Here(Lbn(disk.medium.hardware.blocks() + lbn.0)))
    }

    /// Counts anew what is done from here on.
    pub fn measure_from_here(&mut self) {
        self.counters = PoolCounters {
            dirty_max: self.dirty.held(),
            ..PoolCounters::default()
        };
        self.counts_before = *self.memory.cache.counts();
    }

    /// Counters and shares.
    pub fn report(&self) -> Map<String, Value> {
        let cache = &self.memory.cache;
        let counts = cache.counts().since(&self.counts_before);
        self.counters.report(cache, &counts)
    }

    /// What the results should warn of.
    pub fn warnings(&self) -> Vec<String> {
        let Some(most) = self.parts.most_dirty else {
            return Vec::new();
        };
        let could_hold = u64::from(most) * u64::from(self.memory.cache.blocks_per_line());
        let written = self.counters.written_blocks;
        if written == 0 || could_hold * 10 <= written {
            return Vec::new();
        }
        let share = could_hold as f64 / written as f64;
        let share = if share >= 1.0 {
            "all".to_owned()
        } else {
            format!("{:.0} %", share * 100.0)
        };
        vec![format!(
            "the write cache can hold {share} of what was written: the run ends before the medium has had to keep pace with the writes (a longer \
             run, or write_cache = false)"
        )]
    }
}
