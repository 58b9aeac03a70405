//! Sets of blocks as runs in order.

use std::collections::BTreeMap;

/// Blocks, as runs that neither meet nor touch: the first block of each, and the one behind its last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    runs: BTreeMap<u64, u64>,
    blocks: u64,
}

impl Runs {
    /// How many blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Adds the blocks from one to below another.
    pub fn add(&mut self, from: u64, end: u64) {
        if from >= end {
            return;
        }
        self.remove(from, end);
        let (mut from, mut end) = (from, end);
        self.blocks += end - from;
        if let Some((&start, &last)) = self.runs.range(..from).next_back()
            && last == from
        {
            self.runs.remove(&start);
            from = start;
        }
        if let Some(last) = self.runs.remove(&end) {
            end = last;
        }
        self.runs.insert(from, end);
    }

    /// Removes those from one block to below another.
    pub fn remove(&mut self, from: u64, end: u64) {
        if from >= end {
            return;
        }
        if let Some((_, last)) = self.runs.range_mut(..from).next_back()
            && *last > from
        {
            let behind = *last;
            *last = from;
            self.blocks -= behind.min(end) - from;
            if behind > end {
                self.runs.insert(end, behind);
            }
        }
        while let Some((&start, &last)) = self.runs.range(from..end).next() {
            self.runs.remove(&start);
            self.blocks -= last.min(end) - start;
            if last > end {
                self.runs.insert(end, last);
            }
        }
    }

    /// The first run from a block on and below another: its part in between.
    pub fn next(&self, from: u64, end: u64) -> Option<(u64, u64)> {
        if from >= end {
            return None;
        }
        if let Some((_, &last)) = self.runs.range(..=from).next_back()
            && last > from
        {
            return Some((from, last.min(end)));
        }
        let (&start, &last) = self.runs.range(from..end).next()?;
        Some((start, last.min(end)))
    }

    /// Whether all blocks from one to below another are there.
    pub fn has_all(&self, from: u64, end: u64) -> bool {
        self.next(from, end) == Some((from, end))
    }

    /// The whole blocks from one to below another: runs that are there, and runs that are not.
    pub fn divide(&self, from: u64, end: u64) -> impl Iterator<Item = (u64, u64, bool)> {
        let mut at = from;
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let (first, last, is_there) = match self.next(at, end) {
                Some((first, last)) if first == at => (at, last, true),
                Some((first, _)) => (at, first, false),
                None => (at, end, false),
            };
            at = last;
            Some((first, last, is_there))
        })
    }

    /// Removes all; what was there.
    pub fn take(&mut self) -> Runs {
        std::mem::take(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of truths.
        #[test]
        fn agree_with_a_row_of_truths(changes in prop::collection::vec((any::<bool>(), 0usize..60, 0usize..20), 0..40), from in 0usize..60, length in 1usize..20) {
            let mut runs = Runs::default();
            let mut model = [false; 80];
            for (adds, from, length) in changes {
                model[from..from + length].fill(adds);
                match adds {
                    true => runs.add(from as u64, (from + length) as u64),
                    false => runs.remove(from as u64, (from + length) as u64),
                }
                prop_assert_eq!(runs.blocks(), model.iter().filter(|is_there| **is_there).count() as u64);
                let ends: Vec<(u64, u64)> = runs.runs.iter().map(|(&from, &end)| (from, end)).collect();
                prop_assert!(ends.iter().all(|run| run.0 < run.1) && ends.windows(2).all(|two| two[0].1 < two[1].0));
            }
            let within = &model[from..from + length];
            prop_assert_eq!(runs.has_all(from as u64, (from + length) as u64), within.iter().all(|is_there| *is_there));
            let first = within.iter().position(|is_there| *is_there).map(|at| {
                let run = within[at..].iter().take_while(|is_there| **is_there).count();
                ((from + at) as u64, (from + at + run) as u64)
            });
            prop_assert_eq!(runs.next(from as u64, (from + length) as u64), first);
            let mut rebuilt = Vec::new();
            for (first, end, is_there) in runs.divide(from as u64, (from + length) as u64) {
                rebuilt.extend((first..end).map(|_| is_there));
            }
            prop_assert_eq!(&rebuilt[..], within);
        }
    }
}
