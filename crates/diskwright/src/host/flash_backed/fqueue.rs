//! The FQueue: writes that were redirected to the NV cache, whose data stay in the host's memory.

use std::collections::VecDeque;
use std::ops::Range;

use crate::base::sorted_map::SortedMap;

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

/// Entries that have no block in common, by place and in the order of their arrival. All takes logarithmic time, in the mean of many calls.
#[derive(Default)]
pub(super) struct FQueue {
    by_place: SortedMap<Entry>,
    by_order: Arrivals,
    blocks: u64,
    arrived: u64,
}

/// The first blocks of entries by the order of their arrival. Those of entries that have left stay until they are first, or until most
/// are such.
#[derive(Default)]
struct Arrivals {
    lbns: VecDeque<(u64, u64)>,
    left: usize,
}

/// What is in the place of the block of an entry that has left.
const LEFT: u64 = u64::MAX;

/// How many that have left are kept in any case.
const FEW: usize = 64;

impl Arrivals {
    fn first(&self) -> Option<u64> {
        self.lbns.front().map(|&(_, lbn)| lbn)
    }

    fn remove(&mut self, order: u64) {
        let is_first = self.lbns.front().is_some_and(|first| first.0 == order);
        let at = match is_first {
            true => Ok(0),
            false => self.at(order),
        };
        self.lbns[at.expect("it has arrived")].1 = LEFT;
        self.left += 1;
        while self.first() == Some(LEFT) {
            self.lbns.pop_front();
            self.left -= 1;
        }
    }

    /// Adds an entry with an order of its own.
    fn insert(&mut self, order: u64, lbn: u64) {
        if self.left > FEW.max(self.lbns.len() / 2) {
            self.lbns.retain(|&(_, lbn)| lbn != LEFT);
            self.left = 0;
        }
        if self.lbns.back().is_none_or(|last| last.0 < order) {
            return self.lbns.push_back((order, lbn));
        }
        match self.at(order) {
            Ok(at) => {
                self.lbns[at].1 = lbn;
                self.left -= 1;
            }
            Err(at) => self.lbns.insert(at, (order, lbn)),
        }
    }

    fn at(&self, order: u64) -> Result<usize, usize> {
        self.lbns.binary_search_by_key(&order, |&(order, _)| order)
    }
}

/// A run with all that is contiguous with it in the FQueue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Merged {
    pub run: Range<u64>,
    /// Entries in it, and their blocks.
    pub entries: u64,
    pub blocks: u64,
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
        let Range { start, end } = *run;
        let before = self.by_place.last_before(start);
        let first = before.filter(|(_, entry)| entry.end() > start);
        let behind = self.by_place.iter_from(start);
        let behind = behind.take_while(move |(lbn, _)| *lbn < end);
        first.into_iter().chain(behind).map(|(_, entry)| entry)
    }

    /// The entries that a run touches, overlapping or adjoining it, from the last one on.
    pub fn touching(&self, run: &Range<u64>) -> impl Iterator<Item = &Entry> + '_ {
        let start = run.start;
        let before = self.by_place.back_from(run.end + 1);
        before
            .map(|(_, entry)| entry)
            .take_while(move |entry| entry.end() >= start)
    }

    /// A run with all that is contiguous with it in the FQueue.
    pub fn merged(&self, run: &Range<u64>) -> Merged {
        let Range { mut start, mut end } = *run;
        let (mut entries, mut blocks) = (0, 0);
        // What begins within the run or right behind it, and what reaches it from before.
        for (_, entry) in self.by_place.back_from(run.end + 1) {
            if entry.end() < start {
                break;
            }
            (start, end) = (start.min(entry.lbn), end.max(entry.end()));
            (entries, blocks) = (entries + 1, blocks + entry.blocks);
        }
        // What follows on that.
        if end > run.end {
            for (_, entry) in self.by_place.iter_from(end) {
                if entry.lbn > end {
                    break;
                }
                end = entry.end();
                (entries, blocks) = (entries + 1, blocks + entry.blocks);
            }
        }
        Merged {
            run: start..end,
            entries,
            blocks,
        }
    }

    /// How much of a run is there.
    pub fn find(&self, run: &Range<u64>) -> Found {
        if self.is_empty() {
            return Found::Nothing;
        }
        let mut found = 0;
        for (_, entry) in self.by_place.back_from(run.end) {
            if entry.end() <= run.start {
                break;
            }
            found += entry.end().min(run.end) - entry.lbn.max(run.start);
        }
        match found {
            0 => Found::Nothing,
            all if all == run.end - run.start => Found::Whole,
            _ => Found::Part,
        }
    }

    /// The entry that came first.
    pub fn oldest(&self) -> Option<&Entry> {
        self.by_place.get(self.by_order.first()?)
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

    /// Removes the first entry within a run. The run begins behind it then.
    pub fn take_within(&mut self, run: &mut Range<u64>) -> Option<Entry> {
        if run.is_empty() {
            return None;
        }
        let entry = match self.by_place.remove(run.start) {
            Some(entry) => entry,
            None => {
                let first = self.by_place.first_from(run.start);
                let (lbn, _) = first.filter(|(lbn, _)| *lbn < run.end)?;
                self.by_place.remove(lbn)?
            }
        };
        debug_assert!(entry.end() <= run.end, "an entry leaves as a whole");
        run.start = entry.end();
        self.by_order.remove(entry.order);
        self.blocks -= entry.blocks;
        Some(entry)
    }

    /// Whether the entry of an order is there, at a block.
    pub fn holds(&self, lbn: u64, order: u64) -> bool {
        (self.by_place.get(lbn)).is_some_and(|entry| entry.order == order)
    }

    /// A write of an entry to the NV cache has ended, if the entry is still what was written.
    pub fn backed(&mut self, lbn: u64, order: u64) {
        let entry = self.by_place.get_mut(lbn);
        if let Some(entry) = entry.filter(|entry| entry.order == order) {
            entry.under_way = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
        assert_eq!(queue.merged(&(20..30)).run, 0..40);
        assert_eq!(queue.merged(&(21..29)).run, 21..29);
        assert_eq!(queue.merged(&(21..30)).run, 21..40);
        assert_eq!(queue.merged(&(49..51)).run, 49..60);
        assert_eq!(queue.oldest().map(|entry| entry.lbn), Some(30));
    }

    #[test]
    fn an_entry_that_replaces_another_has_its_turn() {
        let mut queue = queue(&[0..8, 100..108, 200..208]);
        let old = queue.take_within(&mut (96..112)).expect("it is there");
        queue.insert(&(96..112), Some(old.order));
        assert_eq!(
            queue.take_within(&mut (0..8)).map(|entry| entry.blocks),
            Some(8)
        );
        assert_eq!(queue.oldest().map(|entry| entry.lbn), Some(96));
        assert_eq!((queue.len(), queue.blocks()), (2, 24));
    }

    proptest! {
        /// Against a sorted map: entries leave, and others come behind all or in the place of one that has just left.
        #[test]
        fn the_first_to_arrive_is_first(steps in prop::collection::vec((any::<bool>(), any::<bool>(), 0usize..500), 0..800)) {
            let (mut arrivals, mut map) = (Arrivals::default(), BTreeMap::new());
            let mut last = 0;
            for (leaves, is_replaced, which) in steps {
                if leaves && !map.is_empty() {
                    let order = *map.keys().nth(which % map.len()).expect("it is not empty");
                    map.remove(&order);
                    arrivals.remove(order);
                    if is_replaced {
                        map.insert(order, which as u64);
                        arrivals.insert(order, which as u64);
                    }
                } else {
                    last += 1;
                    map.insert(last, which as u64);
                    arrivals.insert(last, which as u64);
                }
                prop_assert_eq!(arrivals.first(), map.first_key_value().map(|(_, &lbn)| lbn));
                prop_assert_eq!(arrivals.lbns.len() - arrivals.left, map.len());
            }
        }

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
            let merged = queue.merged(&run);
            let mut entries: Vec<usize> = owner[start..end].iter().copied().flatten().collect();
            prop_assert_eq!(merged.blocks, entries.len() as u64);
            entries.dedup();
            prop_assert_eq!((merged.run, merged.entries), (start as u64..end as u64, entries.len() as u64));
        }
    }
}
