//! What operations do to pages: the map, what is valid, and what the checker is told.

use super::Ssd;
use super::entries::{Entry, EntryId};
use super::operations::{Action, OpId};
use crate::engine::context::Context;
use crate::engine::request::RequestId;
use crate::models::flash::blocks::Writer;
use crate::models::flash::map::Whereabouts;

impl Ssd {
    /// Units that a plane can take without a standstill of its cleaning.
    pub(super) fn limit(&self, plane: u32) -> u32 {
        let blocks = self
            .blocks
            .usable_of(plane)
            .saturating_sub(self.blocks.kept());
        (blocks * (self.geometry.worth_cleaning() + 1)).saturating_sub(1)
    }

    #[inline]
    fn has_room(&self, plane: u32) -> bool {
        self.blocks.valid_of(plane) + self.queued[plane as usize] < self.limit(plane)
    }

    /// The plane on which a page is written: the next one in turn of its group that has room, or just the next one.
    pub(super) fn choose_plane(&mut self, group: u32) -> u32 {
        let members = self.allocation.members();
        if members == 1 {
            return self.allocation.plane(group, 0);
        }
        let next = self.next_member[group as usize];
        let place = self.place_with_room(group).unwrap_or(next);
        self.take_turn(group, place);
        self.allocation.plane(group, place)
    }

    /// The place of the next plane in turn of a group that has room.
    fn place_with_room(&self, group: u32) -> Option<u32> {
        let members = self.allocation.members();
        let next = self.next_member[group as usize];
        (0..members)
            .map(|step| (next + step) % members)
            .find(|&place| self.has_room(self.allocation.plane(group, place)))
    }

    /// The turn goes on behind a place.
    fn take_turn(&mut self, group: u32, place: u32) {
        self.next_member[group as usize] = (place + 1) % self.allocation.members();
    }

    /// A program for which its plane has neither room nor anything to clean goes to another plane, if one has room.
    #[inline(never)]
    pub(super) fn write_elsewhere(&mut self, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let operation = *self.operations.get(id);
        if !self.jobs[operation.plane as usize].is_empty() {
            return;
        }
        self.has_stuck = true;
        let Some(place) = self.place_with_room(operation.unit) else {
            return;
        };
        let plane = self.allocation.plane(operation.unit, place);
        if plane == operation.plane {
            return;
        }
        self.take_turn(operation.unit, place);
        let mut writes = self.workers[worker as usize].writes;
        let before = self.operations.before(&writes, id);
        self.operations.take(&mut writes, before, id);
        self.workers[worker as usize].writes = writes;
        self.queued[operation.plane as usize] -= operation.entries.count;
        self.queued[plane as usize] += operation.entries.count;
        self.operations.get_mut(id).plane = plane;
        self.enqueue(id, cx);
    }

    /// Where a unit is on flash.
    #[inline]
    pub(super) fn home_of(&self, unit: u32) -> Option<u32> {
        match self.map.whereabouts(unit) {
            Whereabouts::Nowhere => None,
            Whereabouts::Slot(slot) => Some(slot),
            Whereabouts::Held(oldest) => self.writes.entries.get(EntryId(oldest)).home(),
        }
    }

    /// A slot holds what is newest of a unit on flash from now on.
    pub(super) fn put_in_slot(&mut self, unit: u32, slot: u32) {
        if let Some(before) = self.home_of(unit) {
            self.map.mark(before, None);
            self.blocks.count(before, false);
        }
        match self.map.whereabouts(unit) {
            Whereabouts::Held(oldest) => self.writes.entries.set_home(EntryId(oldest), Some(slot)),
            _ => self.map.point(unit, Some(slot)),
        }
        self.map.mark(slot, Some(unit));
        self.blocks.count(slot, true);
        self.recovery.changed(unit);
    }

    /// What is in a slot has been copied to another one, which holds the unit from now on. Not where the unit was written or trimmed in the meantime:
    /// then it has been copied for nothing.
    pub(super) fn unit_moved(
        &mut self,
        unit: u32,
        (from, to): (u32, u32),
        cx: &mut Context<'_>,
    ) -> bool {
        self.recovery.copied(from, to);
        if self.home_of(unit) != Some(from) {
            return false;
        }
        let (from, at) = (self.lbn_of_slot(from), self.lbn_of_slot(to));
        if let Some((checker, device)) = cx.checker() {
            checker.moved_on_medium(device, from, at, self.geometry.unit_blocks);
        }
        self.put_in_slot(unit, to);
        true
    }

    /// Puts units on the next page of a plane in no time: before the run, and where a read gives a unit its place.
    pub(super) fn place_at_once(&mut self, units: &[u32], plane: u32, writer: Writer) -> bool {
        let is_left_to_cleaning = match self.blocks.needs_block(plane, writer) {
            true => self.blocks.free_of(plane) <= self.left_to_cleaning(plane),
            false => self.is_needed_by_cleaning(plane, writer),
        };
        if is_left_to_cleaning {
            return false;
        }
        let Some(to) = self.blocks.next_page(plane, writer) else {
            return false;
        };
        self.blocks.written(to);
        for (slot, &unit) in (to..).zip(units) {
            self.put_in_slot(unit, slot);
            self.recovery.wrote(slot, unit, 0);
        }
        true
    }

    /// Forgets where a unit is, of which nothing is in the controller.
    pub(super) fn forget(&mut self, unit: u32) {
        if let Whereabouts::Slot(slot) = self.map.whereabouts(unit) {
            self.map.mark(slot, None);
            self.blocks.count(slot, false);
            self.map.point(unit, None);
            self.recovery.changed(unit);
        }
    }

    /// The first block of the host in a unit.
    #[inline]
    fn lbn_of_unit(&self, unit: u32) -> u64 {
        u64::from(unit) * u64::from(self.geometry.unit_blocks)
    }

    /// Tells the checker that blocks of a write are in an entry.
    #[inline]
    pub(super) fn tell_buffered(
        &self,
        request: RequestId,
        id: EntryId,
        blocks: (u32, u32),
        cx: &mut Context<'_>,
    ) {
        if cx.checker().is_some() {
            self.tell_blocks_buffered(request, id, blocks, cx);
        }
    }

    #[cold]
    fn tell_blocks_buffered(
        &self,
        request: RequestId,
        id: EntryId,
        (from, until): (u32, u32),
        cx: &mut Context<'_>,
    ) {
        let unit = self.writes.entries.get(id).unit;
        if let Some((checker, device)) = cx.checker() {
            let lbn = self.lbn_of_unit(unit) + u64::from(from);
            checker.buffered(device, id.0, request, lbn, until - from);
        }
    }

    /// Tells the checker from where a read has the blocks of its units.
    #[inline]
    pub(super) fn tell_read(&self, id: OpId, cx: &mut Context<'_>) {
        if cx.checker().is_some() {
            self.tell_units_read(id, cx);
        }
    }

    #[cold]
    fn tell_units_read(&self, id: OpId, cx: &mut Context<'_>) {
        let operation = self.operations.get(id);
        if operation.action != Action::Read {
            return;
        }
        for unit in operation.unit..operation.unit + operation.count {
            self.tell_unit_read(operation.request, unit, cx);
        }
    }

    /// Tells the checker from where a request reads a unit: from flash, and what a buffer has of it from there.
    #[inline(never)]
    pub(super) fn tell_unit_read(&self, request: RequestId, unit: u32, cx: &mut Context<'_>) {
        let part = self.open[request.0 as usize].part_of(unit, &self.geometry);
        let home = self.home_of(unit);
        let whereabouts = self.map.whereabouts(unit);
        let Some((checker, device)) = cx.checker() else {
            return;
        };
        if let Some(slot) = home {
            let at = self.lbn_of_slot(slot) + u64::from(part.in_unit);
            checker.read(device, request, part.in_request, at, part.blocks);
        }
        if let (Whereabouts::Held(oldest), Some(_)) = (whereabouts, self.writes.buffer) {
            for id in self.writes.entries.of_unit(EntryId(oldest)) {
                let entry = self.writes.entries.get(id);
                let from = entry.from.max(part.in_unit);
                let until = entry.until.min(part.in_unit + part.blocks);
                if from < until {
                    let lbn = self.lbn_of_unit(unit) + u64::from(from);
                    checker.read_buffered(device, id.0, request, lbn, until - from);
                }
            }
        }
    }

    /// Tells the checker that a slot holds what an entry has, and of what it does not have what was there before.
    pub(super) fn tell_programmed(&mut self, id: EntryId, slot: u32, cx: &mut Context<'_>) {
        let Entry { unit, number, .. } = *self.writes.entries.get(id);
        self.recovery.wrote(slot, unit, number + 1);
        if cx.checker().is_some() {
            self.tell_drained(id, slot, cx);
        }
    }

    #[cold]
    fn tell_drained(&mut self, id: EntryId, slot: u32, cx: &mut Context<'_>) {
        let entry = *self.writes.entries.get(id);
        let to = self.lbn_of_slot(slot);
        if self.is_of_map(entry.unit) {
            if let Some((checker, device)) = cx.checker() {
                checker.cleared(device, to, self.geometry.unit_blocks);
            }
            return;
        }
        let before = entry.home().map(|slot| self.lbn_of_slot(slot));
        let lbn = self.lbn_of_unit(entry.unit) + u64::from(entry.from);
        if let Some((checker, device)) = cx.checker() {
            match before {
                Some(from) => checker.moved_on_medium(device, from, to, self.geometry.unit_blocks),
                None => checker.cleared(device, to, self.geometry.unit_blocks),
            }
            let run = (lbn, entry.until - entry.from);
            checker.drained_to(device, id.0, run, to + u64::from(entry.from));
            checker.dropped(device, id.0, run.0, run.1);
        }
    }
}
