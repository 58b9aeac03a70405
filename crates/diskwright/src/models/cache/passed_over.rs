//! Frames of lists that a search has passed over because they were held, so that the next one need not look at them again.

use std::collections::BTreeSet;

use super::Frame;
use super::per_frame::PerFrame;

/// Which frames of which lists were passed over. Those of a list are the ones from its back up to some frame, and are numbered in this order.
#[derive(Clone, Debug)]
pub(super) struct PassedOver {
    /// The number of each frame; 0 of those that were not passed over.
    numbers: PerFrame<i64>,
    last: i64,
    first: i64,
    lists: u32,
    /// Those that may be free again: list, number and frame.
    released: BTreeSet<(u32, i64, u32)>,
}

impl PassedOver {
    pub(super) fn new() -> PassedOver {
        PassedOver {
            numbers: PerFrame::new(0),
            last: 0,
            first: 0,
            lists: 0,
            released: BTreeSet::new(),
        }
    }

    /// Whether a frame was passed over.
    #[inline]
    pub(super) fn has(&self, frame: Frame) -> bool {
        self.numbers[frame.index()] != 0
    }

    /// A name for a list, above 0.
    pub(super) fn name_list(&mut self) -> u32 {
        self.lists += 1;
        self.lists
    }

    /// A frame of a list, before all that were passed over, is passed over.
    pub(super) fn pass(&mut self, frame: Frame) {
        self.last += 1;
        self.numbers[frame.index()] = self.last;
    }

    /// A frame has come behind all that were passed over.
    pub(super) fn put_behind(&mut self, list: u32, frame: Frame) {
        self.first -= 1;
        self.numbers[frame.index()] = self.first;
        self.released.insert((list, self.first, frame.0));
    }

    /// A frame is no longer held.
    #[inline]
    pub(super) fn release(&mut self, list: u32, frame: Frame) {
        let number = self.numbers[frame.index()];
        if number != 0 {
            self.released.insert((list, number, frame.0));
        }
    }

    /// A frame that was passed over leaves its list.
    pub(super) fn forget(&mut self, list: u32, frame: Frame) {
        let number = std::mem::take(&mut self.numbers[frame.index()]);
        self.released.remove(&(list, number, frame.0));
    }

    /// The one nearest to the back of those of a list that have been released and are not held again.
    pub(super) fn first_released(
        &mut self,
        list: u32,
        is_held: impl Fn(Frame) -> bool,
    ) -> Option<Frame> {
        while let Some(&entry) = self.released.range((list, i64::MIN, 0)..).next()
            && entry.0 == list
        {
            if !is_held(Frame(entry.2)) {
                return Some(Frame(entry.2));
            }
            self.released.remove(&entry);
        }
        None
    }
}
