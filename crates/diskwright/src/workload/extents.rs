//! Which blocks a trace has touched.

use std::collections::BTreeMap;

/// A set of blocks, kept as runs that neither overlap nor touch.
#[derive(Default)]
pub struct Extents {
    /// From each run's first block to the one after its last.
    runs: BTreeMap<u64, u64>,
    blocks: u64,
}

impl Extents {
    /// How many blocks are in the set.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// How many of the blocks from `start` up to, not with, `end` are in the set.
    pub fn held(&self, start: u64, end: u64) -> u64 {
        let before = self.runs.range(..start).next_back();
        let runs = before
            .into_iter()
            .chain(self.runs.range(start..end.max(start)));
        runs.map(|(&first, &last)| last.min(end).saturating_sub(first.max(start)))
            .sum()
    }

    /// Adds the blocks from `start` up to, not with, `end`.
    pub fn add(&mut self, mut start: u64, mut end: u64) {
        if start >= end {
            return;
        }
        if let Some((&first, &last)) = self.runs.range(..=start).next_back()
            && last >= start
        {
            if last >= end {
                return;
            }
            start = first;
        }
        while let Some((&first, &last)) = self.runs.range(start..=end).next() {
            self.runs.remove(&first);
            self.blocks -= last - first;
            end = end.max(last);
        }
        self.runs.insert(start, end);
        self.blocks += end - start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_count_like_a_set_of_blocks(runs in prop::collection::vec((0u64..200, 0u64..40), 0..60)) {
            let mut extents = Extents::default();
            let mut blocks = HashSet::new();
            for (start, length) in runs {
                extents.add(start, start + length);
                blocks.extend(start..start + length);
                prop_assert_eq!(extents.blocks(), blocks.len() as u64);
            }
            for (start, length) in (0..250).step_by(7).zip((0..90).cycle()) {
                let held = (start..start + length).filter(|block| blocks.contains(block)).count();
                prop_assert_eq!(extents.held(start, start + length), held as u64);
            }
            let runs: Vec<_> = extents.runs.iter().collect();
            prop_assert!(runs.windows(2).all(|w| w[0].1 < w[1].0));
        }
    }

    #[test]
    fn the_last_block_there_is_can_be_added() {
        let mut extents = Extents::default();
        extents.add(u64::MAX - 1, u64::MAX);
        extents.add(0, u64::MAX);
        assert_eq!(extents.blocks(), u64::MAX);
    }
}
