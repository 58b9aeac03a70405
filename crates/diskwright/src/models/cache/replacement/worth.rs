//! Recency with a bonus: what blocks are worth to the access-time-aware policies.

use super::{Frame, PerFrame, Pins, Ranking};

/// Worths are in 2⁻¹⁶ of an access: finer than any bonus that matters, and 2⁴⁸ accesses can be counted.
const SHIFT: u32 = 16;

/// A number of accesses as a worth: to the nearest unit, and never more than can be counted.
#[inline]
pub(super) fn accesses(number: f64) -> u64 {
    libm::round(number * f64::from(1u32 << SHIFT)) as u64
}

/// The blocks by the number of their last access, counted over all blocks, and a bonus.
pub(super) struct Worths {
    /// Accesses so far, hits and misses.
    now: u64,
    last: PerFrame<u64>,
    ranking: Ranking,
}

impl Worths {
    pub(super) fn new() -> Worths {
        Worths {
            now: 0,
            last: PerFrame::new(0),
            ranking: Ranking::new(),
        }
    }
    /// Counts an access to a block.
    #[inline]
    pub(super) fn access(&mut self) {
        self.now += 1;
    }
    /// The block in `frame` is the one accessed.
    #[inline]
    pub(super) fn touch(&mut self, frame: Frame, bonus: u64) {
        self.last[frame.index()] = self.now;
        self.ranking.touch(frame, worth(self.now, bonus));
    }
    /// Gives a block another bonus; where it has left, nothing happens.
    #[inline]
    pub(super) fn change(&mut self, frame: Frame, bonus: u64) {
        let last = self.last[frame.index()];
        self.ranking.change(frame, worth(last, bonus));
    }
    pub(super) fn evict(&mut self, pins: &Pins) -> Option<Frame> {
        self.ranking.take_least(pins).map(|(frame, _)| frame)
    }
    pub(super) fn release(&mut self, frame: Frame) {
        self.ranking.release(frame);
    }
    pub(super) fn remove(&mut self, frame: Frame) {
        self.ranking.remove(frame);
    }
}

fn worth(last: u64, bonus: u64) -> u64 {
    (last << SHIFT).saturating_add(bonus)
}
