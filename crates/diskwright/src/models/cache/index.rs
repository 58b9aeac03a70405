//! Frames by the blocks that they hold, made for one access to memory a search: the frame and what it is found by stand in one word, and words
//! that are searched together stand side by side.

/// Frames by tags, with open addressing and linear probing. A tag says in which bucket a search begins, so that nothing else is looked at
/// when the table grows or closes a gap.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// The frame above, its tag below.
    buckets: Vec<u64>,
    len: usize,
    /// The bits of all keys that ever were in it: while none is above the lowest 32, different keys have different tags.
    bits: u64,
}

/// What an empty bucket has: a frame of this number there is not.
const EMPTY: u64 = u64::MAX;
/// The fewest buckets.
const LEAST: usize = 16;
/// From so many buckets on, 256 KiB, memory counts for more than the length of a search.
const MANY: usize = 1 << 15;

impl Index {
    /// No frame is in it.
    pub(super) fn new() -> Index {
        Index {
            buckets: vec![EMPTY; LEAST],
            len: 0,
            bits: 0,
        }
    }

    /// Frames in it.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The frame of a key; `key_of` says of which key a frame is.
    #[inline]
    pub(super) fn find(&self, key: u64, key_of: impl Fn(u32) -> u64) -> Option<u32> {
        let tag = tag(key);
        let is_exact = (self.bits | key) >> u32::BITS == 0;
        let mut at = self.home(tag);
        loop {
            let bucket = self.buckets[at];
            if bucket == EMPTY {
                return None;
            }
            let frame = (bucket >> u32::BITS) as u32;
            if bucket as u32 == tag && (is_exact || key_of(frame) == key) {
                return Some(frame);
            }
            at = self.after(at);
        }
    }

    /// Puts in a frame of a key that is not there.
    #[inline]
    pub(super) fn insert(&mut self, key: u64, frame: u32) {
        if self.is_crowded() {
            self.grow();
        }
        self.len += 1;
        self.bits |= key;
        let tag = tag(key);
        self.put(u64::from(frame) << u32::BITS | u64::from(tag));
    }

    #[inline]
    fn put(&mut self, bucket: u64) {
        let mut at = self.home(bucket as u32);
        while self.buckets[at] != EMPTY {
            at = self.after(at);
        }
        self.buckets[at] = bucket;
    }

    /// Takes out the frame of a key; whether it was there.
    #[inline]
    pub(super) fn remove(&mut self, key: u64, frame: u32) -> bool {
        let tag = tag(key);
        let wanted = u64::from(frame) << u32::BITS | u64::from(tag);
        let mut gap = self.home(tag);
        while self.buckets[gap] != wanted {
            if self.buckets[gap] == EMPTY {
                return false;
            }
            gap = self.after(gap);
        }
        self.len -= 1;
        // What stands behind the gap moves up, unless its search begins behind it.
        let mut at = self.after(gap);
        while self.buckets[at] != EMPTY {
            let bucket = self.buckets[at];
            if self.steps(self.home(bucket as u32), at) >= self.steps(gap, at) {
                self.buckets[gap] = bucket;
                gap = at;
            }
            at = self.after(at);
        }
        self.buckets[gap] = EMPTY;
        true
    }

    /// The frames, in no order that means anything.
    pub(super) fn frames(&self) -> impl Iterator<Item = u32> + '_ {
        let taken = self.buckets.iter().filter(|&&bucket| bucket != EMPTY);
        taken.map(|bucket| (bucket >> u32::BITS) as u32)
    }

    /// Whether one more would make searches long. Of few buckets a third is taken at most, and most searches end where they begin, so that the
    /// processor foresees it; of many, four fifths.
    #[inline]
    fn is_crowded(&self) -> bool {
        match self.buckets.len() < MANY {
            true => (self.len + 1) * 3 > self.buckets.len(),
            false => (self.len + 1) * 5 > self.buckets.len() * 4,
        }
    }

    /// Makes twice as many of few buckets, and a quarter more of many: then a frame takes 10 to 12.5 bytes.
    #[cold]
    fn grow(&mut self) {
        let wanted = match self.buckets.len() < MANY {
            true => self.buckets.len() * 2,
            false => self.buckets.len() / 4 * 5,
        };
        let buckets = vec![EMPTY; wanted];
        let before = std::mem::replace(&mut self.buckets, buckets);
        for bucket in before.into_iter().filter(|&bucket| bucket != EMPTY) {
            self.put(bucket);
        }
    }

    /// Where the search for a tag begins: tags in ascending order in ascending buckets.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.buckets.len() as u64) >> u32::BITS) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        match at + 1 {
            end if end == self.buckets.len() => 0,
            next => next,
        }
    }

    /// How many buckets a search takes from one to another.
    #[inline]
    fn steps(&self, from: usize, to: usize) -> usize {
        match to >= from {
            true => to - from,
            false => to + self.buckets.len() - from,
        }
    }
}

/// What a key is found by: its own for each key of 32 bits.
#[inline]
fn tag(key: u64) -> u32 {
    mixed(key as u32 ^ mixed((key >> u32::BITS) as u32))
}

/// All bits of a number in all bits of another one, which is its own, and 0 for 0: the last step of MurmurHash3 (Appleby 2011).
#[inline]
fn mixed(mut bits: u32) -> u32 {
    bits = (bits ^ bits >> 16).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ bits >> 13).wrapping_mul(0xc2b2_ae35);
    bits ^ bits >> 16
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a map, with keys that have the same tags or long searches among them.
        #[test]
        fn agrees_with_a_plain_map(operations in prop::collection::vec((0usize..40, any::<bool>()), 1..300), is_long in any::<bool>()) {
            // The low half of a long key takes the high half out again.
            let long = |number: u64| number << u32::BITS | u64::from(mixed(number as u32));
            let keys: Vec<u64> = (0..40).map(|number| if is_long { long(number) } else { number }).collect();
            prop_assert!(!is_long || keys.iter().all(|&key| tag(key) == tag(0)));
            let mut index = Index::new();
            let mut model = BTreeMap::new();
            for (number, inserts) in operations {
                let (key, frame) = (keys[number], number as u32);
                match (inserts, model.contains_key(&key)) {
                    (true, false) => {
                        index.insert(key, frame);
                        model.insert(key, frame);
                    }
                    (false, is_there) => {
                        prop_assert_eq!(index.remove(key, frame), is_there);
                        model.remove(&key);
                    }
                    _ => {}
                }
                for key in &keys {
                    let found = index.find(*key, |frame| keys[frame as usize]);
                    prop_assert_eq!(found, model.get(key).copied());
                }
                prop_assert_eq!(index.len(), model.len());
                let mut frames: Vec<u32> = index.frames().collect();
                frames.sort_unstable();
                let mut expected: Vec<u32> = model.values().copied().collect();
                expected.sort_unstable();
                prop_assert_eq!(frames, expected);
            }
        }
    }
}
