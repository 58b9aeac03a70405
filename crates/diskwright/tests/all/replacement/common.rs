//! Policies by name, and a cache that watches what they choose.

use std::collections::BTreeMap;

use diskwright::base::document::{Node, from_node};
use diskwright::base::error::{Error, Source};
use diskwright::base::random::Stream;
use diskwright::models::cache::replacement::{Access, Cost, Replacement, ReplacementSpec, Setting};
use diskwright::models::cache::{Directory, Frame, ObjectCache, Pins, object_cache::Found};
use proptest::prelude::*;

/// Reads a policy as a spec names it.
pub fn spec(text: &str) -> Result<ReplacementSpec, Error> {
    let node = Node::parse(&Source::new("test", format!("policy = {text}")))?;
    Ok(from_node(node.get("policy").expect("the key above"))?)
}

pub fn policy(text: &str, capacity: u32) -> Box<dyn Replacement> {
    let chance = Stream::new(1, "replacement");
    let setting = Setting { capacity, chance };
    spec(text)
        .expect("a policy of the registry")
        .build(&setting)
}

/// Every policy of the registry with its defaults, and parameters that change what it does.
pub fn all() -> Vec<String> {
    let defaults = ReplacementSpec::rows();
    let defaults = defaults.iter().map(|row| format!("{:?}", row.name));
    let others = [
        "{ slru = { segments = 4, protected = 0.75, variant = \"libcachesim\" } }",
        "{ slru = { segments = 3, protected = 1.0 } }",
        "{ slru = { protected = 0.0 } }",
        "{ 2q = { first = 0.0, ghosts = 0.0 } }",
        "{ 2q = { first = 1.0, ghosts = 1.0 } }",
        "{ lirs = { high = 0.5, ghosts = 0.5 } }",
        "{ lirs = { high = 1.0, ghosts = 0 } }",
        "{ s3-fifo = { variant = \"libcachesim\" } }",
        "{ s3-fifo = { small = 0.5, ghosts = 0.0, hits = 1 } }",
        "{ s3-fifo = { small = 1.0, hits = 0 } }",
        "{ w-tinylfu = { window = 0.5, sample = 1 } }",
        "{ w-tinylfu = { window = 1.0, protected = 0, sample = 0 } }",
        "{ atca = { weight = 0 } }",
        "{ atca = { weight = 3.5, relative_to = \"maximum\", per_block = true } }",
        "{ atca = { alpha = 2.5 } }",
        "{ atca-simple = { threshold = \"5 ms\", bonus = 0.5 } }",
        "{ fac = { ageing = true, follow = 1.0 } }",
        "{ greedy-dual = { per_block = true } }",
    ];
    defaults.chain(others.map(str::to_owned)).collect()
}

/// Accesses to these blocks, which know their future.
pub fn accesses(keys: &[u64]) -> Vec<Access> {
    let mut next = BTreeMap::new();
    let mut accesses: Vec<Access> = Vec::with_capacity(keys.len());
    for (index, &key) in keys.iter().enumerate().rev() {
        let next = next.insert(key, index as u64).unwrap_or(u64::MAX);
        let write = false;
        accesses.push(Access { key, write, next });
    }
    accesses.reverse();
    accesses
}

/// The misses of a cache that only counts.
pub fn misses(text: &str, capacity: u32, accesses: &[Access]) -> usize {
    let mut cache = ObjectCache::new(capacity, policy(text, capacity));
    let found = accesses.iter().map(|access| cache.access(access));
    found.filter(|found| *found != Found::Hit).count()
}

/// What happens to a cache.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    Access(u64),
    Pin(u64),
    Unpin(u64),
    Remove(u64),
    /// The media access for some blocks is over: the block, a time in hundreds of microseconds, and the number of blocks.
    Pay(u64, u64, u32),
}

/// Events of blocks below `keys`; small numbers are more popular.
pub fn events(keys: u64, most: usize) -> impl Strategy<Value = Vec<Event>> {
    let key = move || (0..keys, 0..keys).prop_map(|(a, b)| a.min(b));
    let event = prop_oneof![
        12 => key().prop_map(Event::Access),
        2 => key().prop_map(Event::Pin),
        3 => key().prop_map(Event::Unpin),
        1 => key().prop_map(Event::Remove),
        3 => (key(), 0u64..200, prop::sample::select(vec![1u32, 2, 4, 8])).prop_map(|(key, time, blocks)| Event::Pay(key, time, blocks)),
    ];
    prop::collection::vec(event, 1..most)
}

/// A cache that knows itself which block is in which frame, and holds its policy to that.
pub struct Watched {
    pub policy: Box<dyn Replacement>,
    directory: Directory,
    pub pins: Pins,
    pub blocks: BTreeMap<u64, Frame>,
    pub pinned: BTreeMap<u64, u32>,
    capacity: usize,
}

/// What an access did: whether it hit, and what left.
pub type Outcome = (bool, Option<u64>);

impl Watched {
    pub fn new(policy: Box<dyn Replacement>, capacity: u32) -> Watched {
        Watched {
            policy,
            directory: Directory::new(capacity),
            pins: Pins::new(),
            blocks: BTreeMap::new(),
            pinned: BTreeMap::new(),
            capacity: capacity as usize,
        }
    }

    pub fn access(&mut self, access: &Access) -> Outcome {
        if let Some(&frame) = self.blocks.get(&access.key) {
            self.policy.hit(frame, access);
            let shed = self.policy.shed(frame, &self.pins);
            assert_ne!(shed, Some(frame), "what is accessed stays");
            return (true, shed.map(|frame| self.leave(frame)));
        }
        self.policy.miss(access);
        let mut left = None;
        if self.directory.is_full() {
            let Some(frame) = self.policy.evict(&self.pins) else {
                assert_eq!(self.pinned.len(), self.capacity, "one could leave");
                return (false, None);
            };
            left = Some(self.leave(frame));
        }
        let frame = self.directory.insert(access.key);
        self.blocks.insert(access.key, frame);
        self.policy.insert(frame, access);
        assert!(self.blocks.len() <= self.capacity);
        (false, left)
    }

    fn leave(&mut self, frame: Frame) -> u64 {
        let key = self.directory.key(frame);
        assert_eq!(self.blocks.remove(&key), Some(frame), "a block is there");
        assert!(!self.pinned.contains_key(&key), "it is not pinned");
        self.directory.remove(frame);
        key
    }

    /// Does what an event says; for an access, what that did.
    pub fn happen(&mut self, event: Event, access: &Access) -> Option<Outcome> {
        let (Event::Access(key)
        | Event::Pin(key)
        | Event::Unpin(key)
        | Event::Remove(key)
        | Event::Pay(key, ..)) = event;
        let frame = self.blocks.get(&key).copied();
        match (event, frame) {
            (Event::Access(_), _) => return Some(self.access(access)),
            (Event::Pin(_), Some(frame)) => {
                self.pins.pin(frame);
                *self.pinned.entry(key).or_insert(0) += 1;
            }
            (Event::Unpin(_), Some(frame)) => {
                if let Some(count) = self.pinned.get_mut(&key) {
                    *count -= 1;
                    self.pins.unpin(frame);
                    if *count == 0 {
                        self.pinned.remove(&key);
                    }
                }
            }
            (Event::Remove(_), Some(frame)) if !self.pinned.contains_key(&key) => {
                self.policy.remove(frame);
                self.leave(frame);
            }
            (Event::Pay(_, time, blocks), Some(frame)) => {
                self.policy.paid(frame, cost(time, blocks));
            }
            _ => {}
        }
        None
    }
}

pub fn cost(time: u64, blocks: u32) -> Cost {
    let access = diskwright::base::units::Time::from_us(time * 100);
    Cost {
        media: access,
        blocks,
    }
}

/// An access of the events, with the next one to its block.
pub fn futures(events: &[Event]) -> Vec<Access> {
    // What is no access stands for a block of its own.
    let keys = events.iter().enumerate().map(|(index, event)| match event {
        Event::Access(key) => *key,
        _ => 1 << 40 | index as u64,
    });
    accesses(&keys.collect::<Vec<_>>())
}
