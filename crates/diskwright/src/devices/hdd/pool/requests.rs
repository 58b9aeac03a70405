//! The course of the host's requests through a pool.

use super::super::alarm::Alarm;
use super::super::disk::Disk;
use super::super::transfers::{Purpose, TransferId};
use super::{DrivePool, SentFor, Write};
use crate::base::units::{Lbn, Time};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, Request, RequestId, ServedBy};
use crate::models::cache::Frame;
use crate::models::cache::block_cache::{BlockState, LinePiece};
use crate::models::cache::replacement::Cost;

impl DrivePool {
    /// Gives a request a slot.
    pub(super) fn take(
        &mut self,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
        disk: &mut Disk,
    ) {
        self.taken += 1;
        disk.show_queue(self.taken, cx.now());
        cx.request_mut(request).acceptance = cx.now();
        let has_held = self.access(command, cx);
        match command.op {
            Op::Write => self.take_write(request, command, cx, disk),
            _ => self.take_read(request, command, has_held, cx, disk),
        }
    }

    fn take_read(
        &mut self,
        request: RequestId,
        command: &Command,
        has_held: bool,
        cx: &mut Context<'_>,
        disk: &Disk,
    ) {
        if let Some((from, end)) = self.streams.note(command) {
            self.drop_unread(from, end, cx);
        }
        let frames = std::mem::take(&mut self.frames);
        let missing = match has_held {
            true => self.memory.missing(command, &frames),
            false => Some((command.lbn.0, command.blocks)),
        };
        match missing {
            None => self.hit(request, command, &frames, cx),
            Some((lbn, blocks)) => {
                let before = self.parts.overhead.before(false, false);
                cx.request_mut(request).start = cx.now() + before;
                let run = Command {
                    lbn: Lbn(lbn),
                    blocks,
                    ..*command
                };
                self.send(request, run, command, &frames, disk);
            }
        }
        self.frames = frames;
    }

    /// All that a read wants is in its frames.
    #[inline(never)]
    pub(super) fn hit(
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

    /// Adds the transfer of a request, for which its frames stay pinned.
    fn send(
        &mut self,
        request: RequestId,
        run: Command,
        whole: &Command,
        frames: &[Option<Frame>],
        disk: &Disk,
    ) {
        let id = self.add_transfer(run, Purpose::Request(request), disk);
        let transfer = self.transfers.get_mut(id);
        transfer.whole = *whole;
        let kept = &mut transfer.frames;
        kept.clear();
        kept.extend_from_slice(frames);
    }

    fn take_write(
        &mut self,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
        disk: &Disk,
    ) {
        self.counters.writes += 1;
        self.counters.written_blocks += u64::from(command.blocks);
        let frames = std::mem::take(&mut self.frames);
        let may_be_absorbed = self.may_be_absorbed(command, &frames);
        let has_begun = self.room.is_empty()
            && self.begin_write(request, command, (may_be_absorbed, &frames), cx, disk);
        if has_begun {
            self.frames = frames;
            return;
        }
        self.waits_for_room(Write {
            request,
            command: *command,
            may_be_absorbed,
            frames,
        });
    }

    #[inline(never)]
    fn waits_for_room(&mut self, write: Write) {
        self.counters.waited_for_room += 1;
        self.room.push_back(write);
    }

    fn may_be_absorbed(&self, command: &Command, frames: &[Option<Frame>]) -> bool {
        let is_kept = self.parts.most_dirty.is_some() && (self.parts.is_persistent || !command.fua);
        is_kept && frames.iter().all(Option::is_some) && frames.len() <= self.dirty.most() as usize
    }

    /// Absorbs a write, if it may be absorbed, or sends it to the medium; not one that has to wait for room.
    fn begin_write(
        &mut self,
        request: RequestId,
        command: &Command,
        (may_be_absorbed, frames): (bool, &[Option<Frame>]),
        cx: &mut Context<'_>,
        disk: &Disk,
    ) -> bool {
        if !may_be_absorbed {
            self.write_through(request, command, frames, cx, disk);
        } else if self.has_room(frames) {
            self.absorb(request, command, frames, cx, disk);
        } else {
            return false;
        }
        true
    }

    /// Whether the frames may become dirty without too many dirty extents. While a flush waits none may.
    fn has_room(&self, frames: &[Option<Frame>]) -> bool {
        let new = frames
            .iter()
            .flatten()
            .filter(|&&frame| !self.dirty.holds(frame));
        self.flushes.is_empty()
            && self.dirty.held() as usize + new.count() <= self.dirty.most() as usize
    }

    /// A write is complete in memory: its blocks are dirty from now on.
    #[inline(never)]
    fn absorb(
        &mut self,
        request: RequestId,
        command: &Command,
        frames: &[Option<Frame>],
        cx: &mut Context<'_>,
        disk: &Disk,
    ) {
        self.counters.absorbed_writes += 1;
        let now = cx.now();
        for (piece, frame) in self.memory.pieces(command).zip(frames) {
            let frame = frame.expect("only what has frames is absorbed");
            self.memory.cache.put(frame, &piece, true);
            if self.dirty.soil(frame, now) {
                self.memory.cache.pin(frame);
            }
            self.memory.tell_put(request, &piece, cx);
        }
        self.counters.dirty_max = self.counters.dirty_max.max(self.dirty.held());
        self.offer_extents(command, disk);
        self.memory.cache.unpin_all(frames);
        if self.region.is_some() {
            self.keep_in_region(request, command, cx);
        } else {
            self.serve(request, command, cx);
        }
    }

    /// An absorbed write is complete when it is in the region: it can be written there once its blocks have crossed the interface.
    fn keep_in_region(&mut self, request: RequestId, command: &Command, cx: &mut Context<'_>) {
        let work = self.parts.overhead.before(true, true);
        let (start, bus) = self.occupy(command, work, cx.now());
        let entry = cx.request_mut(request);
        entry.start = start;
        entry.parts.add(Part::Overhead, work);
        entry.parts.add(Part::Bus, bus);
        if let Some(region) = &mut self.region {
            region.wait(request, self.free);
        }
        cx.alarm(self.free, Alarm::PoolAsks.token());
    }

    /// Begins the writes that wait for room, in their order, as far as there is some.
    #[inline]
    pub(super) fn begin_waiting_writes(&mut self, disk: &Disk, cx: &mut Context<'_>) {
        while !self.room.is_empty() {
            if !self.begin_waiting_write(disk, cx) {
                return;
            }
        }
    }

    /// Begins the first write that waits for room, if there is some.
    #[inline(never)]
    fn begin_waiting_write(&mut self, disk: &Disk, cx: &mut Context<'_>) -> bool {
        let write = self.room.pop_front().expect("one waits");
        let how = (write.may_be_absorbed, &write.frames[..]);
        let has_begun = self.begin_write(write.request, &write.command, how, cx, disk);
        if !has_begun {
            self.room.push_front(write);
        }
        has_begun
    }

    /// A write goes to the medium. Its blocks are in memory from now on; those that were dirty stay so.
    fn write_through(
        &mut self,
        request: RequestId,
        command: &Command,
        frames: &[Option<Frame>],
        cx: &mut Context<'_>,
        disk: &Disk,
    ) {
        for (piece, frame) in self.memory.pieces(command).zip(frames) {
            // An extent that had none when the write was taken may have got one meanwhile.
            let Some(frame) = frame.or_else(|| self.memory.cache.find(piece.key)) else {
                continue;
            };
            self.put_as_it_is(frame, &piece);
            self.memory.tell_put(request, &piece, cx);
        }
        self.occupy(command, self.parts.overhead.before(true, true), cx.now());
        cx.request_mut(request).start = self.free;
        self.send(request, *command, command, frames, disk);
    }

    /// Blocks of a frame have new contents, dirty where they were dirty.
    fn put_as_it_is(&mut self, frame: Frame, piece: &LinePiece) {
        let cache = &mut self.memory.cache;
        let line = cache.line(frame);
        if cache.next_run(line, BlockState::Dirty, *piece).is_none() {
            return cache.put(frame, piece, false);
        }
        let missing: Vec<_> = cache.runs(line, BlockState::Missing, *piece).collect();
        for (lbn, blocks) in missing {
            let part = piece.within(lbn, blocks).expect("it is of the piece");
            cache.put(frame, &part, false);
        }
    }

    /// Sends transfers for the host to the disk that wait for no others.
    #[inline(always)]
    pub(super) fn send_ready(&mut self, disk: &mut Disk, cx: &mut Context<'_>) {
        while let Some(id) = self.transfers.ready() {
            self.transfers.take_ready();
            self.send_transfer(id, disk, cx);
        }
    }

    #[inline(never)]
    fn send_transfer(&mut self, id: TransferId, disk: &mut Disk, cx: &mut Context<'_>) {
        let transfer = self.transfers.get(id);
        let mut command = transfer.command;
        let Purpose::Request(request) = transfer.purpose else {
            unreachable!("what is the pool's own waits for nothing");
        };
        if command.op == Op::Read && transfer.has_waited {
            match self.still_missing(id, request, cx) {
                Some((lbn, blocks)) => (command.lbn, command.blocks) = (Lbn(lbn), blocks),
                None => return self.finish(id, disk),
            }
        }
        let child = cx.open_for(request, command);
        self.sent.note(child, SentFor::Transfer(id, false));
        let Request {
            sequence, start, ..
        } = *cx.request(request);
        let entry = cx.request_mut(child);
        (entry.sequence, entry.start) = (sequence, start);
        if command.op == Op::Write && cx.checker().is_some() {
            tell_carried(request, child, &command, cx);
        }
        self.busy += 1;
        disk.accept(child, cx);
    }

    /// What is missing of a read that has waited for others, which may have brought what it wants: without that it is a hit.
    #[inline(never)]
    fn still_missing(
        &mut self,
        id: TransferId,
        request: RequestId,
        cx: &mut Context<'_>,
    ) -> Option<(u64, u32)> {
        let whole = cx.request(request).command;
        let frames = std::mem::take(&mut self.transfers.get_mut(id).frames);
        let missing = self.memory.missing(&whole, &frames);
        if missing.is_none() {
            self.hit(request, &whole, &frames, cx);
        }
        self.transfers.get_mut(id).frames = frames;
        missing
    }

    /// The medium has served a request: its frames have what was read, and it ends when that has crossed the interface.
    pub(super) fn end_request(
        &mut self,
        request: RequestId,
        child: RequestId,
        frames: &[Option<Frame>],
        cx: &mut Context<'_>,
    ) {
        let command = cx.request(request).command;
        let Request {
            command: transferred,
            start,
            parts,
            media,
            served_by,
            shares_access,
            outcome,
            ..
        } = *cx.request(child);
        let outcome = outcome.expect("the transfer is over");
        let is_read = command.op == Op::Read;
        let cost = Cost {
            media,
            blocks: self.memory.pieces(&transferred).count() as u32,
        };
        for (piece, frame) in self.memory.pieces(&command).zip(frames) {
            let Command { lbn, blocks, .. } = transferred;
            if let (Some(frame), Some(part)) = (*frame, piece.within(lbn.0, blocks)) {
                if is_read && outcome == Outcome::Ok {
                    self.memory.fill(frame, &part, child, cx);
                }
                self.memory.cache.paid(frame, cost);
            }
            if is_read && outcome == Outcome::Ok {
                (self.memory).tell_passed(request, child, (&piece, *frame), cx);
            }
        }
        if !is_read {
            self.supersede(&command);
        }
        self.memory.cache.unpin_all(frames);
        let is_partial = is_read && transferred.blocks < command.blocks;
        self.counters.reads += u64::from(is_read);
        self.counters.partial_hits += u64::from(is_partial);
        let now = cx.now();
        let crossed = match is_read {
            true => self.crossed(&command, now),
            false => now,
        };
        let after = self.parts.overhead.completion(!is_read);
        let entry = cx.request_mut(request);
        (entry.start, entry.parts) = (start, parts);
        entry.parts.add(Part::Bus, crossed - now);
        entry.parts.add(Part::Overhead, after);
        (entry.media, entry.shares_access) = (media, shares_access);
        entry.served_by = match is_partial {
            true => ServedBy::Both,
            false => served_by,
        };
        if outcome != Outcome::Ok {
            self.failed.push((request, outcome));
        }
        self.complete_at(request, crossed + after, cx);
    }

    /// When the blocks of a read have crossed the interface of which the medium has done with the last ones now.
    fn crossed(&mut self, command: &Command, now: Time) -> Time {
        let last = command.blocks.min(self.blocks_per_sector);
        let with_medium = now + self.bus_time(Op::Read, last);
        let after_others = self.free + self.bus_time(Op::Read, command.blocks);
        self.free = with_medium.max(after_others);
        self.free
    }

    /// Ends the flushes, if nothing is dirty any more, or what is outlives a power cut.
    #[inline]
    pub(super) fn end_flushes(&mut self, cx: &mut Context<'_>) {
        if !self.flushes.is_empty() {
            self.end_waiting_flushes(cx);
        }
    }

    #[inline(never)]
    fn end_waiting_flushes(&mut self, cx: &mut Context<'_>) {
        if !self.parts.is_persistent && self.dirty.held() > 0 {
            return;
        }
        let before = self.parts.overhead.before(true, true);
        while let Some(request) = self.flushes.pop_front() {
            let now = cx.now();
            let entry = cx.request_mut(request);
            (entry.acceptance, entry.start) = (entry.issue, entry.issue);
            entry.parts.add(Part::Wait, now - entry.start);
            entry.parts.add(Part::Overhead, before);
            self.complete_at(request, now + before, cx);
        }
    }

    /// A trim: its blocks are in the pool no longer, dirty or not.
    #[inline(never)]
    pub(super) fn trim(
        &mut self,
        request: RequestId,
        command: &Command,
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) {
        let now = cx.now();
        let entry = cx.request_mut(request);
        (entry.acceptance, entry.start) = (now, now);
        let (first, end) = (command.lbn.0, command.end().0);
        let mut from = first;
        let mut soiled = Vec::new();
        let cache = &self.memory.cache;
        while let Some((lbn, blocks)) = cache
            .next_dirty(from, u32::MAX)
            .filter(|&(lbn, _)| lbn < end)
        {
            let run_end = (lbn + u64::from(blocks)).min(end);
            soiled.extend(
                cache
                    .pieces(lbn, (run_end - lbn) as u32)
                    .map(|piece| piece.key),
            );
            from = run_end;
        }
        soiled.dedup();
        self.supersede(command);
        let trimmed = self.memory.trim((first, command.blocks), cx);
        self.counters.trimmed_blocks += trimmed.blocks;
        self.counters.trimmed_dirty_blocks += trimmed.dirty;
        for key in soiled {
            let frame = self
                .memory
                .cache
                .find(key)
                .expect("dirty extents are pinned");
            let line = self.memory.cache.line(frame);
            let whole = self.memory.cache.whole(key);
            self.offer_extent(key, disk);
            if !self.has_dirty(frame, key) && self.dirty.clean(frame) {
                self.let_go(frame);
                // It may have no blocks left.
                if self
                    .memory
                    .cache
                    .next_run(line, BlockState::Valid, whole)
                    .is_none()
                {
                    self.memory.cache.trim(whole.lbn, whole.blocks(), |_, _| {});
                }
            }
        }
        self.end_flushes(cx);
        self.begin_waiting_writes(disk, cx);
        if disk.log.is_none() {
            // Nothing on the medium changes its place.
            let before = self.parts.overhead.before(true, true);
            cx.request_mut(request).parts.add(Part::Overhead, before);
            return self.complete_at(request, now + before, cx);
        }
        let child = cx.open_for(request, *command);
        self.sent.note(child, SentFor::Trim(request));
        disk.accept(child, cx);
    }

    /// The disk has done with a trim.
    #[inline(never)]
    pub(super) fn trimmed(
        &mut self,
        request: RequestId,
        child: RequestId,
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) {
        let done = cx.request(child).clone();
        cx.request_mut(request).parts = done.parts;
        if let Some(outcome) = done.outcome.filter(|&outcome| outcome != Outcome::Ok) {
            self.failed.push((request, outcome));
        }
        self.complete(request, disk, cx);
    }

    /// Checks that what a destage carries is what the frames have.
    pub(super) fn carry(
        &self,
        id: TransferId,
        child: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) {
        if let Some((checker, device)) = cx.checker() {
            let Command { lbn, blocks, .. } = *command;
            checker.copied(
                device,
                self.memory.name(),
                self.memory.name_of(id),
                lbn.0,
                blocks,
            );
            checker.read_buffered(device, self.memory.name_of(id), child, lbn.0, blocks);
        }
    }
}

/// Tells the checker that a write of the pool's has what a write of the host has.
#[cold]
fn tell_carried(request: RequestId, child: RequestId, command: &Command, cx: &mut Context<'_>) {
    if let Some((checker, _)) = cx.checker() {
        checker.carried(request, child, command.lbn.0, command.blocks);
    }
}
