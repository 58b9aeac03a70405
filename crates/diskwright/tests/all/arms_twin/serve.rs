//! How a request, or a group's share in it, is served: which arm makes which access, and when it is over.

use std::ops::Range;

use super::model::{Model, State};
use super::specs::Choice;
use crate::hdd_twin::queue::Waiting;
use diskwright::engine::request::Op;

/// An arm that could make an access: how long it moves, and how long until the first sector comes by, ns.
pub struct Candidate {
    pub arm: usize,
    pub motion: u64,
    pub positioning: u64,
}

/// How far the serving has come.
pub struct Course {
    /// Whose arms may serve; those of all where it is of none.
    pub group: Option<usize>,
    pub now: u64,
    /// When the interface is free.
    crossed: u64,
    /// Blocks of a write that have been written, and when the first began to cross the interface.
    pub written: u64,
    from: u64,
    /// The arm that made the last access.
    pub arm: Option<usize>,
}

impl Course {
    pub fn new(group: Option<usize>, start: u64) -> Course {
        Course {
            group,
            now: start,
            crossed: 0,
            written: 0,
            from: start,
            arm: None,
        }
    }
}

impl Model<'_> {
    /// The arm that did it last, and when it is over.
    pub fn serve(&mut self, group: usize, waiting: &Waiting) -> (usize, u64) {
        let (drive, write) = (&self.case.disk.drive, waiting.is_write());
        let (interface, overhead) = (drive.interface, drive.overhead);
        let start = self.now + self.before(write);
        let mut course = Course::new(Some(group), start);
        let accesses = self.accesses(group, waiting);
        let blocks = match self.log {
            Some(_) => waiting.blocks,
            None => accesses
                .iter()
                .map(|access| access.end - access.start)
                .sum(),
        };
        if write && !interface.overlapped {
            course.now += blocks * interface.write_block;
        }
        match (&self.log, write) {
            (None, _) => self.serve_in_place(waiting, accesses, &mut course),
            (Some(_), false) => self.read_log(waiting, &mut course),
            (Some(_), true) => self.write_log(waiting, &mut course),
        }
        let end = match (write, interface.overlapped) {
            (true, _) => course.now + overhead.completion_write,
            (false, true) => course.now.max(course.crossed) + overhead.completion_read,
            (false, false) => course.now + blocks * interface.block + overhead.completion_read,
        };
        // What is nowhere is read by the first arm that could be next.
        let arm = course.arm.unwrap_or_else(|| self.idle(group)[0]);
        (arm, end)
    }

    fn serve_in_place(
        &mut self,
        waiting: &Waiting,
        accesses: Vec<Range<u64>>,
        course: &mut Course,
    ) {
        for access in accesses {
            let before = course.arm;
            let arm = self.choose(waiting.op, access.start, course);
            if before.is_some_and(|before| before != arm) {
                self.met("a request that one arm begins and another goes on with");
            }
            let blocks = access.end - access.start;
            match waiting.is_write() {
                false => self.read(arm, access, true, course),
                true => self.write(arm, access, true, course),
            }
            course.written += blocks;
            if before == Some(arm) {
                // What one arm does in succession is one access.
                *self.counts.get_mut("media_accesses").expect("it counts") -= 1;
            }
        }
    }

    /// An arm reads blocks, which cross the interface or not.
    pub fn read(&mut self, arm: usize, access: Range<u64>, crosses: bool, course: &mut Course) {
        let State { medium, at, .. } = &self.arms[arm];
        let done = medium.read(*at, course.now, access.start, access.end);
        let block = self.case.disk.drive.interface.block;
        for &(passed, blocks) in done.sectors.iter().filter(|_| crosses) {
            course.crossed = passed.max(course.crossed) + blocks * block;
        }
        (course.now, course.arm) = (done.end(), Some(arm));
        self.arms[arm].at = done.arm;
        self.count("media_accesses", 1);
    }

    /// When so many blocks of a write have come, beside those that are written.
    pub fn arrival(&self, course: &Course, count: u64) -> u64 {
        let interface = self.case.disk.drive.interface;
        course.from + (course.written + count) * interface.write_block
    }

    /// An arm writes blocks, which cross the interface meanwhile or are in the drive.
    pub fn write(&mut self, arm: usize, access: Range<u64>, crosses: bool, course: &mut Course) {
        let State { medium, at, .. } = &self.arms[arm];
        let crosses = crosses && self.case.disk.drive.interface.overlapped;
        let arrival = |count: u64| match crosses {
            true => self.arrival(course, count),
            false => course.now,
        };
        let done = medium.write(*at, course.now, (access.start, access.end), 0, arrival);
        (course.now, course.arm) = (done.end(), Some(arm));
        self.arms[arm].at = done.arm;
        self.count("media_accesses", 1);
        self.count("read_modify_writes", done.rewritten);
    }

    /// The accesses of which a request, or a group's share in it, is made: one where every arm reaches all, else one a track.
    fn accesses(&self, group: usize, waiting: &Waiting) -> Vec<Range<u64>> {
        let medium = &self.arms[0].medium;
        let layout = &self.case.disk.drive.layout;
        let whole = ((0, layout.surfaces - 1), (0, layout.cylinders - 1));
        let arms = self.arms.iter();
        let mut reaches = arms.map(|arm| (arm.spec.surfaces, arm.spec.cylinders));
        if reaches.all(|reach| reach == whole) {
            return std::iter::once(waiting.lbn..waiting.end()).collect();
        }
        let sector = self.case.disk.drive.sector;
        let mut accesses: Vec<Range<u64>> = Vec::new();
        for block in waiting.lbn..waiting.end() {
            let goes_on = !block.is_multiple_of(sector) || medium.goes_on(block / sector);
            match accesses.last_mut() {
                Some(last) if goes_on => last.end = block + 1,
                _ => accesses.push(block..block + 1),
            }
        }
        let own = &self.arms[self.groups[group].arms[0]].spec;
        let is_own =
            |access: &Range<u64>| self.groups.len() == 1 || own.reaches(medium.place(access.start));
        accesses.retain(is_own);
        accesses
    }

    /// Whether an arm may do something on the way.
    pub fn may(&self, arm: usize, op: Op, course: &Course) -> bool {
        let State { spec, is_busy, .. } = &self.arms[arm];
        let stays = !self.case.is_independent || course.arm.is_none_or(|begun| begun == arm);
        let is_asked = course
            .group
            .is_none_or(|group| self.groups[group].arms.contains(&arm));
        stays && is_asked && !is_busy && spec.can(op)
    }

    /// The arm that makes an access that begins with a block.
    pub fn choose(&self, op: Op, block: u64, course: &Course) -> usize {
        let write = op == Op::Write;
        let may = |&arm: &usize| {
            let State { spec, medium, .. } = &self.arms[arm];
            self.may(arm, op, course) && spec.reaches(medium.place(block))
        };
        let arms = (0..self.arms.len()).filter(may);
        let candidate = |arm: usize| {
            let State { medium, at, .. } = &self.arms[arm];
            Candidate {
                arm,
                motion: medium.motion(*at, block, write),
                positioning: medium.positioning(*at, course.now, block, write),
            }
        };
        let candidates: Vec<Candidate> = arms.map(candidate).collect();
        let best = self.best(op, &candidates);
        candidates[best.expect("an arm serves every place")].arm
    }

    /// The best of some arms, in the order of their numbers: its place in the list.
    pub fn best(&self, op: Op, candidates: &[Candidate]) -> Option<usize> {
        let all = 0..candidates.len();
        let soonest = all.clone().min_by_key(|&at| candidates[at].positioning);
        match self.choice() {
            Choice::Soonest | Choice::Adaptive(_) => soonest,
            Choice::Nearest => {
                all.min_by_key(|&at| (candidates[at].motion, candidates[at].positioning))
            }
            Choice::Split { reads, writes } => {
                let named = if op == Op::Write { writes } else { reads };
                let mut arms = candidates.iter();
                arms.position(|candidate| candidate.arm == named)
                    .or(soonest)
            }
        }
    }
}
