//! The cleaner at work: between requests, one access at a time.

use super::LogPlacement;
use super::service::Pass;
use crate::base::units::Time;
use crate::devices::hdd::arm::Work;
use crate::devices::hdd::medium::{AccessCursor, ArmFilter, DataPath, Medium, on_medium};
use crate::devices::hdd::tally::Tally;
use crate::engine::context::Context;
use crate::engine::request::{Command, Op};
use crate::models::placement::cleaner::cheapest;
use crate::models::placement::log::Content;
use crate::models::placement::slots::SlotId;

/// What a cleaner is at, and what it has done.
#[derive(Default)]
pub(in crate::devices::hdd) struct Cleaning {
    /// It has begun, and goes on until enough tracks are empty.
    is_on: bool,
    /// The track that it empties, and whether what is on it has been read.
    track: Option<usize>,
    is_loaded: bool,
    /// An access of it is under way.
    is_at_work: bool,
    /// Nothing can be gained until a request is complete.
    is_stuck: bool,
    /// A request has been begun since its last access.
    has_turn: bool,
    /// The instant of the alarm after which the drive has been idle for long enough, where one is set.
    alarm: Option<Time>,
    pub(super) loads: u64,
    pub(super) moved: u64,
    pub(super) emptied: u64,
}

impl Cleaning {
    /// A request has been begun.
    pub fn yields(&mut self) {
        self.has_turn = true;
    }

    /// A request is complete.
    pub fn looks_again(&mut self) {
        self.is_stuck = false;
    }
}

/// What the cleaner wants of the disk.
#[derive(Clone, Copy, Debug)]
pub(in crate::devices::hdd) enum Next {
    /// Nothing, for now.
    Nothing,
    /// To be asked again at an instant.
    AskAt(Time),
    /// This access; a write has its arm already.
    Access {
        work: Work,
        command: Command,
        arm: Option<usize>,
    },
}

impl LogPlacement {
    /// Whether the cleaner is wanted, and can do something.
    pub fn wants_cleaning(&mut self) -> bool {
        let Some(cleaner) = self.cleaner else {
            return false;
        };
        let (free, tracks) = (self.log.free(), self.log.slots().tracks().len());
        let empty = free.empty_tracks() as f64 / tracks as f64;
        let enough = if self.cleaning.is_on {
            cleaner.high
        } else {
            cleaner.low
        };
        self.cleaning.is_on = empty < enough;
        self.cleaning.is_on && !self.cleaning.is_stuck
    }

    /// Whether requests that wait let the cleaner make an access first.
    pub fn cleans_first(&mut self, medium: &Medium) -> bool {
        let does_not_wait = self.cleaner.is_some_and(|cleaner| cleaner.after.is_none());
        does_not_wait
            && self.cleaning.has_turn
            && !self.cleaning.is_at_work
            && self.wants_cleaning()
            && medium.is_at_rest()
    }

    /// Whether there is a cleaner.
    pub fn has_cleaner(&self) -> bool {
        self.cleaner.is_some()
    }

    /// What the cleaner does now, if it is wanted and nothing else is to be done: the drive may be serving requests, and the last one was
    /// complete at `ended`.
    pub fn next_cleaning(
        &mut self,
        medium: &mut Medium,
        (is_serving, ended): (bool, Time),
        now: Time,
    ) -> Next {
        let Some(cleaner) = self.cleaner else {
            return Next::Nothing;
        };
        if !medium.is_at_rest() || self.cleaning.is_at_work || !self.wants_cleaning() {
            return Next::Nothing;
        }
        if let Some(after) = cleaner.after {
            if is_serving {
                return Next::Nothing;
            }
            let due = ended + after;
            if now < due {
                if self.cleaning.alarm.is_some_and(|alarm| alarm >= due) {
                    return Next::Nothing;
                }
                self.cleaning.alarm = Some(due);
                return Next::AskAt(due);
            }
        }
        self.cleaning.has_turn = false;
        while !self.cleaning.is_stuck {
            if let Some(access) = self.clean_step(medium, now) {
                return access;
            }
        }
        Next::Nothing
    }

    /// The drive has been idle for long, unless a request has come since.
    pub fn idle_for_long(&mut self) {
        self.cleaning.alarm = None;
    }

    /// The next step of the cleaner; `None` where it took no access.
    fn clean_step(&mut self, medium: &mut Medium, now: Time) -> Option<Next> {
        let log = &self.log;
        let Some(track) = self.cleaning.track else {
            self.cleaning.track = cheapest(log.free(), log.slots());
            self.cleaning.is_loaded = false;
            self.cleaning.is_stuck = self.cleaning.track.is_none();
            return None;
        };
        let slots = log.slots().tracks()[track].slots;
        let used = |slot: &SlotId| !log.free().is_free(*slot);
        let mut left = (0..slots)
            .map(|slot| log.slots().id(track, slot))
            .filter(used);
        let Some(first) = left.next() else {
            self.cleaning.track = None;
            self.cleaning.emptied += u64::from(self.cleaning.is_loaded);
            return None;
        };
        if !self.cleaning.is_loaded {
            let last = left.next_back().unwrap_or(first);
            return Some(self.load(first, last));
        }
        let Some(content) = log.content_of(first) else {
            // Something is being written there.
            self.cleaning.is_stuck = true;
            return None;
        };
        self.move_away(medium, (track, first), content, now)
    }

    /// Reads a track from a slot to another one.
    fn load(&mut self, first: SlotId, last: SlotId) -> Next {
        let lbn = self.medium_lbn(first);
        let blocks = (self.medium_lbn(last) + self.per_slot - lbn) as u32;
        self.cleaning.loads += 1;
        self.cleaning.is_at_work = true;
        Next::Access {
            work: Work::Load,
            command: on_medium(Op::Read, lbn, blocks),
            arm: None,
        }
    }

    /// Writes what is in a slot of a track somewhere else; `None` where there is no room.
    fn move_away(
        &mut self,
        medium: &mut Medium,
        (track, from): (usize, SlotId),
        content: Content,
        now: Time,
    ) -> Option<Next> {
        let cursor = AccessCursor::new(ArmFilter::Any, now);
        let found = match self.log.can_move() {
            true => self.choose_slot(medium, &cursor, Some(track)),
            false => None,
        };
        let Some((arm, found)) = found else {
            self.cleaning.is_stuck = true;
            self.cleaning.track = None;
            return None;
        };
        let allocated = self
            .log
            .take_hole(&medium.hardware.mechanics, &found, content);
        let lbn = self.medium_lbn(found.slot);
        medium.effects.allocated.push(allocated);
        self.cleaning.is_at_work = true;
        Some(Next::Access {
            work: Work::Move { from },
            command: on_medium(Op::Write, lbn, self.per_slot as u32),
            arm: Some(arm),
        })
    }

    /// A track has been read.
    #[inline(never)]
    pub fn loaded(&mut self) {
        self.cleaning.is_at_work = false;
        self.cleaning.is_loaded = true;
    }

    /// What was in a slot has been written elsewhere.
    #[inline(never)]
    pub fn moved_away(
        &mut self,
        medium: &mut Medium,
        arm: usize,
        from: SlotId,
        cx: &mut Context<'_>,
    ) {
        self.cleaning.is_at_work = false;
        let allocated = medium.arms[arm].effects.allocated.pop();
        let allocated = allocated.expect("a block was moved");
        let (old, new) = (self.medium_lbn(from), self.medium_lbn(allocated.slot));
        if self.log.slot_of(allocated.content) != Some(from) {
            // It has been written anew, or forgotten, meanwhile.
            return self.log.abandon(&medium.hardware.mechanics, allocated);
        }
        self.cleaning.moved += 1;
        self.log.commit(allocated);
        if let Some((checker, device)) = cx.checker() {
            checker.moved_on_medium(device, old, new, self.per_slot as u32);
        }
        self.release(medium, from);
    }
}

/// Makes an access of the cleaner from `now` on: the arm that makes it, and when that is done.
pub(in crate::devices::hdd) fn make_access<T: Tally>(
    medium: &mut Medium,
    command: &Command,
    arm: Option<usize>,
    now: Time,
    parts: &mut T,
) -> (usize, Time) {
    let mut cursor = AccessCursor::new(ArmFilter::Any, now);
    let mut pass = Pass {
        medium,
        cursor: &mut cursor,
        parts,
    };
    match arm {
        None => pass.access(command, DataPath::Drive),
        Some(arm) => pass.write_by(arm, command, None),
    }
    (cursor.arm.expect("an arm is at work"), cursor.now)
}
