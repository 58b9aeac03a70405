//! A medium that reads into a segment: what the head does, one operation after the other.

use super::medium::Medium;
use super::seeks::Arm;

/// What the head does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Moves,
    Waits,
    /// It reads the sector of a block.
    Reads(u64),
}

/// An operation of the head.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub what: What,
    pub ends: u64,
    /// Where the arm is at its end.
    pub arm: Arm,
}

/// What fills a segment.
pub struct Filling {
    pub segment: usize,
    /// The first block of its data, and the block up to which it is filled.
    pub first: u64,
    pub limit: u64,
    pub operations: Vec<Operation>,
}

impl Filling {
    /// The end of its last operation.
    pub fn ends(&self) -> u64 {
        self.operations.last().map_or(0, |last| last.ends)
    }

    /// The block up to which it has read at an instant.
    pub fn read_until(&self, now: u64) -> u64 {
        let mut ended = self.operations.iter().rev();
        let last = ended.find_map(|operation| match operation.what {
            What::Reads(block) if operation.ends <= now => Some(block + 1),
            _ => None,
        });
        last.unwrap_or(self.first)
    }

    /// When a block has been read.
    pub fn arrival(&self, block: u64) -> Option<u64> {
        let mut all = self.operations.iter();
        let its = all.find(|operation| operation.what == What::Reads(block))?;
        Some(its.ends)
    }

    /// Goes on to another limit.
    pub fn raise(&mut self, medium: &Medium<'_>, limit: u64) {
        if limit <= self.limit {
            return;
        }
        let last = self.operations.last().expect("it has read");
        let more = operations(medium, last.arm, last.ends, (self.limit, limit));
        self.operations.extend(more);
        self.limit = limit;
    }

    /// Interrupted at an instant: when that takes effect, and where the arm is then.
    pub fn stop(&self, now: u64, within_sector: bool) -> Option<(u64, Arm)> {
        let mut all = self.operations.iter();
        let current = all.find(|operation| operation.ends > now)?;
        match current.what {
            What::Moves => Some((current.ends, current.arm)),
            _ if within_sector => Some((now, current.arm)),
            _ => Some((current.ends, current.arm)),
        }
    }
}

/// Reads the blocks `from..to`, moving from `start` on. Sectors have one block.
pub fn operations(
    medium: &Medium<'_>,
    mut arm: Arm,
    start: u64,
    (from, to): (u64, u64),
) -> Vec<Operation> {
    let mut now = start;
    let mut list = Vec::new();
    for block in from..to {
        let there = Arm::over(medium.place(block));
        if there != arm || block == from {
            let ends = now + medium.drive.motion(arm, there, false);
            arm = there;
            list.push(Operation {
                what: What::Moves,
                ends,
                arm,
            });
            now = ends;
        }
        let pass = medium.pass(block, now);
        // What slips between two sectors of a track is read over, not waited for.
        let is_first = list
            .last()
            .is_none_or(|last: &Operation| last.what == What::Moves);
        let steps = [(What::Waits, pass.begins), (What::Reads(block), pass.ends)];
        for (what, ends) in steps.into_iter().skip(usize::from(!is_first)) {
            list.push(Operation { what, ends, arm });
            now = ends;
        }
    }
    list
}
