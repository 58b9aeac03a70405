//! Lines in use: who may begin with a line while others work on it.

use std::collections::BTreeMap;
use std::ops::Range;

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
    lines: BTreeMap<u64, Claim>,
}

impl Claims {
    /// How a line is in use.
    #[inline]
    pub fn get(&self, key: u64) -> Claim {
        self.lines.get(&key).copied().unwrap_or_default()
    }

    /// Whether any line of a range is in use.
    #[inline]
    pub fn has_any(&self, keys: Range<u64>) -> bool {
        self.lines.range(keys).next().is_some()
    }

    /// Work needs a line unchanged.
    #[inline]
    pub fn share(&mut self, key: u64) {
        self.lines.entry(key).or_default().shared += 1;
    }

    /// Work writes a line back, and needs it unchanged meanwhile.
    pub fn share_to_clean(&mut self, key: u64) {
        let claim = self.lines.entry(key).or_default();
        debug_assert!(!claim.is_cleaned, "line {key} is written back already");
        (claim.shared, claim.is_cleaned) = (claim.shared + 1, true);
    }

    /// Work changes a line that is free.
    #[inline]
    pub fn take(&mut self, key: u64, work: WorkId) {
        let claim = self.lines.entry(key).or_default();
        debug_assert!(claim.is_free(), "line {key} is in use");
        claim.exclusive = Some(work);
    }

    /// Exclusive work has the blocks of a line in memory.
    pub fn promotes(&mut self, key: u64) {
        let claim = self.lines.get_mut(&key);
        claim.expect("the line is in use").is_promoting = true;
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

    fn change(&mut self, key: u64, change: impl FnOnce(&mut Claim)) {
        let claim = self.lines.get_mut(&key).expect("the line is in use");
        change(claim);
        if claim.is_free() {
            self.lines.remove(&key);
        }
    }
}
