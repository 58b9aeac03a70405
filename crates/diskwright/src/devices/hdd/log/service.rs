//! The course of a request where there is a log: where its blocks are read, and where they are written.

use super::LogPlacement;
use crate::devices::hdd::access::Arrivals;
use crate::devices::hdd::arm::MediumRead;
use crate::devices::hdd::medium::{AccessCursor, ArmFilter, DataPath, Medium, on_medium};
use crate::devices::hdd::tally::Tally;
use crate::engine::request::{Command, Op, Part};
use crate::models::placement::arm_choice::WriteMode;
use crate::models::placement::log::Content;
use crate::models::placement::slots::SlotId;

/// A request on its way over the medium.
pub(in crate::devices::hdd) struct Pass<'a, T> {
    pub medium: &'a mut Medium,
    pub cursor: &'a mut AccessCursor,
    pub parts: &'a mut T,
}

impl<T: Tally> Pass<'_, T> {
    /// One access to consecutive blocks of the medium.
    pub fn access(&mut self, command: &Command, data: DataPath) {
        let target = self.medium.hardware.target_of(command);
        self.medium
            .access(command, &target, data, self.cursor, self.parts);
    }

    /// Reads blocks whose place nobody may take before that is done.
    fn read(&mut self, piece: MediumRead, data: DataPath) {
        self.access(&on_medium(Op::Read, piece.medium, piece.blocks), data);
        self.medium.effects.reading.push(piece);
    }

    /// A write by a certain arm.
    pub fn write_by(&mut self, arm: usize, command: &Command, arrivals: Option<Arrivals>) {
        let target = self.medium.hardware.target_of(command);
        self.medium
            .write_by(arm, (command, &target), arrivals, self.cursor, self.parts);
    }

    /// Waits until `blocks` more blocks have come from the host.
    fn await_blocks(&mut self, blocks: u32) {
        let interface = &self.medium.hardware.interface;
        let arrived = self.cursor.from + interface.write_time(self.cursor.sent + blocks);
        let wait = arrived.saturating_sub(self.cursor.now);
        self.parts.add(Part::Bus, wait);
        self.cursor.now += wait;
    }
}

impl LogPlacement {
    /// Reads a command's blocks where the log has them; what was never written takes no time.
    #[inline(never)]
    pub fn read<T: Tally>(&mut self, command: &Command, pass: &mut Pass<'_, T>) {
        let mut piece: Option<MediumRead> = None;
        for (block, from, end) in self.covered(command) {
            let Some(slot) = self.log.map().get(block) else {
                continue;
            };
            let next = MediumRead {
                lbn: Some(from),
                medium: self.medium_lbn(slot) + from % self.per_slot,
                blocks: (end - from) as u32,
            };
            match &mut piece {
                Some(piece) if piece.goes_on_with(&next) => piece.blocks += next.blocks,
                _ => {
                    if let Some(whole) = piece.replace(next) {
                        pass.read(whole, DataPath::Host);
                    }
                }
            }
        }
        if let Some(last) = piece {
            pass.read(last, DataPath::Host);
        }
    }

    /// Writes a command's blocks into the log, or where they are.
    #[inline(never)]
    pub fn write<T: Tally>(&mut self, command: &Command, pass: &mut Pass<'_, T>) {
        let mut moved: Option<(u64, u64)> = None;
        for (block, from, end) in self.covered(command) {
            let stays = pass.medium.choice.mode() == WriteMode::InPlace || !self.log.can_move();
            match self.log.map().get(block).filter(|_| stays) {
                Some(slot) => self.rewrite(block, slot, (from, end), pass),
                None => {
                    self.write_anew(block, (from, end), pass);
                    moved = Some((moved.map_or(block, |(first, _)| first), block));
                }
            }
            pass.cursor.sent += (end - from) as u32;
        }
        let map = moved.map(|(first, last)| self.map_parts(first, last));
        for part in map.into_iter().flatten() {
            self.write_slot(part, None, pass);
        }
    }

    /// Writes blocks from `from` to `end`, all of one slot, where they are.
    fn rewrite<T: Tally>(
        &mut self,
        block: u64,
        slot: SlotId,
        (from, end): (u64, u64),
        pass: &mut Pass<'_, T>,
    ) {
        let medium = self.medium_lbn(slot) + from % self.per_slot;
        let blocks = (end - from) as u32;
        pass.access(&on_medium(Op::Write, medium, blocks), DataPath::Host);
        let effects = &mut pass.medium.effects;
        effects.rewritten.push((block, slot));
        // Nobody takes the slot before this is done.
        effects.reading.push(MediumRead {
            lbn: None,
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
        pass: &mut Pass<'_, T>,
    ) {
        let is_whole = end - from == self.per_slot;
        if let Some(slot) = self.log.map().get(block).filter(|_| !is_whole) {
            let rest = MediumRead {
                lbn: None,
                medium: self.medium_lbn(slot),
                blocks: self.per_slot as u32,
            };
            read_rest(rest, pass);
            pass.medium.counters.read_modify_writes += 1;
        }
        let arrivals = pass.medium.arrivals(pass.cursor).filter(|_| is_whole);
        if !is_whole {
            pass.await_blocks((end - from) as u32);
        }
        self.write_slot(Content::Data(block), arrivals, pass);
    }

    /// Writes a slot of its own for some content.
    fn write_slot<T: Tally>(
        &mut self,
        content: Content,
        arrivals: Option<Arrivals>,
        pass: &mut Pass<'_, T>,
    ) {
        let per_slot = self.per_slot as u32;
        let has_slot = self.log.slot_of(content);
        if let Some(slot) = has_slot.filter(|_| !self.log.can_move()) {
            let command = on_medium(Op::Write, self.medium_lbn(slot), per_slot);
            let target = pass.medium.hardware.target_of(&command);
            let arm = pass.medium.choose_arm(Op::Write, &target, pass.cursor);
            return pass.write_by(arm, &command, None);
        }
        let (arm, found) = self
            .choose_slot(pass.medium, pass.cursor, None)
            .expect("a log keeps a slot free for every block that has none");
        let mechanics = &pass.medium.hardware.mechanics;
        let allocated = self.log.take(mechanics, &found, content);
        let command = on_medium(Op::Write, self.medium_lbn(found.slot), per_slot);
        pass.write_by(arm, &command, arrivals);
        pass.medium.effects.allocated.push(allocated);
    }

    /// Whether a command must wait for an arm at work.
    pub fn waits_for_arm(&self, medium: &Medium, group: usize, command: &Command) -> bool {
        command.op == Op::Write
            && !medium.is_at_rest()
            && (self.lacks_reader(medium, group, command)
                || self.is_being_placed(medium, command)
                || self.lacks_room(command))
    }

    /// What a write is about, the parts of the map included.
    fn written_by(&self, command: &Command) -> impl Iterator<Item = Content> + use<> {
        let (first, last) = (command.lbn.0, command.end().0 - 1);
        let (first, last) = (first / self.per_slot, last / self.per_slot);
        let data = (first..=last).map(Content::Data);
        data.chain(self.map_parts(first, last))
    }

    /// Whether fewer slots are free than a write needs for what has none: arms still use others that were given up.
    fn lacks_room(&self, command: &Command) -> bool {
        let has_none = |content: &Content| self.log.slot_of(*content).is_none();
        let free = self.log.free().count() as usize;
        let mut wanted = self.written_by(command).filter(has_none);
        wanted.nth(free).is_some()
    }

    /// Whether an arm writes for the first time what a write is about: there is a slot for it, but not for two.
    fn is_being_placed(&self, medium: &Medium, command: &Command) -> bool {
        let arms = medium.arms.iter().filter(|arm| arm.work.is_some());
        let taken = arms.flat_map(|arm| &arm.effects.allocated);
        let mut first = taken.filter(|taken| self.log.slot_of(taken.content).is_none());
        first.any(|taken| {
            let mut written = self.written_by(command);
            written.any(|content| content == taken.content)
        })
    }

    /// Whether a write must read first what its group's arms cannot read, and no arm that can is idle.
    fn lacks_reader(&self, medium: &Medium, group: usize, command: &Command) -> bool {
        if medium.groups[group].can(Op::Read) {
            return false;
        }
        let mut covered = self.covered(command);
        let reads = covered.any(|(block, from, end)| {
            end - from < self.per_slot && self.log.map().get(block).is_some()
        });
        let mut arms = medium.arms.iter();
        reads && !arms.any(|arm| arm.work.is_none() && arm.can(Op::Read))
    }
}

/// Reads what is in a slot, with any arm that can where those of the group cannot.
fn read_rest<T: Tally>(rest: MediumRead, pass: &mut Pass<'_, T>) {
    let begun = pass.cursor.now;
    let (filter, arm) = (pass.cursor.filter, pass.cursor.arm);
    if let ArmFilter::Group(group) = filter
        && !pass.medium.groups[group].can(Op::Read)
    {
        (pass.cursor.filter, pass.cursor.arm) = (ArmFilter::Any, None);
        pass.read(rest, DataPath::Drive);
        let helper = pass.cursor.arm.expect("an arm has read");
        let borrowed = &mut pass.medium.borrowed;
        borrowed.retain(|&(arm, _)| arm != helper);
        borrowed.push((helper, pass.cursor.now));
        (pass.cursor.filter, pass.cursor.arm) = (filter, arm);
    } else {
        pass.read(rest, DataPath::Drive);
    }
    debug_assert!(pass.cursor.now > begun);
}
