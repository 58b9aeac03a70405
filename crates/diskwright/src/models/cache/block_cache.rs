//! A cache of a device's blocks, in lines of several blocks each, of which some are there and some of those dirty.

use super::Frame;
use super::dirty_order::DirtyOrder;
use super::lines::Lines;
pub use super::lines::{BlockState, Line};
use super::occupancy::{AccessOutcome, Occupancy};
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

/// A piece of a run of blocks that lies in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinePiece {
    /// Which line-sized run of the device it is in.
    pub key: u64,
    /// Its first block, counted from the line's first.
    pub first: u32,
    /// The end of its last, counted so too.
    pub end: u32,
    /// Its first block on the device.
    pub lbn: u64,
}

impl LinePiece {
    /// Blocks of the piece.
    #[inline]
    pub fn blocks(&self) -> u32 {
        self.end - self.first
    }

    /// Where a block of the line is on the device.
    #[inline]
    pub fn lbn_of(&self, block: u32) -> u64 {
        self.lbn - u64::from(self.first) + u64::from(block)
    }

    /// What of the piece is at a block of the device that it has, or at its end, and after that.
    #[inline]
    pub fn after(&self, lbn: u64) -> LinePiece {
        LinePiece {
            first: self.first + (lbn - self.lbn) as u32,
            lbn,
            ..*self
        }
    }

    /// The part of the piece that lies in a run of blocks.
    pub fn within(&self, lbn: u64, blocks: u32) -> Option<LinePiece> {
        let from = self.lbn.max(lbn);
        let end = (self.lbn + u64::from(self.blocks())).min(lbn + u64::from(blocks));
        (from < end).then(|| {
            let first = self.first + (from - self.lbn) as u32;
            LinePiece {
                first,
                end: first + (end - from) as u32,
                lbn: from,
                ..*self
            }
        })
    }
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

    /// Lines that it has room for.
    pub fn frames(&self) -> u32 {
        self.occupancy.directory.capacity()
    }

    /// Lines that it holds.
    pub fn held(&self) -> usize {
        self.occupancy.directory.len()
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
    pub fn pieces(&self, lbn: u64, blocks: u32) -> impl Iterator<Item = LinePiece> + use<> {
        let per_line = u64::from(self.lines.blocks());
        let end = lbn + u64::from(blocks);
        std::iter::successors(Some(lbn), move |&at| Some((at / per_line + 1) * per_line))
            .take_while(move |&at| at < end)
            .map(move |at| {
                let key = at / per_line;
                let first = at - key * per_line;
                LinePiece {
                    key,
                    first: first as u32,
                    end: (first + end - at).min(per_line) as u32,
                    lbn: at,
                }
            })
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

    /// Accesses a line, which gets a frame if it has none and one can be freed. What leaves for it, or at it, joins the victims.
    pub fn access(&mut self, key: u64, write: bool, victims: &mut Vec<Victim>) -> Place {
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
        let turn = occupancy.access(&access, |frame, key| {
            let line = lines.take(frame);
            let blocks = lines.dirty_blocks(line);
            if blocks > 0 {
                dirty.remove(key, frame);
                *dirty_blocks -= u64::from(blocks);
            }
            counts.evictions += 1;
            victims.push(Victim { key, line });
        });
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

    /// Lets go of a line that has left.
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
            } else if now == 0 {
                self.dirty.remove(key, frame);
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
        if line == Line::EMPTY && !self.occupancy.pins.holds(frame) {
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

    /// The lines with dirty blocks, the one that has had some longest first.
    pub fn oldest_dirty(&self) -> impl Iterator<Item = u64> + '_ {
        let directory = &self.occupancy.directory;
        self.dirty.oldest_first().map(|frame| directory.key(frame))
    }

    /// Keeps a frame from being freed.
    pub fn pin(&mut self, frame: Frame) {
        self.occupancy.pins.pin(frame);
    }

    /// Takes one pin back of each.
    pub fn unpin_all(&mut self, frames: &[Option<Frame>]) {
        for &frame in frames.iter().flatten() {
            self.occupancy.pins.unpin(frame);
        }
    }

    /// Whether a line is pinned that has blocks in a run.
    pub fn has_pinned(&self, lbn: u64, blocks: u32) -> bool {
        let per_line = u64::from(self.lines.blocks());
        let keys = lbn / per_line..(lbn + u64::from(blocks)).div_ceil(per_line);
        let mut pinned = self.occupancy.pins.frames().iter();
        pinned.any(|&frame| keys.contains(&self.occupancy.directory.key(frame)))
    }

    /// The access to the medium that brought a frame's blocks, or wrote them, is over.
    pub fn paid(&mut self, frame: Frame, cost: Cost) {
        self.occupancy.policy.paid(frame, cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Stream;
    use crate::models::cache::replacement::{ReplacementSpec, Setting};
    use proptest::prelude::*;

    fn cache(frames: u32, blocks: u32) -> BlockCache {
        let setting = Setting {
            capacity: frames,
            chance: Stream::new(0, "test"),
        };
        BlockCache::new(frames, blocks, ReplacementSpec::default().build(&setting))
    }

    fn piece(key: u64, first: u32, end: u32, lbn: u64) -> LinePiece {
        LinePiece {
            key,
            first,
            end,
            lbn,
        }
    }

    /// A line's access, and the keys of what leaves for it.
    fn access(cache: &mut BlockCache, key: u64) -> (Place, Vec<u64>) {
        let mut victims = Vec::new();
        let place = cache.access(key, false, &mut victims);
        let keys = victims.iter().map(|victim| victim.key).collect();
        victims.into_iter().for_each(|victim| cache.release(victim));
        (place, keys)
    }

    fn frame(place: Place) -> Frame {
        match place {
            Place::Held(frame) | Place::New(frame) => frame,
            Place::None => panic!("no frame could be freed"),
        }
    }

    #[test]
    fn a_run_is_divided_where_lines_meet() {
        let pieces: Vec<LinePiece> = cache(1, 8).pieces(6, 12).collect();
        let expected = [piece(0, 6, 8, 6), piece(1, 0, 8, 8), piece(2, 0, 2, 16)];
        assert_eq!(pieces, expected);
        let whole: Vec<LinePiece> = cache(1, 2048).pieces(2048, 2048).collect();
        assert_eq!(whole, [piece(1, 0, 2048, 2048)]);
    }

    #[test]
    fn a_pinned_frame_stays_and_without_another_there_is_no_place() {
        let mut cache = cache(2, 8);
        let one = frame(access(&mut cache, 1).0);
        cache.pin(one);
        assert!(matches!(access(&mut cache, 2), (Place::New(_), left) if left.is_empty()));
        // 1 is the least recently used, but pinned.
        assert!(matches!(access(&mut cache, 3), (Place::New(_), left) if left == [2]));
        let three = cache.find(3).expect("it is there");
        cache.pin(three);
        assert_eq!(access(&mut cache, 4), (Place::None, Vec::new()));
        assert!(cache.has_pinned(31, 1) && cache.has_pinned(0, 9) && !cache.has_pinned(0, 8));
        cache.unpin_all(&[Some(one), None]);
        assert!(matches!(access(&mut cache, 4), (Place::New(_), left) if left == [1]));
    }

    #[test]
    fn what_leaves_has_what_it_had_and_can_come_back() {
        let mut cache = cache(1, 8);
        let five = frame(access(&mut cache, 5).0);
        cache.put(five, &piece(5, 1, 3, 41), true);
        cache.put(five, &piece(5, 3, 4, 43), false);
        cache.put(five, &piece(5, 1, 2, 41), false);
        assert_eq!((cache.dirty_lines(), cache.dirty_blocks()), (1, 1));
        assert_eq!(cache.next_dirty(0, 9), Some((42, 1)));
        let mut victims = Vec::new();
        let Place::New(six) = cache.access(6, false, &mut victims) else {
            panic!("6 is new")
        };
        assert_eq!(cache.line(six), Line::EMPTY);
        assert_eq!((cache.dirty_lines(), cache.dirty_blocks()), (0, 0));
        let [five] = &victims[..] else {
            panic!("5 had to leave")
        };
        let runs = |which| cache.runs(five.line, which, cache.whole(5));
        assert_eq!(runs(BlockState::Valid).collect::<Vec<_>>(), [(41, 3)]);
        assert_eq!(runs(BlockState::Dirty).collect::<Vec<_>>(), [(42, 1)]);
        let five = victims.pop().expect("5");
        let Place::New(frame) = cache.access(5, false, &mut victims) else {
            panic!("5 is new again")
        };
        cache.put_back(frame, five);
        assert_eq!(cache.next_dirty(0, 9), Some((42, 1)));
        assert_eq!(cache.missing(&cache.whole(5), Some(frame)), Some((40, 8)));
        assert_eq!(cache.oldest_dirty().collect::<Vec<_>>(), [5]);
        victims.into_iter().for_each(|victim| cache.release(victim));
    }

    #[test]
    fn a_trim_of_more_lines_than_are_held_takes_no_longer() {
        let mut cache = cache(4, 2048);
        for key in [1, 700_000, 3] {
            let frame = frame(access(&mut cache, key).0);
            cache.put(frame, &cache.whole(key), key == 3);
        }
        let mut gone = Vec::new();
        let trimmed = cache.trim(2049, u32::MAX, |lbn, blocks| gone.push((lbn, blocks)));
        assert_eq!(
            gone,
            [(2049, 2047), (3 * 2048, 2048), (700_000 * 2048, 2048)]
        );
        assert_eq!(
            trimmed,
            Trimmed {
                blocks: 6143,
                dirty: 2048
            }
        );
        assert_eq!((cache.held(), cache.dirty_lines()), (1, 0));
    }

    /// What happens to a cache: an access, blocks put, cleaned or trimmed, by a first block and how many.
    type Happening = (u8, u64, u32);

    proptest! {
        #[test]
        fn pieces_cover_a_run_once(lbn in 0u64..10_000, blocks in 1u32..5_000, per_line in 1u32..=2048) {
            let mut next = lbn;
            for piece in cache(1, per_line).pieces(lbn, blocks) {
                prop_assert_eq!(piece.lbn, next);
                prop_assert!(piece.first < piece.end && piece.end <= per_line);
                prop_assert_eq!(piece.key * u64::from(per_line) + u64::from(piece.first), piece.lbn);
                next += u64::from(piece.blocks());
            }
            prop_assert_eq!(next, lbn + u64::from(blocks));
        }

        /// The orders of dirty lines, their runs and trims, against a scan of all blocks.
        #[test]
        fn dirty_blocks_are_found_as_by_a_scan(
            happenings in prop::collection::vec((0u8..10, 0u64..400, 1u32..90), 1..150),
            per_line in prop::sample::select(vec![1u32, 3, 8, 64, 70]),
            most in 1u32..100,
        ) {
            let mut cache = cache(12, per_line);
            let line = u64::from(per_line);
            // By block: none, clean or dirty; by age the lines that are dirty.
            let mut model: Vec<Option<bool>> = vec![None; 1_000];
            let mut ages: Vec<u64> = Vec::new();
            for (what, lbn, blocks) in happenings as Vec<Happening> {
                let range = lbn as usize..lbn as usize + blocks as usize;
                match what {
                    0..=5 => {
                        let piece = cache.pieces(lbn, blocks).next().expect("a block at least");
                        let (place, left) = access(&mut cache, piece.key);
                        for key in left {
                            model[(key * line) as usize..][..per_line as usize].fill(None);
                        }
                        let frame = frame(place);
                        if what == 5 {
                            cache.forget(frame, &piece);
                            model[piece.lbn as usize..][..piece.blocks() as usize].fill(None);
                        } else {
                            cache.put(frame, &piece, what < 3);
                            model[piece.lbn as usize..][..piece.blocks() as usize].fill(Some(what < 3));
                        }
                    }
                    6 | 7 => {
                        cache.clean(lbn, blocks);
                        model[range].iter_mut().flatten().for_each(|dirty| *dirty = false);
                    }
                    _ => {
                        let mut gone = vec![false; 1_000];
                        let trimmed = cache.trim(lbn, blocks, |lbn, blocks| gone[lbn as usize..][..blocks as usize].fill(true));
                        let was = &model[range.clone()];
                        prop_assert_eq!(trimmed.blocks, was.iter().flatten().count() as u64);
                        prop_assert_eq!(trimmed.dirty, was.iter().flatten().filter(|dirty| **dirty).count() as u64);
                        for (at, gone) in gone.into_iter().enumerate() {
                            prop_assert_eq!(gone, range.contains(&at) && model[at].is_some());
                        }
                        for piece in cache.pieces(lbn, blocks) {
                            let has_blocks = cache.find(piece.key).is_none_or(|frame| cache.line(frame) != Line::EMPTY);
                            prop_assert!(has_blocks, "line {} is empty", piece.key);
                        }
                        model[range].fill(None);
                    }
                }
                let is_dirty = |key: u64| {
                    let blocks = model.iter().skip((key * line) as usize).take(per_line as usize);
                    blocks.flatten().any(|dirty| *dirty)
                };
                ages.retain(|&key| is_dirty(key));
                let new: Vec<u64> = (0..1_000 / line).filter(|&key| is_dirty(key) && !ages.contains(&key)).collect();
                prop_assert!(new.len() <= 1);
                ages.extend(new);
                prop_assert_eq!(cache.oldest_dirty().collect::<Vec<_>>(), ages.clone());
                prop_assert_eq!(cache.dirty_lines(), ages.len());
                let dirty = |at: usize| model.get(at).is_some_and(|block| *block == Some(true));
                prop_assert_eq!(cache.dirty_blocks(), (0..1_000).filter(|&at| dirty(at)).count() as u64);
                for from in [0, lbn, lbn + u64::from(blocks), 999] {
                    let first = (from as usize..1_000).find(|&at| dirty(at));
                    let run = first.map(|first| {
                        let blocks = (first..).take_while(|&at| dirty(at)).take(most as usize).count();
                        (first as u64, blocks as u32)
                    });
                    prop_assert_eq!(cache.next_dirty(from, most), run);
                }
            }
        }
    }
}
