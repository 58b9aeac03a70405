//! What the twin knows.

use std::collections::{BTreeMap, BTreeSet};

use super::instants::{Alarm, Below, Message};
use super::lines::Line;
use super::locks::Locks;
use super::operations::{Group, Operation, OperationQueue};
use super::specs::{Cache, Case};
use super::stages::Work;

/// What is idle, and since when.
#[derive(Default)]
pub struct Idle {
    /// Since when the devices that have the controller's blocks are, once they were asked for something, ns.
    pub since: Option<u64>,
    /// They were idle for long enough when the cache device was not.
    pub waits_for_cache: bool,
    /// The work that writes because of it.
    pub work: Option<usize>,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    pub alarms: Vec<(u64, Alarm)>,
    pub messages: Vec<Message>,

    /// By the numbers of the devices.
    pub below: Vec<Below>,
    pub queues: Vec<OperationQueue>,
    pub operations: Vec<Operation>,
    pub groups: Vec<Group>,
    pub works: Vec<Work>,
    /// Work that waits for nothing.
    pub ready: Vec<usize>,
    /// Requests of the host that are not taken up yet.
    pub outside: Vec<usize>,
    pub active: usize,
    pub messages_until: u64,
    pub moves_until: u64,
    pub locks: Locks,
    pub idle: Idle,
    /// The lines of a memory cache, in the order in which they leave; with LIFO the last one is first to do so.
    pub lines: Vec<Line>,
    pub waits_for_period: bool,
    /// Flushes of the host, and the write-backs that they wait for.
    pub flushed: Vec<(usize, usize)>,
    /// Of each block of the controller, whether the cache device has it, and whether that is newer than behind it.
    pub is_cached: Vec<bool>,
    pub is_dirty: Vec<bool>,

    pub completions: Vec<Option<u64>>,
    pub counts: BTreeMap<&'static str, u64>,
    pub of_devices: BTreeMap<(usize, &'static str), u64>,
    pub met: BTreeSet<&'static str>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        let devices = case.count();
        let blocks = case.blocks() as usize;
        Model {
            case,
            now: 0,
            alarms: Vec::new(),
            messages: Vec::new(),
            below: (0..devices).map(|_| Below::default()).collect(),
            queues: (0..devices).map(|_| OperationQueue::new(case)).collect(),
            operations: Vec::new(),
            groups: Vec::new(),
            works: Vec::new(),
            ready: Vec::new(),
            outside: Vec::new(),
            active: 0,
            messages_until: 0,
            moves_until: 0,
            locks: match case.cache {
                Cache::Memory(memory) => {
                    Locks::new(memory.lock.unwrap_or(memory.line), memory.shared_reads)
                }
                _ => Locks::new(1, true),
            },
            idle: Idle::default(),
            lines: Vec::new(),
            waits_for_period: false,
            flushed: Vec::new(),
            is_cached: vec![false; blocks],
            is_dirty: vec![false; blocks],
            completions: vec![None; case.requests.len()],
            counts: BTreeMap::new(),
            of_devices: BTreeMap::new(),
            met: BTreeSet::new(),
        }
    }

    pub fn add(&mut self, name: &'static str, count: u64) {
        *self.counts.entry(name).or_default() += count;
    }

    pub fn meet(&mut self, rule: &'static str, is_met: bool) {
        if is_met {
            self.met.insert(rule);
        }
    }
}
