//! The course of a request where there is a log: where its blocks are read, and where they are written.

use super::arm::Reading;
use super::course::{Data, Way, Who, on_medium};
use super::{MultiHdd, map_parts};
use crate::base::units::{Lbn, Time};
use crate::devices::hdd::access::Arrivals;
use crate::devices::hdd::tally::Tally;
use crate::engine::request::{Command, Op, Part};
use crate::models::geometry::mechanics::Target;
use crate::models::placement::arm_choice::WriteMode;
use crate::models::placement::log::Content;
use crate::models::placement::slots::SlotId;
use crate::models::placement::soonest::Head;

impl MultiHdd {
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
    pub(super) fn read_log<T: Tally>(&mut self, command: &Command, way: &mut Way, parts: &mut T) {
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

    fn read_piece_of_log<T: Tally>(
        &mut self,
        piece: &Reading,
        data: Data,
        way: &mut Way,
        parts: &mut T,
    ) {
        let command = on_medium(Op::Read, piece.medium, piece.blocks);
        self.access(&command, data, way, parts);
        self.course.reading.push(*piece);
    }

    /// Writes a command's blocks into the log, or where they are.
    pub(super) fn write_log<T: Tally>(&mut self, command: &Command, way: &mut Way, parts: &mut T) {
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
    fn rewrite<T: Tally>(
        &mut self,
        block: u64,
        slot: SlotId,
        (from, end): (u64, u64),
        way: &mut Way,
        parts: &mut T,
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
    fn write_anew<T: Tally>(
        &mut self,
        block: u64,
        (from, end): (u64, u64),
        way: &mut Way,
        parts: &mut T,
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
    fn read_rest<T: Tally>(&mut self, rest: &Reading, way: &mut Way, parts: &mut T) {
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
    fn write_slot<T: Tally>(
        &mut self,
        content: Content,
        arrivals: Option<Arrivals>,
        way: &mut Way,
        parts: &mut T,
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
}
