//! Free blocks of the NV cache.

use crate::base::sorted_map::SortedMap;

/// Free runs. What is taken is looked for behind what was taken last, so that places are used in turn.
pub(super) struct Space {
    /// The first block of each run by the block behind its last one: what is taken is the beginning of a run, which keeps its key.
    runs: SortedMap<u64>,
    free: u64,
    next: u64,
}

impl Space {
    /// `blocks` free blocks.
    pub fn new(blocks: u64) -> Space {
        let mut runs = SortedMap::default();
        runs.insert(blocks, 0);
        Space {
            runs,
            free: blocks,
            next: 0,
        }
    }

    /// Free blocks.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Takes a run of up to `most` blocks: its first one, and its length. There is a free block.
    pub fn take(&mut self, most: u64) -> (u64, u64) {
        // The first run that ends behind there may begin before.
        let behind = match self.runs.first_from(self.next + 1) {
            Some((end, &first)) if first < self.next => self.runs.first_from(end + 1),
            found => found,
        };
        let end = behind.map_or(0, |(end, _)| end);
        let found = self.runs.first_from_mut(end);
        let (end, first) = found.expect("a block is free");
        let at = *first;
        let taken = most.min(end - at);
        *first += taken;
        if at + taken == end {
            self.runs.remove(end);
        }
        self.free -= taken;
        self.next = at + taken;
        (at, taken)
    }

    /// Gives a run back.
    pub fn give_back(&mut self, at: u64, blocks: u64) {
        self.free += blocks;
        let (mut first, end) = (at, at + blocks);
        if let Some(begins) = self.runs.remove(at) {
            first = begins;
        }
        match self.runs.first_from_mut(end) {
            Some((_, begins)) if *begins == end => *begins = first,
            _ => _ = self.runs.insert(end, first),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of blocks, and the rule of which are taken.
        #[test]
        fn every_block_is_free_or_taken(steps in prop::collection::vec((any::<bool>(), 1u64..9, 0usize..20), 0..80)) {
            let mut space = Space::new(40);
            let mut taken: Vec<(u64, u64)> = Vec::new();
            let mut next = 0;
            for (takes, most, which) in steps {
                if takes && space.free() > 0 {
                    let is_free = |at: u64| at < 40 && !taken.iter().any(|run| run.0 <= at && at < run.0 + run.1);
                    let begins = |at: &u64| is_free(*at) && (*at == 0 || !is_free(at - 1));
                    let first = (next..40).find(begins).or_else(|| (0..40).find(begins)).expect("a block is free");
                    let length = (first..first + most).take_while(|&at| is_free(at)).count() as u64;
                    let run = space.take(most);
                    prop_assert_eq!(run, (first, length));
                    next = first + length;
                    taken.push(run);
                } else if !taken.is_empty() {
                    let (at, blocks) = taken.swap_remove(which % taken.len());
                    space.give_back(at, blocks);
                }
                let mut owners = [0u8; 40];
                let free = space.runs.iter().map(|(end, &at)| (at, end - at));
                for (at, blocks) in free.chain(taken.iter().copied()) {
                    owners[at as usize..(at + blocks) as usize].iter_mut().for_each(|owner| *owner += 1);
                }
                prop_assert!(owners.iter().all(|&owner| owner == 1));
                let joined: Vec<_> = space.runs.iter().collect();
                prop_assert!(joined.iter().all(|(end, at)| *at < end));
                prop_assert!(joined.windows(2).all(|pair| pair[0].0 < *pair[1].1));
                prop_assert_eq!(space.free(), joined.iter().map(|(end, at)| end - **at).sum::<u64>());
            }
        }
    }
}
