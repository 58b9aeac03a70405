//! Pieces of streams that arms read ahead, one track after the other.

use super::super::access::slots_between;
use super::super::alarm::Alarm;
use super::super::arm::Work;
use super::super::disk::Disk;
use super::super::hardware::Hardware;
use super::super::medium::{AccessCursor, ArmFilter};
use super::super::transfers::{Purpose, TransferId};
use super::{DrivePool, SentFor};
use crate::base::units::{Lbn, Time};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Outcome, Part, Parts, RequestId};
use crate::engine::timeline::AlarmId;
use crate::models::cache::Frame;
use crate::models::cache::block_cache::BlockState;
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::{HeadPosition, Motion};
use crate::models::geometry::spindle::PassingSlots;

/// What an arm reads ahead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    child: RequestId,
    id: TransferId,
    /// The stream, and the read with which that began.
    stream: (usize, u64),
    command: Command,
    first_sector: u64,
    run: Run,
    start: Time,
    motion: Motion,
    /// When its first sector's edge comes by, and what passes then.
    edge: Time,
    passing: PassingSlots,
    alarm: AlarmId,
    /// The block up to which it is read whatever waits.
    stays_until: Option<u64>,
    /// The number of sectors after which it ends, for a request that waits.
    cut_to: Option<u32>,
}

/// Where the arms of a group go on with a stream before anything else.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    /// The block behind what they have read.
    from: u64,
    /// The block up to which they go on.
    until: u64,
}

impl Piece {
    /// When the arm has come there.
    fn moved(&self) -> Time {
        self.start + self.motion.total()
    }

    /// The number of sectors that are read even if a request waits.
    fn held_sectors(&self, hardware: &Hardware) -> u32 {
        let until = self.stays_until.unwrap_or(0).min(self.command.end().0);
        let behind = hardware.sector_behind(until);
        behind.saturating_sub(self.first_sector) as u32
    }
}

impl DrivePool {
    /// Has an idle arm of a group read a piece of a stream ahead, if there is one to read.
    #[inline(never)]
    pub(super) fn begin_piece(
        &mut self,
        group: usize,
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) -> bool {
        if disk.log.is_some() || !disk.medium.groups[group].can(Op::Read) {
            return false;
        }
        let Some(most) = self
            .parts
            .read_ahead
            .as_ref()
            .map(|rules| rules.most.blocks())
        else {
            return false;
        };
        let mut wanting = std::mem::take(&mut self.wanting);
        self.streams.wanting(&mut wanting);
        let (mut has_begun, mut place) = (false, 0);
        while let Some(&number) = wanting.get(place) {
            place += 1;
            let stream = self.streams.get(number);
            let until = (stream.next + most).min(disk.blocks());
            let Some(command) = self.next_piece(group, (stream.end, until), disk) else {
                continue;
            };
            has_begun = self.begin_piece_of(number, command, (group, None), disk, cx);
            if has_begun {
                break;
            }
            // What its accesses drove out may be missing to streams that had nothing to read.
            self.streams.wanting(&mut wanting);
            place = 0;
        }
        self.wanting = wanting;
        has_begun
    }

    /// An arm has done with what it did for the host: behind a read it may go on with the read's stream.
    #[inline(always)]
    pub(super) fn may_stay(&mut self, arm: usize, disk: &Disk, cx: &Context<'_>) {
        let rules = self.parts.read_ahead.as_ref();
        let least = rules.map_or(0, |rules| rules.least.blocks());
        if least > 0 {
            self.may_stay_for(least, arm, disk, cx);
        }
    }

    #[inline(never)]
    fn may_stay_for(&mut self, least: u64, arm: usize, disk: &Disk, cx: &Context<'_>) {
        let arm = &disk.medium.arms[arm];
        let Some(Work::Request(begun)) = &arm.work else {
            return;
        };
        if cx.request(begun.request).command.op != Op::Read {
            return;
        }
        let others = disk.queues[arm.group].pool.others(begun.others);
        let ends = std::iter::once(begun.request).chain(others);
        let ends = ends.map(|request| cx.request(request).command.end().0);
        let from = ends.max().expect("one at least");
        self.stays[arm.group] = Some(Stay {
            from,
            until: from + least,
        });
    }

    /// Has an idle arm of a group go on where one has read for the host, or read ahead behind that, with a stream that ends there.
    #[inline(always)]
    pub(super) fn stay(&mut self, group: usize, disk: &mut Disk, cx: &mut Context<'_>) -> bool {
        match self.stays[group].take() {
            Some(stay) => self.stay_with(stay, group, disk, cx),
            None => false,
        }
    }

    #[inline(never)]
    fn stay_with(
        &mut self,
        Stay { from, until }: Stay,
        group: usize,
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) -> bool {
        let Some(number) = self.streams.ending_at(from) else {
            return false;
        };
        let rules = self.parts.read_ahead.as_ref();
        let most = rules.expect("there are streams").most.blocks();
        let limit = (self.streams.get(number).next + most).min(disk.blocks());
        let piece = self.next_piece(group, (from, limit), disk);
        piece.is_some_and(|command| {
            command.lbn.0 == from
                && self.begin_piece_of(number, command, (group, Some(until)), disk, cx)
        })
    }

    /// Reads a piece of a stream ahead, up to a block whatever waits, if all its extents have frames.
    #[inline(never)]
    fn begin_piece_of(
        &mut self,
        number: usize,
        command: Command,
        (group, stays_until): (usize, Option<u64>),
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) -> bool {
        self.access(&command, cx);
        let frames = std::mem::take(&mut self.frames);
        let has_frames = frames.iter().all(Option::is_some);
        if has_frames {
            let stream = (number, self.streams.get(number).began);
            self.read_piece(group, stream, (command, stays_until), &frames, disk, cx);
        } else {
            self.memory.cache.unpin_all(&frames);
            self.streams.stall(number);
        }
        self.frames = frames;
        has_frames
    }

    /// The first run of blocks, from one block to before another, that are neither valid nor in a transfer, within a track that a group reaches.
    fn next_piece(&self, group: usize, (from, until): (u64, u64), disk: &Disk) -> Option<Command> {
        let first = self.first_missing(from, until)?;
        let hardware = &disk.medium.hardware;
        let per_sector = u64::from(hardware.blocks_per_sector);
        let sector = hardware.sector_of(first);
        let track = hardware.mechanics.layout.run(sector, u32::MAX);
        let groups = &disk.medium.groups;
        let position = &track.position;
        if groups.len() > 1 && !groups[group].reaches(position.cylinder, position.head) {
            return None;
        }
        let until = until.min((sector + u64::from(track.sectors)) * per_sector);
        let read = |blocks| Command {
            op: Op::Read,
            fua: false,
            lbn: Lbn(first),
            blocks,
        };
        let whole = read((until - first) as u32);
        let mut end = until;
        let overlapping = self.transfers.overlapping(&whole);
        let starts = overlapping.map(|id| self.transfers.get(id).command.lbn.0);
        end = starts.min().map_or(end, |start| end.min(start));
        let cache = &self.memory.cache;
        let valid = self.memory.pieces(&whole).find_map(|piece| {
            let line = cache.line(cache.find(piece.key)?);
            cache.next_run(line, BlockState::Valid, piece)
        });
        end = valid.map_or(end, |(lbn, _)| end.min(lbn));
        Some(read((end - first) as u32))
    }

    /// The first block that is neither valid nor in a transfer.
    fn first_missing(&self, mut from: u64, until: u64) -> Option<u64> {
        let cache = &self.memory.cache;
        while from < until {
            let blocks = (until - from).min(u64::from(cache.blocks_per_line())) as u32;
            let piece = cache.pieces(from, blocks).next()?;
            let Some((missing, _)) = cache.missing(&piece, cache.find(piece.key)) else {
                from += u64::from(piece.blocks());
                continue;
            };
            let block = Command {
                op: Op::Read,
                fua: false,
                lbn: Lbn(missing),
                blocks: 1,
            };
            let ends = self.transfers.overlapping(&block);
            let ends = ends.map(|id| self.transfers.get(id).command.end().0);
            match ends.max() {
                None => return Some(missing),
                Some(end) => from = end,
            }
        }
        None
    }

    fn read_piece(
        &mut self,
        group: usize,
        stream: (usize, u64),
        (command, stays_until): (Command, Option<u64>),
        frames: &[Option<Frame>],
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) {
        let now = cx.now();
        let medium = &mut disk.medium;
        let (first_sector, behind) = medium.hardware.sectors_of(&command);
        let sectors = (behind - first_sector) as u32;
        let mechanics = &medium.hardware.mechanics;
        let target = mechanics.target(mechanics.layout.run(first_sector, sectors), false);
        let cursor = AccessCursor::new(ArmFilter::Group(group), now);
        let number = medium.choose_arm(Op::Read, &target, &cursor);
        let (arm, mechanics) = (&medium.arms[number], &medium.hardware.mechanics);
        let run = target.run;
        let motion = mechanics.motion(arm.at, target.arm(), false);
        let moved = now + motion.total();
        let (wait, passing) = arm.spindle.come_by_edge(
            arm.spindle.phase(moved),
            target.phase,
            run.angle,
            run.sectors_per_track,
        );
        let edge = moved + wait;
        let end = edge + arm.spindle.passing(&passing, run.span);
        medium.arms[number].work = Some(Work::ReadAhead);
        let child = cx.open_in_background(command);
        let id = self.add_transfer(command, Purpose::ReadAhead, disk);
        debug_assert_eq!(self.transfers.ready(), Some(id), "nothing is in its way");
        self.transfers.take_ready();
        self.transfers.get_mut(id).frames.extend_from_slice(frames);
        self.sent.note(child, SentFor::Transfer(id, false));
        self.busy += 1;
        self.counters.pieces += 1;
        let alarm = cx.background_alarm(end, Alarm::ArmDone(number as u32).token());
        self.pieces[number] = Some(Piece {
            child,
            id,
            stream,
            command,
            first_sector,
            run,
            start: now,
            motion,
            edge,
            passing,
            alarm,
            stays_until,
            cut_to: None,
        });
    }

    /// Whether an arm reads ahead.
    pub fn reads_ahead(&self, arm: usize) -> bool {
        self.pieces[arm].is_some()
    }

    /// An arm has read its piece, or what it reads of one that is cut short.
    #[inline(never)]
    pub fn piece_rings(&mut self, arm: usize, disk: &mut Disk, cx: &mut Context<'_>) {
        let piece = self.pieces[arm].as_ref().expect("the alarm of a piece");
        let sectors = piece.cut_to.unwrap_or(piece.run.sectors);
        self.end_piece(arm, sectors, disk, cx);
        cx.wake();
    }

    /// Frees an arm of a group that reads ahead, where one may be cut short: at once, at the end of its motion, or behind what is read
    /// whatever waits.
    #[inline(never)]
    pub(super) fn cut_a_piece(&mut self, group: usize, disk: &mut Disk, cx: &mut Context<'_>) {
        let rules = self.parts.read_ahead.as_ref();
        if !rules.is_some_and(|rules| rules.yields) {
            return;
        }
        let arms = &disk.medium.groups[group].arms;
        let pieces = |&&arm: &&usize| {
            self.pieces[arm]
                .as_ref()
                .is_some_and(|piece| piece.cut_to.is_none())
        };
        let Some(&arm) = arms.iter().find(pieces) else {
            return;
        };
        let now = cx.now();
        let piece = self.pieces[arm].as_mut().expect("it was found");
        let Piece {
            edge,
            passing,
            run,
            first_sector,
            ..
        } = *piece;
        let spindle = &disk.medium.arms[arm].spindle;
        let layout = &disk.medium.hardware.mechanics;
        let slots = |count: u32| match run.span == run.sectors {
            true => count,
            false => slots_between(layout, first_sector, count - 1, &run) + 1,
        };
        let held = piece.held_sectors(&disk.medium.hardware);
        if held == run.sectors {
            return;
        }
        let until = match held {
            0 => piece.moved(),
            held => edge + spindle.passing(&passing, slots(held)),
        };
        cx.cancel(piece.alarm);
        self.counters.cut_pieces += 1;
        if now < until {
            piece.cut_to = Some(held);
            piece.alarm = cx.background_alarm(until, Alarm::ArmDone(arm as u32).token());
            return;
        }
        let passed = match now > edge {
            true => spindle.passed(&passing, now - edge),
            false => 0,
        };
        let has_passed = |&count: &u32| slots(count) <= passed;
        let sectors = (1..=run.sectors).take_while(has_passed).last().unwrap_or(0);
        self.end_piece(arm, sectors, disk, cx);
    }

    /// An arm has read `sectors` sectors of its piece.
    fn end_piece(&mut self, arm: usize, sectors: u32, disk: &mut Disk, cx: &mut Context<'_>) {
        let piece = self.pieces[arm].take().expect("it reads ahead");
        let now = cx.now();
        let medium = &mut disk.medium;
        let to = HeadPosition::over(&piece.run);
        medium.count_access(medium.arms[arm].at.cylinder.abs_diff(to.cylinder), 0);
        let from = medium.counted_from(piece.start);
        medium.arms[arm].moved(to, from, now);
        medium.arms[arm].done();
        medium.count_busy(from, now);
        medium.after_write = false;
        disk.ended = now;
        let mut parts = Parts::default();
        let edge = piece.edge.min(now);
        parts.add(Part::Seek, piece.motion.seek);
        parts.add(Part::HeadSwitch, piece.motion.head_switch);
        parts.add(Part::Rotation, edge - piece.moved());
        parts.add(Part::Transfer, now - edge);
        medium.counters.spent(&parts);
        if let Some(power) = &mut disk.power {
            power.worked(Op::Read, &parts, piece.start, now);
        }
        let per_sector = u64::from(medium.hardware.blocks_per_sector);
        let end = (piece.first_sector + u64::from(sectors)) * per_sector;
        let end = end.clamp(piece.command.lbn.0, piece.command.end().0);
        let blocks = (end - piece.command.lbn.0) as u32;
        let entry = cx.request_mut(piece.child);
        (entry.start, entry.parts) = (piece.start, parts);
        self.counters.read_ahead_blocks += u64::from(blocks);
        self.streams.read_ahead(piece.stream, Lbn(end));
        let stays_until = piece.stays_until.filter(|&until| end < until);
        let stay = stays_until.map(|until| Stay { from: end, until });
        self.stays[disk.medium.arms[arm].group] = stay;
        let read = Command {
            blocks,
            ..piece.command
        };
        if blocks > 0 {
            if let Some((checker, device)) = cx.checker() {
                checker.read(device, piece.child, 0, read.lbn.0, blocks);
            }
            let frames = std::mem::take(&mut self.transfers.get_mut(piece.id).frames);
            for (part, frame) in self.memory.pieces(&read).zip(&frames) {
                let frame = frame.expect("read-ahead has frames");
                self.memory.fill(frame, &part, piece.child, cx);
            }
            self.transfers.get_mut(piece.id).frames = frames;
        }
        cx.complete(piece.child, Outcome::Ok);
    }

    /// What was read ahead of a stream that is followed no longer leaves the pool: whole extents between two blocks.
    #[inline(never)]
    pub(super) fn drop_unread(&mut self, from: u64, end: u64, cx: &mut Context<'_>) {
        let per_extent = u64::from(self.memory.cache.blocks_per_line());
        for key in from.div_ceil(per_extent)..end / per_extent {
            let cache = &self.memory.cache;
            let Some(frame) = cache.find(key) else {
                continue;
            };
            if cache.is_pinned(frame) {
                continue;
            }
            let whole = cache.whole(key);
            let dropped = self.memory.trim((whole.lbn, whole.blocks()), cx);
            self.counters.dropped_blocks += dropped.blocks;
        }
    }
}
