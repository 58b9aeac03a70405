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
        // What cannot be read is looked for row by row.
        let unit = self.jobs[job].is_by_rows.then(|| self.case.unit());
        for run in runs::by_rows(runs::of, self.blocks_of(&asked), unit) {
            let blocks = |member: usize| -> Vec<Block> {
                (run.at..run.at + run.blocks)
                    .map(|at| (member, at))
                    .collect()
            };
            let (bad, there) = (self.jobs[job].bad.clone(), self.jobs[job].there.clone());
            let mut copies = self.case.copies(run.member);
            copies.retain(|&copy| !self.has_failed(copy));
            let is_bad = |copy: &usize| blocks(*copy).iter().any(|block| bad.contains(block));
            let (bad, good): (Vec<usize>, Vec<usize>) = copies.into_iter().partition(is_bad);
            let is_there = |copy: &usize| blocks(*copy).iter().all(|block| there.contains(block));
            let member = match good.into_iter().find(is_there) {
                Some(copy) => copy,
                None => self.source(run, &bad)?,
            };
            plan.reads.extend(blocks(member));
            for copy in bad {
                self.met.insert("a copy that is repaired");
                plan.writes.extend(blocks(copy));
                repaired += run.blocks;
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
