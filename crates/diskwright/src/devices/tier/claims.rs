//! Lines in use: which work may begin with a line while others use it.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::work::WorkId;

/// How a line is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Claim {
    /// Work that needs it unchanged.
    pub shared: u32,
    /// Work that changes it.
    pub exclusive: Option<WorkId>,
    /// The exclusive work has its blocks in memory and puts them on the cache device: reads of what the line has may join.
    pub is_promoting: bool,
    /// One of those that share it writes it back.
    pub is_cleaned: bool,
}

impl Claim {
    /// Whether nobody uses it.
    pub fn is_free(&self) -> bool {
        self.shared == 0 && self.exclusive.is_none()
    }
}

/// The lines in use, by their keys.
#[derive(Default)]
pub(super) struct Claims {
    lines: HashTable<(u64, Claim)>,
    hasher: FixedState,
}

impl Claims {
    #[inline]
    fn find(&self, key: u64) -> Option<&Claim> {
        let hash = self.hasher.hash_one(key);
        let found = self.lines.find(hash, |&(other, _)| other == key);
        found.map(|(_, claim)| claim)
    }

    /// How a line is in use.
    #[inline]
    pub fn get(&self, key: u64) -> Claim {
        self.find(key).copied().unwrap_or_default()
    }

    /// Whether any line of a range is in use.
    #[inline]
    pub fn has_any(&self, mut keys: Range<u64>) -> bool {
        if keys.end - keys.start <= self.lines.len() as u64 {
            return keys.any(|key| self.find(key).is_some());
        }
        self.lines.iter().any(|(key, _)| keys.contains(key))
    }

    /// How a line is in use, to change that.
    #[inline]
    fn entry(&mut self, key: u64) -> &mut Claim {
        let Claims { lines, hasher } = self;
        let is_same = |&(other, _): &(u64, Claim)| other == key;
        let entry = lines.entry(hasher.hash_one(key), is_same, |(key, _)| {
            hasher.hash_one(key)
        });
        let entry = entry.or_insert_with(|| (key, Claim::default()));
        &mut entry.into_mut().1
    }

    /// Work needs a line unchanged. Who has blocks of the line in memory, if anybody.
    #[inline]
    pub fn share(&mut self, key: u64) -> Option<WorkId> {
        let claim = self.entry(key);
        claim.shared += 1;
        claim.exclusive.filter(|_| claim.is_promoting)
    }

    /// Work writes a line back, and needs it unchanged meanwhile.
    pub fn share_to_clean(&mut self, key: u64) {
        let claim = self.entry(key);
        debug_assert!(!claim.is_cleaned, "line {key} is written back already");
        (claim.shared, claim.is_cleaned) = (claim.shared + 1, true);
    }

    /// Work changes a line that is free.
    #[inline]
    pub fn take(&mut self, key: u64, work: WorkId) {
        let claim = self.entry(key);
        debug_assert!(claim.is_free(), "line {key} is in use");
        claim.exclusive = Some(work);
    }

    /// Exclusive work has the blocks of a line in memory.
    pub fn promotes(&mut self, key: u64) {
        let claim = self.entry(key);
        debug_assert!(claim.exclusive.is_some(), "line {key} is not in use");
        claim.is_promoting = true;
    }

    /// Work that shared a line is done with it.
    #[inline]
    pub fn give_back(&mut self, key: u64) {
        self.change(key, |claim| claim.shared -= 1);
    }

    /// Work that wrote a line back is done with it.
    pub fn cleaned(&mut self, key: u64) {
        self.change(key, |claim| {
            (claim.shared, claim.is_cleaned) = (claim.shared - 1, false);
        });
    }

    /// Work that changed a line is done with it.
    #[inline]
    pub fn release(&mut self, key: u64) {
        self.change(key, |claim| {
            (claim.exclusive, claim.is_promoting) = (None, false)
        });
    }

    #[inline]
    fn change(&mut self, key: u64, change: impl FnOnce(&mut Claim)) {
        let hash = self.hasher.hash_one(key);
        let entry = self.lines.find_entry(hash, |&(other, _)| other == key);
        let mut entry = entry.expect("the line is in use");
        change(&mut entry.get_mut().1);
        if entry.get().1.is_free() {
            entry.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agree_with_an_ordered_map(changes in prop::collection::vec((0u64..20, 0u8..4), 1..100), from in 0u64..25, length in 0u64..25) {
            let mut claims = Claims::default();
            let mut model: BTreeMap<u64, Claim> = BTreeMap::new();
            for (key, what) in changes {
                let claim = model.entry(key).or_default();
                match what {
                    0 if claim.exclusive.is_none() => {
                        claims.share(key);
                        claim.shared += 1;
                    }
                    1 if claim.is_free() => {
                        claims.take(key, WorkId(7));
                        claim.exclusive = Some(WorkId(7));
                    }
                    2 if claim.exclusive.is_some() => {
                        claims.release(key);
                        *claim = Claim::default();
                    }
                    3 if claim.shared > 0 => {
                        claims.give_back(key);
                        claim.shared -= 1;
                    }
                    _ => {}
                }
                model.retain(|_, claim| !claim.is_free());
                for key in 0..20 {
                    prop_assert_eq!(claims.get(key), model.get(&key).copied().unwrap_or_default());
                }
                let keys = from..from + length;
                prop_assert_eq!(claims.has_any(keys.clone()), model.range(keys).next().is_some());
                prop_assert_eq!(claims.has_any(0..u64::MAX), !model.is_empty());
            }
        }
    }
}
