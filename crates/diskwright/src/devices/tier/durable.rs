//! What the table on the cache device says, for the checker: in memory, in the commit that is under way, and on the medium.

use std::collections::{BTreeMap, BTreeSet};

use super::area::Area;
use crate::models::cache::Frame;

/// The dirty blocks that an entry names: the line, and its runs by the blocks of the backing device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub key: u64,
    pub runs: Vec<(u64, u32)>,
}

/// The table by places; a place that it names no dirty blocks of has no entry.
pub(super) struct Durable {
    area: Area,
    memory: BTreeMap<u32, Named>,
    changed: BTreeSet<u32>,
    committing: Vec<(u32, Option<Named>)>,
    /// The blocks that are being written.
    medium: BTreeMap<u32, Named>,
    /// Its places by the lines that it names.
    places: BTreeMap<u64, u32>,
}

impl Durable {
    pub fn new(area: Area) -> Durable {
        Durable {
            area,
            memory: BTreeMap::new(),
            changed: BTreeSet::new(),
            committing: Vec::new(),
            medium: BTreeMap::new(),
            places: BTreeMap::new(),
        }
    }

    /// The entry of a place changes.
    pub fn set(&mut self, frame: Frame, named: Option<Named>) {
        match named.filter(|named| !named.runs.is_empty()) {
            Some(named) => drop(self.memory.insert(frame.0, named)),
            None => drop(self.memory.remove(&frame.0)),
        }
        self.changed.insert(frame.0);
    }

    /// A commit takes all changes.
    pub fn begin(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        let entries = changed.into_iter();
        let entries = entries.map(|place| (place, self.memory.get(&place).cloned()));
        self.committing = entries.collect();
    }

    /// The commit is on the medium.
    pub fn end(&mut self) {
        for (place, named) in std::mem::take(&mut self.committing) {
            self.write(place, named);
        }
    }

    /// The commit has written nothing.
    pub fn abandon(&mut self) {
        self.committing.clear();
    }

    /// The commit was cut short while the table was being written: every second of its blocks has come to the medium, which it may.
    pub fn tear(&mut self) {
        for (place, named) in std::mem::take(&mut self.committing) {
            if self.area.block_of(place) % 2 == 1 {
                self.write(place, named);
            }
        }
    }

    fn write(&mut self, place: u32, named: Option<Named>) {
        if let Some(before) = self.medium.remove(&place) {
            self.places.remove(&before.key);
        }
        if let Some(named) = named {
            let other = self.places.insert(named.key, place);
            assert!(other.is_none(), "line {} is at two places", named.key);
            self.medium.insert(place, named);
        }
    }

    /// The place of which the table on the medium says that a block of a line is there and dirty.
    pub fn place_of(&self, key: u64, lbn: u64) -> Option<Frame> {
        let &place = self.places.get(&key)?;
        let mut runs = self.medium[&place].runs.iter();
        let has = |&(first, blocks): &(u64, u32)| (first..first + u64::from(blocks)).contains(&lbn);
        runs.any(has).then_some(Frame(place))
    }
}
