//! What the twin knows.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::{Alarm, Device, Message, Sent};
use super::jobs::Job;
use super::rebuild::UnderWay;
use super::specs::Case;

/// What a member of the array has of what it should have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    Good,
    Lost,
    /// The first blocks, as many as these.
    Rebuilding(u64),
}

/// A member of the array.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The device that is there: a member of the spec, or behind these a spare.
    pub device: usize,
    pub state: State,
    /// Requests that were sent to it and have not come back.
    pub outstanding: usize,
    /// Where the last request that was sent to it ends.
    pub last_end: u64,
}

impl Slot {
    pub fn of(device: usize, state: State) -> Slot {
        Slot {
            device,
            state,
            outstanding: 0,
            last_end: 0,
        }
    }
}

/// Requests that a device was sent, and their blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    pub pieces: u64,
    pub blocks: u64,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    pub alarms: Vec<(u64, Alarm)>,
    pub messages: Vec<Message>,
    pub sent: Vec<Sent>,
    pub devices: Vec<Device>,
    pub slots: Vec<Slot>,
    pub shares: Vec<Share>,
    pub jobs: Vec<Job>,
    /// Jobs that keep places of rows or wait for them, in the order in which they have asked.
    pub claimed: Vec<usize>,
    /// Jobs that may begin.
    pub ready: Vec<usize>,
    /// Blocks of the array that are lost.
    pub lost: Vec<u64>,
    /// Of the members with the same blocks, whose turn to read is next.
    pub turn: usize,
    /// Spares that have no place yet.
    pub spares: Vec<usize>,
    pub rebuild: Option<UnderWay>,
    pub completions: Vec<Option<u64>>,
    pub counts: BTreeMap<&'static str, u64>,
    pub met: BTreeSet<&'static str>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        let devices = case.members.len() + case.spares.len();
        Model {
            case,
            now: 0,
            alarms: Vec::new(),
            messages: Vec::new(),
            sent: Vec::new(),
            devices: vec![Device::default(); devices],
            slots: (0..case.members.len())
                .map(|member| Slot::of(member, State::Good))
                .collect(),
            shares: vec![Share::default(); devices],
            jobs: Vec::new(),
            claimed: Vec::new(),
            ready: Vec::new(),
            lost: Vec::new(),
            turn: 0,
            spares: (case.members.len()..devices).collect(),
            rebuild: None,
            completions: vec![None; case.requests.len()],
            counts: BTreeMap::new(),
            met: BTreeSet::new(),
        }
    }

    pub fn add(&mut self, counter: &'static str, count: u64) {
        *self.counts.entry(counter).or_default() += count;
    }

    /// Whether a member has what it should have up to a block.
    pub fn has(&self, member: usize, end: u64) -> bool {
        match self.slots[member].state {
            State::Good => true,
            State::Lost => false,
            State::Rebuilding(done) => end <= done,
        }
    }

    /// Whether a write from a block on has to go to a member too.
    pub fn takes(&self, member: usize, from: u64) -> bool {
        match self.slots[member].state {
            State::Good => true,
            State::Lost => false,
            State::Rebuilding(done) => from < done,
        }
    }

    pub fn is_lost(&self, member: usize) -> bool {
        self.slots[member].state == State::Lost
    }

    /// A device has failed.
    pub fn hears_of_failure(&mut self, device: usize) {
        self.spares.retain(|&spare| spare != device);
        let mut slots = self.slots.iter();
        if let Some(member) = slots.position(|slot| slot.device == device) {
            self.loses(member);
        }
    }

    /// A member has nothing any more.
    pub fn loses(&mut self, member: usize) {
        if self.is_lost(member) {
            return;
        }
        self.slots[member].state = State::Lost;
        self.abandons_rebuild(member);
        self.seeks_rebuild();
        self.met.insert("a member that fails");
    }
}
