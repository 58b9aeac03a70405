//! What is dirty goes to the medium.

use super::super::disk::Disk;
use super::super::transfers::Purpose;
use super::{DrivePool, SentFor};
use crate::base::units::{Lbn, Time};
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, RequestId};
use crate::models::cache::Frame;
use crate::models::cache::block_cache::BlockState;
use crate::models::queue::Slot;

impl DrivePool {
    /// Says anew of each extent of a command whether it may be destaged.
    #[inline(always)]
    pub(super) fn offer_extents(&mut self, command: &Command, disk: &Disk) {
        if self.dirty.held() > 0 {
            self.offer_dirty_extents(command, disk);
        }
    }

    #[inline(never)]
    fn offer_dirty_extents(&mut self, command: &Command, disk: &Disk) {
        for piece in self.memory.pieces(command) {
            self.offer_extent(piece.key, disk);
        }
    }

    /// Says anew whether an extent may be destaged: while it has dirty blocks, and no transfer has blocks in common with it.
    pub(super) fn offer_extent(&mut self, key: u64, disk: &Disk) {
        let cache = &self.memory.cache;
        let Some(frame) = cache.find(key).filter(|&frame| self.dirty.holds(frame)) else {
            return;
        };
        let whole = cache.whole(key);
        let extent = Command {
            op: Op::Write,
            fua: false,
            lbn: Lbn(whole.lbn),
            blocks: whole.blocks(),
        };
        let is_free = self.transfers.overlapping(&extent).next().is_none();
        let first = cache.next_run(cache.line(frame), BlockState::Dirty, whole);
        let from = first.filter(|_| is_free).map(|(lbn, _)| {
            let first = Command {
                lbn: Lbn(lbn),
                blocks: 1,
                ..extent
            };
            let (group, target) = disk.place_of_write(&first);
            (group as u32, lbn, target)
        });
        self.dirty.offer(frame, from);
    }

    /// Since when the extent has been dirty that has been so longest.
    pub(super) fn oldest_since(&self) -> Option<Time> {
        let key = self.memory.cache.oldest_dirty().next()?;
        let frame = self.memory.cache.find(key)?;
        self.dirty.since(frame)
    }

    /// Begins to write what is dirty from the first dirty block of a candidate on.
    #[inline(never)]
    pub(super) fn begin_destage(
        &mut self,
        group: usize,
        slot: Slot,
        is_idle_work: bool,
        disk: &mut Disk,
        cx: &mut Context<'_>,
    ) {
        let first = self.dirty.candidates(group).get(slot).command.lbn.0;
        let longest = self.parts.destaging.longest.blocks();
        let longest = u32::try_from(longest).unwrap_or(u32::MAX);
        let run = self.memory.cache.next_dirty(first, longest);
        let (lbn, mut blocks) = run.expect("a candidate has dirty blocks");
        debug_assert_eq!(
            lbn, first,
            "it begins with the candidate's first dirty block"
        );
        // Extents that are no candidates, or others' to write, end it.
        let command = |blocks| Command {
            op: Op::Write,
            fua: false,
            lbn: Lbn(lbn),
            blocks,
        };
        for piece in self.memory.pieces(&command(blocks)) {
            let frame = self.memory.cache.find(piece.key);
            if !frame.is_some_and(|frame| self.dirty.is_candidate(frame, group)) {
                blocks = (piece.lbn - lbn) as u32;
                break;
            }
        }
        blocks = disk.blocks_within_reach(group, &command(blocks));
        let command = command(blocks);
        self.counters.destages += 1;
        self.counters.idle_destages += u64::from(is_idle_work);
        self.counters.destaged_blocks += u64::from(blocks);
        let child = cx.open_in_background(command);
        self.memory.cache.clean(lbn, blocks);
        let mut frames = Vec::new();
        for piece in self.memory.pieces(&command) {
            let frame = self
                .memory
                .cache
                .find(piece.key)
                .expect("dirty extents are pinned");
            self.dirty.leave(frame);
            if !self.has_dirty(frame, piece.key) {
                self.dirty.clean(frame);
            }
            frames.push(Some(frame));
        }
        let id = self.add_transfer(command, Purpose::Destage, disk);
        debug_assert_eq!(
            self.transfers.ready(),
            Some(id),
            "a candidate waits for nothing"
        );
        self.transfers.take_ready();
        self.transfers.get_mut(id).frames = frames;
        self.carry(id, child, &command, cx);
        self.sent.note(child, SentFor::Transfer(id, is_idle_work));
        if !is_idle_work {
            self.busy += 1;
        }
        match disk.log.is_some() {
            true => disk.accept(child, cx),
            false => disk.begin_own(group, child, cx),
        }
    }

    /// A destage is over.
    #[inline(never)]
    pub(super) fn destaged(
        &mut self,
        child: RequestId,
        frames: &[Option<Frame>],
        cx: &mut Context<'_>,
    ) {
        let destage = cx.request(child);
        self.counters.destage_time += destage.completion - destage.start;
        for &frame in frames.iter().flatten() {
            if self.dirty.arrive(frame) {
                self.let_go(frame);
            }
        }
    }

    /// An extent is neither dirty nor on its way any more.
    pub(super) fn let_go(&mut self, frame: Frame) {
        self.memory.cache.unpin_all(&[Some(frame)]);
        if let Some(region) = &mut self.region {
            region.release(frame);
        }
    }
}
