//! The frames of a cache by what their blocks are worth.

use super::per_frame::PerFrame;
use super::{Frame, Pins};

/// The place of a frame that is in no heap; no heap has as many entries ([`MOST_FRAMES`](super::MOST_FRAMES)).
const ABSENT: u32 = u32::MAX;
/// Marks the places in the heap of those that are held.
const HELD: u32 = 1 << 31;
/// Children of a node: four are a cache line and a half, and make the heap half as high as two.
const CHILDREN: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    worth: u64,
    /// When it was touched: of equal worth the first one leaves first.
    touch: u64,
    frame: u32,
}

/// Entries with the least on top. Each frame's place is noted, with what marks the heap that it is in.
#[derive(Clone, Debug)]
struct Heap {
    entries: Vec<Entry>,
    mark: u32,
}

impl Heap {
    fn new(mark: u32) -> Heap {
        Heap {
            entries: Vec::new(),
            mark,
        }
    }

    fn push(&mut self, entry: Entry, places: &mut PerFrame<u32>) {
        self.entries.push(entry);
        self.sift_up(self.entries.len() - 1, entry, places);
    }

    fn take(&mut self, place: usize, places: &mut PerFrame<u32>) -> Entry {
        let taken = self.entries[place];
        places[taken.frame as usize] = ABSENT;
        let last = self.entries.pop().expect("it holds the one taken");
        if place < self.entries.len() {
            self.sift(place, last, places);
        }
        taken
    }

    /// Puts an entry where it belongs, from a place that is free.
    #[inline]
    fn sift(&mut self, place: usize, entry: Entry, places: &mut PerFrame<u32>) {
        if place > 0 && entry < self.entries[(place - 1) / CHILDREN] {
            self.sift_up(place, entry, places);
        } else {
            self.sift_down(place, entry, places);
        }
    }

    fn sift_up(&mut self, mut place: usize, entry: Entry, places: &mut PerFrame<u32>) {
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.entries[parent] <= entry {
                break;
            }
            self.put(place, self.entries[parent], places);
            place = parent;
        }
        self.put(place, entry, places);
    }

    fn sift_down(&mut self, mut place: usize, entry: Entry, places: &mut PerFrame<u32>) {
        loop {
            let first = place * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(self.entries.len());
            let least = children.min_by_key(|&child| self.entries[child]);
            match least {
                Some(child) if self.entries[child] < entry => {
                    self.put(place, self.entries[child], places);
                    place = child;
                }
                _ => break,
            }
        }
        self.put(place, entry, places);
    }

    #[inline]
    fn put(&mut self, place: usize, entry: Entry, places: &mut PerFrame<u32>) {
        self.entries[place] = entry;
        places[entry.frame as usize] = place as u32 | self.mark;
    }
}

/// Frames by their worth, the one that is worth least first; of those worth the same, the one touched least recently.
#[derive(Clone, Debug)]
pub(super) struct Ranking {
    /// Those that may be taken.
    heap: Heap,
    /// Those that were held by [lasting](Pins::lasting) pins when they were on top, until they are released.
    held: Heap,
    places: PerFrame<u32>,
    touches: u64,
    /// Those that a search has taken out because they were pinned, for as long as it lasts.
    pinned: Vec<Entry>,
}

impl Ranking {
    /// No frame is in it.
    pub(super) fn new() -> Ranking {
        Ranking {
            heap: Heap::new(0),
            held: Heap::new(HELD),
            places: PerFrame::new(ABSENT),
            touches: 0,
            pinned: Vec::new(),
        }
    }

    /// The heap that has a place, and where in it that is.
    #[inline]
    fn heap_of(&mut self, place: u32) -> (&mut Heap, &mut PerFrame<u32>, usize) {
        let heap = match place & HELD {
            0 => &mut self.heap,
            _ => &mut self.held,
        };
        (heap, &mut self.places, (place & !HELD) as usize)
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
            ABSENT => self.heap.push(entry, &mut self.places),
            place => {
                let (heap, places, at) = self.heap_of(place);
                heap.sift(at, entry, places);
            }
        }
    }

    /// Gives a frame that is in it another worth, with its last touch as it is.
    #[inline]
    pub(super) fn change(&mut self, frame: Frame, worth: u64) {
        let place = self.places[frame.index()];
        if place != ABSENT {
            let (heap, places, at) = self.heap_of(place);
            let entry = Entry {
                worth,
                ..heap.entries[at]
            };
            heap.sift(at, entry, places);
        }
    }

    /// What a frame that is in it is worth.
    #[inline]
    pub(super) fn worth(&self, frame: Frame) -> Option<u64> {
        let place = self.places[frame.index()];
        let heap = match place & HELD {
            0 => &self.heap,
            _ => &self.held,
        };
        (place != ABSENT).then(|| heap.entries[(place & !HELD) as usize].worth)
    }

    /// Takes a frame out.
    pub(super) fn remove(&mut self, frame: Frame) {
        let place = self.places[frame.index()];
        if place != ABSENT {
            let (heap, places, at) = self.heap_of(place);
            heap.take(at, places);
        }
    }

    /// A frame is no longer held by [lasting](Pins::lasting) pins.
    #[inline]
    pub(super) fn release(&mut self, frame: Frame) {
        let place = self.places[frame.index()];
        if place != ABSENT && place & HELD != 0 {
            let (heap, places, at) = self.heap_of(place);
            let entry = heap.take(at, places);
            self.heap.push(entry, &mut self.places);
        }
    }

    /// Takes out the frame worth least of those that are not pinned; with its worth.
    #[inline]
    pub(super) fn take_least(&mut self, pins: &Pins) -> Option<(Frame, u64)> {
        if pins.are_lasting() {
            return self.take_least_of_many(pins);
        }
        let mut least = None;
        while let Some(entry) = self.take_first() {
            let frame = Frame(entry.frame);
            if !pins.holds(frame) {
                least = Some((frame, entry.worth));
                break;
            }
            self.pinned.push(entry);
        }
        while let Some(entry) = self.pinned.pop() {
            self.heap.push(entry, &mut self.places);
        }
        least
    }

    /// Takes out the first of both heaps.
    #[inline]
    fn take_first(&mut self) -> Option<Entry> {
        let (one, other) = (self.heap.entries.first(), self.held.entries.first());
        let heap = match (one, other) {
            (None, None) => return None,
            (_, None) => &mut self.heap,
            (Some(one), Some(other)) if one < other => &mut self.heap,
            _ => &mut self.held,
        };
        Some(heap.take(0, &mut self.places))
    }

    fn take_least_of_many(&mut self, pins: &Pins) -> Option<(Frame, u64)> {
        while !self.heap.entries.is_empty() {
            let entry = self.heap.take(0, &mut self.places);
            let frame = Frame(entry.frame);
            if !pins.holds(frame) {
                return Some((frame, entry.worth));
            }
            self.held.push(entry, &mut self.places);
        }
        None
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
                    5 | 6 if pins.holds(Frame(frame)) => {
                        pins.unpin(Frame(frame));
                    }
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
