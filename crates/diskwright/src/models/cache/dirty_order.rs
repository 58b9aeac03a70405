//! The dirty lines of a cache, by where they belong and by how long they have been dirty.

use super::Frame;
use super::lists::{Links, List};
use super::ordered_keys::OrderedKeys;

/// The lines that have dirty blocks, in both orders.
pub(super) struct DirtyOrder {
    keys: OrderedKeys,
    links: Links,
    /// The one that became dirty first at the back.
    ages: List,
}

impl DirtyOrder {
    /// No line is dirty.
    pub(super) fn new() -> DirtyOrder {
        DirtyOrder {
            keys: OrderedKeys::default(),
            links: Links::new(),
            ages: List::default(),
        }
    }

    /// How many lines are dirty.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// A line that was clean becomes dirty.
    pub(super) fn insert(&mut self, key: u64, frame: Frame) {
        self.keys.insert(key);
        self.links.push_front(&mut self.ages, frame);
    }

    /// A line that was dirty becomes clean, or leaves.
    pub(super) fn remove(&mut self, key: u64, frame: Frame) {
        self.keys.remove(key);
        self.links.remove(&mut self.ages, frame);
    }

    /// A dirty line counts as dirty from now on.
    pub(super) fn renew(&mut self, frame: Frame) {
        self.links.remove(&mut self.ages, frame);
        self.links.push_front(&mut self.ages, frame);
    }

    /// The first dirty line whose key is `from` or larger.
    pub(super) fn next(&self, from: u64) -> Option<u64> {
        self.keys.next(from)
    }

    /// The dirty lines, the one that has been dirty longest first.
    pub(super) fn oldest_first(&self) -> impl Iterator<Item = Frame> + '_ {
        self.links.back_to_front(&self.ages)
    }
}
