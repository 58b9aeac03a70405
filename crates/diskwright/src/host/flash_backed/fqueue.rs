//! The FQueue: writes that were redirected to the NV cache, whose data stay in the host's memory.

use std::collections::BTreeMap;
use std::ops::Range;

/// A redirected write, or what is left of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub lbn: u64,
    pub blocks: u64,
    /// Its place in the order of arrival.
    pub order: u64,
    /// Writes of it to the NV cache that are under way.
    pub under_way: u32,
}

impl Entry {
    pub fn end(&self) -> u64 {
        self.lbn + self.blocks
    }
}

/// Entries that have no block in common, by place and in the order of their arrival. All takes logarithmic time.
#[derive(Default)]
pub(super) struct FQueue {
    by_place: BTreeMap<u64, Entry>,
    by_order: BTreeMap<u64, u64>,
    blocks: u64,
    arrived: u64,
}

/// How much of a run is in the FQueue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    Part,
    Whole,
}

impl FQueue {
    /// Blocks in it.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Entries in it.
    pub fn len(&self) -> usize {
        self.by_place.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.by_place.is_empty()
    }

    /// The entries that a run overlaps, by place.
    pub fn overlapping(&self, run: &Range<u64>) -> impl Iterator<Item = &Entry> + '_ {
        let run = run.clone();
        let before = self.by_place.range(..run.start).next_back();
        let first = before.filter(|(_, entry)| entry.end() > run.start);
        let behind = self.by_place.range(run.start..run.end.max(run.start));
        first.into_iter().chain(behind).map(|(_, entry)| entry)
    }

    /// The entries that a run touches, overlapping or adjoining it, by place.
    pub fn touching(&self, run: &Range<u64>) -> impl Iterator<Item = &Entry> + '_ {
        let run = run.clone();
        let before = self.by_place.range(..run.start).next_back();
        let first = before.filter(|(_, entry)| entry.end() >= run.start);
        let behind = self.by_place.range(run.start..=run.end);
        first.into_iter().chain(behind).map(|(_, entry)| entry)
    }

    /// A run with all that is contiguous with it in the FQueue.
    pub fn merged(&self, run: &Range<u64>) -> Range<u64> {
        let mut merged = run.clone();
        loop {
            let mut touched = self.touching(&merged);
            let Some(first) = touched.next() else {
                return merged;
            };
            let last = touched.last().unwrap_or(first);
            let wider = merged.start.min(first.lbn)..merged.end.max(last.end());
            if wider == merged {
                return merged;
            }
            merged = wider;
        }
    }

    /// How much of a run is there.
    pub fn find(&self, run: &Range<u64>) -> Found {
        if self.is_empty() {
            return Found::Nothing;
        }
        let within = |entry: &Entry| entry.end().min(run.end) - entry.lbn.max(run.start);
        let found: u64 = self.overlapping(run).map(within).sum();
        match found {
            0 => Found::Nothing,
            all if all == run.end - run.start => Found::Whole,
            _ => Found::Part,
        }
    }

    /// The entry that came first.
    pub fn oldest(&self) -> Option<&Entry> {
        let (_, lbn) = self.by_order.first_key_value()?;
        self.by_place.get(lbn)
    }

    /// Adds an entry that overlaps none, at the end of the order or at an entry's place that has left it; returns its order.
    pub fn insert(&mut self, run: &Range<u64>, order: Option<u64>) -> u64 {
        let order = order.unwrap_or_else(|| {
            self.arrived += 1;
            self.arrived
        });
        let entry = Entry {
            lbn: run.start,
            blocks: run.end - run.start,
            order,
            under_way: 1,
        };
        self.blocks += entry.blocks;
        self.by_order.insert(order, entry.lbn);
        let other = self.by_place.insert(entry.lbn, entry);
        debug_assert_eq!(other, None, "entries have no block in common");
        order
    }

    /// Removes the first entry within a run.
    pub fn take_within(&mut self, run: &Range<u64>) -> Option<Entry> {
        let (&lbn, entry) = self.by_place.range(run.clone()).next()?;
        debug_assert!(entry.end() <= run.end, "an entry leaves as a whole");
        let entry = self.by_place.remove(&lbn)?;
        self.by_order.remove(&entry.order);
        self.blocks -= entry.blocks;
        Some(entry)
    }

    /// Whether the entry of an order is there, at a block.
    pub fn holds(&self, lbn: u64, order: u64) -> bool {
        (self.by_place.get(&lbn)).is_some_and(|entry| entry.order == order)
    }

    /// A write of an entry to the NV cache has ended, if the entry is still what was written.
    pub fn backed(&mut self, lbn: u64, order: u64) {
        let entry = self.by_place.get_mut(&lbn);
        if let Some(entry) = entry.filter(|entry| entry.order == order) {
            entry.under_way = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn queue(runs: &[Range<u64>]) -> FQueue {
        let mut queue = FQueue::default();
        runs.iter().for_each(|run| _ = queue.insert(run, None));
        queue
    }

    #[test]
    fn merging_takes_all_that_is_contiguous() {
        let queue = queue(&[30..40, 0..8, 16..20, 8..16, 50..60]);
        assert_eq!(queue.merged(&(20..30)), 0..40);
        assert_eq!(queue.merged(&(21..29)), 21..29);
        assert_eq!(queue.merged(&(21..30)), 21..40);
        assert_eq!(queue.merged(&(49..51)), 49..60);
        assert_eq!(queue.oldest().map(|entry| entry.lbn), Some(30));
    }

    #[test]
    fn an_entry_that_replaces_another_has_its_turn() {
        let mut queue = queue(&[0..8, 100..108, 200..208]);
        let old = queue.take_within(&(96..112)).expect("it is there");
        queue.insert(&(96..112), Some(old.order));
        assert_eq!(
            queue.take_within(&(0..8)).map(|entry| entry.blocks),
            Some(8)
        );
        assert_eq!(queue.oldest().map(|entry| entry.lbn), Some(96));
        assert_eq!((queue.len(), queue.blocks()), (2, 24));
    }

    proptest! {
        /// Against a list of blocks.
        #[test]
        fn finds_what_a_list_of_blocks_has(runs in prop::collection::vec((0u64..60, 1u64..6), 0..12), from in 0u64..66, length in 1u64..12) {
            let mut queue = FQueue::default();
            let mut owner = [None; 80];
            for (number, (lbn, blocks)) in runs.into_iter().enumerate() {
                let run = lbn..lbn + blocks;
                if queue.overlapping(&run).next().is_none() {
                    owner[lbn as usize..run.end as usize].fill(Some(number));
                    queue.insert(&run, None);
                }
            }
            let within = &owner[from as usize..(from + length) as usize];
            let held = within.iter().flatten().count() as u64;
            let expected = match held {
                0 => Found::Nothing,
                all if all == length => Found::Whole,
                _ => Found::Part,
            };
            let run = from..from + length;
            prop_assert_eq!(queue.find(&run), expected);
            let wider = &owner[from.saturating_sub(1) as usize..=(from + length) as usize];
            let mut touched: Vec<usize> = wider.iter().copied().flatten().collect();
            touched.dedup();
            prop_assert_eq!(queue.touching(&run).count(), touched.len());
            prop_assert_eq!(queue.blocks(), owner.iter().flatten().count() as u64);
            let (mut start, mut end) = (from as usize, (from + length) as usize);
            while start > 0 && owner[start - 1].is_some() { start -= 1; }
            while owner[end].is_some() { end += 1; }
            prop_assert_eq!(queue.merged(&run), start as u64..end as u64);
        }
    }
}
