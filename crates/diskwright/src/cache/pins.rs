//! Frames that may not be freed: their blocks are on the way from or to a medium, or a parent holds them.

use super::Frame;

/// The pinned frames of a cache; a frame may be pinned several times.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    counts: Box<[u32]>,
    pinned: usize,
    /// How often a frame was let go by its last pin.
    releases: u64,
}

impl Pins {
    /// None of `capacity` frames.
    pub fn new(capacity: u32) -> Pins {
        Pins {
            counts: vec![0; capacity as usize].into(),
            pinned: 0,
            releases: 0,
        }
    }

    /// Pins a frame once more.
    pub fn pin(&mut self, frame: Frame) {
        let count = &mut self.counts[frame.index()];
        self.pinned += usize::from(*count == 0);
        *count += 1;
    }

    /// Takes one pin back.
    ///
    /// # Panics
    /// Where the frame is not pinned.
    pub fn unpin(&mut self, frame: Frame) {
        let count = &mut self.counts[frame.index()];
        *count = count
            .checked_sub(1)
            .expect("a frame is unpinned as often as it was pinned");
        self.pinned -= usize::from(*count == 0);
        self.releases += u64::from(*count == 0);
    }

    /// How often a frame has lost its last pin: as long as it is the same, what was pinned still is.
    #[inline]
    pub fn releases(&self) -> u64 {
        self.releases
    }

    /// Whether a frame is pinned.
    #[inline]
    pub fn holds(&self, frame: Frame) -> bool {
        self.pinned > 0 && self.counts[frame.index()] > 0
    }

    /// How many frames are pinned.
    #[inline]
    pub fn len(&self) -> usize {
        self.pinned
    }

    /// Whether no frame is pinned.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pinned == 0
    }
}
