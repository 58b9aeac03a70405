//! Stripes, concatenations and mirrors.

use diskwright::engine::request::Op;

use super::jobs::Piece;
use super::model::Model;
use super::runs::{self, Run};

impl Model<'_> {
    /// Members are asked for what they have of a request.
    pub fn asks_members(&mut self, job: usize) {
        let asked = self.jobs[job].asked;
        let mut pieces = Vec::new();
        for run in runs::over_gaps(self.blocks_of(&asked)) {
            if !self.case.is_mirror() {
                pieces.push(run);
            } else if asked.op == Op::Read {
                let mut copies = self.case.copies(run.member);
                copies.retain(|&copy| !self.is_lost(copy));
                let member = self.source(run, copies);
                pieces.extend(member.map(|member| Run { member, ..run }));
            } else {
                let mut copies = self.case.copies(run.member);
                copies.retain(|&copy| !self.is_lost(copy));
                pieces.extend(copies.into_iter().map(|member| Run { member, ..run }));
            }
        }
        if pieces.is_empty() {
            return self.is_over(job, false);
        }
        for run in pieces {
            self.jobs[job].pieces.push(Piece::new(asked.op, run));
        }
        self.send_ready(job);
    }

    /// Whether another member of a mirror can serve a read: then it is the piece's.
    pub fn is_retried(&mut self, job: usize, piece: usize) -> bool {
        let Piece {
            op,
            run,
            ref mut tried,
            ..
        } = self.jobs[job].pieces[piece];
        if op != Op::Read || !self.case.is_mirror() {
            return false;
        }
        tried.push(run.member);
        let tried = tried.clone();
        let Some(member) = self.next_source(run, &tried) else {
            return false;
        };
        self.jobs[job].pieces[piece].run.member = member;
        self.add("retried_reads", 1);
        self.met.insert("a read that another member serves");
        true
    }
}
