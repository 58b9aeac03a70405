//! What the lines of a cache have of their blocks: which are there, and which of those are newer than on the medium.

use super::bits;
use super::per_frame::PerFrame;
use super::{Frame, MOST_LINE_BLOCKS};

/// What a line has, in a word: nothing, everything clean, everything dirty, or the place of its masks. Good until it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line(u32);

impl Line {
    /// No block is there.
    pub const EMPTY: Line = Line(0);
    /// All are, as on the medium.
    const CLEAN: Line = Line(1);
    /// All are, newer than on the medium.
    const DIRTY: Line = Line(2);
    /// The first that has masks.
    const MASKED: u32 = 3;

    fn masked(place: u32) -> Line {
        Line(Line::MASKED + place)
    }

    fn place(self) -> Option<usize> {
        self.0.checked_sub(Line::MASKED).map(|place| place as usize)
    }
}

/// Of the blocks of a line, those that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// Those that are there.
    Valid,
    /// Those that are not.
    Missing,
    /// Those that are newer than on the medium.
    Dirty,
}

/// The lines of a cache by their frames. One that has everything or nothing takes a word; one of which some blocks are there, or some of
/// them dirty, has two masks, in a table beside the words.
pub(super) struct Lines {
    blocks: u32,
    /// Words of a mask.
    words: usize,
    states: PerFrame<Line>,
    /// Two masks for each place: valid, dirty.
    masks: Vec<u64>,
    free: Vec<u32>,
}

impl Lines {
    /// Empty lines of `blocks` blocks.
    pub(super) fn new(blocks: u32) -> Lines {
        assert!(
            (1..=MOST_LINE_BLOCKS).contains(&blocks),
            "a line has at most {MOST_LINE_BLOCKS} blocks"
        );
        Lines {
            blocks,
            words: blocks.div_ceil(u64::BITS) as usize,
            states: PerFrame::new(Line::EMPTY),
            masks: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Blocks of a line.
    pub(super) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// What a frame's line has.
    #[inline]
    pub(super) fn line(&self, frame: Frame) -> Line {
        self.states[frame.index()]
    }

    /// Takes a frame's line away, with what it has.
    #[inline]
    pub(super) fn take(&mut self, frame: Frame) -> Line {
        let line = self.line(frame);
        if line != Line::EMPTY {
            self.states[frame.index()] = Line::EMPTY;
        }
        line
    }

    /// Gives a line that was taken to a frame whose line is empty.
    pub(super) fn give(&mut self, frame: Frame, line: Line) {
        debug_assert_eq!(self.line(frame), Line::EMPTY, "{frame:?} has blocks");
        self.states[frame.index()] = line;
    }

    /// Lets go of a line that was taken.
    #[inline]
    pub(super) fn release(&mut self, line: Line) {
        if let Some(place) = line.place() {
            self.free.push(place as u32);
        }
    }

    fn masks(&self, place: usize) -> (&[u64], &[u64]) {
        self.masks[2 * place * self.words..][..2 * self.words].split_at(self.words)
    }

    fn masks_mut(&mut self, place: usize) -> (&mut [u64], &mut [u64]) {
        self.masks[2 * place * self.words..][..2 * self.words].split_at_mut(self.words)
    }

    /// How many blocks of a line are dirty.
    #[inline]
    pub(super) fn dirty_blocks(&self, line: Line) -> u32 {
        match line.place() {
            Some(place) => bits::count(self.masks(place).1),
            None if line == Line::DIRTY => self.blocks,
            None => 0,
        }
    }

    /// The first run of such blocks of a line from `first` to below `end`: where it begins and where it ends.
    #[inline]
    pub(super) fn next_run(
        &self,
        line: Line,
        which: BlockState,
        first: u32,
        end: u32,
    ) -> Option<(u32, u32)> {
        if first >= end {
            return None;
        }
        let Some(place) = line.place() else {
            let has = match which {
                BlockState::Valid => line != Line::EMPTY,
                BlockState::Missing => line == Line::EMPTY,
                BlockState::Dirty => line == Line::DIRTY,
            };
            return has.then_some((first, end));
        };
        let (valid, dirty) = self.masks(place);
        match which {
            BlockState::Valid => bits::next_run(valid, true, first, end),
            BlockState::Missing => bits::next_run(valid, false, first, end),
            BlockState::Dirty => bits::next_run(dirty, true, first, end),
        }
    }

    /// All such runs.
    pub(super) fn runs(
        &self,
        line: Line,
        which: BlockState,
        first: u32,
        end: u32,
    ) -> impl Iterator<Item = (u32, u32)> + use<'_> {
        let mut from = first;
        std::iter::from_fn(move || {
            let run = self.next_run(line, which, from, end)?;
            from = run.1;
            Some(run)
        })
    }

    /// The first block from `first` to below `end` that is not there, and the end of the last.
    #[inline]
    pub(super) fn missing(&self, line: Line, first: u32, end: u32) -> Option<(u32, u32)> {
        let (from, _) = self.next_run(line, BlockState::Missing, first, end)?;
        let last = match line.place() {
            Some(place) => bits::last_clear(self.masks(place).0, from, end),
            None => Some(end - 1),
        };
        Some((from, last.expect("one is missing at least") + 1))
    }

    /// Blocks of a frame are there; with `dirty` they are newer than on the medium, else they are not.
    #[inline]
    pub(super) fn put(&mut self, frame: Frame, first: u32, end: u32, dirty: bool) {
        let whole = if dirty { Line::DIRTY } else { Line::CLEAN };
        let line = self.line(frame);
        if line == whole {
            return;
        }
        if end - first == self.blocks {
            self.release(line);
            self.states[frame.index()] = whole;
            return;
        }
        self.change(frame, |valid, of_dirty| {
            bits::set(valid, first, end);
            if dirty {
                bits::set(of_dirty, first, end);
            } else {
                bits::clear(of_dirty, first, end);
            }
        });
    }

    /// Blocks of a frame are as on the medium, as far as they are there.
    pub(super) fn clean(&mut self, frame: Frame, first: u32, end: u32) {
        let line = self.line(frame);
        if line == Line::DIRTY && end - first == self.blocks {
            self.states[frame.index()] = Line::CLEAN;
        } else if line != Line::CLEAN && line != Line::EMPTY {
            self.change(frame, |_, dirty| bits::clear(dirty, first, end));
        }
    }

    /// Blocks of a frame are not there.
    pub(super) fn forget(&mut self, frame: Frame, first: u32, end: u32) {
        let line = self.line(frame);
        if end - first == self.blocks {
            self.release(line);
            self.states[frame.index()] = Line::EMPTY;
        } else if line != Line::EMPTY {
            self.change(frame, |valid, dirty| {
                bits::clear(valid, first, end);
                bits::clear(dirty, first, end);
            });
        }
    }

    /// Changes the masks of a line, which it gets for that, and keeps only if it needs them.
    fn change(&mut self, frame: Frame, change: impl FnOnce(&mut [u64], &mut [u64])) {
        let line = self.line(frame);
        let place = line.place().unwrap_or_else(|| self.expand(line));
        let blocks = self.blocks;
        let (valid, dirty) = self.masks_mut(place);
        change(valid, dirty);
        let now = match (bits::count(valid), bits::count(dirty)) {
            (0, _) => Line::EMPTY,
            (valid, 0) if valid == blocks => Line::CLEAN,
            (_, dirty) if dirty == blocks => Line::DIRTY,
            _ => Line::masked(place as u32),
        };
        if now.place().is_none() {
            self.free.push(place as u32);
        }
        self.states[frame.index()] = now;
    }

    /// A place whose masks are those of a line without.
    fn expand(&mut self, line: Line) -> usize {
        let place = self.free.pop().unwrap_or_else(|| {
            let place = self.masks.len() / (2 * self.words);
            super::per_frame::make_room(&mut self.masks, 2 * self.words);
            self.masks.resize(self.masks.len() + 2 * self.words, 0);
            place as u32
        });
        let blocks = self.blocks;
        let (valid, dirty) = self.masks_mut(place as usize);
        valid.fill(0);
        dirty.fill(0);
        if line != Line::EMPTY {
            bits::set(valid, 0, blocks);
        }
        if line == Line::DIRTY {
            bits::set(dirty, 0, blocks);
        }
        place as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against two truths a block, and no more masks than lines that need them.
        #[test]
        fn agree_with_truths_by_block(
            blocks in prop::sample::select(vec![1u32, 2, 8, 63, 64, 65, 100, 2048]),
            changes in prop::collection::vec((0u32..3, 0u8..7, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..60),
        ) {
            let mut lines = Lines::new(blocks);
            let mut model = vec![vec![(false, false); blocks as usize]; 3];
            for (frame, what, first, length) in changes {
                let first = first.index(blocks as usize);
                let end = first + 1 + length.index(blocks as usize - first);
                let (first, end) = if what == 6 { (0, blocks as usize) } else { (first, end) };
                let (at, range) = (Frame(frame), first as u32..end as u32);
                let truths = &mut model[frame as usize][first..end];
                match what {
                    0 | 1 => {
                        lines.put(at, range.start, range.end, what == 1);
                        truths.fill((true, what == 1));
                    }
                    2 => {
                        lines.forget(at, range.start, range.end);
                        truths.fill((false, false));
                    }
                    3 => {
                        lines.clean(at, range.start, range.end);
                        truths.iter_mut().for_each(|truth| truth.1 = false);
                    }
                    4 => {
                        let line = lines.take(at);
                        let other = Frame((frame + 1) % 3);
                        let before = lines.take(other);
                        lines.release(before);
                        lines.give(other, line);
                        model[other.index()] = std::mem::replace(&mut model[frame as usize], vec![(false, false); blocks as usize]);
                    }
                    _ => {
                        lines.put(at, range.start, range.end, true);
                        truths.fill((true, true));
                    }
                }
                let mut masked = 0;
                for (frame, truths) in model.iter().enumerate() {
                    let line = lines.line(Frame(frame as u32));
                    let dirty = truths.iter().filter(|truth| truth.1).count();
                    let valid = truths.iter().filter(|truth| truth.0).count();
                    prop_assert_eq!(lines.dirty_blocks(line), dirty as u32);
                    let is_plain = dirty == blocks as usize || dirty == 0 && (valid == 0 || valid == blocks as usize);
                    masked += usize::from(!is_plain);
                    let missing = truths.iter().position(|truth| !truth.0).map(|from| {
                        (from as u32, 1 + truths.iter().rposition(|truth| !truth.0).expect("one") as u32)
                    });
                    prop_assert_eq!(lines.missing(line, 0, blocks), missing);
                    for which in [BlockState::Valid, BlockState::Missing, BlockState::Dirty] {
                        let mut rebuilt = vec![false; blocks as usize];
                        for (from, end) in lines.runs(line, which, 0, blocks) {
                            rebuilt[from as usize..end as usize].fill(true);
                        }
                        let expected: Vec<bool> = truths.iter().map(|&(valid, dirty)| match which {
                            BlockState::Valid => valid,
                            BlockState::Missing => !valid,
                            BlockState::Dirty => dirty,
                        }).collect();
                        prop_assert_eq!(rebuilt, expected);
                    }
                }
                prop_assert_eq!(lines.masks.len() / (2 * lines.words) - lines.free.len(), masked);
            }
        }
    }
}
