//! The medium and the arms over it: which arm makes an access, what it does, and what is counted of that.

use super::access::{Arrivals, Begin, Beginning, read_piece, write_piece};
use super::arm::{Arm, PendingEffects, Work};
use super::arm_group::ArmGroup;
use super::arms_spec::{ArmMotion, ArmParts};
use super::counters::HddCounters;
use super::hardware::Hardware;
use super::picture::HddPicture;
use super::tally::Tally;
use crate::base::units::{Lbn, Time};
use crate::engine::request::{Command, Op, Part};
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::{HeadPosition, Target};
use crate::models::placement::arm_choice::{ArmChoice, Candidate};
use crate::models::placement::soonest::FreeSlot;

/// The medium, and the arms over it.
pub(super) struct Medium {
    pub hardware: Hardware,
    pub arms: Vec<Arm>,
    /// Arms that serve the same requests.
    pub groups: Vec<ArmGroup>,
    /// Whether arms move one at a time.
    pub motion: ArmMotion,
    /// Which of several arms makes an access.
    pub choice: Box<dyn ArmChoice>,
    /// Every arm reaches all tracks.
    pub reaches_all: bool,
    /// The request before was a write.
    pub after_write: bool,
    /// The controller works on commands as they come, beside the medium: what the disk does is between medium and memory alone.
    pub is_behind_memory: bool,
    pub counters: HddCounters,
    pub picture: Option<Box<HddPicture>>,
    /// Until when time has been counted as busy.
    pub busy_until: Time,
    /// How often the choice of arms had changed its ways when counting began.
    switches_before: u64,
    /// What is to be noted at the end of the request that is being worked out.
    pub effects: PendingEffects,
    /// Arms of other groups that read for a write, and until when.
    pub borrowed: Vec<(usize, Time)>,
    pub candidates: Vec<Candidate>,
    pub found: Vec<FreeSlot>,
}

/// How far the serving of a request has come.
pub(super) struct AccessCursor {
    /// The arms that may do something for it.
    pub filter: ArmFilter,
    pub now: Time,
    /// Until when its blocks keep the interface busy.
    pub on_bus: Time,
    /// When the first of a write's blocks began to cross the interface, and how many of them have been written.
    pub from: Time,
    pub sent: u32,
    /// The arm that made the last access.
    pub arm: Option<usize>,
    /// What that arm does next belongs to the same access.
    pub goes_on: bool,
}

/// The arms that may do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArmFilter {
    /// The idle ones of a group.
    Group(usize),
    /// All idle ones.
    Any,
}

impl AccessCursor {
    pub fn new(filter: ArmFilter, start: Time) -> AccessCursor {
        AccessCursor {
            filter,
            now: start,
            on_bus: Time::ZERO,
            from: start,
            sent: 0,
            arm: None,
            goes_on: false,
        }
    }
}

/// Where the blocks of an access come from or go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataPath {
    /// They cross the interface.
    Host,
    /// They are the drive's own, or in it already.
    Drive,
}

/// The runs of a command's sectors, one a track.
pub(super) fn runs(hardware: &Hardware, command: &Command) -> impl Iterator<Item = Run> {
    let (mut next, end) = hardware.sectors_of(command);
    std::iter::from_fn(move || {
        let left = (end - next).min(u64::from(u32::MAX)) as u32;
        let run = (left > 0).then(|| hardware.mechanics.layout.run(next, left))?;
        next += u64::from(run.sectors);
        Some(run)
    })
}

/// A read or a write of consecutive blocks of the medium.
pub(super) fn on_medium(op: Op, lbn: u64, blocks: u32) -> Command {
    Command {
        op,
        fua: false,
        lbn: Lbn(lbn),
        blocks,
    }
}

impl Medium {
    /// Arms at rest over a medium; `groups` are lists of their numbers.
    pub fn new(
        hardware: Hardware,
        parts: &[ArmParts],
        motion: ArmMotion,
        choice: Box<dyn ArmChoice>,
        groups: Vec<Vec<usize>>,
    ) -> Medium {
        let group_of = |arm: usize| groups.iter().position(|group| group.contains(&arm));
        let spindle = hardware.mechanics.spindle;
        let unit = |(number, &arm): (usize, &ArmParts)| {
            let group = group_of(number).expect("every arm belongs to a group");
            Arm::new(arm, spindle, group)
        };
        let layout = &hardware.mechanics.layout;
        Medium {
            arms: parts.iter().enumerate().map(unit).collect(),
            reaches_all: parts.iter().all(|arm| arm.reach.holds_all(layout)),
            groups: groups
                .into_iter()
                .map(|group| ArmGroup::new(group, parts))
                .collect(),
            hardware,
            motion,
            choice,
            after_write: false,
            is_behind_memory: false,
            counters: HddCounters::default(),
            picture: None,
            busy_until: Time::ZERO,
            switches_before: 0,
            effects: PendingEffects::default(),
            borrowed: Vec::new(),
            candidates: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Whether an arm of a group can begin something now.
    #[inline]
    pub fn has_idle_arm(&self, group: usize) -> bool {
        if let [arm] = &self.arms[..] {
            return arm.work.is_none();
        }
        match self.motion {
            ArmMotion::OneAtATime => self.is_at_rest(),
            ArmMotion::Independent => self.idle_arm(group).is_some(),
        }
    }

    /// The first idle arm of a group.
    #[inline]
    pub fn idle_arm(&self, group: usize) -> Option<usize> {
        let mut arms = self.groups[group].arms.iter().copied();
        arms.find(|&arm| self.arms[arm].work.is_none())
    }

    /// Whether no arm is at work.
    #[inline]
    pub fn is_at_rest(&self) -> bool {
        self.arms.iter().all(|arm| arm.work.is_none())
    }

    /// Whether every arm is at work for a request.
    #[inline]
    pub fn serves_on_all_arms(&self) -> bool {
        let mut arms = self.arms.iter();
        arms.all(|arm| matches!(arm.work, Some(Work::Request(_))))
    }

    /// Whether a group has a share in a command whose blocks are in place.
    pub fn reaches(&self, group: usize, command: &Command) -> bool {
        self.groups[group].reaches_all(&self.hardware.mechanics.layout)
            || self.share(group, command).next().is_some()
    }

    /// The share of a group in a command whose blocks are in place: for each track the first block, and how many.
    pub fn share(&self, group: usize, command: &Command) -> impl Iterator<Item = (u64, u32)> {
        let per_sector = u64::from(self.hardware.blocks_per_sector);
        let (first, end) = (command.lbn.0, command.end().0);
        let mut next = self.hardware.sector_of(first);
        runs(&self.hardware, command).filter_map(move |run| {
            let from = (next * per_sector).max(first);
            next += u64::from(run.sectors);
            let end = (next * per_sector).min(end);
            self.is_of_group(group, &run)
                .then_some((from, (end - from) as u32))
        })
    }

    /// How many blocks the share of a group has.
    #[inline(never)]
    pub fn blocks_of_share(&self, group: usize, command: &Command) -> u32 {
        self.share(group, command).map(|(_, blocks)| blocks).sum()
    }

    /// Whether a group serves what is on the track of a run, with data in place.
    fn is_of_group(&self, group: usize, run: &Run) -> bool {
        let position = &run.position;
        self.groups.len() == 1 || self.groups[group].reaches(position.cylinder, position.head)
    }

    /// Writes where the share of a group in a command begins, with data in place.
    #[inline]
    pub fn aim_in_place(&self, group: usize, command: &Command, target: &mut Target) {
        let run = &mut target.run;
        self.hardware.write_track_of(command, run);
        if self.groups.len() > 1 {
            let group = &self.groups[group];
            let is_own = |run: &Run| group.reaches(run.position.cylinder, run.position.head);
            if !is_own(run) {
                let mut runs = runs(&self.hardware, command);
                *run = runs.find(is_own).unwrap_or(*run);
            }
        }
        let mechanics = &self.hardware.mechanics;
        mechanics.aim(target, command.op == Op::Write);
    }

    /// Serves a command, or a group's share in it, whose blocks are in place; where one arm serves all, `target` may tell where the first
    /// one is.
    #[inline(always)]
    pub fn serve_in_place<T: Tally>(
        &mut self,
        group: usize,
        command: &Command,
        target: Option<&Target>,
        cursor: &mut AccessCursor,
        parts: &mut T,
    ) {
        if !self.reaches_all {
            return self.serve_within_reach(group, command, cursor, parts);
        }
        match target {
            Some(target) => self.access(command, target, DataPath::Host, cursor, parts),
            None => self.serve_looked_up(command, cursor, parts),
        }
    }

    /// The same where it is not known where the first block is.
    #[inline(never)]
    fn serve_looked_up<T: Tally>(
        &mut self,
        command: &Command,
        cursor: &mut AccessCursor,
        parts: &mut T,
    ) {
        let target = self.hardware.target_of(command);
        self.access(command, &target, DataPath::Host, cursor, parts);
    }

    /// The same, track by track, where arms do not reach everything.
    #[inline(never)]
    fn serve_within_reach<T: Tally>(
        &mut self,
        group: usize,
        command: &Command,
        cursor: &mut AccessCursor,
        parts: &mut T,
    ) {
        let per_sector = u64::from(self.hardware.blocks_per_sector);
        let mut next = command.lbn.0;
        while next < command.end().0 {
            let layout = &self.hardware.mechanics.layout;
            let sector = self.hardware.sector_of(next);
            let run = layout.run(sector, u32::MAX);
            let end = (sector + u64::from(run.sectors)) * per_sector;
            let end = end.min(command.end().0);
            if self.is_of_group(group, &run) {
                let piece = Command {
                    lbn: Lbn(next),
                    blocks: (end - next) as u32,
                    ..*command
                };
                let target = self.hardware.target_of(&piece);
                self.access(&piece, &target, DataPath::Host, cursor, parts);
                cursor.sent += piece.blocks;
                cursor.goes_on = true;
            }
            next = end;
        }
    }

    /// Whether an arm may do something on the way.
    pub fn may(&self, number: usize, op: Op, cursor: &AccessCursor) -> bool {
        let arm = &self.arms[number];
        let is_asked = match cursor.filter {
            ArmFilter::Group(group) => arm.group == group,
            ArmFilter::Any => true,
        };
        // An arm that moves by itself stays with the request that it has begun.
        let stays = match (self.motion, cursor.arm) {
            (ArmMotion::Independent, Some(begun)) => begun == number,
            _ => true,
        };
        is_asked && stays && arm.work.is_none() && arm.can(op)
    }

    /// The arm that serves an access.
    #[inline]
    pub fn choose_arm(&mut self, op: Op, target: &Target, cursor: &AccessCursor) -> usize {
        if self.arms.len() == 1 {
            return 0;
        }
        self.choose_among(op, target, cursor)
    }

    fn choose_among(&mut self, op: Op, target: &Target, cursor: &AccessCursor) -> usize {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let position = &target.run.position;
        let mechanics = &self.hardware.mechanics;
        for (number, arm) in self.arms.iter().enumerate() {
            let reaches = arm.parts.reach.holds(position.cylinder, position.head);
            if !reaches || !self.may(number, op, cursor) {
                continue;
            }
            let motion = mechanics.motion_time(arm.at, target.arm(), target.write);
            let phase = arm.phase(cursor.now);
            candidates.push(Candidate {
                arm: number,
                motion,
                positioning: mechanics.positioning(arm.at, phase, target),
            });
        }
        let chosen = match candidates.len() {
            0 | 1 => 0,
            _ => self.choice.choose(op, &candidates),
        };
        let arm = candidates
            .get(chosen)
            .expect("every track has an arm that serves it")
            .arm;
        self.candidates = candidates;
        arm
    }

    /// One access to consecutive blocks of the medium, the first of which is at `target`.
    #[inline]
    pub fn access<T: Tally>(
        &mut self,
        command: &Command,
        target: &Target,
        data: DataPath,
        cursor: &mut AccessCursor,
        parts: &mut T,
    ) {
        let arm = self.choose_arm(command.op, target, cursor);
        if command.op == Op::Write {
            let arrivals = self.arrivals(cursor).filter(|_| data == DataPath::Host);
            return self.write_by(arm, (command, target), arrivals, cursor, parts);
        }
        parts.by_arm(arm);
        let begin = self.begin(arm, cursor);
        let on_bus = match data {
            DataPath::Host => cursor.on_bus,
            DataPath::Drive => Time::ZERO,
        };
        let first = Beginning::of_command(command, target, &self.hardware);
        let piece = read_piece(&self.hardware, begin, on_bus, command, first, parts);
        if data == DataPath::Host {
            cursor.on_bus = piece.on_bus;
        }
        self.moved(arm, (target, 0), (piece.arm, piece.end), cursor);
    }

    /// When the host's blocks come that a write writes next, where they cross the interface while the arm moves.
    pub fn arrivals(&self, cursor: &AccessCursor) -> Option<Arrivals> {
        let interface = &self.hardware.interface;
        let sent = interface.write_time(cursor.sent);
        (interface.overlapped).then(|| Arrivals::from(cursor.from + sent))
    }

    /// A write by a certain arm, to blocks the first of which is at `target`.
    #[inline(always)]
    pub fn write_by<T: Tally>(
        &mut self,
        arm: usize,
        (command, target): (&Command, &Target),
        arrivals: Option<Arrivals>,
        cursor: &mut AccessCursor,
        parts: &mut T,
    ) {
        parts.by_arm(arm);
        let begin = self.begin(arm, cursor);
        let first = Beginning::of_command(command, target, &self.hardware);
        let done = write_piece(&self.hardware, begin, arrivals, command, first, parts);
        let what = (target, done.read_modify_writes);
        self.moved(arm, what, (done.arm, done.end), cursor);
    }

    /// An arm has made an access, or more of one, that began at `target`: counts it, and goes on from where it ended.
    #[inline(always)]
    fn moved(
        &mut self,
        arm: usize,
        (target, read_modify_writes): (&Target, u32),
        (to, end): (HeadPosition, Time),
        cursor: &mut AccessCursor,
    ) {
        if cursor.goes_on && cursor.arm == Some(arm) {
            self.counters.read_modify_writes += u64::from(read_modify_writes);
            self.arms[arm].moved_on(to, cursor.now, end);
        } else {
            let from = self.arms[arm].at.cylinder;
            let distance = from.abs_diff(target.run.position.cylinder);
            self.count_access(distance, read_modify_writes);
            self.arms[arm].moved(to, cursor.now, end);
        }
        (cursor.now, cursor.arm) = (end, Some(arm));
    }

    #[inline]
    fn begin(&self, arm: usize, cursor: &AccessCursor) -> Begin<'_> {
        Begin {
            spindle: &self.arms[arm].spindle,
            arm: self.arms[arm].at,
            at: cursor.now,
        }
    }

    /// The end of a read of `blocks` blocks: what is left of it crosses the interface.
    #[inline]
    pub fn finish_read<T: Tally>(&self, blocks: u32, cursor: &mut AccessCursor, parts: &mut T) {
        let interface = &self.hardware.interface;
        let end = if interface.overlapped {
            cursor.on_bus.max(cursor.now)
        } else {
            cursor.now + interface.time(blocks)
        };
        parts.add(Part::Bus, end - cursor.now);
        cursor.now = end;
    }

    /// An arm is at work from `now` until `end`.
    #[inline(always)]
    pub fn work(&mut self, arm: usize, work: Work, now: Time, end: Time) {
        self.arms[arm].work = Some(work);
        self.count_busy(now, end);
    }

    /// Counts an access to the medium for which an arm moved over `distance` cylinders.
    #[inline]
    pub fn count_access(&mut self, distance: u32, read_modify_writes: u32) {
        self.counters.accessed(distance, read_modify_writes);
        if self.picture.is_some() {
            self.picture_access(distance);
        }
    }

    #[cold]
    fn picture_access(&mut self, distance: u32) {
        if let Some(picture) = &mut self.picture {
            picture.access(distance);
        }
    }

    #[cold]
    fn picture_busy(&mut self, from: Time, to: Time) {
        if let Some(picture) = &mut self.picture {
            picture.busy(from, to);
        }
    }

    /// From when on the time of work counts that began at `start`: not before the end of the warm-up.
    pub fn counted_from(&self, start: Time) -> Time {
        start.max(self.counters.since().unwrap_or(start))
    }

    /// Counts the time from `from` to `to` as busy, as far as it is not counted yet.
    #[inline]
    pub fn count_busy(&mut self, from: Time, to: Time) {
        let from = from.max(self.busy_until);
        if to > from {
            self.counters.busy += u128::from((to - from).ns());
            self.busy_until = to;
            if self.picture.is_some() {
                self.picture_busy(from, to);
            }
        }
    }

    /// How often the choice of arms has changed its ways.
    pub fn switches(&self) -> u64 {
        self.choice.switches() - self.switches_before
    }

    /// Counts anew from `now` on, with `queued` requests in the queue.
    pub fn measure_from(&mut self, now: Time, queued: usize) {
        self.arms.iter_mut().for_each(|arm| arm.measure_from(now));
        self.counters.measure_from(now, queued, self.busy_until);
        self.switches_before = self.choice.switches();
        if let Some(picture) = &mut self.picture {
            picture.measure_from_here();
        }
    }

    /// Forgets what was counted before time zero.
    pub fn forget_counts(&mut self) {
        self.arms.iter_mut().for_each(Arm::forget_counts);
        self.counters = HddCounters::default();
    }
}
