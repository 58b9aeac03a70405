//! What the twin knows.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::{Alarm, Member, Message, Sent};
use super::jobs::Job;
use super::specs::Case;

/// What the array knows of a member.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Requests that were sent to it and have not come back.
    pub outstanding: usize,
    /// Where the last request that was sent to it ends.
    pub last_end: u64,
    pub has_failed: bool,
    pub pieces: u64,
    pub blocks: u64,
}

pub struct Model<'a> {
    pub case: &'a Case,
    pub now: u64,
    pub alarms: Vec<(u64, Alarm)>,
    pub messages: Vec<Message>,
    pub sent: Vec<Sent>,
    pub members: Vec<Member>,
    pub known: Vec<Known>,
    pub jobs: Vec<Job>,
    /// Jobs that keep places of rows or wait for them, in the order in which they have asked.
    pub claimed: Vec<usize>,
    /// Jobs that may begin.
    pub ready: Vec<usize>,
    /// Blocks of the array that are lost.
    pub lost: Vec<u64>,
    /// Of the members with the same blocks, whose turn to read is next.
    pub turn: usize,
    pub completions: Vec<Option<u64>>,
    pub counts: BTreeMap<&'static str, u64>,
    pub met: BTreeSet<&'static str>,
}

impl<'a> Model<'a> {
    pub fn new(case: &'a Case) -> Model<'a> {
        Model {
            case,
            now: 0,
            alarms: Vec::new(),
            messages: Vec::new(),
            sent: Vec::new(),
            members: vec![Member::default(); case.members.len()],
            known: vec![Known::default(); case.members.len()],
            jobs: Vec::new(),
            claimed: Vec::new(),
            ready: Vec::new(),
            lost: Vec::new(),
            turn: 0,
            completions: vec![None; case.requests.len()],
            counts: BTreeMap::new(),
            met: BTreeSet::new(),
        }
    }

    pub fn add(&mut self, counter: &'static str, count: u64) {
        *self.counts.entry(counter).or_default() += count;
    }

    /// The array hears that a member has failed.
    pub fn has_lost(&mut self, member: usize) {
        self.known[member].has_failed = true;
        self.met.insert("a member that fails");
    }
}
