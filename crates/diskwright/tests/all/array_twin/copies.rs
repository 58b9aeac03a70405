//! RAID-10: members with the same blocks.

use super::jobs::Block;
use super::model::Model;
use super::plans::Plan;
use super::runs;

impl Model<'_> {
    /// Each run of blocks is read from one of its copies.
    pub fn plans_read_of_copies(&mut self, job: usize) -> Option<Plan> {
        let asked = self.jobs[job].asked;
        let mut plan = Plan::default();
        let mut repaired = 0;
        for run in runs::of(self.blocks_of(&asked)) {
            let bad = self.jobs[job].bad.clone();
            let is_bad = |copy: &usize| {
                bad.iter().any(|&(member, at)| {
                    member == *copy && (run.at..run.at + run.blocks).contains(&at)
                })
            };
            let mut not: Vec<usize> = self.case.copies(run.member);
            not.retain(is_bad);
            let member = self.source(run, &not)?;
            let blocks = |member: usize| -> Vec<Block> {
                (run.at..run.at + run.blocks)
                    .map(|at| (member, at))
                    .collect()
            };
            plan.reads.extend(blocks(member));
            for copy in not {
                if !self.has_failed(copy) {
                    plan.writes.extend(blocks(copy));
                    repaired += run.blocks;
                }
            }
        }
        self.jobs[job].tally.push(("repaired_blocks", repaired));
        Some(plan)
    }

    /// All copies are written.
    pub fn plans_write_of_copies(&mut self, job: usize) -> Option<Plan> {
        let asked = self.jobs[job].asked;
        let mut plan = Plan::default();
        for (member, at) in self.blocks_of(&asked) {
            if self.is_beyond((member, at)) {
                return None;
            }
            let mut copies = self.case.copies(member);
            copies.retain(|&copy| !self.has_failed(copy));
            plan.writes
                .extend(copies.into_iter().map(|copy| (copy, at)));
        }
        Some(plan)
    }
}
