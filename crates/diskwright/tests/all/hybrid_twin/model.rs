//! What the twin knows.

use std::collections::{BTreeMap, BTreeSet};

use super::instants::{Alarm, Below, Message, Sent, State};
use super::specs::Case;

/// A block of the medium, and what the NV cache knows of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    pub place: Option<usize>,
    /// The command or write that gave it.
    pub given_by: u64,
    /// A request has divided its run in front of it.
    pub is_divided: bool,
    pub is_pinned: bool,
    pub is_valid: bool,
    /// When its place was written last, and what a write must have begun after to be the newest.
    pub written: u64,
    pub void_before: u64,
    /// Requests under way to its place.
    pub users: usize,
}

/// Blocks that are treated as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    pub lbn: usize,
    pub blocks: usize,
    pub has_place: bool,
}

/// A request to places of the NV cache, for blocks that got them in one go.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub lbn: usize,
    pub blocks: usize,
    pub place: usize,
    pub given_by: u64,
    pub began: u64,
}

/// What a request to a device is for.
#[derive(Clone, Copy, Debug)]
pub enum What {
    Flash(Use),
    Medium { lbn: usize, blocks: usize },
    Passed,
    Gather(Use),
    Spread(Use),
}

/// Work for a request, or a flush of the drive's own.
#[derive(Clone, Debug)]
pub struct Job {
    pub request: Option<usize>,
    pub left: usize,
    /// What a populating pin reads from the medium, and when that was sent.
    pub fetched: Vec<(usize, usize)>,
    pub fetched_at: u64,
}

/// The flush of the unpinned set.
#[derive(Clone, Copy, Debug)]
pub struct Flush {
    pub job: usize,
    pub lbn: usize,
    pub blocks: usize,
    pub waits_for_writes: bool,
    pub has_new_pins: bool,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    pub alarms: Vec<(u64, Alarm)>,
    pub messages: Vec<Message>,
    pub sent: Vec<Sent>,
    pub below: [Below; 2],
    pub state: State,
    pub is_told_by_parent: bool,
    /// Requests of the host, and to devices, that have not ended.
    pub under_way: usize,
    pub jobs: Vec<Job>,

    pub blocks: Vec<Block>,
    pub free: Vec<bool>,
    pub place_users: Vec<usize>,
    pub is_given_up: Vec<bool>,
    pub next_place: usize,
    /// What happened when, in order.
    pub tick: u64,

    pub is_saving: bool,
    pub waker: Option<usize>,
    pub back_since: u64,
    pub to_medium: usize,
    pub has_told: bool,
    pub writing: Vec<(usize, usize)>,
    pub flush: Option<Flush>,
    pub parked: Vec<usize>,
    pub waiting_pins: Vec<usize>,
    /// What populating pins write to its places, with their jobs; and the writes that wait for that.
    pub populating: Vec<(usize, usize, usize)>,
    pub behind_populating: Vec<usize>,
    /// When the blocks of requests were pinned that are to write them next.
    pub pinned_at: BTreeMap<usize, u64>,

    pub completions: Vec<Option<u64>>,
    pub answers: Vec<(usize, u64)>,
    pub counts: BTreeMap<&'static str, u64>,
    pub met: BTreeSet<&'static str>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        let places = case.flash.blocks as usize;
        Model {
            case,
            now: 0,
            alarms: Vec::new(),
            messages: Vec::new(),
            sent: Vec::new(),
            below: [Below::default(), Below::default()],
            state: State::Turning,
            is_told_by_parent: false,
            under_way: 0,
            jobs: Vec::new(),
            blocks: vec![Block::default(); case.medium.blocks as usize],
            free: vec![true; places],
            place_users: vec![0; places],
            is_given_up: vec![false; places],
            next_place: 0,
            tick: 0,
            is_saving: case.power_mode,
            waker: None,
            back_since: 0,
            to_medium: 0,
            has_told: false,
            writing: Vec::new(),
            flush: None,
            parked: Vec::new(),
            waiting_pins: Vec::new(),
            populating: Vec::new(),
            behind_populating: Vec::new(),
            pinned_at: BTreeMap::new(),
            completions: vec![None; case.requests.len()],
            answers: Vec::new(),
            counts: BTreeMap::new(),
            met: BTreeSet::new(),
        }
    }

    pub fn add(&mut self, name: &'static str, count: u64) {
        *self.counts.entry(name).or_default() += count;
    }

    pub fn count(&self, name: &'static str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    pub fn meets(&mut self, rule: &'static str) {
        self.met.insert(rule);
    }

    pub fn next_tick(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }

    pub fn begin_job(&mut self, request: Option<usize>) -> usize {
        self.jobs.push(Job {
            request,
            left: 0,
            fetched: Vec::new(),
            fetched_at: 0,
        });
        self.jobs.len() - 1
    }

    pub fn complete(&mut self, request: usize) {
        self.under_way -= 1;
        self.completions[request] = Some(self.now);
        // How many blocks are where, as of the last request.
        let held = |is_pinned| {
            let there = |block: &&Block| block.place.is_some() && block.is_pinned == is_pinned;
            self.blocks.iter().filter(there).count() as u64
        };
        let (pinned, unpinned) = (held(true), held(false));
        self.counts.insert("pinned_blocks", pinned);
        self.counts.insert("unpinned_blocks", unpinned);
    }
}
