//! How a drive whose data are in a log serves requests, and what is noted when an arm has done its work.

use std::collections::BTreeSet;
use std::ops::Range;

use super::log::{Content, Log, Taken};
use super::model::Model;
use super::serve::{Candidate, Course};
use crate::hdd_twin::queue::Waiting;
use diskwright::engine::request::Op;

/// What an arm's work leaves to be noted when it is done.
#[derive(Default)]
pub struct Effects {
    pub taken: Vec<Taken>,
    /// Blocks of the medium that are read, or written where they are: nobody may take their slots before that is done.
    pub uses: Vec<Range<u64>>,
    /// Slots that are given up when this arm does not use them any more.
    held: Vec<usize>,
}

impl Model<'_> {
    /// The log, where data are in one.
    pub fn log(&self) -> &Log {
        self.log.as_ref().expect("data are in a log")
    }

    pub fn log_mut(&mut self) -> &mut Log {
        self.log.as_mut().expect("data are in a log")
    }

    /// Reads what a request asks for, where the log has it.
    pub fn read_log(&mut self, waiting: &Waiting, course: &mut Course) {
        let log = self.log();
        let mut pieces: Vec<(u64, Range<u64>)> = Vec::new();
        for (block, from, end) in log.covered(waiting.lbn, waiting.end()) {
            let Some(place) = log.place(block) else {
                continue;
            };
            let at = place + from % log.per_slot;
            match pieces.last_mut() {
                Some((next, last)) if *next == from && last.end == at => {
                    last.end += end - from;
                    *next = end;
                }
                _ => pieces.push((end, at..at + end - from)),
            }
        }
        for (_, piece) in pieces {
            let arm = self.choose(waiting.op, piece.start, course);
            self.read(arm, piece.clone(), true, course);
            self.effects.uses.push(piece);
        }
    }

    /// Writes what a request brings into the log, or where it is.
    pub fn write_log(&mut self, waiting: &Waiting, course: &mut Course) {
        let log = self.log();
        let covered = log.covered(waiting.lbn, waiting.end());
        let (mut first, mut last) = (None, None);
        for (block, from, end) in covered {
            let log = self.log();
            let place = log.place(block);
            let stays = self.is_in_place() || !log.can_move();
            match place.filter(|_| stays) {
                Some(place) => {
                    let at = place + from % log.per_slot;
                    let blocks = at..at + end - from;
                    let arm = self.choose(waiting.op, at, course);
                    self.write(arm, blocks.clone(), true, course);
                    self.effects.uses.push(blocks);
                    self.met("a block of a log that is written where it is");
                }
                None => {
                    self.write_anew(block, (from, end), place, course);
                    first = first.or(Some(block));
                    last = Some(block);
                }
            }
            course.written += end - from;
        }
        let log = self.log();
        if let (Some(first), Some(last), true) = (first, last, log.spec.has_virtual_log) {
            for part in log.part_of(first)..=log.part_of(last) {
                self.write_slot(Content::Map(part), false, course);
            }
        }
    }

    fn write_anew(
        &mut self,
        block: u64,
        (from, end): (u64, u64),
        place: Option<u64>,
        course: &mut Course,
    ) {
        let per_slot = self.log().per_slot;
        let is_whole = end - from == per_slot;
        if let Some(place) = place.filter(|_| !is_whole) {
            self.read_rest(place..place + per_slot, course);
            self.count("read_modify_writes", 1);
        }
        if !is_whole {
            let arrived = self.arrival(course, end - from);
            course.now = course.now.max(arrived);
        }
        self.write_slot(Content::Data(block), is_whole, course);
    }

    /// Reads a slot of which a part is written: any arm that can does where those of the group do not read.
    fn read_rest(&mut self, slot: Range<u64>, course: &mut Course) {
        let group = &self.groups[course.group.expect("a request is for a group")];
        let reads = group.arms.iter().any(|&arm| self.arms[arm].spec.reads);
        let op = Op::Read;
        let before = (course.group, course.arm);
        if !reads {
            (course.group, course.arm) = (None, None);
        }
        let arm = self.choose(op, slot.start, course);
        self.read(arm, slot.clone(), false, course);
        self.effects.uses.push(slot);
        if !reads {
            (course.group, course.arm) = before;
            self.helpers.retain(|&(helper, _)| helper != arm);
            self.helpers.push((arm, course.now));
            self.met("an arm that reads for a write of another");
        }
    }

    /// Writes a slot of its own for some content; its blocks may come over the interface.
    fn write_slot(&mut self, content: Content, crosses: bool, course: &mut Course) {
        let op = Op::Write;
        let log = self.log();
        let per_slot = log.per_slot;
        if let Some(&slot) = log.map.get(&content).filter(|_| !log.can_move()) {
            let first = log.slots[slot].first;
            let arm = self.choose(op, first, course);
            return self.write(arm, first..first + per_slot, false, course);
        }
        let (arm, slot) = self
            .choose_slot(course, None)
            .expect("a log keeps a slot free for every block that has none");
        let log = self.log_mut();
        let taken = log.take(slot, content);
        let first = log.slots[slot].first;
        self.write(arm, first..first + per_slot, crosses, course);
        self.effects.taken.push(taken);
    }

    /// The slot that is written next, and the arm that writes it; a cleaner's lies not on the track that it empties.
    pub fn choose_slot(&self, course: &Course, cleans: Option<usize>) -> Option<(usize, usize)> {
        let log = self.log();
        let op = Op::Write;
        let may = (0..self.arms.len()).filter(|&arm| self.may(arm, op, course));
        let found = may.filter_map(|arm| {
            let state = &self.arms[arm];
            let merit = match cleans {
                None => log.choose(state, course.now),
                Some(track) => log.choose_hole(state, course.now, track),
            };
            let merit = merit?;
            let first = log.slots[merit.5].first;
            let candidate = Candidate {
                arm,
                motion: state.medium.motion(state.at, first, true),
                positioning: merit.0,
            };
            Some((candidate, merit.5))
        });
        let (candidates, slots): (Vec<Candidate>, Vec<usize>) = found.unzip();
        let chosen = self.best(op, &candidates)?;
        Some((candidates[chosen].arm, slots[chosen]))
    }

    /// Where the next write of a group's arms would go: the first block on the medium.
    pub fn next_write(&self, group: usize) -> Option<u64> {
        let log = self.log.as_ref()?;
        let course = Course::new(Some(group), self.now);
        let may = (0..self.arms.len()).filter(|&arm| self.may(arm, Op::Write, &course));
        let found = may.filter_map(|arm| log.choose(&self.arms[arm], self.now));
        found.min().map(|merit| log.slots[merit.5].first)
    }

    /// Where the data of a waiting request are now: the first block on the medium.
    pub fn place_now(&self, waiting: &Waiting) -> Option<u64> {
        let log = self.log();
        let covered = log.covered(waiting.lbn, waiting.end()).into_iter();
        let mut places = covered.filter_map(|(block, from, _)| Some((log.place(block)?, from)));
        let (place, from) = places.next()?;
        Some(place + from % log.per_slot)
    }

    /// Whether a write must read first what its arms cannot read, and no arm that can is at rest.
    pub fn lacks_reader(&self, group: usize, waiting: &Waiting) -> bool {
        let log = self.log();
        let mut arms = self.groups[group].arms.iter();
        if !waiting.is_write() || arms.any(|&arm| self.arms[arm].spec.reads) {
            return false;
        }
        let covered = log.covered(waiting.lbn, waiting.end()).into_iter();
        let mut in_part = covered.filter(|(_, from, end)| end - from < log.per_slot);
        let mut arms = self.arms.iter();
        in_part.any(|(block, ..)| log.place(block).is_some())
            && !arms.any(|arm| !arm.is_busy && arm.spec.reads)
    }

    /// What a write is about that has no slot.
    fn without_slot(&self, waiting: &Waiting) -> BTreeSet<Content> {
        let log = self.log();
        let mut wanted = BTreeSet::new();
        for (block, ..) in log.covered(waiting.lbn, waiting.end()) {
            wanted.insert(Content::Data(block));
            if log.spec.has_virtual_log {
                wanted.insert(Content::Map(log.part_of(block)));
            }
        }
        wanted.retain(|content| !log.map.contains_key(content));
        wanted
    }

    /// Whether fewer slots are free than a write needs, while an arm is at work.
    pub fn lacks_room(&self, waiting: &Waiting) -> bool {
        let log = self.log();
        let free = log.is_free.iter().filter(|&&is_free| is_free).count();
        let is_at_work = self.arms.iter().any(|arm| arm.is_busy);
        waiting.is_write() && is_at_work && self.without_slot(waiting).len() > free
    }

    /// Whether another arm writes for the first time what a write is about.
    pub fn is_being_placed(&self, waiting: &Waiting) -> bool {
        let wanted = self.without_slot(waiting);
        let at_work = self.arms.iter().filter(|arm| arm.is_busy);
        let mut taken = at_work.flat_map(|arm| &arm.effects.taken);
        waiting.is_write() && taken.any(|taken| wanted.contains(&taken.content))
    }

    /// What an arm has written is noted.
    pub fn commit(&mut self, arm: usize) {
        if self.log.is_none() {
            return;
        }
        for taken in std::mem::take(&mut self.arms[arm].effects.taken) {
            let log = self.log_mut();
            if let Some(before) = log.commit(taken) {
                self.release(before);
            }
        }
    }

    /// A slot becomes free, or when an arm does not use it any more.
    pub fn release(&mut self, slot: usize) {
        let log = self.log();
        let (first, end) = (log.slots[slot].first, log.slots[slot].first + log.per_slot);
        let uses = |uses: &Range<u64>| uses.start < end && first < uses.end;
        let mut arms = self.arms.iter_mut();
        match arms.find(|arm| arm.is_busy && arm.effects.uses.iter().any(uses)) {
            Some(arm) => {
                arm.effects.held.push(slot);
                self.met("a slot that is given up while an arm uses it");
            }
            None => self.log_mut().is_free[slot] = true,
        }
    }

    /// An arm has done its work: slots that were held for that may be free.
    pub fn let_go(&mut self, arm: usize) {
        let effects = std::mem::take(&mut self.arms[arm].effects);
        effects.held.into_iter().for_each(|slot| self.release(slot));
    }

    /// Whole logical blocks of a trim are nowhere from now on.
    pub fn trim(&mut self, from: u64, end: u64) {
        let Some(log) = &mut self.log else {
            return;
        };
        let whole = log.covered(from, end).into_iter();
        let whole = whole.filter(|(_, from, end)| end - from == log.per_slot);
        let slots: Vec<usize> = whole
            .filter_map(|(block, ..)| log.map.remove(&Content::Data(block)))
            .collect();
        slots.into_iter().for_each(|slot| self.release(slot));
        self.cleaning.is_stuck = false;
    }
}
