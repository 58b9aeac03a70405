//! The cleaner at work: between requests, one access at a time.

use super::arm::Work;
use super::course::{Data, Way, Who, on_medium};
use super::{IDLE, MultiHdd};
use crate::base::units::Time;
use crate::devices::hdd::tally::Tally;
use crate::engine::Token;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op, Parts};
use crate::models::placement::cleaner::cheapest;
use crate::models::placement::log::Content;
use crate::models::placement::slots::SlotId;

/// What a cleaner is at, and what it has done.
#[derive(Default)]
pub(super) struct Cleaning {
    /// It has begun, and goes on until enough tracks are empty.
    is_on: bool,
    /// The track that it empties, and whether what is on it has been read.
    track: Option<usize>,
    is_loaded: bool,
    /// An access of it is under way.
    is_at_work: bool,
    /// Nothing can be gained until a request has been served.
    is_stuck: bool,
    /// A request has been begun since its last access.
    has_turn: bool,
    /// When an alarm is set for the drive's having been idle for long enough.
    alarm: Option<Time>,
    pub loads: u64,
    pub moved: u64,
    pub emptied: u64,
}

impl Cleaning {
    /// A request has been begun.
    pub fn yields(&mut self) {
        self.has_turn = true;
    }

    /// A request has been served.
    pub fn looks_again(&mut self) {
        self.is_stuck = false;
    }
}

impl MultiHdd {
    /// Whether the cleaner is wanted, and can do something.
    fn wants_cleaning(&mut self) -> bool {
        let (Some(log), Some(cleaner)) = (&self.log, self.cleaner) else {
            return false;
        };
        let empty = log.free().empty_tracks() as f64 / log.slots().tracks().len() as f64;
        let enough = if self.cleaning.is_on {
            cleaner.high
        } else {
            cleaner.low
        };
        self.cleaning.is_on = empty < enough;
        self.cleaning.is_on && !self.cleaning.is_stuck
    }

    /// Whether requests that wait let the cleaner make an access first.
    pub(super) fn cleans_first(&mut self) -> bool {
        let does_not_wait = self.cleaner.is_some_and(|cleaner| cleaner.after.is_none());
        does_not_wait
            && self.cleaning.has_turn
            && !self.cleaning.is_at_work
            && self.wants_cleaning()
            && self.arms.iter().all(|arm| arm.work.is_none())
    }

    /// Lets the cleaner make an access, if it is wanted and nothing else is to be done.
    pub(super) fn clean(&mut self, cx: &mut Context<'_>) {
        let Some(cleaner) = self.cleaner else {
            return;
        };
        let at_rest = self.arms.iter().all(|arm| arm.work.is_none());
        if !at_rest || self.cleaning.is_at_work || !self.wants_cleaning() {
            return;
        }
        if let Some(after) = cleaner.after {
            let due = self.ended + after;
            if self.queued > 0 {
                return;
            }
            if cx.now() < due {
                if self.cleaning.alarm.is_none_or(|alarm| alarm < due) {
                    self.cleaning.alarm = Some(due);
                    cx.alarm(due, Token::new(IDLE, 0));
                }
                return;
            }
        }
        self.cleaning.has_turn = false;
        while !self.cleaning.is_stuck && !self.clean_step(cx) {}
    }

    /// The drive has been idle for long, unless a request has come since.
    pub(super) fn idle_for_long(&mut self, cx: &mut Context<'_>) {
        self.cleaning.alarm = None;
        cx.wake();
    }

    /// The next step of the cleaner; false where it took no access.
    fn clean_step(&mut self, cx: &mut Context<'_>) -> bool {
        let log = self.log.as_ref().expect("a cleaner has a log");
        let Some(track) = self.cleaning.track else {
            self.cleaning.track = cheapest(log.free(), log.slots());
            self.cleaning.is_loaded = false;
            self.cleaning.is_stuck = self.cleaning.track.is_none();
            return false;
        };
        let slots = log.slots().tracks()[track].slots;
        let used = |slot: &SlotId| !log.free().is_free(*slot);
        let mut left = (0..slots)
            .map(|slot| log.slots().id(track, slot))
            .filter(used);
        let Some(first) = left.next() else {
            self.cleaning.track = None;
            self.cleaning.emptied += u64::from(self.cleaning.is_loaded);
            return false;
        };
        if !self.cleaning.is_loaded {
            let last = left.next_back().unwrap_or(first);
            self.load(first, last, cx);
            return true;
        }
        let Some(content) = log.content_of(first) else {
            // Something is being written there.
            self.cleaning.is_stuck = true;
            return false;
        };
        self.move_away(track, first, content, cx)
    }

    /// Reads a track from a slot to another one.
    fn load(&mut self, first: SlotId, last: SlotId, cx: &mut Context<'_>) {
        let per_slot = self.slot_blocks().expect("a cleaner has a log");
        let lbn = self.medium_lbn(first);
        let blocks = (self.medium_lbn(last) + per_slot - lbn) as u32;
        let command = on_medium(Op::Read, lbn, blocks);
        self.cleaning.loads += 1;
        self.background(Work::Load, &command, None, cx);
    }

    /// Writes what is in a slot of a track somewhere else; false where there is no room.
    fn move_away(
        &mut self,
        track: usize,
        from: SlotId,
        content: Content,
        cx: &mut Context<'_>,
    ) -> bool {
        let per_slot = self.slot_blocks().expect("a cleaner has a log") as u32;
        let log = self.log.as_ref().expect("a cleaner has a log");
        let found = if log.can_move() {
            self.choose_slot(&Way::new(Who::Any, cx.now()), Some(track))
        } else {
            None
        };
        let Some((arm, found)) = found else {
            self.cleaning.is_stuck = true;
            self.cleaning.track = None;
            return false;
        };
        let log = self.log.as_mut().expect("a cleaner has a log");
        let taken = log.take_hole(&self.hardware.mechanics, &found, content);
        let command = on_medium(Op::Write, self.medium_lbn(found.slot), per_slot);
        self.course.taken.push(taken);
        self.background(Work::Move { from }, &command, Some(arm), cx);
        true
    }

    /// Makes an access of the cleaner: a write has its arm already.
    fn background(
        &mut self,
        work: Work,
        command: &Command,
        arm: Option<usize>,
        cx: &mut Context<'_>,
    ) {
        let now = cx.now();
        let mut way = Way::new(Who::Any, now);
        let parts = match self.camera_behind(now) {
            None => {
                let mut parts = Parts::default();
                self.access_behind(command, arm, &mut way, &mut parts);
                parts
            }
            Some(mut steps) => {
                self.access_behind(command, arm, &mut way, &mut steps);
                self.show_behind(&steps, command.op, now);
                steps.parts()
            }
        };
        self.counters.spent(&parts);
        self.cleaning.is_at_work = true;
        let arm = way.arm.expect("an arm is at work");
        std::mem::swap(&mut self.course, &mut self.arms[arm].course);
        self.work(arm, work, way.now, cx);
    }

    fn access_behind<T: Tally>(
        &mut self,
        command: &Command,
        arm: Option<usize>,
        way: &mut Way,
        parts: &mut T,
    ) {
        match arm {
            None => self.access(command, Data::Drive, way, parts),
            Some(arm) => self.access_by(arm, command, None, way, parts),
        }
    }

    /// A track has been read.
    pub(super) fn loaded(&mut self) {
        self.cleaning.is_at_work = false;
        self.cleaning.is_loaded = true;
    }

    /// What was in a slot has been written elsewhere.
    pub(super) fn moved_away(&mut self, arm: usize, from: SlotId, cx: &mut Context<'_>) {
        self.cleaning.is_at_work = false;
        let taken = self.arms[arm].course.taken.pop();
        let taken = taken.expect("a block was moved");
        let per_slot = self.slot_blocks().expect("a cleaner has a log") as u32;
        let (old, new) = (self.medium_lbn(from), self.medium_lbn(taken.slot));
        let log = self.log.as_mut().expect("a cleaner has a log");
        if log.slot_of(taken.content) != Some(from) {
            // It has been written anew, or forgotten, meanwhile.
            log.abandon(&self.hardware.mechanics, taken);
            return;
        }
        self.cleaning.moved += 1;
        log.commit(taken);
        if let Some((checker, medium)) = cx.checker() {
            checker.moved_on_medium(medium, old, new, per_slot);
        }
        self.release(from);
    }
}
