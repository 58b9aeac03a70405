//! What is to be handled within an instant, first in first out.

use std::collections::VecDeque;

/// A queue that mostly holds one item, or none: that one stands apart.
pub(crate) struct Fifo<T> {
    first: Option<T>,
    rest: VecDeque<T>,
}

impl<T> Default for Fifo<T> {
    fn default() -> Fifo<T> {
        Fifo {
            first: None,
            rest: VecDeque::new(),
        }
    }
}

impl<T> Fifo<T> {
    /// Adds an item at the end.
    #[inline]
    pub fn push(&mut self, item: T) {
        if self.first.is_none() && self.rest.is_empty() {
            self.first = Some(item);
        } else {
            self.rest.push_back(item);
        }
    }

    /// Takes the first item.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        match self.first.take() {
            None => self.rest.pop_front(),
            first => first,
        }
    }

    /// The items, the first one first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_plain_queue(operations in prop::collection::vec(0u8..8, 1..100)) {
            let (mut fifo, mut model) = (Fifo::default(), VecDeque::new());
            for (number, kind) in operations.into_iter().enumerate() {
                prop_assert_eq!(fifo.iter().collect::<Vec<_>>(), model.iter().collect::<Vec<_>>());
                match kind {
                    0..4 => {
                        fifo.push(number);
                        model.push_back(number);
                    }
                    _ => prop_assert_eq!(fifo.pop(), model.pop_front()),
                }
            }
            prop_assert_eq!(std::iter::from_fn(|| fifo.pop()).collect::<VecDeque<_>>(), model);
        }
    }
}
