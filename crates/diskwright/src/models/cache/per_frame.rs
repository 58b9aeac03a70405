//! A value for each frame of a cache, which takes memory for the frames that are in use and not for the others.

use std::ops::{Index, IndexMut};

/// A value for each frame, by its number. Frames get their blocks one after the other, so that memory grows with what a cache holds,
/// however large it may become.
#[derive(Clone, Debug)]
pub(crate) struct PerFrame<T> {
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

    #[cold]
    fn grow(&mut self, index: usize) {
        let missing = index + 1 - self.values.len();
        make_room(&mut self.values, missing);
        self.values.resize(index + 1, self.none.clone());
    }
}

/// The fewest values that a list gets room for when it grows.
const STEP: usize = 64;

/// Makes room for `more` values where there is none: an eighth more than there are, so that a list of frames has never much more memory
/// than its values, and all growing together moves each value nine times.
#[inline]
pub(super) fn make_room<T>(values: &mut Vec<T>, more: usize) {
    if values.capacity() - values.len() < more {
        values.reserve_exact(more.max(values.len() / 8).max(STEP));
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
                prop_assert_eq!(&values.values[..], &model[..values.values.len()]);
            }
        }
    }

    #[test]
    fn frames_that_are_not_in_use_take_no_memory() {
        let values = PerFrame::new(3u64);
        assert_eq!(values[usize::MAX], 3);
        assert_eq!(values.values.capacity(), 0);
    }

    #[test]
    fn a_list_has_little_more_room_than_values() {
        let mut values = PerFrame::new(0u8);
        for frame in 0..100_000 {
            values[frame] = 1;
            let room = values.values.capacity();
            assert!(
                room <= frame + 1 + (frame / 8).max(STEP),
                "{room} for {frame}"
            );
        }
    }
}
