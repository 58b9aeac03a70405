//! Blocks of which the newest data are lost: they were dirty in a cache device that cannot give them back.

use std::collections::BTreeMap;

use crate::engine::request::Outcome;

/// Runs of blocks, each with what a read of them ends with, until they are written or trimmed.
#[derive(Default)]
pub(super) struct LostBlocks {
    /// By their first block: the block after the last, and the outcome.
    runs: BTreeMap<u64, (u64, Outcome)>,
}

impl LostBlocks {
    /// How many are.
    pub fn blocks(&self) -> u64 {
        self.runs.iter().map(|(first, (end, _))| end - first).sum()
    }

    /// What the first of them ends a read with.
    pub fn first(&self) -> Option<Outcome> {
        self.runs
            .first_key_value()
            .map(|(_, (_, outcome))| *outcome)
    }

    /// What a read of a run of blocks ends with that has some of them: the outcome of the first.
    #[inline]
    pub fn meets(&self, lbn: u64, blocks: u32) -> Option<Outcome> {
        if self.runs.is_empty() {
            return None;
        }
        let end = lbn + u64::from(blocks);
        let before = self.runs.range(..=lbn).next_back();
        let before = before.filter(|(_, (end, _))| *end > lbn);
        let run = before.or_else(|| self.runs.range(lbn..end).next());
        run.map(|(_, (_, outcome))| *outcome)
    }

    /// A run of blocks is lost. How many of them were not.
    pub fn add(&mut self, lbn: u64, blocks: u32, outcome: Outcome) -> u64 {
        let known = self.remove(lbn, blocks);
        self.runs.insert(lbn, (lbn + u64::from(blocks), outcome));
        u64::from(blocks) - known
    }

    /// A run of blocks has new data, or needs none. How many of them were lost.
    #[inline]
    pub fn remove(&mut self, lbn: u64, blocks: u32) -> u64 {
        if self.runs.is_empty() {
            return 0;
        }
        let end = lbn + u64::from(blocks);
        let mut removed = 0;
        if let Some((&first, &(until, outcome))) = self.runs.range(..lbn).next_back()
            && until > lbn
        {
            removed += until.min(end) - lbn;
            self.runs.insert(first, (lbn, outcome));
            if until > end {
                self.runs.insert(end, (until, outcome));
            }
        }
        while let Some((&first, &(until, outcome))) = self.runs.range(lbn..end).next() {
            removed += until.min(end) - first;
            self.runs.remove(&first);
            if until > end {
                self.runs.insert(end, (until, outcome));
            }
        }
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agree_with_a_list_of_blocks(changes in prop::collection::vec((0u8..3, 0u64..50, 1u32..20), 1..40)) {
            let mut lost = LostBlocks::default();
            let mut model = [None; 80];
            for (what, lbn, blocks) in changes {
                let range = lbn as usize..(lbn + u64::from(blocks)) as usize;
                let outcome = [None, Some(Outcome::MediaError), Some(Outcome::FailedDevice)][usize::from(what)];
                let first = model[range.clone()].iter().flatten().next().copied();
                prop_assert_eq!(lost.meets(lbn, blocks), first);
                match outcome {
                    None => {
                        let count = model[range.clone()].iter().flatten().count() as u64;
                        prop_assert_eq!(lost.remove(lbn, blocks), count);
                    }
                    Some(outcome) => {
                        let count = model[range.clone()].iter().filter(|lost| lost.is_none()).count() as u64;
                        prop_assert_eq!(lost.add(lbn, blocks, outcome), count);
                    }
                }
                model[range].fill(outcome);
                prop_assert_eq!(lost.first(), model.iter().flatten().next().copied());
                prop_assert_eq!(lost.blocks(), model.iter().flatten().count() as u64);
            }
        }
    }
}
