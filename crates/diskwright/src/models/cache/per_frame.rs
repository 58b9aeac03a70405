//! A value for each frame of a cache, which takes memory for the frames that are in use and not for the others.

use std::ops::{Index, IndexMut};

/// A value for each frame, by its number. Frames get their blocks one after the other, so that memory grows with what a cache holds,
/// however large it may become.
#[derive(Clone, Debug)]
pub(super) struct PerFrame<T> {
    values: Vec<T>,
    /// What frames have that were never in use.
    none: T,
}

impl<T: Clone> PerFrame<T> {
    /// All frames have the same value.
    pub fn new(none: T) -> PerFrame<T> {
        PerFrame {
            values: Vec::new(),
            none,
        }
    }

    /// The values of all frames that were ever written, by their numbers.
    pub fn written(&self) -> &[T] {
        &self.values
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.values.resize(index + 1, self.none.clone());
    }
}

impl<T: Clone + Default> Default for PerFrame<T> {
    fn default() -> PerFrame<T> {
        PerFrame::new(T::default())
    }
}

impl<T> Index<usize> for PerFrame<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        self.values.get(index).unwrap_or(&self.none)
    }
}

impl<T: Clone> IndexMut<usize> for PerFrame<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        if index >= self.values.len() {
            self.grow(index);
        }
        &mut self.values[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_as_a_list_of_all_frames(operations in prop::collection::vec((0usize..40, prop::option::of(0u32..9)), 1..100)) {
            let mut values = PerFrame::new(7);
            let mut model = [7; 40];
            for (frame, value) in operations {
                if let Some(value) = value {
                    values[frame] = value;
                    model[frame] = value;
                }
                prop_assert_eq!(values[frame], model[frame]);
                prop_assert_eq!(values.written(), &model[..values.written().len()]);
            }
        }
    }

    #[test]
    fn frames_that_are_not_in_use_take_no_memory() {
        let values = PerFrame::new(3u64);
        assert_eq!(values[usize::MAX], 3);
        assert!(values.written().is_empty());
    }
}
