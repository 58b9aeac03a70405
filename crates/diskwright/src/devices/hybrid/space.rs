//! Free blocks of the NV cache.

use std::collections::BTreeMap;

/// Free runs by their first blocks. What is taken is looked for behind what was taken last, so that places are used in turn.
pub(super) struct Space {
    runs: BTreeMap<u64, u64>,
    free: u64,
    next: u64,
}

impl Space {
    /// `blocks` free blocks.
    pub fn new(blocks: u64) -> Space {
        Space {
            runs: BTreeMap::from([(0, blocks)]),
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
        let behind = self.runs.range(self.next..).next();
        let found = behind.or_else(|| self.runs.first_key_value());
        let (&at, &length) = found.expect("a block is free");
        let taken = most.min(length);
        self.runs.remove(&at);
        if length > taken {
            self.runs.insert(at + taken, length - taken);
        }
        self.free -= taken;
        self.next = at + taken;
        (at, taken)
    }

    /// Gives a run back.
    pub fn give_back(&mut self, at: u64, blocks: u64) {
        self.free += blocks;
        let (mut first, mut end) = (at, at + blocks);
        if let Some((&before, &length)) = self.runs.range(..at).next_back()
            && before + length == at
        {
            self.runs.remove(&before);
            first = before;
        }
        if let Some(length) = self.runs.remove(&end) {
            end += length;
        }
        self.runs.insert(first, end - first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of blocks.
        #[test]
        fn every_block_is_free_or_taken(steps in prop::collection::vec((any::<bool>(), 1u64..9, 0usize..20), 0..80)) {
            let mut space = Space::new(40);
            let mut taken: Vec<(u64, u64)> = Vec::new();
            for (takes, most, which) in steps {
                if takes && space.free() > 0 {
                    let run = space.take(most);
                    prop_assert!(run.1 >= 1 && run.1 <= most);
                    taken.push(run);
                } else if !taken.is_empty() {
                    let (at, blocks) = taken.swap_remove(which % taken.len());
                    space.give_back(at, blocks);
                }
                let mut owners = [0u8; 40];
                let free = space.runs.iter().map(|(&at, &blocks)| (at, blocks));
                for (at, blocks) in free.chain(taken.iter().copied()) {
                    owners[at as usize..(at + blocks) as usize].iter_mut().for_each(|owner| *owner += 1);
                }
                prop_assert!(owners.iter().all(|&owner| owner == 1));
                let joined: Vec<_> = space.runs.iter().collect();
                prop_assert!(joined.windows(2).all(|pair| pair[0].0 + pair[0].1 < *pair[1].0));
                prop_assert_eq!(space.free(), space.runs.values().sum::<u64>());
            }
        }
    }
}
