//! A cache of a device's blocks: frames of several blocks each, of which some are valid and some of those dirty.

use super::per_frame::PerFrame;
use super::replacement::{Access, Cost, Replacement};
use super::{Directory, Frame, Pins};

/// The most blocks of a frame: as many as a word has bits.
pub const MOST_BLOCKS: u32 = u64::BITS;

/// What a frame has of its blocks, one bit for each, the first block in the lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// Blocks that are there.
    pub valid: u64,
    /// Those of them that are newer than on the medium.
    pub dirty: u64,
}

/// What has left a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Victim {
    /// The key of the frame that it was.
    pub key: u64,
    /// What the frame had.
    pub contents: Contents,
}

/// Where an access finds its frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It was there.
    Held(Frame),
    /// It was not and is now, without contents; what had to leave for it.
    New(Frame, Option<Victim>),
    /// It is not, and no frame can be freed: all are pinned.
    None,
}

/// A piece of a run of blocks that lies in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which frame-sized run of the device it is in.
    pub key: u64,
    /// Its blocks.
    pub mask: u64,
    /// Its first block.
    pub lbn: u64,
    /// How many.
    pub blocks: u32,
}

/// Counts of accesses to frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// All accesses.
    pub accesses: u64,
    /// Those to frames that were held.
    pub hits: u64,
    /// Frames that got a block.
    pub insertions: u64,
    /// Frames that had to be freed for that.
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

/// The cache: which blocks it has, and the policy that says which leave.
pub struct BlockCache {
    directory: Directory,
    policy: Box<dyn Replacement>,
    pins: Pins,
    per_frame: u32,
    contents: PerFrame<Contents>,
    dirty_frames: u32,
    counts: Counts,
}

impl BlockCache {
    /// An empty cache of `frames` frames of `per_frame` blocks, at most [`MOST_BLOCKS`]; `policy` was built for as many.
    pub fn new(frames: u32, per_frame: u32, policy: Box<dyn Replacement>) -> BlockCache {
        assert!(
            (1..=MOST_BLOCKS).contains(&per_frame),
            "a frame has at most {MOST_BLOCKS} blocks"
        );
        BlockCache {
            directory: Directory::new(frames),
            policy,
            pins: Pins::new(),
            per_frame,
            contents: PerFrame::new(Contents::default()),
            dirty_frames: 0,
            counts: Counts::default(),
        }
    }

    /// Frames.
    pub fn frames(&self) -> u32 {
        self.directory.capacity()
    }

    /// Blocks of a frame.
    pub fn blocks_per_frame(&self) -> u32 {
        self.per_frame
    }

    /// What it has counted.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Divides a run of blocks by frames.
    pub fn pieces(&self, lbn: u64, blocks: u32) -> impl Iterator<Item = Piece> + use<> {
        let per_frame = u64::from(self.per_frame);
        let end = lbn + u64::from(blocks);
        std::iter::successors(Some(lbn), move |&at| Some((at / per_frame + 1) * per_frame))
            .take_while(move |&at| at < end)
            .map(move |at| {
                let key = at / per_frame;
                let first = at - key * per_frame;
                let blocks = (end - at).min(per_frame - first) as u32;
                Piece {
                    key,
                    mask: ones(blocks) << first,
                    lbn: at,
                    blocks,
                }
            })
    }

    /// All blocks of a frame-sized run.
    pub fn whole(&self, key: u64) -> Piece {
        Piece {
            key,
            mask: ones(self.per_frame),
            lbn: key * u64::from(self.per_frame),
            blocks: self.per_frame,
        }
    }

    /// The frame of a block's key, if it is held.
    #[inline]
    pub fn find(&self, key: u64) -> Option<Frame> {
        self.directory.find(key)
    }

    /// What a frame has.
    #[inline]
    pub fn contents(&self, frame: Frame) -> Contents {
        self.contents[frame.index()]
    }

    /// Accesses a frame-sized run of blocks, which gets a frame if it has none and one can be freed.
    pub fn access(&mut self, key: u64, write: bool) -> Place {
        let access = Access {
            key,
            write,
            next: u64::MAX,
        };
        self.counts.accesses += 1;
        if let Some(frame) = self.directory.find(key) {
            self.counts.hits += 1;
            self.policy.hit(frame, &access);
            return Place::Held(frame);
        }
        self.policy.miss(&access);
        let mut victim = None;
        if self.directory.is_full() {
            let Some(frame) = self.policy.evict(&self.pins) else {
                return Place::None;
            };
            self.counts.evictions += 1;
            let key = self.directory.remove(frame);
            let contents = std::mem::take(&mut self.contents[frame.index()]);
            self.dirty_frames -= u32::from(contents.dirty != 0);
            victim = Some(Victim { key, contents });
        }
        let frame = self.directory.insert(key);
        self.policy.insert(frame, &access);
        self.counts.insertions += 1;
        Place::New(frame, victim)
    }

    /// Blocks of a frame are there, newer than on the medium or not; `dirty` says which.
    pub fn put(&mut self, frame: Frame, mask: u64, dirty: bool) {
        let contents = &mut self.contents[frame.index()];
        let was_dirty = contents.dirty != 0;
        contents.valid |= mask;
        contents.dirty = if dirty {
            contents.dirty | mask
        } else {
            contents.dirty & !mask
        };
        let is_dirty = contents.dirty != 0;
        self.dirty_frames += u32::from(is_dirty);
        self.dirty_frames -= u32::from(was_dirty);
    }

    /// Blocks of a frame are no longer good.
    pub fn forget(&mut self, frame: Frame, mask: u64) {
        self.put(frame, mask, false);
        self.contents[frame.index()].valid &= !mask;
    }

    /// The frames with dirty blocks, by their keys, each with the mask of these.
    pub fn dirty(&self) -> Vec<(u64, Frame, u64)> {
        if self.dirty_frames == 0 {
            return Vec::new();
        }
        let frames = (0..).map(Frame).zip(self.contents.written());
        let dirty = frames.filter(|(_, contents)| contents.dirty != 0);
        let mut dirty: Vec<_> = dirty
            .map(|(frame, contents)| (self.directory.key(frame), frame, contents.dirty))
            .collect();
        dirty.sort_unstable();
        dirty
    }

    /// How many blocks are dirty.
    pub fn dirty_blocks(&self) -> u64 {
        let ones = |contents: &Contents| u64::from(contents.dirty.count_ones());
        self.contents.written().iter().map(ones).sum()
    }

    /// Keeps a frame from being freed.
    pub fn pin(&mut self, frame: Frame) {
        self.pins.pin(frame);
    }

    /// Takes one pin back of each.
    pub fn unpin_all(&mut self, frames: &[Option<Frame>]) {
        for &frame in frames.iter().flatten() {
            self.pins.unpin(frame);
        }
    }

    /// The access to the medium that brought a frame's blocks, or wrote them, is over.
    pub fn paid(&mut self, frame: Frame, cost: Cost) {
        self.policy.paid(frame, cost);
    }
}

/// So many ones from the lowest bit on.
fn ones(count: u32) -> u64 {
    u64::MAX >> (u64::BITS - count)
}

/// The runs of blocks that a mask of a frame-sized run has: the first block of each and how many.
pub fn runs(key: u64, mut mask: u64, per_frame: u32) -> impl Iterator<Item = (u64, u32)> {
    let origin = key * u64::from(per_frame);
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let first = mask.trailing_zeros();
        let count = (mask >> first).trailing_ones();
        mask &= !(ones(count) << first);
        Some((origin + u64::from(first), count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Stream;
    use crate::models::cache::replacement::{ReplacementSpec, Setting};
    use proptest::prelude::*;

    fn cache(frames: u32, per_frame: u32) -> BlockCache {
        let setting = Setting {
            capacity: frames,
            chance: Stream::new(0, "test"),
        };
        BlockCache::new(
            frames,
            per_frame,
            ReplacementSpec::default().build(&setting),
        )
    }

    #[test]
    fn a_run_is_divided_where_frames_meet() {
        let pieces: Vec<Piece> = cache(1, 8).pieces(6, 12).collect();
        let piece = |key, mask, lbn, blocks| Piece {
            key,
            mask,
            lbn,
            blocks,
        };
        let expected = [
            piece(0, 0b1100_0000, 6, 2),
            piece(1, 0xFF, 8, 8),
            piece(2, 0b11, 16, 2),
        ];
        assert_eq!(pieces, expected);
        let whole: Vec<Piece> = cache(1, 64).pieces(64, 64).collect();
        assert_eq!(whole, [piece(1, u64::MAX, 64, 64)]);
    }

    #[test]
    fn a_pinned_frame_stays_and_without_another_there_is_no_place() {
        let mut cache = cache(2, 8);
        let Place::New(one, None) = cache.access(1, false) else {
            panic!("an empty cache has a place")
        };
        cache.pin(one);
        assert!(matches!(cache.access(2, false), Place::New(_, None)));
        // 1 is the least recently used, but pinned.
        assert!(matches!(cache.access(3, false), Place::New(_, Some(victim)) if victim.key == 2));
        let three = cache.find(3).expect("it is there");
        cache.pin(three);
        assert_eq!(cache.access(4, false), Place::None);
        cache.unpin_all(&[Some(one), None]);
        assert!(matches!(cache.access(4, false), Place::New(_, Some(victim)) if victim.key == 1));
    }

    #[test]
    fn what_leaves_says_what_of_it_is_dirty() {
        let mut cache = cache(1, 8);
        let Place::New(frame, None) = cache.access(5, true) else {
            panic!("an empty cache has a place")
        };
        cache.put(frame, 0b0110, true);
        cache.put(frame, 0b1000, false);
        cache.put(frame, 0b0010, false);
        assert_eq!(cache.dirty(), [(5, frame, 0b0100)]);
        assert_eq!(cache.dirty_blocks(), 1);
        let contents = Contents {
            valid: 0b1110,
            dirty: 0b0100,
        };
        let place = cache.access(6, false);
        assert_eq!(place, Place::New(frame, Some(Victim { key: 5, contents })));
        assert_eq!(cache.contents(frame), Contents::default());
        assert_eq!(cache.dirty(), []);
    }

    proptest! {
        #[test]
        fn runs_are_the_bits_of_a_mask(mask in any::<u64>()) {
            let mut rebuilt = 0u64;
            let mut last = None;
            for (lbn, count) in runs(3, mask, 64) {
                let first = lbn - 3 * 64;
                prop_assert!(count > 0 && last.is_none_or(|end| first > end));
                rebuilt |= ones(count) << first;
                last = Some(first + u64::from(count));
            }
            prop_assert_eq!(rebuilt, mask);
        }

        #[test]
        fn pieces_cover_a_run_once(lbn in 0u64..10_000, blocks in 1u32..500, per_frame in 1u32..=64) {
            let mut next = lbn;
            for piece in cache(1, per_frame).pieces(lbn, blocks) {
                prop_assert_eq!(piece.lbn, next);
                prop_assert_eq!(piece.mask.count_ones(), piece.blocks);
                prop_assert_eq!(piece.key * u64::from(per_frame) + u64::from(piece.mask.trailing_zeros()), piece.lbn);
                next += u64::from(piece.blocks);
            }
            prop_assert_eq!(next, lbn + u64::from(blocks));
        }
    }
}
