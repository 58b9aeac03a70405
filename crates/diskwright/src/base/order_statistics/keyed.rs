//! An LRU stack of keys: how many others were referenced since a key was.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::lru_stack::LruStack;

/// Keys in the order of their last reference. A reference takes O(log n); memory is about 50 bytes for each key that is kept.
#[derive(Clone, Debug)]
pub struct KeyedLruStack {
    most: u64,
    /// The slot of each key's last reference.
    last: HashMap<u64, usize, FixedState>,
    stack: LruStack<u64>,
}

impl Default for KeyedLruStack {
    /// A stack of any depth.
    fn default() -> KeyedLruStack {
        KeyedLruStack::with_most(u64::MAX)
    }
}

impl KeyedLruStack {
    /// A stack that keeps the `most` keys that were referenced last.
    pub fn with_most(most: u64) -> KeyedLruStack {
        KeyedLruStack {
            most,
            last: HashMap::default(),
            stack: LruStack::default(),
        }
    }

    /// How many keys are kept.
    pub fn len(&self) -> u64 {
        self.last.len() as u64
    }

    /// Whether no key is kept.
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// Whether no more keys are kept than there are.
    pub fn is_full(&self) -> bool {
        self.len() == self.most
    }

    /// References a key: how many others were referenced since it was; `None` for one that is not kept.
    #[inline]
    pub fn reference(&mut self, key: u64) -> Option<u64> {
        if self.stack.is_full() {
            self.renumber();
        }
        match self.last.entry(key) {
            Entry::Occupied(mut last) => {
                let (slot, depth) = self.stack.touch(key, *last.get());
                last.insert(slot);
                return Some(depth);
            }
            Entry::Vacant(last) => last.insert(self.stack.push(key)),
        };
        if self.stack.len() > self.most
            && let Some(deepest) = self.stack.take_deepest()
        {
            self.last.remove(&deepest);
        }
        None
    }

    #[cold]
    fn renumber(&mut self) {
        self.stack.renumber(|key, slot| {
            let last = self.last.get_mut(&key);
            *last.expect("a marked slot is the last of its key") = slot;
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::lru_stack::FEWEST;
    use super::*;
    use proptest::prelude::*;

    /// The stack itself, the last one referenced in front.
    fn plain(references: &[u64], most: usize) -> Vec<Option<u64>> {
        let mut stack: Vec<u64> = Vec::new();
        let reference = |key: &u64| {
            let at = stack.iter().position(|there| there == key);
            if let Some(at) = at {
                stack.remove(at);
            }
            stack.insert(0, *key);
            stack.truncate(most);
            at.map(|at| at as u64)
        };
        references.iter().map(reference).collect()
    }

    #[test]
    fn depths_are_counted_by_hand() {
        let mut stack = KeyedLruStack::default();
        let depths: Vec<_> = [7, 7, 8, 9, 7, 8, 8].map(|key| stack.reference(key)).into();
        let expected = [None, Some(0), None, None, Some(2), Some(2), Some(0)];
        assert_eq!(depths, expected);
        assert_eq!((stack.len(), stack.is_full()), (3, false));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn depths_are_those_of_a_plain_stack(
            few in prop::collection::vec(0u64..40, 0..3_000),
            many in prop::collection::vec(0u64..3_000, 0..3_000),
            most in 1usize..100,
        ) {
            let all = [few.clone(), many, few].concat();
            for most in [most, usize::MAX] {
                let mut stack = KeyedLruStack::with_most(most as u64);
                let depths: Vec<_> = all.iter().map(|key| stack.reference(*key)).collect();
                prop_assert_eq!(depths, plain(&all, most));
            }
        }
    }

    #[test]
    fn renumbering_leaves_no_trace() {
        // A loop over more keys than slots to begin with: every depth is the same.
        let keys = FEWEST as u64 + 77;
        let mut stack = KeyedLruStack::default();
        for at in 0..keys * 10 {
            let expected = (at >= keys).then_some(keys - 1);
            assert_eq!(stack.reference(at % keys), expected, "reference {at}");
        }
        assert!(stack.stack.slots() > FEWEST);
    }

    #[test]
    fn a_limited_stack_keeps_no_more() {
        let mut stack = KeyedLruStack::with_most(5);
        for at in 0..100_000u64 {
            let depth = stack.reference(at.wrapping_mul(at) % 1_009);
            assert!(depth < Some(5), "{depth:?}");
        }
        assert_eq!((stack.len(), stack.is_full()), (5, true));
        assert_eq!(stack.stack.slots(), FEWEST);
    }
}
