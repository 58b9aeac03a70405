//! A spare takes the place of a member that has failed, and is written what that held, a step at a time.

use diskwright::engine::request::Op;

use super::clock::Alarm;
use super::jobs::{Job, Piece, Purpose};
use super::model::{Model, Slot, State};
use super::order::Claim;
use super::plans::Plan;
use super::runs::{self, Run};
use super::specs::{Asked, Layout, Rebuild};

/// A rebuild under way.
#[derive(Clone, Copy, Debug)]
pub struct UnderWay {
    pub member: usize,
    /// When its present step began.
    pub since: u64,
}

impl Model<'_> {
    fn rules(&self) -> Rebuild {
        self.case.rebuild.expect("there are spares")
    }

    /// A spare takes the place of the first member that is lost, if the others have what that held.
    pub fn seeks_rebuild(&mut self) {
        let unit = self.case.unit();
        let last = Run {
            member: 0,
            at: self.case.used() - unit,
            blocks: unit,
        };
        if self.rebuild.is_some() || self.spares.is_empty() || self.is_beyond(last) {
            return;
        }
        let mut members = 0..self.slots.len();
        let Some(member) = members.find(|&member| self.is_lost(member)) else {
            return;
        };
        let spare = self.spares.remove(0);
        self.slots[member] = Slot::of(spare, State::Rebuilding(0));
        let since = self.now + self.rules().delay;
        self.rebuild = Some(UnderWay { member, since });
        self.alarm(since, Alarm::Rebuild);
        self.add("rebuilds", 1);
        self.met.insert("a rebuild");
    }

    /// A member is lost; if it was being rebuilt, that ends.
    pub fn abandons_rebuild(&mut self, member: usize) {
        if self.rebuild.is_some_and(|rebuild| rebuild.member == member) {
            self.rebuild = None;
            self.alarms.retain(|(_, alarm)| *alarm != Alarm::Rebuild);
            self.met.insert("a rebuild that is given up");
        }
    }

    /// The next step is due.
    pub fn steps(&mut self) {
        let now = self.now;
        let rebuild = self.rebuild.as_mut().expect("it is under way");
        rebuild.since = now;
        let member = rebuild.member;
        let State::Rebuilding(from) = self.slots[member].state else {
            return;
        };
        if from == self.case.used() {
            return self.seals(member);
        }
        // It ends with a unit, unless it is a part of one.
        let unit = self.case.unit();
        let mut to = (from + self.rules().step).min(self.case.used());
        if to / unit > from / unit {
            to = to / unit * unit;
        }
        let blocks = to - from;
        let claim = self.claim_of_step(member, from, blocks);
        let asked = Asked {
            at: self.now,
            op: Op::Read,
            fua: false,
            lbn: from,
            blocks,
        };
        let spare = self.slots[member].device;
        self.jobs
            .push(Job::new(asked, Purpose::Step(spare), Some(claim)));
        self.asks(self.jobs.len() - 1);
    }

    fn claim_of_step(&self, member: usize, from: u64, blocks: u64) -> Claim {
        let unit = self.case.unit();
        let place = |at: u64| match self.case.layout {
            Layout::Raid10 { .. } => {
                let groups = self.case.data_units() as u64;
                (at / unit * groups + member as u64 % groups, at % unit)
            }
            _ => (at / unit, at % unit),
        };
        Claim {
            places: (from..from + blocks).map(place).collect(),
            is_shared: false,
        }
    }

    /// What is read for a step, and written to the spare.
    pub fn plans_step(&mut self, job: usize, spare: usize) -> Option<Plan> {
        let asked = self.jobs[job].asked;
        let member = self.rebuild?.member;
        if self.slots[member].device != spare {
            return None;
        }
        let blocks = (asked.lbn..asked.lbn + asked.blocks).map(|at| (member, at));
        let mut plan = Plan::default();
        for part in runs::parts(blocks.collect(), self.case.unit()) {
            let read = if self.case.parity().is_some() {
                self.others(job, part)?
            } else {
                let copies = self.case.copies(member % self.case.data_units());
                let mut copies = copies.into_iter().map(|member| Run { member, ..part });
                vec![copies.find(|&copy| self.is_readable(job, copy))?]
            };
            plan.reads.extend(read);
            plan.writes.push(part);
        }
        Some(plan)
    }

    /// A step is over.
    pub fn has_stepped(&mut self, job: usize, spare: usize, has_succeeded: bool) {
        let asked = self.jobs[job].asked;
        let Some(UnderWay { member, since }) = self.rebuild else {
            return;
        };
        if self.slots[member].device != spare {
            return;
        }
        if !has_succeeded {
            return self.loses(member);
        }
        let done = asked.lbn + asked.blocks;
        self.slots[member].state = State::Rebuilding(done);
        self.add("rebuilt_blocks", asked.blocks);
        let at = since + asked.blocks * self.rules().per_block;
        self.alarm(at.max(self.now), Alarm::Rebuild);
    }

    /// The spare makes sure of all that it was written.
    fn seals(&mut self, member: usize) {
        let flush = Asked {
            at: self.now,
            op: Op::Flush,
            fua: false,
            lbn: 0,
            blocks: 0,
        };
        let mut job = Job::new(flush, Purpose::Seal, None);
        let run = Run {
            member,
            at: 0,
            blocks: 0,
        };
        job.pieces.push(Piece::new(Op::Flush, run));
        self.jobs.push(job);
        self.send_ready(self.jobs.len() - 1);
    }

    /// All of the spare is on its medium.
    pub fn is_sealed(&mut self) {
        let Some(UnderWay { member, .. }) = self.rebuild else {
            return;
        };
        if self.slots[member].state == State::Rebuilding(self.case.used()) {
            self.slots[member].state = State::Good;
            self.rebuild = None;
            self.add("complete rebuilds", 1);
            self.seeks_rebuild();
        }
    }
}
