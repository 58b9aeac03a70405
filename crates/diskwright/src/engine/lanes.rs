//! Alarms in the order in which they are due, kept in a few queues that are in order each: what is set with one and the same delay after another comes
//! in order, and most devices have few delays. Finding the queue and finding the first alarm are a look at their ends; what fits no queue
//! goes to a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::base::units::Time;

/// Queues: the delays of a device, and what is left over.
const LANES: usize = 5;
/// Where the first alarm is, if it is in none of them.
const HEAP: usize = LANES;
/// The first instant of an empty queue; alarms for it go to the heap.
const NEVER: u64 = u64::MAX;

/// An alarm among the others. The derived order compares time, then sequence, which is unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// When it is due.
    pub at: Time,
    /// When it was set, counted in alarms.
    pub sequence: u64,
    /// Its slot, and the generation of that.
    pub slot: u32,
    pub generation: u32,
}

/// The ends of a queue: the first one's time and sequence, and the last one's time.
#[derive(Clone, Copy)]
struct Ends {
    first: u64,
    sequence: u64,
    last: u64,
}

impl Ends {
    /// Those of an empty queue.
    const NONE: Ends = Ends {
        first: NEVER,
        sequence: u64::MAX,
        last: 0,
    };
}

/// Alarms that are pending.
pub struct Lanes {
    queues: [VecDeque<Entry>; LANES],
    ends: [Ends; LANES],
    heap: BinaryHeap<Reverse<Entry>>,
    /// The first instant of all, and where it is.
    first: u64,
    at: usize,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            queues: std::array::from_fn(|_| VecDeque::new()),
            ends: [Ends::NONE; LANES],
            heap: BinaryHeap::new(),
            first: NEVER,
            at: HEAP,
        }
    }
}

impl Lanes {
    /// Whether the first alarm is before an instant, or in it.
    #[inline]
    pub fn begins_by(&self, at: Time) -> bool {
        self.first <= at.ns()
    }

    /// Adds the alarm that was set last of all.
    #[inline]
    pub fn add_newest(&mut self, entry: Entry) {
        self.add(entry, entry.at.ns().wrapping_add(1));
    }

    /// Adds an alarm that was set before others.
    pub fn add_older(&mut self, entry: Entry) {
        self.add(entry, entry.at.ns());
    }

    /// Adds an alarm to the queue, of those that end before an instant, that ends last.
    #[inline]
    fn add(&mut self, entry: Entry, before: u64) {
        let at = entry.at.ns();
        let (mut lane, mut best) = (HEAP, 0);
        for (number, ends) in self.ends.iter().enumerate() {
            // One more than the end, so that even an empty queue is better than none.
            let end = if ends.last < before { ends.last + 1 } else { 0 };
            (lane, best) = if end > best {
                (number, end)
            } else {
                (lane, best)
            };
        }
        if lane == HEAP || at == NEVER {
            lane = HEAP;
            self.heap.push(Reverse(entry));
        } else {
            self.queues[lane].push_back(entry);
            let ends = &mut self.ends[lane];
            ends.last = at;
            if ends.first == NEVER {
                (ends.first, ends.sequence) = (at, entry.sequence);
            }
        }
        if at < self.first || at == self.first && self.is_before_first(&entry) {
            (self.first, self.at) = (at, lane);
        }
    }

    /// Whether an alarm of the first instant was set before the first one.
    fn is_before_first(&self, entry: &Entry) -> bool {
        let first = match self.queues.get(self.at) {
            Some(queue) => queue.front(),
            None => self.heap.peek().map(|Reverse(first)| first),
        };
        first.is_some_and(|first| entry < first)
    }

    /// Takes the first alarm.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        let lane = self.at;
        let taken = if lane == HEAP {
            let Reverse(taken) = self.heap.pop()?;
            taken
        } else {
            let queue = &mut self.queues[lane];
            let taken = queue.pop_front()?;
            self.ends[lane] = match queue.front() {
                Some(next) => Ends {
                    first: next.at.ns(),
                    sequence: next.sequence,
                    last: self.ends[lane].last,
                },
                None => Ends::NONE,
            };
            taken
        };
        let first_of_heap = self.heap.peek();
        let (mut first, mut sequence) = first_of_heap
            .map_or((NEVER, u64::MAX), |Reverse(first)| {
                (first.at.ns(), first.sequence)
            });
        self.at = HEAP;
        for (number, ends) in self.ends.iter().enumerate() {
            if ends.first < first || ends.first == first && ends.sequence < sequence {
                (first, sequence, self.at) = (ends.first, ends.sequence, number);
            }
        }
        self.first = first;
        Some(taken)
    }

    /// All alarms, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        let queues = self.queues.iter().flatten();
        queues.chain(self.heap.iter().map(|Reverse(entry)| entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Alarms come out in order, however they went in; every now and then one is taken and put back.
        #[test]
        fn agrees_with_a_sorted_list(operations in prop::collection::vec((0u8..6, 0u64..40, 0u8..20), 1..600)) {
            let mut lanes = Lanes::default();
            let mut model: Vec<Entry> = Vec::new();
            for (number, (kind, at, far)) in operations.into_iter().enumerate() {
                let at = if far == 0 { u64::MAX - at / 39 } else { at };
                let entry = Entry { at: Time::from_ns(at), sequence: number as u64, slot: 0, generation: 0 };
                if kind < 3 {
                    lanes.add_newest(entry);
                    model.push(entry);
                    model.sort_unstable();
                } else {
                    let expected = (!model.is_empty()).then(|| model.remove(0));
                    prop_assert_eq!(lanes.pop(), expected);
                    if let Some(entry) = expected.filter(|_| kind == 5) {
                        lanes.add_older(entry);
                        model.insert(0, entry);
                    }
                }
                for at in [at, 20] {
                    let begins = model.first().is_some_and(|first| first.at.ns() <= at);
                    prop_assert!(lanes.begins_by(Time::from_ns(at)) == begins || at == u64::MAX);
                }
                let mut all: Vec<_> = lanes.iter().copied().collect();
                all.sort_unstable();
                prop_assert_eq!(&all, &model);
            }
        }
    }
}
