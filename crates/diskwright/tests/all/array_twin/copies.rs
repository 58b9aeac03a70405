//! RAID-10: members with the same blocks.

use super::model::Model;
use super::plans::Plan;
use super::runs::{self, Run};

impl Model<'_> {
    /// Each run of blocks is read from one of its copies.
    pub fn plans_read_of_copies(&mut self, job: usize) -> Option<Plan> {
        let asked = self.jobs[job].asked;
        let mut plan = Plan::default();
        let mut repaired = 0;
        let blocks = self.blocks_of(&asked);
        // What cannot be read is looked for row by row.
        let all = if self.jobs[job].is_by_rows {
            runs::parts(blocks, self.case.unit())
        } else {
            runs::of(blocks)
        };
        for run in all {
            let copies = self.case.copies(run.member).into_iter();
            let mut copies: Vec<Run> = copies.map(|member| Run { member, ..run }).collect();
            copies.retain(|copy| self.has(copy.member, copy.end()));
            let (good, bad): (Vec<Run>, Vec<Run>) = copies
                .into_iter()
                .partition(|&copy| self.is_readable(job, copy));
            let there = &self.jobs[job].there;
            let is_there = |copy: &&Run| there.iter().any(|there| there.contains(copy));
            let read = match good.iter().find(is_there) {
                Some(&copy) => copy,
                None => {
                    let members = good.iter().map(|copy| copy.member).collect();
                    let member = self.source(run, members)?;
                    Run { member, ..run }
                }
            };
            plan.reads.push(read);
            for copy in bad {
                self.met.insert("a copy that is repaired");
                plan.writes.push(copy);
                repaired += copy.blocks;
            }
        }
        self.jobs[job].tally.push(("repaired_blocks", repaired));
        Some(plan)
    }

    /// All copies are written.
    pub fn plans_write_of_copies(&mut self, job: usize) -> Option<Plan> {
        let asked = self.jobs[job].asked;
        let mut plan = Plan::default();
        for run in runs::of(self.blocks_of(&asked)) {
            let copies = self.case.copies(run.member);
            if !copies.iter().any(|&copy| self.has(copy, run.end())) {
                return None;
            }
            for member in copies {
                if self.takes(member, run.at) {
                    plan.writes.push(Run { member, ..run });
                }
            }
        }
        Some(plan)
    }
}
