//! What operations do to pages: the map, what is valid, and what the checker is told.

use super::Ssd;
use super::operations::{Action, OpId};
use crate::engine::context::Context;
use crate::models::flash::blocks::Writer;

/// Planes keep so many blocks from data: two that are open, and one that cleaning may open.
pub(super) const KEPT_BLOCKS: u32 = 3;

impl Ssd {
    /// Units that a plane can take without a standstill of its cleaning.
    pub(super) fn limit(&self, plane: u32) -> u32 {
        let blocks = self.blocks.usable_of(plane).saturating_sub(KEPT_BLOCKS);
        (blocks * self.geometry.units_of_block()).saturating_sub(1)
    }

    fn has_room(&self, plane: u32) -> bool {
        self.blocks.valid_of(plane) + self.queued[plane as usize] < self.limit(plane)
    }

    /// The plane on which a unit is written: the next one in turn of its group that has room, or just the next one.
    pub(super) fn choose_plane(&mut self, unit: u32) -> u32 {
        let group = self.allocation.group_of(unit);
        let members = self.allocation.members();
        if members == 1 {
            return self.allocation.plane(group, 0);
        }
        let next = self.next_member[group as usize];
        let places = (0..members).map(|step| (next + step) % members);
        let place = places
            .clone()
            .find(|&place| self.has_room(self.allocation.plane(group, place)));
        let place = place.unwrap_or(next);
        self.next_member[group as usize] = (place + 1) % members;
        self.allocation.plane(group, place)
    }

    /// A write for which its plane has neither room nor anything to clean goes to another plane, if one has room.
    pub(super) fn write_elsewhere(&mut self, worker: u32, id: OpId, cx: &mut Context<'_>) {
        let operation = *self.operations.get(id);
        if self.jobs[operation.plane as usize].is_some() {
            return;
        }
        self.has_stuck = true;
        let plane = self.choose_plane(operation.unit);
        if plane == operation.plane || !self.has_room(plane) {
            return;
        }
        let mut writes = self.workers[worker as usize].writes;
        let before = self.before(writes.front(), id);
        self.operations.take(&mut writes, before, id);
        self.workers[worker as usize].writes = writes;
        self.queued[operation.plane as usize] -= 1;
        self.queued[plane as usize] += 1;
        self.operations.get_mut(id).plane = plane;
        self.enqueue(id, cx);
    }

    /// A page of a plane holds the newest data of a unit from now on.
    pub(super) fn settle(&mut self, unit: u32, slot: u32) {
        if let Some(before) = self.map.put(unit, slot) {
            self.blocks.count(before, false);
        }
        self.blocks.count(slot, true);
    }

    /// Puts a unit on flash in no time: before the run, and where a read gives a unit its place.
    pub(super) fn place_at_once(&mut self, unit: u32, plane: u32) -> bool {
        if self.blocks.needs_block(plane, Writer::Host) && self.blocks.free_of(plane) <= 1 {
            return false;
        }
        let Some(slot) = self.blocks.next_page(plane, Writer::Host) else {
            return false;
        };
        self.blocks.written(slot);
        self.settle(unit, slot);
        true
    }

    /// Forgets where a unit is.
    pub(super) fn forget(&mut self, unit: u32) {
        if let Some(slot) = self.map.remove(unit) {
            self.blocks.count(slot, false);
        }
    }

    /// Tells the checker that a request of the host is served from a page.
    pub(super) fn tell_read(&self, id: OpId, cx: &mut Context<'_>) {
        let operation = self.operations.get(id);
        if operation.action != Action::Read || self.map.slot(operation.unit).is_none() {
            return;
        }
        let open = &self.open[operation.request.0 as usize];
        let part = open.part_of(operation.unit, &self.geometry);
        let at = self.lbn_of_slot(operation.from) + u64::from(part.in_unit);
        if let Some((checker, device)) = cx.checker() {
            checker.read(device, operation.request, part.in_request, at, part.blocks);
        }
    }

    /// Tells the checker that a page holds what a request writes, and of what it does not write what was there before.
    pub(super) fn tell_written(&self, id: OpId, cx: &mut Context<'_>) {
        let operation = self.operations.get(id);
        let open = &self.open[operation.request.0 as usize];
        let part = open.part_of(operation.unit, &self.geometry);
        let to = self.lbn_of_slot(operation.to);
        let before = self
            .map
            .slot(operation.unit)
            .map(|slot| self.lbn_of_slot(slot));
        if let Some((checker, device)) = cx.checker() {
            match before {
                Some(from) => checker.moved_on_medium(device, from, to, self.geometry.unit_blocks),
                None => checker.cleared(device, to, self.geometry.unit_blocks),
            }
            let at = to + u64::from(part.in_unit);
            checker.wrote(device, operation.request, part.in_request, at, part.blocks);
        }
    }
}
