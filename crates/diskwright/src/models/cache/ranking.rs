//! The frames of a cache by what their blocks are worth.

use super::per_frame::PerFrame;
use super::{Frame, Pins};

const ABSENT: u32 = u32::MAX;
/// Children of a node: four are a cache line and a half, and make the heap half as high as two.
const CHILDREN: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    worth: u64,
    /// When it was touched: of equal worth the first one leaves first.
    touch: u64,
    frame: u32,
}

/// A heap of frames, the one that is worth least on top; of those worth the same, the one touched least recently.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    heap: Vec<Entry>,
    places: PerFrame<u32>,
    touches: u64,
    /// Frames that were pinned when they were on top, until a pin is taken back. The place of the first is the
    /// last that a frame can have, [`ABSENT`] apart, that of the second the one before it, and so on.
    aside: Vec<Entry>,
    /// Pins taken back when those aside were last looked at.
    releases: u64,
}

impl Ranking {
    /// No frame is in it.
    pub(super) fn new() -> Ranking {
        Ranking {
            heap: Vec::new(),
            places: PerFrame::new(ABSENT),
            touches: 0,
            aside: Vec::new(),
            releases: 0,
        }
    }

    /// Gives a frame a worth, and notes that it is the one touched last.
    #[inline]
    pub(super) fn touch(&mut self, frame: Frame, worth: u64) {
        self.touches += 1;
        let entry = Entry {
            worth,
            touch: self.touches,
            frame: frame.0,
        };
        match self.places[frame.index()] {
            ABSENT => self.push(entry),
            place => self.replace(place, entry),
        }
    }

    /// Gives a frame that is in it another worth, with its last touch as it is.
    #[inline]
    pub(super) fn change(&mut self, frame: Frame, worth: u64) {
        let place = self.places[frame.index()];
        if place != ABSENT {
            let entry = Entry {
                worth,
                ..*self.at(place)
            };
            self.replace(place, entry);
        }
    }

    /// What a frame that is in it is worth.
    #[inline]
    pub(super) fn worth(&self, frame: Frame) -> Option<u64> {
        let place = self.places[frame.index()];
        (place != ABSENT).then(|| self.at(place).worth)
    }

    /// Takes a frame out.
    pub(super) fn remove(&mut self, frame: Frame) {
        let place = self.places[frame.index()];
        if place != ABSENT {
            match self.index_aside(place) {
                Some(index) => self.take_aside(index),
                None => self.take(place as usize),
            };
        }
    }

    /// Takes out the frame worth least of those that are not pinned; with its worth. The pins are the same each time.
    #[inline]
    pub(super) fn take_least(&mut self, pins: &Pins) -> Option<(Frame, u64)> {
        if self.releases != pins.releases() {
            self.releases = pins.releases();
            self.bring_back(pins);
        }
        while !self.heap.is_empty() {
            let entry = self.take(0);
            let frame = Frame(entry.frame);
            if !pins.holds(frame) {
                return Some((frame, entry.worth));
            }
            self.put_aside(entry);
        }
        None
    }

    /// Puts those back that are aside and no longer pinned.
    fn bring_back(&mut self, pins: &Pins) {
        for index in (0..self.aside.len()).rev() {
            if !pins.holds(Frame(self.aside[index].frame)) {
                let entry = self.take_aside(index);
                self.push(entry);
            }
        }
    }

    fn put_aside(&mut self, entry: Entry) {
        self.places[entry.frame as usize] = ABSENT - 1 - self.aside.len() as u32;
        self.aside.push(entry);
    }

    fn take_aside(&mut self, index: usize) -> Entry {
        let taken = self.aside.swap_remove(index);
        self.places[taken.frame as usize] = ABSENT;
        if let Some(moved) = self.aside.get(index) {
            self.places[moved.frame as usize] = ABSENT - 1 - index as u32;
        }
        taken
    }

    /// Where a place is among those aside; `None` for one in the heap. Both together have no more entries than there are
    /// frames, so that their places do not meet.
    #[inline]
    fn index_aside(&self, place: u32) -> Option<usize> {
        (place as usize >= self.heap.len()).then(|| (ABSENT - 1 - place) as usize)
    }

    /// The entry at a place.
    #[inline]
    fn at(&self, place: u32) -> &Entry {
        match self.index_aside(place) {
            Some(index) => &self.aside[index],
            None => &self.heap[place as usize],
        }
    }

    /// Puts an entry of the same frame into a place.
    #[inline]
    fn replace(&mut self, place: u32, entry: Entry) {
        match self.index_aside(place) {
            Some(index) => self.aside[index] = entry,
            None => self.sift(place as usize, entry),
        }
    }

    fn push(&mut self, entry: Entry) {
        self.heap.push(entry);
        self.sift_up(self.heap.len() - 1, entry);
    }

    fn take(&mut self, place: usize) -> Entry {
        let taken = self.heap[place];
        self.places[taken.frame as usize] = ABSENT;
        let last = self.heap.pop().expect("it holds the one taken");
        if place < self.heap.len() {
            self.sift(place, last);
        }
        taken
    }

    /// Puts an entry where it belongs, from a place that is free.
    fn sift(&mut self, place: usize, entry: Entry) {
        if place > 0 && entry < self.heap[(place - 1) / CHILDREN] {
            self.sift_up(place, entry);
        } else {
            self.sift_down(place, entry);
        }
    }

    fn sift_up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sift_down(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = place * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.heap.len());
            let least = children.min_by_key(|&child| self.heap[child]);
            match least {
                Some(child) if self.heap[child] < entry => {
                    self.put(place, self.heap[child]);
                    place = child;
                }
                _ => break,
            }
        }
        self.put(place, entry);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.frame as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agrees_with_a_sorted_list(operations in prop::collection::vec((0u32..20, 0u64..6, 0u8..9, any::<u32>()), 1..300)) {
            let mut ranking = Ranking::new();
            let mut pins = Pins::new();
            let mut model: BTreeMap<u32, (u64, usize)> = BTreeMap::new();
            for (now, (frame, worth, what, pinned)) in operations.into_iter().enumerate() {
                match what {
                    0 | 1 => {
                        ranking.touch(Frame(frame), worth);
                        model.insert(frame, (worth, now));
                    }
                    2 => {
                        ranking.change(Frame(frame), worth);
                        model.entry(frame).and_modify(|entry| entry.0 = worth);
                    }
                    3 => {
                        ranking.remove(Frame(frame));
                        model.remove(&frame);
                    }
                    4 => {
                        // Up to all of them.
                        (0..20).filter(|bit| pinned >> bit & 1 == 1).for_each(|frame| pins.pin(Frame(frame)));
                    }
                    5 | 6 if pins.holds(Frame(frame)) => pins.unpin(Frame(frame)),
                    _ => {
                        let free = model.iter().filter(|(frame, _)| !pins.holds(Frame(**frame)));
                        let least = free.min_by_key(|(_, entry)| **entry).map(|(&frame, entry)| (Frame(frame), entry.0));
                        prop_assert_eq!(ranking.take_least(&pins), least);
                        least.map(|(frame, _)| model.remove(&frame.0));
                    }
                }
                for frame in 0..20 {
                    prop_assert_eq!(ranking.worth(Frame(frame)), model.get(&frame).map(|entry| entry.0));
                }
            }
        }
    }
}
