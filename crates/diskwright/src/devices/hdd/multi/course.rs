//! The course of a request: which arms do what for it, and how long that takes.

use super::MultiHdd;
use crate::base::units::{Lbn, Time};
use crate::config::arms::ArmMotion;
use crate::devices::hdd::access::{Arrivals, Begin, read_piece, write_piece};
use crate::devices::hdd::hardware::Hardware;
use crate::devices::hdd::tally::Tally;
use crate::engine::request::{Command, Op, Part};
use crate::models::geometry::layout::Run;
use crate::models::geometry::mechanics::Target;
use crate::models::placement::arm_choice::Candidate;
use crate::models::placement::soonest::{Found, Head};

/// The runs of a command's sectors, one a track.
pub(super) fn runs(hardware: &Hardware, command: &Command) -> impl Iterator<Item = Run> {
    let per_sector = u64::from(hardware.blocks_per_sector);
    let (mut next, end) = (
        command.lbn.0 / per_sector,
        command.end().0.div_ceil(per_sector),
    );
    std::iter::from_fn(move || {
        let left = (end - next).min(u64::from(u32::MAX)) as u32;
        let run = (left > 0).then(|| hardware.mechanics.layout.run(next, left))?;
        next += u64::from(run.sectors);
        Some(run)
    })
}

/// How a request is served.
pub(super) struct Served {
    /// The arm that did it, or the last of them.
    pub arm: usize,
    pub end: Time,
}

/// How far the serving of a request has come.
pub(super) struct Way {
    /// The arms that may do something for it.
    pub who: Who,
    pub now: Time,
    /// Until when its blocks keep the interface busy.
    on_bus: Time,
    /// When the first of a write's blocks began to cross the interface, and how many of them have been written.
    pub from: Time,
    pub sent: u32,
    pub arm: Option<usize>,
}

/// The arms that may do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// The idle ones of a station.
    Station(usize),
    /// All idle ones.
    Any,
}

impl Way {
    pub fn new(who: Who, start: Time) -> Way {
        Way {
            who,
            now: start,
            on_bus: Time::ZERO,
            from: start,
            sent: 0,
            arm: None,
        }
    }
}

/// Where the blocks of an access come from or go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// They cross the interface.
    Host,
    /// They are the drive's own, or in it already.
    Drive,
}

impl MultiHdd {
    /// Works out the whole course of a command, or of a station's share in it.
    pub(super) fn serve<T: Tally>(
        &mut self,
        station: usize,
        command: &Command,
        now: Time,
        parts: &mut T,
    ) -> Served {
        let is_write = command.op == Op::Write;
        let overhead = self.hardware.overhead.before(is_write, self.after_write);
        parts.add(Part::Overhead, overhead);
        let mut way = Way::new(Who::Station(station), now + overhead);
        let arms = &self.stations[station].arms;
        let idle = arms.iter().find(|&&arm| self.arms[arm].work.is_none());
        let first = *idle.expect("one of its arms is idle");
        match (self.log.is_some(), is_write) {
            (false, _) => self.serve_in_place(station, command, &mut way, parts),
            (true, false) => self.read_log(command, &mut way, parts),
            (true, true) => self.write_log(command, &mut way, parts),
        }
        if !is_write {
            let interface = &self.hardware.interface;
            let end = if interface.overlapped {
                way.on_bus.max(way.now)
            } else {
                way.now + interface.time(command.blocks)
            };
            parts.add(Part::Bus, end - way.now);
            way.now = end;
        }
        let completion = self.hardware.overhead.completion(is_write);
        parts.add(Part::Overhead, completion);
        let arm = way.arm.unwrap_or(first);
        Served {
            arm,
            end: way.now + completion,
        }
    }

    /// Serves a command, or a station's share in it, whose blocks are in place.
    fn serve_in_place<T: Tally>(
        &mut self,
        station: usize,
        command: &Command,
        way: &mut Way,
        parts: &mut T,
    ) {
        let layout = &self.hardware.mechanics.layout;
        let everywhere = |arm: &super::ArmUnit| arm.parts.reach.holds_all(layout);
        if self.arms.iter().all(everywhere) {
            return self.access(command, Data::Host, way, parts);
        }
        let per_sector = u64::from(self.hardware.blocks_per_sector);
        let mut next = command.lbn.0;
        while next < command.end().0 {
            let run = self
                .hardware
                .mechanics
                .layout
                .run(next / per_sector, u32::MAX);
            let end = (next / per_sector + u64::from(run.sectors)) * per_sector;
            let end = end.min(command.end().0);
            let position = run.position;
            let is_own = self.stations.len() == 1
                || self.stations[station].reaches(position.cylinder, position.head);
            if is_own {
                let piece = Command {
                    lbn: Lbn(next),
                    blocks: (end - next) as u32,
                    ..*command
                };
                self.access(&piece, Data::Host, way, parts);
            }
            next = end;
        }
    }

    /// The slot for the next write, and the arm that writes it.
    pub(super) fn choose_slot(
        &mut self,
        way: &Way,
        not_to: Option<usize>,
    ) -> Option<(usize, Found)> {
        let log = self.log.as_ref()?;
        let find = |number: usize| {
            let arm = &self.arms[number];
            let head = Head {
                mechanics: &self.hardware.mechanics,
                from: arm.at,
                phase: arm.phase(way.now),
                reach: arm.parts.reach,
                not_to,
            };
            let found = match not_to {
                None => log.choose(&head),
                Some(_) => log.choose_hole(&head),
            }?;
            Some((head.motion_to(&found), found))
        };
        // A rule that knows its arm spares the other arms' searches.
        let named = self.choice.named(Op::Write);
        let named = named.filter(|&arm| arm < self.arms.len() && self.may(arm, Op::Write, way));
        if let Some((arm, (_, found))) = named.and_then(|arm| Some((arm, find(arm)?))) {
            return Some((arm, found));
        }
        let mut best: Option<(usize, Found)> = None;
        let mut candidates = std::mem::take(&mut self.candidates);
        let mut found_by = std::mem::take(&mut self.found);
        candidates.clear();
        found_by.clear();
        for number in (0..self.arms.len()).filter(|&arm| self.may(arm, Op::Write, way)) {
            if let Some((motion, found)) = find(number) {
                candidates.push(Candidate {
                    arm: number,
                    motion,
                    positioning: found.positioning,
                });
                found_by.push(found);
            }
        }
        if !candidates.is_empty() {
            let chosen = match candidates.len() {
                1 => 0,
                _ => self.choice.choose(Op::Write, &candidates),
            };
            best = Some((candidates[chosen].arm, found_by[chosen]));
        }
        (self.candidates, self.found) = (candidates, found_by);
        best
    }

    /// Whether an arm may do something on the way.
    pub(super) fn may(&self, number: usize, op: Op, way: &Way) -> bool {
        let arm = &self.arms[number];
        let is_asked = match way.who {
            Who::Station(station) => arm.station == station,
            Who::Any => true,
        };
        // An arm that moves by itself stays with the request that it has begun.
        let stays = match (self.motion, way.arm) {
            (ArmMotion::Independent, Some(begun)) => begun == number,
            _ => true,
        };
        is_asked && stays && arm.work.is_none() && arm.can(op)
    }

    pub(super) fn target_of(&self, command: &Command) -> Target {
        let track = self.hardware.track_of(command);
        self.hardware
            .mechanics
            .target(track, command.op == Op::Write)
    }

    /// The arm that serves an access.
    pub(super) fn choose_arm(&mut self, op: Op, target: &Target, way: &Way) -> usize {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let position = &target.run.position;
        let mechanics = &self.hardware.mechanics;
        for (number, arm) in self.arms.iter().enumerate() {
            let reaches = arm.parts.reach.holds(position.cylinder, position.head);
            if !reaches || !self.may(number, op, way) {
                continue;
            }
            let motion = mechanics.motion_time(arm.at, target.arm(), target.write);
            let phase = arm.phase(way.now);
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

    /// One access to consecutive blocks of the medium.
    pub(super) fn access<T: Tally>(
        &mut self,
        command: &Command,
        data: Data,
        way: &mut Way,
        parts: &mut T,
    ) {
        let target = self.target_of(command);
        let arm = self.choose_arm(command.op, &target, way);
        if command.op == Op::Write {
            let interface = &self.hardware.interface;
            let arrivals = Arrivals::from(way.from + interface.write_time(way.sent));
            let arrivals = (data == Data::Host).then_some(arrivals);
            self.access_by(arm, command, arrivals, way, parts);
            if self.log.is_none() {
                way.sent += command.blocks;
            }
            return;
        }
        parts.by_arm(arm);
        let begin = Begin {
            spindle: self.arms[arm].spindle,
            arm: self.arms[arm].at,
            at: way.now,
        };
        let on_bus = match data {
            Data::Host => way.on_bus,
            Data::Drive => Time::ZERO,
        };
        let first = self.hardware.first_run(command, &target.run);
        let piece = read_piece(&self.hardware, begin, on_bus, command, first, parts);
        if data == Data::Host {
            way.on_bus = piece.on_bus;
        }
        let distance = begin.arm.cylinder.abs_diff(target.run.position.cylinder);
        self.count_access(distance, 0);
        self.arms[arm].moved(piece.arm, piece.end - way.now);
        (way.now, way.arm) = (piece.end, Some(arm));
    }

    /// A write by a certain arm.
    pub(super) fn access_by<T: Tally>(
        &mut self,
        arm: usize,
        command: &Command,
        arrivals: Option<Arrivals>,
        way: &mut Way,
        parts: &mut T,
    ) {
        parts.by_arm(arm);
        let begin = Begin {
            spindle: self.arms[arm].spindle,
            arm: self.arms[arm].at,
            at: way.now,
        };
        let track = self.hardware.track_of(command);
        let first = self.hardware.first_run(command, &track);
        let done = write_piece(&self.hardware, begin, arrivals, command, first, parts);
        let distance = begin.arm.cylinder.abs_diff(track.position.cylinder);
        self.count_access(distance, done.read_modify_writes);
        self.arms[arm].moved(done.arm, done.end - way.now);
        (way.now, way.arm) = (done.end, Some(arm));
    }

    /// Counts an access to the medium for which an arm moved over `distance` cylinders.
    fn count_access(&mut self, distance: u32, read_modify_writes: u32) {
        self.counters.accessed(distance, read_modify_writes);
        if let Some(picture) = &mut self.picture {
            picture.access(distance);
        }
    }
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
