//! Arrays with redundancy: what the members have to do for a request, and what becomes of it when one of them fails.

use std::cmp::Reverse;

use diskwright::engine::request::Op;

use super::clock::End;
use super::jobs::{Job, Piece, Purpose};
use super::model::{Model, State};
use super::runs::{self, Run};
use super::specs::Asked;

/// What is read and written for a request: parts of units, and of copies runs of them.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub reads: Vec<Run>,
    pub writes: Vec<Run>,
    /// Of those, the ones that are parity.
    pub parity: Vec<Run>,
    /// Blocks of the array that are given up.
    pub lost: Vec<u64>,
}

impl Model<'_> {
    /// Plans a job as the members are now.
    pub fn plans(&mut self, job: usize) {
        let has_parity = self.case.parity().is_some();
        self.jobs[job].tally.clear();
        self.jobs[job].pieces.clear();
        let Asked { lbn, blocks, .. } = self.jobs[job].asked;
        self.jobs[job].meets_lost |= (lbn..lbn + blocks).any(|lbn| self.lost.contains(&lbn));
        let Job { asked, purpose, .. } = &self.jobs[job];
        let plan = match (asked.op, *purpose) {
            (_, Purpose::Step(spare)) => self.plans_step(job, spare),
            (Op::Trim, _) if has_parity => {
                self.add("trims_not_passed_on", 1);
                Some(Plan::default())
            }
            (Op::Read, _) if has_parity => self.plans_read(job),
            (Op::Write, _) if has_parity => self.plans_write(job),
            (Op::Read, _) => self.plans_read_of_copies(job),
            _ => self.plans_write_of_copies(job),
        };
        let Some(mut plan) = plan else {
            return self.is_over(job, false);
        };
        for lbn in std::mem::take(&mut plan.lost) {
            self.lost.push(lbn);
            self.add("lost_blocks", 1);
        }
        self.makes_pieces(job, plan);
        self.send_ready(job);
    }

    fn makes_pieces(&mut self, job: usize, mut plan: Plan) {
        let unit = self.case.unit();
        let row_of = |at: u64| at / unit;
        let Job {
            asked,
            is_by_rows,
            ref there,
            ..
        } = self.jobs[job];
        let one_row = is_by_rows.then_some(unit);
        plan.reads
            .retain(|read| !there.iter().any(|there| there.contains(read)));
        let mut reads = runs::by_rows(runs::over_gaps, runs::blocks(&plan.reads), one_row);
        let mut writes = runs::by_rows(runs::of, runs::blocks(&plan.writes), one_row);
        // The members with the highest numbers are asked first.
        for runs in [&mut reads, &mut writes] {
            runs.sort_by_key(|run| Reverse(run.member));
        }
        let own_chain = self.case.parity().is_some_and(|parity| parity.own_chain);
        let mut pieces = Vec::new();
        for &run in &reads {
            let mut piece = Piece::new(Op::Read, run);
            piece.is_pre_read = asked.op == Op::Write;
            pieces.push(piece);
        }
        for run in writes {
            let op = if asked.op == Op::Trim {
                Op::Trim
            } else {
                Op::Write
            };
            let mut piece = Piece::new(op, run);
            let parity = plan.parity.iter().filter(|parity| run.contains(parity));
            let rows: Vec<u64> = parity.map(|parity| row_of(parity.at)).collect();
            piece.has_parity = !rows.is_empty();
            for (number, read) in reads.iter().enumerate() {
                // A joined request is for all rows from its first to its last.
                let of_read = row_of(read.at)..=row_of(read.end() - 1);
                let of_parity = rows.iter().min().zip(rows.iter().max());
                let is_of_rows = of_parity
                    .is_some_and(|(first, last)| first <= of_read.end() && of_read.start() <= last);
                let waits = !(own_chain && asked.op == Op::Write)
                    || read.member == run.member
                    || is_of_rows;
                if waits {
                    piece.after.push(number);
                }
            }
            pieces.push(piece);
        }
        self.jobs[job].pieces = pieces;
    }

    /// A piece has come back.
    pub fn hears(&mut self, job: usize, piece: usize, device: usize, end: End) {
        let Piece { op, run, .. } = self.jobs[job].pieces[piece];
        let is_read = op == Op::Read;
        let unit = self.case.unit();
        let job = &mut self.jobs[job];
        match end {
            End::Good if is_read => job.there.push(run),
            End::Good => {}
            End::Unreadable => {
                let is_of_one_row = run.at / unit == (run.end() - 1) / unit;
                if is_of_one_row || job.is_by_rows {
                    job.bad.push(run);
                }
                job.is_by_rows = true;
                job.is_to_plan_anew = true;
                self.met.insert("a block that cannot be read");
            }
            End::Failed => {
                job.is_to_plan_anew |= is_read;
                job.has_lost_a_write |= !is_read;
                if self.slots[run.member].device == device {
                    self.loses(run.member);
                }
            }
        }
    }

    /// A job of which a read has failed, and of which nothing is under way any more, begins anew.
    pub fn plans_anew(&mut self, number: usize) {
        self.met.insert("a request that is planned anew");
        let slots = &self.slots;
        let job = &mut self.jobs[number];
        job.is_to_plan_anew = false;
        let is_lost = |there: &Run| slots[there.member].state == State::Lost;
        job.there.retain(|there| !is_lost(there));
        if job.claim.is_some() {
            return self.ready.push(number);
        }
        // What it has read without its rows may have changed since.
        job.there.clear();
        job.is_waiting = true;
        let asked = job.asked;
        let mut claim = self.claim(&asked);
        claim.is_shared = false;
        self.jobs[number].claim = Some(claim);
        self.asks(number);
    }

    /// Whether what has been done for a job suffices.
    pub fn suffices(&self, number: usize) -> bool {
        let job = &self.jobs[number];
        let asked = job.asked;
        let mut blocks = asked.lbn..asked.lbn + asked.blocks;
        let unit = self.case.unit();
        match asked.op {
            _ if !matches!(job.purpose, Purpose::Request(_)) => true,
            Op::Read => !job.meets_lost && !blocks.any(|lbn| self.lost.contains(&lbn)),
            _ if !job.has_lost_a_write => true,
            Op::Write => {
                let mut parts = runs::parts(self.blocks_of(&asked), unit).into_iter();
                !parts.any(|part| self.has_no_way(part))
            }
            _ => {
                let at = self.case.used() - unit;
                let last = |member| Run {
                    member,
                    at,
                    blocks: unit,
                };
                let mut units = 0..self.case.data_units();
                !units.any(|unit| self.is_beyond(last(unit)))
            }
        }
    }

    /// Whether more is missing of what a part is computed from than its redundancy makes up for.
    fn has_no_way(&self, part: Run) -> bool {
        if self.case.parity().is_some() {
            return self.is_beyond(part);
        }
        let copies = self.case.copies(part.member);
        copies.iter().all(|&copy| !self.has(copy, part.end()))
    }

    /// Whether more is missing of a row than its redundancy makes up for: of copies, in any group.
    pub fn is_beyond(&self, part: Run) -> bool {
        let is_missing = |member: &usize| !self.has(*member, part.end());
        if self.case.parity().is_none() {
            let mut groups = 0..self.case.data_units();
            return groups.any(|group| self.case.copies(group).iter().all(is_missing));
        }
        let members = 0..self.case.members.len();
        members.filter(is_missing).count() > self.case.parities()
    }
}
