//! Items in ascending order of their keys, kept in a few queues that are ascending each: what is set with one and the same delay after another comes
//! in order, and most devices have few delays. Finding the queue and finding the first item are a look at their ends; what fits no queue
//! goes to a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Queues: the delays of a device, and what is left over.
const LANES: usize = 5;
/// Where the first item is, if it is in none of them.
const HEAP: usize = LANES;
/// The first key of an empty queue; 0 is the last one.
const NONE: u128 = u128::MAX;

/// Items with keys above 0, no two of which are equal.
pub struct Lanes<T> {
    queues: [VecDeque<(u128, T)>; LANES],
    firsts: [u128; LANES],
    lasts: [u128; LANES],
    heap: BinaryHeap<Reverse<(u128, T)>>,
    /// The first key of all, and where it is.
    first: u128,
    at: usize,
}

impl<T: Copy + Ord> Default for Lanes<T> {
    fn default() -> Lanes<T> {
        Lanes {
            queues: std::array::from_fn(|_| VecDeque::new()),
            firsts: [NONE; LANES],
            lasts: [0; LANES],
            heap: BinaryHeap::new(),
            first: NONE,
            at: HEAP,
        }
    }
}

impl<T: Copy + Ord> Lanes<T> {
    /// The first key.
    #[inline]
    pub fn first(&self) -> Option<u128> {
        (self.first != NONE).then_some(self.first)
    }

    /// Adds an item, behind the one of those at the ends of queues that comes last before it.
    #[inline]
    pub fn add(&mut self, key: u128, item: T) {
        let (mut lane, mut best) = (HEAP, 0);
        for (number, &last) in self.lasts.iter().enumerate() {
            if last < key && (last > best || lane == HEAP) {
                (lane, best) = (number, last);
            }
        }
        if lane == HEAP {
            self.heap.push(Reverse((key, item)));
        } else {
            self.queues[lane].push_back((key, item));
            self.lasts[lane] = key;
            self.firsts[lane] = self.firsts[lane].min(key);
        }
        if key < self.first {
            (self.first, self.at) = (key, lane);
        }
    }

    /// Takes the first item.
    #[inline]
    pub fn pop(&mut self) -> Option<(u128, T)> {
        let lane = self.at;
        let taken = if lane == HEAP {
            let Reverse(taken) = self.heap.pop()?;
            taken
        } else {
            let queue = &mut self.queues[lane];
            let taken = queue.pop_front()?;
            match queue.front() {
                Some(&(key, _)) => self.firsts[lane] = key,
                None => (self.firsts[lane], self.lasts[lane]) = (NONE, 0),
            }
            taken
        };
        self.first = self.heap.peek().map_or(NONE, |Reverse((key, _))| *key);
        self.at = HEAP;
        for (number, &first) in self.firsts.iter().enumerate() {
            if first < self.first {
                (self.first, self.at) = (first, number);
            }
        }
        Some(taken)
    }

    /// All items, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let queues = self.queues.iter().flatten().map(|(_, item)| item);
        queues.chain(self.heap.iter().map(|Reverse((_, item))| item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Items come out in order, however they went in.
        #[test]
        fn agrees_with_a_sorted_list(operations in prop::collection::vec((0u8..5, 0u128..1000), 1..600)) {
            let mut lanes = Lanes::default();
            let mut model: Vec<(u128, usize)> = Vec::new();
            for (number, (kind, value)) in operations.into_iter().enumerate() {
                if kind < 3 {
                    let key = value << 64 | (number as u128 + 1);
                    lanes.add(key, number);
                    model.push((key, number));
                    model.sort_unstable();
                } else {
                    let expected = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(lanes.pop(), expected);
                }
                prop_assert_eq!(lanes.first(), model.first().map(|&(key, _)| key));
                let mut all: Vec<_> = lanes.iter().copied().collect();
                all.sort_unstable();
                let mut expected: Vec<_> = model.iter().map(|&(_, number)| number).collect();
                expected.sort_unstable();
                prop_assert_eq!(all, expected);
            }
        }
    }
}
