//! LRU caches of all sizes at once, by stack distances.
//!
//! An LRU cache of C objects holds the C that were accessed last. So an access hits in all caches that are larger than its
//! stack distance, the number of other objects accessed since its object was, and misses in all others (Mattson et al.,
//! "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2), 1970).

use crate::base::order_statistics::KeyedLruStack;

/// Reads and writes, counted apart.
pub(super) type Counts = [u64; 2];

/// The LRU stack, as deep as the largest cache of interest, and what it tells of the accesses.
pub(super) struct StackDistances {
    limit: u64,
    stack: KeyedLruStack,
    /// Accesses by their distance.
    distances: Vec<Counts>,
    /// Accesses to objects that are not in the stack.
    beyond: Counts,
}

impl StackDistances {
    /// An empty stack that tells the misses of caches of up to `limit` objects; its memory grows with the objects, up to the limit.
    pub(super) fn new(limit: u64) -> StackDistances {
        StackDistances {
            limit,
            stack: KeyedLruStack::with_most(limit),
            distances: Vec::new(),
            beyond: [0; 2],
        }
    }

    /// Accesses an object.
    #[inline]
    pub(super) fn access(&mut self, object: u64, write: bool) {
        let count = match self.stack.reference(object) {
            None => &mut self.beyond,
            Some(distance) => {
                let distance = distance as usize;
                if distance >= self.distances.len() {
                    self.distances.resize(distance + 1, [0; 2]);
                }
                &mut self.distances[distance]
            }
        };
        count[usize::from(write)] += 1;
    }

    /// The number of distinct objects and the first accesses to them; `None` where the limit was reached.
    pub(super) fn firsts(&self) -> Option<(u64, Counts)> {
        (!self.stack.is_full()).then(|| (self.stack.len(), self.beyond))
    }

    /// The misses of caches of these numbers of objects, each at most the limit.
    pub(super) fn misses(&self, capacities: &[u64]) -> Vec<Counts> {
        let mut deepest_first: Vec<usize> = (0..capacities.len()).collect();
        deepest_first.sort_by_key(|&at| std::cmp::Reverse(capacities[at]));
        let mut misses = vec![[0; 2]; capacities.len()];
        let (mut sum, mut depth) = (self.beyond, self.distances.len());
        for at in deepest_first {
            debug_assert!(capacities[at] <= self.limit, "deeper than the stack");
            while depth as u64 > capacities[at] {
                depth -= 1;
                for (sum, count) in sum.iter_mut().zip(self.distances[depth]) {
                    *sum += count;
                }
            }
            misses[at] = sum;
        }
        misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The misses of one LRU cache, by the book.
    fn plain(accesses: &[(u64, bool)], capacity: usize) -> Counts {
        let (mut held, mut misses) = (Vec::new(), [0; 2]);
        for &(object, write) in accesses {
            match held.iter().position(|&other| other == object) {
                Some(at) => _ = held.remove(at),
                None => {
                    misses[usize::from(write)] += 1;
                    held.truncate(capacity - 1);
                }
            }
            held.insert(0, object);
        }
        misses
    }

    proptest! {
        #[test]
        fn misses_as_often_as_caches_by_the_book(
            accesses in prop::collection::vec((0u64..40, any::<bool>()), 0..400),
            capacities in prop::collection::vec(1u64..50, 1..8),
            more in 0u64..5,
        ) {
            let limit = capacities.iter().max().map_or(1, |largest| largest + more);
            let mut stack = StackDistances::new(limit);
            for &(object, write) in &accesses {
                stack.access(object, write);
            }
            for (misses, &capacity) in stack.misses(&capacities).into_iter().zip(&capacities) {
                prop_assert_eq!(misses, plain(&accesses, capacity as usize), "{} objects", capacity);
            }
        }
    }

    #[test]
    fn the_objects_are_known_where_the_limit_was_not_reached() {
        for (limit, firsts) in [(7, Some((6, [4, 2]))), (6, None), (2, None)] {
            let mut stack = StackDistances::new(limit);
            for at in 0..60 {
                stack.access(at % 6, at % 3 == 0);
            }
            assert_eq!(stack.firsts(), firsts, "{limit} objects");
        }
    }
}
