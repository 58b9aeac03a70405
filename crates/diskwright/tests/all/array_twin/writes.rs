//! Writes of rows with parity.

use super::model::Model;
use super::plans::Plan;
use super::runs::Run;
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
        let part = |member: usize| segment.of(member, self.case.unit());
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
        parities.retain(|&member| self.takes(member, part(member).at));
        if parities.is_empty() {
            return Some(Way::Nothing);
        }
        let reads = |member: &usize| self.is_readable(job, part(*member));
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
            if self.is_beyond(segment.of(0, unit)) {
                return None;
            }
            let (read, lost) = match self.way(job, &segments, segment)? {
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
            let row = segment.row;
            let part = |member: usize| segment.of(member, unit);
            plan.reads.extend(read.into_iter().map(part));
            let takes = |part: &Run| self.takes(part.member, part.at);
            let data = |unit: usize| self.case.data_member(row, unit);
            let written = segment.written.iter().map(|&unit| data(unit));
            let written = written.chain(lost.iter().copied());
            plan.writes.extend(written.map(part).filter(takes));
            let parities = self.case.parity_members(row).into_iter();
            let parities: Vec<Run> = parities.map(part).filter(takes).collect();
            plan.writes.extend(&parities);
            plan.parity.extend(parities);
            for number in 0..self.case.data_units() {
                if lost.contains(&data(number)) {
                    let begin = self.case.first_block(row, number);
                    plan.lost.extend(begin + segment.from..begin + segment.to);
                }
            }
        }
        Some(plan)
    }
}
