//! Items in ascending order of their keys, those of one key in the order in which they were added.
//!
//! They are kept in a few queues that are ascending each: what is added with one and the same delay after another comes in order, and most devices
//! have few delays. Finding the queue and finding the first item are a look at their ends; what fits no queue goes to a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Queues: the delays of a device, and what is left over.
const LANES: usize = 5;
/// Where the first item is, if it is in none of them.
const HEAP: usize = LANES;
/// The place of the first item of an empty queue.
const NONE: u128 = u128::MAX;

/// A key, and how many items had been added before. The derived order is that in which they are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// The key.
    pub key: u64,
    /// The number of the item, which no other one has.
    pub number: u64,
}

impl Ticket {
    /// Both in a number of the same order.
    #[inline]
    fn place(self) -> u128 {
        u128::from(self.key) << 64 | u128::from(self.number)
    }
}

/// Items with their keys.
pub struct Lanes<T> {
    queues: [VecDeque<(Ticket, T)>; LANES],
    /// The first queues are in use; all others are empty.
    used: usize,
    firsts: [u128; LANES],
    /// The last key of each queue; 0 of an empty one.
    lasts: [u64; LANES],
    heap: BinaryHeap<Reverse<(Ticket, T)>>,
    /// The first place of all, and where it is.
    first: u128,
    at: usize,
    /// Items that were ever added.
    added: u64,
}

impl<T: Copy + Ord> Default for Lanes<T> {
    fn default() -> Lanes<T> {
        Lanes {
            queues: std::array::from_fn(|_| VecDeque::new()),
            used: 0,
            firsts: [NONE; LANES],
            lasts: [0; LANES],
            heap: BinaryHeap::new(),
            first: NONE,
            at: HEAP,
            added: 0,
        }
    }
}

impl<T: Copy + Ord> Lanes<T> {
    /// The first key.
    #[inline]
    pub fn first_key(&self) -> Option<u64> {
        (self.first != NONE).then_some((self.first >> 64) as u64)
    }

    /// The first item.
    #[inline]
    pub fn first(&self) -> Option<&(Ticket, T)> {
        match self.at {
            HEAP => self.heap.peek().map(|Reverse(item)| item),
            lane => self.queues[lane].front(),
        }
    }

    /// Adds an item; its number. Of the queues whose last key is not above its own, it goes to that with the highest.
    #[inline]
    pub fn add(&mut self, key: u64, item: T) -> u64 {
        let ticket = Ticket {
            key,
            number: self.added,
        };
        self.added += 1;
        let (mut lane, mut best) = (self.used, 0);
        for (number, &last) in self.lasts[..self.used].iter().enumerate() {
            if last <= key && last >= best {
                (lane, best) = (number, last);
            }
        }
        if lane == HEAP {
            self.heap.push(Reverse((ticket, item)));
        } else {
            self.used = self.used.max(lane + 1);
            let queue = &mut self.queues[lane];
            if queue.is_empty() {
                self.firsts[lane] = ticket.place();
            }
            queue.push_back((ticket, item));
            self.lasts[lane] = key;
        }
        if ticket.place() < self.first {
            (self.first, self.at) = (ticket.place(), lane);
        }
        ticket.number
    }

    /// Takes the first item.
    #[inline]
    pub fn pop(&mut self) -> Option<(Ticket, T)> {
        let lane = self.at;
        let taken = if lane == HEAP {
            let Reverse(taken) = self.heap.pop()?;
            taken
        } else {
            let queue = &mut self.queues[lane];
            let taken = queue.pop_front()?;
            match queue.front() {
                Some((ticket, _)) => self.firsts[lane] = ticket.place(),
                None => {
                    (self.firsts[lane], self.lasts[lane]) = (NONE, 0);
                    self.used -= usize::from(lane + 1 == self.used);
                }
            }
            taken
        };
        let of_heap = self.heap.peek();
        (self.first, self.at) = (
            of_heap.map_or(NONE, |Reverse((ticket, _))| ticket.place()),
            HEAP,
        );
        for (number, &first) in self.firsts[..self.used].iter().enumerate() {
            if first < self.first {
                (self.first, self.at) = (first, number);
            }
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Items come out in order, however they went in; those of one key in the order in which they did.
        #[test]
        fn agrees_with_a_sorted_list(operations in prop::collection::vec((0u8..5, 0u64..100), 1..600)) {
            let mut lanes = Lanes::default();
            let mut model: Vec<(Ticket, u64)> = Vec::new();
            let mut added = 0;
            for (kind, key) in operations {
                if kind < 3 {
                    let number = lanes.add(key, added * 7);
                    prop_assert_eq!(number, added);
                    model.push((Ticket { key, number }, added * 7));
                    model.sort_unstable();
                    added += 1;
                } else {
                    let expected = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(lanes.pop(), expected);
                }
                prop_assert_eq!(lanes.first_key(), model.first().map(|(ticket, _)| ticket.key));
                prop_assert_eq!(lanes.first(), model.first());
            }
        }
    }
}
