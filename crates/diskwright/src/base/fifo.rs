//! A queue that is emptied again and again, first in first out.

/// Items in the order in which they came.
///
/// A plain list of which the front has been taken: while it is emptied every now and then, nothing is moved and nothing wraps around.
#[derive(Debug)]
pub struct Fifo<T> {
    items: Vec<T>,
    /// How many have been taken.
    taken: usize,
}

/// How many items are taken before their room is given back, if the queue is never empty.
const MOST_TAKEN: usize = 4096;

impl<T> Default for Fifo<T> {
    fn default() -> Fifo<T> {
        Fifo {
            items: Vec::new(),
            taken: 0,
        }
    }
}

impl<T: Copy> Fifo<T> {
    /// Adds an item at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Takes the first item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let item = *self.items.get(self.taken)?;
        self.taken += 1;
        if self.taken == self.items.len() {
            self.items.clear();
            self.taken = 0;
        } else if self.taken == MOST_TAKEN {
            self.give_back();
        }
        Some(item)
    }

    /// Gives back the room of what has been taken.
    #[cold]
    fn give_back(&mut self) {
        self.items.drain(..self.taken);
        self.taken = 0;
    }

    /// The item that came last, if it has not been taken.
    #[inline]
    pub fn last(&self) -> Option<&T> {
        // Nothing is left in the list when all is taken.
        self.items.last()
    }

    /// The items, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.items[self.taken..].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Random pushes and pops against a deque, also where it is not empty for long.
        #[test]
        fn agrees_with_a_deque(runs in prop::collection::vec((0usize..6000, 0usize..6000), 1..12)) {
            let (mut fifo, mut deque, mut next) = (Fifo::default(), VecDeque::new(), 0);
            for (pushes, pops) in runs {
                for _ in 0..pushes {
                    fifo.push(next);
                    deque.push_back(next);
                    next += 1;
                }
                for _ in 0..pops {
                    prop_assert_eq!(fifo.pop(), deque.pop_front());
                }
                prop_assert_eq!(fifo.last(), deque.back());
                prop_assert_eq!(fifo.iter().collect::<Vec<_>>(), Vec::from(deque.clone()));
            }
        }
    }
}
