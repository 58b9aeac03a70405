//! Writes of rows with parity.

use super::jobs::Block;
use super::model::Model;
use super::plans::Plan;
use super::segments::{self, Segment};

/// How the parity of a segment is made.
enum Way {
    /// Nothing is read, whether all is written or no parity is left.
    Nothing,
    /// These members are read.
    Reads(&'static str, Vec<usize>),
    /// Old data and parity do not fit any more: these members are read, and the data of others are given up.
    GivesUp(Vec<usize>, Vec<usize>),
}

impl Model<'_> {
    /// How the parity of a segment is made, if it can be.
    fn way(&self, job: usize, segments: &[Segment], segment: &Segment) -> Option<Way> {
        let parity = self.case.parity().expect("rows have parity");
        let row = segment.row;
        let units = self.case.data_units();
        let row_begin = row * self.case.unit();
        let mut written: Vec<usize> = Vec::new();
        let mut others: Vec<usize> = Vec::new();
        for unit in 0..units {
            let member = self.case.data_member(row, unit);
            if segment.written.contains(&unit) {
                written.push(member);
            } else {
                others.push(member);
            }
        }
        let mut parities = self.case.parity_members(row);
        parities.retain(|&member| !self.has_failed(member));
        if parities.is_empty() {
            return Some(Way::Nothing);
        }
        let reads = |member: &usize| {
            let mut places = segment.from..segment.to;
            places.all(|place| self.is_readable(job, (*member, row_begin + place)))
        };
        let is_torn = self.jobs[job].has_written;
        let may_reconstruct = others.iter().all(reads);
        let may_modify = !is_torn && written.iter().all(reads) && parities.iter().all(reads);
        let touched = segments::touched(segments, row);
        let prefers_to_modify = match parity.threshold {
            None => written.len() + self.case.parities() < others.len(),
            Some(threshold) => touched < units && touched < threshold,
        };
        if may_reconstruct && !(may_modify && prefers_to_modify) {
            return Some(if others.is_empty() {
                Way::Reads("full_segments", others)
            } else {
                Way::Reads("reconstructed_segments", others)
            });
        }
        if may_modify {
            let all = [written, parities].concat();
            return Some(Way::Reads("modified_segments", all));
        }
        if is_torn {
            let lost = others.iter().copied().filter(|member| !reads(member));
            let lost: Vec<usize> = lost.collect();
            others.retain(reads);
            return Some(Way::GivesUp(others, lost));
        }
        // All that is left.
        let mut all = [written, others, parities].concat();
        all.retain(reads);
        (all.len() >= units).then_some(Way::Reads("reconstructed_segments", all))
    }

    /// What is read before, and what is written.
    pub fn plans_write(&mut self, job: usize) -> Option<Plan> {
        let asked = self.jobs[job].asked;
        let segments = segments::of(self.case, &asked);
        let unit = self.case.unit();
        let mut plan = Plan::default();
        for segment in &segments {
            let row = segment.row;
            let at = row * unit + segment.from;
            if self.is_beyond((0, at)) {
                return None;
            }
            let way = self.way(job, &segments, segment)?;
            let parities = self.case.parity_members(row);
            let (read, lost) = match way {
                Way::Nothing => {
                    self.met.insert("a row without parity");
                    (Vec::new(), Vec::new())
                }
                Way::Reads(counter, read) => {
                    self.met.insert(counter);
                    self.jobs[job].tally.push((counter, 1));
                    (read, Vec::new())
                }
                Way::GivesUp(read, lost) => {
                    self.met.insert("a segment that is given up");
                    (read, lost)
                }
            };
            for offset in segment.from..segment.to {
                let at = row * unit + offset;
                plan.reads.extend(read.iter().map(|&member| (member, at)));
                plan.parity
                    .extend(parities.iter().map(|&member| (member, at)));
                for &member in &lost {
                    plan.writes.push((member, at));
                    let mut units = 0..self.case.data_units();
                    let unit_lost = units.find(|&unit| self.case.data_member(row, unit) == member);
                    let place = row * self.case.data_units() as u64;
                    let place = place + unit_lost.expect("it has data") as u64;
                    plan.lost.push(place * unit + offset);
                }
            }
        }
        plan.writes.extend(self.blocks_of(&asked));
        plan.writes.extend(&plan.parity);
        let works = |block: &Block| !self.has_failed(block.0);
        plan.writes.retain(works);
        plan.parity.retain(works);
        Some(plan)
    }
}
