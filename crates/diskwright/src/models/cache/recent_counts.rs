//! How often blocks were accessed that are in no cache, as far as it is remembered.

use super::directory::Directory;
use super::lists::{Links, List};
use super::per_frame::PerFrame;

/// Counts of the keys that were counted last, up to a fixed number of them.
pub struct RecentCounts {
    directory: Directory,
    links: Links,
    /// The one that was counted least recently at the back.
    order: List,
    counts: PerFrame<u32>,
}

impl RecentCounts {
    /// Counts of at most `capacity` keys, none so far.
    pub fn new(capacity: u32) -> RecentCounts {
        RecentCounts {
            directory: Directory::new(capacity),
            links: Links::new(),
            order: List::default(),
            counts: PerFrame::new(0),
        }
    }

    /// The count of a key; 0 where it is not remembered.
    #[inline]
    pub fn get(&self, key: u64) -> u32 {
        let slot = self.directory.find(key);
        slot.map_or(0, |slot| self.counts[slot.index()])
    }

    /// Counts a key once more. Where it is new and there is no room, the one that was counted least recently is forgotten.
    pub fn add(&mut self, key: u64) {
        if let Some(slot) = self.directory.find(key) {
            self.counts[slot.index()] = self.counts[slot.index()].saturating_add(1);
            return self.links.move_to_front(&mut self.order, slot);
        }
        if self.directory.is_full() {
            let Some(oldest) = self.order.back() else {
                return;
            };
            self.links.remove(&mut self.order, oldest);
            self.directory.remove(oldest);
        }
        let slot = self.directory.insert(key);
        self.counts[slot.index()] = 1;
        self.links.push_front(&mut self.order, slot);
    }

    /// Forgets a key.
    pub fn forget(&mut self, key: u64) {
        if let Some(slot) = self.directory.find(key) {
            self.links.remove(&mut self.order, slot);
            self.directory.remove(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agree_with_a_plain_list(operations in prop::collection::vec((0u64..9, 0u8..4), 1..200), capacity in 0u32..5) {
            let mut counts = RecentCounts::new(capacity);
            let mut model: Vec<(u64, u32)> = Vec::new();
            for (key, what) in operations {
                let known = model.iter().position(|&(other, _)| other == key);
                let entry = known.map(|at| model.remove(at));
                if what == 0 {
                    counts.forget(key);
                } else {
                    counts.add(key);
                    model.push((key, entry.map_or(1, |(_, count)| count + 1)));
                    if model.len() > capacity as usize {
                        model.remove(0);
                    }
                }
                for key in 0..9 {
                    let count = model.iter().find(|&&(other, _)| other == key);
                    prop_assert_eq!(counts.get(key), count.map_or(0, |&(_, count)| count));
                }
            }
        }
    }
}
