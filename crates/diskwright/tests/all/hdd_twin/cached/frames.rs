//! Frames, and which of them is freed for another block.

use super::super::specs::{BlockCache, Policy};

/// A frame and its block: which blocks of 512 bytes it has.
pub struct Held {
    pub key: u64,
    pub there: Vec<bool>,
    pub dirty: Vec<bool>,
    /// How many requests need it.
    pub pins: u32,
    /// When it came, when it was accessed last, and how often it was.
    came: u64,
    used: u64,
    accesses: u64,
}

/// What an access finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Held,
    New { evicts: bool },
    None,
}

pub struct Frames {
    size: u64,
    frames: usize,
    policy: Policy,
    held: Vec<Held>,
    accesses: u64,
}

impl Frames {
    pub fn new(settings: &BlockCache) -> Frames {
        Frames {
            size: settings.block,
            frames: settings.frames as usize,
            policy: settings.policy,
            held: Vec::new(),
            accesses: 0,
        }
    }

    fn find(&self, key: u64) -> Option<&Held> {
        self.held.iter().find(|held| held.key == key)
    }

    /// The frame of a block that has one.
    pub fn get(&mut self, key: u64) -> &mut Held {
        let mut held = self.held.iter_mut();
        held.find(|held| held.key == key).expect("it has a frame")
    }

    /// Accesses a block. What leaves its frame for it is added to the victims.
    pub fn access(&mut self, key: u64, victims: &mut Vec<Held>) -> Place {
        self.accesses += 1;
        let now = self.accesses;
        if self.find(key).is_some() {
            let held = self.get(key);
            held.used = now;
            held.accesses += 1;
            return Place::Held;
        }
        let evicts = self.held.len() == self.frames;
        if evicts {
            let free = self.held.iter().enumerate();
            let free = free.filter(|(_, held)| held.pins == 0);
            let rank = |held: &Held| match self.policy {
                Policy::Lru => (0, held.used),
                Policy::Fifo => (0, held.came),
                Policy::Lifo => (0, u64::MAX - held.came),
                Policy::Lfu => (held.accesses, held.used),
            };
            let Some((at, _)) = free.min_by_key(|(_, held)| rank(held)) else {
                return Place::None;
            };
            victims.push(self.held.remove(at));
        }
        self.held.push(Held {
            key,
            there: vec![false; self.size as usize],
            dirty: vec![false; self.size as usize],
            pins: 0,
            came: now,
            used: now,
            accesses: 1,
        });
        Place::New { evicts }
    }

    pub fn has(&self, lbn: u64) -> bool {
        let held = self.find(lbn / self.size);
        held.is_some_and(|held| held.there[(lbn % self.size) as usize])
    }

    pub fn is_dirty(&self, lbn: u64) -> bool {
        let held = self.find(lbn / self.size);
        held.is_some_and(|held| held.dirty[(lbn % self.size) as usize])
    }

    pub fn is_pinned(&self, lbn: u64) -> bool {
        let held = self.find(lbn / self.size);
        held.is_some_and(|held| held.pins > 0)
    }

    /// Says of a block whether its frame has it, if it has one.
    pub fn set(&mut self, lbn: u64, is_there: bool, is_dirty: bool) {
        if self.find(lbn / self.size).is_some() {
            let at = (lbn % self.size) as usize;
            let held = self.get(lbn / self.size);
            (held.there[at], held.dirty[at]) = (is_there, is_dirty);
        }
    }

    /// The frame of a block that has none of its blocks left is free.
    pub fn leave_if_empty(&mut self, lbn: u64) {
        let key = lbn / self.size;
        self.held
            .retain(|held| held.key != key || held.there.contains(&true));
    }

    pub fn unpin(&mut self, keys: &[u64]) {
        keys.iter().for_each(|key| self.get(*key).pins -= 1);
    }

    /// All blocks that are dirty, in their order.
    pub fn dirty(&self) -> impl Iterator<Item = u64> + use<> {
        let held = self.held.iter().flat_map(|held| {
            let dirty = (0..).zip(&held.dirty).filter(|(_, dirty)| **dirty);
            dirty.map(|(at, _)| held.key * self.size + at)
        });
        let mut dirty: Vec<u64> = held.collect();
        dirty.sort_unstable();
        dirty.into_iter()
    }
}
