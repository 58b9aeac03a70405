//! A drive's block cache, in front of its queue.
//!
//! A request that leaves the host's buffer, which it does when the queue has a free slot, is checked against the cache first. What is
//! there completely ends without a slot; of anything else only what is missing enters the queue, as one run from the first missing
//! block to the last. Blocks that move from or to the medium have frames from the check until the medium access ends.

mod counters;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::alarm::Alarm;
use super::hardware::Overhead;
use super::interface::Interface;
use super::memory::{Memory, Names, Sent};
use super::pooled_disk::PooledDisk;
use super::transfers::{Cut, Purpose, TransferId, Transfers};
use crate::base::units::{Lbn, Time};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, Promise, RequestId, ServedBy};
use crate::models::cache::block_cache::{BlockState, Counts, Place, Victim};
use crate::models::cache::replacement::Cost;
use crate::models::cache::{BlockCache, Frame};
use counters::CacheCounters;

/// When a write is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// When it is on the medium; the cache has it too.
    #[default]
    WriteThrough,
    /// When it is in the cache: it goes to the medium when its frame is wanted for another block, or at a flush.
    WriteBack,
}

/// What a drive's cache is made of, besides its frames.
pub struct CacheParts {
    /// When writes are complete.
    pub write_policy: WritePolicy,
    /// The controller's time for a command that the cache serves.
    pub overhead: Overhead,
    /// How blocks cross to the host and from it.
    pub interface: Interface,
}

/// A drive's cache. What is behind it serves requests of the drive's own, which it makes for the host's.
pub(super) struct DriveCache {
    parts: CacheParts,
    /// Issued to the drive, but not checked against the cache yet.
    outside: VecDeque<(RequestId, Command)>,
    memory: Memory,
    transfers: Transfers,
    sent: Sent<SentFor>,
    /// Reads and writes of the disk of whose completion it has not heard.
    in_disk: u32,
    /// Evicted dirty data that is not on the medium yet, in transfers.
    leaving: u32,
    /// Flushes, and the turns of transfers before which all writes must be on the medium.
    flushes: VecDeque<(RequestId, u64)>,
    /// When the controller and the interface have done with the last request that the cache served.
    free_at: Time,
    pub outstanding: u32,
    counters: CacheCounters,
    /// What the frames had counted when counting began.
    counts_before: Counts,
    /// The frames of the request that is being checked, kept for their memory.
    frames: Vec<Option<Frame>>,
    victims: Vec<Victim>,
}

/// What a request to what is behind is for.
#[derive(Clone, Copy, Debug)]
enum SentFor {
    Transfer(TransferId),
    /// A flush or a trim of the host's.
    Passed(RequestId),
}

impl DriveCache {
    /// An empty cache of these frames.
    pub fn new(frames: BlockCache, parts: CacheParts) -> DriveCache {
        DriveCache {
            parts,
            memory: Memory::new(frames, Names::OfCache),
            outside: VecDeque::new(),
            transfers: Transfers::default(),
            sent: Sent::new(),
            in_disk: 0,
            leaving: 0,
            flushes: VecDeque::new(),
            free_at: Time::ZERO,
            outstanding: 0,
            counters: CacheCounters::default(),
            counts_before: Counts::default(),
            frames: Vec::new(),
            victims: Vec::new(),
        }
    }

    /// Queue slots that nothing has a claim to. A completion of which the cache has not heard keeps its slot.
    fn free_slots(&self, behind: &PooledDisk) -> u32 {
        let unheard = self.in_disk.saturating_sub(behind.reads_and_writes());
        behind.status().free_slots.saturating_sub(unheard)
    }

    /// Sends what is ready, then checks requests of the host against the cache, while the queue has slots.
    fn proceed(&mut self, behind: &mut PooledDisk, cx: &mut Context<'_>) {
        loop {
            self.send_ready(behind, cx);
            let Some(&(next, command)) = self.outside.front() else {
                return;
            };
            // What waited for that may be sent.
            if command.op == Op::Trim && self.call_off(&command, behind, cx) {
                continue;
            }
            if !self.may_check(&command, behind) {
                return;
            }
            self.outside.pop_front();
            match command.op {
                Op::Trim => self.trim(next, &command, behind, cx),
                _ => self.check(next, &command, cx),
            }
        }
    }

    /// Whether the next request of the host may be checked: a trim if nothing of its blocks is under way, another one if the queue has a
    /// slot for it.
    fn may_check(&self, command: &Command, behind: &PooledDisk) -> bool {
        if command.op == Op::Trim {
            return self.transfers.overlapping(command).next().is_none()
                && !self.memory.cache.has_pinned(command.lbn.0, command.blocks);
        }
        let has_slot =
            self.transfers.ready().is_none() && self.free_slots(behind) > self.transfers.held();
        has_slot && self.leaving < behind.depth()
    }

    /// Checks a request against the cache.
    fn check(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        cx.request_mut(request).acceptance = cx.now();
        self.access(command, cx);
        match command.op {
            Op::Write => self.check_write(request, command, cx),
            _ => self.check_read(request, command, cx),
        }
    }

    /// Finds the frames of a command's pieces, and pins them.
    fn access(&mut self, command: &Command, cx: &mut Context<'_>) {
        self.frames.clear();
        for piece in self.memory.pieces(command) {
            let cache = &mut self.memory.cache;
            let write = command.op == Op::Write;
            let frame = match cache.access(piece.key, write, &mut self.victims) {
                Place::Held(frame) => Some(frame),
                Place::New(frame) => {
                    self.recover(piece.key, frame, cx);
                    Some(frame)
                }
                Place::None => {
                    self.counters.bypassed += 1;
                    None
                }
            };
            if let Some(frame) = frame {
                self.memory.cache.pin(frame);
            }
            self.frames.push(frame);
        }
        self.let_go(cx);
    }

    /// Puts into a new frame what of its blocks is still on the way to the medium.
    fn recover(&mut self, key: u64, frame: Frame, cx: &mut Context<'_>) {
        let cache = &mut self.memory.cache;
        // The request that has evicted it wants it back.
        if let Some(at) = self.victims.iter().position(|victim| victim.key == key) {
            return cache.put_back(frame, self.victims.swap_remove(at));
        }
        let whole = cache.whole(key);
        let wanted = Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(whole.lbn),
            blocks: whole.blocks(),
        };
        let mut writes: Vec<TransferId> = self.transfers.overlapping(&wanted).collect();
        writes.retain(|&id| self.transfers.get(id).command.op == Op::Write);
        writes.sort_unstable_by_key(|&id| self.transfers.get(id).sequence);
        for id in writes {
            let transfer = self.transfers.get(id);
            let Command { lbn, blocks, .. } = transfer.command;
            let part = whole.within(lbn.0, blocks).expect("they overlap");
            if let Purpose::Request(_) = transfer.purpose {
                // It had no frame, so its data are in the host: they can be had only from the medium.
                self.memory.cache.forget(frame, &part);
                continue;
            }
            self.memory.cache.put(frame, &part, false);
            if let Some((checker, device)) = cx.checker() {
                let blocks = part.blocks();
                checker.copied(
                    device,
                    self.memory.name_of(id),
                    self.memory.name(),
                    part.lbn,
                    blocks,
                );
            }
        }
    }

    /// Sends what has been evicted dirty to the medium, neighbours together.
    fn let_go(&mut self, cx: &mut Context<'_>) {
        if self.victims.is_empty() {
            return;
        }
        let mut victims = std::mem::take(&mut self.victims);
        victims.sort_unstable_by_key(|victim| victim.key);
        let mut run: Option<(u64, u32)> = None;
        for Victim { key, line } in &victims {
            let mut rest = self.memory.cache.whole(*key);
            while let Some((lbn, blocks)) =
                self.memory.cache.next_run(*line, BlockState::Dirty, rest)
            {
                rest = rest.after(lbn + u64::from(blocks));
                match &mut run {
                    Some((first, length)) if *first + u64::from(*length) == lbn => {
                        *length += blocks;
                    }
                    _ => {
                        if let Some(run) = run.replace((lbn, blocks)) {
                            self.add_destage(run, Purpose::Eviction, cx);
                        }
                    }
                }
            }
        }
        if let Some(run) = run {
            self.add_destage(run, Purpose::Eviction, cx);
        }
        self.memory.release(&mut victims, cx);
        self.victims = victims;
    }

    fn add_destage(&mut self, (lbn, blocks): (u64, u32), purpose: Purpose, cx: &mut Context<'_>) {
        let command = Command {
            op: Op::Write,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
        };
        let id = self.transfers.add(command, purpose);
        self.leaving += u32::from(purpose == Purpose::Eviction);
        if let Some((checker, device)) = cx.checker() {
            checker.copied(
                device,
                self.memory.name(),
                self.memory.name_of(id),
                lbn,
                blocks,
            );
        }
    }

    fn check_read(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let Some((lbn, blocks)) = self.memory.missing(command, &self.frames) else {
            let frames = std::mem::take(&mut self.frames);
            self.serve_read(request, command, &frames, cx);
            self.frames = frames;
            return;
        };
        let transfer = Command {
            lbn: Lbn(lbn),
            blocks,
            ..*command
        };
        self.add_transfer(transfer, request);
    }

    fn check_write(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        self.counters.writes += 1;
        let is_absorbed = self.parts.write_policy == WritePolicy::WriteBack
            && !command.fua
            && self.frames.iter().all(Option::is_some);
        for (piece, frame) in self.memory.pieces(command).zip(&self.frames) {
            let Some(frame) = *frame else { continue };
            self.memory.cache.put(frame, &piece, is_absorbed);
            self.memory.tell_put(request, &piece, cx);
        }
        if !is_absorbed {
            return self.add_transfer(*command, request);
        }
        self.counters.absorbed_writes += 1;
        self.memory.cache.unpin_all(&self.frames);
        self.serve(request, command, cx);
    }

    /// Adds the transfer of a request whose frames are pinned.
    fn add_transfer(&mut self, transfer: Command, request: RequestId) {
        let id = self.transfers.add(transfer, Purpose::Request(request));
        self.counters.conflicts += u64::from(self.transfers.is_waiting(id));
        std::mem::swap(&mut self.transfers.get_mut(id).frames, &mut self.frames);
    }

    /// A read whose blocks are all in its frames is served from there.
    fn serve_read(
        &mut self,
        request: RequestId,
        command: &Command,
        frames: &[Option<Frame>],
        cx: &mut Context<'_>,
    ) {
        self.counters.reads += 1;
        self.counters.read_hits += 1;
        self.memory.cache.unpin_all(frames);
        self.memory.tell_read(request, command, cx);
        self.serve(request, command, cx);
    }

    /// The controller and the interface serve a request without the medium, one after another.
    fn serve(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let write = command.op == Op::Write;
        let start = self.free_at.max(cx.now());
        let CacheParts {
            overhead,
            interface,
            ..
        } = &self.parts;
        let work = overhead.before(write, write) + overhead.completion(write);
        let bus = if write {
            interface.write_time(command.blocks)
        } else {
            interface.time(command.blocks)
        };
        self.free_at = start + work + bus;
        let entry = cx.request_mut(request);
        (entry.start, entry.served_by) = (start, ServedBy::Buffer);
        entry.parts.add(Part::Overhead, work);
        entry.parts.add(Part::Bus, bus);
        cx.alarm(self.free_at, Alarm::CacheServed(request).token());
    }

    /// Sends transfers to the drive that wait for no others, while its queue has slots.
    fn send_ready(&mut self, behind: &mut PooledDisk, cx: &mut Context<'_>) {
        while let Some(id) = self.transfers.ready() {
            let transfer = self.transfers.get(id);
            let mut command = transfer.command;
            if let (Purpose::Request(request), Op::Read) = (transfer.purpose, command.op) {
                // While it waited others may have brought what it wants.
                let whole = cx.request(request).command;
                match self.memory.missing(&whole, &transfer.frames) {
                    Some((lbn, blocks)) => (command.lbn, command.blocks) = (Lbn(lbn), blocks),
                    None => {
                        self.transfers.take_ready();
                        let frames = std::mem::take(&mut self.transfers.get_mut(id).frames);
                        self.serve_read(request, &whole, &frames, cx);
                        self.transfers.get_mut(id).frames = frames;
                        self.transfers.finish(id);
                        continue;
                    }
                }
            }
            if self.free_slots(behind) == 0 {
                return;
            }
            self.transfers.take_ready();
            let purpose = self.transfers.get(id).purpose;
            let child = match purpose {
                Purpose::Request(request) => {
                    let child = cx.open_for(request, command);
                    cx.request_mut(child).sequence = cx.request(request).sequence;
                    child
                }
                _ => cx.open_behind(command),
            };
            self.sent.note(child, SentFor::Transfer(id));
            self.in_disk += 1;
            if command.op == Op::Write
                && let Some((checker, device)) = cx.checker()
            {
                let (lbn, blocks) = (command.lbn.0, command.blocks);
                match purpose {
                    Purpose::Request(request) => checker.carried(request, child, lbn, blocks),
                    _ => checker.read_buffered(device, self.memory.name_of(id), child, lbn, blocks),
                }
            }
            behind.accept(child, cx);
        }
    }

    /// A transfer is over.
    fn transferred(
        &mut self,
        id: TransferId,
        child: RequestId,
        behind: &mut PooledDisk,
        cx: &mut Context<'_>,
    ) {
        self.in_disk -= 1;
        match self.transfers.get(id).purpose {
            Purpose::Request(request) => {
                let frames = std::mem::take(&mut self.transfers.get_mut(id).frames);
                self.end_request(request, child, &frames, cx);
                self.transfers.get_mut(id).frames = frames;
            }
            purpose => {
                self.leaving -= u32::from(purpose == Purpose::Eviction);
                self.count_destage(child, cx);
            }
        }
        self.transfers.finish(id);
        self.pass_flushes(behind, cx);
    }

    /// Passes on the flushes before which everything is on the medium.
    fn pass_flushes(&mut self, behind: &mut PooledDisk, cx: &mut Context<'_>) {
        while let Some(&(request, turn)) = self.flushes.front()
            && self.transfers.are_written_before(turn)
        {
            self.flushes.pop_front();
            self.pass(request, behind, cx);
        }
    }

    /// The medium has served a request: its frames have what was read, and its end is that of the transfer.
    fn end_request(
        &mut self,
        request: RequestId,
        child: RequestId,
        frames: &[Option<Frame>],
        cx: &mut Context<'_>,
    ) {
        let command = cx.request(request).command;
        let transferred = cx.request(child).clone();
        let outcome = transferred.outcome.expect("the transfer is over");
        let cost = Cost {
            media: transferred.media,
            blocks: self.memory.pieces(&transferred.command).count() as u32,
        };
        for (piece, frame) in self.memory.pieces(&command).zip(frames) {
            let Command { lbn, blocks, .. } = transferred.command;
            let of_medium = piece.within(lbn.0, blocks);
            if let (Some(frame), Some(part)) = (*frame, of_medium) {
                match (command.op, outcome) {
                    (Op::Read, Outcome::Ok) => self.memory.fill(frame, &part, child, cx),
                    (Op::Read, _) => {}
                    (_, Outcome::Ok) => {}
                    (_, _) => self.memory.cache.forget(frame, &part),
                }
                self.memory.cache.paid(frame, cost);
            }
            if command.op == Op::Read && outcome == Outcome::Ok {
                (self.memory).tell_passed(request, child, (&piece, *frame), cx);
            }
        }
        self.memory.cache.unpin_all(frames);
        let is_partial = transferred.command.blocks < command.blocks;
        self.counters.reads += u64::from(command.op == Op::Read);
        self.counters.partial_hits += u64::from(is_partial);
        let entry = cx.request_mut(request);
        (entry.start, entry.parts) = (transferred.start, transferred.parts);
        entry.media = transferred.media;
        entry.shares_access = transferred.shares_access;
        entry.served_by = match is_partial {
            true => ServedBy::Both,
            false => transferred.served_by,
        };
        self.complete(request, outcome, cx);
    }

    fn count_destage(&mut self, child: RequestId, cx: &Context<'_>) {
        let destage = cx.request(child);
        let counters = &mut self.counters;
        counters.destages += 1;
        counters.destaged_blocks += u64::from(destage.command.blocks);
        if !destage.shares_access {
            counters.destage_access += destage.parts.access();
            counters.destage_time += destage.completion - destage.start;
        }
    }

    /// A flush: what is dirty goes to the medium first.
    fn flush(&mut self, request: RequestId, behind: &mut PooledDisk, cx: &mut Context<'_>) {
        if self.parts.write_policy == WritePolicy::WriteThrough {
            return self.pass(request, behind, cx);
        }
        let mut from = 0;
        while let Some((lbn, blocks)) = self.memory.cache.next_dirty(from, u32::MAX) {
            self.add_destage((lbn, blocks), Purpose::Flush, cx);
            self.memory.cache.clean(lbn, blocks);
            from = lbn + u64::from(blocks);
        }
        let turn = self.transfers.next_turn();
        if self.transfers.are_written_before(turn) {
            self.pass(request, behind, cx);
        } else {
            self.flushes.push_back((request, turn));
            self.proceed(behind, cx);
        }
    }

    /// What a trim would have go to the medium for nothing, and has not been sent there, is called off; whether there was any.
    fn call_off(&mut self, trim: &Command, behind: &mut PooledDisk, cx: &mut Context<'_>) -> bool {
        let cuts = self.transfers.cut(trim);
        for Cut { id, purpose, parts } in &cuts {
            if *purpose == Purpose::Eviction {
                self.leaving += parts.len() as u32;
                self.leaving -= 1;
            }
            if let Some(&rest) = parts.get(1)
                && let Some((checker, device)) = cx.checker()
            {
                let Command { lbn, blocks, .. } = self.transfers.get(rest).command;
                checker.copied(
                    device,
                    self.memory.name_of(*id),
                    self.memory.name_of(rest),
                    lbn.0,
                    blocks,
                );
            }
        }
        if cuts.is_empty() {
            return false;
        }
        self.pass_flushes(behind, cx);
        true
    }

    /// A trim: its blocks are in the cache no longer, dirty or not.
    fn trim(
        &mut self,
        request: RequestId,
        command: &Command,
        behind: &mut PooledDisk,
        cx: &mut Context<'_>,
    ) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        let trimmed = self.memory.trim((command.lbn.0, command.blocks), cx);
        self.counters.trimmed_blocks += trimmed.blocks;
        self.counters.trimmed_dirty_blocks += trimmed.dirty;
        self.pass(request, behind, cx);
    }

    /// Passes a flush or a trim on to the disk.
    fn pass(&mut self, request: RequestId, behind: &mut PooledDisk, cx: &mut Context<'_>) {
        let command = cx.request(request).command;
        let child = cx.open_for(request, command);
        self.sent.note(child, SentFor::Passed(request));
        behind.accept(child, cx);
    }

    /// The disk has done with a flush or a trim.
    fn passed(&mut self, request: RequestId, child: RequestId, cx: &mut Context<'_>) {
        let passed = cx.request(child).clone();
        let entry = cx.request_mut(request);
        let waited = passed.start - entry.start;
        entry.parts = passed.parts;
        entry.parts.add(Part::Wait, waited);
        self.complete(request, passed.outcome.unwrap_or(Outcome::Ok), cx);
    }

    fn complete(&mut self, request: RequestId, outcome: Outcome, cx: &mut Context<'_>) {
        self.outstanding -= 1;
        cx.complete(request, outcome);
    }
}

impl DriveCache {
    /// A request of the host's arrives.
    pub fn accept(&mut self, request: RequestId, behind: &mut PooledDisk, cx: &mut Context<'_>) {
        self.outstanding += 1;
        self.counters.requests += 1;
        let command = cx.request(request).command;
        if command.op != Op::Flush {
            self.outside.push_back((request, command));
            return self.proceed(behind, cx);
        }
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        self.flush(request, behind, cx);
    }

    /// A request that it served itself is complete.
    pub fn served(&mut self, request: RequestId, cx: &mut Context<'_>) {
        self.complete(request, Outcome::Ok, cx);
    }

    /// Whether what is behind it has a request of it.
    pub fn has_sent(&self, request: RequestId) -> bool {
        self.sent.has(request)
    }

    /// What is behind it has served a request.
    pub fn request_completed(
        &mut self,
        request: RequestId,
        behind: &mut PooledDisk,
        cx: &mut Context<'_>,
    ) {
        match self.sent.take(request) {
            SentFor::Transfer(id) => {
                self.transferred(id, request, behind, cx);
                self.proceed(behind, cx);
            }
            SentFor::Passed(of_host) => self.passed(of_host, request, cx),
        }
    }

    /// What acknowledging a write promises, where the disk makes this promise.
    pub fn promise(&self, of_disk: Promise) -> Promise {
        match self.parts.write_policy {
            WritePolicy::WriteThrough => of_disk,
            WritePolicy::WriteBack => Promise::AfterFlush,
        }
    }

    /// How many requests, transfers and flushes wait although nothing keeps them.
    pub fn neglected(&self, behind: &PooledDisk) -> usize {
        let unsent = self.transfers.ready().is_some() && self.free_slots(behind) > 0;
        let next = self.outside.front();
        let unchecked = match next.is_some_and(|(_, command)| self.may_check(command, behind)) {
            true => self.outside.len(),
            false => 0,
        };
        let first = self.flushes.front();
        let may_flush = first.is_some_and(|&(_, turn)| self.transfers.are_written_before(turn));
        usize::from(unsent) + unchecked + usize::from(may_flush)
    }

    /// Counts anew what is done from here on.
    pub fn measure_from_here(&mut self) {
        self.counters = CacheCounters::default();
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
        let counts = self.memory.cache.counts();
        if counts.evictions >= u64::from(self.memory.cache.frames()) {
            return Vec::new();
        }
        vec![format!(
            "the cache of {} frames evicted {} blocks: the run is shorter than a turnover, so what was cold at its start shows in \
             the results (a longer run, or a smaller cache)",
            self.memory.cache.frames(),
            counts.evictions
        )]
    }
}
