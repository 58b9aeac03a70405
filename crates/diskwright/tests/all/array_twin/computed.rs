//! Reads of arrays with parity: what a member has not, the others of its row make up for.

use super::jobs::Block;
use super::model::Model;
use super::plans::Plan;

impl Model<'_> {
    /// Whether a block is where it should be and can be read.
    pub fn is_readable(&self, job: usize, block: Block) -> bool {
        !self.has_failed(block.0) && !self.jobs[job].bad.contains(&block)
    }

    /// The blocks that a block is computed from, if there are enough: the other data of its row, and as many parities as data are missing.
    fn others(&self, job: usize, (member, at): Block) -> Option<Vec<Block>> {
        let row = at / self.case.unit();
        let units = self.case.data_units();
        let data = (0..units).map(|unit| self.case.data_member(row, unit));
        let all = data.chain(self.case.parity_members(row));
        let mut others: Vec<Block> = all.map(|member| (member, at)).collect();
        others.retain(|&other| other.0 != member && self.is_readable(job, other));
        others.truncate(units);
        (others.len() == units).then_some(others)
    }

    /// What is read; none, if not all can be had.
    pub fn plans_read(&mut self, job: usize) -> Option<Plan> {
        let asked = self.jobs[job].asked;
        let mut plan = Plan::default();
        let (mut recovered, mut repaired) = (0, 0);
        for block in self.blocks_of(&asked) {
            if self.is_readable(job, block) {
                plan.reads.push(block);
                continue;
            }
            plan.reads.extend(self.others(job, block)?);
            self.met.insert("a block that is computed");
            recovered += 1;
            if !self.has_failed(block.0) {
                self.met.insert("a block that is repaired");
                plan.writes.push(block);
                repaired += 1;
            }
        }
        let tally = &mut self.jobs[job].tally;
        tally.push(("recovered_blocks", recovered));
        tally.push(("repaired_blocks", repaired));
        Some(plan)
    }
}
