//! The places at which a request of some size may begin in a range.

use crate::base::units::Lbn;

/// `first`, `first + 1`, … times `align`, `count` of them; there is at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    first: u64,
    /// How many.
    pub count: u64,
    align: u64,
}

impl Places {
    /// The places in blocks `start..end` for a request of `size` blocks that begins at a multiple of `align`, neither of
    /// them 0; `None` when there is none.
    pub fn new(start: u64, end: u64, size: u64, align: u64) -> Option<Places> {
        let first = start.div_ceil(align);
        let last = end.checked_sub(size)? / align;
        Some(Places {
            first,
            count: last.checked_sub(first)? + 1,
            align,
        })
    }

    /// The address of the place of index `index`, from 0.
    #[inline]
    pub fn at(&self, index: u64) -> Lbn {
        debug_assert!(index < self.count);
        Lbn((self.first + index) * self.align)
    }

    /// The index of the last place that is not after `lbn`, or of the nearest one there is.
    #[inline]
    pub fn index_at(&self, lbn: Lbn) -> u64 {
        let place = lbn.0 / self.align;
        place.saturating_sub(self.first).min(self.count - 1)
    }

    /// Blocks from one place to the next.
    pub fn spacing(&self) -> u64 {
        self.align
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_places_are_those_that_fit(start in 0u64..50, length in 0u64..50, size in 1u64..20, align in 1u64..20) {
            let end = start + length;
            let brute: Vec<_> = (start..end).filter(|b| b % align == 0 && b + size <= end).collect();
            let places = Places::new(start, end, size, align);
            let all: Vec<_> = places.iter().flat_map(|p| (0..p.count).map(|i| p.at(i).0)).collect();
            prop_assert_eq!(&all, &brute);
            if let Some(places) = places {
                for lbn in 0..end {
                    let at = places.at(places.index_at(Lbn(lbn))).0;
                    let best = brute.iter().copied().filter(|b| *b <= lbn).max();
                    prop_assert_eq!(at, best.unwrap_or(brute[0]));
                }
            }
        }
    }
}
