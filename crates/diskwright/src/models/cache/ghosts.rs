//! Blocks that have left, remembered by their keys alone.

use super::directory::Directory;
use super::lists::{Links, List};
use super::per_frame::PerFrame;

/// Up to a fixed number of keys, each on one of `LISTS` lists in the order in which they came.
pub(super) struct Ghosts<const LISTS: usize> {
    directory: Directory,
    links: Links,
    lists: [List; LISTS],
    list_of: PerFrame<u8>,
}

impl<const LISTS: usize> Ghosts<LISTS> {
    /// Remembers at most `capacity` keys.
    pub(super) fn new(capacity: u32) -> Ghosts<LISTS> {
        Ghosts {
            directory: Directory::new(capacity),
            links: Links::new(),
            lists: [List::default(); LISTS],
            list_of: PerFrame::new(0),
        }
    }

    /// How many are on a list.
    #[inline]
    pub(super) fn len(&self, list: usize) -> usize {
        self.lists[list].len()
    }

    /// Forgets a key, if it is remembered; returns its list.
    #[inline]
    pub(super) fn take(&mut self, key: u64) -> Option<usize> {
        let slot = self.directory.find(key)?;
        let list = usize::from(self.list_of[slot.index()]);
        self.links.remove(&mut self.lists[list], slot);
        self.directory.remove(slot);
        Some(list)
    }

    /// Remembers a key that is not, as the youngest of a list. Where there is no room the list's oldest is forgotten, and
    /// where it has none the key itself is.
    #[inline]
    pub(super) fn push(&mut self, list: usize, key: u64) {
        if self.directory.is_full() && !self.forget_oldest(list) {
            return;
        }
        let slot = self.directory.insert(key);
        self.list_of[slot.index()] = list as u8;
        self.links.push_front(&mut self.lists[list], slot);
    }

    /// Forgets the oldest of a list; whether there was one.
    #[inline]
    pub(super) fn forget_oldest(&mut self, list: usize) -> bool {
        let Some(slot) = self.lists[list].back() else {
            return false;
        };
        self.links.remove(&mut self.lists[list], slot);
        self.directory.remove(slot);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agree_with_plain_queues(operations in prop::collection::vec((0u64..12, 0usize..2, 0u8..3), 1..200), capacity in 0u32..5) {
            let mut ghosts = Ghosts::<2>::new(capacity);
            let mut model = [VecDeque::new(), VecDeque::new()];
            for (key, list, what) in operations {
                let known = model.iter().position(|queue| queue.contains(&key));
                if what == 0 {
                    prop_assert_eq!(ghosts.forget_oldest(list), model[list].pop_back().is_some());
                } else if what == 1 || known.is_some() {
                    prop_assert_eq!(ghosts.take(key), known);
                    model.iter_mut().for_each(|queue| queue.retain(|&other| other != key));
                } else {
                    ghosts.push(list, key);
                    let is_full = model[0].len() + model[1].len() == capacity as usize;
                    if !is_full || model[list].pop_back().is_some() {
                        model[list].push_front(key);
                    }
                }
                for (list, queue) in model.iter().enumerate() {
                    prop_assert_eq!(ghosts.len(list), queue.len());
                }
            }
        }
    }
}
