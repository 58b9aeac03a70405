//! LRU caches of all sizes at once, by stack distances.
//!
//! An LRU cache of C objects holds the C that were accessed last. So an access hits in all caches that are larger than its
//! stack distance, the number of other objects accessed since its object was, and misses in all others (Mattson et al.,
//! "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2), 1970). Every access takes a slot of a row; the last
//! access to each object is marked there, and the distance is the number of marks behind it (Bennett and Kruskal, "LRU stack
//! processing", IBM Journal of Research and Development 19(4), 1975; Olken, "Efficient methods for calculating the success
//! function of fixed space replacement policies", LBL-12370, 1981).

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::marks::Marks;

/// The fewest slots of the row.
const FEWEST: usize = 1 << 12;
/// Slots for each object that is kept: when the row is full, it is renumbered.
const SLOTS: usize = 3;

/// Reads and writes, counted apart.
pub(super) type Counts = [u64; 2];

/// The LRU stack, as deep as the largest cache of interest.
pub(super) struct LruStack {
    limit: u64,
    /// The slot of each object's last access.
    last: HashMap<u64, usize, FixedState>,
    /// The object of each slot that was taken.
    objects: Vec<u64>,
    marks: Marks,
    /// Accesses by their distance.
    distances: Vec<Counts>,
    /// Accesses to objects that are not in the stack.
    beyond: Counts,
}

impl LruStack {
    /// An empty stack that tells the misses of caches of up to `limit` objects; its memory grows with the objects, up to the limit.
    pub(super) fn new(limit: u64) -> LruStack {
        LruStack {
            limit,
            last: HashMap::default(),
            objects: Vec::new(),
            marks: Marks::new(FEWEST, 0),
            distances: Vec::new(),
            beyond: [0; 2],
        }
    }

    /// Accesses an object.
    #[inline]
    pub(super) fn access(&mut self, object: u64, write: bool) {
        if self.objects.len() == self.marks.slots() {
            self.renumber();
        }
        let slot = self.objects.len();
        self.objects.push(object);
        if let Some(last) = self.last.get_mut(&object) {
            let before = std::mem::replace(last, slot);
            // The slot just taken is not marked yet: the last mark is before it.
            let distance = self.marks.between(before, slot) as usize;
            self.marks.shift(before, slot);
            if distance >= self.distances.len() {
                self.distances.resize(distance + 1, [0; 2]);
            }
            self.distances[distance][usize::from(write)] += 1;
            return;
        }
        self.beyond[usize::from(write)] += 1;
        if self.last.len() as u64 == self.limit
            && let Some(deepest) = self.marks.take_first()
        {
            self.last.remove(&self.objects[deepest]);
        }
        self.last.insert(object, slot);
        self.marks.mark(slot);
    }

    /// Gives the objects the first slots, in their order.
    #[cold]
    fn renumber(&mut self) {
        let mut kept = 0;
        for slot in self.marks.iter() {
            let object = self.objects[slot];
            self.objects[kept] = object;
            let last = self.last.get_mut(&object);
            *last.expect("a marked slot is the last of its object") = kept;
            kept += 1;
        }
        self.objects.truncate(kept);
        self.marks = Marks::new(FEWEST.max(SLOTS * kept), kept);
    }

    /// The number of distinct objects and the first accesses to them; `None` where the limit was reached.
    pub(super) fn firsts(&self) -> Option<(u64, Counts)> {
        let objects = self.last.len() as u64;
        (objects < self.limit).then_some((objects, self.beyond))
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
            let mut stack = LruStack::new(limit);
            for &(object, write) in &accesses {
                stack.access(object, write);
            }
            for (misses, &capacity) in stack.misses(&capacities).into_iter().zip(&capacities) {
                prop_assert_eq!(misses, plain(&accesses, capacity as usize), "{} objects", capacity);
            }
        }
    }

    #[test]
    fn the_row_is_renumbered_without_a_trace() {
        // A loop over more objects than slots to begin with: every distance is the same.
        let objects = FEWEST as u64 + 77;
        let mut stack = LruStack::new(u64::MAX);
        for at in 0..objects * 10 {
            stack.access(at % objects, at % 3 == 0);
        }
        let writes = (0..objects).filter(|at| at % 3 == 0).count() as u64;
        let all_writes = (0..objects * 10).filter(|at| at % 3 == 0).count() as u64;
        assert_eq!(stack.firsts(), Some((objects, [objects - writes, writes])));
        assert_eq!(
            stack.misses(&[objects, objects - 1, 1]),
            [
                [objects - writes, writes],
                [objects * 10 - all_writes, all_writes],
                [objects * 10 - all_writes, all_writes],
            ]
        );
    }

    #[test]
    fn a_limited_stack_keeps_no_more() {
        let mut stack = LruStack::new(5);
        for at in 0..100_000u64 {
            stack.access(at.wrapping_mul(at) % 1_009, false);
        }
        assert_eq!((stack.last.len(), stack.firsts()), (5, None));
        assert_eq!((stack.marks.slots(), stack.distances.len()), (FEWEST, 5));
    }
}
