//! Which block is in which frame.

use super::Frame;
use super::index::Index;
use super::per_frame::make_room;

/// The blocks of a cache by their keys, and the frames that hold none.
#[derive(Clone, Debug)]
pub struct Directory {
    index: Index,
    capacity: u32,
    /// By frame, as far as frames were ever taken.
    keys: Vec<u64>,
    /// Frames that were freed, the last one on top.
    free: Vec<u32>,
}

impl Directory {
    /// An empty one of `capacity` frames; it takes memory as they are taken.
    pub fn new(capacity: u32) -> Directory {
        Directory {
            index: Index::new(),
            capacity,
            keys: Vec::new(),
            free: Vec::new(),
        }
    }

    /// How many blocks it can hold.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// How many blocks it holds.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether no frame is free.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.free.is_empty() && self.keys.len() == self.capacity as usize
    }

    /// The frame of a block.
    #[inline]
    pub fn find(&self, key: u64) -> Option<Frame> {
        let found = self.index.find(key, |frame| self.keys[frame as usize]);
        found.map(Frame)
    }

    /// The frames that are taken, in no order that means anything.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        self.index.frames().map(Frame)
    }

    /// The block in a frame that is taken.
    #[inline]
    pub fn key(&self, frame: Frame) -> u64 {
        self.keys[frame.index()]
    }

    /// Gives a block that it does not hold a free frame.
    ///
    /// # Panics
    /// Where none is free.
    #[inline]
    pub fn insert(&mut self, key: u64) -> Frame {
        debug_assert!(self.find(key).is_none(), "block {key} has a frame already");
        let frame = self.free.pop().unwrap_or_else(|| {
            assert!(!self.is_full(), "no frame is free");
            make_room(&mut self.keys, 1);
            self.keys.push(key);
            self.keys.len() as u32 - 1
        });
        self.keys[frame as usize] = key;
        self.index.insert(key, frame);
        Frame(frame)
    }

    /// Frees a frame that is taken; returns the block that it held.
    ///
    /// # Panics
    /// Where it holds none.
    #[inline]
    pub fn remove(&mut self, frame: Frame) -> u64 {
        let key = self.keys[frame.index()];
        let was_there = self.index.remove(key, frame.0);
        assert!(was_there, "the frame holds a block");
        self.free.push(frame.0);
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agrees_with_a_plain_map(operations in prop::collection::vec((0u64..12, any::<bool>()), 1..200), capacity in 1u32..8) {
            let mut directory = Directory::new(capacity);
            let mut model = BTreeMap::new();
            for (key, insert) in operations {
                prop_assert_eq!(directory.find(key), model.get(&key).copied());
                match model.get(&key).copied() {
                    Some(frame) if !insert => {
                        prop_assert_eq!(directory.remove(frame), key);
                        model.remove(&key);
                    }
                    None if insert && !directory.is_full() => {
                        let frame = directory.insert(key);
                        prop_assert!(frame.0 < capacity && !model.values().any(|&other| other == frame));
                        model.insert(key, frame);
                    }
                    _ => {}
                }
                prop_assert_eq!(directory.len(), model.len());
                let mut frames: Vec<Frame> = directory.frames().collect();
                let mut expected: Vec<Frame> = model.values().copied().collect();
                frames.sort();
                expected.sort();
                prop_assert_eq!(frames, expected);
                prop_assert_eq!(directory.is_full(), model.len() == capacity as usize);
                for (&key, &frame) in &model {
                    prop_assert_eq!(directory.key(frame), key);
                }
            }
        }
    }
}
