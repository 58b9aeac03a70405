//! A log's cleaner: one access at a time, between requests.

use super::log::{Content, Taken};
use super::model::{End, Model};
use super::serve::Course;
use super::specs::Cleaner;
use diskwright::engine::request::Op;

#[derive(Default)]
pub struct Cleaning {
    is_on: bool,
    /// The track that it empties, and whether that has been read.
    track: Option<usize>,
    is_loaded: bool,
    is_at_work: bool,
    /// Nothing can be gained until a request has been served, or something trimmed.
    pub is_stuck: bool,
    /// A request has begun since its last access.
    pub has_turn: bool,
    pub alarm: Option<u64>,
}

impl Model<'_> {
    fn wants_cleaning(&mut self) -> bool {
        let Some(log) = &self.log else {
            return false;
        };
        let (low, high) = match log.spec.cleaner {
            None => return false,
            Some(Cleaner::Idle { empty, .. }) => (empty, empty),
            Some(Cleaner::Watermark { low, high }) => (low, high.max(low)),
        };
        let enough = if self.cleaning.is_on { high } else { low };
        let (empty, tracks) = (log.empty_tracks() as f64, log.tracks() as f64);
        self.cleaning.is_on = empty / tracks < enough as f64 / 64.0;
        self.cleaning.is_on && !self.cleaning.is_stuck
    }

    fn is_at_rest(&self) -> bool {
        self.arms.iter().all(|arm| !arm.is_busy)
    }

    /// Whether requests let the cleaner make an access first.
    pub fn cleans_first(&mut self) -> bool {
        let log = self.log();
        matches!(log.spec.cleaner, Some(Cleaner::Watermark { .. }))
            && self.cleaning.has_turn
            && !self.cleaning.is_at_work
            && self.wants_cleaning()
            && self.is_at_rest()
    }

    /// The drive is idle from time zero on.
    pub fn awaits_first_cleaning(&mut self) {
        let due = match self.log.as_ref().and_then(|log| log.spec.cleaner) {
            None => return,
            Some(Cleaner::Idle { after, .. }) => after,
            Some(Cleaner::Watermark { .. }) => 0,
        };
        self.cleaning.alarm = Some(due);
        self.ends.push((due, End::Idle));
    }

    /// The cleaner makes an access, if it may.
    pub fn clean(&mut self) {
        let Some(cleaner) = self.log.as_ref().and_then(|log| log.spec.cleaner) else {
            return;
        };
        if !self.is_at_rest() || self.cleaning.is_at_work || !self.wants_cleaning() {
            return;
        }
        if let Cleaner::Idle { after, .. } = cleaner {
            if self.is_serving() {
                return;
            }
            let due = self.ended + after;
            if self.now < due {
                if self.cleaning.alarm.is_none_or(|alarm| alarm < due) {
                    self.cleaning.alarm = Some(due);
                    self.ends.push((due, End::Idle));
                }
                return;
            }
        }
        self.cleaning.has_turn = false;
        while !self.cleaning.is_stuck && !self.clean_step() {}
    }

    fn is_serving(&self) -> bool {
        let mut ends = self.ends.iter();
        self.shares.iter().any(|&shares| shares > 0)
            || ends.any(|(_, end)| matches!(end, End::Passed(_)))
    }

    /// A step of the cleaner; whether it makes an access.
    fn clean_step(&mut self) -> bool {
        let log = self.log();
        let Some(track) = self.cleaning.track else {
            self.cleaning.track = log.cheapest();
            self.cleaning.is_loaded = false;
            self.cleaning.is_stuck = self.cleaning.track.is_none();
            return false;
        };
        let Some(first) = log.used(track).next() else {
            self.cleaning.track = None;
            if self.cleaning.is_loaded {
                self.count("tracks_emptied", 1);
            }
            return false;
        };
        let mut course = Course::new(None, self.now);
        if !self.cleaning.is_loaded {
            let last = log.used(track).next_back().expect("it has a first");
            let blocks = log.slots[first].first..log.slots[last].first + log.per_slot;
            let arm = self.choose(Op::Read, blocks.start, &course);
            self.read(arm, blocks, false, &mut course);
            self.count("tracks_read", 1);
            self.works(arm, course.now, End::Loaded(arm));
            return true;
        }
        let mut all = log.map.iter();
        let content = all.find(|&(_, &slot)| slot == first);
        let Some(content) = content.map(|(&content, _)| content) else {
            // It is being written.
            self.cleaning.is_stuck = true;
            return false;
        };
        let found = match log.can_move() {
            true => self.choose_slot(&course, Some(track)),
            false => None,
        };
        let Some((arm, slot)) = found else {
            self.cleaning.is_stuck = true;
            self.cleaning.track = None;
            return false;
        };
        self.move_away(first, content, (arm, slot), &mut course);
        true
    }

    fn move_away(
        &mut self,
        from: usize,
        content: Content,
        (arm, slot): (usize, usize),
        course: &mut Course,
    ) {
        let log = self.log_mut();
        let taken: Taken = log.take_hole(slot, content);
        let first = log.slots[slot].first;
        let blocks = first..first + log.per_slot;
        self.write(arm, blocks, false, course);
        self.arms[arm].effects.taken.push(taken);
        self.works(arm, course.now, End::Moved { arm, from });
    }

    fn works(&mut self, arm: usize, end: u64, how: End) {
        self.cleaning.is_at_work = true;
        self.arms[arm].is_busy = true;
        self.ends.push((end, how));
    }

    /// A track has been read.
    pub fn loaded(&mut self) {
        self.cleaning.is_at_work = false;
        self.cleaning.is_loaded = true;
    }

    /// What was in a slot is in another one, unless it has been written anew or trimmed meanwhile.
    pub fn moved(&mut self, arm: usize, from: usize) {
        self.cleaning.is_at_work = false;
        let taken = self.arms[arm].effects.taken.pop();
        let taken = taken.expect("something was moved");
        let log = self.log_mut();
        if log.map.get(&taken.content) != Some(&from) {
            self.met("something that is moved and changes meanwhile");
            return self.log_mut().abandon(taken);
        }
        log.commit(taken);
        self.count("blocks_moved", 1);
        self.release(from);
    }
}
