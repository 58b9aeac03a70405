//! Cleaning of superblocks: pages are read and their units put on others, several at a time, and the blocks are erased.

use std::collections::VecDeque;

use super::Striped;
use crate::devices::ssd::Ssd;
use crate::devices::ssd::operations::{Action, OpId, Operation, Phase};
use crate::engine::context::Context;
use crate::models::flash::blocks::Writer;
use crate::models::flash::geometry::Geometry;
use crate::models::flash::map::PageMap;
use crate::models::flash::victims::Candidates;

/// Units with their slots.
type Units = Vec<(u32, u32)>;

/// A superblock that is being cleaned.
pub(in crate::devices::ssd) struct Job {
    pub(super) leader: u32,
    /// The first of its pages with data that has not been looked at.
    next: u32,
    /// Pages that are read, in their order; of those that have been, the valid units with their slots.
    reads: VecDeque<(OpId, Option<Units>)>,
    /// Units that have been read, and all before them.
    ready: Units,
    /// Programs of what has been read, with the units that each has.
    copies: Vec<(OpId, Units)>,
    /// Blocks that are being erased, or wait for it.
    erases: u32,
}

impl Job {
    fn new(leader: u32) -> Job {
        Job {
            leader,
            next: 0,
            reads: VecDeque::new(),
            ready: Vec::new(),
            copies: Vec::new(),
            erases: 0,
        }
    }

    /// A page has been read, of which these units are valid.
    fn read(&mut self, id: OpId, units: Units) {
        let mut reads = self.reads.iter_mut();
        // Operations that are over have given their numbers away.
        let read = reads.find(|(read, units)| *read == id && units.is_none());
        read.expect("it was begun").1 = Some(units);
        while let Some((_, Some(units))) = self.reads.front_mut() {
            self.ready.append(units);
            self.reads.pop_front();
        }
    }
}

/// What is done next with a superblock that is being cleaned.
enum Step {
    /// The page that begins at a slot is read, for as many units.
    Read(u32, u32),
    /// These units, with their slots, are put on a page.
    Copy(Units),
    Erase,
}

impl Striped {
    /// The next step of a superblock that is being cleaned, if it need not wait for another one. At most one operation for each plane of the set reads
    /// or programs for it at a time.
    fn next_step(&mut self, leader: u32, map: &PageMap, geometry: &Geometry) -> Option<Step> {
        let width = self.superblocks.width();
        let pages = self.superblocks.data_pages();
        let set = self.superblocks.set_of(leader / geometry.blocks);
        let superblocks = &self.superblocks;
        let mut jobs = self.jobs[set as usize].iter_mut();
        let job = jobs.find(|job| job.leader == leader)?;
        if job.erases > 0 {
            return None;
        }
        let valid = |slot: u32| {
            let slots = slot..slot + geometry.units;
            slots.filter(|&slot| map.unit(slot).is_some()).count()
        };
        let left = (job.next..pages).map(|page| (page, superblocks.data_slot(leader, page)));
        let next = left
            .map(|(page, slot)| (page, slot, valid(slot)))
            .find(|&(.., valid)| valid > 0);
        job.next = next.map_or(pages, |(page, ..)| page);
        let is_all_read = next.is_none() && job.reads.is_empty();
        let most = (geometry.units as usize).min(job.ready.len());
        if most == geometry.units as usize || is_all_read && most > 0 {
            return Some(Step::Copy(job.ready.drain(..most).collect()));
        }
        if let Some((page, slot, valid)) = next {
            if job.reads.len() + job.copies.len() >= width as usize {
                return None;
            }
            job.next = page + 1;
            return Some(Step::Read(slot, valid as u32));
        }
        if is_all_read && job.copies.is_empty() {
            job.erases = width;
            return Some(Step::Erase);
        }
        None
    }
}

impl Ssd {
    /// Cleans a set that has too few free superblocks, as [`clean_if_needed`](Self::clean_if_needed) does a plane.
    pub(super) fn clean_set_if_needed(
        &mut self,
        set: u32,
        has_changed: bool,
        cx: &mut Context<'_>,
    ) {
        let Some(striped) = &self.stripes else { return };
        let free = self.blocks.free_of(striped.superblocks.first_plane(set));
        let jobs = striped.jobs[set as usize].len();
        let may_have_another = has_changed && jobs < self.cleaning.at_once && free > jobs as u32;
        if free < self.cleaning.begin && (jobs == 0 || may_have_another) {
            self.clean_superblock(set, cx);
        }
    }

    /// Cleans a set; whether there is anything to clean, or it is being cleaned already.
    pub(super) fn clean_set(&mut self, set: u32, cx: &mut Context<'_>) -> bool {
        let jobs = self
            .stripes
            .as_ref()
            .map(|striped| &striped.jobs[set as usize]);
        jobs.is_some_and(|jobs| !jobs.is_empty()) || self.clean_superblock(set, cx)
    }

    /// Cleans all sets that have fewer free superblocks than an idle drive wants.
    pub(in crate::devices::ssd) fn clean_sets_when_idle(
        &mut self,
        most: u32,
        cx: &mut Context<'_>,
    ) {
        let planes = self.stripes.iter().flat_map(|striped| {
            let sets = 0..striped.superblocks.sets();
            sets.map(|set| striped.superblocks.first_plane(set))
        });
        let planes: Vec<u32> = planes.collect();
        for (set, plane) in (0..).zip(planes) {
            if self.blocks.free_of(plane) < most {
                self.clean_set(set, cx);
            }
        }
    }

    /// Chooses the superblock of a set that is cleaned next.
    pub(super) fn choose_superblock(&mut self, set: u32) -> Option<u32> {
        let striped = self.stripes.as_ref()?;
        let (leaders, blocks) = striped.superblocks.of_set(set, &self.blocks);
        let candidates = Candidates {
            blocks: &blocks,
            units: striped.superblocks.units(),
            most: self.worth_cleaning(striped),
            clock: self.blocks.clock(),
        };
        let chosen = self.victims.choose(&candidates, &mut self.chance)?;
        let leader = leaders[chosen as usize];
        for block in striped.superblocks.members(leader) {
            self.blocks.choose(block);
        }
        Some(leader)
    }

    /// Begins to clean a superblock of a set; whether there is one that may be cleaned.
    fn clean_superblock(&mut self, set: u32, cx: &mut Context<'_>) -> bool {
        if self.read_only_since.is_some() {
            return false;
        }
        let Some(leader) = self.choose_superblock(set) else {
            return false;
        };
        if let Some(striped) = &mut self.stripes {
            let valid = striped.superblocks.valid_in(leader, &self.blocks);
            self.cleaning.delays(valid, striped.superblocks.units());
            striped.jobs[set as usize].push(Job::new(leader));
        }
        self.go_on_cleaning(set, leader, cx);
        true
    }

    /// Has everything wait for its worker that can be done next for a superblock that is being cleaned.
    fn go_on_cleaning(&mut self, set: u32, leader: u32, cx: &mut Context<'_>) {
        loop {
            let Some(striped) = &mut self.stripes else {
                return;
            };
            let Some(step) = striped.next_step(leader, &self.map, &self.geometry) else {
                return;
            };
            match step {
                Step::Read(slot, count) => {
                    let plane = self.geometry.plane_of(slot);
                    let id = self.operations.add(Action::MoveRead, plane);
                    let read = self.operations.get_mut(id);
                    (read.from, read.count, read.unit) = (slot, count, leader);
                    striped.job(set, leader).reads.push_back((id, None));
                    self.enqueue(id, cx);
                }
                Step::Copy(units) => {
                    let id = self.operations.add(Action::MoveWrite, 0);
                    self.operations.get_mut(id).unit = leader;
                    let (writer, parity) = (Writer::Cleaning, Action::MoveParity);
                    let Some(is_first) = self.next_of_set(set, writer, parity, id, cx) else {
                        debug_assert!(false, "the host leaves it a superblock");
                        self.operations.remove(id);
                        return self.turn_read_only(cx);
                    };
                    if let Some(striped) = &mut self.stripes {
                        striped.job(set, leader).copies.push((id, units));
                    }
                    if is_first {
                        self.clean_set_if_needed(set, true, cx);
                    }
                }
                Step::Erase => {
                    let members: Vec<u32> = striped.superblocks.members(leader).collect();
                    for block in members {
                        let plane = block / self.geometry.blocks;
                        let id = self.operations.add(Action::Erase, plane);
                        self.operations.get_mut(id).unit = block;
                        self.enqueue(id, cx);
                    }
                }
            }
        }
    }

    /// An operation of cleaning a superblock begins.
    pub(in crate::devices::ssd) fn begin_striped(
        &mut self,
        channel: u32,
        worker: u32,
        id: OpId,
        cx: &mut Context<'_>,
    ) {
        let now = cx.now();
        let Operation {
            action,
            unit,
            count,
            from,
            to,
            ..
        } = *self.operations.get(id);
        let (phase, command, array) = match action {
            Action::Erase => (
                Phase::Last,
                self.timing.erase_command,
                self.erase_time(unit),
            ),
            Action::MoveRead => {
                let read = self.read_time(from, count * self.geometry.unit_blocks);
                let command = self.timing.read_command;
                (Phase::Sense, command, read + self.retry_time(from, now))
            }
            _ => {
                let front = self.timing.program_command + self.page_transfer();
                let page = self.page_time(to);
                return self.program(channel, worker, id, (front, page), cx);
            }
        };
        self.operations.get_mut(id).phase = phase;
        self.carry(channel, id, command, now);
        self.ring(worker, id, now + command + array, cx);
    }

    /// A page of a superblock has been read: what is still valid in it is to be moved.
    #[inline(never)]
    pub(in crate::devices::ssd) fn move_read_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let Operation {
            plane,
            unit: leader,
            from,
            ..
        } = *self.operations.get(id);
        self.operations.remove(id);
        let slots = from..from + self.geometry.units;
        let valid = slots.filter_map(|slot| Some((self.map.unit(slot)?, slot)));
        let valid: Vec<(u32, u32)> = valid.collect();
        let Some(striped) = &mut self.stripes else {
            return;
        };
        let set = striped.superblocks.set_of(plane);
        striped.job(set, leader).read(id, valid);
        self.go_on_cleaning(set, leader, cx);
    }

    /// Units of a superblock have been moved. What was written in the meantime is newer.
    #[inline(never)]
    pub(in crate::devices::ssd) fn move_write_over(&mut self, id: OpId, cx: &mut Context<'_>) {
        let Operation {
            plane,
            unit: leader,
            to,
            ..
        } = *self.operations.get(id);
        self.operations.remove(id);
        let Some(striped) = &mut self.stripes else {
            return;
        };
        let set = striped.superblocks.set_of(plane);
        let copies = &mut striped.job(set, leader).copies;
        let place = copies.iter().position(|(copy, _)| *copy == id);
        let (_, units) = copies.remove(place.expect("it was begun"));
        self.counters.moved_pages += 1;
        for (to, (unit, from)) in (to..).zip(units) {
            self.unit_moved(unit, (from, to), cx);
        }
        self.written_in_superblock(to);
        self.note_programmed(cx);
        self.go_on_cleaning(set, leader, cx);
    }

    /// A block of a superblock has been erased: with the last one the superblock is free, or worn out.
    pub(in crate::devices::ssd) fn block_of_superblock_erased(
        &mut self,
        plane: u32,
        block: u32,
        cx: &mut Context<'_>,
    ) {
        let Some(striped) = &mut self.stripes else {
            return;
        };
        let set = striped.superblocks.set_of(plane);
        let leader = striped.superblocks.leader_of(block);
        let job = striped.job(set, leader);
        job.erases -= 1;
        if job.erases > 0 {
            return;
        }
        striped.jobs[set as usize].retain(|job| job.leader != leader);
        let members = striped.superblocks.members(leader);
        let mut is_worn = false;
        for block in members {
            is_worn |= !self.blocks.erase(block);
        }
        self.touch_set(set);
        if is_worn {
            self.spare_lost(plane, cx);
        }
        match self.idle_cleaning(cx.now()) {
            Some(most) if self.blocks.free_of(plane) < most => _ = self.clean_set(set, cx),
            _ => self.clean_set_if_needed(set, true, cx),
        }
    }
}
