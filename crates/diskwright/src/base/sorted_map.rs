//! Values in ascending order of numbers: where small maps are searched for neighbours again and again.

/// The most entries of a chunk.
const MOST: usize = 64;

/// Values by keys.
///
/// Chunks that are sorted each, one behind the other. A search is one among the chunks and one in a chunk, an insertion and a removal move
/// a part of a chunk.
#[derive(Debug)]
pub struct SortedMap<V> {
    /// No key of a chunk is below this, and those of the chunks before are; of the first one 0.
    lows: Vec<u64>,
    /// At least one; only the first may be empty, if it is the only one.
    chunks: Vec<Vec<(u64, V)>>,
}

impl<V> Default for SortedMap<V> {
    fn default() -> SortedMap<V> {
        SortedMap {
            lows: vec![0],
            chunks: vec![Vec::new()],
        }
    }
}

impl<V> SortedMap<V> {
    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.chunks[0].is_empty()
    }

    /// The chunk that a key belongs to, and the place there of the first entry that is not below it.
    #[inline]
    fn find(&self, key: u64) -> (usize, usize) {
        let chunk = match self.lows.len() {
            1 => 0,
            _ => self.lows.partition_point(|&low| low <= key) - 1,
        };
        (
            chunk,
            self.chunks[chunk].partition_point(|entry| entry.0 < key),
        )
    }

    /// The place of the last entry below a key.
    #[inline]
    fn find_before(&self, key: u64) -> Option<(usize, usize)> {
        let (chunk, at) = self.find(key);
        match (chunk, at) {
            (0, 0) => None,
            (_, 0) => Some((chunk - 1, self.chunks[chunk - 1].len() - 1)),
            _ => Some((chunk, at - 1)),
        }
    }

    /// The place of the first entry that is not below a key.
    #[inline]
    fn find_from(&self, key: u64) -> Option<(usize, usize)> {
        let (chunk, at) = self.find(key);
        if at < self.chunks[chunk].len() {
            return Some((chunk, at));
        }
        (chunk + 1 < self.chunks.len()).then_some((chunk + 1, 0))
    }

    #[inline]
    fn find_key(&self, key: u64) -> Option<(usize, usize)> {
        let (chunk, at) = self.find(key);
        let entry = self.chunks[chunk].get(at)?;
        (entry.0 == key).then_some((chunk, at))
    }

    /// The value of a key.
    #[inline]
    pub fn get(&self, key: u64) -> Option<&V> {
        let (chunk, at) = self.find_key(key)?;
        Some(&self.chunks[chunk][at].1)
    }

    /// The value of a key.
    #[inline]
    pub fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let (chunk, at) = self.find_key(key)?;
        Some(&mut self.chunks[chunk][at].1)
    }

    /// The last entry below a key.
    #[inline]
    pub fn last_before(&self, key: u64) -> Option<(u64, &V)> {
        let (chunk, at) = self.find_before(key)?;
        let (key, value) = &self.chunks[chunk][at];
        Some((*key, value))
    }

    /// The last entry below a key.
    #[inline]
    pub fn last_before_mut(&mut self, key: u64) -> Option<(u64, &mut V)> {
        let (chunk, at) = self.find_before(key)?;
        let (key, value) = &mut self.chunks[chunk][at];
        Some((*key, value))
    }

    /// The first entry whose key is not below one.
    #[inline]
    pub fn first_from(&self, key: u64) -> Option<(u64, &V)> {
        let (chunk, at) = self.find_from(key)?;
        let (key, value) = &self.chunks[chunk][at];
        Some((*key, value))
    }

    /// The first entry whose key is not below one.
    #[inline]
    pub fn first_from_mut(&mut self, key: u64) -> Option<(u64, &mut V)> {
        let (chunk, at) = self.find_from(key)?;
        let (key, value) = &mut self.chunks[chunk][at];
        Some((*key, value))
    }

    /// The entries below a key, from the last one on.
    #[inline]
    pub fn back_from(&self, key: u64) -> impl Iterator<Item = (u64, &V)> {
        let (mut chunk, mut at) = self.find(key);
        std::iter::from_fn(move || {
            if at == 0 {
                chunk = chunk.checked_sub(1)?;
                at = self.chunks[chunk].len();
            }
            at -= 1;
            let (key, value) = &self.chunks[chunk][at];
            Some((*key, value))
        })
    }

    /// The entries whose keys are not below one, in order.
    #[inline]
    pub fn iter_from(&self, key: u64) -> impl Iterator<Item = (u64, &V)> {
        let (mut chunk, mut at) = self.find(key);
        std::iter::from_fn(move || {
            if at == self.chunks.get(chunk)?.len() {
                (chunk, at) = (chunk + 1, 0);
            }
            let (key, value) = self.chunks.get(chunk)?.get(at)?;
            at += 1;
            Some((*key, value))
        })
    }

    /// All entries, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        let entries = self.chunks.iter().flatten();
        entries.map(|(key, value)| (*key, value))
    }

    /// Sets the value of a key, and returns the one that it had.
    pub fn insert(&mut self, key: u64, value: V) -> Option<V> {
        let (chunk, at) = self.find(key);
        let entries = &mut self.chunks[chunk];
        if let Some(entry) = entries.get_mut(at).filter(|entry| entry.0 == key) {
            return Some(std::mem::replace(&mut entry.1, value));
        }
        entries.insert(at, (key, value));
        if entries.len() > MOST {
            self.split(chunk);
        }
        None
    }

    #[cold]
    fn split(&mut self, chunk: usize) {
        let upper = self.chunks[chunk].split_off(MOST / 2);
        self.lows.insert(chunk + 1, upper[0].0);
        self.chunks.insert(chunk + 1, upper);
    }

    /// Removes an entry.
    #[inline]
    pub fn remove(&mut self, key: u64) -> Option<V> {
        self.remove_if(key, |_| true)
    }

    /// Removes an entry if its value is as it should be.
    #[inline]
    pub fn remove_if(&mut self, key: u64, is_right: impl FnOnce(&V) -> bool) -> Option<V> {
        let (chunk, at) = self.find_key(key)?;
        let entries = &mut self.chunks[chunk];
        if !is_right(&entries[at].1) {
            return None;
        }
        let (_, value) = entries.remove(at);
        if entries.is_empty() && self.chunks.len() > 1 {
            self.drop_chunk(chunk);
        }
        Some(value)
    }

    #[cold]
    fn drop_chunk(&mut self, chunk: usize) {
        self.chunks.remove(chunk);
        self.lows.remove(chunk);
        self.lows[0] = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a tree, with many entries and with few.
        #[test]
        fn agrees_with_a_tree(steps in prop::collection::vec((0u32..8, 0u64..400), 0..1500), most in 2u32..7) {
            let (mut map, mut tree) = (SortedMap::default(), BTreeMap::new());
            for (number, (what, key)) in steps.into_iter().enumerate() {
                if what < most {
                    prop_assert_eq!(map.insert(key, number), tree.insert(key, number));
                } else {
                    prop_assert_eq!(map.remove(key), tree.remove(&key));
                }
                let probe = (number as u64 * 61) % 402;
                prop_assert_eq!(map.get(probe), tree.get(&probe));
                prop_assert_eq!(map.get_mut(probe), tree.get_mut(&probe));
                let before = tree.range(..probe).next_back().map(|(&key, &value)| (key, value));
                prop_assert_eq!(map.last_before(probe).map(|(key, &value)| (key, value)), before);
                prop_assert_eq!(map.last_before_mut(probe).map(|(key, value)| (key, *value)), before);
                let from = tree.range(probe..).next().map(|(&key, &value)| (key, value));
                prop_assert_eq!(map.first_from(probe).map(|(key, &value)| (key, value)), from);
                prop_assert_eq!(map.first_from_mut(probe).map(|(key, value)| (key, *value)), from);
                prop_assert_eq!((map.len(), map.is_empty()), (tree.len(), tree.is_empty()));
            }
            let own = |(key, value): (u64, &usize)| (key, *value);
            for probe in (0..410).step_by(7) {
                let back: Vec<_> = tree.range(..probe).rev().map(|(&key, &value)| (key, value)).collect();
                prop_assert_eq!(map.back_from(probe).map(own).collect::<Vec<_>>(), back);
                let from: Vec<_> = tree.range(probe..).map(|(&key, &value)| (key, value)).collect();
                prop_assert_eq!(map.iter_from(probe).map(own).collect::<Vec<_>>(), from);
            }
            let all: Vec<_> = tree.iter().map(|(&key, &value)| (key, value)).collect();
            prop_assert_eq!(map.iter().map(own).collect::<Vec<_>>(), all);
            for (key, value) in tree {
                prop_assert_eq!(map.remove_if(key, |kept| *kept != value), None);
                prop_assert_eq!(map.remove_if(key, |kept| *kept == value), Some(value));
            }
            prop_assert!(map.is_empty() && map.iter().next().is_none());
        }
    }
}
