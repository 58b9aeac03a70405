//! A set of keys in their order, in a few bytes each.

use std::collections::BTreeMap;

/// The most keys of a leaf.
const MOST: usize = 256;
/// Leaves of fewer keys are joined with a neighbour where both together leave room.
const FEWEST: usize = MOST / 4;

/// Keys in their order. They stand in leaves, sorted, each as what it is beyond the leaf's bound, so that one takes 4 to 9 bytes; a tree
/// holds the leaves by their bounds. All changes and searches take logarithmic time.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedKeys {
    /// By a bound that no key of the leaf is below, and all keys of the leaves before it are.
    leaves: BTreeMap<u64, Vec<u32>>,
    len: usize,
}

/// What a key is beyond a bound, where that can be written down.
fn beyond(bound: u64, key: u64) -> Option<u32> {
    u32::try_from(key - bound).ok()
}

impl OrderedKeys {
    /// Keys in it.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts in a key that is not there.
    pub(super) fn insert(&mut self, key: u64) {
        self.len += 1;
        let below = self.leaves.range_mut(..=key).next_back();
        let Some((bound, leaf, offset)) =
            below.and_then(|(&bound, leaf)| Some((bound, leaf, beyond(bound, key)?)))
        else {
            return self.insert_before(key);
        };
        let at = leaf.partition_point(|&other| other < offset);
        debug_assert_ne!(leaf.get(at), Some(&offset), "the key {key} is there");
        if leaf.len() < MOST {
            return leaf.insert(at, offset);
        }
        if at == MOST {
            // Keys that come in their order leave full leaves behind.
            self.leaves.insert(key, vec![0]);
            return;
        }
        let mut upper = leaf.split_off(MOST / 2);
        let first = upper[0];
        match at.checked_sub(MOST / 2) {
            Some(at) if at > 0 => upper.insert(at, offset),
            _ => leaf.insert(at, offset),
        }
        upper.iter_mut().for_each(|other| *other -= first);
        self.leaves.insert(bound + u64::from(first), upper);
    }

    /// Puts in a key that no leaf before it can take.
    fn insert_before(&mut self, key: u64) {
        let above = self.leaves.range(key..).next();
        let takes = above.and_then(|(&bound, leaf)| {
            let shift = beyond(key, bound)?;
            let last = leaf.last().expect("no leaf is empty");
            (leaf.len() < MOST && last.checked_add(shift).is_some()).then_some((bound, shift))
        });
        let Some((bound, shift)) = takes else {
            self.leaves.insert(key, vec![0]);
            return;
        };
        let mut leaf = self.leaves.remove(&bound).expect("it was found");
        leaf.iter_mut().for_each(|other| *other += shift);
        leaf.insert(0, 0);
        self.leaves.insert(key, leaf);
    }

    /// Takes out a key that is there.
    ///
    /// # Panics
    /// Where it is not.
    pub(super) fn remove(&mut self, key: u64) {
        let leaf = self.leaves.range_mut(..=key).next_back();
        let (&bound, leaf) = leaf.expect("the key is there");
        let offset = beyond(bound, key).expect("the key is there");
        let at = leaf.binary_search(&offset).expect("the key is there");
        leaf.remove(at);
        self.len -= 1;
        if leaf.is_empty() {
            self.leaves.remove(&bound);
            return;
        }
        if leaf.capacity() > 2 * leaf.len() {
            leaf.shrink_to(leaf.len() * 5 / 4);
        }
        if leaf.len() < FEWEST {
            self.join(bound);
        }
    }

    /// Joins a leaf with the next one or the one before, where both have room together.
    fn join(&mut self, bound: u64) {
        let len = self.leaves[&bound].len();
        let after = self.leaves.range(bound + 1..).next();
        let before = self.leaves.range(..bound).next_back();
        let after = after.map(|(&after, leaf)| (bound, after, leaf));
        let before = before.map(|(&before, leaf)| (before, bound, leaf));
        let fits = |(lower, upper, other): &(u64, u64, &Vec<u32>)| {
            let last = self.leaves[upper].last().expect("no leaf is empty");
            len + other.len() <= MOST / 2 && beyond(*lower, *upper + u64::from(*last)).is_some()
        };
        if let Some((lower, upper, _)) = after.filter(fits).or(before.filter(fits)) {
            let shift = beyond(lower, upper).expect("it fits");
            let moved = self.leaves.remove(&upper).expect("it was found");
            let into = self.leaves.get_mut(&lower).expect("it was found");
            into.extend(moved.iter().map(|offset| offset + shift));
        }
    }

    /// The first key from `from` on.
    pub(super) fn next(&self, from: u64) -> Option<u64> {
        let below = self.leaves.range(..=from).next_back();
        let within = below.and_then(|(&bound, leaf)| {
            let from = from - bound;
            let at = leaf.partition_point(|&offset| u64::from(offset) < from);
            leaf.get(at).map(|&offset| bound + u64::from(offset))
        });
        within.or_else(|| {
            let (&bound, leaf) = self.leaves.range(from..).next()?;
            leaf.first().map(|&offset| bound + u64::from(offset))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Stream;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn check(keys: &OrderedKeys, model: &BTreeSet<u64>, around: u64) {
        assert_eq!(keys.len(), model.len());
        for from in [0, around.saturating_sub(1), around, around + 1, u64::MAX] {
            assert_eq!(keys.next(from), model.range(from..).next().copied());
        }
        for (&bound, leaf) in &keys.leaves {
            assert!(
                leaf.is_sorted() && (1..=MOST).contains(&leaf.len()),
                "{bound}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        /// Keys near one another, in order and against it, and keys farther apart than an offset reaches.
        #[test]
        fn agree_with_a_tree_of_keys(
            spans in prop::collection::vec((0u64..3, 0u64..2_000, 1u64..900, 0usize..4, 1u64..5), 1..12),
        ) {
            let (mut keys, mut model) = (OrderedKeys::default(), BTreeSet::new());
            for (far, start, count, how, step) in spans {
                let first = (far << 34) + start;
                let mut span: Vec<u64> = (0..count).map(|at| first + at * step).collect();
                match how {
                    1 => span.reverse(),
                    2 => span.sort_by_key(|key| key.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                    _ => {}
                }
                for key in span {
                    if how == 3 {
                        if model.remove(&key) {
                            keys.remove(key);
                        }
                    } else if model.insert(key) {
                        keys.insert(key);
                    }
                    check(&keys, &model, key);
                }
            }
            let all: Vec<u64> = std::iter::successors(keys.next(0), |&key| keys.next(key + 1)).collect();
            prop_assert_eq!(all, model.iter().copied().collect::<Vec<_>>());
            for &key in &model {
                keys.remove(key);
            }
            prop_assert!(keys.leaves.is_empty() && keys.len() == 0);
        }
    }

    /// Leaves stay half full on average, whatever the order in which keys come and go.
    #[test]
    fn a_key_takes_a_few_bytes() {
        let mut chance = Stream::new(1, "keys");
        let mut random: Vec<u64> = (0..100_000).map(|key| key * 7_919).collect();
        for at in (1..random.len()).rev() {
            random.swap(at, chance.below(at as u64 + 1) as usize);
        }
        let orders: [Vec<u64>; 3] = [(0..100_000).collect(), (0..100_000).rev().collect(), random];
        for order in orders {
            let mut keys = OrderedKeys::default();
            order.iter().for_each(|&key| keys.insert(key));
            for removed in [0, 50_000, 90_000] {
                while keys.len() > order.len() - removed {
                    keys.remove(order[order.len() - keys.len()]);
                }
                let bytes: usize = keys
                    .leaves
                    .values()
                    .map(|leaf| 72 + 4 * leaf.capacity())
                    .sum();
                assert!(bytes <= 10 * keys.len(), "{bytes} bytes for {}", keys.len());
            }
        }
    }
}
