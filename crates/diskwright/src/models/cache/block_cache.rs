//! A cache of a device's blocks, in lines of several blocks each, of which some are there and some of those dirty.

use super::Frame;
use super::dirty_order::DirtyOrder;
use super::line_piece;
pub use super::line_piece::{LinePiece, LinePieces};
use super::lines::Lines;
pub use super::lines::{BlockState, Line};
use super::occupancy::{AccessOutcome, Occupancy};
use super::pins::Pins;
use super::replacement::{Access, Cost, Replacement};

/// A line that has left its frame, with what it had. It is [released](BlockCache::release) or [put back](BlockCache::put_back).
#[must_use = "a line is released, or put back"]
#[derive(Debug, PartialEq, Eq)]
pub struct Victim {
    /// Which line-sized run of the device it is.
    pub key: u64,
    /// What it had.
    pub line: Line,
}

/// Where an access finds its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It was there.
    Held(Frame),
    /// It was not and is now, without blocks.
    New(Frame),
    /// It is not, and no frame can be freed: all are pinned.
    None,
}

/// Counts of accesses to lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// All accesses.
    pub accesses: u64,
    /// Those to lines that were held.
    pub hits: u64,
    /// Lines that got a frame.
    pub insertions: u64,
    /// Lines that had to leave for that, or because the policy wished it.
    pub evictions: u64,
}

impl Counts {
    /// What has been counted since it was `before`.
    pub fn since(&self, before: &Counts) -> Counts {
        Counts {
            accesses: self.accesses - before.accesses,
            hits: self.hits - before.hits,
            insertions: self.insertions - before.insertions,
            evictions: self.evictions - before.evictions,
        }
    }
}

/// What a trim has taken from a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// Blocks that were there.
    pub blocks: u64,
    /// Those of them that were dirty.
    pub dirty: u64,
}

/// The cache: which blocks it has, and the policy that says which leave.
pub struct BlockCache {
    occupancy: Occupancy,
    lines: Lines,
    dirty: DirtyOrder,
    dirty_blocks: u64,
    counts: Counts,
}

impl BlockCache {
    /// An empty cache of `frames` lines of `blocks` blocks each, at most [`MOST_LINE_BLOCKS`](super::MOST_LINE_BLOCKS); `policy` was built
    /// for as many lines.
    pub fn new(frames: u32, blocks: u32, policy: Box<dyn Replacement>) -> BlockCache {
        BlockCache {
            occupancy: Occupancy::new(frames, policy),
            lines: Lines::new(blocks),
            dirty: DirtyOrder::new(),
            dirty_blocks: 0,
            counts: Counts::default(),
        }
    }

    /// The same cache, empty, which frees a line with dirty blocks only where no line without can be freed, and sheds none.
    #[must_use]
    pub fn sparing_dirty(mut self) -> BlockCache {
        (self.occupancy.pins, self.occupancy.spares) = (Pins::lasting(), true);
        self
    }

    /// The same cache, empty, made for many lines that stay pinned for long: victims are found without a scan of all pinned lines.
    #[must_use]
    pub fn with_lasting_pins(mut self) -> BlockCache {
        self.occupancy.pins = Pins::lasting();
        self
    }

    /// Lines that it has room for.
    pub fn frames(&self) -> u32 {
        self.occupancy.directory.capacity()
    }

    /// Lines that it holds.
    pub fn held(&self) -> usize {
        self.occupancy.directory.len()
    }

    /// The lines that it holds and their frames, in no order that means anything.
    pub fn lines_held(&self) -> impl Iterator<Item = (Frame, u64)> + '_ {
        let directory = &self.occupancy.directory;
        directory
            .frames()
            .map(|frame| (frame, directory.key(frame)))
    }

    /// Blocks of a line.
    pub fn blocks_per_line(&self) -> u32 {
        self.lines.blocks()
    }

    /// What it has counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Divides a run of blocks by lines.
    #[inline]
    pub fn pieces(&self, lbn: u64, blocks: u32) -> LinePieces {
        LinePieces::new(lbn, blocks, self.lines.blocks())
    }

    /// The line of a block.
    #[inline]
    pub fn key_of(&self, lbn: u64) -> u64 {
        line_piece::key_of(lbn, self.lines.blocks())
    }

    /// All blocks of a line.
    pub fn whole(&self, key: u64) -> LinePiece {
        let end = self.lines.blocks();
        LinePiece {
            key,
            first: 0,
            end,
            lbn: key * u64::from(end),
        }
    }

    /// The frame of a line, if it is held.
    #[inline]
    pub fn find(&self, key: u64) -> Option<Frame> {
        self.occupancy.directory.find(key)
    }

    /// The number of the line that a frame holds.
    pub fn key(&self, frame: Frame) -> u64 {
        self.occupancy.directory.key(frame)
    }

    /// Accesses a line. It gets a frame if it has none and one can be freed. Evicted lines are added to `victims`.
    pub fn access(&mut self, key: u64, write: bool, victims: &mut Vec<Victim>) -> Place {
        self.access_found(self.find(key), key, write, victims)
    }

    /// The same of a line whose frame has been looked up.
    pub fn access_found(
        &mut self,
        found: Option<Frame>,
        key: u64,
        write: bool,
        victims: &mut Vec<Victim>,
    ) -> Place {
        let access = Access {
            key,
            write,
            next: u64::MAX,
        };
        let BlockCache {
            occupancy,
            lines,
            dirty,
            dirty_blocks,
            counts,
        } = self;
        let mut freed_dirty = None;
        let turn = occupancy.access_found(found, &access, |frame, key| {
            let line = lines.take(frame);
            let blocks = lines.dirty_blocks(line);
            if blocks > 0 {
                dirty.remove(key, frame);
                *dirty_blocks -= u64::from(blocks);
                freed_dirty = Some(frame);
            }
            counts.evictions += 1;
            victims.push(Victim { key, line });
        });
        if let Some(frame) = freed_dirty {
            occupancy.unspare(frame);
        }
        counts.accesses += 1;
        match turn {
            AccessOutcome::Hit(frame) => {
                counts.hits += 1;
                Place::Held(frame)
            }
            AccessOutcome::Miss(frame) => {
                counts.insertions += 1;
                Place::New(frame)
            }
            AccessOutcome::NoRoom => Place::None,
        }
    }

    /// Accesses a line that is not held and gets no frame.
    #[inline]
    pub fn pass(&mut self, key: u64, write: bool) {
        debug_assert!(self.find(key).is_none(), "line {key} is held");
        self.counts.accesses += 1;
        let next = u64::MAX;
        self.occupancy.policy.miss(&Access { key, write, next });
    }

    /// Lets go of a line that has left.
    #[inline]
    pub fn release(&mut self, victim: Victim) {
        self.lines.release(victim.line);
    }

    /// Gives a line that has left what it had, in the frame that it has got meanwhile and that has no blocks yet.
    pub fn put_back(&mut self, frame: Frame, victim: Victim) {
        let Victim { key, line } = victim;
        self.lines.give(frame, line);
        self.count_dirty(key, frame, 0);
    }

    /// What a frame has.
    #[inline]
    pub fn line(&self, frame: Frame) -> Line {
        self.lines.line(frame)
    }

    /// The first run of such blocks that a line has in a piece of it.
    pub fn next_run(&self, line: Line, which: BlockState, piece: LinePiece) -> Option<(u64, u32)> {
        self.runs(line, which, piece).next()
    }

    /// The runs of such blocks that a line has in a piece of it: the first block of each on the device, and how many.
    pub fn runs(
        &self,
        line: Line,
        which: BlockState,
        piece: LinePiece,
    ) -> impl Iterator<Item = (u64, u32)> + use<'_> {
        let runs = self.lines.runs(line, which, piece.first, piece.end);
        runs.map(move |(first, end)| (piece.lbn_of(first), end - first))
    }

    /// The run on the device from the first to the last block of a piece that its frame does not have; of a piece that has no frame, all.
    #[inline]
    pub fn missing(&self, piece: &LinePiece, frame: Option<Frame>) -> Option<(u64, u32)> {
        let line = frame.map_or(Line::EMPTY, |frame| self.lines.line(frame));
        let (first, end) = self.lines.missing(line, piece.first, piece.end)?;
        Some((piece.lbn_of(first), end - first))
    }

    /// Blocks of a frame are there, newer than on the medium or not; `dirty` says which.
    pub fn put(&mut self, frame: Frame, piece: &LinePiece, dirty: bool) {
        let before = self.lines.dirty_blocks(self.lines.line(frame));
        self.lines.put(frame, piece.first, piece.end, dirty);
        self.count_dirty(piece.key, frame, before);
    }

    /// Blocks of a frame have come from the medium: those that were not there are, the others stay as they are.
    pub fn fill(&mut self, frame: Frame, piece: &LinePiece) {
        if self.lines.line(frame) == Line::EMPTY {
            return self.lines.put(frame, piece.first, piece.end, false);
        }
        let mut from = piece.first;
        while let Some((first, end)) =
            self.lines
                .next_run(self.lines.line(frame), BlockState::Missing, from, piece.end)
        {
            self.lines.put(frame, first, end, false);
            from = end;
        }
    }

    /// Blocks of a frame are no longer good.
    pub fn forget(&mut self, frame: Frame, piece: &LinePiece) {
        let before = self.lines.dirty_blocks(self.lines.line(frame));
        self.lines.forget(frame, piece.first, piece.end);
        self.count_dirty(piece.key, frame, before);
    }

    /// Blocks of a run are on the medium now, as far as they are held.
    pub fn clean(&mut self, lbn: u64, blocks: u32) {
        for piece in self.pieces(lbn, blocks) {
            if let Some(frame) = self.find(piece.key) {
                let before = self.lines.dirty_blocks(self.lines.line(frame));
                self.lines.clean(frame, piece.first, piece.end);
                self.count_dirty(piece.key, frame, before);
            }
        }
    }

    /// Notes how the dirty blocks of a line have changed, of which there were `before`.
    #[inline]
    fn count_dirty(&mut self, key: u64, frame: Frame, before: u32) {
        let now = self.lines.dirty_blocks(self.lines.line(frame));
        if now != before {
            self.dirty_blocks += u64::from(now);
            self.dirty_blocks -= u64::from(before);
            if before == 0 {
                self.dirty.insert(key, frame);
                self.occupancy.spare(frame);
            } else if now == 0 {
                self.dirty.remove(key, frame);
                self.occupancy.unspare(frame);
            }
        }
    }

    /// Takes the blocks of a run out of the cache, clean or dirty; a line that has none left loses its frame, unless that is pinned. `gone`
    /// hears of each run of blocks that was there. Takes time in proportion to the lines of the run or those held, whichever are fewer.
    pub fn trim(&mut self, lbn: u64, blocks: u32, mut gone: impl FnMut(u64, u32)) -> Trimmed {
        let mut trimmed = Trimmed::default();
        let per_line = u64::from(self.lines.blocks());
        let end = lbn + u64::from(blocks);
        let keys = lbn / per_line..end.div_ceil(per_line);
        if keys.end - keys.start <= self.held() as u64 {
            for piece in self.pieces(lbn, blocks) {
                self.trim_piece(&piece, &mut gone, &mut trimmed);
            }
            return trimmed;
        }
        let directory = &self.occupancy.directory;
        let held = directory.frames().map(|frame| directory.key(frame));
        let mut held: Vec<u64> = held.filter(|key| keys.contains(key)).collect();
        // Policies hear of them in this order, whatever the directory's is.
        held.sort_unstable();
        for key in held {
            let piece = self.whole(key).within(lbn, blocks);
            let piece = piece.expect("the line has blocks of the run");
            self.trim_piece(&piece, &mut gone, &mut trimmed);
        }
        trimmed
    }

    fn trim_piece(
        &mut self,
        piece: &LinePiece,
        gone: &mut impl FnMut(u64, u32),
        trimmed: &mut Trimmed,
    ) {
        let Some(frame) = self.find(piece.key) else {
            return;
        };
        let line = self.line(frame);
        let before = self.lines.dirty_blocks(line);
        for (lbn, blocks) in self.runs(line, BlockState::Valid, *piece) {
            trimmed.blocks += u64::from(blocks);
            gone(lbn, blocks);
        }
        self.forget(frame, piece);
        let line = self.line(frame);
        trimmed.dirty += u64::from(before - self.lines.dirty_blocks(line));
        if line == Line::EMPTY && !self.occupancy.pins.is_pinned(frame) {
            self.occupancy.remove(frame);
        }
    }

    /// A line that has no blocks loses its frame, unless that is pinned.
    #[inline]
    pub fn remove_if_empty(&mut self, frame: Frame) {
        if self.line(frame) == Line::EMPTY && !self.occupancy.pins.is_pinned(frame) {
            self.occupancy.remove(frame);
        }
    }

    /// How many lines have dirty blocks.
    pub fn dirty_lines(&self) -> usize {
        self.dirty.len()
    }

    /// How many blocks are dirty.
    pub fn dirty_blocks(&self) -> u64 {
        self.dirty_blocks
    }

    /// The first dirty block from `from` on, and how many dirty ones follow one another from there, at most `most`. Takes logarithmic time in
    /// the dirty lines, and a lookup for each further line of the run.
    pub fn next_dirty(&self, from: u64, most: u32) -> Option<(u64, u32)> {
        let per_line = u64::from(self.lines.blocks());
        let key = self.dirty.next(from / per_line)?;
        let whole = self.whole(key);
        let after = (from.max(whole.lbn) - whole.lbn) as u32;
        let Some((first, end)) = self.dirty_run(key, after) else {
            // Its dirty blocks are before `from`: those of the next dirty line are not.
            return self.next_dirty((key + 1) * per_line, most);
        };
        let mut blocks = end - first;
        let (mut key, mut end) = (key, end);
        while end == self.lines.blocks() && blocks < most {
            key += 1;
            match self.dirty_run(key, 0) {
                Some((0, until)) => (blocks, end) = (blocks.saturating_add(until), until),
                _ => break,
            }
        }
        Some((whole.lbn_of(first), blocks.min(most)))
    }

    /// The first dirty run of a line from a block on; none where the line is not held.
    fn dirty_run(&self, key: u64, first: u32) -> Option<(u32, u32)> {
        let line = self.line(self.find(key)?);
        self.lines
            .next_run(line, BlockState::Dirty, first, self.lines.blocks())
    }

    /// A line that has dirty blocks counts as dirty from now on: all others have been longer.
    pub fn renew_dirty(&mut self, frame: Frame) {
        if self.lines.dirty_blocks(self.lines.line(frame)) > 0 {
            self.dirty.renew(frame);
        }
    }

    /// The lines with dirty blocks, the one that has had some longest first.
    pub fn oldest_dirty(&self) -> impl Iterator<Item = u64> + '_ {
        let directory = &self.occupancy.directory;
        self.dirty.oldest_first().map(|frame| directory.key(frame))
    }

    /// Keeps a frame from being freed.
    #[inline]
    pub fn pin(&mut self, frame: Frame) {
        self.occupancy.pin(frame);
    }

    /// Takes one pin back.
    #[inline]
    pub fn unpin(&mut self, frame: Frame) {
        self.occupancy.unpin(frame);
    }

    /// Takes one pin back of each.
    #[inline]
    pub fn unpin_all(&mut self, frames: &[Option<Frame>]) {
        for frame in frames {
            if let Some(frame) = *frame {
                self.occupancy.unpin(frame);
            }
        }
    }

    /// Whether a frame is pinned.
    pub fn is_pinned(&self, frame: Frame) -> bool {
        self.occupancy.pins.is_pinned(frame)
    }

    /// Whether a line is pinned that has blocks in a run.
    pub fn has_pinned(&self, lbn: u64, blocks: u32) -> bool {
        let per_line = u64::from(self.lines.blocks());
        let keys = lbn / per_line..(lbn + u64::from(blocks)).div_ceil(per_line);
        let mut pinned = self.occupancy.pins.pinned();
        pinned.any(|frame| keys.contains(&self.occupancy.directory.key(frame)))
    }

    /// The access to the medium that brought a frame's blocks, or wrote them, is over.
    pub fn paid(&mut self, frame: Frame, cost: Cost) {
        self.occupancy.policy.paid(frame, cost);
    }
}

#[cfg(test)]
#[path = "block_cache_tests.rs"]
mod tests;
