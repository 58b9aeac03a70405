//! The course of a request: which arms do what for it, and how long that takes.

use super::arm::Reading;
use super::{MultiHdd, map_parts};
use crate::config::arms::ArmMotion;
use crate::device::Context;
use crate::geometry::layout::Run;
use crate::geometry::mechanics::Target;
use crate::hdd::access::{Arrivals, Begin, read_piece, write_piece};
use crate::hdd::hardware::Hardware;
use crate::placement::arm_choice::{Candidate, WriteMode};
use crate::placement::log::Content;
use crate::placement::slots::SlotId;
use crate::placement::soonest::{Found, Head};
use crate::request::{Command, Op, Part, Parts, RequestId};
use crate::units::{Lbn, Time};

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
    from: Time,
    sent: u32,
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
    pub(super) fn serve(
        &mut self,
        station: usize,
        command: &Command,
        now: Time,
        parts: &mut Parts,
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
    fn serve_in_place(
        &mut self,
        station: usize,
        command: &Command,
        way: &mut Way,
        parts: &mut Parts,
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

    /// The logical blocks of a command: each with the first of its blocks that the command covers, and the one behind the last.
    fn covered(&self, command: &Command) -> impl Iterator<Item = (u64, u64, u64)> + use<> {
        let per_slot = self.slot_blocks().expect("there is a log");
        let (first, end) = (command.lbn.0, command.end().0);
        let blocks = first / per_slot..end.div_ceil(per_slot);
        blocks.map(move |block| {
            let from = (block * per_slot).max(first);
            (block, from, ((block + 1) * per_slot).min(end))
        })
    }

    /// Reads a command's blocks where the log has them; what was never written takes no time.
    fn read_log(&mut self, command: &Command, way: &mut Way, parts: &mut Parts) {
        let per_slot = self.slot_blocks().expect("there is a log");
        let mut piece: Option<Reading> = None;
        for (block, from, end) in self.covered(command) {
            let log = self.log.as_ref().expect("there is a log");
            let Some(slot) = log.map().get(block) else {
                continue;
            };
            let medium = self.medium_lbn(slot) + from % per_slot;
            let next = Reading {
                lbn: from,
                medium,
                blocks: (end - from) as u32,
            };
            match &mut piece {
                Some(piece) if piece.goes_on_with(&next) => piece.blocks += next.blocks,
                _ => {
                    if let Some(whole) = piece.replace(next) {
                        self.read_piece_of_log(&whole, Data::Host, way, parts);
                    }
                }
            }
        }
        if let Some(last) = piece {
            self.read_piece_of_log(&last, Data::Host, way, parts);
        }
    }

    fn read_piece_of_log(&mut self, piece: &Reading, data: Data, way: &mut Way, parts: &mut Parts) {
        let command = on_medium(Op::Read, piece.medium, piece.blocks);
        self.access(&command, data, way, parts);
        self.course.reading.push(*piece);
    }

    /// Writes a command's blocks into the log, or where they are.
    fn write_log(&mut self, command: &Command, way: &mut Way, parts: &mut Parts) {
        let mut moved: Option<(u64, u64)> = None;
        for (block, from, end) in self.covered(command) {
            let log = self.log.as_ref().expect("there is a log");
            let stays = self.choice.mode() == WriteMode::InPlace || !log.can_move();
            match log.map().get(block).filter(|_| stays) {
                Some(slot) => self.rewrite(block, slot, (from, end), way, parts),
                None => {
                    self.write_anew(block, (from, end), way, parts);
                    moved = Some((moved.map_or(block, |(first, _)| first), block));
                }
            }
            way.sent += (end - from) as u32;
        }
        let log = self.log.as_ref().expect("there is a log");
        let map = moved.map(|(first, last)| map_parts(log, first, last));
        for part in map.into_iter().flatten() {
            self.write_slot(part, None, way, parts);
        }
    }

    /// Writes blocks from `from` to `end`, all of one slot, where they are.
    fn rewrite(
        &mut self,
        block: u64,
        slot: SlotId,
        (from, end): (u64, u64),
        way: &mut Way,
        parts: &mut Parts,
    ) {
        let per_slot = self.slot_blocks().expect("there is a log");
        let medium = self.medium_lbn(slot) + from % per_slot;
        let blocks = (end - from) as u32;
        let command = on_medium(Op::Write, medium, blocks);
        self.access(&command, Data::Host, way, parts);
        self.course.rewritten.push((block, slot));
        // Nobody takes the slot before this is done.
        self.course.reading.push(Reading {
            lbn: Reading::NONE,
            medium,
            blocks,
        });
        self.rewrites += 1;
    }

    /// Writes blocks from `from` to `end`, all of one slot, into another one: with what else is in the slot, which is read first.
    fn write_anew(
        &mut self,
        block: u64,
        (from, end): (u64, u64),
        way: &mut Way,
        parts: &mut Parts,
    ) {
        let per_slot = self.slot_blocks().expect("there is a log");
        let log = self.log.as_ref().expect("there is a log");
        let is_whole = end - from == per_slot;
        if let Some(slot) = log.map().get(block).filter(|_| !is_whole) {
            let rest = Reading {
                lbn: Reading::NONE,
                medium: self.medium_lbn(slot),
                blocks: per_slot as u32,
            };
            self.read_rest(&rest, way, parts);
            self.counters.read_modify_writes += 1;
        }
        let interface = &self.hardware.interface;
        let arrivals = if is_whole {
            Some(Arrivals::from(way.from + interface.write_time(way.sent)))
        } else {
            let all = way.sent + (end - from) as u32;
            let arrived = way.from + interface.write_time(all);
            parts.add(Part::Bus, arrived.saturating_sub(way.now));
            way.now = way.now.max(arrived);
            None
        };
        self.write_slot(Content::Data(block), arrivals, way, parts);
    }

    /// Reads what is in a slot, with any arm that can where those of the station cannot.
    fn read_rest(&mut self, rest: &Reading, way: &mut Way, parts: &mut Parts) {
        let begun = way.now;
        let (who, arm) = (way.who, way.arm);
        if let Who::Station(station) = who
            && !self.stations[station].can(Op::Read)
        {
            (way.who, way.arm) = (Who::Any, None);
            self.read_piece_of_log(rest, Data::Drive, way, parts);
            let helper = way.arm.expect("an arm has read");
            self.borrowed.retain(|&(arm, _)| arm != helper);
            self.borrowed.push((helper, way.now));
            (way.who, way.arm) = (who, arm);
        } else {
            self.read_piece_of_log(rest, Data::Drive, way, parts);
        }
        debug_assert!(way.now > begun);
    }

    /// Writes a slot of its own for some content.
    pub(super) fn write_slot(
        &mut self,
        content: Content,
        arrivals: Option<Arrivals>,
        way: &mut Way,
        parts: &mut Parts,
    ) {
        let per_slot = self.slot_blocks().expect("there is a log") as u32;
        let log = self.log.as_ref().expect("there is a log");
        let has_slot = log.slot_of(content);
        if let Some(slot) = has_slot.filter(|_| !log.can_move()) {
            let command = on_medium(Op::Write, self.medium_lbn(slot), per_slot);
            let target = self.target_of(&command);
            let arm = self.choose_arm(Op::Write, &target, way);
            return self.access_by(arm, &command, None, way, parts);
        }
        let (arm, found) = self
            .choose_slot(way, None)
            .expect("a log keeps a slot free for every block that has none");
        let log = self.log.as_mut().expect("there is a log");
        let taken = log.take(&self.hardware.mechanics, &found, content);
        let command = on_medium(Op::Write, self.medium_lbn(found.slot), per_slot);
        self.access_by(arm, &command, arrivals, way, parts);
        self.course.taken.push(taken);
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
    fn may(&self, number: usize, op: Op, way: &Way) -> bool {
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

    fn target_of(&self, command: &Command) -> Target {
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
    pub(super) fn access(
        &mut self,
        command: &Command,
        data: Data,
        way: &mut Way,
        parts: &mut Parts,
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
    pub(super) fn access_by(
        &mut self,
        arm: usize,
        command: &Command,
        arrivals: Option<Arrivals>,
        way: &mut Way,
        parts: &mut Parts,
    ) {
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

    /// Where a station's next write would go, for its scheduler.
    pub(super) fn next_write(&mut self, station: usize, now: Time) -> Option<Target> {
        let way = Way::new(Who::Station(station), now);
        let log = self.log.as_ref()?;
        let mechanics = &self.hardware.mechanics;
        let arms = (0..self.arms.len()).filter(|&number| self.may(number, Op::Write, &way));
        let found = arms.filter_map(|number| {
            let arm = &self.arms[number];
            log.choose(&Head {
                mechanics,
                from: arm.at,
                phase: arm.phase(now),
                reach: arm.parts.reach,
                not_to: None,
            })
        });
        let best = found.min()?;
        let per_slot = log.slots().sectors_per_slot();
        let run = mechanics
            .layout
            .run(log.slots().sector(best.slot), per_slot);
        Some(mechanics.target(run, true))
    }

    /// Where a waiting command's data are, or will be.
    pub(super) fn target_in_log(
        &self,
        command: &Command,
        next_write: Option<Target>,
    ) -> Option<Target> {
        let log = self.log.as_ref()?;
        let per_slot = self.slot_blocks()?;
        if command.op == Op::Write && self.choice.mode() == WriteMode::Log {
            return next_write;
        }
        let (from, slot) = self
            .covered(command)
            .find_map(|(block, from, _)| Some((from, log.map().get(block)?)))?;
        let first = Command {
            lbn: Lbn(self.medium_lbn(slot) + from % per_slot),
            blocks: 1,
            ..*command
        };
        Some(self.target_of(&first))
    }

    /// Whether a write must read first what its station's arms cannot read, and no arm that can is idle.
    pub(super) fn lacks_reader(&self, station: usize, command: &Command) -> bool {
        let Some(log) = &self.log else {
            return false;
        };
        if command.op != Op::Write || self.stations[station].can(Op::Read) {
            return false;
        }
        let per_slot = self.slot_blocks().expect("there is a log");
        let reads = self
            .covered(command)
            .any(|(block, from, end)| end - from < per_slot && log.map().get(block).is_some());
        let is_idle = |arm: &super::ArmUnit| arm.work.is_none() && arm.can(Op::Read);
        reads && !self.arms.iter().any(is_idle)
    }

    /// Notes what an arm has written for a request, and tells the checker what the medium did.
    pub(super) fn settle(&mut self, arm: usize, request: RequestId, cx: &mut Context<'_>) {
        let command = cx.request(request).command;
        if self.log.is_none() {
            return self.settle_in_place(arm, request, &command, cx);
        }
        if command.op == Op::Read {
            let reading = &self.arms[arm].course.reading;
            if let Some((ledger, medium)) = cx.ledger() {
                for piece in reading.iter().filter(|piece| piece.lbn != Reading::NONE) {
                    let offset = (piece.lbn - command.lbn.0) as u32;
                    ledger.read(medium, request, offset, piece.medium, piece.blocks);
                }
            }
            return;
        }
        self.settle_writes(arm, request, &command, cx);
    }

    fn settle_writes(
        &mut self,
        arm: usize,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) {
        let per_slot = self.slot_blocks().expect("there is a log");
        let mut taken = std::mem::take(&mut self.arms[arm].course.taken);
        let span = |block: u64| {
            let from = (block * per_slot).max(command.lbn.0);
            (from, ((block + 1) * per_slot).min(command.end().0))
        };
        for taken in taken.drain(..) {
            if let (Content::Data(block), Some((ledger, medium))) = (taken.content, cx.ledger()) {
                let (from, end) = span(block);
                let to = self.medium_lbn(taken.slot);
                let log = self.log.as_ref().expect("there is a log");
                // The rest of the slot is what the block was, or empty.
                match log.map().get(block) {
                    _ if end - from == per_slot => {}
                    Some(before) => {
                        let before = self.medium_lbn(before);
                        ledger.moved_on_medium(medium, before, to, per_slot as u32);
                    }
                    None => ledger.cleared(medium, to, per_slot as u32),
                }
                let offset = (from - command.lbn.0) as u32;
                let blocks = (end - from) as u32;
                ledger.wrote(medium, request, offset, to + from % per_slot, blocks);
            }
            let log = self.log.as_mut().expect("there is a log");
            if let Some(before) = log.commit(taken) {
                self.release(before);
            }
        }
        self.arms[arm].course.taken = taken;
        let mut rewritten = std::mem::take(&mut self.arms[arm].course.rewritten);
        for (block, slot) in rewritten.drain(..) {
            let log = self.log.as_mut().expect("there is a log");
            // Another arm may have moved it meanwhile: then this write came before that one.
            let now_in = log.map().get(block).unwrap_or(slot);
            log.rewrite(block, now_in);
            let to = self.medium_lbn(now_in);
            if let Some((ledger, medium)) = cx.ledger() {
                let (from, end) = span(block);
                let offset = (from - command.lbn.0) as u32;
                ledger.wrote(
                    medium,
                    request,
                    offset,
                    to + from % per_slot,
                    (end - from) as u32,
                );
            }
        }
        self.arms[arm].course.rewritten = rewritten;
    }

    /// Tells the checker what an arm did for a request, or for its station's share in it, with data in place.
    fn settle_in_place(
        &mut self,
        arm: usize,
        request: RequestId,
        command: &Command,
        cx: &mut Context<'_>,
    ) {
        let Some((ledger, medium)) = cx.ledger() else {
            return;
        };
        let station = &self.stations[self.arms[arm].station];
        let per_sector = u64::from(self.hardware.blocks_per_sector);
        let mut sector = command.lbn.0 / per_sector;
        for run in runs(&self.hardware, command) {
            let from = (sector * per_sector).max(command.lbn.0);
            sector += u64::from(run.sectors);
            let end = (sector * per_sector).min(command.end().0);
            let is_own = self.stations.len() == 1
                || station.reaches(run.position.cylinder, run.position.head);
            let (offset, blocks) = ((from - command.lbn.0) as u32, (end - from) as u32);
            match command.op {
                Op::Write if is_own => ledger.wrote(medium, request, offset, from, blocks),
                Op::Read if is_own => ledger.read(medium, request, offset, from, blocks),
                _ => {}
            }
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
