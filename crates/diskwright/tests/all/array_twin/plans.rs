//! Arrays with redundancy: what the members have to do for a request, and what becomes of it when one of them fails.

use diskwright::engine::request::Op;

use super::clock::End;
use super::jobs::{Block, Piece};
use super::model::Model;
use super::runs;

/// Blocks that are read and written for a request.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub reads: Vec<Block>,
    pub writes: Vec<Block>,
    /// Of those, the ones that are parity.
    pub parity: Vec<Block>,
    /// Blocks of the array that are given up.
    pub lost: Vec<u64>,
}

impl Model<'_> {
    /// Plans a job as the members are now.
    pub fn plans(&mut self, job: usize) {
        let has_parity = self.case.parity().is_some();
        self.jobs[job].tally.clear();
        self.jobs[job].pieces.clear();
        let plan = match self.jobs[job].asked.op {
            Op::Trim if has_parity => {
                self.add("trims_not_passed_on", 1);
                Some(Plan::default())
            }
            Op::Read if has_parity => self.plans_read(job),
            Op::Write if has_parity => self.plans_write(job),
            Op::Read => self.plans_read_of_copies(job),
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
        let unless_single = if self.jobs[job].is_by_rows {
            Some(unit)
        } else {
            None
        };
        let asked = self.jobs[job].asked;
        let there = &self.jobs[job].there;
        plan.reads.retain(|block| !there.contains(block));
        let reads = runs::by_rows(runs::over_gaps, plan.reads, unless_single);
        let writes = runs::by_rows(runs::of, plan.writes, unless_single);
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
            let parity = plan.parity.iter();
            let parity = parity.filter(|(member, at)| run.has(*member, *at));
            let rows: Vec<u64> = parity.map(|(_, at)| row_of(*at)).collect();
            piece.has_parity = !rows.is_empty();
            for (number, read) in reads.iter().enumerate() {
                // A joined request is for all rows from its first to its last.
                let of_read = row_of(read.at)..=row_of(read.at + read.blocks - 1);
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
    pub fn hears(&mut self, job: usize, piece: usize, end: End) {
        let Piece { op, run, .. } = self.jobs[job].pieces[piece];
        let is_read = op == Op::Read;
        let unit = self.case.unit();
        let blocks = (run.at..run.at + run.blocks).map(|at| (run.member, at));
        let job = &mut self.jobs[job];
        match end {
            End::Good if is_read => job.there.extend(blocks),
            End::Good => {}
            End::Unreadable => {
                let is_of_one_row = run.at / unit == (run.at + run.blocks - 1) / unit;
                if is_of_one_row || job.is_by_rows {
                    job.bad.extend(blocks);
                }
                job.is_by_rows = true;
                job.is_to_plan_anew = true;
                self.met.insert("a block that cannot be read");
            }
            End::Failed => {
                job.is_to_plan_anew |= is_read;
                job.has_lost_a_write |= !is_read;
                self.known[run.member].has_failed = true;
            }
        }
    }

    /// A job of which a read has failed, and of which nothing is under way any more, begins anew.
    pub fn plans_anew(&mut self, number: usize) {
        self.met.insert("a request that is planned anew");
        let known = &self.known;
        let job = &mut self.jobs[number];
        job.is_to_plan_anew = false;
        job.there.retain(|(member, _)| !known[*member].has_failed);
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
        match asked.op {
            Op::Read => !blocks.any(|lbn| self.lost.contains(&lbn)),
            Op::Write => {
                !job.has_lost_a_write
                    || !self
                        .blocks_of(&asked)
                        .into_iter()
                        .any(|block| self.is_beyond(block))
            }
            _ => {
                !job.has_lost_a_write
                    || !(0..self.case.capacity()).any(|lbn| {
                        let place = self.case.place(lbn);
                        self.is_beyond((place.member, place.at))
                    })
            }
        }
    }

    /// Whether more members of a block's row are missing than its redundancy makes up for.
    pub fn is_beyond(&self, (member, at): Block) -> bool {
        if self.case.parity().is_none() {
            let copies = self.case.copies(member % self.case.data_units());
            return copies.into_iter().all(|copy| self.has_failed(copy));
        }
        let _ = at;
        let members = 0..self.case.members.len();
        let missing = members.filter(|&member| self.has_failed(member));
        missing.count() > self.case.parities()
    }
}
