//! Reads of arrays with parity: what a member has not, the others of its row make up for.

use super::model::Model;
use super::plans::Plan;
use super::runs::{self, Run};

impl Model<'_> {
    /// Whether a part of a unit is where it should be and can be read.
    pub fn is_readable(&self, job: usize, part: Run) -> bool {
        let bad = &self.jobs[job].bad;
        self.has(part.member, part.end()) && !bad.iter().any(|bad| bad.meets(&part))
    }

    /// What a part of a unit is computed from, if there is enough: the other data of its row, and as many parities as data are missing.
    pub fn others(&self, job: usize, part: Run) -> Option<Vec<Run>> {
        let row = part.at / self.case.unit();
        let units = self.case.data_units();
        let data = (0..units).map(|unit| self.case.data_member(row, unit));
        let all = data.chain(self.case.parity_members(row));
        let mut others: Vec<Run> = all.map(|member| Run { member, ..part }).collect();
        others.retain(|&other| other.member != part.member && self.is_readable(job, other));
        others.truncate(units);
        (others.len() == units).then_some(others)
    }

    /// What is read; none, if not all can be had.
    pub fn plans_read(&mut self, job: usize) -> Option<Plan> {
        let asked = self.jobs[job].asked;
        let mut plan = Plan::default();
        let (mut recovered, mut repaired) = (0, 0);
        for part in runs::parts(self.blocks_of(&asked), self.case.unit()) {
            if self.is_readable(job, part) {
                plan.reads.push(part);
                continue;
            }
            plan.reads.extend(self.others(job, part)?);
            self.met.insert("a block that is computed");
            recovered += part.blocks;
            if self.has(part.member, part.end()) {
                self.met.insert("a block that is repaired");
                plan.writes.push(part);
                repaired += part.blocks;
            }
        }
        let tally = &mut self.jobs[job].tally;
        tally.push(("recovered_blocks", recovered));
        tally.push(("repaired_blocks", repaired));
        Some(plan)
    }
}
