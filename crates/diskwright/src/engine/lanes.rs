//! Items in ascending order of their keys, those of one key in the order in which they were added.
//!
//! They are kept in a few queues that are ascending each: what is added with one and the same delay after another comes in order, and most devices
//! have few delays. Finding the queue and finding the first item are a look at their ends; what fits no queue goes to a heap.

use std::cmp::{Ordering, Reverse};
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

/// Items with their tickets.
pub struct Lanes<T> {
    queues: [VecDeque<(Ticket, T)>; LANES],
    /// The first queues are in use; all others are empty.
    used: usize,
    firsts: [u128; LANES],
    /// The last key of each queue; 0 of an empty one.
    lasts: [u64; LANES],
    heap: BinaryHeap<Reverse<ByTicket<T>>>,
    /// The first place of all, and where it is.
    first: u128,
    at: usize,
}

/// An item in the order of its ticket, which no other one has.
struct ByTicket<T>(Ticket, T);

impl<T> PartialEq for ByTicket<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for ByTicket<T> {}

impl<T> PartialOrd for ByTicket<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for ByTicket<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl<T: Copy> Default for Lanes<T> {
    fn default() -> Lanes<T> {
        Lanes {
            queues: std::array::from_fn(|_| VecDeque::new()),
            used: 0,
            firsts: [NONE; LANES],
            lasts: [0; LANES],
            heap: BinaryHeap::new(),
            first: NONE,
            at: HEAP,
        }
    }
}

impl<T: Copy> Lanes<T> {
    /// The first key.
    #[inline]
    pub fn first_key(&self) -> Option<u64> {
        (self.first != NONE).then_some((self.first >> 64) as u64)
    }

    /// All items, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (Ticket, &T)> {
        let queued = self.queues.iter().flatten();
        let queued = queued.map(|(ticket, item)| (*ticket, item));
        let rest = self.heap.iter();
        queued.chain(rest.map(|Reverse(ByTicket(ticket, item))| (*ticket, item)))
    }

    /// The item of a ticket, if it is there.
    pub fn get(&self, ticket: Ticket) -> Option<&T> {
        let in_queue = |queue: &'_ VecDeque<(Ticket, T)>| {
            let found = queue.binary_search_by(|(other, _)| other.cmp(&ticket));
            found.ok()
        };
        let mut queues = self.queues.iter();
        let queued = queues.find_map(|queue| queue.get(in_queue(queue)?));
        let queued = queued.map(|(_, item)| item);
        let mut rest = self.heap.iter();
        queued.or_else(|| {
            let found = rest.find(|Reverse(ByTicket(other, _))| *other == ticket);
            found.map(|Reverse(ByTicket(_, item))| item)
        })
    }

    /// Adds an item whose number is higher than those of all others. Of the queues whose last key is not above its own, it goes to that with
    /// the highest.
    #[inline]
    pub fn add(&mut self, ticket: Ticket, item: T) {
        let (mut lane, mut best) = (self.used, 0);
        for (number, &last) in self.lasts[..self.used].iter().enumerate() {
            if last <= ticket.key && last >= best {
                (lane, best) = (number, last);
            }
        }
        if lane == HEAP {
            self.heap.push(Reverse(ByTicket(ticket, item)));
        } else {
            self.used = self.used.max(lane + 1);
            let queue = &mut self.queues[lane];
            if queue.is_empty() {
                self.firsts[lane] = ticket.place();
            }
            queue.push_back((ticket, item));
            self.lasts[lane] = ticket.key;
        }
        if ticket.place() < self.first {
            (self.first, self.at) = (ticket.place(), lane);
        }
    }

    /// Adds an item whose ticket is before those of all others.
    pub fn add_first(&mut self, ticket: Ticket, item: T) {
        if self.queues[0].is_empty() {
            self.used = self.used.max(1);
            self.lasts[0] = ticket.key;
        }
        self.queues[0].push_front((ticket, item));
        self.firsts[0] = ticket.place();
        (self.first, self.at) = (ticket.place(), 0);
    }

    /// Takes the first item.
    #[inline]
    pub fn pop(&mut self) -> Option<(Ticket, T)> {
        let lane = self.at;
        let taken = if lane == HEAP {
            let Reverse(ByTicket(ticket, item)) = self.heap.pop()?;
            (ticket, item)
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
            of_heap.map_or(NONE, |Reverse(ByTicket(ticket, _))| ticket.place()),
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
        fn agrees_with_a_sorted_list(operations in prop::collection::vec((0u8..6, 0u64..100), 1..600)) {
            let mut lanes = Lanes::default();
            let mut model: Vec<(Ticket, u64)> = Vec::new();
            for (number, (kind, key)) in (1000..).zip(operations) {
                let first = model.first().map_or(u64::MAX, |(ticket, _)| ticket.key);
                if kind < 3 {
                    let ticket = Ticket { key, number };
                    lanes.add(ticket, number * 7);
                    model.push((ticket, number * 7));
                    model.sort_unstable();
                } else if kind == 3 && key <= first {
                    // Evicted from before: with a number lower than all, also within one key.
                    let ticket = Ticket { key, number: 2000 - number };
                    if model.first().is_none_or(|(first, _)| ticket < *first) {
                        lanes.add_first(ticket, number);
                        model.insert(0, (ticket, number));
                    }
                } else {
                    let expected = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(lanes.pop(), expected);
                }
                prop_assert_eq!(lanes.first_key(), model.first().map(|(ticket, _)| ticket.key));
                let mut all: Vec<(Ticket, u64)> = lanes.iter().map(|(ticket, &item)| (ticket, item)).collect();
                all.sort_unstable();
                prop_assert_eq!(&all, &model);
                prop_assert!(all.iter().all(|(ticket, item)| lanes.get(*ticket) == Some(item)));
                let other = Ticket { key, number: 0 };
                prop_assert_eq!(lanes.get(other), None);
            }
        }
    }
}
